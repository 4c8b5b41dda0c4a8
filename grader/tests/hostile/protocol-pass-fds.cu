// RTE/WA/AC | own | sends its descriptors to the server, to use its up | 
#include "forge.cuh"
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 500; i++) {
        struct header h = {OP_sync, 4242, sizeof h, 0, 0, 0, 0};
        char c[CMSG_SPACE(4 * 16)] = {0};
        struct iovec v = {&h, sizeof h};
        struct msghdr m = {};
        m.msg_iov = &v, m.msg_iovlen = 1, m.msg_control = c, m.msg_controllen = sizeof c;
        struct cmsghdr *x = CMSG_FIRSTHDR(&m);
        x->cmsg_level = SOL_SOCKET, x->cmsg_type = SCM_RIGHTS, x->cmsg_len = CMSG_LEN(4 * 16);
        for (int j = 0; j < 16; j++) ((int *)CMSG_DATA(x))[j] = 4;
        if (sendmsg(3, &m, MSG_NOSIGNAL) < 0) break;
        hear();
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
