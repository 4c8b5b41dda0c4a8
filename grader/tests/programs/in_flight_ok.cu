// Host code that has waited for copies to and from pinned memory, in every possible way, or accesses memory next to them:
// nothing is told.
#include "check.h"

#include <thread>

enum { N = 10000, HALF = 5001 /* ints: within a page of its end */ };
__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}

static int *host, *p;
static cudaStream_t s, t;
static long sum(const int *from, int n) {
    long all = 0;
    for (int i = 0; i < n; i++) all += from[i];
    return all;
}
static void back(cudaStream_t on) {
    add<<<N / 100, 100, 0, on>>>(p, N, 1);
    CHECK(cudaMemcpyAsync(host, p, N * sizeof(int), cudaMemcpyDeviceToHost, on));
}
static void say(const char *what) { printf("%s %ld\n", what, sum(host, N)); }

static void in_callback(void *data) { say((const char *)data); }

static void by_each_way() {
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    back(s);
    CHECK(cudaStreamSynchronize(s));
    say("stream");
    back(s);
    CHECK(cudaDeviceSynchronize());
    say("device");
    back(0);
    CHECK(cudaStreamSynchronize(0));
    say("default stream");
    back(s);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaEventSynchronize(e));
    say("event");
    back(s);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaStreamWaitEvent(t, e, 0));
    CHECK(cudaStreamSynchronize(t));
    say("another's wait");
    back(s);
    while (cudaStreamQuery(s) == cudaErrorNotReady) {}
    say("query");
    back(s);
    CHECK(cudaMemcpy(p, p + N / 2, 4, cudaMemcpyDeviceToDevice)); // waits for s, because s is a blocking stream
    CHECK(cudaStreamSynchronize(0));
    say("legacy");
    back(s);
    CHECK(cudaLaunchHostFunc(s, in_callback, (void *)"host function"));
    CHECK(cudaStreamSynchronize(s));
    back(s);
    std::thread([] { CHECK(cudaStreamSynchronize(s)); }).join();
    say("another thread");
}

/* One half is copied while the host works on the other; what both reach into is a page. */
static void halves() {
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpyAsync(host, p, HALF * sizeof(int), cudaMemcpyDeviceToHost, s));
    for (int i = HALF; i < N; i++) host[i] = i;
    CHECK(cudaMemcpyAsync(p + HALF, host + HALF, (N - HALF) * sizeof(int), cudaMemcpyHostToDevice, t));
    long read = sum(host + HALF, N - HALF); // reading is allowed
    CHECK(cudaStreamSynchronize(s));
    printf("halves %ld %ld\n", sum(host, HALF), read);
    CHECK(cudaStreamSynchronize(t));
    for (int i = HALF; i < N; i++) host[i] = 0;
}

static void freed_under_way() {
    back(s);
    CHECK(cudaFreeHost(host));
    CHECK(cudaMallocHost(&host, N * sizeof(int)));
    for (int i = 0; i < N; i++) host[i] = 1;
    say("freed");
}

static void on_the_host() {
    int *other;
    CHECK(cudaMallocHost(&other, N * sizeof(int)));
    back(s);
    CHECK(cudaMemcpyAsync(other, host, N * sizeof(int), cudaMemcpyHostToHost, s)); // behind the first
    CHECK(cudaStreamSynchronize(s));
    printf("host to host %ld\n", sum(other, N) - sum(host, N));
    CHECK(cudaFreeHost(other));
}

int main() {
    CHECK(cudaMallocHost(&host, N * sizeof(int)));
    CHECK(cudaMalloc(&p, N * sizeof(int)));
    CHECK(cudaMemset(p, 0, N * sizeof(int)));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    by_each_way();
    halves();
    freed_under_way();
    on_the_host();
    return 0;
}
