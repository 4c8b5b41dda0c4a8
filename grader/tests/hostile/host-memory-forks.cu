// AC/RTE/MLE/TLE | own | as much memory as is allowed, in each of many processes | 
#include <unistd.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    if (!n) return;
    for (int i = 0; i < 6; i++)
        if (fork() == 0) {
            char *p = (char *)malloc(400 << 20);
            if (p) memset(p, 1, 400 << 20);
            _exit(0);
        }
    while (wait(0) > 0) {}
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
