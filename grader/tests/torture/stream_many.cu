// A race whose two ends have 200 other commands without order between them.
#include "../programs/check.h"

__global__ void use(int *p) { p[threadIdx.x]++; } // reported

int main() {
    int *p;
    char *other;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&other, 200 * 64));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    cudaStream_t three;
    CHECK(cudaStreamCreateWithFlags(&three, cudaStreamNonBlocking));
    CHECK(cudaMemsetAsync(p, 0, 128, one));
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    for (int i = 0; i < 200; i++) CHECK(cudaMemsetAsync(other + 64 * i, 0, 4, three));
    use<<<1, 32, 0, two>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
