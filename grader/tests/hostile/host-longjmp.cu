// RTE/TLE | own | longjmps out of the entry, into a constructor that has returned | 
#include <setjmp.h>
static jmp_buf back;
__attribute__((constructor)) static void set() { setjmp(back); }
extern "C" void plus_one(int *out, const int *in, int n) {
    longjmp(back, 1);
}
