// run: --devices 2
// halo.cu: a rod's heat equation on two devices. Each owns half of the cells and sends its edge cell
// to the other after each step; events order the copies with the kernels of both devices.
#include "../expect.h"
#include <utility>
#include <vector>

__global__ void step(float *to, const float *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n) to[i] = from[i] + 0.25f * (from[i - 1] - 2 * from[i] + from[i + 1]);
}

int main() {
    const int n = 1 << 12, half = n / 2, steps = 50;
    const size_t bytes = (half + 2) * sizeof(float);
    float *cells[2][2];
    cudaStream_t stream[2];
    cudaEvent_t stepped[2], sent[2];
    std::vector<float> now(n + 2), next(n + 2), got(n + 2);
    for (int i = 1; i <= n; i++) now[i] = (float)(i * 37 % 101);
    next = now;
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreate(&stream[d]));
        CHECK(cudaEventCreateWithFlags(&stepped[d], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming));
        for (int k = 0; k < 2; k++) {
            CHECK(cudaMalloc(&cells[d][k], bytes));
            CHECK(cudaMemset(cells[d][k], 0, bytes));
        }
        CHECK(cudaMemcpy(cells[d][0], &now[d * half], bytes, cudaMemcpyHostToDevice));
        CHECK(cudaDeviceSynchronize());
    }
    for (int t = 0; t < steps; t++) {
        int a = t % 2, b = 1 - a;
        for (int d = 0; d < 2; d++) {
            CHECK(cudaSetDevice(d));
            if (t) CHECK(cudaStreamWaitEvent(stream[d], sent[1 - d], 0));
            step<<<(half + 255) / 256, 256, 0, stream[d]>>>(cells[d][b], cells[d][a], half);
            CHECK(cudaEventRecord(stepped[d], stream[d]));
        }
        for (int d = 0; d < 2; d++) {
            CHECK(cudaSetDevice(d));
            // The other device's step reads the cell that the next copy but one overwrites.
            CHECK(cudaStreamWaitEvent(stream[d], stepped[1 - d], 0));
            CHECK(cudaMemcpyPeerAsync(cells[1 - d][b] + (d ? half + 1 : 0), 1 - d,
                                      cells[d][b] + (d ? 1 : half), d, sizeof(float), stream[d]));
            CHECK(cudaEventRecord(sent[d], stream[d]));
        }
        for (int i = 1; i <= n; i++)
            next[i] = now[i] + 0.25f * (now[i - 1] - 2 * now[i] + now[i + 1]);
        std::swap(now, next);
    }
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(&got[d * half + 1], cells[d][steps % 2] + 1, half * sizeof(float),
                         cudaMemcpyDeviceToHost));
    }
    for (int i = 1; i <= n; i++)
        EXPECT(got[i] - now[i] < 1e-3f && now[i] - got[i] < 1e-3f, "cell %d: %g, not %g", i, got[i], now[i]);
    printf("%d steps of %d cells on two devices: %d wrong\n", steps, n, wrong);
    return wrong != 0;
}
