// A loop that threads leave after different numbers of rounds, with a barrier in it.
#include "../programs/check.h"

__global__ void rounds(int *p) {
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < t / 32 + 1; i++) { // reported: warp 0 goes round once, warp 3 four times
        s[t] = i;
        __syncthreads();
        sum += s[t & 31];
    }
    p[t] = s[127 - t] + sum;
}

int main() {
    int *p, host[256] = {0};
    CHECK(cudaMalloc(&p, sizeof host));
    CHECK(cudaMemset(p, 0, sizeof host));
    rounds<<<1, 128>>>(p);
    SHOW(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[255]);
    return 0;
}
