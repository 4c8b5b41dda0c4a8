// linked_part.cu — the second file of programs/linked.cu.
#include "linked_part.h"

static __device__ int own = 100;

__device__ int twice(int x) { return 2 * x; }
__device__ int there(int x) { return both(x) + own; }

__global__ void second(int *out) {
    out[0] = counter;
    out[1] = table[2] + own;
    out[2] = here(4);
    printf("in the second file\n");
}

void other_kernel(int *out) { second<<<1, 1>>>(out); }
