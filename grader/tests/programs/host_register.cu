// Registered memory: kernels reach it through both addresses; after unregistering, only the program does.
// It queries the last error once, so nothing is printed at its end.
#include "check.h"
#include <vector>
__global__ void twice(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}
int main() {
    const int N = 100000;
    std::vector<char> room(N * 4 + 8192);
    int *v = (int *)((size_t)(room.data() + 4095) / 4096 * 4096 + 16); // modelled times depend on the offset in a page
    for (int i = 0; i < N; i++) v[i] = i;
    CHECK(cudaHostRegister(v, N * 4, cudaHostRegisterMapped));
    SHOW(cudaHostRegister(v, N * 4, cudaHostRegisterDefault));
    cudaGetLastError();
    int *d;
    CHECK(cudaHostGetDevicePointer(&d, v, 0));
    twice<<<(N + 255) / 256, 256>>>(d, N);
    CHECK(cudaDeviceSynchronize());
    twice<<<(N + 255) / 256, 256>>>(v, N);
    CHECK(cudaDeviceSynchronize());
    long sum = 0;
    for (int i = 0; i < N; i++) sum += v[i];
    printf("%ld\n", sum);
    v[7] = 1000;
    twice<<<1, 32>>>(v, 8);
    int *dev, h[8];
    CHECK(cudaMalloc(&dev, 32));
    CHECK(cudaMemcpy(dev, v, 32, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(h, dev, 32, cudaMemcpyDeviceToHost));
    printf("%d\n", h[7]);
    CHECK(cudaHostUnregister(v));
    SHOW(cudaHostUnregister(v));
    printf("%d %d\n", v[7], v[N - 1]);
}
