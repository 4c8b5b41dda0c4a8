// Streams, events, callbacks: the guaranteed order.
#include "check.h"

__global__ void times_plus(int *p, int n, int factor, int addend) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = p[i] * factor + addend;
}

static void CUDART_CB on_stream(cudaStream_t, cudaError_t status, void *data) {
    printf("callback: %s, %s\n", cudaGetErrorName(status), (const char *)data);
}
static void CUDART_CB on_host(void *data) { ++*(int *)data; }

int main() {
    const int n = 1 << 16;
    int *host, *device, calls = 0;
    CHECK(cudaMallocHost(&host, n * sizeof(int)));
    CHECK(cudaMalloc(&device, n * sizeof(int)));
    for (int i = 0; i < n; i++) host[i] = i;
    cudaStream_t first, second;
    cudaEvent_t start, middle, stop, untimed;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&middle));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));

    CHECK(cudaEventRecord(start, first));
    CHECK(cudaMemcpyAsync(device, host, n * sizeof(int), cudaMemcpyHostToDevice, first));
    times_plus<<<n / 256, 256, 0, first>>>(device, n, 3, 1);
    CHECK(cudaEventRecord(middle, first));
    CHECK(cudaStreamWaitEvent(second, middle, 0));
    times_plus<<<n / 256, 256, 0, second>>>(device, n, 2, 5);
    CHECK(cudaStreamAddCallback(second, on_stream, (void *)"after both kernels", 0));
    CHECK(cudaLaunchHostFunc(second, on_host, &calls));
    CHECK(cudaEventRecord(stop, second));
    CHECK(cudaMemcpyAsync(host, device, n * sizeof(int), cudaMemcpyDeviceToHost, second));
    CHECK(cudaStreamSynchronize(second));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaStreamQuery(first));

    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += host[i] != (i * 3 + 1) * 2 + 5;
    float early, late, all;
    CHECK(cudaEventElapsedTime(&early, start, middle));
    CHECK(cudaEventElapsedTime(&late, middle, stop));
    CHECK(cudaEventElapsedTime(&all, start, stop));
    printf("%d wrong, %d host call, times %s\n", wrong, calls,
           early > 0 && late > 0 && all > early && all < 1000 ? "plausible" : "odd");
    CHECK(cudaEventRecord(untimed, first));
    SHOW(cudaEventElapsedTime(&all, untimed, stop));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle ? cudaSuccess : cudaErrorUnknown);
    return 0;
}
