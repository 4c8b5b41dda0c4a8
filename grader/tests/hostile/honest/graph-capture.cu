// AC | - | a captured stream, instantiated once a call, launched | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t x;
    if (!n || cudaStreamCreate(&s)) return;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    k<<<(n + 255) / 256, 256, 0, s>>>(out, in, n);
    cudaStreamEndCapture(s, &g);
    if (!cudaGraphInstantiate(&x, g, 0)) cudaGraphLaunch(x, s), cudaGraphExecDestroy(x);
    cudaGraphDestroy(g), cudaStreamSynchronize(s), cudaStreamDestroy(s);
}
