/* jail.c — the outer half of the sandbox: clones into new namespaces, writes the user map, waits
 * and kills. The inner halves are jail_init.c (T1) and jail_keeper.c (T2);
 * jail_plan.h has the data that they share.
 *
 * The program's output goes to a memory file under a file size limit, not to a pipe. So the grader
 * doesn't have to drain it, and a flood of output kills the program instead of filling the grader's
 * memory. The job's out_files return in memory files, too, so T1 leaves nothing on the disk, even
 * if the grader is killed. */
#include "grader/jail/jail.h"
#include "common/clock.h"
#include "common/file.h"
#include "grader/jail/jail_cgroup.h"
#include "grader/jail/jail_plan.h"
#include "grader/jail/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct jail {
    pid_t pid;
    int pidfd, output_fd, report_fd, out_fds[JAIL_MAX_OUT_FILES];
    bool has_keeper; /* without namespaces: `pid` is the keeper */
    int liveness_fd; /* a pipe: when it closes, the keeper kills everything */
    uint64_t file_bytes;
    struct jail_cgroup cgroups;
    long long oom_kills_at_start; /* the machine's jail_cgroup_system_oom_kills at the start */
};

static enum jail_tier tier = JAIL_NAMESPACES;
static bool use_cgroups; /* control groups can be created */

void jail_use_cgroups(bool enabled) { use_cgroups = enabled; }

void jail_set_tier(enum jail_tier t) { tier = t; }
void jail_disable(void) { tier = JAIL_NONE; }
bool jail_disabled(void) { return tier == JAIL_NONE; }
enum jail_tier jail_current_tier(void) { return tier; }

const char *jail_describe_tier(void) {
    static char text[128];
    int abi = jail_landlock_abi();
    char files[32] = "no Landlock";
    if (abi) snprintf(files, sizeof files, "Landlock %d", abi);
    if (tier == JAIL_NONE) return "none (--no-jail)";
    if (tier == JAIL_LANDLOCK)
        snprintf(text, sizeof text, "T2: %s, seccomp, %s%s", files,
                 geteuid() ? "the grader's own user" : "a user of its own",
                 use_cgroups ? ", cgroup" : "");
    else
        snprintf(text, sizeof text, "T1: namespaces, %s, seccomp%s", files,
                 use_cgroups ? ", cgroup" : "");
    return text;
}

/* ---- what every program needs ---- */

/* Host code gets no /dev/zero: no limit of a process counts shared mappings of it. */
static const struct jail_bind host_binds[] = {
    {"/usr/lib", "/usr/lib", false},
    {"/usr/lib64", "/usr/lib64", true},
    {"/etc/ld.so.cache", "/etc/ld.so.cache", true},
    {"/dev/null", "/dev/null", false},
    {"/dev/urandom", "/dev/urandom", false},
};
static const struct jail_bind compiler_binds[] = {
    {"/usr/lib", "/usr/lib", false},
    {"/usr/lib64", "/usr/lib64", true},
    {"/usr/libexec", "/usr/libexec", true},
    {"/usr/include", "/usr/include", false},
    {"/usr/bin", "/usr/bin", false},
    {"/etc/alternatives", "/etc/alternatives", true},
    {"/etc/ld.so.cache", "/etc/ld.so.cache", true},
    {"/dev/null", "/dev/null", false},
    {"/dev/zero", "/dev/zero", false},
    {"/dev/urandom", "/dev/urandom", false},
};

const struct jail_bind *jail_system_binds(enum jail_kind kind, unsigned *n) {
    bool host = kind != JAIL_COMPILER;
    *n = host ? sizeof host_binds / sizeof *host_binds
              : sizeof compiler_binds / sizeof *compiler_binds;
    return host ? host_binds : compiler_binds;
}

/* ---- starting ---- */

/* Returns the filter for a kind under the current tier; it is built once and never freed. */
static const struct sock_fprog *filter_for(enum jail_kind kind) {
    static struct sock_fprog filters[2][JAIL_KIND_COUNT];
    bool without_namespaces = tier != JAIL_NAMESPACES;
    struct sock_fprog *program = &filters[without_namespaces][kind];
    return program->filter || jail_filter(kind, without_namespaces, seccomp_arch_native(), program)
               ? program
               : NULL;
}

static bool write_proc(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return ok;
}

/* Root maps a second, unprivileged id for the program. Other users, and root in a container that
 * maps few ids, can map only their own. */
static bool write_id_maps(pid_t pid, bool keeps_uid) {
    char uid[64], gid[64];
    if (!keeps_uid)
        return write_proc(pid, "uid_map", "0 0 1\n1000 65534 1\n") &&
               write_proc(pid, "gid_map", "0 0 1\n1000 65534 1\n");
    snprintf(uid, sizeof uid, "%d %u 1\n", JAIL_UID, geteuid());
    snprintf(gid, sizeof gid, "%d %u 1\n", JAIL_UID, getegid());
    return write_proc(pid, "setgroups", "deny") && write_proc(pid, "uid_map", uid) &&
           write_proc(pid, "gid_map", gid);
}

/* Returns true if this process may also map the id of "nobody", 65534. */
static bool can_map_second_id(void) {
    static int cached = -1;
    if (cached >= 0) return cached;
    char line[128];
    unsigned inside, outside, count, found = 0;
    FILE *f = geteuid() == 0 ? fopen("/proc/self/uid_map", "re") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && inside <= 65534 &&
            65534 - inside < count)
            found = 1;
    if (f) fclose(f);
    cached = (int)found;
    return cached;
}

enum {
    NAMESPACE_FLAGS =
        CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
};

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static bool spawn_in_namespaces(struct jail *j, struct jail_plan *p, struct err *e) {
    int start[2], report[2];
    if (pipe2(start, O_CLOEXEC) < 0) return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    if (pipe2(report, O_CLOEXEC) < 0)
        return close(start[0]), close(start[1]),
               err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    p->start_fd = start[0], p->report_fd = report[1];
    p->keeps_uid = !can_map_second_id();
    pid_t pid = (pid_t)syscall(SYS_clone, NAMESPACE_FLAGS | CLONE_PIDFD | SIGCHLD, NULL, &j->pidfd,
                               NULL, NULL);
    if (pid == 0) {
        close(start[1]);
        jail_init_run(p);
    }
    int error = errno;
    j->pid = pid, j->report_fd = report[0];
    close(start[0]), close(report[1]);
    bool ok = pid > 0 && write_id_maps(pid, p->keeps_uid) && jail_cgroup_add(&j->cgroups, pid) &&
              write(start[1], "g", 1) == 1;
    if (pid > 0 && !ok) error = errno;
    close(start[1]);
    return ok || err_set(e, ERR_SYSTEM, "cannot create a sandbox: %s: %s",
                         pid > 0 ? "user map" : "new namespaces", strerror(error));
}

/* Returns a standard input without contents: an empty pipe of mode 0, not /dev/null. A program can
 * read it, but cannot open it anew by the name /dev/stdin. */
static int open_empty_input(void) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    close(ends[1]);
    if (fchmod(ends[0], 0) < 0) close_fd(&ends[0]);
    return ends[0];
}

static bool open_descriptors(struct jail *j, struct jail_plan *p, struct err *e) {
    static const struct sock_fprog no_filter; /* --no-jail works on a kernel without seccomp */
    const struct sock_fprog *filter = tier == JAIL_NONE ? &no_filter : filter_for(p->job->kind);
    if (!filter) return err_set(e, ERR_SYSTEM, "cannot build the sandbox's system call filter");
    p->filter = *filter;
    j->output_fd = memfd_create("output", MFD_CLOEXEC);
    bool has_out_fds = true;
    for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) {
        j->out_fds[i] = p->out_fds[i] =
            p->job->out_files[i] ? memfd_create("take", MFD_CLOEXEC) : -1;
        has_out_fds &= !p->job->out_files[i] || j->out_fds[i] >= 0;
    }
    p->input_fd = open_empty_input();
    p->output_fd = j->output_fd;
    if (j->output_fd >= 0 && p->input_fd >= 0 && has_out_fds) return true;
    return err_set(e, ERR_SYSTEM, "cannot open the sandbox's descriptors: %s", strerror(errno));
}

static void reap(struct jail *j) {
    close_fd(&j->liveness_fd); /* a keeper then kills what is left */
    jail_interrupt_set_program(&j->cgroups, 0, -1);
    while (waitpid(j->pid, NULL, __WALL) < 0 && errno == EINTR) {}
}

static void kill_and_reap(struct jail *j) {
    if (j->pid <= 0) return;
    if (!j->has_keeper) kill(j->pid, SIGKILL);
    reap(j);
}

static void jail_free(struct jail *j) {
    close_fd(&j->pidfd), close_fd(&j->output_fd), close_fd(&j->report_fd);
    for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) close_fd(&j->out_fds[i]);
    close_fd(&j->liveness_fd);
    jail_cgroup_close(&j->cgroups);
    jail_interrupt_remove(&j->cgroups);
    free(j);
}

/* ---- without namespaces ---- */

/* The keeper uses the C library in a copy of this program's memory, so it needs fork, not clone. */
static bool spawn_keeper(struct jail *j, struct jail_plan *p, struct err *e) {
    int liveness[2], report[2];
    if (pipe2(liveness, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    p->cgroups = &j->cgroups, p->start_fd = liveness[0], p->report_fd = report[1],
    p->is_confined = tier == JAIL_LANDLOCK;
    j->has_keeper = true;
    fflush(NULL);
    j->pid = fork();
    if (j->pid == 0) close(liveness[1]), jail_keeper_run(p);
    j->liveness_fd = liveness[1], j->report_fd = report[0];
    close(liveness[0]), close(report[1]);
    j->pidfd = j->pid > 0 ? (int)syscall(SYS_pidfd_open, j->pid, 0) : -1;
    return j->pidfd >= 0 || err_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
}

struct jail *jail_start(const struct jail_job *job, struct err *e) {
    struct jail *j = xcalloc(1, sizeof *j);
    *j = (struct jail){.pid = -1,
                       .pidfd = -1,
                       .output_fd = -1,
                       .report_fd = -1,
                       .liveness_fd = -1,
                       .file_bytes = job->limits.file_bytes};
    j->oom_kills_at_start = jail_cgroup_system_oom_kills();
    struct jail_plan p = {.job = job, .input_fd = -1};
    for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) j->out_fds[i] = -1;
    sigset_t former;
    jail_interrupt_delay(&former);
    jail_interrupt_add(&j->cgroups);
    if (use_cgroups && tier != JAIL_NONE) jail_cgroup_open(&j->cgroups, &job->limits);
    bool ok = open_descriptors(j, &p, e) &&
              (tier == JAIL_NAMESPACES ? spawn_in_namespaces(j, &p, e) : spawn_keeper(j, &p, e));
    close_fd(&p.input_fd);
    jail_interrupt_set_program(&j->cgroups, j->has_keeper ? 0 : j->pid, j->liveness_fd);
    jail_interrupt_allow(&former);
    if (ok) return j;
    kill_and_reap(j);
    jail_free(j);
    return NULL;
}

/* ---- watching and ending ---- */

int jail_pollfd(const struct jail *j) { return j->pidfd; }

static void append_fd(int fd, size_t from, size_t limit, struct buf *out) {
    char chunk[16384];
    for (ssize_t n; limit && (n = pread(fd, chunk, limit < sizeof chunk ? limit : sizeof chunk,
                                        (off_t)from)) > 0;) {
        buf_add(out, chunk, (size_t)n);
        from += (size_t)n, limit -= (size_t)n;
    }
}

size_t jail_output(const struct jail *j, size_t from, size_t limit, struct buf *out) {
    size_t old_size = out->size;
    append_fd(j->output_fd, from, limit, out);
    return from + out->size - old_size;
}

static void classify_status(struct jail_result *r, int status) {
    r->outcome = WIFEXITED(status) ? JAIL_EXITED : JAIL_SIGNALLED;
    if (WIFEXITED(status)) r->code = WEXITSTATUS(status);
    else r->signal = WTERMSIG(status);
    if (r->signal == SIGSYS) r->outcome = JAIL_VIOLATION;
    if (r->signal == SIGXCPU) r->outcome = JAIL_TIMEOUT;
    if (r->signal == SIGXFSZ) r->outcome = JAIL_OUTPUT_LIMIT;
}

static void set_internal_error(struct jail_result *r, const char *stage, int error) {
    r->outcome = JAIL_INTERNAL_ERROR;
    snprintf(r->reason, sizeof r->reason, "sandbox: %s: %s", stage, strerror(error));
}

/* Returns true if the kernel killed a process for lack of memory since the sandbox started, or if
 * the kernel doesn't say: then don't blame the submission. */
static bool was_system_oom_killed(const struct jail *j) {
    long long now = jail_cgroup_system_oom_kills();
    return now < 0 || now > j->oom_kills_at_start;
}

/* Sets the outcome if the kernel killed a process for lack of memory. A kill at the group's limit
 * counts as the program's end even if it hit a child of the program or the first process. */
static void classify_kill(struct jail *j, struct jail_result *r, bool first_process_killed) {
    enum jail_cgroup_outcome end = jail_cgroup_close(&j->cgroups);
    bool killed = r->outcome == JAIL_SIGNALLED && r->signal == SIGKILL;
    bool failed = r->outcome == JAIL_SIGNALLED || (r->outcome == JAIL_EXITED && r->code) ||
                  first_process_killed;
    if (end == JAIL_CGROUP_LIMIT_OOM && failed) r->outcome = JAIL_MEMORY_LIMIT;
    else if (killed && (end == JAIL_CGROUP_SYSTEM_OOM || was_system_oom_killed(j)))
        r->outcome = JAIL_SYSTEM_OOM;
}

static void collect_result(struct jail *j, struct jail_result *r, bool timed_out) {
    struct jail_report report;
    bool has_report = read(j->report_fd, &report, sizeof report) == sizeof report;
    if (has_report) {
        if (report.failed_stage) set_internal_error(r, report.failed_stage, report.error);
        else if (timed_out && WIFSIGNALED(report.status) && WTERMSIG(report.status) == SIGKILL)
            r->outcome = JAIL_TIMEOUT;
        else classify_status(r, report.status);
        if (report.work_limit_exceeded) r->outcome = JAIL_OUTPUT_LIMIT;
        for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) {
            r->has_out_file[i] = report.out_mask >> i & 1;
            if (r->has_out_file[i]) append_fd(j->out_fds[i], 0, j->file_bytes, &r->out_files[i]);
        }
    } else if (timed_out) r->outcome = JAIL_TIMEOUT;
    else set_internal_error(r, "its first process was killed", EINTR);
    append_fd(j->output_fd, 0, 1 << 20, &r->output);
    classify_kill(j, r, !has_report && !timed_out);
}

void jail_wait(struct jail *j, double seconds, struct jail_result *r) {
    *r = (struct jail_result){0};
    struct pollfd p = {.fd = j->pidfd, .events = POLLIN};
    double deadline = clock_seconds() + seconds;
    bool timed_out = true;
    for (double remaining = seconds; remaining >= 0 && timed_out;) {
        timed_out = poll(&p, 1, (int)(remaining * 1000) + 1) <= 0;
        remaining = deadline - clock_seconds();
    }
    if (timed_out && !j->has_keeper) kill(j->pid, SIGKILL);
    reap(j);
    collect_result(j, r, timed_out);
    jail_free(j);
}

void jail_result_free(struct jail_result *r) {
    buf_free(&r->output);
    for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) buf_free(&r->out_files[i]);
}

/* ---- what the processes use ---- */

static uint64_t process_resident_bytes(pid_t pid) {
    char path[64];
    unsigned long long total, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%llu %llu", &total, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Returns the sum over a process's threads of a number of their schedstat: 0 = nanoseconds on a
 * processor, 1 = nanoseconds of waiting for one. */
static uint64_t process_schedule_ns(pid_t pid, int number) {
    char path[64 + sizeof((struct dirent *)NULL)->d_name];
    unsigned long long ns[2];
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (const struct dirent *t; tasks && (t = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, t->d_name);
        FILE *f = fopen(path, "re");
        if (f && fscanf(f, "%llu %llu", &ns[0], &ns[1]) == 2) sum += ns[number];
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return sum;
}
static uint64_t process_run_ns(pid_t pid) { return process_schedule_ns(pid, 0); }
static uint64_t process_wait_ns(pid_t pid) { return process_schedule_ns(pid, 1); }

/* Returns the sum over the descendants of a process, to a depth of 4. */
static uint64_t sum_descendants(pid_t pid, unsigned depth, uint64_t (*of)(pid_t)) {
    char path[64];
    int child;
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = depth < 4 ? fopen(path, "re") : NULL;
    while (f && fscanf(f, "%d", &child) == 1)
        sum += of(child) + sum_descendants(child, depth + 1, of);
    if (f) fclose(f);
    return sum;
}

uint64_t jail_resident_bytes(const struct jail *j) {
    return sum_descendants(j->pid, 0, process_resident_bytes);
}

void jail_processor_seconds(const struct jail *j, double *used, double *waited) {
    *used = 1e-9 * (double)sum_descendants(j->pid, 0, process_run_ns);
    *waited = 1e-9 * (double)sum_descendants(j->pid, 0, process_wait_ns);
}
