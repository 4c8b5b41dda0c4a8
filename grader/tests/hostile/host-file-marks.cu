// AC | 42 | leaves attributes, flags and leases on files that it may only read | 
#include <stdio.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    const char *files[] = {"/hostproc", "@BUILD@/libexec/hostproc", "/usr/lib/x86_64-linux-gnu/libc.so.6", "@SECRET@"};
    for (const char *f : files) {
        int fd = open(f, O_RDONLY), flags = 0x40; /* not to be dumped */
        if (fd < 0) continue;
        if (!fsetxattr(fd, "user.mark", "1", 1, 0)) printf("LEAK: an attribute of %s\n", f);
        if (!ioctl(fd, _IOW('f', 2, long), &flags)) printf("LEAK: the flags of %s\n", f);
        if (!ioctl(fd, _IOW('v', 2, long), &flags)) printf("LEAK: the version of %s\n", f);
        if (!fcntl(fd, F_SETLEASE, F_RDLCK)) printf("LEAK: a lease on %s\n", f);
        close(fd);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
