// AC/RTE/CE | 32 | defines malloc and free | 
#include <stddef.h>
static char pool[64 << 20];
static size_t used;
extern "C" void *malloc(size_t n) noexcept { char *p = pool + used; used += (n + 15) & ~15ul; return p; }
extern "C" void free(void *) noexcept {}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
