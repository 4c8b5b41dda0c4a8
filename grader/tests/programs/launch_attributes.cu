// cudaLaunchKernelEx: hints, and an event that the launch records.
#include "check.h"
__global__ void k(int *p, int v, float f) { p[blockIdx.x * blockDim.x + threadIdx.x] = v + (int)f; }
int main() {
    int *p, h[64];
    CHECK(cudaMalloc(&p, 256));
    cudaLaunchConfig_t c = {};
    c.gridDim = 2;
    c.blockDim = 32;
    cudaLaunchAttribute a[2];
    a[0].id = cudaLaunchAttributePriority;
    a[0].val.priority = 0;
    a[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[1].val.programmaticStreamSerializationAllowed = 1;
    c.attrs = a;
    c.numAttrs = 2;
    CHECK(cudaLaunchKernelEx(&c, k, p, 5, 2.5f));
    CHECK(cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost));
    printf("%d %d\n", h[0], h[63]);
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    a[0].id = cudaLaunchAttributeLaunchCompletionEvent;
    a[0].val.launchCompletionEvent.event = e;
    a[0].val.launchCompletionEvent.flags = 0;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, k, p, 6, 2.5f));
    CHECK(cudaEventSynchronize(e));
    float ms;
    SHOW(cudaEventElapsedTime(&ms, e, e));
}
