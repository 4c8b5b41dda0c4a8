// A chained scan without a fence between sum and flag.
// at first: AC
// expect: RTE 0 0
// says: no __threadfence()
constexpr int THREADS = 256, WARPS = 8, ITEMS = 16, TILE = THREADS * ITEMS;
__device__ unsigned ticket;
__device__ unsigned flag[1 << 20], value[1 << 20];
__global__ void init(int tiles) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < tiles) flag[i] = 0;
    if (i == 0) ticket = 0;
}
__global__ void scan(unsigned *out, const unsigned *in, int n) {
    __shared__ unsigned sums[WARPS], prefix; __shared__ int my;
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) my = atomicAdd(&ticket, 1);
    __syncthreads();
    int b = my;
    unsigned v[4][4];
    unsigned run = 0;
    // each warp 32*16 elements, 4 rounds of uint4
    int first = b * TILE + w * 32 * ITEMS;
    for (int k = 0; k < 4; k++) {
        int i = first + k * 128 + lane * 4;
        if (i + 3 < n) { uint4 q = *(const uint4 *)(in + i); v[k][0] = q.x; v[k][1] = q.y; v[k][2] = q.z; v[k][3] = q.w; }
        else for (int j = 0; j < 4; j++) v[k][j] = i + j < n ? in[i + j] : 0;
        for (int j = 1; j < 4; j++) v[k][j] += v[k][j - 1];
        unsigned s = v[k][3];
        for (int d = 1; d < 32; d *= 2) { unsigned o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
        unsigned ex = s - v[k][3] + run;
        for (int j = 0; j < 4; j++) v[k][j] += ex;
        run += __shfl_sync(~0u, s, 31);
    }
    if (lane == 31) sums[w] = run;
    __syncthreads();
    unsigned before = 0, total = 0;
    for (int k = 0; k < WARPS; k++) { if (k < w) before += sums[k]; total += sums[k]; }
    if (w == 0) {
        volatile unsigned *fl = flag, *va = value;
        if (lane == 0 && b == 0) va[b] = total, fl[b] = 2;

        unsigned pre = 0;
        if (b > 0 && lane == 0) {
            while (fl[b - 1] != 2) {}
            pre = va[b - 1];
            va[b] = pre + total;
            fl[b] = 2;
        }
        if (lane == 0) prefix = pre;
    }
    __syncthreads();
    before += prefix;
    for (int k = 0; k < 4; k++) {
        int i = first + k * 128 + lane * 4;
        for (int j = 0; j < 4; j++) v[k][j] += before;
        if (i + 3 < n) *(uint4 *)(out + i) = make_uint4(v[k][0], v[k][1], v[k][2], v[k][3]);
        else for (int j = 0; j < 4; j++) if (i + j < n) out[i + j] = v[k][j];
    }
}
extern "C" void inclusive_scan(unsigned *out, const unsigned *in, int n) {
    int tiles = (n + TILE - 1) / TILE;
    if (!tiles) return;
    init<<<(tiles + 255) / 256, 256>>>(tiles);
    scan<<<tiles, THREADS>>>(out, in, n);
}
