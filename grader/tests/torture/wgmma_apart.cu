// One warp of a warpgroup multiplies another matrix than the others: of sixteen columns, not of eight.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__global__ void product(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0}, e[4] = {0};
    fill(a, A, 1), fill(b, 2 * B, 1);
    __syncthreads();
    begin();
    if (threadIdx.x < 96)
        multiply(d, matrix(a), matrix(b));
    else
        asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3])
                     : "l"(matrix(a)), "l"(matrix(b)));
    commit();
    wait();
    put(out, d);
}

int main() {
    run(product);
    return 0;
}
