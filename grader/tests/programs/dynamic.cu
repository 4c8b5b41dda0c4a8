// Launches by kernels: children, grandchildren, fire and forget, tail launches, and errors of a launch. Every kernel that was
// launched has ended when the host's synchronisation returns. The printed order is this device's:
// children after their parent, tail launches last.
// nvcc: -rdc=true
#include "check.h"

__global__ void child(int *o, int v) { o[blockIdx.x] += v; }

__global__ void last(int *o) { o[4] = o[0] + o[1]; }

__global__ void parent(int *o) {
    o[0] = 1;
    o[1] = 2;
    child<<<2, 1>>>(o, 10);
    child<<<2, 1, 0, cudaStreamFireAndForget>>>(o + 2, 100);
    last<<<1, 1, 0, cudaStreamTailLaunch>>>(o);
    child<<<1, 2000>>>(o, 10000); // more threads than a block can have: not launched
    o[5] = cudaGetLastError();
    o[6] = cudaGetLastError();
}

// 2 threads launch 2 threads each, and so on.
__global__ void tree(int *count, int depth) {
    atomicAdd(count, 1);
    if (depth > 0) tree<<<1, 2>>>(count, depth - 1);
}

__global__ void down(int *deepest, int depth) {
    *deepest = depth;
    down<<<1, 1>>>(deepest, depth + 1);
    if (cudaGetLastError() != cudaSuccess) deepest[1] = depth;
}

__global__ void streams(int *o) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    child<<<1, 1, 0, s>>>(o, 1);
    child<<<1, 1, 0, s>>>(o, 2);
    cudaStreamDestroy(s);
}

int main() {
    int *o;
    CHECK(cudaMallocManaged(&o, 64 * sizeof *o));
    for (int i = 0; i < 64; i++) o[i] = 0;
    parent<<<1, 1>>>(o);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 7; i++) printf("%d ", o[i]);
    printf("\n");
    tree<<<1, 2>>>(o + 8, 3);
    CHECK(cudaDeviceSynchronize());
    printf("%d threads\n", o[8]);
    down<<<1, 1>>>(o + 16, 0);
    CHECK(cudaDeviceSynchronize());
    printf("%d deep, refused at %d\n", o[16], o[17]);
    streams<<<1, 1>>>(o + 24);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", o[24]);
    return 0;
}
