// Two streams write one byte; in the other version, neighbouring bytes of one word.
#include "../programs/check.h"

__global__ void use(char *p) { *p = 1; } // reported

int main() {
    char *p;
    CHECK(cudaMalloc(&p, 4));
    cudaStream_t one, two;
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaMemsetAsync(p + 1, 0, 1, one));
#ifdef FIXED
    use<<<1, 1, 0, two>>>(p + 2);
#else
    use<<<1, 1, 0, two>>>(p + 1);
#endif
    SHOW(cudaDeviceSynchronize());
    return 0;
}
