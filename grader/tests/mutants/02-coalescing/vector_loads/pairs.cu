// expect: PART
// 8 bytes a lane.

__global__ void scale(float *__restrict__ out, const float *__restrict__ in, float factor, int head,
                      int vectors, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) {
        float2 v = reinterpret_cast<const float2 *>(in + head)[i];
        v.x *= factor, v.y *= factor;
        reinterpret_cast<float2 *>(out + head)[i] = v;
    }
    if (i < head) out[i] = factor * in[i];
    int tail = head + 2 * vectors + i;
    if (tail < n && i < 2) out[tail] = factor * in[tail];
}

extern "C" void vector_loads(float *out, const float *in, float factor, int start, int n) {
    if (n == 0) return;
    int head = min(start % 2, n);
    int vectors = (n - head) / 2;
    const int threads = 256; // at least one block: its first threads handle the ends
    scale<<<(max(vectors, 1) + threads - 1) / threads, threads>>>(out + start, in + start, factor, head,
                                                                  vectors, n);
}
