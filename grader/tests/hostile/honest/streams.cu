// AC | - | streams and events, used as meant | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaStream_t s;
    cudaEvent_t e;
    cudaStreamCreate(&s);
    cudaEventCreate(&e);
    if (n) k<<<(n + 255) / 256, 256, 0, s>>>(out, in, n);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(0, e, 0);
    cudaStreamSynchronize(s);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
}
