// cuda::atomic, cuda::atomic_ref and every atomic function.
// nvcc: -std=c++17
#include "expect.h"
#include <cuda/atomic>

__global__ void atoms(cuda::atomic<int, cuda::thread_scope_device> *a, unsigned *u, double *dd,
                      unsigned long long *q, unsigned short *us) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    a->fetch_add(1);
    a[1].fetch_max(i);
    int e = a[2].load();
    while (!a[2].compare_exchange_weak(e, e + 2))
        ;
    atomicInc(u, 99);
    atomicDec(u + 1, 50);
    atomicCAS(u + 2, 0, i + 1);
    atomicExch(u + 3, 7);
    atomicAnd(u + 4, ~(1u << (i % 32)));
    atomicOr(u + 5, 1u << (i % 32));
    atomicXor(u + 6, i);
    atomicAdd(dd, 0.5);
    atomicMin(q, (unsigned long long)(1000 - i));
    atomicAdd(q + 1, 1ull << 33);
    atomicCAS(us, (unsigned short)0, (unsigned short)9);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> s;
    if (threadIdx.x == 0) s.store(0);
    __syncthreads();
    s.fetch_add(2, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0) a[3].fetch_add(s.load());
    cuda::atomic_ref<unsigned, cuda::thread_scope_system> r(u[7]);
    r.fetch_sub(1);
}
static void check_atoms() {
    cuda::atomic<int, cuda::thread_scope_device> *a;
    unsigned *u;
    double *dd;
    unsigned long long *q;
    unsigned short *us;
    CHECK(cudaMalloc(&a, 64));
    CHECK(cudaMalloc(&u, 64));
    CHECK(cudaMalloc(&dd, 8));
    CHECK(cudaMalloc(&q, 16));
    CHECK(cudaMalloc(&us, 4));
    CHECK(cudaMemset(a, 0, 64));
    unsigned hu[16] = {0, 0, 0, 0, ~0u, 0, 0, 0};
    CHECK(cudaMemcpy(u, hu, 64, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(dd, 0, 8));
    unsigned long long hq[2] = {5000, 0};
    CHECK(cudaMemcpy(q, hq, 16, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(us, 0, 4));
    atoms<<<4, 64>>>(a, u, dd, q, us);
    CHECK(cudaDeviceSynchronize());
    int ha[4];
    double hd;
    unsigned short hs;
    CHECK(cudaMemcpy(ha, a, 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hu, u, 64, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&hd, dd, 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hq, q, 16, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&hs, us, 2, cudaMemcpyDeviceToHost));
    EXPECT(ha[0] == 256 && ha[1] == 255 && ha[2] == 512 && ha[3] == 512, "%d %d %d %d", ha[0], ha[1], ha[2],
           ha[3]);
    EXPECT(hu[0] == 256 % 100, "inc %u", hu[0]);
    int d = 0;
    for (int i = 0; i < 256; i++) d = d == 0 || d > 50 ? 50 : d - 1;
    EXPECT((int)hu[1] == d, "dec %u %d", hu[1], d);
    EXPECT(hu[2] > 0 && hu[2] <= 256 && hu[3] == 7 && hu[4] == 0 && hu[5] == ~0u && hu[6] == 0,
           "cas %u %u %x %x %x", hu[2], hu[3], hu[4], hu[5], hu[6]);
    EXPECT(hd == 128, "%g", hd);
    EXPECT(hq[0] == 745 && hq[1] == 256ull << 33, "%llu %llx", hq[0], hq[1]);
    EXPECT(hs == 9, "%d", hs);
    EXPECT(hu[7] == (unsigned)-256, "%u", hu[7]);
}

int main() {
    check_atoms();
    printf("%d wrong\n", wrong);
    return 0;
}
