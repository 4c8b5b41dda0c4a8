// AC/RTE/OLE | own | unlinked files, mapped and closed, which no listing of the folder shows | 
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    size_t kept = 0;
    for (int i = 0; n && i < 400; i++) {
        int fd = open(".", O_TMPFILE | O_RDWR, 0600);
        if (fd < 0) break;
        static char block[1 << 20];
        for (unsigned j = 0; j < sizeof block; j += 4096) block[j] = (char)i;
        if (write(fd, block, sizeof block) != (long)sizeof block) break;
        if (mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) break;
        close(fd), kept += sizeof block;
    }
    if (kept > 200 << 20) printf("LEAK: %zu bytes that nobody counts\n", kept);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
