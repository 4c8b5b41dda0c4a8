// not repeatable: a kernel waits for the host
// Pinned and managed memory: one address on both sides, the same pages; a kernel that waits for the host, and vice versa
// round.
// stderr: the program never called cudaGetLastError()
#include "check.h"

#include <cstring>

__managed__ int counter = 41;
__managed__ int table[3000] = {7, 8, 9};

__global__ void twice(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}
__global__ void sum(const int *a, const int *b, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
__global__ void answer(volatile int *ask, volatile int *reply) {
    for (int i = 1; i <= 3; i++) {
        while (*ask != i) {}
        *reply = 10 * i;
        __threadfence_system();
    }
}
__global__ void count() {
    counter++;
    table[2999] = counter;
}

static void describe(const char *what, const void *p) {
    static const char *const types[] = {"unregistered", "host", "device", "managed"};
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, p));
    printf("%s: %s, the device's %s, the host's %s\n", what, types[a.type],
           a.devicePointer == p ? "the same" : a.devicePointer ? "another" : "none",
           a.hostPointer == p ? "the same" : a.hostPointer ? "another" : "none");
}

int main() {
    enum { N = 1000 };
    int *plain = (int *)malloc(N * 4), *pinned, *mapped, *managed, *device, *seen;
    CHECK(cudaMallocHost(&pinned, N * 4));
    CHECK(cudaHostAlloc(&mapped, N * 4, cudaHostAllocMapped));
    CHECK(cudaMallocManaged(&managed, N * 4));
    CHECK(cudaMalloc(&device, N * 4));
    describe("malloc", plain);
    describe("cudaMallocHost", pinned + 5);
    describe("cudaHostAlloc", mapped);
    describe("cudaMallocManaged", managed + 1);
    describe("cudaMalloc", device);
    CHECK(cudaHostGetDevicePointer(&seen, mapped, 0));
    printf("cudaHostGetDevicePointer: %s\n", seen == mapped ? "the same" : "another");

    for (int i = 0; i < N; i++) pinned[i] = i, mapped[i] = 1000 * i, managed[i] = -1;
    sum<<<4, 256>>>(pinned, seen, managed, N);
    CHECK(cudaDeviceSynchronize());
    printf("sum %d %d %d\n", managed[0], managed[1], managed[999]);
    twice<<<4, 256>>>(pinned, N);
    CHECK(cudaMemcpyAsync(device, pinned, N * 4, cudaMemcpyHostToDevice));
    twice<<<4, 256>>>(device, N);
    CHECK(cudaMemcpyAsync(mapped, device, N * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemsetAsync(managed, 1, 8));
    CHECK(cudaMemcpy(plain, pinned, N * 4, cudaMemcpyHostToHost));
    printf("copies %d %d %d %x %x\n", plain[3], mapped[3], mapped[999], managed[1], managed[2]);

    volatile int *ask = pinned, *reply = mapped;
    *ask = *reply = 0;
    answer<<<1, 1>>>(ask, reply);
    cudaEvent_t done;
    CHECK(cudaEventCreate(&done));
    CHECK(cudaEventRecord(done));
    printf("under way: %s\n", cudaGetErrorName(cudaEventQuery(done)));
    for (int i = 1; i <= 3; i++) {
        *ask = i;
        while (*reply != 10 * i) {}
        printf("reply %d\n", *reply);
    }
    CHECK(cudaEventSynchronize(done));
    printf("then: %s\n", cudaGetErrorName(cudaEventQuery(done)));

    count<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    printf("managed variables %d %d %d %d\n", counter, table[0], table[2], table[2999]);
    counter = 99;
    count<<<1, 1>>>();
    CHECK(cudaDeviceSynchronize());
    printf("managed variables %d %d\n", counter, table[2999]);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(mapped));
    CHECK(cudaFree(managed));
    cudaError_t freed = cudaFree(plain), freed_host = cudaFreeHost(plain);
    printf("%s %s\n", cudaGetErrorName(freed_host), cudaGetErrorName(freed));
    return 0;
}
