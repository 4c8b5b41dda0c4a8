// Freed twice, and freed in the middle.
#include "../programs/check.h"

int main() {
    char *p, *q;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&q, 128));
    SHOW(cudaFree(q + 64));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    SHOW(cudaFree(q));
    return 0;
}
