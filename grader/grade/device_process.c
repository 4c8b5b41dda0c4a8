/* device_process.c — see device_process.h. */
#include "grader/grade/device_process.h"
#include "common/file.h"
#include "common/paths.h"
#include "grader/jail/jail.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Added to each request's time limit before the process is ended, so that a busy machine doesn't
 * decide. */
static const double grace_seconds = 10;
/* Resident bytes; the book's own files need less than a quarter. */
static const uint64_t max_memory = 4ull << 30;

struct device_process {
    struct jail *jail;  /* NULL: the process has ended, or a test serves it */
    int control;        /* our end; -1 = the process has ended */
    int connection;     /* the server's end of the client's connection, to close it */
    int client, window; /* the client's end of it, and the shared window for bulk data */
    uint32_t serial;
    bool connection_closed, gpu;
    char exit_reason[256];
};

static const char *test_program, *test_argument;

void device_process_set_test_program(const char *program, const char *argument) {
    test_program = program, test_argument = argument;
}

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* ---- starting ---- */

/* Device nodes of NVIDIA GPUs, and what the driver reads. All are optional: the driver reports what
 * it lacks. */
static const struct jail_bind gpu_binds[] = {
    {"/dev/nvidiactl", "/dev/nvidiactl", true},
    {"/dev/nvidia0", "/dev/nvidia0", true},
    {"/dev/nvidia-uvm", "/dev/nvidia-uvm", true},
    {"/dev/nvidia-uvm-tools", "/dev/nvidia-uvm-tools", true},
    {"/dev/nvidia-caps", "/dev/nvidia-caps", true},
    {"/sys/module", "/sys/module", true},
    {"/sys/bus/pci", "/sys/bus/pci", true},
    {"/sys/devices", "/sys/devices", true},
    {"/usr/local/nvidia", "/usr/local/nvidia", true},
};

/* What a device process is started with; the arrays point to strings of this struct. */
struct spawn_args {
    char program[PATH_MAX], carried[PATH_MAX], driver[PATH_MAX + 32], libraries[PATH_MAX + 32];
    struct jail_bind binds[32];
    const char *env[8];
    unsigned nbinds, nenv;
};

static void add_bind(struct spawn_args *a, struct jail_bind bind) { a->binds[a->nbinds++] = bind; }

static void set_binds(struct spawn_args *a, bool gpu) {
    const struct jail_bind *system = jail_system_binds(JAIL_DEVICE, &a->nbinds);
    memcpy(a->binds, system, a->nbinds * sizeof *system);
    add_bind(a, (struct jail_bind){a->program, "/device", false});
    if (file_exists(a->carried)) add_bind(a, (struct jail_bind){a->carried, "/lib-carry", false});
    for (unsigned i = 0; gpu && i < sizeof gpu_binds / sizeof *gpu_binds; i++)
        add_bind(a, gpu_binds[i]);
}

static void set_environment(struct spawn_args *a, bool gpu) {
    const char *driver = gpu ? getenv("WARPBOOK_LIBCUDA") : NULL; /* for tests */
    const char *path = gpu ? getenv("LD_LIBRARY_PATH") : NULL;
    a->env[a->nenv++] = "LC_ALL=C.UTF-8";
    if (driver) {
        snprintf(a->driver, sizeof a->driver, "WARPBOOK_LIBCUDA=%s", driver);
        a->env[a->nenv++] = a->driver;
        add_bind(a, (struct jail_bind){driver, driver, true});
    }
    snprintf(a->libraries, sizeof a->libraries, "LD_LIBRARY_PATH=/lib-carry%s%s", path ? ":" : "",
             path ? path : "");
    a->env[a->nenv++] = a->libraries;
#ifdef __SANITIZE_ADDRESS__
    a->env[a->nenv++] = "WARPBOOK_DEVICE_UNLOCKED=1"; /* the sanitizer's runtime reads files */
#endif
    /* --no-jail must not depend on kernel features (docs/security.md): the process restricts itself
     * only as far as possible. */
    if (jail_disabled()) a->env[a->nenv++] = "WARPBOOK_DEVICE_LOCK_MAY_FAIL=1";
    if (jail_disabled() && getenv("SIMGPU_NATIVE")) a->env[a->nenv++] = "SIMGPU_NATIVE=1";
}

static bool set_program(struct spawn_args *a, bool gpu, struct err *e) {
    if (test_program) snprintf(a->program, sizeof a->program, "%s", test_program);
    else paths_component("device", a->program);
    paths_component("carry", a->carried);
    if (gpu && jail_current_tier() == JAIL_LANDLOCK)
        return err_set(
            e, ERR_SYSTEM,
            "the GPU's driver needs a sandbox with namespaces (T1), which this machine does not "
            "support; allow unprivileged user namespaces, or measure your own code with --no-jail");
    return file_exists(a->program) ||
           err_set(e, ERR_SYSTEM, "%s is missing; run `make`", a->program);
}

static bool spawn_process(struct device_process *d, const struct device_process_options *o,
                          int control, struct err *e) {
    struct spawn_args a = {.nenv = 0};
    const char *argv[] = {"/device", o->gpu ? "gpu" : "sim", test_argument, NULL};
    if (!set_program(&a, o->gpu, e)) return false;
    set_binds(&a, o->gpu), set_environment(&a, o->gpu);
    struct jail_fd fds[] = {
        {control, CONTROL_SOCKET}, {d->connection, CONTROL_CLIENT}, {d->window, CONTROL_WINDOW}};
    struct jail_job job = {.kind = o->gpu ? JAIL_GPU : JAIL_DEVICE,
                           .argv = argv,
                           .env = a.env,
                           .binds = a.binds,
                           .nbinds = a.nbinds,
                           .fds = fds,
                           .nfds = o->no_client ? 1 : 3,
                           .mounts_proc = o->gpu,
                           .limits = {.cpu_seconds = 3600,
                                      .memory_bytes = max_memory,
                                      .file_bytes = 4ull << 30,
                                      .work_bytes = 1 << 20,
                                      .max_processes = 1024,
                                      .max_fds = 256}};
    d->jail = jail_start(&job, e);
    return d->jail;
}

static bool make_connection(struct device_process *d, struct err *e) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return err_set(e, ERR_SYSTEM, "cannot create a socket: %s", strerror(errno));
    d->connection = pair[0], d->client = pair[1];
    d->window =
        server_shared_memory("warpbook-window", SERVER_WINDOW_FILE_BYTES(SERVER_WINDOW_BYTES), e);
    return d->window >= 0;
}

struct device_process *device_process_start(const struct device_process_options *o, struct err *e) {
    struct device_process *d = xcalloc(1, sizeof *d);
    int pair[2] = {-1, -1};
    d->control = d->connection = d->client = d->window = -1;
    d->gpu = o->gpu;
    bool ok = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0 ||
              err_set(e, ERR_SYSTEM, "cannot create a socket: %s", strerror(errno));
    d->control = pair[0];
    ok = ok && (o->no_client || make_connection(d, e)) && spawn_process(d, o, pair[1], e);
    close_fd(&pair[1]);
    if (ok) return d;
    device_process_close(d);
    return NULL;
}

struct device_process *device_process_attach(int control) {
    struct device_process *d = xcalloc(1, sizeof *d);
    d->control = control;
    d->connection = d->client = d->window = -1;
    return d;
}

int device_process_client_socket(const struct device_process *d) { return d->client; }
int device_process_client_window(const struct device_process *d) { return d->window; }
void device_process_close_client_fds(struct device_process *d) {
    close_fd(&d->client), close_fd(&d->window);
}

/* ---- ending ---- */

static enum device_outcome set_exit_reason(struct device_process *d, enum device_outcome outcome,
                                           const char *text) {
    if (text) snprintf(d->exit_reason, sizeof d->exit_reason, "%.255s", text);
    return outcome;
}

/* Ends the process; if it crashed, its sandbox tells how. */
static enum device_outcome end_process(struct device_process *d, enum device_outcome outcome) {
    struct jail_result r = {0};
    bool was_jailed = d->jail;
    if (d->jail) jail_wait(d->jail, outcome == DEVICE_CRASHED ? 1 : 0, &r);
    d->jail = NULL;
    close_fd(&d->control);
    if (outcome == DEVICE_CRASHED && was_jailed) {
        if (r.outcome == JAIL_VIOLATION)
            outcome =
                set_exit_reason(d, DEVICE_SECCOMP_VIOLATION, "a system call that it doesn't need");
        else if (r.outcome == JAIL_MEMORY_LIMIT)
            outcome = set_exit_reason(d, DEVICE_OUT_OF_MEMORY, NULL);
        else if (r.outcome == JAIL_SYSTEM_OOM ||
                 (r.outcome == JAIL_SIGNALLED && r.signal == SIGKILL))
            outcome = set_exit_reason(d, DEVICE_REFUSED,
                                      "the system killed the device process: out of memory");
        else if (r.outcome == JAIL_SIGNALLED) set_exit_reason(d, outcome, strsignal(r.signal));
        else if (r.outcome == JAIL_INTERNAL_ERROR)
            outcome = set_exit_reason(d, DEVICE_REFUSED, r.reason);
        else
            snprintf(d->exit_reason, sizeof d->exit_reason, "exit status %d %.200s", r.code,
                     buf_str(&r.output));
    }
    jail_result_free(&r);
    return outcome;
}

const char *device_process_exit_reason(const struct device_process *d) { return d->exit_reason; }

void device_process_close(struct device_process *d) {
    if (!d) return;
    struct jail_result r = {0};
    if (d->control >= 0) shutdown(d->control, SHUT_RDWR); /* forked processes may hold a copy */
    close_fd(&d->control), close_fd(&d->connection), close_fd(&d->client), close_fd(&d->window);
    if (d->jail) jail_wait(d->jail, d->gpu ? 5 : 0, &r); /* time to destroy the GPU's context */
    jail_result_free(&r);
    free(d);
}

/* ---- requests ---- */

static bool send_request(const struct device_process *d, struct control_request *q, int fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {q, sizeof *q};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = &control, m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(d->control, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *q;
}

static bool is_terminated(const char *s, size_t size) { return memchr(s, 0, size); }

/* Returns true if the reply is valid in form: terminated texts, numbers in range. The caller checks
 * their meaning. */
static bool is_valid_reply(const struct control_request *q, const struct control_reply *p,
                           ssize_t n) {
    const struct control_outcome *o = &p->outcome;
    return n == sizeof *p && p->version == control_version() && p->op == q->op &&
           p->serial == q->serial && is_terminated(p->reason, sizeof p->reason) &&
           is_terminated(o->text, sizeof o->text) &&
           is_terminated(o->call_name, sizeof o->call_name) &&
           is_terminated(o->reason, sizeof o->reason) &&
           is_terminated(o->api_call, sizeof o->api_call) &&
           is_terminated(o->file, sizeof o->file) &&
           is_terminated(p->compiled_by, sizeof p->compiled_by) &&
           is_terminated(p->leak_text, sizeof p->leak_text) &&
           o->end_reason <= SERVER_CALL_FAILED && o->call_state < WB_CALL_STATE_COUNT &&
           p->seconds == p->seconds && p->log_bytes <= CONTROL_LOG_BYTES &&
           p->stats_bytes <= CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES;
}

static enum device_outcome receive_reply(struct device_process *d, const struct control_request *q,
                                         struct control_reply *p) {
    ssize_t n = recv(d->control, p, sizeof *p, MSG_DONTWAIT | MSG_TRUNC);
    if (n <= 0) return end_process(d, DEVICE_CRASHED);
    if (!is_valid_reply(q, p, n)) return end_process(d, DEVICE_PROTOCOL_ERROR);
    return p->ok ? DEVICE_REPLIED : set_exit_reason(d, DEVICE_REFUSED, p->reason);
}

/* The client has died: the server still serves what it sent, then finds the connection closed. */
static void close_connection(struct device_process *d, int *watch) {
    if (!d->connection_closed) shutdown(d->connection, SHUT_RDWR);
    d->connection_closed = true;
    *watch = -1;
}

struct wait_limit {
    double start, soft, hard; /* on the wall; soft and hard: until when */
    double used, waited;      /* processor time before */
};

static struct wait_limit begin_wait(const struct device_process *d,
                                    const struct control_request *q) {
    bool is_replay = d->jail && q->op == CONTROL_REPLAY;
    struct wait_limit p = {.start = server_now()};
    p.soft = p.start + grace_seconds + q->time_limit_seconds;
    p.hard = p.soft + (is_replay ? CONTROL_WALL_FACTOR - 1 : 0) * q->time_limit_seconds;
    if (is_replay) jail_processor_seconds(d->jail, &p.used, &p.waited);
    return p;
}

/* The process limits itself (control.h), and this is for one that doesn't. It gets more time on a
 * busy machine only: while its threads compute or wait for a processor most of the time, and
 * haven't used what a quiet machine could have given them. */
static bool is_out_of_time(const struct device_process *d, const struct wait_limit *p) {
    double now = server_now(), used, waited, cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (now <= p->soft || now > p->hard) return now > p->hard;
    jail_processor_seconds(d->jail, &used, &waited);
    used -= p->used, waited -= p->waited;
    return used > (p->soft - p->start) * fmax(cores, 1) || used + waited < (now - p->start) / 2;
}

enum device_outcome device_process_call(struct device_process *d, struct control_request *q, int fd,
                                        int watch, struct control_reply *p) {
    if (d->control < 0) return DEVICE_CRASHED;
    q->version = control_version(), q->serial = ++d->serial;
    struct wait_limit limit = begin_wait(d, q);
    if (!send_request(d, q, fd)) return end_process(d, DEVICE_CRASHED);
    for (;;) {
        struct pollfd f[2] = {{.fd = d->control, .events = POLLIN},
                              {.fd = watch, .events = POLLIN}};
        poll(f, 2, 50);
        if (f[0].revents) return receive_reply(d, q, p);
        if (f[1].revents) close_connection(d, &watch);
        if (d->jail && jail_resident_bytes(d->jail) > max_memory)
            return end_process(d, DEVICE_OUT_OF_MEMORY);
        if (is_out_of_time(d, &limit)) return end_process(d, DEVICE_TIMEOUT);
    }
}
