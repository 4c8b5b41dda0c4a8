// attention, step 2: one kernel. A thread has a query and its sums, and goes over the keys once, with the maximum so far. Lanes multiply.

#include <cuda_fp16.h>

constexpr int DIM = 64, THREADS = 64, KEYS = 32;

__global__ void __launch_bounds__(THREADS) attend(float *out, const half *q, const half *k, const half *v, int n) {
    __shared__ __align__(16) float key[KEYS][DIM], value[KEYS][DIM];
    size_t head = (size_t)blockIdx.y * n * DIM;
    int row = blockIdx.x * THREADS + threadIdx.x, mine = min(row, n - 1);
    float query[DIM], sums[DIM], most = -INFINITY, sum = 0.0f;
#pragma unroll
    for (int l = 0; l < DIM; l += 8) { // eight halves are sixteen bytes
        uint4 eight = *reinterpret_cast<const uint4 *>(&q[head + (size_t)mine * DIM + l]);
        const half *h = reinterpret_cast<const half *>(&eight);
#pragma unroll
        for (int e = 0; e < 8; e++) query[l + e] = __half2float(h[e]) / 8.0f, sums[l + e] = 0.0f;
    }
    for (int start = 0; start < n; start += KEYS) {
        int count = min(KEYS, n - start);
        __syncthreads(); // no thread reads the previous keys any more
        for (int e = threadIdx.x; e < count * DIM; e += THREADS) {
            key[e / DIM][e % DIM] = __half2float(k[head + (size_t)start * DIM + e]);
            value[e / DIM][e % DIM] = __half2float(v[head + (size_t)start * DIM + e]);
        }
        __syncthreads();
        for (int j = 0; j < count; j++) {
            float score = 0.0f;
#pragma unroll
            for (int l = 0; l < DIM; l++) score += query[l] * key[j][l];
            if (score > most) { // earlier sums are relative to a smaller maximum
                float keep = expf(most - score);
                most = score, sum *= keep;
#pragma unroll
                for (int l = 0; l < DIM; l++) sums[l] *= keep;
            }
            float weight = expf(score - most);
            sum += weight;
#pragma unroll
            for (int l = 0; l < DIM; l++) sums[l] += weight * value[j][l];
        }
    }
    if (row >= n) return;
#pragma unroll
    for (int l = 0; l < DIM; l += 4)
        *reinterpret_cast<float4 *>(&out[head + (size_t)row * DIM + l]) =
            make_float4(sums[l] / sum, sums[l + 1] / sum, sums[l + 2] / sum, sums[l + 3] / sum);
}

extern "C" void attention(float *out, const half *q, const half *k, const half *v, int heads, int n) {
    if (heads == 0 || n == 0) return;
    attend<<<dim3((n + THREADS - 1) / THREADS, heads), THREADS>>>(out, q, k, v, n);
}
