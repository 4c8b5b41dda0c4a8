// run: --devices 2
// stderr: stream race: a copy on the device in stream 2 of device 1 reads element 0 of `cudaMalloc #1` (4096 bytes), which kernel `fill` in stream 1 of device 0 writes in missing_event.cu:12; a copy on the device is in line
// stderr: stream race: missing_event.cu:12: kernel `fill` in the default stream of device 1 writes element 0 of `cudaMalloc #2` (4096 bytes), which a copy on the device in stream 1 of device 0 writes; a copy on the device is in line
// missing_event.cu: device 1 copies what a kernel of device 0 writes. Without an event, or a wait of
// the host for the right device, nothing orders the two; with one, nothing is reported.
#include "../check.h"

enum { N = 1024 };

__global__ void fill(int *p, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = value;
}

int main() {
    int *p[2], value;
    cudaStream_t stream[2];
    cudaEvent_t filled;
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&p[d], N * sizeof(int)));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));

    fill<<<N / 256, 256, 0, stream[0]>>>(p[0], 1); // Ordered by an event.
    CHECK(cudaEventRecord(filled, stream[0]));
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamWaitEvent(stream[1], filled, 0));
    CHECK(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, N * sizeof(int), stream[1]));
    CHECK(cudaStreamSynchronize(stream[1]));

    CHECK(cudaSetDevice(0)); // Ordered by the default streams, which cudaMemcpyPeer waits for.
    fill<<<N / 256, 256>>>(p[0], 2);
    CHECK(cudaMemcpyPeer(p[1], 1, p[0], 0, N * sizeof(int)));
    CHECK(cudaSetDevice(1));
    fill<<<N / 256, 256>>>(p[1], 3);
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, stream[0]>>>(p[0], 4);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceSynchronize()); // It waits for device 1 only.
    CHECK(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, N * sizeof(int), stream[1])); // races with the kernel
    CHECK(cudaStreamSynchronize(stream[1]));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpyPeerAsync(p[1], 1, p[0], 0, N * sizeof(int), stream[0]));
    CHECK(cudaSetDevice(1));
    fill<<<N / 256, 256>>>(p[1], 5); // races with the copy: the default stream of another device
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaMemcpy(&value, p[1], sizeof value, cudaMemcpyDefault));
    printf("the last of the commands wrote %d\n", value);
    return 0;
}
