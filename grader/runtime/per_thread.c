/* per_thread.c — each call of per_thread.def under its second name. The signatures differ, so a jump it is. */

#define PER_THREAD(name, suffix)                                                                              \
    __asm__(".text\n.globl " #name "_" #suffix "\n.type " #name "_" #suffix ", @function\n" #name "_" #suffix \
            ": jmp " #name "@PLT\n");
#include "grader/runtime/per_thread.def"
