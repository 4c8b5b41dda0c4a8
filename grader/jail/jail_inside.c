/* jail_inside.c — the inner half of the jail: runs in the new namespaces, between clone and exec.
 *
 * The first process (pid 1 of the jail) builds the root from binds, writes the given files into
 * /work, starts the program as its child under another uid without capabilities, reaps, hands out
 * the file asked for, reports and exits, at which the kernel kills whatever is left. It keeps its
 * capabilities, so the program can't trace it.
 *
 * The grader may be multi-threaded, so nothing here allocates or takes a lock: system calls and
 * stack only. */
#include "grader/jail/jail_plan.h"
#include "grader/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* <sys/mount.h> clashes with <linux/mount.h>; these are its calls. */
enum { NO_SUID = 2, NO_DEV = 4, RECURSIVE = 16384, PRIVATE = 1 << 18, DETACH = 2 };
static long do_mount(const char *from, const char *to, const char *type, unsigned long flags,
                     const char *data) {
    return syscall(SYS_mount, from, to, type, flags, data);
}

static const struct jail_plan *plan;

static _Noreturn void fail(const char *stage) {
    struct jail_report r = {.stage = stage, .error = errno};
    if (write(plan->report, &r, sizeof r)) {}
    _exit(1);
}

/* Creates the parents of `path` (relative to the root being built) and an empty file or folder as
 * its end. */
static void make_target(const char *path, bool folder) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part) fail("path of a bind");
    memcpy(part, path, n + 1);
    for (char *p = part; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        mkdir(part, 0755);
        *p = '/';
    }
    if (folder) mkdir(part, 0755);
    else close(open(part, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

static void bind_one(const struct jail_bind *b) {
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, b->from,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0 && errno == ENOENT && b->optional) return;
    if (tree < 0) fail(b->from);
    struct stat st;
    if (fstat(tree, &st) < 0) fail(b->from);
    make_target(b->to + 1, S_ISDIR(st.st_mode));
    bool device = S_ISCHR(st.st_mode);
    struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID |
                                       (device ? 0 : MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)};
    if (syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a) < 0)
        fail("mount_setattr");
    if (syscall(SYS_move_mount, tree, "", AT_FDCWD, b->to + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        fail(b->to);
    close(tree);
}

static void link_folder(const char *name, const char *to) {
    if (symlink(to, name) < 0 && errno != EEXIST) fail("symlink");
}

static void mount_work(uint64_t bytes) {
    char options[96];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=4096,mode=0777",
             (unsigned long long)bytes);
    mkdir("work", 0755);
    if (do_mount("tmpfs", "work", "tmpfs", NO_SUID | NO_DEV, options) < 0)
        fail("mount of the writable folder");
    if (symlink("work", "tmp") < 0) fail("symlink");
}

/* Of the pid namespace that we are the first process of: it shows this jail alone. */
static void mount_proc(void) {
    mkdir("proc", 0755);
    if (do_mount("proc", "proc", "proc", NO_SUID | NO_DEV, NULL) < 0) fail("mount of /proc");
}

static void write_file(int folder, const struct jail_file *f) {
    int fd = openat(folder, f->name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) fail("file for the jail");
    for (size_t done = 0; done < f->size;) {
        ssize_t n = write(fd, (const char *)f->data + done, f->size - done);
        if (n < 0) fail("file for the jail");
        done += (size_t)n;
    }
    struct timespec epoch[2] = {
        {0}}; /* one time for all: __TIMESTAMP__ would tell a submission when it is graded */
    futimens(fd, epoch);
    close(fd);
}

/* The old root stays reachable until pivot_root, so that binds may come from anywhere. /proc serves
 * as the place to build on: it always exists and holds nothing that a bind may come from. */
static void build_root(void) {
    const struct jail_job *job = plan->job;
    if (do_mount(NULL, "/", NULL, RECURSIVE | PRIVATE, NULL) < 0) fail("private mounts");
    int old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (do_mount("tmpfs", "/proc", "tmpfs", NO_SUID | NO_DEV, "size=1m,nr_inodes=2048,mode=0755") <
        0)
        fail("mount of a root");
    if (chdir("/proc") < 0) fail("chdir");
    for (unsigned i = 0; i < job->nbinds; i++) bind_one(&job->binds[i]);
    link_folder("lib", "usr/lib");
    link_folder("lib64", "usr/lib64");
    link_folder("bin", "usr/bin");
    mount_work(job->limits.work_bytes);
    if (job->proc) mount_proc();
    int work = open("work", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < job->nfiles; i++) write_file(work, &job->files[i]);
    if (syscall(SYS_pivot_root, ".", ".") < 0) fail("pivot_root");
    if (syscall(SYS_umount2, ".", DETACH) < 0) fail("umount of the old root");
    struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &a, sizeof a) < 0) fail("read-only root");
    if (chdir("/work") < 0) fail("chdir");
    close(old);
    close(work);
}

static void limit(int which, uint64_t value, bool on) {
    struct rlimit r = {value, value};
    if (on && setrlimit((__rlimit_resource_t)which, &r) < 0) fail("setrlimit");
}

/* The kernel sends SIGXCPU at the soft limit, unless the hard one is reached too: then SIGKILL,
 * which says nothing. */
static void limit_time(double seconds) {
    struct rlimit r = {(rlim_t)(seconds + 0.999), (rlim_t)(seconds + 0.999) + 1};
    if (seconds > 0 && setrlimit(RLIMIT_CPU, &r) < 0) fail("setrlimit");
}

/* A sanitised build of our own reader has terabytes of shadow; what is executed in the jail never
 * is sanitised. */
#ifdef __SANITIZE_ADDRESS__
enum { SHADOWS = 1 };
#else
enum { SHADOWS = 0 };
#endif

static void set_limits(const struct jail_job *job) {
    const struct jail_limits *l = &job->limits;
    bool namespaces = !plan->folder;
    limit(RLIMIT_CORE, 0, true);
    limit_time(l->cpu_seconds);
    limit(RLIMIT_DATA, l->memory_bytes,
          l->memory_bytes && job->kind < JAIL_DEVICE && !(SHADOWS && job->inside));
    limit(RLIMIT_AS, l->address_bytes, l->address_bytes);
    limit(RLIMIT_FSIZE, l->file_bytes, l->file_bytes);
    limit(RLIMIT_NOFILE, l->files, l->files);
    limit(RLIMIT_MEMLOCK, 0, true);
    limit(RLIMIT_MSGQUEUE, 0, namespaces);
    /* Without a user namespace the kernel counts every process of the user. */
    limit(RLIMIT_NPROC, namespaces ? l->processes : plan->processes,
          l->processes && (namespaces || plan->processes));
}

/* Leaves descriptors 0 to 2, those that were asked for, and `complain`, which closes on exec. */
static int arrange_fds(int complain) {
    const struct jail_job *job = plan->job;
    int high[JAIL_MAX_FDS + 4], want[JAIL_MAX_FDS + 4], n = 0, top = 2;
    int base[3] = {plan->null, plan->output, plan->output};
    for (int i = 0; i < 3; i++) want[n] = i, high[n++] = fcntl(base[i], F_DUPFD, 200);
    for (unsigned i = 0; i < job->nfds; i++) {
        want[n] = job->fds[i].to;
        high[n++] = fcntl(job->fds[i].from, F_DUPFD, 200);
        if (job->fds[i].to > top) top = job->fds[i].to;
    }
    want[n] = ++top;
    high[n++] = fcntl(complain, F_DUPFD, 200);
    for (int i = 0; i < n; i++)
        if (high[i] < 0 || dup2(high[i], want[i]) < 0) fail("descriptors");
    fcntl(top, F_SETFD, FD_CLOEXEC);
    syscall(SYS_close_range, top + 1, ~0u, 0);
    return top;
}

static void drop_privileges(void) {
    unsigned uid = plan->folder ? plan->uid : JAIL_UID;
    bool change = !plan->folder || !plan->own_uid;
    if (!plan->own_uid && syscall(SYS_setgroups, 0, NULL) < 0) fail("setgroups");
    if (change && syscall(SYS_setresgid, uid, uid, uid) < 0) fail("setresgid");
    if (change && syscall(SYS_setresuid, uid, uid, uid) < 0) fail("setresuid");
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {0};
    if (syscall(SYS_capset, &header, none) < 0) fail("capset");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* In namespaces everything that there is may be read; without them, what would have been bound.
 * Only that may be executed: rights add up along a path, so the root itself must not grant it. */
static bool grant(int rules) {
    const struct jail_job *job = plan->job;
    bool ok =
        jail_landlock_allow(rules, plan->folder ? plan->folder : "/work", LANDLOCK_WORK) &&
        jail_landlock_allow(rules, "/dev/null", LANDLOCK_DEVICE) &&
        (job->kind != JAIL_COMPILER || jail_landlock_allow(rules, "/dev/zero", LANDLOCK_DEVICE));
    if (!plan->folder) ok = ok && jail_landlock_allow(rules, "/", LANDLOCK_LOOK);
    if (job->proc) ok = ok && jail_landlock_allow(rules, "/proc", LANDLOCK_DRIVER);
    for (unsigned i = 0; ok && i < job->nbinds; i++)
        ok = jail_landlock_allow(rules, plan->folder ? job->binds[i].from : job->binds[i].to,
                                 strncmp(job->binds[i].to, "/dev/nvidia", 11) ? LANDLOCK_READ
                                                                              : LANDLOCK_DRIVER);
    return ok;
}

static void lock_files(void) {
    int rules = jail_landlock_open();
    if (rules < 0 && !plan->folder) return; /* a second wall, which older kernels lack */
    if (rules < 0 || !grant(rules) || !jail_landlock_enter(rules)) fail("Landlock");
}

void jail_become(const struct jail_plan *p, const char *const *argv, const char *const *env,
                 int complain) {
    const struct jail_job *job = p->job;
    struct jail_plan copy = *p;
    bool confined = !p->folder || p->confined;
    plan = &copy;
    copy.report = arrange_fds(complain);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < 32; s++) signal(s, SIG_DFL);
    setsid();
    umask(022);
    if (confined) drop_privileges();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limits(job);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) fail("no_new_privs");
    if (confined) lock_files();
    if (confined && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &copy.filter) < 0) fail("seccomp");
    if (job->inside) {
        close(copy.report); /* as exec would */
        _exit(job->inside(job->inside_data));
    }
    execve(argv[0], (char *const *)argv, (char *const *)env);
    fail("start of the program");
}

/* Opened in the program's folder. */
static bool hand_out(const struct jail_job *job, const char *name, int to) {
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (uint64_t)st.st_size <= job->limits.file_bytes;
    for (off_t left = ok ? st.st_size : 0; ok && left > 0;) {
        ssize_t n = syscall(SYS_sendfile, to, fd, NULL, left);
        ok = n > 0;
        left -= n;
    }
    if (fd >= 0) close(fd);
    return ok;
}

unsigned jail_hand_out(const struct jail_plan *p) {
    unsigned took = 0;
    for (unsigned i = 0; i < JAIL_TAKES; i++)
        if (p->take[i] >= 0 && hand_out(p->job, p->job->take[i], p->take[i])) took |= 1u << i;
    return took;
}

pid_t jail_launch(const struct jail_plan *p, const char *const *argv, const char *const *env) {
    int problem[2];
    plan = p;
    if (pipe2(problem, O_CLOEXEC) < 0) fail("pipe");
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child < 0) fail("fork");
    if (child == 0) jail_become(p, argv, env, problem[1]);
    close(problem[1]);
    struct jail_report r = {0};
    if (read(problem[0], &r, sizeof r) == sizeof r) { /* it could not even start */
        if (write(p->report, &r, sizeof r)) {}
        child = -1;
    }
    close(problem[0]);
    return child;
}

/* Waits for `child`, reaping what it leaves behind. */
static int reap(pid_t child) {
    for (int status;;) {
        pid_t pid = (pid_t)syscall(SYS_wait4, -1, &status, __WALL, NULL);
        if (pid == child) return status;
        if (pid < 0 && errno != EINTR) fail("wait");
    }
}

void jail_inside(const struct jail_plan *p) {
    plan = p;
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(p->go, &go, 1) != 1) _exit(1); /* the grader died, or could not write the map */
    if (!p->own_uid && (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0))
        fail("setuid");
    if (syscall(SYS_sethostname, "jail", 4) < 0) fail("sethostname");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the uid cleared it */
    build_root();
    pid_t child = jail_launch(p, p->job->argv, p->job->env);
    if (child < 0) _exit(1);
    struct jail_report r = {.status = reap(child)};
    if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0) r.took = jail_hand_out(p);
    if (write(p->report, &r, sizeof r)) {}
    _exit(0);
}
