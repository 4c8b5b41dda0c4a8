// A kernel reads a texture whose memory is filled in another stream.
#include "../programs/check.h"

__global__ void use(cudaTextureObject_t t, int *p) { p[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x); } // reported

int main() {
    int *p, *texels;
    CHECK(cudaMalloc(&p, 128));
    CHECK(cudaMalloc(&texels, 128));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = texels;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = 128;
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    CHECK(cudaCreateTextureObject(&t, &r, &d, NULL));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaMemsetAsync(texels, 0, 128, one));
#ifdef FIXED
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, one));
    CHECK(cudaStreamWaitEvent(two, done));
#endif
    use<<<1, 32, 0, two>>>(t, p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
