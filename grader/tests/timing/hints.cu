// hints.cu — what hints to the caches gain: rows of a stream, each multiplied by a row of a table that a random number names. Cold caches,
// medians of 21, in µs; a line a version.
//
//   nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -I. grader/tests/timing/hints.cu -o hints; ./hints
//
// Figures: docs/results/h100/hints.tsv. Results are compared with those of the version without hints.
#include "grader/tests/timing/cold.cuh"

constexpr int ROWS = 1 << 20, THREADS = 256, AT_ONCE = 4, LANES = 8; // LANES read a row of 128 bytes
enum hint { NONE, STREAMING, EVICT_FIRST, EVICT_LAST };

__global__ void draw(float *p, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = (unsigned)i * 2654435761u % 4001 / 2000.0f - 1.0f;
}
__global__ void draw_rows(int *row, unsigned below) {
    unsigned v = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 77;
    v ^= v >> 15, v *= 2246822519u, v ^= v >> 13, v *= 3266489917u, v ^= v >> 16;
    row[blockIdx.x * blockDim.x + threadIdx.x] = v % below;
}
__global__ void compare(const float *a, const float *b, unsigned *wrong) {
    if (a[blockIdx.x * blockDim.x + threadIdx.x] != b[blockIdx.x * blockDim.x + threadIdx.x]) atomicAdd(wrong, 1u);
}

template <hint H> __device__ float4 load(const float4 *p) {
    if (H == NONE) return *p;
    if (H == STREAMING) return __ldcs(p);
    unsigned long long policy;
    if (H == EVICT_FIRST) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if (H == EVICT_LAST) asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    float4 v;
    asm volatile("ld.global.L2::cache_hint.v4.f32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(p), "l"(policy));
    return v;
}

template <hint X, hint TABLE>
__global__ void __launch_bounds__(THREADS) scores(float *out, const float4 *x, const int *row, const float4 *table) {
    int e = blockIdx.x * THREADS * AT_ONCE + threadIdx.x;
    float4 a[AT_ONCE], b[AT_ONCE];
#pragma unroll
    for (int r = 0; r < AT_ONCE; r++) {
        int i = e + r * THREADS;
        a[r] = load<X>(x + i);
        int t = X == STREAMING ? __ldcs(row + i / LANES) : row[i / LANES];
        b[r] = load<TABLE>(table + (size_t)t * LANES + i % LANES);
    }
#pragma unroll
    for (int r = 0; r < AT_ONCE; r++) {
        float s = a[r].x * b[r].x + a[r].y * b[r].y + a[r].z * b[r].z + a[r].w * b[r].w;
        for (int d = LANES / 2; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffff, s, d);
        float *to = out + (e + r * THREADS) / LANES;
        if (e % LANES == 0 && X == STREAMING) __stcs(to, s);
        if (e % LANES == 0 && X != STREAMING) *to = s;
    }
}

static float *out, *expected;
static float4 *x, *table;
static int *row;
static unsigned *wrong;
static cudaStream_t stream;

template <hint X, hint TABLE> static void version(int megabytes, const char *name) {
    constexpr int BLOCKS = ROWS / (THREADS / LANES * AT_ONCE);
    auto run = [&] { scores<X, TABLE><<<BLOCKS, THREADS, 0, stream>>>(out, x, row, table); };
    cudaMemset(out, 255, ROWS * sizeof *out), cudaMemset(wrong, 0, sizeof *wrong);
    float us = cold_median(run);
    compare<<<ROWS / THREADS, THREADS>>>(out, expected, wrong);
    unsigned n = 1;
    cudaMemcpy(&n, wrong, sizeof n, cudaMemcpyDeviceToHost);
    printf("table of %d MiB\t%s\t%.2f\t%s\n", megabytes, name, us, n || cudaGetLastError() ? "WRONG" : "right");
}

// The table's window in L2, or none.
static void set_window(size_t bytes, size_t set_aside) {
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = table;
    window.accessPolicyWindow.num_bytes = bytes;
    window.accessPolicyWindow.hitRatio = 1.0f;
    window.accessPolicyWindow.hitProp = bytes ? cudaAccessPropertyPersisting : cudaAccessPropertyNormal;
    window.accessPolicyWindow.missProp = bytes ? cudaAccessPropertyStreaming : cudaAccessPropertyNormal;
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, set_aside);
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window);
    if (!bytes) cudaCtxResetPersistingL2Cache();
}

// Lines of an evict-last policy outlive their kernel, and the flush of L2 before the next one.
static void unpin() { cudaDeviceSynchronize(), cudaCtxResetPersistingL2Cache(), cudaDeviceSynchronize(); }

int main() {
    const int sizes[] = {4, 8, 12, 16, 20, 24, 28, 32, 48};
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    cudaStreamCreate(&stream);
    cudaMalloc(&x, (size_t)ROWS * 128), cudaMalloc(&table, 48 << 20), cudaMalloc(&row, ROWS * sizeof *row);
    cudaMalloc(&out, ROWS * sizeof *out), cudaMalloc(&expected, ROWS * sizeof *out), cudaMalloc(&wrong, sizeof *wrong);
    draw<<<1024, 256>>>((float *)x, (size_t)ROWS * 32), draw<<<1024, 256>>>((float *)table, 12 << 20);
    for (int mb : sizes) {
        draw_rows<<<ROWS / 256, 256>>>(row, mb << 13);
        scores<NONE, NONE><<<ROWS / (THREADS / LANES * AT_ONCE), THREADS>>>(expected, x, row, table);
        cudaDeviceSynchronize();
        version<NONE, NONE>(mb, "no hints");
        version<STREAMING, NONE>(mb, "streaming");
        version<EVICT_FIRST, NONE>(mb, "evict_first of the rows");
        version<NONE, STREAMING>(mb, "__ldcs of the table");
        version<STREAMING, STREAMING>(mb, "hints everywhere");
        version<NONE, EVICT_LAST>(mb, "evict_last of the table"), unpin();
        version<STREAMING, EVICT_LAST>(mb, "streaming and evict_last of the table"), unpin();
        set_window((size_t)mb << 20, device.persistingL2CacheMaxSize);
        version<NONE, NONE>(mb, "a window for the table");
        version<STREAMING, NONE>(mb, "a window for the table and streaming");
        set_window(0, 0);
    }
}
