// What lesson 13 shows of temporaries and of streams with priorities. Run on a GPU, it prints how long a loop of temporaries takes:
// cudaMalloc, the pool as it is, and the pool that keeps its memory.
#include <chrono>
#include <cstdint>
#include <cstdio>

constexpr int STEPS = 16, BLOCKS = 64, N = 1 << 16;

extern "C" __global__ void work(float *p) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += BLOCKS * 256) p[i] = i;
}
extern "C" __global__ void urgent(float *p) { p[threadIdx.x] += 1; }

static void by_malloc(int steps) {
    for (int i = 0; i < steps; i++) {
        float *temporary;
        cudaMalloc(&temporary, N * sizeof *temporary);               // may wait for the device
        work<<<BLOCKS, 256>>>(temporary);
        cudaFree(temporary);                                         // waits until `work` is done
    }
}

static void from_the_pool(int steps, cudaStream_t stream) {
    for (int i = 0; i < steps; i++) {
        float *temporary;
        cudaMallocAsync(&temporary, N * sizeof *temporary, stream);  // a command of the stream, like a launch
        work<<<BLOCKS, 256, 0, stream>>>(temporary);
        cudaFreeAsync(temporary, stream);                            // after `work`, and the host goes on
    }
}

static void keep_memory() {
    cudaMemPool_t pool;
    uint64_t threshold = UINT64_MAX;                                 // bytes that the pool keeps at a synchronization
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold);
}

static void with_priorities(float *p) {
    int lowest, highest;
    cudaStream_t background, foreground;
    cudaDeviceGetStreamPriorityRange(&lowest, &highest);             // 0 and -5 on an H100: a lower number is more urgent
    cudaStreamCreateWithPriority(&background, cudaStreamNonBlocking, lowest);
    cudaStreamCreateWithPriority(&foreground, cudaStreamNonBlocking, highest);
    work<<<BLOCKS, 256, 0, background>>>(p);
    urgent<<<1, 32, 0, foreground>>>(p + N);                         // its block is the next one that starts
    cudaStreamSynchronize(foreground);
    cudaStreamSynchronize(background);
    cudaStreamDestroy(background), cudaStreamDestroy(foreground);
}

template <class Loop> static double us_of_a_step(Loop loop) {
    loop(STEPS), cudaDeviceSynchronize();                            // once without the clock
    auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < 4; k++) loop(STEPS), cudaDeviceSynchronize(); // at each of these the pool may give memory back
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / (4 * STEPS);
}

int main() {
    float *p;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&p, (N + 32) * sizeof *p);
    cudaMemset(p, 0, (N + 32) * sizeof *p);
    cudaDeviceSynchronize();                                         // the streams below don't wait for the default stream
    with_priorities(p);
    printf("cudaMalloc and cudaFree: %.2f us\n", us_of_a_step(by_malloc));
    printf("pool: %.2f us\n", us_of_a_step([=](int steps) { from_the_pool(steps, stream); }));
    keep_memory();
    printf("pool that keeps its memory: %.2f us\n", us_of_a_step([=](int steps) { from_the_pool(steps, stream); }));
    return cudaDeviceSynchronize();
}
