// The Programming Guide's loop round compare-and-swap, and looks before an atomic: notes, no faults.
#include "../programs/check.h"

__device__ void add(float *p, float v) {
    int *a = (int *)p, old = *a, assumed; // note: a plain read, which atomicCAS checks
    do {
        assumed = old;
        old = atomicCAS(a, assumed, __float_as_int(v + __int_as_float(assumed)));
    } while (assumed != old);
}
__global__ void loop(float *p) { add(p, 1); }
__global__ void most(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i * 7919 % n;
    if (v > p[1]) atomicMax(&p[1], v); // note
}
__global__ void visit(int *p) {
    if (!p[2] && atomicExch(&p[2], 1) == 0) p[255] = 1; // note
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    loop<<<4, 64>>>((float *)p);
    most<<<8, 256>>>(p, 1009);
    visit<<<4, 32>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
