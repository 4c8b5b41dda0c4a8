// Step 1: an element a lane. Coalesced already: 4 sectors a request (5 off a boundary), one request for 32 elements.

__global__ void scale(float *__restrict__ out, const float *__restrict__ in, float factor, int start, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[start + i] = factor * in[start + i];
}

extern "C" void vector_loads(float *out, const float *in, float factor, int start, int n) {
    if (n == 0) return;
    const int threads = 256;
    scale<<<(n + threads - 1) / threads, threads>>>(out, in, factor, start, n);
}
