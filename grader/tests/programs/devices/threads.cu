// run: --devices 4
// not repeatable: the threads issue their launches in any order
// threads.cu: a host thread for each device, 4 at most. Each sums its part, and the first device
// collects the sums by copies that the threads issue.
#include "../expect.h"
#include <thread>
#include <vector>

__device__ unsigned total;

__global__ void sum(const unsigned *values, int n) {
    unsigned mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += values[i];
    atomicAdd(&total, mine);
}

static void work(int device, const unsigned *values, int n, unsigned *sums) {
    unsigned *own;
    void *address;
    int current;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMalloc(&own, n * sizeof *own));
    CHECK(cudaMemcpy(own, values, n * sizeof *own, cudaMemcpyHostToDevice));
    sum<<<1, 128>>>(own, n);
    CHECK(cudaGetLastError());
    CHECK(cudaGetSymbolAddress(&address, total));
    CHECK(cudaMemcpyPeer(sums + device, 0, address, device, sizeof *sums));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(own));
    CHECK(cudaGetDevice(&current));
    EXPECT(current == device, "device %d has become %d", device, current);
}

int main() {
    enum { MAX_DEVICES = 4, N = 5000 };
    int n, current;
    unsigned *sums, got[MAX_DEVICES], want;
    CHECK(cudaGetDeviceCount(&n));
    if (n > MAX_DEVICES) n = MAX_DEVICES;
    CHECK(cudaMalloc(&sums, sizeof got));
    std::vector<unsigned> values(n * N);
    for (int i = 0; i < n * N; i++) values[i] = i % 997;
    std::vector<std::thread> threads;
    for (int d = 0; d < n; d++) threads.emplace_back(work, d, &values[d * N], N, sums);
    for (std::thread &t : threads) t.join();
    CHECK(cudaMemcpy(got, sums, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (int d = 0; d < n; d++) {
        want = 0;
        for (int i = 0; i < N; i++) want += values[d * N + i];
        EXPECT(got[d] == want, "device %d: %u, not %u", d, got[d], want);
    }
    CHECK(cudaGetDevice(&current));
    printf("a thread for each device: %d wrong; the main thread has device %d\n", wrong, current);
    return wrong != 0;
}
