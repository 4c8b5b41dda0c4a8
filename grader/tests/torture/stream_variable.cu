// A fill of a __device__ variable in one stream, a kernel that reads it in another.
#include "../programs/check.h"

__device__ int total[32];

__global__ void use(int *p) { p[threadIdx.x] = total[threadIdx.x]; } // reported

int main() {
    int *p;
    void *at;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaGetSymbolAddress(&at, total));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaMemsetAsync(at, 0, 128, one));
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    use<<<1, 32, 0, two>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
