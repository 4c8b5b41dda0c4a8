// expect: PART
// Registers, eight vectors a lane at a time: little stands around the loads and stores, and these are too many.

constexpr int THREADS = 128;

__global__ void gather(float4 *out, const float4 *table, const int *index, int vectors) {
    size_t to = (size_t)blockIdx.x * vectors, from = (size_t)index[blockIdx.x] * vectors;
    int c = threadIdx.x;
    for (; c + 7 * THREADS < vectors; c += 8 * THREADS) {
        float4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++) v[k] = table[from + c + k * THREADS];
#pragma unroll
        for (int k = 0; k < 8; k++) out[to + c + k * THREADS] = v[k];
    }
    for (; c < vectors; c += THREADS) out[to + c] = table[from + c];
}

extern "C" void bulk_rows(float *out, const float *table, const int *index, int n, int rows, int cols) {
    if (n > 0 && cols > 0)
        gather<<<n, THREADS>>>(reinterpret_cast<float4 *>(out), reinterpret_cast<const float4 *>(table), index, cols / 4);
}
