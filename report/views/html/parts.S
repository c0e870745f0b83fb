/* The page's files as bytes: html_page, html_style, html_script, each with its end. */
#define PART(name, file)           \
    .globl name, name##_end;       \
    .hidden name, name##_end;      \
    name: .incbin file;            \
    name##_end:

    .section .rodata
    PART(html_page, "page.html")
    PART(html_style, "page.css")
    PART(html_script, "page.js")

    .section .note.GNU-stack, "", %progbits
