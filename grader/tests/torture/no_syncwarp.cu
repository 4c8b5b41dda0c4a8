// Lanes that diverge and then read what others of their warp wrote, with no __syncwarp. As the compiler lays out the code
// lanes happen to meet again; under the hostile schedule they do not, and the result is wrong.
// run: --schedule hostile
#include "../programs/check.h"

__global__ void exchange(volatile int *box, int *out, int with) {
    int lane = threadIdx.x;
    if (lane & 1) {
        int v = lane;
        for (int i = 0; i < lane; i++) v = v * 3 + box[32 + i % 4];
        box[lane] = v | 1;
    }
    if (with) __syncwarp();
    out[lane] = box[lane | 1];
}

static int wrong(int *p, int with) {
    int host[72], bad = 0;
    CHECK(cudaMemset(p, 0, sizeof host));
    exchange<<<1, 32>>>(p, p + 40, with);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) bad += host[40 + i] == 0;
    return bad;
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 72 * sizeof(int)));
    printf("with __syncwarp: %d wrong\n", wrong(p, 1));
    printf("without: %s\n", wrong(p, 0) ? "some wrong" : "none wrong");
    return 0;
}
