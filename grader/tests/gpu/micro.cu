// micro: one thing that a warp can do with memory a kernel. The kernels' names are the keys of the figures.
#include "driver.cuh"

__device__ static int me() { return blockIdx.x * blockDim.x + threadIdx.x; }
__constant__ float halves_of[256];

// Who loads, and how often, depends on data.
__device__ static int sum_of(const int *in, int from, int count, int n) {
    int sum = 0;
    for (int k = 0; k < count; k++) sum += in[(from + k) % n];
    return sum;
}
__global__ void nested(int *out, const int *in, int n) {
    const int i = me();
    if (i >= n) return;
    const int v = in[i];
    int r = 0;
    if (v % 2 == 0) {
        if (v % 3 == 0) r = in[7 * i % n] ^ in[(7 * i + 1) % n] ^ in[(7 * i + 2) % n];
    } else if (v & 2) r = sum_of(in, i, v & 15, n);
    else if (v & 4) r = 3 * in[n - 1 - i];
    else out[n + i] = v;
    out[i] = r;
}
__global__ void trips(int *out, const int *in, int n) { // a turn more each lane
    const int i = me();
    if (i >= n) return;
    int r = 0, left = threadIdx.x % 32 + 1;
#pragma unroll 1
    for (int at = i; left-- > 0; at += 32) r = 3 * r + in[at % n];
    out[i] = r;
}
__global__ void whiles(int *out, const int *in, int n) { // Collatz's sequence
    const int i = me();
    if (i >= n) return;
    int length = 0;
    for (unsigned v = in[i] % 1024 + 1; v > 1; length++) v = v % 2 ? 3 * v + 1 : v / 2;
    out[i] = length;
}
__global__ void switches(int *out, const int *in, int n) {
    const int i = me();
    if (i >= n) return;
    const int v = in[i];
    int r = -1;
    switch (v % 8) {
    case 0: r = in[(i + 1) % n]; break;
    case 1: r = v * v; break;
    case 2: r = in[2 * i % n] + in[3 * i % n]; break;
    case 3: r = __popc(v); break;
    case 5: out[n + i] = 1, r = 2; break;
    }
    out[i] = r;
}
__global__ void predicated(float *out, const float *in, const int *sel, int n) { // of some warps, no lane
    const int i = me();
    if (i >= n) return;
    float r = sel[i] > 0 ? in[i] : 0;
    if ((i & 32) == 0) r += in[4 * i % n];
    const bool odd = blockIdx.x % 2;
    if (odd || threadIdx.x == 5) out[i] = odd ? r : -r;
}
__global__ void queue(int *count, int *out, const int *in, int n) { // the old value decides
    const int i = me();
    if (i >= n || in[i] % 5) return;
    const int place = atomicAdd(count, 1);
    if (place < n) out[place] = 1;
}

// Arrays whose index is not known before, so that they lie in local memory.
__global__ void local_same(int *out, const int *in, int n, int put, int get) { // one element for all lanes
    const int i = me();
    if (i >= n) return;
    int own[16], r = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++) own[k * put % 16] = in[(i + k) % n];
#pragma unroll 1
    for (int k = 0; k < 4; k++) r += own[k * get % 16];
    out[i] = r;
}
__global__ void local_lane(int *out, const int *in, int n) { // another for each
    const int i = me();
    if (i >= n) return;
    int own[16];
#pragma unroll 1
    for (unsigned k = 0; k < 16; k++) own[(threadIdx.x + k) % 16] = i + k;
    const unsigned v = in[i];
    out[i] = own[v % 16] + own[v / 16 % 16];
}
__global__ void local_wide(float *out, const int *in, int n) { // of 16 and of 8 bytes
    const int i = me();
    if (i >= n) return;
    float4 four[8];
    double two[8];
    const unsigned v = in[i];
#pragma unroll 1
    for (unsigned k = 0; k < 8; k++) {
        four[(v + k) % 8] = make_float4(k, i, k, i);
        two[(v ^ k) % 8] = k;
    }
    out[i] = four[v % 8].x + four[v / 8 % 8].w + float(two[v / 64 % 8]);
}
__global__ void local_bytes(int *out, const int *in, int n) {
    const int i = me();
    if (i >= n) return;
    byte own[32];
    const unsigned v = in[i];
#pragma unroll 1
    for (unsigned k = 0; k < 32; k++) own[(v + k) % 32] = byte(k);
    out[i] = own[v % 32];
}

// No memory but the operands: nothing else may count as an access.
__global__ void consts(float *out, const int *in, int n, int u) {
    const int i = me();
    if (i >= n) return;
    const int lane = threadIdx.x % 32;
    float r = halves_of[u] + halves_of[u + lane / 16] + halves_of[lane] + halves_of[in[i] & 255];
#pragma unroll 1
    for (int k = 0; k < 5 * u; k += u) r += halves_of[k & 255];
    out[i] = r;
}
__global__ void shuffles(int *out, const int *in, int n) {
    const unsigned all = ~0u;
    const int i = me();
    int v = i < n ? in[i] : 0;
    for (int far = 16; far > 0; far >>= 1) v += __shfl_down_sync(all, v, far);
    v += __shfl_xor_sync(all, in[i % n], 5);
    v += __popc(__ballot_sync(all, v > 0)) + __reduce_add_sync(all, i) + __popc(__match_any_sync(all, v & 3));
    if (i < n) out[i] = v;
}
__global__ void long_shuffles(double *out, const int *in, int n) {
    const int i = me();
    double v = i < n ? in[i] : 0;
    for (int far = 16; far > 0; far >>= 1) v += __shfl_xor_sync(~0u, v, far);
    if (i < n) out[i] = v;
}
__global__ void math(float *out, const float *in, int n) {
    const int i = me();
    if (i < n) out[i] = sinf(in[i]) / 3 + powf(fabsf(in[i]), 1.5f);
}
__global__ void ints(int *out, const int *in, int n, int d) {
    const int i = me();
    if (i < n) out[i] = int((long long)in[i] % (d + 2)) + in[i] / d;
}
__global__ void doubles(double *out, const double *in, int n) {
    const int i = me();
    if (i < n) out[i] = sqrt(fabs(in[i])) / 3;
}
__device__ __noinline__ static float called(float x, int k) { return k < 4 ? x + k : x * 2; }
__global__ void calls(float *out, const float *in, int n) {
    const int i = me();
    if (i < n) out[i] = called(in[i], i % 8);
}

// Layouts and ways of access.
struct three {
    float x, y, z;
};
struct odd {
    short a;
    byte b; // and a hole
};
__global__ void structs(three *out, const three *in, const odd *more, int n) {
    const int i = me();
    if (i >= n) return;
    const three v = in[i];
    out[n - 1 - i] = {v.x + more[i].a + more[i].b, v.y, v.z};
}
__global__ void halves(short *out, const short *in, const byte *b, int n) {
    const int i = me();
    if (i < n) out[i] = short(b[i] + b[5 * i % n] + in[3 * i % n]);
}
__global__ void hints(float *out, const float *in, int n) {
    const int i = me();
    if (i >= n) return;
    const volatile float *in_turn = in;
    volatile float *last = out + 2 * n;
    const float r = __ldg(&in[i]) + __ldcg(&in[(i + 1) % n]) + __ldcs(&in[(i + 2) % n]) + in_turn[2 * i % n];
    __stcg(&out[i], r);
    __stcs(&out[n + i], -r);
    last[i] = r / 2;
}
__global__ void three_d(float *out, const float *in, int nx, int ny, int nz) { // blocks of 45 threads
    const int x = blockIdx.x * 5 + threadIdx.x, y = blockIdx.y * 3 + threadIdx.y, z = blockIdx.z * 3 + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz) return;
    out[x + nx * (y + ny * z)] = in[z + nz * (y + ny * x)];
}

// Shared memory.
__global__ void copies_async(float *out, const float *in, int n) { // of 4, 8 and 16 bytes
    __shared__ __align__(16) float one[256], two[512], four[1024];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t, from = i < n / 8 ? i : 0;
    const auto at = [](const float *p) { return unsigned(__cvta_generic_to_shared(p)); };
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(one + t)), "l"(in + from + 1));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at(two + 2 * t)), "l"(in + 2 * from));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(four + 4 * t)), "l"(in + 4 * from));
    asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
    __syncthreads();
    if (i < n) out[i] = one[255 - t] + two[2 * t] + four[4 * t + t % 4];
}
__global__ void swizzles(float *out, const float *in, int n) { // columns by exclusive or, and of 16 bytes by a pad
    __shared__ float tile[32][32];
    __shared__ float4 wide[16][17];
    const int t = threadIdx.x, lane = t % 32, warp = t / 32;
    for (int row = warp; row < 32; row += 8) tile[row][row ^ lane] = in[(32 * row + lane) % n];
    wide[t / 16][t % 16] = make_float4(lane, warp, lane, warp);
    __syncthreads();
    float r = 0;
    for (int column = warp; column < 32; column += 8) r += tile[lane][lane ^ column];
    const float4 v = wide[t % 16][t / 16];
    if (me() < n) out[me()] = r + v.x + v.w;
}
__global__ void early(int *out, const int *in, int n) { // threads that have left before a barrier
    __shared__ int kept[160];
    const int t = threadIdx.x, i = me();
    if (i >= n) return;
    kept[t] = in[i];
    __syncthreads();
    if (t > 76) return;
    __syncthreads();
    out[i] = kept[t / 2] + kept[t];
}
__global__ void histo(int *bins, const int *in, int n) {
    __shared__ int own[16];
    const int t = threadIdx.x;
    if (t < 16) own[t] = 0;
    __syncthreads();
    for (int i = me(); i < n; i += gridDim.x * blockDim.x) atomicAdd(own + in[i] % 16, 1);
    __syncthreads();
    if (t < 16) atomicAdd(bins + t, own[t]);
}

struct lanes_apart { // of three warps, one takes no part but for one lane in ten, one all, one between
    int operator()(size_t i) const { return int(i / 32 % 3) - 1 + (whole(0, 9)(i) == 0); }
};
static const int n = 20011, per = 128, wholes = (n + per - 1) / per;
#define RUN(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__), settle(#kernel)

static void with_floats(stage &on, int *in, int *sel) {
    float *x = on.buffer<float>(n, real(-1, 1));
    double *y = on.buffer<double>(n, real(-1, 1));
    float *threes = on.buffer<float>(3 * n, real(-1, 1)), *out = on.buffer<float>(3 * n, zero);
    double *doubled = on.buffer<double>(n, zero);
    RUN(predicated, wholes, per, out, x, sel, n);
    RUN(local_wide, wholes, per, out, in, n);
    RUN(consts, wholes, per, out, in, n, 3);
    RUN(long_shuffles, wholes, per, doubled, in, n);
    RUN(copies_async, (n + 255) / 256, 256, out, x, n);
    RUN(hints, wholes, per, out, x, n);
    RUN(structs, wholes, per, (three *)out, (const three *)threes, (const odd *)in, n);
    RUN(swizzles, (n + 255) / 256, 256, out, x, n);
    RUN(math, wholes, per, out, x, n);
    RUN(doubles, wholes, per, doubled, y, n);
    RUN(calls, wholes, per, out, x, n);
    RUN(three_d, dim3(6, 9, 10), dim3(5, 3, 3), out, threes, 29, 26, 28);
}
static void with_ints(int *out, int *in) {
    RUN(nested, wholes, per, out, in, n);
    RUN(trips, wholes, per, out, in, n);
    RUN(whiles, wholes, per, out, in, n);
    RUN(switches, wholes, per, out, in, n);
    RUN(local_same, wholes, per, out, in, n, 1, 3);
    RUN(local_lane, wholes, per, out, in, n);
    RUN(local_bytes, wholes, per, out, in, n);
    RUN(shuffles, wholes, per, out, in, n);
    RUN(halves, wholes, per, (short *)out, (const short *)in, (const byte *)in, n);
    RUN(early, (n + 159) / 160, 160, out, in, n);
    RUN(histo, 20, per, out, in, n);
    RUN(queue, wholes, per, out, out + n, in, n);
    RUN(ints, wholes, per, out, in, n, 7);
}

int main() {
    stage on;
    float table[256];
    for (int i = 0; i < 256; i++) table[i] = i / 2.0f;
    must(cudaMemcpyToSymbol(halves_of, table, sizeof table), "halves_of");
    int *in = on.buffer<int>(n, whole(0, 1 << 20)), *sel = on.buffer<int>(n, lanes_apart());
    with_floats(on, in, sel);
    with_ints(on.buffer<int>(2 * n, zero), in);
}
