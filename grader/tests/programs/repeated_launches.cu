// also: --repeats execute
/* Loops of equal commands, as programs have them to time a kernel. Whether simgpu executes or skips
 * those that change nothing must not show. */
#include <cstdio>
#include <cuda_runtime.h>

constexpr int N = 1 << 20, BLOCK = 256, ROUNDS = 40;

__global__ void twice(float *out, const float *in) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = 2 * in[i];
}

__global__ void add(float *out, const float *in) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] += in[i];
}

__global__ void count_positive(unsigned *count, const float *in) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (in[i] > 0) atomicAdd(count, 1u);
}

__global__ void say(int n) {
    if (threadIdx.x == 0) printf("say %d\n", n);
}

static float first(const float *p) {
    float value;
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

int main() {
    static float host[N];
    float *in, *out;
    unsigned *count, counted, sum = 0;
    cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host), cudaMalloc(&count, sizeof *count);
    for (int i = 0; i < N; i++) host[i] = i % 4 - 1; /* half of them are positive */
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);

    for (int i = 0; i < ROUNDS; i++) twice<<<N / BLOCK, BLOCK>>>(out, in);
    printf("twice: %g\n", first(out)); /* 2 * -1 */

    for (int i = 0; i < ROUNDS; i++) add<<<N / BLOCK, BLOCK>>>(out, in);
    printf("add: %g\n", first(out)); /* -2 - 40 */

    for (int i = 0; i < ROUNDS; i++) {
        cudaMemset(count, 0, sizeof *count);
        count_positive<<<N / BLOCK, BLOCK>>>(count, in);
        cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
        sum += counted;
    }
    printf("counted: %u\n", sum); /* 40 * 2^19 */

    for (int i = 0; i < ROUNDS; i++) {
        host[0] = i < ROUNDS / 2 ? 5 : 6;
        cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
        twice<<<N / BLOCK, BLOCK>>>(out, in);
        if (i % (ROUNDS / 2) == 18) printf("round %d: %g\n", i, first(out));
    }
    cudaMemset(count, 0, sizeof *count); /* a cycle that ends after its first command */
    cudaMemcpy(&counted, count, sizeof counted, cudaMemcpyDeviceToHost);
    printf("cleared: %u\n", counted);

    for (int i = 0; i < 3; i++) say<<<1, 32>>>(7);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
