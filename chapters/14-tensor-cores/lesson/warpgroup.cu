// What lesson 14 shows of wgmma: a matrix of 64 x 16 times one of 16 x 8, by four warps with fragments, and by the warpgroup together.
// nvcc: -gencode arch=compute_90a,code=compute_90a
#include <cuda_fp16.h>

__device__ unsigned address(const half *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Eight rows of a chunk of 16 bytes follow each other: 128 bytes. Then come the next chunk's, and behind both the next eight rows.
__device__ int place(int row, int chunk) { return row / 8 * 128 + chunk * 64 + row % 8 * 8; }

__device__ void fill(half *s, int n) {
    for (int i = threadIdx.x; i < n; i += 128) s[i] = __float2half(i % 7);
}

__device__ void fragments(unsigned (&r)[4], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address(row)) : "memory");
}
__device__ void fragments(unsigned (&r)[2], const half *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1]) : "r"(address(row)) : "memory");
}
__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Where it begins; the next chunk of a row is 128 bytes on, the next eight rows 256. All in units of 16 bytes; no swizzle.
__device__ unsigned long long descriptor(const half *s) { return address(s) >> 4 | 8ull << 16 | 16ull << 32; }
__device__ void multiply(float (&d)[4], unsigned long long a, unsigned long long b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
__device__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }
__device__ void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

extern "C" __global__ void by_warps(float4 *out) {
    __shared__ __align__(128) half a[64 * 16], b[8 * 16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    fill(a, 64 * 16), fill(b, 8 * 16);
    __syncthreads();
    float sum[4] = {};
    unsigned left[4], right[2];
    fragments(left, a + place(warp * 16 + lane % 16, lane / 16)); // 16 rows of the warp's own
    fragments(right, b + place(lane % 8, lane / 8 % 2));          // all of b, in each warp again
    multiply(sum, left, right);
    out[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

extern "C" __global__ void by_the_warpgroup(float4 *out) {
    __shared__ __align__(128) half a[64 * 16], b[8 * 16];
    fill(a, 64 * 16), fill(b, 8 * 16);
    fence_proxy_async();                                          // what threads wrote, to the products
    __syncthreads();
    float sum[4] = {};
    wgmma_fence();                                                // the sums are as they should be
    multiply(sum, descriptor(a), descriptor(b));                  // nobody loads, and nobody waits
    commit();
    wait();                                                       // now the sums are there
    out[threadIdx.x] = make_float4(sum[0], sum[1], sum[2], sum[3]);
}

int main() {
    float4 *out;
    cudaMalloc(&out, 128 * sizeof *out);
    by_warps<<<1, 128>>>(out);
    by_the_warpgroup<<<1, 128>>>(out);
    return cudaDeviceSynchronize();
}
