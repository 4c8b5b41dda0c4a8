/* hostile_device.c — stands in for build/libexec/device and does its worst: what a device process
 * could do that a submission has taken over. Its second argument says what. Up to the message that
 * it spoils, it answers as a real one would. */
#include "grader/server/control.h"
#include "grader/server/launch_stats.h"

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

static struct control_request request;
static struct control_reply reply;
static uint8_t *result_area;
static const char *mode;

static bool has_mode(const char *name) { return !strcmp(mode, name); }

static void map_case(int fd) {
    result_area =
        mmap(NULL, request.u.buffers.file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static bool receive(void) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&request, sizeof request};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    if (recvmsg(CONTROL_SOCKET, &m, 0) != sizeof request) return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fd = -1;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(c), sizeof fd);
    if (request.op == CONTROL_BUFFERS) map_case(fd);
    return true;
}

/* ---- attacks on what is outside: none may work; what is found would be told as device printf ----
 */

static void send_log(const char *text, size_t n) {
    if (n > 1000) n = 1000;
    memcpy(result_area + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES, text, n);
    reply.log_bytes = (uint32_t)n;
}

static void read_file(const char *path) {
    static char text[1000];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (n > 0) send_log(text, (size_t)n);
}

static void try_outside_access(void) {
    char path[64];
    if (has_mode("secret-file"))
        read_file("/tmp/warpbook-secret"), read_file("/work/warpbook-secret");
    if (has_mode("grader-memory"))
        for (int pid = 1; pid < 4; pid++)
            snprintf(path, sizeof path, "/proc/%d/environ", pid), read_file(path);
    if (has_mode("parent"))
        kill(getppid(), SIGKILL), ptrace(PTRACE_ATTACH, getppid(), 0, 0), kill(-1, SIGKILL);
    if (has_mode("fork-bomb"))
        while (fork() >= 0) {}
    if (has_mode("network")) {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in to = {
            .sin_family = AF_INET, .sin_port = 22, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        if (s >= 0 && !connect(s, (void *)&to, sizeof to)) send_log("connected", 9);
    }
    for (int fd = 6; has_mode("descriptors") && fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0 && fd != 6) send_log("descriptor", 10);
    for (volatile char *page; has_mode(
             "memory");) /* volatile, so that the compiler keeps it although nothing reads it */
        for (size_t i = 0, n = 64 << 20; i < n; i += 4096) page = i ? page : malloc(n), page[i] = 1;
    if (has_mode("hang")) sleep(1000);
    if (has_mode("crash")) raise(SIGSEGV);
    if (has_mode("exit")) _exit(0);
    if (has_mode("flood"))
        for (;;) send(CONTROL_SOCKET, &reply, sizeof reply, MSG_NOSIGNAL);
}

/* ---- attacks by what is answered ---- */

static size_t corrupt_reply(void) {
    size_t n = sizeof reply;
    if (has_mode("short")) n = 20;
    if (has_mode("empty")) n = 0;
    if (has_mode("garbage"))
        for (size_t i = 0; i < sizeof reply; i++) ((uint8_t *)&reply)[i] = (uint8_t)(i * 37);
    if (has_mode("version")) reply.version ^= 1;
    if (has_mode("serial")) reply.serial--;
    if (has_mode("other-op")) reply.op = CONTROL_ROOFLINE;
    if (has_mode("endless-text"))
        memset(reply.reason, 'A', sizeof reply.reason),
            memset(reply.outcome.reason, 'A', sizeof reply.outcome.reason);
    if (has_mode("end")) reply.outcome.end_reason = 77;
    if (has_mode("state")) reply.outcome.call_state = 1u << 31;
    if (has_mode("nan")) reply.seconds = NAN;
    if (has_mode("long-log")) reply.log_bytes = 0xfffffff0u;
    if (has_mode("long-tally")) reply.stats_bytes = 0xfffffff0u;
    if (has_mode("tally-past-end")) reply.stats_bytes = CONTROL_RESULT_BYTES;
    if (has_mode("no-tally")) reply.stats_bytes = 3;
    if (has_mode("tally-lines"))
        memset(result_area, 0xff, 64), reply.stats_bytes = CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES;
    if (has_mode("tally-reports"))
        memset(result_area, 0, 1 << 20), ((uint32_t *)result_area)[1] = 1u << 30,
                                                    reply.stats_bytes = 1 << 20;
    if (has_mode("tally-fault"))
        memset(result_area, 0, 1 << 20), ((uint32_t *)result_area)[2] = 0x80000000u,
                                                    reply.stats_bytes = 1 << 20;
    if (has_mode("escapes")) send_log("\033]0;owned\007\033[2J", 14);
    return n;
}

/* All zero is a sound tally of the smallest size: nothing was launched. */
static void fill_valid_reply(void) {
    reply = (struct control_reply){
        .version = request.version, .op = request.op, .serial = request.serial, .ok = 1};
    reply.outcome.end_reason = SERVER_CALL_FAILED;
    reply.outcome.call_state = request.op == CONTROL_WAIT_READY ? WB_READY : WB_RETURNED;
    for (unsigned i = 0; request.op == CONTROL_BUFFERS && i < CONTROL_MAX_ARGS; i++)
        reply.address[i] = 0x300000001000ull + 4096 * i;
    if (request.op != CONTROL_REPLAY) return;
    struct launch_stats empty = {.launches = 1};
    reply.stats_bytes = (uint32_t)launch_stats_pack(&empty, result_area);
    reply.launches = 1;
}

int main(int argc, char **argv) {
    mode = argc > 2 ? argv[2] : "none";
    while (receive()) {
        size_t n = sizeof reply;
        fill_valid_reply();
        if (request.op == CONTROL_REPLAY) try_outside_access(), n = corrupt_reply();
        if (has_mode("at-once")) memset(&reply, 0xff, sizeof reply);
        send(CONTROL_SOCKET, &reply, n, MSG_NOSIGNAL);
    }
    return 0;
}
