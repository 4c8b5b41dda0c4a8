/* jail_probe.c — tries forbidden actions inside a sandbox. The grader does not use a tier in which
 * one of them succeeds. */
#include "grader/jail/jail_advice.h"
#include "grader/jail/jail_cgroup.h"
#include "grader/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct probe {
    pid_t grader_pid;
    int secret_fd; /* a descriptor of the grader that the job does not pass */
};

static bool can_open(const char *path) {
    int fd = open(path, O_RDONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool can_create(const char *path) {
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

static bool can_read_host_files(struct probe *p) {
    (void)p;
    return can_open("/etc/passwd") || can_open("/proc/self/status") || can_open("/home") ||
           can_open("/root") || can_open("/sys");
}
static bool can_write_root(struct probe *p) {
    (void)p;
    return can_create("/x") || can_create("/usr/lib/x") || can_create("/dev/x");
}
/* Tests whether the signal arrives, not what kill() returns. In a pid namespace, the grader's
 * number may be another process's if it is small, as in a container whose first process is the
 * grader. SIGURG does no harm to that process. */
static volatile sig_atomic_t signal_received;
static void on_signal(int signal) { (void)signal, signal_received = 1; }
static bool signal_grader(struct probe *p) {
    kill(p->grader_pid, SIGURG);
    return false;
}
static bool has_leaked_fd(struct probe *p) { return fcntl(p->secret_fd, F_GETFD) >= 0; }
static bool can_open_socket(struct probe *p) {
    (void)p;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static bool can_ptrace(struct probe *p) {
    (void)p;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}
static bool can_make_namespace(struct probe *p) {
    (void)p;
    return unshare(CLONE_NEWUSER) == 0;
}
static bool can_mount(struct probe *p) {
    (void)p;
    return syscall(SYS_mount, "none", "/work", "tmpfs", 0, NULL) == 0;
}
static bool can_gain_privileges(struct probe *p) {
    (void)p;
    return setuid(0) == 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}
static bool can_fork_unlimited(struct probe *p) {
    (void)p;
    for (int i = 0; i < 64; i++) {
        pid_t pid = fork();
        if (pid < 0) return false;
        if (pid == 0) pause(), _exit(0);
    }
    return true;
}
static bool cannot_write_work(struct probe *p) {
    (void)p;
    return !can_create("x");
}

static const struct {
    bool (*try)(struct probe *);
    const char *description;
} probes[] = {
    {can_read_host_files, "can read files of this machine"},
    {can_write_root, "can write outside its folder"},
    {signal_grader, "can signal the grader"}, /* check_probe_result() checks the arrival */
    {has_leaked_fd, "inherits a descriptor of the grader"},
    {can_open_socket, "can open a socket"},
    {can_ptrace, "can trace processes"},
    {can_make_namespace, "can create namespaces"},
    {can_mount, "can mount"},
    {can_gain_privileges, "can gain privileges"},
    {cannot_write_work, "cannot write to its own folder"},
    {can_fork_unlimited, "can start processes without limit"}, /* last: it fills the sandbox */
};

static int run_probes(void *data) {
    for (unsigned i = 0; i < sizeof probes / sizeof *probes; i++)
        if (probes[i].try(data)) return (int)i + 1;
    return 0;
}

static bool check_probe_result(struct jail *j, struct err *e) {
    struct jail_result r = {.outcome = JAIL_INTERNAL_ERROR};
    if (j) jail_wait(j, 5, &r);
    bool ok = j && r.outcome == JAIL_EXITED && r.code == 0 && !signal_received;
    if (signal_received) err_set(e, ERR_SYSTEM, "a sandboxed program can signal the grader");
    else if (j && r.outcome == JAIL_INTERNAL_ERROR) err_set(e, ERR_SYSTEM, "%s", r.reason);
    else if (j && r.outcome == JAIL_EXITED && r.code)
        err_set(e, ERR_SYSTEM, "a sandboxed program %s", probes[r.code - 1].description);
    else if (j && !ok) err_set(e, ERR_SYSTEM, "the probe ended unexpectedly (signal %d)", r.signal);
    jail_result_free(&r);
    return ok;
}

static bool probe_tier(enum jail_tier tier, struct err *e) {
    jail_set_tier(tier);
    struct probe p = {getpid(), 150};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), secret = fcntl(null, F_DUPFD, 150);
    p.secret_fd = secret;
    struct sigaction action = {.sa_handler = on_signal}, previous;
    signal_received = 0, sigaction(SIGURG, &action, &previous);
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .entry = run_probes,
                           .entry_data = &p,
                           .limits = {.cpu_seconds = 5,
                                      .file_bytes = 1 << 20,
                                      .work_bytes = 1 << 20,
                                      .max_processes = 16,
                                      .max_fds = 256}};
    job.binds = jail_system_binds(JAIL_HOST, &job.nbinds);
    struct jail *j = jail_start(&job, e);
    close(secret), close(null);
    bool ok = check_probe_result(j, e);
    sigaction(SIGURG, &previous, NULL);
    return ok;
}

bool jail_probe(struct err *e) {
    static const char *const names[] = {[JAIL_NAMESPACES] = "T1", [JAIL_LANDLOCK] = "T2"};
    const char *forced_tier = getenv("WARPBOOK_JAIL_TIER");
    struct buf reasons = {0};
    bool ok = jail_disabled();
    if (!ok) jail_use_cgroups(jail_cgroup_usable());
    for (int t = JAIL_NAMESPACES; !ok && t <= JAIL_LANDLOCK; t++) {
        struct err tier_err = {0};
        if (forced_tier && strcmp(forced_tier, names[t])) continue;
        ok = probe_tier(t, &tier_err);
        if (!ok)
            buf_printf(&reasons, "%s%s: %.110s", reasons.size ? "; " : "", names[t], tier_err.text);
    }
    struct buf advice = {0};
    jail_advice(&advice, "", jail_landlock_abi());
    if (!ok)
        err_set(e, ERR_SYSTEM,
                "no sandbox works on this machine (%s).\nThe grader runs no submission without "
                "one. To allow a sandbox, do one of these:\n%s"
                "See docs/other-systems.md",
                buf_str(&reasons), buf_str(&advice));
    buf_free(&reasons), buf_free(&advice);
    return ok;
}
