// overlap with Thrust: the kernel is a transform, which takes its stream as a part of its policy. The parts, their copies and the streams stay yours.
#include <thrust/execution_policy.h>
#include <thrust/transform.h>

constexpr int ROUNDS = 64, UNIT = 256, PARTS = 8, STREAMS = 4;

struct mix {
    __device__ unsigned operator()(unsigned x) const {
        for (int r = 0; r < ROUNDS; r++) {
            x ^= x >> 16, x *= 0x7feb352du;
            x ^= x >> 15, x *= 0x846ca68bu;
        }
        return x;
    }
};

extern "C" void overlap(unsigned *out, const unsigned *in, int n) {
    if (n == 0) return;
    unsigned *p;
    cudaStream_t stream[STREAMS];
    cudaMalloc(&p, n * sizeof *p);
    for (cudaStream_t &s : stream) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    int each = ((n + PARTS - 1) / PARTS + UNIT - 1) / UNIT * UNIT;
    for (int first = 0, k = 0; first < n; first += each, k++) {
        int m = min(each, n - first);
        cudaStream_t s = stream[k % STREAMS];
        cudaMemcpyAsync(p + first, in + first, m * sizeof *p, cudaMemcpyHostToDevice, s);
        thrust::transform(thrust::cuda::par_nosync.on(s), p + first, p + first + m, p + first, mix{});
        cudaMemcpyAsync(out + first, p + first, m * sizeof *p, cudaMemcpyDeviceToHost, s);
    }
    for (cudaStream_t s : stream) cudaStreamDestroy(s);
    cudaFree(p);
}
