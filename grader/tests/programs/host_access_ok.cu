// not repeatable: kernels and the host wait for each other
// Host code that accesses managed and pinned memory of kernels, and has waited for them in every possible way, or accesses
// other bytes, or is told by the kernel: nothing is reported.
#include "check.h"

#include <thread>

enum { N = 3000 };
__managed__ int calls;

__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
    if (i == 0) calls++;
}
__global__ void add_to(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += in[i];
}
__global__ void every_second(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i < n) p[2 * i] += 1;
}
__global__ void tell(int *data, int *told) {
    *data = 42;
    __threadfence_system();
    atomicExch_system(told, 1);
}
__global__ void reply(volatile int *question, volatile int *answer) {
    while (!*question) {}
    *answer = 7 * *question;
}

static int *p, *pinned;
static cudaStream_t s, t;

static void start(cudaStream_t on) { add<<<(N + 127) / 128, 128, 0, on>>>(p, N, 1); }
static void say(const char *what) {
    long all = 0;
    for (int i = 0; i < N; i++) all += p[i];
    printf("%s %ld %d\n", what, all, calls);
}
static void in_callback(void *what) { say((const char *)what); }

static void by_each_way() {
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    start(s);
    CHECK(cudaStreamSynchronize(s));
    say("stream");
    start(s);
    CHECK(cudaDeviceSynchronize());
    say("device");
    start(s);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaEventSynchronize(e));
    say("event");
    start(s);
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaStreamWaitEvent(t, e, 0));
    while (cudaStreamQuery(t) == cudaErrorNotReady) {}
    say("another's query");
    start(s);
    CHECK(cudaEventRecord(e, s));
    while (cudaEventQuery(e) == cudaErrorNotReady) {}
    say("event's query");
    start(0);
    int first;
    CHECK(cudaMemcpy(&first, p, sizeof first, cudaMemcpyDefault));
    say("copy");
    start(0);
    CHECK(cudaMemset(pinned, 0, 4));
    say("fill of pinned memory");
    start(s);
    int *none;
    CHECK(cudaMalloc(&none, 4));
    CHECK(cudaFree(none));
    say("free");
    start(s);
    CHECK(cudaLaunchHostFunc(s, in_callback, (void *)"host function"));
    CHECK(cudaStreamSynchronize(s));
}

static void by_graph() {
    cudaGraph_t g;
    cudaGraphExec_t x;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    start(s);
    start(s);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cudaGraphLaunch(x, s));
        CHECK(cudaStreamSynchronize(s));
        say("graph");
    }
    CHECK(cudaGraphExecDestroy(x));
    CHECK(cudaGraphDestroy(g));
}

static void other_bytes() {
    int *q;
    CHECK(cudaMallocManaged(&q, 2 * N * sizeof *q));
    for (int i = 0; i < 2 * N; i++) q[i] = 0;
    add<<<1, 1, 0, s>>>(q + 1000, 1, 5); // the bytes around it, in its page
    q[999] = 1, q[1001] = 2;
    CHECK(cudaStreamSynchronize(s));
    every_second<<<(N + 127) / 128, 128>>>(q, 2 * N);
    for (int i = 1; i < 2 * N; i += 2) q[i]++;
    CHECK(cudaDeviceSynchronize());
    printf("around it %d %d %d\n", q[999], q[1000], q[1001]);
    add_to<<<(N + 127) / 128, 128>>>(q, p, N); // both read p
    long all = 0;
    for (int i = 0; i < N; i++) all += p[i];
    CHECK(cudaDeviceSynchronize());
    printf("both read %ld %d\n", all, q[N - 1]);
    CHECK(cudaFree(q));
}

static void told_by_kernel() {
    volatile int *told = pinned + 1024;
    pinned[0] = *told = 0;
    tell<<<1, 1>>>(pinned, pinned + 1024);
    while (!*told) {}
    printf("told %d\n", pinned[0]);
    CHECK(cudaDeviceSynchronize());
    *told = pinned[0] = 0;
    reply<<<1, 1, 0, s>>>(pinned, told);
    ((volatile int *)pinned)[0] = 6;
    while (!*told) {}
    printf("replied %d\n", *told);
    CHECK(cudaDeviceSynchronize());
}

int main() {
    CHECK(cudaMallocManaged(&p, N * sizeof *p));
    CHECK(cudaMallocHost(&pinned, 8192));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&t));
    for (int i = 0; i < N; i++) p[i] = i;
    by_each_way();
    by_graph();
    other_bytes();
    told_by_kernel();
    std::thread([] {
        start(s);
        CHECK(cudaStreamSynchronize(s));
    }).join();
    say("another thread");
    CHECK(cudaFree(p));
    CHECK(cudaFreeHost(pinned));
    return 0;
}
