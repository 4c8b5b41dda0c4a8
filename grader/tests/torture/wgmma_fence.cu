// Registers that are written and then multiplied without a wgmma.fence: before the first product, sums between two, an a, other shapes.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__device__ void prepare(__half *a, __half *b) {
    fill(a, A, 1), fill(b, 2 * B, 1);
    __syncthreads();
}
__device__ void multiply_longer(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b));
}

__global__ void first(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    prepare(a, b);
    multiply(d, matrix(a), matrix(b));
    commit();
    wait();
    put(out, d);
}
__global__ void scaled(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    prepare(a, b);
    begin();
    for (int i = 0; i < 2; i++) {
        multiply(d, matrix(a), matrix(b));
        commit();
        wait();
        for (int j = 0; j < 4; j++) d[j] *= out[j];
    }
    put(out, d);
}
__global__ void in_registers(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    unsigned r[4];
    prepare(a, b);
    begin();
    for (int i = 0; i < 4; i++) r[i] = ((unsigned *)a)[i * 128 + threadIdx.x];
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(matrix(b)));
    commit();
    wait();
    put(out, d);
}
__global__ void shapes(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    prepare(a, b);
    begin();
    multiply(d, matrix(a), matrix(b));
    multiply_longer(d, matrix(a), matrix(b));
    commit();
    wait();
    put(out, d);
}

int main() {
    run(first);
    run(scaled);
    run(in_registers);
    run(shapes);
    return 0;
}
