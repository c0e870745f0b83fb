/* Columns, bars and wrapping. */
#include "page.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "names/visible.h"

static const struct {
    const char *unicode;
    char ascii;
} replacements[] = {
    {"█", '#'}, {"▉", '#'}, {"▊", '#'}, {"▋", '#'},  {"▌", '#'},  {"▍", '.'}, {"▎", '.'},
    {"▏", '.'}, {"░", '.'}, {"▇", '*'}, {"▆", '+'},  {"▅", '+'},  {"▄", '-'}, {"▃", '-'},
    {"▂", '.'}, {"▁", '.'}, {"─", '-'}, {"·", '|'},  {"×", 'x'},  {"→", '>'}, {"…", '~'},
    {"–", '-'}, {"—", '-'}, {"µ", 'u'}, {"‘", '\''}, {"’", '\''},
};

static char ascii_of(const char *character, size_t bytes)
{
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
        if (strlen(replacements[i].unicode) == bytes &&
            memcmp(replacements[i].unicode, character, bytes) == 0) {
            return replacements[i].ascii;
        }
    }
    return '?';
}

static void write_ascii(FILE *out, const char *text)
{
    while (*text) {
        size_t bytes = 1;
        while (((unsigned char)text[0] & 0x80) && ((unsigned char)text[bytes] & 0xc0) == 0x80) {
            bytes++;
        }
        fputc((unsigned char)*text < 0x80 ? *text : ascii_of(text, bytes), out);
        text += bytes;
    }
}

void page_text(const struct page *page, enum style style, const char *text)
{
    static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m"};
    bool coloured = page->colour && style != PLAIN && *text;
    fputs(coloured ? codes[style] : "", page->out);
    if (page->unicode) {
        fputs(text, page->out);
    } else {
        write_ascii(page->out, text);
    }
    fputs(coloured ? "\033[0m" : "", page->out);
}

void page_print(const struct page *page, enum style style, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length >= 0) {
        page_text(page, style, text);
        free(text);
    }
}

void page_space(const struct page *page, unsigned count)
{
    fprintf(page->out, "%*s", (int)count, "");
}

void page_end(const struct page *page)
{
    fputc('\n', page->out);
}

static unsigned write_bytes(const struct page *page, enum style style, const char *text, size_t bytes)
{
    char *part = strndup(text, bytes);
    if (!part) {
        return 0;
    }
    page_text(page, style, part);
    unsigned columns = (unsigned)visible_columns(part);
    free(part);
    return columns;
}

enum { TEMPLATE_HEAD = 12 };

/* Functors tell kernels of one template apart; numbers and element types, whose names are short, hardly do.
 */
static bool arguments_tell(const char *arguments)
{
    enum { LONGEST_TYPE = 8 }; /* BFloat16, unsigned */
    static const char letters[] = "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    for (const char *word = strpbrk(arguments, letters); word; word = strpbrk(word, letters)) {
        size_t bytes = strspn(word, letters);
        if (bytes > LONGEST_TYPE && strncmp(word, "__", 2) != 0) {
            return true;
        }
        word += bytes;
    }
    return false;
}

/* "vectorized_e…<4, MulFunctor>", but "vectorized_layer_norm_kernel<…>". False where the name is no template.
 */
static bool write_template_cut(const struct page *page, enum style style, unsigned width, const char *text,
                               unsigned *used)
{
    const char *arguments = strchr(text, '<');
    if (!arguments || text[strlen(text) - 1] != '>' || width < 2 * TEMPLATE_HEAD) {
        return false;
    }
    size_t base_bytes = (size_t)(arguments - text), rest = visible_columns(arguments);
    bool base_fits = visible_bytes_within(text, width - 3) >= base_bytes; /* "<…>" */
    unsigned head = arguments_tell(arguments) ? TEMPLATE_HEAD : base_fits ? width - 3 : width - 4;
    if (rest + 1 + head < width) {
        head = width - 1 - (unsigned)rest;
    }
    size_t head_bytes = visible_bytes_within(text, head);
    *used = write_bytes(page, style, text, head_bytes < base_bytes ? head_bytes : base_bytes);
    if (head_bytes < base_bytes) {
        page_text(page, style, "…");
        *used += 1;
    }
    if (*used + rest <= width) {
        page_text(page, style, arguments);
        *used += (unsigned)rest;
    } else {
        *used += write_bytes(page, style, arguments,
                             visible_bytes_within(arguments, width > *used + 2 ? width - *used - 2 : 0));
        page_text(page, style, "…>");
        *used += 2;
    }
    return true;
}

/* Both ends of a name matter: the start says which, the end which variant. Returns the columns taken. */
static unsigned write_cut(const struct page *page, enum style style, unsigned width, const char *text)
{
    unsigned used = 0;
    if (write_template_cut(page, style, width, text, &used)) {
        return used;
    }
    unsigned head = (width - 1) * 2 / 3, tail = width - 1 - head;
    size_t head_bytes = visible_bytes_within(text, head), from = head_bytes;
    size_t rest = visible_columns(text + from);
    from += rest > tail ? visible_bytes_within(text + from, rest - tail) : 0;
    while (visible_columns(text + from) > tail) { /* a wide character more, not all of a name without end */
        do {
            from++;
        } while (((unsigned char)text[from] & 0xc0) == 0x80);
    }
    used = write_bytes(page, style, text, head_bytes);
    page_print(page, style, "…%s", text + from);
    return used + 1 + (unsigned)visible_columns(text + from);
}

static unsigned write_fit(const struct page *page, enum style style, unsigned width, const char *text)
{
    size_t columns = visible_columns(text);
    if (columns > width) {
        return write_cut(page, style, width, text);
    }
    page_text(page, style, text);
    return (unsigned)columns;
}

void page_fit(const struct page *page, enum style style, unsigned width, const char *text)
{
    write_fit(page, style, width, text);
}

void page_left(const struct page *page, enum style style, unsigned width, const char *text)
{
    page_space(page, width - write_fit(page, style, width, text));
}

void page_right(const struct page *page, enum style style, unsigned width, const char *text)
{
    size_t columns = visible_columns(text);
    if (columns < width) {
        page_space(page, width - (unsigned)columns);
    }
    page_text(page, style, text);
}

void page_heading(const struct page *page, const char *title, const char *note)
{
    unsigned note_columns = (unsigned)visible_columns(note);
    page_end(page);
    if (note_columns) {
        page_left(page, STRONG, page->columns - note_columns, title);
        page_text(page, FAINT, note);
    } else {
        page_fit(page, STRONG, page->columns, title);
    }
    page_end(page);
    for (unsigned i = 0; i < page->columns; i++) {
        page_text(page, FAINT, "─");
    }
    page_end(page);
}

/* The bytes of the next line: up to the last blank that fits, or as much as fits of a word that is longer. */
static size_t line_bytes(const char *text, unsigned columns)
{
    size_t fits = visible_bytes_within(text, columns);
    if (text[fits] == '\0' || text[fits] == ' ') {
        return fits;
    }
    size_t blank = fits;
    while (blank > 0 && text[blank] != ' ') {
        blank--;
    }
    return blank > fits / 2 ? blank : fits;
}

void page_paragraph(const struct page *page, enum style style, unsigned indent, const char *lead,
                    const char *text, unsigned lines_most)
{
    unsigned columns = page->columns - indent;
    page_left(page, style, indent, lead);
    for (unsigned line = 1; *text; line++) {
        bool last = line == lines_most && visible_columns(text) > columns;
        size_t bytes = line_bytes(text, last ? columns - 1 : columns);
        bytes = bytes ? bytes : 1;
        page_print(page, style, "%.*s%s", (int)bytes, text, last ? "…" : "");
        text += bytes + strspn(text + bytes, " ");
        page_end(page);
        if (last) {
            return;
        }
        if (*text) {
            page_space(page, indent);
        }
    }
}

void page_bar(const struct page *page, enum style style, double fraction, unsigned cells)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned total = cells * 8, filled = (unsigned)lround(fmin(fmax(fraction, 0), 1) * total);
    filled = filled == 0 && fraction > 0 ? 1 : filled; /* a little is not nothing, nearly all is not all */
    filled = filled == total && fraction < 1 ? total - 1 : filled;
    for (unsigned i = 0; i < filled / 8; i++) {
        page_text(page, style, "█");
    }
    page_text(page, style, eighths[filled % 8]);
    for (unsigned i = (filled + 7) / 8; i < cells; i++) {
        page_text(page, FAINT, "░");
    }
}

static const char *wave_cell(double fullness)
{
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
    int eighth = (int)ceil(fullness * 8);
    return heights[eighth < 1 ? 0 : eighth > 7 ? 6 : eighth - 1];
}

void page_waves(const struct page *page, enum style style, unsigned long long full_waves,
                double tail_fullness, bool partial, unsigned cells)
{
    unsigned most_full = cells - partial;
    unsigned used = partial;
    if (full_waves <= most_full) {
        for (unsigned long long i = 0; i < full_waves; i++, used++) {
            page_text(page, PLAIN, "█");
        }
    } else {
        for (; used + 2 < cells; used++) {
            page_text(page, PLAIN, "█");
        }
        page_text(page, FAINT, "…");
        page_text(page, PLAIN, "█");
        used = cells;
    }
    if (partial) {
        page_text(page, style, wave_cell(tail_fullness));
    }
    page_space(page, cells - used);
}
