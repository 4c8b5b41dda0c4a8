/* per_thread.c — each call of per_thread.def under its second name. The signatures differ, so a
 * jump it is. */

#ifdef __aarch64__
#define JUMP(name) "b " name
#else
#define JUMP(name) "jmp " name "@PLT"
#endif
#define PER_THREAD(name, suffix)                                                                  \
    __asm__(".text\n.globl " #name "_" #suffix "\n.type " #name "_" #suffix ", @function\n" #name \
            "_" #suffix ": " JUMP(#name) "\n");
#include "grader/runtime/per_thread.def"
