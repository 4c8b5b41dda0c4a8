/* %clock64 advances from launch to launch, by at least the time that a launch takes: thousands of
 * cycles. */
#include <cstdio>
#include <cuda_runtime.h>

constexpr int LAUNCHES = 3;

__global__ void read_clock(long long *out, unsigned *data) {
    long long start = clock64();
    unsigned x = *data;
    for (int i = 0; i < 100; i++) x = x * 1664525u + 1013904223u;
    *data = x;
    out[0] = start, out[1] = clock64();
}

int main() {
    long long *device, host[2 * LAUNCHES];
    unsigned *data;
    cudaMalloc(&device, sizeof host), cudaMalloc(&data, sizeof *data), cudaMemset(data, 1, sizeof *data);
    for (int i = 0; i < LAUNCHES; i++) read_clock<<<1, 1>>>(device + 2 * i, data);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < LAUNCHES; i++) {
        if (host[2 * i + 1] < host[2 * i]) printf("launch %d: the clock goes back\n", i);
        if (i && host[2 * i] - host[2 * i - 1] < 1000)
            printf("launch %d begins %lld cycles after the end of the last one\n", i, host[2 * i] - host[2 * i - 1]);
    }
    printf("done\n");
    cudaFree(device), cudaFree(data);
}
