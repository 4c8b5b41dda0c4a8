// Three allocations, one of them freed.
// run: --leaks
// stderr: 2 allocations of 5000 bytes in all not freed, the first: cudaMalloc #1 (1000 bytes)
#include "check.h"

int main() {
    void *a, *b, *c;
    CHECK(cudaMalloc(&a, 1000));
    CHECK(cudaMalloc(&b, 2000));
    CHECK(cudaMalloc(&c, 4000));
    CHECK(cudaFree(b));
    printf("done\n");
    return 0;
}
