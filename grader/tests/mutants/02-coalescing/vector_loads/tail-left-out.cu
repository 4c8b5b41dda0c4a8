// expect: WA
// Never scales the elements after the last whole vector.

__global__ void scale(float *__restrict__ out, const float *__restrict__ in, float factor, int head,
                      int vectors, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < vectors) {
        float4 v = reinterpret_cast<const float4 *>(in + head)[i];
        v.x *= factor, v.y *= factor, v.z *= factor, v.w *= factor;
        reinterpret_cast<float4 *>(out + head)[i] = v;
    }
    if (i < head) out[i] = factor * in[i];
}

extern "C" void vector_loads(float *out, const float *in, float factor, int start, int n) {
    if (n == 0) return;
    int head = min((4 - start % 4) % 4, n);
    int vectors = (n - head) / 4;
    const int threads = 256; // at least one block: its first threads handle the ends
    scale<<<(max(vectors, 1) + threads - 1) / threads, threads>>>(out + start, in + start, factor, head,
                                                                  vectors, n);
}
