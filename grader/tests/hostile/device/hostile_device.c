/* hostile_device.c — stands in for build/libexec/device and does its worst: what a device process
 * could do that a submission has taken over. Its second argument says what. Up to the message that
 * it spoils, it answers as a real one would. */
#include "grader/server/control.h"
#include "grader/server/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

static struct control_request q;
static struct control_reply p;
static uint8_t *box;
static const char *mode;

static bool is(const char *name) { return !strcmp(mode, name); }

static void map_case(int fd) {
    box = mmap(NULL, q.u.buffers.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static bool receive(void) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&q, sizeof q};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    if (recvmsg(CONTROL_SOCKET, &m, 0) != sizeof q) return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fd = -1;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (q.op == CONTROL_BUFFERS) map_case(fd);
    return true;
}

/* ---- attacks on what is outside: none may work; what is found would be told as device printf ----
 */

static void leak(const char *text, size_t n) {
    if (n > 1000) n = 1000;
    memcpy(box + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES, text, n);
    p.log_bytes = (uint32_t)n;
}

static void read_file(const char *path) {
    static char text[1000];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (n > 0) leak(text, (size_t)n);
}

static void outside(void) {
    char path[64];
    if (is("secret-file")) read_file("/tmp/warpbook-secret"), read_file("/work/warpbook-secret");
    if (is("grader-memory"))
        for (int pid = 1; pid < 4; pid++)
            snprintf(path, sizeof path, "/proc/%d/environ", pid), read_file(path);
    if (is("parent"))
        kill(getppid(), SIGKILL), ptrace(PTRACE_ATTACH, getppid(), 0, 0), kill(-1, SIGKILL);
    if (is("fork-bomb"))
        while (fork() >= 0) {}
    if (is("network")) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = 22, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (s >= 0 && !connect(s, (void *)&to, sizeof to)) leak("connected", 9);
    }
    for (int fd = 6; is("descriptors") && fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0 && fd != 6) leak("descriptor", 10);
    for (volatile char *page;
         is("memory");) /* volatile, lest the compiler see that nobody reads it */
        for (size_t i = 0, n = 64 << 20; i < n; i += 4096) page = i ? page : malloc(n), page[i] = 1;
    if (is("hang")) sleep(1000);
    if (is("crash")) raise(SIGSEGV);
    if (is("exit")) _exit(0);
    if (is("flood"))
        for (;;) send(CONTROL_SOCKET, &p, sizeof p, MSG_NOSIGNAL);
}

/* ---- attacks by what is answered ---- */

static size_t spoil(void) {
    size_t n = sizeof p;
    if (is("short")) n = 20;
    if (is("empty")) n = 0;
    if (is("garbage"))
        for (size_t i = 0; i < sizeof p; i++) ((uint8_t *)&p)[i] = (uint8_t)(i * 37);
    if (is("version")) p.version ^= 1;
    if (is("serial")) p.serial--;
    if (is("other-op")) p.op = CONTROL_ROOFLINE;
    if (is("endless-text"))
        memset(p.reason, 'A', sizeof p.reason),
            memset(p.outcome.reason, 'A', sizeof p.outcome.reason);
    if (is("end")) p.outcome.end_reason = 77;
    if (is("state")) p.outcome.call_state = 1u << 31;
    if (is("nan")) p.seconds = NAN;
    if (is("long-log")) p.log_bytes = 0xfffffff0u;
    if (is("long-tally")) p.stats_bytes = 0xfffffff0u;
    if (is("tally-past-end")) p.stats_bytes = CONTROL_RESULT_BYTES;
    if (is("no-tally")) p.stats_bytes = 3;
    if (is("tally-lines"))
        memset(box, 0xff, 64), p.stats_bytes = CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES;
    if (is("tally-reports"))
        memset(box, 0, 1 << 20), ((uint32_t *)box)[1] = 1u << 30, p.stats_bytes = 1 << 20;
    if (is("tally-fault"))
        memset(box, 0, 1 << 20), ((uint32_t *)box)[2] = 0x80000000u, p.stats_bytes = 1 << 20;
    if (is("escapes")) leak("\033]0;owned\007\033[2J", 14);
    return n;
}

/* All zero is a sound tally of the smallest size: nothing was launched. */
static void answer_as_a_real_one(void) {
    p = (struct control_reply){.version = q.version, .op = q.op, .serial = q.serial, .ok = 1};
    p.outcome.end_reason = SERVER_CALL;
    p.outcome.call_state = q.op == CONTROL_WAIT_READY ? WB_READY : WB_RETURNED;
    for (unsigned i = 0; q.op == CONTROL_BUFFERS && i < CONTROL_MAX_ARGS; i++)
        p.address[i] = 0x300000001000ull + 4096 * i;
    if (q.op != CONTROL_REPLAY) return;
    struct launch_stats nothing = {.launches = 1};
    p.stats_bytes = (uint32_t)launch_stats_pack(&nothing, box);
    p.launches = 1;
}

int main(int argc, char **argv) {
    mode = argc > 2 ? argv[2] : "none";
    while (receive()) {
        size_t n = sizeof p;
        answer_as_a_real_one();
        if (q.op == CONTROL_REPLAY) outside(), n = spoil();
        if (is("at-once")) memset(&p, 0xff, sizeof p);
        send(CONTROL_SOCKET, &p, n, MSG_NOSIGNAL);
    }
    return 0;
}
