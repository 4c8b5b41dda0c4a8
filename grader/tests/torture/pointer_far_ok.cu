// Within the buffer.
#include "../programs/check.h"

__global__ void far(int *out, const int *in, int n) {
    int i = threadIdx.x;
    out[i + n] = in[i];
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    int *in;
    CHECK(cudaMalloc(&in, 1 << 16));
    CHECK(cudaMemset(in, 0, 1 << 16));
    far<<<1, 32>>>(p, in, 256 - 32);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
