// Managed memory and mapped host memory: one pointer for both sides.
#include "check.h"

__managed__ int shared_counter = 7;
__managed__ float shared_table[1000];

__global__ void step(int *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += i;
    if (i < 1000) shared_table[i] = 0.5f * i;
    if (i == 0) shared_counter *= 2;
}

// The device reads the host's text through the same pointer.
__global__ void say(const char *text) {
    printf("%s from the device\n", text);
}

int main() {
    const int n = 5000;
    int *values, *mapped, *view;
    CHECK(cudaMallocManaged(&values, n * sizeof(int)));
    for (int i = 0; i < n; i++) values[i] = 1000;
    printf("counter starts at %d\n", shared_counter);
    shared_counter = 21;
    for (int round = 0; round < 3; round++) {
        step<<<(n + 127) / 128, 128>>>(values, n);
        CHECK(cudaDeviceSynchronize());
        values[10] += 1; // the host takes part
    }
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += values[i] != 1000 + 3 * i + (i == 10 ? 3 : 0);
    printf("%d wrong, counter %d, table[999] %g\n", wrong, shared_counter, shared_table[999]);

    CHECK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    for (int i = 0; i < n; i++) mapped[i] = i;
    CHECK(cudaHostGetDevicePointer(&view, mapped, 0));
    step<<<(n + 127) / 128, 128>>>(view, n);
    CHECK(cudaDeviceSynchronize());
    printf("mapped[4999] = %d, values[4999] = %d\n", mapped[4999], values[4999]);

    int copy[3];
    CHECK(cudaMemcpy(copy, values + 9, sizeof copy, cudaMemcpyDefault));
    printf("%d %d %d\n", copy[0], copy[1], copy[2]);
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, values));
    printf("managed: %d\n", a.type == cudaMemoryTypeManaged);
    char *text;
    CHECK(cudaMallocManaged(&text, 6));
    snprintf(text, 6, "hello");
    say<<<1, 1>>>(text);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(text));
    CHECK(cudaFree(values));
    CHECK(cudaFreeHost(mapped));
    return 0;
}
