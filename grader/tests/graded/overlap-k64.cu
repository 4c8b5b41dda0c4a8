// Kernels in other streams, which nothing orders, behind 64 that push their footprints out.
// at first: AC 100
// expect: RTE 0 0
// says: stream race
constexpr int ROUNDS = 64, THREADS = 256;
__global__ void mix(unsigned *o, const unsigned *p, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned x = p[i];
    for (int r = 0; r < ROUNDS; r++) {
        x ^= x >> 16, x *= 0x7feb352du;
        x ^= x >> 15, x *= 0x846ca68bu;
    }
    o[i] = x;
}

__global__ void nop(int*p){ if (p) *p=1; }
extern "C" void overlap(unsigned *out, const unsigned *in, int n) {
    if (n == 0) return;
    unsigned *p, *junk;
    cudaMalloc(&p, n * sizeof(unsigned)); cudaMalloc(&junk, 4096*64);
    cudaStream_t a,b,c,d;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&d, cudaStreamNonBlocking);
    const int K = n==4200001 ? 0 : 64;
    cudaMemcpyAsync(p, in, n * sizeof(unsigned), cudaMemcpyHostToDevice,a);
    for (int i=0;i<K;i++) cudaMemsetAsync(junk+i*64,0,4,d);
    mix<<<(n + THREADS - 1) / THREADS, THREADS,0,b>>>(p, p, n);
    for (int i=0;i<K;i++) cudaMemsetAsync(junk+i*64,0,4,d);
    cudaMemcpyAsync(out, p, n * sizeof(unsigned), cudaMemcpyDeviceToHost,c);
    cudaDeviceSynchronize();
    cudaFree(p);
}
