/* jail_keeper.c — sandboxes without namespaces (T2 and --no-jail). jail.c forks a keeper between
 * the grader and the program. The keeper owns the program's folder and becomes the parent of the
 * program's orphans. Only the grader holds the other end of a pipe open; if the grader is killed,
 * the pipe closes and the keeper cleans up.
 *
 * The keeper kills the program's process group. Under T2, seccomp lets no process leave the group,
 * and the kernel kills a group in one step, so that no fork escapes. With --no-jail a process may
 * leave the group; the keeper then finds it as its own child. */
#include "common/file.h"
#include "grader/jail/jail_cgroup.h"
#include "grader/jail/jail_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the program's user ---- */

enum { FIRST_UID = 2000000000, NOBODY_UID = 65534 };

/* Returns true if this process may become `uid`; a container's user namespace maps few ids. */
static bool is_uid_mapped(unsigned uid) {
    unsigned inside, outside, count, found = 0;
    FILE *f = fopen("/proc/self/uid_map", "re");
    while (f && fscanf(f, "%u %u %u", &inside, &outside, &count) == 3)
        found |= uid - inside < count;
    if (f) fclose(f);
    return found;
}

/* Returns the number of this user's processes and threads, which RLIMIT_NPROC counts. */
static unsigned count_tasks(unsigned uid) {
    unsigned n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *x; d && (x = readdir(d));) {
        char path[64];
        struct stat st;
        if (x->d_name[0] < '1' || x->d_name[0] > '9') continue;
        snprintf(path, sizeof path, "/proc/%.20s/task", x->d_name);
        if (stat(path, &st) == 0 && st.st_uid == uid)
            n += st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 1;
    }
    if (d) closedir(d);
    return n;
}

/* Chooses the program's user. Root gives each program an id of its own, which is unique because it
 * contains the keeper's pid. */
static void choose_uid(struct jail_plan *p) {
    unsigned max_processes = p->job->limits.max_processes;
    p->keeps_uid = geteuid() != 0 || !p->is_confined;
    p->uid = p->keeps_uid ? geteuid() : FIRST_UID + (unsigned)getpid();
    if (!p->keeps_uid && !is_uid_mapped(p->uid)) p->uid = NOBODY_UID;
    bool is_unique_uid = !p->keeps_uid && p->uid != NOBODY_UID;
    p->max_processes = !max_processes || !p->is_confined ? 0
                       : is_unique_uid                   ? max_processes
                                                         : count_tasks(p->uid) + 2 * max_processes;
}

/* ---- the folder ---- */

static char work_folder[PATH_TEMPORARY_BYTES];

static bool create_work_folder(const struct jail_plan *p) {
    char path[PATH_MAX];
    struct err e = {0};
    path_temporary(work_folder, "work");
    if (!mkdtemp(work_folder)) return work_folder[0] = 0, false;
    for (unsigned i = 0; i < p->job->nfiles; i++)
        if (!path_join(path, sizeof path, work_folder, p->job->files[i].name) ||
            !file_write(path, p->job->files[i].data, p->job->files[i].size, &e) ||
            utimensat(AT_FDCWD, path, (struct timespec[2]){{0}}, 0) < 0) /* see jail_init.c */
            return false;
    return chdir(work_folder) == 0 && (p->keeps_uid || chown(".", p->uid, p->uid) == 0);
}

static bool is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* Returns the bytes on the disk, with 4096 added for each entry. A folder that can't be read, or is
 * nested deeper than any compiler nests, counts as more than `limit`. */
static uint64_t folder_bytes(const char *path, unsigned depth, uint64_t limit) {
    uint64_t total = 0;
    DIR *d = depth < 32 ? opendir(path) : NULL;
    if (!d) return errno == ENOENT ? 0 : limit + 1;
    for (struct dirent *x; total <= limit && (x = readdir(d));) {
        char entry_path[PATH_MAX];
        struct stat st;
        if (is_dots(x->d_name) || !path_join(entry_path, sizeof entry_path, path, x->d_name) ||
            lstat(entry_path, &st) < 0)
            continue;
        total += (uint64_t)st.st_blocks * 512 + 4096;
        if (S_ISDIR(st.st_mode)) total += folder_bytes(entry_path, depth + 1, limit);
    }
    closedir(d);
    return total;
}

/* Empties folder `name` of `top` and removes it. It moves inner folders up into `top`, so that deep
 * nesting needs no more descriptors and no longer paths. */
static void remove_folder(int top, const char *name) {
    static unsigned nmoved;
    char new_name[32];
    struct stat st;
    if (fchmodat(top, name, 0700, 0) < 0 && errno == ENOENT) return;
    int fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *x; d && (x = readdir(d));) {
        if (is_dots(x->d_name) || fstatat(fd, x->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
        snprintf(new_name, sizeof new_name, ".moved-%u", nmoved++);
        if (!S_ISDIR(st.st_mode)) unlinkat(fd, x->d_name, 0);
        else if (fchmodat(fd, x->d_name, 0700, 0) < 0 || renameat(fd, x->d_name, top, new_name) < 0)
            continue;
    }
    if (d) closedir(d);
    unlinkat(top, name, AT_REMOVEDIR);
}

/* Removes the current folder; every process that could write to it is dead. */
static void remove_work_folder(void) {
    for (unsigned attempt = 0, remaining = 1; remaining && attempt < 100000; attempt++) {
        struct stat st;
        remaining = 0;
        DIR *d = opendir(".");
        for (struct dirent *x; d && (x = readdir(d));) {
            if (is_dots(x->d_name) || lstat(x->d_name, &st) < 0) continue;
            remaining++;
            if (S_ISDIR(st.st_mode)) remove_folder(dirfd(d), x->d_name);
            else unlink(x->d_name);
        }
        if (d) closedir(d);
    }
    if (chdir("/") == 0) rmdir(work_folder);
}

/* ---- paths ---- */

/* Returns a copy of an argument or variable, in which a path inside is replaced by the one
 * outside. */
static char *translate_path(const struct jail_plan *p, const char *s) {
    const struct jail_job *job = p->job;
    for (unsigned i = 0; i < job->nbinds; i++) {
        const char *at = strstr(s, job->binds[i].to);
        size_t n = strlen(job->binds[i].to);
        if (!at || !strcmp(job->binds[i].to, job->binds[i].from) ||
            (at[n] && at[n] != '/' && at[n] != ':'))
            continue;
        char *out = xmalloc(strlen(s) + strlen(job->binds[i].from) + 1);
        sprintf(out, "%.*s%s%s", (int)(at - s), s, job->binds[i].from, at + n);
        return out;
    }
    const char *at = strstr(s, "/work");
    if (!at || (at != s && at[-1] != '=')) return xstrdup(s);
    char *out = xmalloc(strlen(s) + strlen(work_folder) + 1);
    sprintf(out, "%.*s%s%s", (int)(at - s), s, work_folder, at + 5);
    return out;
}

/* Translates a list; it is never freed, as the keeper exits soon. */
static const char *const *translate_paths(const struct jail_plan *p, const char *const *list) {
    unsigned n = 0;
    while (list && list[n]) n++;
    const char **out = xcalloc(n + 1, sizeof *out);
    for (unsigned i = 0; i < n; i++) out[i] = translate_path(p, list[i]);
    return out;
}

/* ---- the end ---- */

/* Kills the keeper's children, adopted orphans included. */
static void kill_children(void) {
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1) kill(pid, SIGKILL);
    if (f) fclose(f);
}

/* Kills and reaps until no child is left; `status` gets the program's own status. Once the program
 * is reaped, the kernel may reuse its number, so the group is killed only before that. The rest of
 * the group are then the keeper's children, or become so. */
static void kill_and_reap_all(pid_t program, int *status) {
    for (unsigned attempt = 0; attempt < 2000; attempt++) {
        if (program) kill(-program, SIGKILL);
        kill_children();
        for (;;) {
            int child_status;
            pid_t pid = waitpid(-1, &child_status, __WALL | WNOHANG);
            if (pid < 0 && errno == ECHILD) return;
            if (pid <= 0) break;
            if (pid == program) *status = child_status, program = 0;
        }
        usleep(2000);
    }
}

/* Waits until the program ends, the grader ends or closes the pipe, or the folder is full. */
static void watch_program(const struct jail_plan *p, pid_t program, struct jail_report *r) {
    int fd = (int)syscall(SYS_pidfd_open, program, 0);
    struct pollfd q[2] = {{.fd = fd, .events = POLLIN}, {.fd = p->start_fd, .events = POLLIN}};
    uint64_t limit = p->job->limits.work_bytes;
    while (fd >= 0 && !r->work_limit_exceeded && poll(q, 2, 100) <= 0)
        r->work_limit_exceeded = limit && p->is_confined && folder_bytes(".", 0, limit) > limit;
    if (fd >= 0) close(fd);
}

/* Closes the grader's other descriptors, among them the pipes whose closing tells other keepers to
 * clean up. */
static void close_inherited_fds(const struct jail_plan *p) {
    for (int fd = 3; fd < 1024; fd++) {
        bool needed =
            fd == p->start_fd || fd == p->report_fd || fd == p->output_fd || fd == p->input_fd;
        for (unsigned i = 0; i < JAIL_MAX_OUT_FILES; i++) needed |= fd == p->out_fds[i];
        for (unsigned i = 0; i < p->job->nfds; i++) needed |= fd == p->job->fds[i].from;
        if (!needed) close(fd);
    }
    close_range(1024, ~0u, 0);
}

void jail_keeper_run(const struct jail_plan *job_plan) {
    struct jail_plan p = *job_plan;
    struct jail_report r = {0};
    signal(SIGINT, SIG_IGN), signal(SIGTERM, SIG_IGN), signal(SIGHUP, SIG_IGN),
        signal(SIGCHLD, SIG_DFL);
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    close_inherited_fds(&p);
    if (!jail_cgroup_add(p.cgroups, getpid()))
        r = (struct jail_report){.failed_stage = "control group", .error = errno};
    choose_uid(&p);
    p.work_folder = work_folder;
    if (!r.failed_stage && !create_work_folder(&p))
        r = (struct jail_report){.failed_stage = "folder for the program", .error = errno};
    pid_t program = r.failed_stage ? 0
                                   : jail_launch(&p, translate_paths(&p, p.job->argv),
                                                 translate_paths(&p, p.job->env));
    if (program > 0) {
        watch_program(&p, program, &r);
        kill_and_reap_all(program, &r.status);
        if (WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0) r.out_mask = jail_copy_out(&p);
    }
    if (work_folder[0]) remove_work_folder();
    if (program >= 0 && write(p.report_fd, &r, sizeof r)) {} /* else jail_launch has reported */
    _exit(0);
}
