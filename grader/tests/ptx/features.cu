// What the PTX parser must read of ordinary kernels; test_ptx_nvcc.c knows the line numbers.
// features.ptx is made from it, with nvcc 13.0 and the folders taken out of the paths:
//   nvcc -ptx -lineinfo -arch=compute_90 features.cu -o features.ptx && sed -i 's#"/.*/#"#' features.ptx
#include <cassert>
#include <cstdio>

struct Body {
    float position[3];
    int id;
    double mass;
};
typedef float (*Op)(float);

__constant__ float weights[4] = {1.0f, -2.5f, 0.0f, 8.0f};
__device__ int counter = -7;
__device__ int *where = &counter;
__device__ const char *words[] = {"warp", "lane"};
__managed__ double scale = 0.5;

template <class T> __device__ __noinline__ T twice(T x) { return x + x; }
__device__ float square(float x) { return x * x; }
__device__ float poly(float x) {
    float y = square(x);
    return y + 3.0f;
}
__device__ __noinline__ float plus(float x) { return x + 1.0f; }
__device__ __noinline__ float minus(float x) { return x - 1.0f; }
__device__ Op ops[2] = {plus, minus};

__device__ __noinline__ Body make(int id) {
    Body b = {{1.0f * id, 2.0f, 3.0f}, id, 0.25 * id};
    return b;
}

template <class T> __global__ void tile(T *out, const T *__restrict__ in, Body b, int n) {
    __shared__ T cells[32][33];
    extern __shared__ float rest[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cells[threadIdx.x & 31][0] = in[i];
    __syncthreads();
    if (i < n) out[i] = twice(cells[i & 31][0]) + (T)poly(b.position[i % 3]);
    rest[threadIdx.x] = (float)b.mass;
}
template __global__ void tile<float>(float *, const float *, Body, int);
template __global__ void tile<double>(double *, const double *, Body, int);

__global__ void indirect(float *out, int which) {
    out[threadIdx.x] = ops[which](weights[threadIdx.x & 3]);
    printf("%s %f\n", words[which & 1], out[0] * scale);
}

__global__ void __launch_bounds__(128, 2) choose(int *out, int which) {
    switch (which) {
    case 0: out[0] = 1; break;
    case 1: out[5] = 2; __syncthreads(); break;
    case 2: out[1] = out[7]; break;
    case 3: out[2] = __popc(which + out[3]); break;
    default: out[8] = *where; assert(out[9]);
    }
}

__global__ void records(double *out, int id) {
    Body b = make(id);
    out[0] = b.mass + b.position[id % 3];
    asm volatile("{ .reg .pred p; again: setp.ne.s32 p, %0, %0; @p bra again; @!p bra done; done: }" ::"r"(id));
    asm volatile("{ .reg .pred p; again: setp.ne.s32 p, %0, 7; @p bra done; bra done; done: }" ::"r"(id));
}
