// Right: runs of equal bytes are added up in registers first.
// at first: modelled time far off
// expect: AC 90 100
// h10: run-length in registers (4 bytes equal -> one atomic of 4..16), one copy per warp
__global__ void clear(int *bins) { bins[threadIdx.x] = 0; }
constexpr int W = 8;
__global__ void __launch_bounds__(256) count(int *bins, const unsigned char *data, int n) {
    __shared__ int h[W][256];
    int t = threadIdx.x, w = t / 32;
    for (int i = t; i < W * 256; i += 256) (&h[0][0])[i] = 0;
    __syncthreads();
    int me = blockIdx.x * blockDim.x + t, step = gridDim.x * blockDim.x;
    const uint4 *d16 = (const uint4 *)data;
    int n16 = n / 16, last = -1, run = 0;
    for (int i = me; i < n16; i += step) {
        uint4 v = d16[i];
        unsigned u[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 4; k++)
#pragma unroll
            for (int b = 0; b < 4; b++) {
                int x = (u[k] >> (8 * b)) & 255;
                if (x != last) { if (run) atomicAdd(&h[w][last], run); last = x; run = 0; }
                run++;
            }
    }
    if (run) atomicAdd(&h[w][last], run);
    int i = n16 * 16 + me;
    if (i < n) atomicAdd(&h[w][data[i]], 1);
    __syncthreads();
    int s = 0;
    for (int c = 0; c < W; c++) s += h[c][t];
    if (s) atomicAdd(&bins[t], s);
}
extern "C" void histogram(int *bins, const unsigned char *data, int n) {
    clear<<<1, 256>>>(bins);
    if (n == 0) return;
    int want = (n / 16 + 255) / 256;
    count<<<max(1, min(want, 264)), 256>>>(bins, data, n);
}
