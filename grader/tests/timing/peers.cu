// peers.cu: prints measured times of two devices: copies of several sizes, one way and both ways,
// with and without peer access; kernels that read, write and update the other device's memory; a
// chain of dependent loads from it; kernels of both devices at once. The median of 9 runs each.
#include "../programs/check.h"
#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

static cudaStream_t stream[2];
static cudaEvent_t start_of[2], end_of[2], gate;
static char *memory[2];

// Of the largest copy; `build/simgpu run --devices 2` needs smaller ones.
static size_t max_bytes = 256 << 20;

__global__ void read(const float4 *from, size_t n, float *out) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == 12345.f) *out = sum;
}

__global__ void write(float4 *to, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = make_float4(1, 2, 3, 4);
}

__global__ void update(int *to, size_t n, int rounds) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) atomicAdd_system(&to[(i + (size_t)r * gridDim.x * blockDim.x) % n], 1);
}

__global__ void fill_chain(unsigned *p, unsigned n, unsigned stride) {
    for (unsigned i = 0; i < n; i++) p[i * stride] = (i + 1) % n * stride;
}

__global__ void chase(const unsigned *p, int steps, unsigned *out) {
    unsigned at = 0;
    for (int i = 0; i < steps; i++) at = __ldcg(&p[at]);
    *out = at;
}

__global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
}

// The median time of what `work` issues in stream[d].
static double median_us(int d, const std::function<void()> &work) {
    std::vector<float> times;
    CHECK(cudaSetDevice(d));
    for (int i = 0; i < 10; i++) {
        float ms;
        CHECK(cudaEventRecord(start_of[d], stream[d]));
        work();
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(end_of[d], stream[d]));
        CHECK(cudaEventSynchronize(end_of[d]));
        CHECK(cudaEventElapsedTime(&ms, start_of[d], end_of[d]));
        if (i) times.push_back(ms * 1e3f);
    }
    std::sort(times.begin(), times.end());
    return times[4];
}

// The median time on the host's clock of what `work` issues in both streams.
static double median_host_us(const std::function<void()> &work) {
    std::vector<double> times;
    for (int i = 0; i < 10; i++) {
        for (int d = 0; d < 2; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaDeviceSynchronize());
        }
        auto start = std::chrono::steady_clock::now();
        work();
        for (int d = 0; d < 2; d++) CHECK(cudaStreamSynchronize(stream[d]));
        std::chrono::duration<double, std::micro> t = std::chrono::steady_clock::now() - start;
        if (i) times.push_back(t.count());
    }
    std::sort(times.begin(), times.end());
    return times[4];
}

static void print(const char *what, size_t bytes, double us) {
    printf("%s\t%zu\t%.2f\t%.1f\n", what, bytes, us, (double)bytes / us * 1e-3);
    fflush(stdout);
}

static void copies(const char *one, const char *other, const char *both) {
    for (size_t n = 4096; n <= max_bytes; n *= 4) {
        print(one, n, median_us(0, [=] { cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, n, stream[0]); }));
        print(other, n, median_us(0, [=] { cudaMemcpyPeerAsync(memory[0], 0, memory[1], 1, n, stream[0]); }));
        size_t half = n / 2;
        print(both, n, median_us(0, [=] {
            cudaEventRecord(gate, stream[0]);
            cudaSetDevice(1);
            cudaStreamWaitEvent(stream[1], gate, 0);
            cudaMemcpyPeerAsync(memory[0] + half, 0, memory[1] + half, 1, half, stream[1]);
            cudaEventRecord(end_of[1], stream[1]);
            cudaSetDevice(0);
            cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, half, stream[0]);
            cudaStreamWaitEvent(stream[0], end_of[1], 0);
        }));
    }
}

static void kernels(int sms) {
    for (size_t n = 4096; n <= max_bytes; n *= 4) {
        unsigned blocks = (unsigned)std::min<size_t>((n / 16 + 511) / 512, sms * 4);
        float4 *own = (float4 *)memory[0], *peer = (float4 *)memory[1];
        float *out = (float *)(memory[0] + max_bytes);
        print("kernel reads own memory", n, median_us(0, [=] { read<<<blocks, 512, 0, stream[0]>>>(own, n / 16, out); }));
        print("kernel reads peer memory", n, median_us(0, [=] { read<<<blocks, 512, 0, stream[0]>>>(peer, n / 16, out); }));
        print("kernel writes peer memory", n, median_us(0, [=] { write<<<blocks, 512, 0, stream[0]>>>(peer, n / 16); }));
        print("kernels read each other's memory", 2 * n, median_us(0, [=] {
            cudaEventRecord(gate, stream[0]);
            cudaSetDevice(1);
            cudaStreamWaitEvent(stream[1], gate, 0);
            read<<<blocks, 512, 0, stream[1]>>>(own, n / 16, (float *)(memory[1] + max_bytes));
            cudaEventRecord(end_of[1], stream[1]);
            cudaSetDevice(0);
            read<<<blocks, 512, 0, stream[0]>>>(peer, n / 16, out);
            cudaStreamWaitEvent(stream[0], end_of[1], 0);
        }));
    }
    for (int k = 0; k < 2; k++) {
        int *p = (int *)memory[k];
        const char *names[] = {"system atomics on own memory, all words", "system atomics on peer memory, all words"};
        size_t words = 1 << 20;
        print(names[k], words * 4, median_us(0, [=] { update<<<(unsigned)(words / 512), 512, 0, stream[0]>>>(p, words, 1); }));
        const char *one[] = {"system atomics on own memory, one word", "system atomics on peer memory, one word"};
        print(one[k], 65536 * 4, median_us(0, [=] { update<<<128, 512, 0, stream[0]>>>(p, 1, 1); }));
    }
}

static void latencies() {
    const unsigned n = 8192, stride = 64;
    const int steps = 4096;
    unsigned *out = (unsigned *)(memory[0] + max_bytes);
    for (int k = 0; k < 2; k++) {
        unsigned *p = (unsigned *)memory[k];
        CHECK(cudaSetDevice(k));
        fill_chain<<<1, 1, 0, stream[k]>>>(p, n, stride);
        CHECK(cudaStreamSynchronize(stream[k]));
        double us = median_us(0, [=] { chase<<<1, 1, 0, stream[0]>>>(p, steps, out); });
        printf("a dependent load from %s\t%.1f ns\n", k ? "peer memory" : "own memory", us * 1e3 / steps);
    }
}

static void overlap() {
    const long long cycles = 200000;
    double one = median_host_us([=] { cudaSetDevice(0), spin<<<1, 32, 0, stream[0]>>>(cycles); });
    double two = median_host_us([=] {
        for (int d = 0; d < 2; d++) cudaSetDevice(d), spin<<<1, 32, 0, stream[d]>>>(cycles);
    });
    double both = median_us(0, [=] {
        cudaEventRecord(gate, stream[0]);
        cudaSetDevice(1);
        cudaStreamWaitEvent(stream[1], gate, 0);
        spin<<<1, 32, 0, stream[1]>>>(cycles);
        cudaEventRecord(end_of[1], stream[1]);
        cudaSetDevice(0);
        spin<<<1, 32, 0, stream[0]>>>(cycles);
        cudaStreamWaitEvent(stream[0], end_of[1], 0);
    });
    double alone = median_us(0, [=] { spin<<<1, 32, 0, stream[0]>>>(cycles); });
    printf("kernel of %lld cycles, one device\t%.2f us, host's clock %.2f us\n", cycles, alone, one);
    printf("the same on both devices at once\t%.2f us, host's clock %.2f us\n", both, two);
    double wait = median_us(0, [=] {
        for (int i = 0; i < 100; i++) {
            cudaEventRecord(gate, stream[0]);
            cudaStreamWaitEvent(stream[1], gate, 0);
            cudaSetDevice(1), cudaEventRecord(end_of[1], stream[1]), cudaSetDevice(0);
            cudaStreamWaitEvent(stream[0], end_of[1], 0);
        }
    });
    printf("an event to the other device and back\t%.2f us\n", wait / 100);
}

int main(int argc, char **argv) {
    int sms;
    if (argc > 1) max_bytes = (size_t)atoll(argv[1]);
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&start_of[d]));
        CHECK(cudaEventCreate(&end_of[d]));
        CHECK(cudaMalloc(&memory[d], std::max<size_t>(max_bytes + 256, 4 << 20)));
        CHECK(cudaMemset(memory[d], 0, std::max<size_t>(max_bytes + 256, 4 << 20)));
        CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreateWithFlags(&gate, cudaEventDisableTiming));
    printf("what\tbytes\tus\tGB/s\n");
    copies("copy 0 to 1, no access", "copy 1 to 0, no access", "both ways, no access");
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceEnablePeerAccess(1 - d, 0));
    }
    CHECK(cudaSetDevice(0));
    copies("copy 0 to 1", "copy 1 to 0", "both ways");
    print("copy on the device", max_bytes / 2, median_us(0, [] {
        cudaMemcpyAsync(memory[0], memory[0] + max_bytes / 2, max_bytes / 2, cudaMemcpyDeviceToDevice, stream[0]);
    }));
    kernels(sms);
    latencies();
    overlap();
    return 0;
}
