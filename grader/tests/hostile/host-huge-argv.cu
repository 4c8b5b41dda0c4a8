// AC/RTE | own | starts a program with megabytes of arguments | 
#include <unistd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static char *args[4097];
    char *big = (char *)malloc(100000);
    memset(big, 65, 99999);
    for (int i = 0; i < 4096; i++) args[i] = big;
    if (fork() == 0) {
        execv("/hostproc", args);
        _exit(1);
    }
    int status;
    wait(&status);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
