// AC | own | watches the build folder and the machine's files | 
#include <stdio.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int fd = inotify_init1(IN_NONBLOCK), dir = open("/tmp", O_RDONLY);
    if (fd >= 0 && (inotify_add_watch(fd, "@BUILD@", IN_ALL_EVENTS) >= 0 || inotify_add_watch(fd, "/etc", IN_ALL_EVENTS) >= 0))
        printf("LEAK: a watch on others' files\n");
    (void)dir;
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
