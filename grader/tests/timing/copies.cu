// copies.cu — copies between host and device by size, both ways at once, in parts and streams with kernels between, and small kernels beside each
// other. Medians of 11, a line a figure: what, and microseconds. `events`: between two events; all else: on the host, with the wait.
//
//   nvcc -O3 -std=c++17 -arch=sm_90 grader/tests/timing/copies.cu -o copies; ./copies > grader/tests/timing/copies-h100.tsv
//
// grader/tests/timing/check_timeline.c holds the time model against them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <string>

using std::to_string;
constexpr int RUNS = 11, STREAMS = 16, FULL = 132 * 2; // FULL: blocks of 1024 threads that fill an H100
constexpr size_t MOST = 256 << 20, ARRAY = 64 << 20;
static cudaStream_t stream[STREAMS];
static char *host, *host2, *dev, *dev2, *page;

__global__ void spin(float *p, int n) {
    float a = p[threadIdx.x];
    for (int i = 0; i < n; i++) a = a * 1.0001f + 0.5f;
    p[threadIdx.x] = a;
}
__global__ void step(float4 *p) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    float4 v = p[i];
    v.x += 1;
    p[i] = v;
}

static double median(double *t) { return std::sort(t, t + RUNS), t[RUNS / 2]; }
static void tell(const std::string &name, double us) { printf("%s\t%.2f\n", name.c_str(), us); }

template <class F> static void events(const std::string &name, F f) {
    cudaEvent_t a, b;
    double t[RUNS];
    cudaEventCreate(&a), cudaEventCreate(&b);
    for (double &us : t) {
        float ms;
        cudaDeviceSynchronize();
        cudaEventRecord(a), f(), cudaEventRecord(b);
        cudaEventSynchronize(b), cudaEventElapsedTime(&ms, a, b);
        us = ms * 1000;
    }
    tell(name, median(t));
}

template <class F> static void wall(const std::string &name, F f) {
    double t[RUNS];
    for (double &us : t) {
        cudaDeviceSynchronize();
        auto a = std::chrono::steady_clock::now();
        f(), cudaDeviceSynchronize();
        us = std::chrono::duration<double>(std::chrono::steady_clock::now() - a).count() * 1e6;
    }
    tell(name, median(t));
}

static void in(size_t at, size_t n, cudaStream_t s) { cudaMemcpyAsync(dev + at, host + at, n, cudaMemcpyHostToDevice, s); }
static void out(size_t at, size_t n, cudaStream_t s) { cudaMemcpyAsync(host2 + at, dev + at, n, cudaMemcpyDeviceToHost, s); }

static void sizes() {
    for (size_t n = 4; n <= MOST; n *= 4) {
        std::string of = " " + to_string(n);
        events("in events" + of, [&] { in(0, n, 0); }), events("out events" + of, [&] { out(0, n, 0); });
        wall("in host" + of, [&] { in(0, n, stream[0]); }), wall("out host" + of, [&] { out(0, n, stream[0]); });
        wall("in pageable" + of, [&] { cudaMemcpy(dev, page, n, cudaMemcpyHostToDevice); });
        wall("out pageable" + of, [&] { cudaMemcpy(page, dev, n, cudaMemcpyDeviceToHost); });
        events("within events" + of, [&] { cudaMemcpyAsync(dev, dev2, n, cudaMemcpyDeviceToDevice); });
    }
    wall("both ways", [] { in(0, ARRAY, stream[0]), cudaMemcpyAsync(host2, dev2, ARRAY, cudaMemcpyDeviceToHost, stream[1]); });
    wall("two in", [] { in(0, ARRAY, stream[0]), cudaMemcpyAsync(dev2, host2, ARRAY, cudaMemcpyHostToDevice, stream[1]); });
    for (int n : {4096, 65536, 1 << 20})
        for (int s : {1, 4})
            wall("20 copies of " + to_string(n) + ", streams " + to_string(s), [=] { for (int i = 0; i < 20; i++) in((size_t)i * n, n, stream[i % s]); });
}

static void kernels() {
    for (int n : {1000, 100000, 1000000})
        for (auto c : {std::pair<int, int>{1, 1}, {2, 2}, {2, 1}, {8, 8}})
            wall("spin " + to_string(n) + ", " + to_string(c.first) + " in " + to_string(c.second),
                 [=] { for (int k = 0; k < c.first; k++) spin<<<1, 32, 0, stream[k % c.second]>>>((float *)dev + 64 * k, n); });
    for (int s : {1, 2})
        wall("full spin, " + to_string(s) + " in " + to_string(s), [=] { for (int k = 0; k < s; k++) spin<<<FULL, 1024, 0, stream[k]>>>((float *)dev, 100000); });
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    wall("20 kernels, one stream", [] { for (int i = 0; i < 20; i++) spin<<<1, 32, 0, stream[0]>>>((float *)dev, 10); });
    wall("20 kernels, events between", [=] {
        for (int i = 0; i < 20; i++)
            spin<<<1, 32, 0, stream[i & 1]>>>((float *)dev, 10), cudaEventRecord(e, stream[i & 1]), cudaStreamWaitEvent(stream[~i & 1], e);
    });
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 20; i++) spin<<<1, 32, 0, stream[0]>>>((float *)dev, 10);
    cudaStreamEndCapture(stream[0], &graph), cudaGraphInstantiate(&ready, graph, 0);
    wall("20 kernels, one graph", [=] { cudaGraphLaunch(ready, stream[0]); });
}

enum { IN = 1, WORK = 2, OUT = 4 };
/* `work`: rounds of the second kernel, 0 = there is none. */
static void parts(int n, int streams, int what, int work) {
    size_t m = ARRAY / n;
    for (int p = 0; p < n; p++) {
        cudaStream_t s = stream[p % streams];
        if (what & IN) in(p * m, m, s);
        if (what & WORK) step<<<m / 16 / 256, 256, 0, s>>>((float4 *)(dev + p * m));
        if (what & WORK && work) spin<<<FULL, 1024, 0, s>>>((float *)(dev + p * m), work / n);
        if (what & OUT) out(p * m, m, s);
    }
}

static void pipelines() {
    for (int work : {0, 5000, 20000, 60000}) {
        std::string of = "work " + to_string(work) + ", ";
        wall(of + "kernels alone", [=] { parts(1, 1, WORK, work); });
        wall(of + "in alone", [=] { parts(1, 1, IN, 0); }), wall(of + "out alone", [=] { parts(1, 1, OUT, 0); });
        for (int n = 1; n <= 64; n *= 2)
            for (int s : {1, 2, 3, 4, 8}) {
                if (s > n) continue;
                std::string one = of + "parts " + to_string(n) + ", streams " + to_string(s) + ", ";
                wall(one + "in+k+out", [=] { parts(n, s, IN | WORK | OUT, work); });
                wall(one + "in+k", [=] { parts(n, s, IN | WORK, work); }), wall(one + "in+out", [=] { parts(n, s, IN | OUT, work); });
            }
    }
}

int main() {
    cudaMallocHost(&host, MOST), cudaMallocHost(&host2, MOST), cudaMalloc(&dev, MOST), cudaMalloc(&dev2, MOST);
    page = (char *)malloc(MOST);
    for (size_t i = 0; i < MOST; i += 4096) page[i] = 1;
    for (cudaStream_t &s : stream) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    sizes(), kernels(), pipelines();
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
