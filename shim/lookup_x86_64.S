/* dlsym and dlvsym. The decision is made in C with the caller's address; if the loader's own function is to
 * answer, jump to it with everything as the caller left it: its answer depends on the return address. */

.macro interpose name, decide
    .globl  \name
    .type   \name, @function
    .hidden lookup_own_\name /* the same, past any other definition */
    .globl  lookup_own_\name
    .p2align 4
\name:
lookup_own_\name:
    .cfi_startproc
    endbr64
    push    %rdi
    .cfi_adjust_cfa_offset 8
    push    %rsi
    .cfi_adjust_cfa_offset 8
    push    %rdx
    .cfi_adjust_cfa_offset 8
    mov     24(%rsp), %rcx
    call    \decide
    mov     %rdx, %r11
    pop     %rdx
    .cfi_adjust_cfa_offset -8
    pop     %rsi
    .cfi_adjust_cfa_offset -8
    pop     %rdi
    .cfi_adjust_cfa_offset -8
    test    %r11, %r11
    jz      1f
    jmp     *%r11
1:
    ret
    .cfi_endproc
    .size   \name, . - \name
.endm

    .text
    interpose dlsym, lookup_dlsym
    interpose dlvsym, lookup_dlvsym

    .section .note.GNU-stack, "", @progbits
