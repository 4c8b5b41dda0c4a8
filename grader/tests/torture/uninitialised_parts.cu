// Accesses of which only a part was written: a structure's padding is none of the program's business, a component is.
#include "../programs/check.h"

struct word_and_byte { int i; char c; };              // copied with its padding, as bytes
struct double_and_byte { double d; char c; };         // as halves
struct __align__(16) three { float x, y, z; };        // as a vector of four
struct __align__(16) byte_and_double { char c; double d; };

template <class T> __global__ void copy(T *to, const T *from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void set(word_and_byte *a, double_and_byte *b, three *c, byte_and_double *d) {
    int t = threadIdx.x;
    a[t].i = t, a[t].c = 1;
    b[t].d = t, b[t].c = 2;
    c[t].x = c[t].y = c[t].z = 3;
    d[t].c = 4, d[t].d = t;
}
__global__ void in_shared(three *p) {
    __shared__ three s[32];
    s[threadIdx.x].x = s[threadIdx.x].y = s[threadIdx.x].z = 1;
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void in_local(three *p, int n, int k) {
    three a[8];
    for (int i = 0; i < n; i++) a[i].x = i, a[i].y = n, a[i].z = k;
    p[threadIdx.x] = a[k];
}

__global__ void some(float4 *p) { p[threadIdx.x].x = p[threadIdx.x].y = p[threadIdx.x].w = 1; }
__global__ void use(const float4 *p, float *out) {
    float4 v = p[threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.w; // reported: z
}
__global__ void use_shared(float *out) {
    __shared__ float4 s[32];
    s[threadIdx.x].x = s[threadIdx.x].y = 1;
    __syncthreads();
    float4 v = s[31 - threadIdx.x];
    out[threadIdx.x] = v.x + v.y + v.z + v.w; // reported
}
__global__ void use_local(float *out, int n, int k) {
    float4 a[8];
    for (int i = 0; i < n; i++) a[i].x = i, a[i].y = n, a[i].w = k;
    float4 v = a[k];
    out[threadIdx.x] = v.x + v.y + v.z + v.w; // reported
}
__global__ void nothing(three *p, const three *q) { p[threadIdx.x] = q[threadIdx.x]; } // reported: whole structures
__global__ void tail(char *p, const char *q) { p[threadIdx.x] = q[threadIdx.x]; } // reported: the last 8 bytes

int main() {
    char *p;
    CHECK(cudaMalloc(&p, 1 << 16));
    static char host[1 << 16];
    auto at = [&](int i) { return p + i * 512; };
    auto back = [&](int i) { CHECK(cudaMemcpy(host, at(i), 512, cudaMemcpyDeviceToHost)); };
    set<<<1, 32>>>((word_and_byte *)at(0), (double_and_byte *)at(1), (three *)at(2), (byte_and_double *)at(3));
    copy<<<1, 32>>>((word_and_byte *)at(4), (word_and_byte *)at(0));
    copy<<<1, 32>>>((double_and_byte *)at(5), (double_and_byte *)at(1));
    copy<<<1, 32>>>((three *)at(6), (three *)at(2));
    copy<<<1, 32>>>((byte_and_double *)at(7), (byte_and_double *)at(3));
    in_shared<<<1, 32>>>((three *)at(8));
    in_local<<<1, 32>>>((three *)at(9), 8, 3);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost)); // padding and what nothing wrote: silent
    SHOW(cudaDeviceSynchronize());
    some<<<1, 32>>>((float4 *)at(10));
    use<<<1, 32>>>((float4 *)at(10), (float *)at(11));
    back(11);
    use_shared<<<1, 32>>>((float *)at(12));
    back(12);
    use_local<<<1, 32>>>((float *)at(13), 8, 3);
    back(13);
    nothing<<<1, 32>>>((three *)at(14), (three *)at(15));
    back(14);
    CHECK(cudaMemset(at(16), 1, 24));
    tail<<<1, 32>>>(at(17), at(16));
    back(17);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
