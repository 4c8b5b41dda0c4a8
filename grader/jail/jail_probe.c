/* jail_probe.c — tries, inside a jail, what must not work there. A jail that lets one through is
 * not used. */
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
    pid_t grader;
    int secret; /* a descriptor of the grader that was not passed */
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

static bool sees_files(struct probe *p) {
    (void)p;
    return can_open("/etc/passwd") || can_open("/proc/self/status") || can_open("/home") ||
           can_open("/root") || can_open("/sys");
}
static bool writes_root(struct probe *p) {
    (void)p;
    return can_create("/x") || can_create("/usr/lib/x") || can_create("/dev/x");
}
/* Not by what kill() returns: a jail with process numbers of its own has another process by the
 * grader's where that is small, as in a container, whose first process the grader may be. What
 * arrives counts; it does nothing to another process. */
static volatile sig_atomic_t reached;
static void arrives(int signal) { (void)signal, reached = 1; }
static bool signals_grader(struct probe *p) {
    kill(p->grader, SIGURG);
    return false;
}
static bool has_descriptor(struct probe *p) { return fcntl(p->secret, F_GETFD) >= 0; }
static bool opens_socket(struct probe *p) {
    (void)p;
    return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}
static bool traces(struct probe *p) {
    (void)p;
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}
static bool makes_namespace(struct probe *p) {
    (void)p;
    return unshare(CLONE_NEWUSER) == 0;
}
static bool mounts(struct probe *p) {
    (void)p;
    return syscall(SYS_mount, "none", "/work", "tmpfs", 0, NULL) == 0;
}
static bool gains_privileges(struct probe *p) {
    (void)p;
    return setuid(0) == 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}
static bool forks_freely(struct probe *p) {
    (void)p;
    for (int i = 0; i < 64; i++) {
        pid_t pid = fork();
        if (pid < 0) return false;
        if (pid == 0) pause(), _exit(0);
    }
    return true;
}
static bool cannot_work(struct probe *p) {
    (void)p;
    return !can_create("x");
}

static const struct {
    bool (*try)(struct probe *);
    const char *what;
} attempts[] = {
    {sees_files, "reads files of this machine"},
    {writes_root, "writes outside its folder"},
    {signals_grader, "signals the grader"}, /* judge() looks whether that arrived */
    {has_descriptor, "keeps a descriptor of the grader"},
    {opens_socket, "opens a socket"},
    {traces, "traces processes"},
    {makes_namespace, "makes namespaces"},
    {mounts, "mounts"},
    {gains_privileges, "gains privileges"},
    {cannot_work, "cannot write its own folder"},
    {forks_freely, "starts processes without limit"}, /* last: it fills the jail */
};

static int inside(void *data) {
    for (unsigned i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if (attempts[i].try(data)) return (int)i + 1;
    return 0;
}

static bool judge(struct jail *j, struct err *e) {
    struct jail_result r = {.end = JAIL_BROKEN};
    if (j) jail_wait(j, 5, &r);
    bool ok = j && r.end == JAIL_EXITED && r.code == 0 && !reached;
    if (reached) err_set(e, ERR_SYSTEM, "a jailed program reaches the grader's process");
    else if (j && r.end == JAIL_BROKEN) err_set(e, ERR_SYSTEM, "%s", r.why);
    else if (j && r.end == JAIL_EXITED && r.code)
        err_set(e, ERR_SYSTEM, "a jailed program %s", attempts[r.code - 1].what);
    else if (j && !ok)
        err_set(e, ERR_SYSTEM, "the probe ended in an unexpected way (%d)", r.signal);
    jail_result_free(&r);
    return ok;
}

static bool holds(enum jail_tier tier, struct err *e) {
    jail_choose(tier);
    struct probe p = {getpid(), 150};
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), secret = fcntl(null, F_DUPFD, 150);
    p.secret = secret;
    struct sigaction listen = {.sa_handler = arrives}, before;
    reached = 0, sigaction(SIGURG, &listen, &before);
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .inside = inside,
                           .inside_data = &p,
                           .limits = {.cpu_seconds = 5,
                                      .file_bytes = 1 << 20,
                                      .work_bytes = 1 << 20,
                                      .processes = 16,
                                      .files = 256}};
    job.binds = jail_system_binds(JAIL_HOST, &job.nbinds);
    struct jail *j = jail_start(&job, e);
    close(secret), close(null);
    bool ok = judge(j, e);
    sigaction(SIGURG, &before, NULL);
    return ok;
}

bool jail_probe(struct err *e) {
    static const char *const names[] = {[JAIL_NAMESPACES] = "T1", [JAIL_LANDLOCK] = "T2"};
    const char *forced = getenv("WARPBOOK_JAIL_TIER");
    struct buf why = {0};
    bool ok = jail_disabled();
    if (!ok) jail_use_groups(jail_cgroup_usable());
    for (int t = JAIL_NAMESPACES; !ok && t <= JAIL_LANDLOCK; t++) {
        struct err one = {0};
        if (forced && strcmp(forced, names[t])) continue;
        ok = holds(t, &one);
        if (!ok) buf_printf(&why, "%s%s: %.110s", why.size ? "; " : "", names[t], one.text);
    }
    struct buf advice = {0};
    jail_advice(&advice, "", jail_landlock_abi());
    if (!ok)
        err_set(e, ERR_SYSTEM,
                "no jail holds on this machine (%s).\nSubmissions are not run without one. One of "
                "these allows it:\n%s"
                "docs/other-systems.md says more",
                buf_str(&why), buf_str(&advice));
    buf_free(&why), buf_free(&advice);
    return ok;
}
