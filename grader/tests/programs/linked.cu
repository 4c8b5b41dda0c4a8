// Device code in two files: variables and functions of the other one, equal static names in both files, inline
// functions that both have, a function's address, and a kernel in the other file.
// nvcc: -rdc=true grader/tests/hosted/linked_part.cu
#include "../hosted/linked_part.h"
#include "check.h"

__device__ int counter = 5;
__constant__ int table[4] = {1, 10, 100, 1000};
static __device__ int own = 1;

__device__ int here(int x) { return both(x) + own; }

__global__ void start(int *out, int (*f)(int)) {
    out[0] = twice(counter) + own;
    out[1] = there(7);
    out[2] = f(3);
    counter++;
    printf("in the first file\n");
}

__global__ void address(int (**f)(int)) { *f = twice; }

int main() {
    int *out, (**f)(int), n = 40;
    CHECK(cudaMallocManaged(&out, 8 * sizeof *out));
    CHECK(cudaMallocManaged(&f, sizeof *f));
    address<<<1, 1>>>(f);
    CHECK(cudaDeviceSynchronize());
    start<<<1, 1>>>(out, *f);
    CHECK(cudaDeviceSynchronize());
    other_kernel(out + 3);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++) printf("%d ", out[i]);
    CHECK(cudaMemcpyToSymbol(counter, &n, sizeof n));
    other_kernel(out + 3);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", out[3]);
    return 0;
}
