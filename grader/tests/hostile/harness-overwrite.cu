// AC | 33 | overwrites the host process, libraries and its own object | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static const char *const files[] = {"/hostproc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/etc/ld.so.cache", "@BUILD@/grader", "@BUILD@/libexec/hostproc", "@BUILD@/lib/libwbcudart.a"};
    for (const char *f : files)
        if (open(f, O_WRONLY) >= 0 || unlink(f) == 0 || rename(f, "x") == 0) printf("LEAK: may change %s\n", f);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
