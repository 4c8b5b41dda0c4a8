// AC* | 42 | leaves files where the next submission would find them | 
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    static const char *const files[] = {"/tmp/wb-planted", "/dev/shm/wb-planted", "/var/tmp/wb-planted", "/run/wb-planted", "@BUILD@/wb-planted", "@BUILD@/cache/obj/wb-planted", "@ROOT@/wb-planted", "/home/wb-planted"};
    for (const char *f : files) close(open(f, O_CREAT | O_WRONLY, 0666));
    mkdir("/tmp/wb-planted.d", 0777);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
