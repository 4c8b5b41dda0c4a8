// several_gpus.cu: measures a version of an exercise of chapter 16 on several GPUs, as the grader
// can't: checks it at a small size, then prints the median time of a call, and its quartiles.
//
//   nvcc -O3 -std=c++17 -arch=native -DVERSION='"PATH/halo_exchange.cu"' several_gpus.cu -o halo
//   nvcc -O3 -std=c++17 -arch=native -DRING -DVERSION='"PATH/all_reduce.cu"' several_gpus.cu -o ring
//   ./halo ROWS COLS STEPS CALLS
//   ./ring N CALLS
//
// The grader times no allocation, so here they are cached: streams, events and memory of the first
// call serve the later ones.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

static void check(cudaError_t e, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
    exit(1);
}
#define CHECK(call) check(call, __LINE__)

// What the calls of one entry made, in order, for each device; `next` counts from its beginning.
template <class T> struct cached {
    std::vector<T> made[8];
    size_t next[8] = {};
    template <class Make> T get(Make make) {
        int d;
        CHECK(cudaGetDevice(&d));
        if (next[d] == made[d].size()) made[d].push_back(make());
        return made[d][next[d]++];
    }
    void rewind() { std::fill(next, next + 8, 0); }
};
static cached<cudaStream_t> streams;
static cached<cudaEvent_t> events;
static std::map<size_t, cached<void *>> blocks;

template <class T> static cudaError_t cached_malloc(T **p, size_t bytes) {
    *p = (T *)blocks[bytes].get([&] {
        void *m;
        CHECK(cudaMalloc(&m, bytes));
        return m;
    });
    return cudaSuccess;
}
static cudaError_t cached_stream(cudaStream_t *s, unsigned flags) {
    *s = streams.get([&] {
        cudaStream_t made;
        CHECK(cudaStreamCreateWithFlags(&made, flags));
        return made;
    });
    return cudaSuccess;
}
static cudaError_t cached_event(cudaEvent_t *e, unsigned flags) {
    *e = events.get([&] {
        cudaEvent_t made;
        CHECK(cudaEventCreateWithFlags(&made, flags));
        return made;
    });
    return cudaSuccess;
}

#define cudaMalloc cached_malloc
#define cudaStreamCreateWithFlags cached_stream
#define cudaEventCreateWithFlags cached_event
#define cudaFree(p) ((void)(p))
#define cudaStreamDestroy(s) ((void)(s))
#include VERSION
#undef cudaMalloc
#undef cudaStreamCreateWithFlags
#undef cudaEventCreateWithFlags
#undef cudaFree
#undef cudaStreamDestroy

#ifdef RING
enum { GPUS = 4 };
#else
enum { GPUS = 2 };
#endif

static void synchronize() {
    for (int d = 0; d < GPUS; d++) CHECK(cudaSetDevice(d)), CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
}

// Each GPU has `n` floats of the input and of the output.
struct problem {
    size_t n;
    float *in[GPUS], *out[GPUS];
    std::vector<float> values;
    problem(size_t n) : n(n), values(GPUS * n) {
        for (float &x : values) x = rand() / (float)RAND_MAX;
        for (int d = 0; d < GPUS; d++) {
            CHECK(cudaSetDevice(d));
            CHECK(cudaMalloc(&in[d], n * sizeof(float)));
            CHECK(cudaMalloc(&out[d], n * sizeof(float)));
            CHECK(cudaMemcpy(in[d], &values[n * d], n * sizeof(float), cudaMemcpyHostToDevice));
        }
    }
    virtual void call() = 0;
    virtual std::vector<double> expected() = 0;
    // Microseconds until all GPUs are done.
    double run() {
        streams.rewind(), events.rewind();
        for (auto &b : blocks) b.second.rewind();
        synchronize();
        auto start = std::chrono::steady_clock::now();
        call();
        CHECK(cudaGetLastError());
        synchronize();
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    }
    // The largest error.
    double error() {
        std::vector<float> result(GPUS * n);
        std::vector<double> right = expected();
        double worst = 0;
        for (int d = 0; d < GPUS; d++)
            CHECK(cudaMemcpy(&result[n * d], out[d], n * sizeof(float), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < result.size(); i++) worst = std::max(worst, std::fabs(result[i] - right[i]));
        return worst;
    }
};

#ifdef RING
struct ring : problem {
    ring(size_t n) : problem(n) {}
    void call() override {
        all_reduce(out[0], out[1], out[2], out[3], in[0], in[1], in[2], in[3], (int)n);
    }
    std::vector<double> expected() override {
        std::vector<double> sum(GPUS * n);
        for (size_t i = 0; i < sum.size(); i++)
            for (int d = 0; d < GPUS; d++) sum[i] += values[n * d + i % n];
        return sum;
    }
};
#else
struct plate : problem {
    int rows, cols, steps;
    plate(int rows, int cols, int steps) : problem((size_t)rows * cols), rows(rows), cols(cols), steps(steps) {}
    void call() override { halo_exchange(out[0], out[1], in[0], in[1], rows, cols, steps); }
    std::vector<double> expected() override {
        std::vector<double> now(values.begin(), values.end()), next = now;
        for (int t = 0; t < steps; t++, now.swap(next))
            for (size_t i = cols; i + cols < now.size(); i++)
                if (i % cols && i % cols != (size_t)cols - 1)
                    next[i] = 0.25 * (now[i - cols] + now[i + cols] + now[i - 1] + now[i + 1]);
        return now;
    }
};
#endif

static int measure(problem &small, problem &large, int calls) {
    std::vector<double> us;
    for (int i = 0; i < 3; i++) small.run();
    double error = small.error();
    printf("largest error %.2g%s\n", error, error < 2e-6 ? "" : ": WRONG");
    for (int i = -5; i < calls; i++) {
        double time = large.run();
        if (i >= 0) us.push_back(time);
    }
    std::sort(us.begin(), us.end());
    printf("median %.1f us, quartiles %.1f and %.1f\n", us[us.size() / 2], us[us.size() / 4], us[us.size() * 3 / 4]);
    return error < 2e-6 ? 0 : 1;
}

int main(int argc, char **argv) {
    auto argument = [&](int i, int otherwise) { return argc > i ? atoi(argv[i]) : otherwise; };
    for (int d = 0; d < GPUS; d++)
        for (int peer = 0; peer < GPUS; peer++)
            if (peer != d) CHECK(cudaSetDevice(d)), CHECK(cudaDeviceEnablePeerAccess(peer, 0));
#ifdef RING
    ring small(65537), large(argument(1, 1 << 22));
    return measure(small, large, argument(2, 101));
#else
    plate small(100, 300, 5), large(argument(1, 3072), argument(2, 4096), argument(3, 4));
    return measure(small, large, argument(4, 101));
#endif
}
