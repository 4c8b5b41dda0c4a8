// AC | 43 | makes system calls that configure the kernel or move pages, which no list of calls to refuse names | 
#include <cerrno>
#include <cstdio>
#include <sys/syscall.h>
#include <unistd.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
#define TRY(name)                                                                                  \
    do {                                                                                           \
        errno = 0;                                                                                 \
        syscall(SYS_##name, 0, 0, 0, 0, 0, 0);                                                     \
        if (errno != EPERM && errno != ENOSYS) printf("LEAK: %s reached the kernel\n", #name);     \
    } while (0)
extern "C" void plus_one(int *out, const int *in, int n) {
    TRY(modify_ldt);
    TRY(vmsplice);
    TRY(landlock_create_ruleset);
    TRY(io_submit);
    TRY(io_getevents);
    TRY(remap_file_pages);
    TRY(mlock2);
    TRY(mq_timedsend);
    TRY(fspick);
    TRY(fsconfig);
    TRY(set_mempolicy_home_node);
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
