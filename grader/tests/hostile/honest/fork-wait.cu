// AC | - | a child that computes and is waited for | 
#include <sys/wait.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) _exit(3);
    if (pid > 0) waitpid(pid, &status, 0);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
