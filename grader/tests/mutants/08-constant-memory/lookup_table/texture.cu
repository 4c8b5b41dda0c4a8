// expect: RTE
// The table is read through a texture, which exercises may not use.

constexpr int ROUNDS = 16;

__constant__ unsigned key[ROUNDS]; // all lanes read the same one

__global__ void hash(unsigned *__restrict__ out, const unsigned *__restrict__ in, cudaTextureObject_t table, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = in[i];
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        x ^= key[k];
        x = tex1Dfetch<unsigned>(table, x & 255) ^ (x >> 8);
    }
    out[i] = x;
}

extern "C" void lookup_table(unsigned *out, const unsigned *in, const unsigned *table, const unsigned *keys, int n) {
    if (n == 0) return;
    cudaMemcpyToSymbolAsync(key, keys, ROUNDS * sizeof(unsigned), 0, cudaMemcpyDeviceToDevice);
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeLinear;
    memory.res.linear.devPtr = const_cast<unsigned *>(table);
    memory.res.linear.desc = cudaCreateChannelDesc<unsigned>();
    memory.res.linear.sizeInBytes = 256 * sizeof(unsigned);
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &memory, &how, nullptr);
    const int threads = 256;
    hash<<<(n + threads - 1) / threads, threads>>>(out, in, texture, n);
}
