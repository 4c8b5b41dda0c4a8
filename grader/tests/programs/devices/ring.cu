// run: --devices 4
// ring.cu: a ring all-reduce over all devices, 4 at most: each sends one part of its vector to the
// next device, which adds it; after 2 (n - 1) rounds all have the sums.
#include "../expect.h"
#include <vector>

__global__ void add(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

int main() {
    enum { MAX_DEVICES = 4 };
    const int part = 3000;
    int n = 0;
    int *data[MAX_DEVICES], *inbox[MAX_DEVICES];
    cudaStream_t stream[MAX_DEVICES];
    cudaEvent_t done[MAX_DEVICES];
    CHECK(cudaGetDeviceCount(&n));
    if (n > MAX_DEVICES) n = MAX_DEVICES;
    std::vector<int> host(n * part), sums(n * part);
    for (int d = 0; d < n; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming));
        CHECK(cudaMalloc(&data[d], n * part * sizeof(int)));
        CHECK(cudaMalloc(&inbox[d], part * sizeof(int)));
        for (int i = 0; i < n * part; i++) host[i] = i * (d + 1) % 1009, sums[i] += host[i];
        CHECK(cudaMemcpy(data[d], host.data(), n * part * sizeof(int), cudaMemcpyHostToDevice));
        if (n > 1) CHECK(cudaDeviceEnablePeerAccess((d + 1) % n, 0));
        CHECK(cudaEventRecord(done[d], stream[d]));
    }
    for (int round = 0; round < 2 * (n - 1); round++) {
        bool adds = round < n - 1;
        for (int d = 0; d < n; d++) { // Send.
            int next = (d + 1) % n, at = (d - round + 2 * n) % n;
            CHECK(cudaSetDevice(d));
            CHECK(cudaStreamWaitEvent(stream[d], done[next], 0));
            CHECK(cudaMemcpyPeerAsync(adds ? inbox[next] : data[next] + at * part, next,
                                      data[d] + at * part, d, part * sizeof(int), stream[d]));
        }
        std::vector<cudaEvent_t> sent(n);
        for (int d = 0; d < n; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming));
            CHECK(cudaEventRecord(sent[d], stream[d]));
        }
        for (int d = 0; d < n; d++) { // Add what has arrived.
            int before = (d + n - 1) % n, at = (before - round + 2 * n) % n;
            CHECK(cudaSetDevice(d));
            CHECK(cudaStreamWaitEvent(stream[d], sent[before], 0));
            if (adds) add<<<(part + 127) / 128, 128, 0, stream[d]>>>(data[d] + at * part, inbox[d], part);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(done[d], stream[d]));
        }
        for (int d = 0; d < n; d++) CHECK(cudaEventDestroy(sent[d]));
    }
    for (int d = 0; d < n; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(stream[d]));
        CHECK(cudaMemcpy(host.data(), data[d], n * part * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n * part; i++)
            EXPECT(host[i] == sums[i], "device %d, element %d: %d, not %d", d, i, host[i], sums[i]);
    }
    printf("all-reduce of %s: %d wrong\n", n > 1 ? "several devices" : "one device", wrong);
    return wrong != 0;
}
