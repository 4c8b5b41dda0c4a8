// scale_add: the model solution. The scaled value never leaves its register; four elements a thread, so that
// enough bytes are under way.

__global__ void scale_add_kernel(float *__restrict__ out, const float *__restrict__ x,
                                 const float *__restrict__ y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, fours = n / 4;
    if (i < fours) {
        float4 u = reinterpret_cast<const float4 *>(x)[i], v = reinterpret_cast<const float4 *>(y)[i];
        reinterpret_cast<float4 *>(out)[i] =
            make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    }
    int rest = 4 * fours + i;
    if (rest < n && i < 4) out[rest] = a * x[rest] + y[rest];
}

extern "C" void scale_add(float *out, const float *x, const float *y, float a, int n) {
    if (n == 0) return;
    const int threads = 256, blocks = (n / 4 + threads) / threads; // one thread at least
    scale_add_kernel<<<blocks, threads>>>(out, x, y, a, n);
}
