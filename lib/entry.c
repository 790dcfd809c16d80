/*
 * entry.c - where a program of x86-64 begins. The kernel and ld.so jump to it, so it has to be
 * marked as the target of an indirect jump; the C library's _start is not, everywhere. All
 * registers and the stack are _start's to read.
 */
__asm__(".text\n"
        ".globl mcpx_entry\n"
        ".hidden mcpx_entry\n"
        ".type mcpx_entry, @function\n"
        "mcpx_entry:\n"
        "    endbr64\n"
        "    jmp _start\n"
        ".size mcpx_entry, . - mcpx_entry\n");
