/* What the calls of the runtime cost on the simulated GPU, in wall-clock time: `make bench-calls`. A launch is measured
 * twice, to its return and with the share of the synchronisation that waits for it. */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define CHECK(call)                                                                              \
    do {                                                                                         \
        cudaError_t error = (call);                                                              \
        if (error) printf("%s: %s\n", #call, cudaGetErrorString(error)), exit(1);                \
    } while (0)

__global__ void empty() {}
__global__ void add_one(int *p) { p[threadIdx.x]++; }

static void row(const char *what, double seconds, double n) { printf("%-44s %9.2f us\n", what, seconds / n * 1e6); }

static void launches(int *d) {
    enum { N = 5000 };
    for (int kind = 0; kind < 2; kind++) {
        CHECK(cudaDeviceSynchronize());
        double t = now();
        for (int i = 0; i < N; i++) {
            if (kind) add_one<<<1, 32>>>(d);
            else empty<<<1, 32>>>();
        }
        double issued = now() - t;
        CHECK(cudaDeviceSynchronize());
        row(kind ? "launch that writes, to its return" : "empty launch, to its return", issued, N);
        row("  with the wait for it", now() - t, N);
    }
    double best = 1;
    for (int round = 0; round < 50; round++) { /* few enough to fit what is on its way: the call alone */
        CHECK(cudaDeviceSynchronize());
        double t = now();
        for (int i = 0; i < 20; i++) empty<<<1, 32>>>();
        double each = (now() - t) / 20;
        if (each < best) best = each;
    }
    row("launch, the best of 50 rounds of 20", best, 1);
    double t = now();
    for (int i = 0; i < N; i++) {
        empty<<<1, 32>>>();
        CHECK(cudaDeviceSynchronize());
    }
    row("launch and synchronisation", now() - t, N);
}

static void allocations() {
    enum { ROUNDS = 30000, PART = 1000 };
    double first = 0, last = 0;
    for (int i = 0; i < ROUNDS; i++) {
        void *p;
        double t = now();
        CHECK(cudaMalloc(&p, 1000));
        CHECK(cudaFree(p));
        double d = now() - t;
        if (i < PART) first += d;
        if (i >= ROUNDS - PART) last += d;
    }
    row("cudaMalloc and cudaFree, the first 1000", first, PART);
    row("  after 29000 pairs", last, PART);
    std::vector<void *> live(4000);
    double t = now();
    for (auto &p : live) CHECK(cudaMalloc(&p, 100));
    row("cudaMalloc beside up to 4000 others", now() - t, live.size());
    t = now();
    for (auto &p : live) CHECK(cudaFree(p));
    row("cudaFree beside up to 4000 others", now() - t, live.size());
}

static void small_copies(int *d) {
    enum { N = 5000 };
    int h[16] = {0};
    double t = now();
    for (int i = 0; i < N; i++) CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    row("64 bytes to the device", now() - t, N);
    t = now();
    for (int i = 0; i < N; i++) CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    row("64 bytes to the host", now() - t, N);
    t = now();
    for (int i = 0; i < N; i++) CHECK(cudaMemset(d, 0, sizeof h));
    row("cudaMemset of 64 bytes", now() - t, N);
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    t = now();
    for (int i = 0; i < N; i++) CHECK(cudaEventRecord(e));
    row("cudaEventRecord", now() - t, N);
}

static void rate(const char *what, double seconds, double bytes) {
    printf("%-44s %9.2f GB/s\n", what, bytes / seconds * 1e-9);
}

static void big_copies() {
    const size_t n = 256 << 20;
    char *d, *d2, *h = (char *)malloc(n), *pinned;
    CHECK(cudaMalloc(&d, n));
    CHECK(cudaMalloc(&d2, n));
    CHECK(cudaMallocHost(&pinned, n));
    for (size_t i = 0; i < n; i += 64) h[i] = pinned[i] = (char)i;
    double best[6] = {1e9, 1e9, 1e9, 1e9, 1e9, 1e9};
    for (int round = 0; round < 4; round++) {
        double t[7];
        t[0] = now();
        CHECK(cudaMemcpy(d, h, n, cudaMemcpyHostToDevice));
        t[1] = now();
        CHECK(cudaMemcpy(h, d, n, cudaMemcpyDeviceToHost));
        t[2] = now();
        CHECK(cudaMemcpy(d, pinned, n, cudaMemcpyHostToDevice));
        t[3] = now();
        CHECK(cudaMemcpy(pinned, d, n, cudaMemcpyDeviceToHost));
        t[4] = now();
        CHECK(cudaMemcpy(d2, d, n, cudaMemcpyDeviceToDevice));
        CHECK(cudaDeviceSynchronize());
        t[5] = now();
        memcpy(pinned, h, n);
        t[6] = now();
        for (int i = 0; i < 6; i++)
            if (t[i + 1] - t[i] < best[i]) best[i] = t[i + 1] - t[i];
    }
    static const char *const names[] = {"256 MiB to the device", "256 MiB to the host", "256 MiB pinned to the device",
                                        "256 MiB to pinned memory", "256 MiB on the device", "  memcpy of the host"};
    for (int i = 0; i < 6; i++) rate(names[i], best[i], n);
}

int main() {
    int *d;
    CHECK(cudaMalloc(&d, 4096));
    CHECK(cudaMemset(d, 0, 4096));
    launches(d);
    allocations();
    small_copies(d);
    big_copies();
    return 0;
}
