// Lanes of one warp that use what others of it left in global memory, with no __syncwarp between.
#include "../programs/check.h"

__global__ void read_after(int *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    p[64 + t] = p[t ^ 1]; // reported
}

__global__ void write_after(int *p) {
    int t = threadIdx.x, next = p[(t + 1) % 32];
    p[t] = next + t + 1; // reported
}

__global__ void write_twice(int *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    p[t ^ 1] = t + 100; // reported
}

__global__ void halves(int *p) {
    int t = threadIdx.x;
    if (t < 16) p[t] = t + 1;
    else p[64 + t] = p[t - 16]; // reported, at the half that runs later
}

__global__ void scan(int *p) {
    int t = threadIdx.x;
    p[t] = 1;
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        int left = t >= d ? p[t - d] : 0;
        p[t] += left; // reported
        __syncwarp();
    }
}

__global__ void bytes(unsigned char *p) {
    int t = threadIdx.x;
    p[t] = t + 1;
    p[64 + t] = p[31 - t]; // reported
}

__global__ void vectors(int *p) {
    int t = threadIdx.x;
    ((int4 *)p)[t] = make_int4(t, t + 1, t + 2, t + 3);
    p[512 + t] = p[t]; // reported
}

__global__ void count(int *p) {
    int t = threadIdx.x;
    p[t % 7]++; // reported
}

int main() {
    int *p;
    CHECK(cudaMalloc(&p, 8192));
    CHECK(cudaMemset(p, 0, 8192));
    read_after<<<1, 32>>>(p);
    write_after<<<1, 32>>>(p);
    write_twice<<<1, 32>>>(p);
    halves<<<1, 32>>>(p);
    scan<<<1, 32>>>(p);
    bytes<<<1, 32>>>((unsigned char *)p);
    vectors<<<1, 32>>>(p);
    count<<<1, 32>>>(p);
    SHOW(cudaDeviceSynchronize());
    return 0;
}
