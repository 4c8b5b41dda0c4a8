/* per_thread.c — defines the second name of each call in per_thread.def. A jump works for every
 * signature. */

#ifdef __aarch64__
#define JUMP(name) "b " name
#else
#define JUMP(name) "jmp " name "@PLT"
#endif
#define PER_THREAD(name, suffix)                                                                  \
    __asm__(".text\n.globl " #name "_" #suffix "\n.type " #name "_" #suffix ", @function\n" #name \
            "_" #suffix ": " JUMP(#name) "\n");
#include "grader/runtime/per_thread.def"
