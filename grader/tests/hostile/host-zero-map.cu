// AC/OLE | own | shared mappings of /dev/zero and of the window, beyond their ends | 
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int fd = open("/dev/zero", O_RDWR);
    if (fd >= 0) printf("LEAK: /dev/zero opens\n");
    char *p = (char *)mmap(0, 1ul << 30, PROT_READ | PROT_WRITE, MAP_SHARED, 4, 0);
    if (ftruncate(4, 1ul << 40) == 0) printf("LEAK: the window grows\n");
    if (p != MAP_FAILED) munmap(p, 1ul << 30);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
