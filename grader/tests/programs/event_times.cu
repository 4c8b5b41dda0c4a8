// Times between events: copies of pinned and pageable memory, a kernel, in one stream and in four, next to an H100's times.
// These are medians: copies alone of 15 runs, the others of three; nvcc -O3.
// run: --device h100 --time
// stderr: simgpu: steps: 
// stderr: (4 times)
#include "check.h"

enum { N = 1 << 24, STREAMS = 4, BYTES = N * 4, PART = N / STREAMS };

__global__ void steps(float *p, int n, int turns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = p[i];
    for (int k = 0; k < turns; k++) v = v * 1.0001f + 0.5f;
    if (i < n) p[i] = v;
}

static float *pinned, *device, *pageable;
static cudaEvent_t begin, end;
static cudaStream_t s[STREAMS];

static void in() { CHECK(cudaMemcpy(device, pinned, BYTES, cudaMemcpyHostToDevice)); }
static void out() { CHECK(cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost)); }
static void in_pageable() { CHECK(cudaMemcpy(device, pageable, BYTES / 4, cudaMemcpyHostToDevice)); }
static void kernel() { steps<<<N / 256, 256>>>(device, N, 100); }
static void all_in_line() {
    in();
    kernel();
    out();
}
static void in_streams() {
    for (int i = 0; i < STREAMS; i++) {
        float *d = device + i * PART, *h = pinned + i * PART;
        CHECK(cudaMemcpyAsync(d, h, PART * 4, cudaMemcpyHostToDevice, s[i]));
        steps<<<PART / 256, 256, 0, s[i]>>>(d, PART, 100);
        CHECK(cudaMemcpyAsync(h, d, PART * 4, cudaMemcpyDeviceToHost, s[i]));
    }
}

static float time_of(void (*work)()) {
    float ms;
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

static void row(const char *name, void (*work)(), float h100) {
    float ms = time_of(work);
    if (ms > h100 * 0.9f && ms < h100 * 1.1f) printf("%s: within a tenth of an H100's time\n", name);
    else printf("%s: %.3f ms, on an H100 %.3f\n", name, ms, h100);
}

int main() {
    CHECK(cudaMallocHost(&pinned, BYTES));
    CHECK(cudaMalloc(&device, BYTES));
    pageable = (float *)calloc(N, 4);
    for (int i = 0; i < N; i++) pinned[i] = i;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int twice = 0; twice < 2; twice++) { // without streams, and with
        row("64 MiB in", in, 1.227f);
        row("64 MiB out", out, 1.228f);
        row("16 MiB in from pageable memory", in_pageable, 1.266f);
        row("kernel", kernel, 0.099f);
        row("in, kernel, out", all_in_line, 2.562f);
        for (int i = 0; !twice && i < STREAMS; i++) CHECK(cudaStreamCreate(&s[i]));
    }
    row("in four streams", in_streams, 1.657f);
    free(pageable);
    return 0;
}
