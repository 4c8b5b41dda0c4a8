// The host dereferences a device pointer, a classic mistake: SIGSEGV, with an explanation.
// signal: 11
// stderr: copy the data with cudaMemcpy
#include "check.h"

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 4));
    printf("still here\n");
    fflush(stdout);
    printf("%d\n", *p);
    return 0;
}
