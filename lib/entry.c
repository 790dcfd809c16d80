/*
 * entry.c - the entry point of a program on x86-64. The kernel and ld.so jump to it, so it must be
 * marked as the target of an indirect jump; some C libraries do not mark their _start. _start reads
 * all registers and the stack, so they stay untouched.
 */
__asm__(".text\n"
        ".globl mcpx_entry\n"
        ".hidden mcpx_entry\n"
        ".type mcpx_entry, @function\n"
        "mcpx_entry:\n"
        "    endbr64\n"
        "    jmp _start\n"
        ".size mcpx_entry, . - mcpx_entry\n");
