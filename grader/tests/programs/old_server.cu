// A device server of another version: the runtime prints advice and ends the program.
// stderr: rebuild the program with `build/simgpu nvcc`
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct letter { // a byte, which carries a descriptor
    char byte = 'c', control[CMSG_SPACE(sizeof(int))] = {};
    iovec part = {&byte, 1};
    msghdr m = {};
    letter() { m.msg_iov = &part, m.msg_iovlen = 1, m.msg_control = control, m.msg_controllen = sizeof control; }
};

static int take(int from) {
    letter l;
    int fd = -1;
    if (recvmsg(from, &l.m, 0) == 1) memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&l.m)), sizeof fd);
    return fd;
}

static void give(int to, int fd) {
    letter l;
    cmsghdr *c = CMSG_FIRSTHDR(&l.m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    sendmsg(to, &l.m, 0);
}

int main(int argc, char **argv) {
    if (argc > 1) { // the program: its first call ends it
        void *p;
        printf("%s\n", cudaGetErrorName(cudaMalloc(&p, 4)));
        return 0;
    }
    int pair[2], status;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return 1;
    char number[16];
    snprintf(number, sizeof number, "%d", pair[1]);
    setenv("WARPBOOK_SOCKET", number, 1);
    pid_t pid = fork();
    if (!pid) execl(argv[0], argv[0], "program", nullptr), _exit(1);
    int client = take(pair[0]), window = memfd_create("window", 0);
    give(client, window);
    uint32_t frame[64] = {};
    recv(client, frame, sizeof frame, 0);
    printf("%s\n", frame[0] == 0 && frame[8] != 1 ? "a hello of no such version" : "?");
    frame[2] = 32, frame[3] = cudaErrorInsufficientDriver; // size and status of the reply's header
    send(client, frame, 32, 0);
    waitpid(pid, &status, 0);
    printf("status %d\n", WEXITSTATUS(status));
    return 0;
}
