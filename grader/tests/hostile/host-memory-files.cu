// AC/RTE | own | memory files and unlinked files, mapped and closed | 
#include <sys/mman.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    size_t kept = 0;
    for (int i = 0; i < 1000; i++) {
        int fd = memfd_create("m", 0);
        if (fd < 0) {
            fd = open("gone", O_CREAT | O_RDWR, 0600);
            unlink("gone");
        }
        char *p = ftruncate(fd, 1 << 20) ? (char *)MAP_FAILED : (char *)mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (p == MAP_FAILED) break;
        kept += 1 << 20;
        for (int j = 0; j < 1 << 20; j += 4096)
            if (kept < 64 << 20) p[j] = 1;
    }
    (void)kept;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
