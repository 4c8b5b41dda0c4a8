// AC | 31 | /proc of the grader, of process 1 and of its neighbours | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    const char *names[] = {"environ", "maps", "mem", "cmdline", "status", "fd/3", "cwd/x", "root/etc/passwd", "stack"};
    char path[128];
    for (const char *x : names)
        for (int pid : {1, 2, @GRADER@, @GRADER@ + 1, getppid()}) {
            snprintf(path, sizeof path, "/proc/%d/%s", pid, x);
            int fd = open(path, O_RDONLY);
            if (fd >= 0) printf("LEAK: %s opens\n", path), close(fd);
        }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
