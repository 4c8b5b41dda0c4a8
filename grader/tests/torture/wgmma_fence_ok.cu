// Where no wgmma.fence is missing: constants, which compilers put anywhere; products of one shape in a row; sums that go through other
// registers; what a branch may have changed, with a fence behind it; warpgroups that come to their products at other times.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include "wgmma.cuh"

__device__ void prepare(__half *a, __half *b) {
    fill(a, A, 1), fill(b, 2 * B, 1);
    __syncthreads();
}
__global__ void constants(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    prepare(a, b);
    for (int i = 0; i < 2; i++) {
        float d[4] = {(float)i};
        begin();
        multiply(d, matrix(a), matrix(b));
        multiply(d, matrix(a), matrix(b));
        commit();
        wait();
        put(out, d);
    }
}
__global__ void in_a_loop(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    prepare(a, b);
    begin();
#pragma unroll 1
    for (int i = 0; i < 3; i++) {
        multiply(d, matrix(a), matrix(b));
        commit();
        wait<1>();
    }
    wait();
    put(out, d);
}
__global__ void scaled(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0}, e[4] = {1, 1, 1, 1};
    prepare(a, b);
#pragma unroll 1
    for (int i = 0; i < 4; i++) {
        if (out[i] != 0)
            for (int j = 0; j < 4; j++) d[j] *= out[j];
        begin();
        if (i % 2) multiply(d, matrix(a), matrix(b));
        else multiply(e, matrix(a), matrix(b));
        commit();
        wait();
        for (int j = 0; j < 4; j++) {
            float t = d[j];
            d[j] = e[j], e[j] = t;
        }
    }
    put(out, d);
}
__global__ void in_registers(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    unsigned r[4];
    prepare(a, b);
    for (int i = 0; i < 4; i++) r[i] = ((unsigned *)a)[i * 128 + threadIdx.x];
    begin();
    for (int i = 0; i < 2; i++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(matrix(b)));
    commit();
    wait();
    put(out, d);
}
// The second warpgroup has more of them, the third none.
__global__ void groups(float *out) {
    __shared__ __align__(128) __half a[2 * A], b[2 * B];
    float d[4] = {0};
    prepare(a, b);
    for (int i = 0; threadIdx.x < 256 && i <= threadIdx.x / 128; i++) {
        begin();
        multiply(d, matrix(a), matrix(b));
        commit();
        wait();
    }
    if (threadIdx.x < 128) put(out, d);
}

int main() {
    run(constants);
    run(in_a_loop);
    run(scaled);
    run(in_registers);
    run(groups, 384);
    return 0;
}
