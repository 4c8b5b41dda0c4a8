// AC/RTE | own | shrinks the shared window under the server | 
#include <unistd.h>
#include <stdio.h>
#include <fcntl.h>
#include <sys/mman.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (ftruncate(4, 0) == 0) puts("LEAK: the window shrank");
    if (fcntl(4, F_ADD_SEALS, F_SEAL_WRITE) == 0) puts("LEAK: sealed");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
