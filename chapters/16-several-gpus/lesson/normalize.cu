// normalize.cu: divides a vector, of which each of two devices has a half, by its largest element: the lesson's example.
// run: --devices 2
#include <cstdio>

constexpr int N = 1 << 20, THREADS = 256;

extern "C" __global__ void fill(float *x, int first) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] = (first + i) % 1000 + 1;
}

extern "C" __global__ void largest(const float *x, unsigned *max) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    unsigned bits = __reduce_max_sync(~0u, __float_as_uint(x[i])); // positive floats are ordered like their bits
    if (i % 32 == 0) atomicMax(max, bits);
}

extern "C" __global__ void divide(float *x, const unsigned *mine, const unsigned *others) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    x[i] /= __uint_as_float(max(*mine, *others));
}

static float *x[2];
static unsigned *largest_of[2], *received[2];
static cudaStream_t stream[2];
static cudaEvent_t sent[2], found[2];

static void set_up() {
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);                  // what follows is for device d
        cudaDeviceEnablePeerAccess(!d, 0); // its kernels may use the other one's memory
        cudaMalloc(&x[d], N * sizeof(float));
        cudaMalloc(&largest_of[d], sizeof(unsigned));
        cudaMalloc(&received[d], sizeof(unsigned));
        cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&sent[d], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&found[d], cudaEventDisableTiming);
        fill<<<N / THREADS, THREADS, 0, stream[d]>>>(x[d], d * N);
        cudaMemsetAsync(largest_of[d], 0, sizeof(unsigned), stream[d]);
    }
}

static void by_copies() {
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        largest<<<N / THREADS, THREADS, 0, stream[d]>>>(x[d], largest_of[d]);
        cudaMemcpyPeerAsync(received[!d], !d, largest_of[d], d, sizeof(unsigned), stream[d]); // push
        cudaEventRecord(sent[d], stream[d]);
    }
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        cudaStreamWaitEvent(stream[d], sent[!d]); // the other device's copy to this one
        divide<<<N / THREADS, THREADS, 0, stream[d]>>>(x[d], largest_of[d], received[d]);
    }
}

static void by_peer_access() {
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        largest<<<N / THREADS, THREADS, 0, stream[d]>>>(x[d], largest_of[d]);
        cudaEventRecord(found[d], stream[d]);
    }
    for (int d = 0; d < 2; d++) {
        cudaSetDevice(d);
        cudaStreamWaitEvent(stream[d], found[!d]);
        divide<<<N / THREADS, THREADS, 0, stream[d]>>>(x[d], largest_of[d], largest_of[!d]); // reads over the link
    }
}

static void print(const char *how) {
    for (int d = 0; d < 2; d++) {
        float first;
        cudaSetDevice(d);
        cudaStreamSynchronize(stream[d]);
        cudaMemcpy(&first, x[d], sizeof first, cudaMemcpyDeviceToHost);
        printf("%s, device %d: %g\n", how, d, first);
    }
}

int main() {
    set_up();
    by_copies();
    print("by copies");
    by_peer_access();
    print("by peer access");
    return cudaGetLastError() != cudaSuccess;
}
