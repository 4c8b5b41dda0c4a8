/* channel.c — the server's end of the socket and the window, called by server.c. Nothing blocks
 * beyond a deadline. */
#include "grader/server/internal.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

double server_now(void) { return clock_seconds(); }

int server_shared_memory(const char *name, uint64_t bytes, struct err *e) {
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bool ok = fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
    if (ok) return fd;
    err_set(e, ERR_SYSTEM, "cannot create %llu bytes of shared memory: %s",
            (unsigned long long)bytes, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

/* In the file of a program's window, the memory that host and device share follows the window, if
 * there is any. */
static bool open_window(struct server *s, struct err *e) {
    uint64_t bytes = SERVER_WINDOW_FILE_BYTES(s->options.window_bytes);
    bool has_shared = !s->options.grading && !s->options.window_fd && s->backend->ops->map_shared;
    s->window_fd = s->options.window_fd
                       ? s->options.window_fd
                       : server_shared_memory("warpbook-window",
                                              bytes + (has_shared ? SIM_HOST_SHARED_BYTES : 0), e);
    if (s->window_fd < 0) return false;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->window_fd, 0);
    if (p == MAP_FAILED)
        return err_set(e, ERR_SYSTEM, "device server: cannot map shared memory: %s",
                       strerror(errno));
    s->window = p;
    s->progress = (struct wb_progress *)(s->window + s->options.window_bytes);
    if (has_shared) s->shared_bytes = s->backend->ops->map_shared(s->backend, s->window_fd, bytes);
    return true;
}

/* Sends the window to a client that connected by itself. */
static bool send_window(struct server *s, struct err *e) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec iov = {"w", 1};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &s->window_fd, sizeof(int));
    if (sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) return true;
    return err_set(e, ERR_SYSTEM, "device server: cannot answer a program: %s", strerror(errno));
}

bool server_channel_open(struct server *s, struct err *e) {
    int pair[2];
    if (s->options.connection_fd) {
        s->fd = s->options.connection_fd;
        return open_window(s, e) && (s->options.window_fd || send_window(s, e));
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set(e, ERR_SYSTEM, "device server: cannot create a socket: %s", strerror(errno));
    s->fd = pair[0];
    s->client_fd = pair[1];
    return open_window(s, e);
}

void server_channel_close(struct server *s) {
    if (s->window) munmap(s->window, SERVER_WINDOW_FILE_BYTES(s->options.window_bytes));
    int fds[] = {s->fd, s->client_fd, s->window_fd};
    for (unsigned i = 0; i < 3; i++)
        if (fds[i] >= 0) close(fds[i]);
}

static int poll_timeout_ms(double deadline) {
    if (!deadline) return -1;
    double remaining = deadline - server_now();
    return remaining <= 0 ? 0 : remaining > 1e6 ? -1 : (int)(remaining * 1e3) + 1;
}

/* SERVER_CALL_FAILED means that a frame has arrived. */
enum server_end_reason server_channel_receive(struct server *s, void *frame, size_t *size,
                                              double deadline, int watch) {
    for (;;) {
        ssize_t n = recv(s->fd, frame, WB_FRAME_BYTES, MSG_DONTWAIT | MSG_TRUNC);
        if (n > 0) {
            *size = (size_t)n; /* above WB_FRAME_BYTES if cut off: the caller refuses that */
            return SERVER_CALL_FAILED;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR)) return SERVER_CLOSED;
        struct pollfd p[2] = {{.fd = s->fd, .events = POLLIN}, {.fd = watch, .events = POLLIN}};
        int timeout_ms = poll_timeout_ms(deadline);
        int ready = poll(p, 2, timeout_ms);
        if (ready == 0 && deadline && server_now() >= deadline) return SERVER_DEADLINE;
        if (ready > 0 && !p[0].revents && p[1].revents) return SERVER_CLOSED;
    }
}

/* A client that never reads its replies fills the socket; it has one second to read. */
bool server_channel_send(struct server *s, const void *frame, size_t size) {
    double send_deadline = server_now() + 1;
    if (s->deadline && s->deadline < send_deadline) send_deadline = s->deadline;
    for (;;) {
        if (send(s->fd, frame, size, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
        if (errno != EAGAIN && errno != EINTR) return false;
        struct pollfd p = {.fd = s->fd, .events = POLLOUT};
        if (poll(&p, 1, poll_timeout_ms(send_deadline)) == 0 && server_now() >= send_deadline)
            return false;
    }
}
