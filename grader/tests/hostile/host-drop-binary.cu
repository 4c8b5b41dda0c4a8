// AC | own | writes a program to its folder and starts it | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/wait.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int from = open("/hostproc", O_RDONLY), to = open("p", O_CREAT | O_WRONLY, 0777);
    static char b[1 << 20];
    ssize_t got = read(from, b, sizeof b);
    if (got > 0 && write(to, b, got)) {}
    close(to);
    if (fork() == 0) {
        execl("p", "p", (char *)0);
        _exit(99);
    }
    int status;
    wait(&status);
    if (WEXITSTATUS(status) != 99) puts("LEAK: it started");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
