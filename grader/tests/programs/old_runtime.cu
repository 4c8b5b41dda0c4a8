// A program with another version of the runtime library gets a message and ends.
// status: 3
// stderr: was built with another version of the runtime library: rebuild it with `build/simgpu nvcc`
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

int main() { // an older library's message: version 1, in a hello of another size
    int pair[2], rendezvous = atoi(getenv("WARPBOOK_SOCKET"));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) return 1;
    char control[CMSG_SPACE(sizeof(int))] = {}, byte = 'c';
    iovec part = {&byte, 1};
    msghdr m = {};
    m.msg_iov = &part, m.msg_iovlen = 1, m.msg_control = control, m.msg_controllen = sizeof control;
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &pair[1], sizeof(int));
    if (sendmsg(rendezvous, &m, 0) != 1) return 1;
    close(pair[1]);
    recv(pair[0], &byte, 1, 0); // the window comes with it
    struct { uint32_t op, seq, size, status, flags, pad; uint64_t time; uint32_t version; } hello = {0, 1, 36, 0, 0, 0, 0, 1};
    static_assert(offsetof(decltype(hello), version) == 32, "a header of 32 bytes");
    printf("asks\n");
    fflush(stdout);
    send(pair[0], &hello, 36, 0);
    sleep(60); // and would wait for ever
    return 0;
}
