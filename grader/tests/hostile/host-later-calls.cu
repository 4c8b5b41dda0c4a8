// AC | own | newer system calls with the effects of forbidden older ones | 
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    int fd = open("mine", O_CREAT | O_RDWR, 0600), got = 0;
    struct { unsigned long value; unsigned size, flags; } a = {(unsigned long)"v", 1, 0};
    got |= syscall(452, AT_FDCWD, "mine", 04777, 0) == 0;               /* fchmodat2 */
    got |= syscall(463, AT_FDCWD, "mine", 0, "user.x", &a, sizeof a) == 0; /* setxattrat */
    got |= syscall(466, AT_FDCWD, "mine", 0, "user.x") == 0;            /* removexattrat */
    got |= syscall(469, fd, "", 0, "", 0, 0) == 0;                      /* file_setattr */
    got |= syscall(467, fd, "", 04) >= 0;                               /* open_tree_attr */
    if (got) printf("LEAK: a later call was let through\n");
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
