/* client.c — the connection to the device server. All state of the connection is here. The
 * grader's host process exports these functions, so the student's object shares its connection. */
#include "grader/runtime/client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static struct wb_session session;
static int session_error = -1; /* -1 = not tried yet */
static pid_t session_pid;
static int socket_fd = -1, window_fd = -1;
static uint32_t last_seq;
static struct wb_progress *progress;
static uint64_t time_ns;
static bool output_pending;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static _Thread_local int request_error; /* by the device, which has printed the reason */

int wb_take_request_error(void) {
    int error = request_error;
    request_error = 0;
    return error;
}

static _Thread_local unsigned current_device;

unsigned wb_current_device(void) { return current_device; }
unsigned wb_exchange_device(unsigned device) {
    unsigned before = current_device;
    current_device = device;
    return before;
}

void wb_lock(void) { pthread_mutex_lock(&lock); }
void wb_unlock(void) { pthread_mutex_unlock(&lock); }
uint64_t wb_time_ns(void) { return time_ns; }
bool wb_output_pending(void) { return output_pending; }

static int handle_disconnect(const struct wb_call *c) {
    static bool reported;
    if (c->op == WB_OP_next_call) _exit(0); /* no more entries to call */
    if (!reported) fprintf(stderr, "warpbook: lost the connection to the device server\n");
    reported = true;
    if (session.grading) _exit(1);
    return WB_cudaErrorDevicesUnavailable;
}

uint32_t wb_last_seq(void) { return last_seq; }
bool wb_is_done(uint32_t seq) {
    return !progress ||
           (int32_t)(atomic_load_explicit(&progress->done_seq, memory_order_acquire) - seq) >= 0;
}
int wb_sticky_error(void) {
    return progress ? (int)atomic_load_explicit(&progress->error, memory_order_relaxed) : 0;
}

/* All copies of this runtime in the process share one sequence of numbers, so replies to an earlier
 * process are recognized. */
static uint32_t next_seq(void) {
    uint32_t first_seq = (uint32_t)session_pid << 8;
    return last_seq =
               progress ? first_seq + 1 + atomic_fetch_add(&progress->next_seq, 1) : first_seq;
}

bool wb_wait_done(uint32_t seq, void (*backoff)(unsigned round)) {
    struct pollfd p = {.fd = socket_fd};
    for (unsigned attempt = 0; !wb_is_done(seq); attempt++) {
        if (attempt % 64 == 63 && poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR))
            return wb_is_done(seq);
        backoff(attempt);
    }
    return true;
}

static bool send_frame(const struct wb_call *c, uint32_t seq, uint32_t flags) {
    struct wb_header h = {.op = c->op, .seq = seq, .flags = flags, .device = current_device};
    h.size = (uint32_t)(sizeof h + c->request_size + c->tail_size);
    struct iovec iov[] = {
        {&h, sizeof h}, {(void *)c->request, c->request_size}, {(void *)c->tail, c->tail_size}};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = 3};
    while (sendmsg(socket_fd, &m, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) return false;
    return true;
}

static int decode_reply(struct wb_call *c, const uint8_t *frame, size_t size) {
    const struct wb_header *h = (const void *)frame;
    time_ns = h->time_ns;
    output_pending = h->flags & WB_OUTPUT_PENDING;
    if (c->reply_size) memset(c->reply, 0, c->reply_size);
    c->out_size = 0;
    if (h->status) return request_error = (int)h->status;
    if (size < sizeof *h + c->reply_size) return handle_disconnect(c);
    if (c->reply_size) memcpy(c->reply, frame + sizeof *h, c->reply_size);
    c->out_size = size - sizeof *h - c->reply_size;
    if (c->out_size > c->out_capacity) c->out_size = c->out_capacity;
    if (c->out_size) memcpy(c->out, frame + sizeof *h + c->reply_size, c->out_size);
    return 0;
}

static int exchange_locked(struct wb_call *c) {
    _Alignas(8) uint8_t frame[WB_FRAME_BYTES];
    const struct wb_header *h = (const void *)frame;
    uint32_t seq = next_seq();
    if (!send_frame(c, seq, 0)) return handle_disconnect(c);
    for (;;) {
        ssize_t n = recv(socket_fd, frame, sizeof frame, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < (ssize_t)sizeof *h) return handle_disconnect(c);
        if (h->op == c->op && h->seq == seq) return decode_reply(c, frame, (size_t)n);
    }
}

static int env_fd(const char *variable) {
    const char *text = getenv(variable);
    return text && *text >= '0' && *text <= '9' ? atoi(text) : -1;
}

static int report_no_device(const char *reason) {
    fprintf(stderr,
            "warpbook: no device (%s): start this program with `build/simgpu run PROGRAM`\n",
            reason);
    return WB_cudaErrorNoDevice;
}

/* ---- where the two descriptors come from ---- */

/* Another copy of this runtime in the same process, in a library that was loaded later, has
 * connected already. */
static bool reuse_connection(void) {
    int pid, fd, window;
    unsigned long long inode;
    struct stat st;
    const char *text = getenv(WB_ENV_CONNECTED);
    if (!text || sscanf(text, "%d %d %d %llu", &pid, &fd, &window, &inode) != 4 || pid != getpid())
        return false;
    if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode) || st.st_ino != inode)
        return false; /* from before an exec */
    socket_fd = fd;
    window_fd = window;
    return true;
}

static void publish_connection(void) {
    char text[96];
    struct stat st;
    if (fstat(socket_fd, &st) < 0) return;
    snprintf(text, sizeof text, "%d %d %d %llu", getpid(), socket_fd, window_fd,
             (unsigned long long)st.st_ino);
    setenv(WB_ENV_CONNECTED, text, 1);
}

union cmsg_buffer {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_descriptor(int to, int fd) {
    union cmsg_buffer cmsg = {0};
    struct iovec iov = {"c", 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg, .msg_controllen = sizeof cmsg};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(to, &m, MSG_NOSIGNAL) == 1;
}

static int receive_descriptor(int from) {
    union cmsg_buffer cmsg;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg, .msg_controllen = sizeof cmsg};
    int fd = -1;
    if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1) return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* Seconds that a reply may take; 0 = no limit, because a kernel may run that long. */
enum { HANDSHAKE_TIMEOUT_SECONDS = 60 };
static void set_receive_timeout(int seconds) {
    setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = seconds},
               sizeof(struct timeval));
}

static _Noreturn void exit_version_mismatch(void) {
    fprintf(stderr, "warpbook: this program and the device server are of different versions: "
                    "rebuild the program with "
                    "`build/simgpu nvcc`\n");
    _exit(3);
}

static int request_connection(int listener_fd) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return report_no_device("no socket");
    bool sent = send_descriptor(listener_fd, pair[1]);
    close(pair[1]);
    socket_fd = pair[0];
    set_receive_timeout(HANDSHAKE_TIMEOUT_SECONDS);
    window_fd = sent ? receive_descriptor(socket_fd) : -1;
    if (window_fd < 0) return report_no_device("the device server does not respond");
    publish_connection();
    return 0;
}

static int find_connection(void) {
    struct stat st;
    int fd = env_fd(WB_ENV_SOCKET), type = 0;
    socklen_t size = sizeof type;
    if (fd < 0) return report_no_device(WB_ENV_SOCKET " is not set");
    if (fstat(fd, &st) < 0 || !S_ISSOCK(st.st_mode))
        return report_no_device(WB_ENV_SOCKET " is not a socket");
    window_fd = env_fd(WB_ENV_WINDOW);
    socket_fd = fd;
    if (window_fd >= 0 || reuse_connection()) return 0;
    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
    return type == SOCK_DGRAM ? request_connection(fd) : report_no_device("no shared memory");
}

static int map_window(uint64_t bytes, uint64_t shared) {
    struct stat st;
    uint64_t total = bytes + WB_PROGRESS_BYTES;
    if (fstat(window_fd, &st) < 0 || (uint64_t)st.st_size < total + shared)
        return report_no_device("no shared memory");
    void *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, window_fd, 0);
    if (p == MAP_FAILED) return report_no_device("cannot map the shared memory");
    session.window = p;
    session.window_bytes = bytes;
    session.shared_bytes = shared;
    session.shared_fd = window_fd;
    session.shared_offset = total;
    progress = (struct wb_progress *)(session.window + bytes);
    return 0;
}

static int connect_locked(void) {
    session_pid = getpid();
    int error = find_connection();
    if (error) return error;
    struct wb_req_hello q = {.version = wb_version(), .pid = (uint32_t)session_pid};
    struct wb_rep_hello p;
    struct wb_call c = {.op = WB_OP_hello,
                        .request = &q,
                        .request_size = sizeof q,
                        .reply = &p,
                        .reply_size = sizeof p};
    set_receive_timeout(HANDSHAKE_TIMEOUT_SECONDS);
    error = exchange_locked(&c);
    set_receive_timeout(0);
    if (error == WB_cudaErrorInsufficientDriver) exit_version_mismatch();
    if (error) return error;
    session.base = p.base;
    session.span = p.span;
    session.grading = p.grading;
    session.sanitize = p.sanitize;
    session.ndevices = p.ndevices ? p.ndevices : 1;
    session.link = p.link;
    return map_window(p.window_bytes, p.shared_bytes);
}

const struct wb_session *wb_session(int *error) {
    wb_lock();
    if (session_error < 0) session_error = connect_locked();
    *error = session_error;
    wb_unlock();
    return session_error ? NULL : &session;
}

/* As on a GPU, a forked child cannot use its parent's context. */
static int check_session(void) {
    int error;
    if (!wb_session(&error)) return error;
    return getpid() == session_pid ? 0 : WB_cudaErrorInitializationError;
}

static atomic_bool context_active;
bool wb_context_is_active(void) {
    return atomic_load_explicit(&context_active, memory_order_relaxed);
}
void wb_activate_context(void) {
    atomic_store_explicit(&context_active, true, memory_order_relaxed);
}

static _Thread_local struct {
    wb_call_sink *call;
    void *user;
} sink;
void wb_set_call_sink(wb_call_sink *call, void *user) { sink.call = call, sink.user = user; }
bool wb_has_call_sink(void) { return sink.call; }

static bool goes_to_sink(const struct wb_call *c) {
    return sink.call && (c->op == WB_OP_launch || c->op == WB_OP_copy || c->op == WB_OP_fill ||
                         c->op == WB_OP_write);
}

int wb_send(const struct wb_call *c) {
    wb_activate_context();
    if (goes_to_sink(c)) return sink.call(c, sink.user);
    int error = check_session();
    if (!error) error = wb_sticky_error(); /* as the answer would be */
    if (error) return error;
    wb_lock();
    if (!send_frame(c, next_seq(), WB_ONE_WAY)) error = handle_disconnect(c);
    wb_unlock();
    return error;
}

int wb_exchange(struct wb_call *c) {
    if (goes_to_sink(c)) return sink.call(c, sink.user);
    if (c->op != WB_OP_device_info && c->op != WB_OP_memory_info) wb_activate_context();
    int error = check_session();
    if (error) return error;
    wb_lock();
    error = exchange_locked(c);
    wb_unlock();
    return error;
}

/* ---- what is lent ---- */

/* Set between calls of entries, by the thread that makes them. */
enum { MAX_HOST_BUFFERS = 64 };
static struct { _Atomic uint64_t start, bytes; } host_buffers[MAX_HOST_BUFFERS];
static _Atomic unsigned nhost_buffers;

void wb_set_host_buffer(uint64_t start, uint64_t bytes) {
    unsigned i = 0;
    bool is_new = bytes > 0;
    while (i < MAX_HOST_BUFFERS &&
           !(is_new ? !host_buffers[i].bytes
                    : host_buffers[i].bytes && host_buffers[i].start == start))
        i++;
    if (i == MAX_HOST_BUFFERS) return;
    host_buffers[i].start = start;
    host_buffers[i].bytes = bytes;
    if (is_new) nhost_buffers++;
    else nhost_buffers--;
}

bool wb_find_host_buffer(uint64_t address, uint64_t *start, uint64_t *bytes) {
    for (unsigned i = 0; nhost_buffers && i < MAX_HOST_BUFFERS; i++) {
        *start = host_buffers[i].start, *bytes = host_buffers[i].bytes;
        if (address - *start < *bytes) return true;
    }
    return false;
}

bool wb_has_host_buffers(void) { return nhost_buffers; }
