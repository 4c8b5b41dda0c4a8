// Stream-ordered allocation, and pointers of every kind.
#include "check.h"

__global__ void set(int *p) { p[threadIdx.x] = threadIdx.x; }

static const char *kind(const void *p) {
    cudaPointerAttributes a;
    CHECK(cudaPointerGetAttributes(&a, p));
    return a.type == cudaMemoryTypeDevice ? "device" : a.type == cudaMemoryTypeHost ? "host"
         : a.type == cudaMemoryTypeManaged ? "managed" : "unregistered";
}

int main() {
    cudaStream_t s;
    cudaMemPool_t pool;
    int *p, host[32], *pinned, *later;
    unsigned long long threshold = ~0ull;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    for (int i = 0; i < 50; i++) {
        CHECK(cudaMallocAsync(&p, 64 << 20, s));
        set<<<1, 32, 0, s>>>(p);
        CHECK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s));
        CHECK(cudaFreeAsync(p, s));
    }
    CHECK(cudaStreamSynchronize(s));
    printf("%d %d\n", host[1], host[31]);
    CHECK(cudaMalloc(&p, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    later = (int *)malloc(4096);
    printf("%s %s %s", kind(p + 3), kind(pinned + 3), kind(later));
    CHECK(cudaHostRegister(later, 4096, cudaHostRegisterDefault));
    printf(" %s\n", kind(later));
    CHECK(cudaHostUnregister(later));
    CHECK(cudaFreeHost(pinned));
    free(later);
    return 0;
}
