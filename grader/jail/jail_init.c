/* jail_init.c — the inner half of the sandbox: it runs in the new namespaces, between clone and
 * exec. jail.c starts it; jail_keeper.c uses its second half, from jail_launch on.
 *
 * The first process (pid 1 in its namespace) builds the root from binds and writes the job's files
 * into /work. It starts the program as its child, under another uid without capabilities. Then it
 * reaps, copies out the job's out_files, reports and exits; the kernel kills whatever is left. It
 * keeps its capabilities, so the program can't trace it.
 *
 * The grader may be multi-threaded, so nothing here allocates or takes a lock; the code uses system
 * calls and the stack only. */
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

/* <sys/mount.h> clashes with <linux/mount.h>; these replace its constants and call. */
enum { NO_SUID = 2, NO_DEV = 4, RECURSIVE = 16384, PRIVATE = 1 << 18, DETACH = 2 };
static long do_mount(const char *from, const char *to, const char *type, unsigned long flags,
                     const char *data) {
    return syscall(SYS_mount, from, to, type, flags, data);
}

static const struct jail_plan *plan;

static _Noreturn void report_failure(const char *stage) {
    struct jail_report r = {.failed_stage = stage, .error = errno};
    if (write(plan->report_fd, &r, sizeof r)) {}
    _exit(1);
}

/* Creates an empty file or folder at `path`, with its parents; relative to the root being built. */
static void make_target(const char *path, bool folder) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part) report_failure("path of a bind");
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

static void mount_bind(const struct jail_bind *b) {
    int tree_fd = (int)syscall(SYS_open_tree, AT_FDCWD, b->from,
                               OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree_fd < 0 && errno == ENOENT && b->optional) return;
    if (tree_fd < 0) report_failure(b->from);
    struct stat st;
    if (fstat(tree_fd, &st) < 0) report_failure(b->from);
    make_target(b->to + 1, S_ISDIR(st.st_mode));
    bool is_device = S_ISCHR(st.st_mode);
    struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID |
                                       (is_device ? 0 : MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV)};
    if (syscall(SYS_mount_setattr, tree_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &a, sizeof a) < 0)
        report_failure("mount_setattr");
    if (syscall(SYS_move_mount, tree_fd, "", AT_FDCWD, b->to + 1, MOVE_MOUNT_F_EMPTY_PATH) < 0)
        report_failure(b->to);
    close(tree_fd);
}

static void make_symlink(const char *name, const char *to) {
    if (symlink(to, name) < 0 && errno != EEXIST) report_failure("symlink");
}

static void mount_work(uint64_t bytes) {
    char options[96];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=4096,mode=0777",
             (unsigned long long)bytes);
    mkdir("work", 0755);
    if (do_mount("tmpfs", "work", "tmpfs", NO_SUID | NO_DEV, options) < 0)
        report_failure("mount of the writable folder");
    if (symlink("work", "tmp") < 0) report_failure("symlink");
}

/* Mounts the /proc of our pid namespace, which shows this sandbox alone. */
static void mount_proc(void) {
    mkdir("proc", 0755);
    if (do_mount("proc", "proc", "proc", NO_SUID | NO_DEV, NULL) < 0)
        report_failure("mount of /proc");
}

static void write_file(int folder, const struct jail_file *f) {
    int fd = openat(folder, f->name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0) report_failure("file for the sandbox");
    for (size_t done = 0; done < f->size;) {
        ssize_t n = write(fd, (const char *)f->data + done, f->size - done);
        if (n < 0) report_failure("file for the sandbox");
        done += (size_t)n;
    }
    /* All files get the same time: __TIMESTAMP__ would tell a submission when it is graded. */
    struct timespec epoch[2] = {{0}};
    futimens(fd, epoch);
    close(fd);
}

/* Builds the root and enters it. The old root stays reachable until pivot_root, so that any path
 * can be bound. The new root is mounted on /proc: it always exists, and no bind is from there. */
static void build_root(void) {
    const struct jail_job *job = plan->job;
    if (do_mount(NULL, "/", NULL, RECURSIVE | PRIVATE, NULL) < 0) report_failure("private mounts");
    int old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (do_mount("tmpfs", "/proc", "tmpfs", NO_SUID | NO_DEV, "size=1m,nr_inodes=2048,mode=0755") <
        0)
        report_failure("mount of a root");
    if (chdir("/proc") < 0) report_failure("chdir");
    for (unsigned i = 0; i < job->nbinds; i++) mount_bind(&job->binds[i]);
    make_symlink("lib", "usr/lib");
    make_symlink("lib64", "usr/lib64");
    make_symlink("bin", "usr/bin");
    mount_work(job->limits.work_bytes);
    if (job->mounts_proc) mount_proc();
    int work_fd = open("work", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < job->nfiles; i++) write_file(work_fd, &job->files[i]);
    if (syscall(SYS_pivot_root, ".", ".") < 0) report_failure("pivot_root");
    if (syscall(SYS_umount2, ".", DETACH) < 0) report_failure("umount of the old root");
    struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV};
    if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &a, sizeof a) < 0)
        report_failure("read-only root");
    if (chdir("/work") < 0) report_failure("chdir");
    close(old_root);
    close(work_fd);
}

static void set_rlimit(int resource, uint64_t value, bool enabled) {
    struct rlimit r = {value, value};
    if (enabled && setrlimit((__rlimit_resource_t)resource, &r) < 0) report_failure("setrlimit");
}

/* A limit of the shell may be lower already; only root could raise it. */
static void set_address_limit(uint64_t bytes) {
    struct rlimit now;
    if (bytes && getrlimit(RLIMIT_AS, &now) == 0 && now.rlim_max < bytes) bytes = now.rlim_max;
    set_rlimit(RLIMIT_AS, bytes, bytes);
}

/* Sets the hard limit 1 s above the soft one: at the soft limit the kernel sends SIGXCPU, at the
 * hard limit SIGKILL, from which the grader could not tell the reason. */
static void set_cpu_limit(double seconds) {
    struct rlimit r = {(rlim_t)(seconds + 0.999), (rlim_t)(seconds + 0.999) + 1};
    if (seconds > 0 && setrlimit(RLIMIT_CPU, &r) < 0) report_failure("setrlimit");
}

/* job->entry is our own code. Built with AddressSanitizer, it maps terabytes of shadow memory; a
 * program that the sandbox executes never is. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_SHADOW_MEMORY = 1 };
#else
enum { HAS_SHADOW_MEMORY = 0 };
#endif

static void set_limits(const struct jail_job *job) {
    const struct jail_limits *l = &job->limits;
    bool namespaces = !plan->work_folder;
    set_rlimit(RLIMIT_CORE, 0, true);
    set_cpu_limit(l->cpu_seconds);
    set_rlimit(RLIMIT_DATA, l->memory_bytes,
               l->memory_bytes && job->kind < JAIL_DEVICE && !(HAS_SHADOW_MEMORY && job->entry));
    set_address_limit(l->address_bytes);
    uint64_t max_file = l->sparse_bytes ? l->sparse_bytes : l->file_bytes;
    set_rlimit(RLIMIT_FSIZE, max_file, max_file);
    set_rlimit(RLIMIT_NOFILE, l->max_fds, l->max_fds);
    set_rlimit(RLIMIT_MEMLOCK, 0, true);
    set_rlimit(RLIMIT_MSGQUEUE, 0, namespaces);
    /* Without a user namespace, the kernel counts every process of the user. */
    set_rlimit(RLIMIT_NPROC, namespaces ? l->max_processes : plan->max_processes,
               l->max_processes && (namespaces || plan->max_processes));
}

/* Keeps descriptors 0 to 2, those of the job, and a copy of `error_fd` that closes on exec; returns
 * the copy. */
static int set_up_fds(int error_fd) {
    const struct jail_job *job = plan->job;
    int parked[JAIL_MAX_FDS + 4], target[JAIL_MAX_FDS + 4], n = 0, last_fd = 2;
    int std_fds[3] = {plan->input_fd, plan->output_fd, plan->output_fd};
    for (int i = 0; i < 3; i++) target[n] = i, parked[n++] = fcntl(std_fds[i], F_DUPFD, 200);
    for (unsigned i = 0; i < job->nfds; i++) {
        target[n] = job->fds[i].to;
        parked[n++] = fcntl(job->fds[i].from, F_DUPFD, 200);
        if (job->fds[i].to > last_fd) last_fd = job->fds[i].to;
    }
    target[n] = ++last_fd;
    parked[n++] = fcntl(error_fd, F_DUPFD, 200);
    for (int i = 0; i < n; i++)
        if (parked[i] < 0 || dup2(parked[i], target[i]) < 0) report_failure("descriptors");
    fcntl(last_fd, F_SETFD, FD_CLOEXEC);
    syscall(SYS_close_range, last_fd + 1, ~0u, 0);
    return last_fd;
}

static void drop_privileges(void) {
    unsigned uid = plan->work_folder ? plan->uid : JAIL_UID;
    bool changes_uid = !plan->work_folder || !plan->keeps_uid;
    if (!plan->keeps_uid && syscall(SYS_setgroups, 0, NULL) < 0) report_failure("setgroups");
    if (changes_uid && syscall(SYS_setresgid, uid, uid, uid) < 0) report_failure("setresgid");
    if (changes_uid && syscall(SYS_setresuid, uid, uid, uid) < 0) report_failure("setresuid");
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct no_caps[2] = {0};
    if (syscall(SYS_capset, &header, no_caps) < 0) report_failure("capset");
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

/* Grants access to paths. In namespaces the program may read everything; without them, only what a
 * namespace would bind. It may execute only the binds: rights add up along a path, so the root
 * itself must not grant execution. */
static bool grant_paths(int ruleset_fd) {
    const struct jail_job *job = plan->job;
    bool ok = jail_landlock_allow(ruleset_fd, plan->work_folder ? plan->work_folder : "/work",
                                  LANDLOCK_READ_WRITE) &&
              jail_landlock_allow(ruleset_fd, "/dev/null", LANDLOCK_DEVICE_NODE) &&
              (job->kind != JAIL_COMPILER ||
               jail_landlock_allow(ruleset_fd, "/dev/zero", LANDLOCK_DEVICE_NODE));
    if (!plan->work_folder) ok = ok && jail_landlock_allow(ruleset_fd, "/", LANDLOCK_LIST);
    if (job->mounts_proc) ok = ok && jail_landlock_allow(ruleset_fd, "/proc", LANDLOCK_DRIVER);
    for (unsigned i = 0; ok && i < job->nbinds; i++)
        ok = jail_landlock_allow(
            ruleset_fd, plan->work_folder ? job->binds[i].from : job->binds[i].to,
            strncmp(job->binds[i].to, "/dev/nvidia", 11) ? LANDLOCK_READ_EXECUTE : LANDLOCK_DRIVER);
    return ok;
}

static void restrict_files(void) {
    int ruleset_fd = jail_landlock_create();
    /* In namespaces, Landlock only repeats the rules; older kernels lack it. */
    if (ruleset_fd < 0 && !plan->work_folder) return;
    if (ruleset_fd < 0 || !grant_paths(ruleset_fd) || !jail_landlock_restrict_self(ruleset_fd))
        report_failure("Landlock");
}

void jail_exec(const struct jail_plan *p, const char *const *argv, const char *const *env,
               int error_fd) {
    const struct jail_job *job = p->job;
    struct jail_plan child_plan = *p;
    bool is_confined = !p->work_folder || p->is_confined;
    plan = &child_plan;
    child_plan.report_fd = set_up_fds(error_fd);
    sigset_t empty_mask;
    sigemptyset(&empty_mask);
    sigprocmask(SIG_SETMASK, &empty_mask, NULL);
    for (int s = 1; s < 32; s++) signal(s, SIG_DFL);
    setsid();
    umask(022);
    if (is_confined) drop_privileges();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limits(job);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) report_failure("no_new_privs");
    if (is_confined) restrict_files();
    if (is_confined && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &child_plan.filter) < 0)
        report_failure("seccomp");
    if (job->entry) {
        close(child_plan.report_fd); /* as exec would */
        _exit(job->entry(job->entry_data));
    }
    execve(argv[0], (char *const *)argv, (char *const *)env);
    report_failure("start of the program");
}

/* Copies the file `name` of the program's folder, which is the current one, to descriptor `to`. */
static bool copy_out(const struct jail_job *job, const char *name, int to) {
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (uint64_t)st.st_size <= job->limits.file_bytes;
    for (off_t remaining = ok ? st.st_size : 0; ok && remaining > 0;) {
        ssize_t n = syscall(SYS_sendfile, to, fd, NULL, remaining);
        ok = n > 0;
        remaining -= n;
    }
    if (fd >= 0) close(fd);
    return ok;
}

unsigned jail_copy_out(const struct jail_plan *p) {
    unsigned out_mask = 0;
    for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++)
        if (p->out_fds[i] >= 0 && copy_out(p->job, p->job->out_files[i], p->out_fds[i]))
            out_mask |= 1u << i;
    return out_mask;
}

pid_t jail_launch(const struct jail_plan *p, const char *const *argv, const char *const *env) {
    int error_pipe[2];
    plan = p;
    if (pipe2(error_pipe, O_CLOEXEC) < 0) report_failure("pipe");
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child < 0) report_failure("fork");
    if (child == 0) jail_exec(p, argv, env, error_pipe[1]);
    close(error_pipe[1]);
    struct jail_report r = {0};
    if (read(error_pipe[0], &r, sizeof r) == sizeof r) { /* the program did not start */
        if (write(p->report_fd, &r, sizeof r)) {}
        child = -1;
    }
    close(error_pipe[0]);
    return child;
}

/* Waits for `child` and reaps its orphans; returns its status. */
static int reap(pid_t child) {
    for (int status;;) {
        pid_t pid = (pid_t)syscall(SYS_wait4, -1, &status, __WALL, NULL);
        if (pid == child) return status;
        if (pid < 0 && errno != EINTR) report_failure("wait");
    }
}

void jail_init_run(const struct jail_plan *p) {
    plan = p;
    char start_byte;
    jail_forget_interrupts();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (read(p->start_fd, &start_byte, 1) != 1)
        _exit(1); /* The grader died or could not write the map. */
    if (!p->keeps_uid &&
        (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0))
        report_failure("setuid");
    if (syscall(SYS_sethostname, "jail", 4) < 0) report_failure("sethostname");
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* changing the uid cleared it */
    build_root();
    pid_t child = jail_launch(p, p->job->argv, p->job->env);
    if (child < 0) _exit(1);
    struct jail_report r = {.status = reap(child)};
    if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0) r.out_mask = jail_copy_out(p);
    if (write(p->report_fd, &r, sizeof r)) {}
    _exit(0);
}
