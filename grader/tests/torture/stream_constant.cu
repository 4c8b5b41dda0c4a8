// A copy to constant memory in one stream, a kernel that reads it in another.
#include "../programs/check.h"

__constant__ int taps[64];

__global__ void use(int *p) { p[threadIdx.x] = taps[threadIdx.x % 8] + taps[63]; } // reported

int main() {
    int *p, *from;
    CHECK(cudaMalloc(&p, 256));
    CHECK(cudaMalloc(&from, 256));
    CHECK(cudaMemset(from, 0, 256));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaMemcpyToSymbolAsync(taps, from, 256, 0, cudaMemcpyDeviceToDevice, one));
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    use<<<1, 64, 0, two>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
