// AC/RTE/OLE | own | fills the writable folder | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char b[65536];
    for (int i = 0; i < 100000; i++) {
        char name[32];
        sprintf(name, "f%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0 || write(fd, b, sizeof b) < (long)sizeof b) break;
        close(fd);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
