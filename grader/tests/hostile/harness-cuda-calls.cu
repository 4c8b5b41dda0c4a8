// CE | 32 | defines cudaMemcpy and cudaDeviceSynchronize that claim success | multiple definition
extern "C" cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind) { return cudaSuccess; }
extern "C" cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
extern "C" void plus_one(int *out, const int *in, int n) {
    static int host[1 << 20];
    cudaMemcpy(out, host, n, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
}
