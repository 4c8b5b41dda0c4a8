// expect: PART shared_read_requests_total
// No conflicts: all lanes read every pixel, one after another, and each keeps its own.

constexpr int T = 32;
__global__ void k(float4 *out, const float4 *in, int rows, int cols) {
    __shared__ float4 t[T][T];
    int c = blockIdx.x * T + threadIdx.x, r = blockIdx.y * T + threadIdx.y;
    for (int k = 0; k < T; k += 8) if (c < cols && r + k < rows) t[threadIdx.y + k][threadIdx.x] = in[(size_t)(r + k) * cols + c];
    __syncthreads();
    int oc = blockIdx.y * T + threadIdx.x, orow = blockIdx.x * T + threadIdx.y;
    for (int k = 0; k < T; k += 8) {
        float4 got = make_float4(0, 0, 0, 0);
        for (int l = 0; l < T && blockIdx.y * T + l < rows && orow + k < cols; l++) { float4 v = t[l][threadIdx.y + k]; if (l == threadIdx.x) got = v; }
        if (oc < rows && orow + k < cols) out[(size_t)(orow + k) * rows + oc] = got;
    }
}
extern "C" void wide_types(float *out, const float *in, int rows, int cols) { if (rows && cols) k<<<dim3((cols + T - 1) / T, (rows + T - 1) / T), dim3(T, 8)>>>((float4 *)out, (const float4 *)in, rows, cols); }
