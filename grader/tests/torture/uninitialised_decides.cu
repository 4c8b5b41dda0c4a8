// A value that came from a read of what nothing wrote, where it decides: told with the place of the load and, where that is
// another line, of the decision.
#include "../programs/check.h"

__global__ void index(const int *raw, int *p) {
    int i = raw[threadIdx.x] & 31; // loaded
    p[i] = 1;                      // an address
}
__global__ void branch(const int *raw, int *p) {
    int v = raw[threadIdx.x]; // loaded
    if (v > 0)                // decides
        for (int i = 0; i < v; i++) p[i % 32] += i;
}
__global__ void store(const float *raw, float *p) {
    float v = raw[threadIdx.x]; // loaded
    p[threadIdx.x] = 2 * v + 1; // read back
}
__global__ void update(const int *raw, int *p) { atomicAdd(p, raw[threadIdx.x]); }
__global__ void count(int *raw) { atomicAdd(raw + threadIdx.x, 1); } // of what nothing wrote
__global__ void tile(const float *in, float *p) {
    __shared__ float s[34];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    if (t == 0) s[0] = 0; // and s[33]?
    __syncthreads();
    p[t] = s[t] + s[t + 1] + s[t + 2]; // loaded; read back
}
__global__ void in_local(float *p, int n) {
    float a[8];
    for (int i = 1; i < n; i++) a[i] = i;
    p[threadIdx.x] = a[threadIdx.x % 8]; // loaded; read back
}
__global__ void mask(const unsigned *raw, int *p) {
    unsigned m = ~raw[threadIdx.x];                 // loaded
    p[threadIdx.x] = __shfl_sync(m, threadIdx.x, 0); // the mask
}
__global__ void print(const int *raw) {
    if (threadIdx.x == 3) printf("%d\n", raw[3]);
}
__global__ void through_memory(const int *raw, int *scratch) { scratch[threadIdx.x] = raw[threadIdx.x] + 1; } // loaded
__global__ void later(const int *scratch, int *p) {
    if (scratch[threadIdx.x] == 1) p[threadIdx.x] = 2; // decides, in another kernel
}
__device__ __noinline__ int half_of(int v) { return v / 2; }
__global__ void through_call(const int *raw, int *p) {
    int v = raw[threadIdx.x];               // loaded
    p[threadIdx.x] = half_of(v) + __shfl_down_sync(~0u, v, 1);
}

int main() {
    int *raw, *p;
    static int host[1024];
    CHECK(cudaMalloc(&raw, 4096));
    CHECK(cudaMalloc(&p, 4096));
    CHECK(cudaMemset(p, 0, 4096));
    auto back = [&]() { CHECK(cudaMemcpy(host, p, 4096, cudaMemcpyDeviceToHost)); };
    index<<<1, 32>>>(raw, p), back();
    branch<<<1, 32>>>(raw, p), back();
    store<<<1, 32>>>((float *)raw, (float *)p), back();
    update<<<1, 32>>>(raw, p), back();
    count<<<1, 32>>>(raw + 512), back();
    tile<<<1, 32>>>((float *)p, (float *)p + 64), back();
    in_local<<<1, 32>>>((float *)p, 8), back();
    mask<<<1, 32>>>((unsigned *)raw, p), back();
    print<<<1, 32>>>(raw), back();
    through_memory<<<1, 32>>>(raw, raw + 256);
    later<<<1, 32>>>(raw + 256, p), back();
    through_call<<<1, 32>>>(raw, p), back();
    SHOW(cudaDeviceSynchronize());
    return 0;
}
