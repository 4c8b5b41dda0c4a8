// AC | own | writes, renames and links into the build cache | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (open("@BUILD@/cache", O_RDONLY | O_DIRECTORY) >= 0) puts("LEAK: lists the cache");
    if (symlink("/tmp", "@BUILD@/cache/wb-planted") == 0) puts("LEAK: links in the cache");
    if (rename("submission.so", "@BUILD@/cache/obj/wb-planted") == 0) puts("LEAK: renames into the cache");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
