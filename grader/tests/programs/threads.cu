// Several host threads, each with its own default stream and its own last error.
// nvcc: --default-stream per-thread
// stderr: 2048 threads
#include "check.h"
#include <thread>
#include <vector>

__global__ void add(int *p) { atomicAdd(p, 1); }

int main() {
    int *p, total, good = 0;
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    std::vector<std::thread> threads;
    std::vector<cudaError_t> last(8);
    for (int t = 0; t < 8; t++)
        threads.emplace_back([=, &last] {
            for (int i = 0; i < 20; i++) add<<<1, 32>>>(p);
            if (t == 3) add<<<1, 2048>>>(p);
            CHECK(cudaStreamSynchronize(cudaStreamPerThread));
            last[t] = cudaGetLastError();
        });
    for (auto &t : threads) t.join();
    CHECK(cudaMemcpy(&total, p, sizeof total, cudaMemcpyDeviceToHost));
    for (auto e : last) good += e == cudaSuccess;
    printf("%d, %d threads without an error, thread 3: %s\n", total, good, cudaGetErrorName(last[3]));
    return 0;
}
