// The device runtime's memory: cudaMalloc and cudaFree on the device's heap, copies and fills that run, in the order of the calls,
// after the kernel, and its queries of devices and errors. Streams in shared memory.
// nvcc: -rdc=true
#include "check.h"

struct line {
    int *values;
    int n, status;
};

__global__ void fill(line *l) { l->values[threadIdx.x] = 10 * l->n + threadIdx.x; }

__global__ void take(line *lines) {
    line *l = lines + threadIdx.x;
    l->n = threadIdx.x;
    l->status = cudaMalloc((void **)&l->values, 4 * sizeof(int));
    fill<<<1, 4>>>(l);
}

__global__ void sum(const line *lines, int *out) {
    for (int i = 0; i < 3; i++) out[i] = lines[i].values[0] + lines[i].values[3];
}

__global__ void give(line *lines) { lines[threadIdx.x].status += cudaFree(lines[threadIdx.x].values); }

__global__ void add(int *o, int v) { o[threadIdx.x] += v; }

__global__ void move(int *o, int *status) {
    __shared__ cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (int i = 0; i < 4; i++) o[i] = i;
    status[0] = cudaMemsetAsync(o + 4, 0x01, 2 * sizeof(int), s); // 4, 5: 0x01010101
    status[1] = cudaMemcpyAsync(o + 6, o, 2 * sizeof(int), cudaMemcpyDeviceToDevice, s); // 6, 7: what o has by then
    add<<<1, 2, 0, s>>>(o + 6, 100);
    cudaMemcpyAsync(o + 8, o + 7, sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch); // after all of them
    o[1] = 7; // before the copy, which waits for the kernel
    cudaStreamDestroy(s);
}

__global__ void move_rows(char *to, const char *from, int *status) {
    status[0] = cudaMemcpy2DAsync(to, 8, from, 5, 3, 4, cudaMemcpyDeviceToDevice, 0);
    status[1] = cudaMemset2DAsync(to + 4, 8, '#', 2, 3, 0);
    status[2] = cudaMemcpy2DAsync(to, 2, from, 5, 3, 4, cudaMemcpyDeviceToDevice, 0); // a pitch below the width
}

__global__ void ask(int *o) {
    o[1] = 42;
    cudaGetDevice(o);
    cudaGetDeviceCount(o + 2);
    void *p;
    o[3] = cudaMalloc(&p, 1ull << 40);
    o[4] = p == nullptr;
    o[5] = cudaMalloc(&p, 0);
    o[6] = p == nullptr;
    printf("%s: %s; %s: %s; %s\n", cudaGetErrorName(cudaSuccess), cudaGetErrorString(cudaSuccess),
           cudaGetErrorName((cudaError_t)o[3]), cudaGetErrorString((cudaError_t)o[3]), cudaGetErrorString((cudaError_t)12345));
}

int main() {
    line *lines;
    int *o, *status;
    CHECK(cudaMallocManaged(&lines, 3 * sizeof *lines));
    CHECK(cudaMallocManaged(&o, 16 * sizeof *o));
    CHECK(cudaMallocManaged(&status, 3 * sizeof *status));
    take<<<1, 3>>>(lines);
    sum<<<1, 1>>>(lines, o);
    give<<<1, 3>>>(lines);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d, %d %d %d\n", o[0], o[1], o[2], lines[0].status, lines[1].status, lines[2].status);
    move<<<1, 1>>>(o, status);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 9; i++) printf("%d ", o[i]);
    printf("%d %d\n", status[0], status[1]);
    char *rows;
    CHECK(cudaMallocManaged(&rows, 52));
    memset(rows, '.', 32);
    memcpy(rows + 32, "abcdefghijklmnopqrst", 20);
    move_rows<<<1, 1>>>(rows, rows + 32, status);
    CHECK(cudaDeviceSynchronize());
    printf("%.32s %d %d %d\n", rows, status[0], status[1], status[2]);
    CHECK(cudaFree(rows));
    ask<<<1, 1>>>(o);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 7; i++) printf("%d ", o[i]);
    printf("\n");
    return 0;
}
