/* dlsym and dlvsym. The decision is made in C with the caller's address; if the loader's own function is to
 * answer, jump to it with everything as the caller left it: its answer depends on the return address. */

.macro interpose name, decide
    .globl  \name
    .type   \name, %function
    .hidden lookup_own_\name /* the same, past any other definition */
    .globl  lookup_own_\name
    .p2align 4
\name:
lookup_own_\name:
    .cfi_startproc
    hint    #34                     /* bti c */
    stp     x29, x30, [sp, #-48]!
    .cfi_adjust_cfa_offset 48
    .cfi_rel_offset x29, 0
    .cfi_rel_offset x30, 8
    stp     x0, x1, [sp, #16]
    str     x2, [sp, #32]
    mov     x29, sp
    mov     x3, x30
    bl      \decide
    mov     x16, x1
    mov     x17, x0
    ldp     x0, x1, [sp, #16]
    ldr     x2, [sp, #32]
    ldp     x29, x30, [sp], #48
    .cfi_adjust_cfa_offset -48
    .cfi_restore x29
    .cfi_restore x30
    cbz     x16, 1f
    br      x16
1:
    mov     x0, x17
    ret
    .cfi_endproc
    .size   \name, . - \name
.endm

    .text
    interpose dlsym, lookup_dlsym
    interpose dlvsym, lookup_dlvsym

    .section .note.GNU-stack, "", %progbits
