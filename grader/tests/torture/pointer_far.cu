// An index far beyond the end, nearer to another buffer: the one that the pointer came from is named.
#include "../programs/check.h"

__global__ void far(int *out, const int *in, int n) {
    int i = threadIdx.x;
    out[i + 100 * n] = in[i]; // reported
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    int *in;
    CHECK(cudaMalloc(&in, 1 << 16));
    CHECK(cudaMemset(in, 0, 1 << 16));
    far<<<1, 32>>>(p, in, 256 + 60);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
