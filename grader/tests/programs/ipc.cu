// Memory and events of one process in others (cudaIpc*): two children, forked before the first CUDA call, add to
// what the parent allocated. What is expected follows from NVIDIA's description of the calls: a handle that is
// open already returns the same pointer and counts; the process that made it can't open it.
#include "check.h"
#include <atomic>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 20, CHILDREN = 2 };

struct shared {
    std::atomic<int> step;
    cudaIpcMemHandle_t large, small, twin;
    cudaIpcEventHandle_t event;
    int sums_right, same_pointer, closed, free_error, own_pages;
};

__global__ void add(int *p, int n, int value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] += value;
}

static void wait_for(shared *s, int step) {
    while (s->step < step) sched_yield();
}

static long sum_of(const int *device, int n) {
    int *host = new int[n];
    long sum = 0;
    CHECK(cudaMemcpy(host, device, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) sum += host[i];
    delete[] host;
    return sum;
}

// Adds i + 1 to each number, once its turn comes.
static int child(shared *s, int i) {
    int *large, *small, *twin, *again, *own;
    cudaEvent_t event;
    cudaStream_t stream;
    wait_for(s, 2 * i + 1);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaIpcOpenMemHandle((void **)&large, s->large, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&small, s->small, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&twin, s->twin, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&again, s->large, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&event, s->event));
    s->same_pointer += again == large;
    CHECK(cudaStreamWaitEvent(stream, event, 0));
    add<<<64, 256, 0, stream>>>(large, N, i + 1);
    add<<<1, 32, 0, stream>>>(small, 3, i + 1);
    CHECK(cudaEventRecord(event, stream));
    s->step = 2 * i + 2;
    wait_for(s, 2 * CHILDREN + 1);
    s->sums_right += sum_of(large, N) == 10L * N + 3 && sum_of(small, 3) == 21 + 3 && sum_of(twin, 1) == 5;
    CHECK(cudaIpcCloseMemHandle(again));
    add<<<1, 1>>>(large, 1, 0); // still open, once
    CHECK(cudaDeviceSynchronize());
    s->free_error += cudaFree(large) == cudaErrorInvalidValue;
    for (int *p : {large, small, twin}) s->closed += cudaIpcCloseMemHandle(p) == cudaSuccess;
    s->closed += cudaIpcCloseMemHandle(large) == cudaErrorInvalidValue;
    CHECK(cudaMalloc(&own, N * sizeof(int))); // not the parent's pages any more
    CHECK(cudaMemset(own, 0x55, N * sizeof(int)));
    s->own_pages += sum_of(own, N) == 0x55555555L * N;
    CHECK(cudaFree(own));
    CHECK(cudaEventDestroy(event));
    s->step = 2 * CHILDREN + 2 + i;
    return 0;
}

static void parent(shared *s) {
    int *large, *small, *twin;
    void *own;
    cudaEvent_t event, plain;
    CHECK(cudaMalloc(&large, N * sizeof(int)));
    CHECK(cudaMalloc(&small, 3 * sizeof(int)));
    CHECK(cudaMalloc(&twin, sizeof(int)));
    CHECK(cudaMemset(large, 0, N * sizeof(int)));
    CHECK(cudaMemset(small, 0, 3 * sizeof(int)));
    int five = 5;
    CHECK(cudaMemcpy(twin, &five, sizeof five, cudaMemcpyHostToDevice));
    add<<<64, 256>>>(large, N, 7);
    add<<<1, 32>>>(small, 3, 4);
    CHECK(cudaIpcGetMemHandle(&s->large, large));
    CHECK(cudaIpcGetMemHandle(&s->small, small));
    CHECK(cudaIpcGetMemHandle(&s->twin, twin));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
    CHECK(cudaIpcGetEventHandle(&s->event, event));
    CHECK(cudaEventRecord(event));
    SHOW(cudaIpcOpenMemHandle(&own, s->large, cudaIpcMemLazyEnablePeerAccess));
    cudaGetLastError();
    SHOW(cudaEventCreateWithFlags(&plain, cudaEventInterprocess));
    cudaGetLastError();
    fflush(stdout);
    for (int i = 0; i < CHILDREN; i++) {
        s->step = 2 * i + 1;
        wait_for(s, 2 * i + 2);
    }
    CHECK(cudaStreamWaitEvent(0, event, 0));
    printf("parent: %ld %ld %ld\n", sum_of(large, N) / N, sum_of(small, 3), sum_of(twin, 1));
    add<<<1, 32>>>(small, 3, 1);
    add<<<1, 1>>>(large, 1, 3);
    CHECK(cudaDeviceSynchronize());
    s->step = 2 * CHILDREN + 1;
}

int main() {
    void *p = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared *s = new (p) shared();
    int status, ended_well = 0;
    for (int i = 0; i < CHILDREN; i++)
        if (fork() == 0) _exit(child(s, i));
    parent(s);
    for (int i = 0; i < CHILDREN; i++) ended_well += wait(&status) > 0 && status == 0;
    printf("children: %d ended well, same pointer %d, right sums %d, closed %d, cudaFree refused %d, own pages %d\n", ended_well,
           s->same_pointer, s->sums_right, s->closed, s->free_error, s->own_pages);
}
