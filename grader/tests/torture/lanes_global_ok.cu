// As lanes_global, with what is missing there; and lanes that only use what is their own, by other widths and strides.
#include "../programs/check.h"

__global__ void read_after(int *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    __syncwarp();
    p[64 + t] = p[t ^ 1];
}

__global__ void write_after(int *p) {
    int t = threadIdx.x, next = p[(t + 1) % 32];
    __syncwarp();
    p[t] = next + t + 1;
}

__global__ void write_twice(int *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    __syncwarp();
    p[t ^ 1] = t + 100;
}

__global__ void halves(int *p) {
    int t = threadIdx.x;
    if (t < 16) p[t] = t + 1;
    __syncwarp();
    if (t >= 16) p[64 + t] = p[t - 16];
}

__global__ void scan(int *p) {
    int t = threadIdx.x;
    p[t] = 1;
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        int left = t >= d ? p[t - d] : 0;
        __syncwarp();
        p[t] += left;
        __syncwarp();
    }
}

__global__ void bytes(unsigned char *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    __syncthreads();
    p[64 + t] = p[31 - t];
}

__global__ void own_vectors(int *p) { // a vector, and its parts
    int t = threadIdx.x;
    ((int4 *)p)[t] = make_int4(t, t + 1, t + 2, t + 3);
    for (int k = 0; k < 4; k++) p[4 * t + k] += p[4 * t + (k ^ 1)];
    ((long long *)p)[2 * t] += 5;
}

__global__ void own_rows(int *p) { // a thread has a row
    int t = threadIdx.x;
    for (int k = 1; k < 16; k++) p[16 * t + k] += p[16 * t + k - 1];
    for (int k = 15; k > 0; k--) p[16 * t + k] = p[16 * t + k / 2] * 3;
}

__global__ void own_columns(int *p) { // or a column
    int t = threadIdx.x;
    for (int k = 1; k < 16; k++) p[64 * k + t] += p[64 * (k - 1) + t] + p[64 * k + t];
}

__global__ void backwards(int *p) {
    int t = 31 - threadIdx.x;
    for (int k = 0; k < 8; k++) p[8 * t + k] = p[8 * t + (k + 3) % 8] + 1;
}

__global__ void by_index(int *p, const int *at) {
    int t = threadIdx.x;
    p[at[t]] += 2;
    p[at[t]] *= 3;
}

__global__ void flag(int *p) { // one value
    if (threadIdx.x % 3 == 0) p[1000] = 1;
    if (threadIdx.x % 5 == 0) p[1000] = 1;
}

__global__ void slots(int *p) { // an atomic hands out places
    int at = atomicAdd(&p[1001], 1);
    p[1100 + at] = threadIdx.x;
    __threadfence();
    if (atomicAdd(&p[1002], 1) == 63)
        for (int i = 0; i < 64; i++) p[1003] += ((volatile int *)p)[1100 + i];
}

__global__ void lock(int *p) { // of lanes
    for (bool done = false; !done;)
        if (!atomicCAS(&p[1004], 0, 1)) {
            __threadfence();
            p[1005] += threadIdx.x;
            __threadfence();
            atomicExch(&p[1004], 0);
            done = true;
        }
}

int main() {
    int *p, at[32];
    CHECK(cudaMalloc(&p, 8192));
    CHECK(cudaMemset(p, 0, 8192));
    for (int i = 0; i < 32; i++) at[i] = i * 7 % 32;
    CHECK(cudaMemcpy(p + 1024, at, sizeof at, cudaMemcpyHostToDevice));
    read_after<<<1, 32>>>(p);
    write_after<<<1, 32>>>(p);
    write_twice<<<1, 32>>>(p);
    halves<<<1, 32>>>(p);
    scan<<<1, 32>>>(p);
    bytes<<<1, 32>>>((unsigned char *)p);
    own_vectors<<<1, 64>>>(p);
    own_rows<<<1, 64>>>(p);
    own_columns<<<1, 64>>>(p);
    backwards<<<1, 32>>>(p);
    by_index<<<1, 32>>>(p, p + 1024);
    flag<<<1, 64>>>(p);
    CHECK(cudaMemset(p, 0, 8192));
    slots<<<1, 64>>>(p);
    lock<<<1, 64>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
