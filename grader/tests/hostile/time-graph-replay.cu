// WA/RTE | 14 | captures a graph once and replays it, stale, for every later problem | 
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static cudaGraphExec_t exec;
    if (!n) return;
    if (!exec) {
        cudaStream_t s;
        cudaGraph_t g;
        cudaStreamCreate(&s);
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        k<<<(n + 255) / 256, 256, 0, s>>>(out, in, n);
        cudaStreamEndCapture(s, &g);
        cudaGraphInstantiate(&exec, g, 0);
    }
    cudaGraphLaunch(exec, 0);
}
