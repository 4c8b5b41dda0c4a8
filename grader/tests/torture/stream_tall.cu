// A copy of 100 000 rows in one stream; the last row is written in another.
#include "../programs/check.h"

__global__ void use(char *p) { p[threadIdx.x] = 1; } // reported

int main() {
    char *p, *from;
    CHECK(cudaMalloc(&p, 64 * 100000));
    CHECK(cudaMalloc(&from, 8 * 100000));
    CHECK(cudaMemset(from, 0, 8 * 100000));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaMemcpy2DAsync(p, 64, from, 8, 8, 100000, cudaMemcpyDeviceToDevice, one));
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    use<<<1, 8, 0, two>>>(p + 64 * 99999);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
