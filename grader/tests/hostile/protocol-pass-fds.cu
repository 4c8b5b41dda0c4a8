// RTE/WA/AC | own | sends its descriptors to the server, to use its up | 
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct header {
    uint32_t op, seq, size;
    int32_t status;
    uint32_t flags, pad;
    uint64_t time;
};
static int say(uint32_t op, const void *body, size_t n) {
    char frame[4096] = {0};
    struct header h = {op, 4242, (uint32_t)(sizeof h + n), 0, 0, 0, 0};
    memcpy(frame, &h, sizeof h);
    if (n) memcpy(frame + sizeof h, body, n);
    return send(3, frame, h.size, MSG_NOSIGNAL) < 0 ? -1 : 0;
}
static long hear(void *out, size_t n) {
    struct pollfd p = {3, POLLIN, 0};
    return poll(&p, 1, 1000) > 0 ? recv(3, out, n, 0) : -1;
}
__global__ void k(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
extern "C" void plus_one(int *out, const int *in, int n) {
    for (int i = 0; n && i < 500; i++) {
        struct header h = {21, 4242, sizeof h, 0, 0, 0, 0};
        char c[CMSG_SPACE(4 * 16)] = {0}, reply[65536];
        struct iovec v = {&h, sizeof h};
        struct msghdr m = {};
        m.msg_iov = &v, m.msg_iovlen = 1, m.msg_control = c, m.msg_controllen = sizeof c;
        struct cmsghdr *x = CMSG_FIRSTHDR(&m);
        x->cmsg_level = SOL_SOCKET, x->cmsg_type = SCM_RIGHTS, x->cmsg_len = CMSG_LEN(4 * 16);
        for (int j = 0; j < 16; j++) ((int *)CMSG_DATA(x))[j] = 4;
        if (sendmsg(3, &m, MSG_NOSIGNAL) < 0) break;
        hear(reply, sizeof reply);
    }
    if (n) k<<<(n + 255) / 256, 256>>>(out, in, n);
}
