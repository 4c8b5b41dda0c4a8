// AC | own | a set-uid copy of itself, device nodes | 
#include <sys/stat.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/sysmacros.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    close(open("s", O_CREAT | O_WRONLY, 0777));
    chmod("s", 06777);
    if (mknod("d", S_IFBLK | 0666, makedev(8, 0)) == 0) puts("LEAK: a device node");
    if (setuid(0) == 0 && geteuid() == 0) puts("LEAK: root");
    if (execl("/usr/bin/su", "su", (char *)0)) {}
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
