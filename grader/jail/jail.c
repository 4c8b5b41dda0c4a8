/* jail.c — the outer half of the jail: prepares everything, clones into new namespaces, writes the
 * user map, waits, kills. The inner half is jail_inside.c; jail_plan.h is what passes between them.
 *
 * Output goes to a memory file under a file size limit, not to a pipe: nobody has to drain it, and
 * a flood ends the program instead of filling the grader. The file asked for comes back in another
 * memory file, so that a jail leaves nothing on disk, even when the grader is killed. */
#include "grader/jail/jail.h"
#include "common/clock.h"
#include "common/file.h"
#include "grader/jail/jail_cgroup.h"
#include "grader/jail/jail_plan.h"
#include "grader/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
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

enum { TMPFILE = O_TMPFILE & ~O_DIRECTORY };

struct jail {
    pid_t pid;
    int pidfd, output, report, take[JAIL_TAKES];
    bool kept; /* without namespaces: `pid` is the keeper, which ends everything when `life` closes
                */
    int life;
    uint64_t file_bytes;
    struct jail_cgroup groups;
    long long kills; /* for want of memory, in the whole machine, when it started */
};

static enum jail_tier tier = JAIL_NAMESPACES;
static bool groups; /* control groups can be made here */

void jail_use_groups(bool on) { groups = on; }

void jail_choose(enum jail_tier t) { tier = t; }
void jail_disable(void) { tier = JAIL_NONE; }
bool jail_disabled(void) { return tier == JAIL_NONE; }
enum jail_tier jail_tier_now(void) { return tier; }

const char *jail_tier(void) {
    static char text[128];
    int abi = jail_landlock_abi();
    char files[32] = "no Landlock";
    if (abi) snprintf(files, sizeof files, "Landlock %d", abi);
    if (tier == JAIL_NONE) return "none (--no-jail)";
    if (tier == JAIL_LANDLOCK)
        snprintf(text, sizeof text, "T2: %s, seccomp, %s%s", files,
                 geteuid() ? "the grader's own user" : "a user of its own",
                 groups ? ", cgroup" : "");
    else
        snprintf(text, sizeof text, "T1: namespaces, %s, seccomp%s", files,
                 groups ? ", cgroup" : "");
    return text;
}

/* ---- what every program needs ---- */

/* No /dev/zero: shared mappings of it are memory that no limit of a process counts. */
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

/* ---- the system call filter ---- */

static const struct {
    int number;
    bool fatal[2];
    bool shared;    /* only where the program shares the machine's files and processes */
    bool others;    /* only where the first argument names another process */
    bool host_only; /* compilers may */
    bool socket;    /* a GPU's driver may: it will not start without a socket to listen on */
} calls[] = {
#define FAIL                         false
#define KILL                         true
#define CALL(name, compiler, host)   {SCMP_SYS(name), {compiler, host}, false, false, false, false},
#define SOCKET(name, compiler, host) {SCMP_SYS(name), {compiler, host}, false, false, false, true},
#define SHARED(name)                 {SCMP_SYS(name), {false, false}, true, false, false, false},
#define SHARED_HOST(name)            {SCMP_SYS(name), {false, false}, true, false, true, false},
#define HOST(name)                   {SCMP_SYS(name), {false, false}, false, false, true, false},
#define OTHERS(name)                 {SCMP_SYS(name), {false, false}, false, true, false, false},
#include "grader/jail/seccomp.def"
#undef CALL
#undef SOCKET
#undef SHARED
#undef SHARED_HOST
#undef HOST
#undef OTHERS
#undef FAIL
#undef KILL
};

static bool add_rules(scmp_filter_ctx filter, enum jail_kind kind, bool shared) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if ((calls[i].host_only && kind != JAIL_HOST) || (calls[i].socket && kind == JAIL_GPU))
            continue;
        uint32_t action = kind <= JAIL_HOST && calls[i].fatal[kind] ? SCMP_ACT_KILL_PROCESS
                                                                    : SCMP_ACT_ERRNO(EPERM);
        if (calls[i].number < 0 || (calls[i].shared && !shared)) continue;
        if (calls[i].others
                ? seccomp_rule_add(filter, action, calls[i].number, 1, SCMP_A0(SCMP_CMP_NE, 0)) < 0
                : seccomp_rule_add(filter, action, calls[i].number, 0) < 0)
            return false;
    }
    /* New namespaces by clone; clone3 hides its flags in memory, so glibc is made to fall back to
     * clone. */
    uint64_t spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                      CLONE_NEWUTS | CLONE_NEWCGROUP;
    for (uint64_t bit = 1; bit <= spaces; bit <<= 1)
        if ((spaces & bit) && seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                               SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit)) < 0)
            return false;
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

/* Memory that RLIMIT_DATA does not count: shared and growing mappings. A compiler may have them: no
 * student's code runs in its jail. */
static bool add_memory_rules(scmp_filter_ctx filter, enum jail_kind kind) {
    static const uint64_t uncounted[] = {MAP_SHARED | MAP_ANONYMOUS, MAP_GROWSDOWN};
    for (unsigned i = 0; kind == JAIL_HOST && i < 2; i++)
        if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOMEM), SCMP_SYS(mmap), 1,
                             SCMP_A3(SCMP_CMP_MASKED_EQ, uncounted[i], uncounted[i])) < 0)
            return false;
    return true;
}

/* Calls that one of their arguments makes harmful to host code's neighbours. Files without a name
 * are on a disk where no look into the folder finds them. Locks, leases and flags lie on files that
 * others may see, even where they may only be read. */
static bool add_file_rules(scmp_filter_ctx filter, enum jail_kind kind) {
    static const struct {
        int number;
        unsigned argument;
        uint64_t mask, value;
    } rules[] = {
        {SCMP_SYS(open), 1, TMPFILE, TMPFILE},
        {SCMP_SYS(openat), 2, TMPFILE, TMPFILE},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLK},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLKW},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_OFD_SETLK},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_OFD_SETLKW},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_SETLEASE},
        {SCMP_SYS(fcntl), 1, UINT32_MAX, F_NOTIFY},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_SETFLAGS},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_SETVERSION},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC32_SETFLAGS},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC32_SETVERSION},
        {SCMP_SYS(ioctl), 1, UINT32_MAX, FS_IOC_FSSETXATTR},
    };
    if (kind != JAIL_HOST) return true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].number < 0) continue; /* aarch64 has no open */
        struct scmp_arg_cmp when = {rules[i].argument, SCMP_CMP_MASKED_EQ, rules[i].mask,
                                    rules[i].value};
        if (seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), rules[i].number, 1, &when) <
            0)
            return false;
    }
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0) ==
           0; /* its flags lie in memory */
}

/* The newest system call that the lists above were made with; the kernel has one row of numbers for
 * all machines from 424 on. What came later does not exist in a jail, as on an older kernel:
 * fchmodat2 and setxattrat undo what their elders may not. */
enum { NEWEST_CALL = 450 };

static bool read_filter(int fd, struct sock_fprog *out) {
    static const struct sock_filter later[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST_CALL, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    };
    off_t size = lseek(fd, 0, SEEK_END);
    if (size <= 0 || size > 65536) return false;
    out->filter = xmalloc((size_t)size + sizeof later);
    out->len = (unsigned short)(((size_t)size + sizeof later) / sizeof(struct sock_filter));
    memcpy(out->filter, later, sizeof later);
    return pread(fd, (char *)out->filter + sizeof later, (size_t)size, 0) == size;
}

/* libseccomp knows the rules' calls by their names on all machines: what one lacks, it leaves out.
 */
static bool for_machine(scmp_filter_ctx filter, uint32_t machine) {
    return machine == seccomp_arch_native() ||
           (!seccomp_arch_remove(filter, SCMP_ARCH_NATIVE) && !seccomp_arch_add(filter, machine));
}

bool jail_filter(enum jail_kind kind, bool shared, uint32_t machine, struct sock_fprog *out) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int fd = memfd_create("filter", MFD_CLOEXEC);
    bool ok = filter && fd >= 0 && for_machine(filter, machine) &&
              add_rules(filter, kind, shared) && add_memory_rules(filter, kind) &&
              add_file_rules(filter, kind) && seccomp_export_bpf(filter, fd) == 0 &&
              read_filter(fd, out);
    if (fd >= 0) close(fd);
    seccomp_release(filter);
    return ok;
}

/* Built once a kind and tier; the programs live as long as the grader. */
static const struct sock_fprog *filter_for(enum jail_kind kind) {
    static struct sock_fprog both[2][JAIL_KINDS];
    bool shared = tier != JAIL_NAMESPACES;
    struct sock_fprog *program = &both[shared][kind];
    return program->filter || jail_filter(kind, shared, seccomp_arch_native(), program) ? program
                                                                                        : NULL;
}

/* ---- starting ---- */

static bool write_proc(pid_t pid, const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return ok;
}

/* Root maps a second, powerless id for the program; others (and root in a small container) have
 * only their own. */
static bool write_maps(pid_t pid, bool own_uid) {
    char uid[64], gid[64];
    if (!own_uid)
        return write_proc(pid, "uid_map", "0 0 1\n1000 65534 1\n") &&
               write_proc(pid, "gid_map", "0 0 1\n1000 65534 1\n");
    snprintf(uid, sizeof uid, "%d %u 1\n", JAIL_UID, geteuid());
    snprintf(gid, sizeof gid, "%d %u 1\n", JAIL_UID, getegid());
    return write_proc(pid, "setgroups", "deny") && write_proc(pid, "uid_map", uid) &&
           write_proc(pid, "gid_map", gid);
}

/* True if this process may map the id "nobody" beside its own. */
static bool may_map_two(void) {
    static int known = -1;
    if (known >= 0) return known;
    char line[128];
    unsigned inside, outside, count, found = 0;
    FILE *f = geteuid() == 0 ? fopen("/proc/self/uid_map", "re") : NULL;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && inside <= 65534 &&
            65534 - inside < count)
            found = 1;
    if (f) fclose(f);
    known = (int)found;
    return known;
}

enum {
    SPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS
};

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static bool spawn(struct jail *j, struct jail_plan *p, struct err *e) {
    int go[2], report[2];
    if (pipe2(go, O_CLOEXEC) < 0) return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    if (pipe2(report, O_CLOEXEC) < 0)
        return close(go[0]), close(go[1]), err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    p->go = go[0], p->report = report[1];
    p->own_uid = !may_map_two();
    pid_t pid =
        (pid_t)syscall(SYS_clone, SPACES | CLONE_PIDFD | SIGCHLD, NULL, &j->pidfd, NULL, NULL);
    if (pid == 0) {
        close(go[1]);
        jail_inside(p);
    }
    int why = errno;
    j->pid = pid, j->report = report[0];
    close(go[0]), close(report[1]);
    bool ok = pid > 0 && write_maps(pid, p->own_uid) && jail_cgroup_add(&j->groups, pid) &&
              write(go[1], "g", 1) == 1;
    if (pid > 0 && !ok) why = errno;
    close(go[1]);
    return ok || err_set(e, ERR_SYSTEM, "cannot make a jail: %s: %s",
                         pid > 0 ? "user map" : "new namespaces", strerror(why));
}

static bool prepare(struct jail *j, struct jail_plan *p, struct err *e) {
    static const struct sock_fprog
        none; /* with --no-jail nothing is laid on anybody, so a kernel without filters will do */
    const struct sock_fprog *filter = tier == JAIL_NONE ? &none : filter_for(p->job->kind);
    if (!filter) return err_set(e, ERR_SYSTEM, "cannot build the jail's system call filter");
    p->filter = *filter;
    j->output = memfd_create("output", MFD_CLOEXEC);
    bool takes = true;
    for (unsigned i = 0; i < JAIL_TAKES; i++) {
        j->take[i] = p->take[i] = p->job->take[i] ? memfd_create("take", MFD_CLOEXEC) : -1;
        takes &= !p->job->take[i] || j->take[i] >= 0;
    }
    p->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    p->output = j->output;
    if (j->output >= 0 && p->null >= 0 && takes) return true;
    return err_set(e, ERR_SYSTEM, "cannot open the jail's descriptors: %s", strerror(errno));
}

static void reap_killed(struct jail *j) {
    close_fd(&j->life);
    if (j->pid <= 0) return;
    if (!j->kept) kill(j->pid, SIGKILL);
    while (waitpid(j->pid, NULL, __WALL) < 0 && errno == EINTR) {}
}

static void jail_free(struct jail *j) {
    close_fd(&j->pidfd), close_fd(&j->output), close_fd(&j->report);
    for (unsigned i = 0; i < JAIL_TAKES; i++) close_fd(&j->take[i]);
    close_fd(&j->life);
    jail_cgroup_close(&j->groups);
    free(j);
}

/* ---- without namespaces ---- */

/* fork, not a bare clone: the keeper lives on in this program's memory and uses the C library. */
static bool spawn_kept(struct jail *j, struct jail_plan *p, struct err *e) {
    int life[2], report[2];
    if (pipe2(life, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0)
        return err_set(e, ERR_SYSTEM, "pipe: %s", strerror(errno));
    p->groups = &j->groups, p->go = life[0], p->report = report[1],
    p->confined = tier == JAIL_LANDLOCK;
    j->kept = true;
    fflush(NULL);
    j->pid = fork();
    if (j->pid == 0) close(life[1]), jail_keeper_run(p);
    j->life = life[1], j->report = report[0];
    close(life[0]), close(report[1]);
    j->pidfd = j->pid > 0 ? (int)syscall(SYS_pidfd_open, j->pid, 0) : -1;
    return j->pidfd >= 0 || err_set(e, ERR_SYSTEM, "cannot start a process: %s", strerror(errno));
}

struct jail *jail_start(const struct jail_job *job, struct err *e) {
    struct jail *j = xcalloc(1, sizeof *j);
    *j = (struct jail){.pid = -1,
                       .pidfd = -1,
                       .output = -1,
                       .report = -1,
                       .life = -1,
                       .file_bytes = job->limits.file_bytes};
    j->kills = jail_cgroup_machine_kills();
    struct jail_plan p = {.job = job, .null = -1};
    for (unsigned i = 0; i < JAIL_TAKES; i++) j->take[i] = -1;
    if (groups && tier != JAIL_NONE) jail_cgroup_open(&j->groups, &job->limits);
    bool ok =
        prepare(j, &p, e) && (tier == JAIL_NAMESPACES ? spawn(j, &p, e) : spawn_kept(j, &p, e));
    close_fd(&p.null);
    if (ok) return j;
    reap_killed(j);
    jail_free(j);
    return NULL;
}

/* ---- watching and ending ---- */

int jail_pollfd(const struct jail *j) { return j->pidfd; }

static void append(int fd, size_t from, size_t limit, struct buf *out) {
    char chunk[16384];
    for (ssize_t n; limit && (n = pread(fd, chunk, limit < sizeof chunk ? limit : sizeof chunk,
                                        (off_t)from)) > 0;) {
        buf_add(out, chunk, (size_t)n);
        from += (size_t)n, limit -= (size_t)n;
    }
}

size_t jail_output(const struct jail *j, size_t from, size_t limit, struct buf *out) {
    size_t before = out->size;
    append(j->output, from, limit, out);
    return from + out->size - before;
}

static void classify(struct jail_result *r, int status) {
    r->end = WIFEXITED(status) ? JAIL_EXITED : JAIL_SIGNALLED;
    if (WIFEXITED(status)) r->code = WEXITSTATUS(status);
    else r->signal = WTERMSIG(status);
    if (r->signal == SIGSYS) r->end = JAIL_VIOLATION;
    if (r->signal == SIGXCPU) r->end = JAIL_TIMEOUT;
    if (r->signal == SIGXFSZ) r->end = JAIL_OUTPUT;
}

static void broken(struct jail_result *r, const char *stage, int error) {
    r->end = JAIL_BROKEN;
    snprintf(r->why, sizeof r->why, "jail: %s: %s", stage, strerror(error));
}

/* Who sent SIGKILL, where neither the grader did nor a group says more: the kernel counts those
 * that it sends for want of memory. What it does not say is no submission's fault. */
static bool starved(const struct jail *j) {
    long long now = jail_cgroup_machine_kills();
    return now < 0 || now > j->kills;
}

/* A group's limit also is the end of a program one of whose children was killed, and of a jail
 * whose first process was. */
static void explain_kill(struct jail *j, struct jail_result *r, bool first) {
    enum jail_cgroup_end end = jail_cgroup_close(&j->groups);
    bool killed = r->end == JAIL_SIGNALLED && r->signal == SIGKILL;
    bool failed = r->end == JAIL_SIGNALLED || (r->end == JAIL_EXITED && r->code) || first;
    if (end == JAIL_CGROUP_FULL && failed) r->end = JAIL_MEMORY;
    else if (killed && (end == JAIL_CGROUP_STARVED || starved(j))) r->end = JAIL_STARVED;
}

static void collect(struct jail *j, struct jail_result *r, bool late) {
    struct jail_report report;
    bool told = read(j->report, &report, sizeof report) == sizeof report;
    if (told) {
        if (report.stage) broken(r, report.stage, report.error);
        else if (late && WIFSIGNALED(report.status) && WTERMSIG(report.status) == SIGKILL)
            r->end = JAIL_TIMEOUT;
        else classify(r, report.status);
        if (report.full) r->end = JAIL_OUTPUT;
        for (unsigned i = 0; i < JAIL_TAKES; i++) {
            r->has_taken[i] = report.took >> i & 1;
            if (r->has_taken[i]) append(j->take[i], 0, j->file_bytes, &r->taken[i]);
        }
    } else if (late) r->end = JAIL_TIMEOUT;
    else broken(r, "its first process was killed", EINTR);
    append(j->output, 0, 1 << 20, &r->output);
    explain_kill(j, r, !told && !late);
}

void jail_wait(struct jail *j, double seconds, struct jail_result *r) {
    *r = (struct jail_result){0};
    struct pollfd p = {.fd = j->pidfd, .events = POLLIN};
    double end = clock_seconds() + seconds;
    bool late = true;
    for (double left = seconds; left >= 0 && late;) {
        late = poll(&p, 1, (int)(left * 1000) + 1) <= 0;
        left = end - clock_seconds();
    }
    if (late && !j->kept) kill(j->pid, SIGKILL);
    close_fd(&j->life); /* a keeper then kills what is left */
    int status = 0;
    while (waitpid(j->pid, &status, __WALL) < 0 && errno == EINTR) {}
    collect(j, r, late);
    jail_free(j);
}

void jail_result_free(struct jail_result *r) {
    buf_free(&r->output);
    for (unsigned i = 0; i < JAIL_TAKES; i++) buf_free(&r->taken[i]);
}

/* ---- memory in use ---- */

static uint64_t resident_of(pid_t pid) {
    char path[64];
    unsigned long long all, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%llu %llu", &all, &resident) != 2) resident = 0;
    if (f) fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Of a process and what it started: a jail is shallow. */
static uint64_t resident_below(pid_t pid, unsigned depth) {
    char path[64];
    int child;
    uint64_t sum = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    FILE *f = depth < 4 ? fopen(path, "re") : NULL;
    while (f && fscanf(f, "%d", &child) == 1)
        sum += resident_of(child) + resident_below(child, depth + 1);
    if (f) fclose(f);
    return sum;
}

uint64_t jail_resident(const struct jail *j) { return resident_below(j->pid, 0); }
