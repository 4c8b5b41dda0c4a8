/* jail_cgroup.c — see jail_cgroup.h. A group's name contains the grader's process id, so that a
 * later grader finds the groups of one that was killed. */
#include "grader/jail/jail_cgroup.h"
#include "common/system_info.h"
#include "grader/jail/jail_plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "warpbook.";
enum { OVERHEAD_BYTES = 192 << 20 /* pages of libraries, kernel memory, the folder's metadata */ };

/* Folders in which groups are created; found once. */
enum { BASE_PATH = JAIL_CGROUP_PATH - 40 };
static char bases[2][BASE_PATH];
static unsigned nbases;
static bool bases_known;

static bool write_text(const char *folder, const char *name, const char *text) {
    char path[JAIL_CGROUP_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return ok;
}

static bool write_number(const char *folder, const char *name, uint64_t v) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    return write_text(folder, name, text);
}

static bool is_cgroup_v2(void) { return access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0; }

static void find_bases(void) {
    bases_known = true;
    if (is_cgroup_v2()) {
        nbases = system_cgroup_path("", bases[0], sizeof bases[0]);
        if (nbases) write_text(bases[0], "cgroup.subtree_control", "+pids +memory");
        return;
    }
    nbases = system_cgroup_path("pids", bases[0], sizeof bases[0]);
    nbases += system_cgroup_path("memory", bases[nbases], sizeof bases[nbases]);
}

static bool set_limits(const char *folder, const struct jail_limits *l) {
    uint64_t memory = l->memory_bytes ? l->memory_bytes + l->work_bytes + OVERHEAD_BYTES : 0;
    uint64_t processes =
        l->max_processes ? l->max_processes + 4 : 0; /* for pid 1 of the sandbox, the keeper */
    bool pids_ok = !processes || write_number(folder, "pids.max", processes);
    bool memory_ok =
        !memory ||
        write_number(folder, is_cgroup_v2() ? "memory.max" : "memory.limit_in_bytes", memory);
    if (memory && memory_ok && is_cgroup_v2()) write_text(folder, "memory.swap.max", "0");
    return is_cgroup_v2() ? pids_ok && memory_ok : strstr(folder, "/pids/") ? pids_ok : memory_ok;
}

void jail_cgroup_open(struct jail_cgroup *c, const struct jail_limits *l) {
    static unsigned serial;
    *c = (struct jail_cgroup){0};
    if (!bases_known) find_bases();
    serial++;
    for (unsigned i = 0; i < nbases; i++) {
        char *path = c->paths[c->n];
        snprintf(path, sizeof c->paths[0], "%.*s/%s%d.%u", BASE_PATH - 1, bases[i], prefix,
                 getpid(), serial);
        if (mkdir(path, 0755) < 0) continue;
        if (set_limits(path, l)) c->n++;
        else rmdir(path);
    }
}

bool jail_cgroup_add(const struct jail_cgroup *c, pid_t pid) {
    bool ok = true;
    for (unsigned i = 0; i < c->n; i++)
        ok &= write_number(c->paths[i], "cgroup.procs", (uint64_t)pid);
    return ok;
}

/* Returns the number after `key` at the start of a line, or the file's first number if `key` is
 * empty; -1 = none. */
static long long read_number(const char *path, const char *key) {
    char line[256];
    long long n = -1;
    size_t length = strlen(key);
    FILE *f = fopen(path, "re");
    while (f && n < 0 && fgets(line, sizeof line, f))
        if (!length) n = strtoll(line, NULL, 10);
        else if (!strncmp(line, key, length) && line[length] == ' ')
            n = strtoll(line + length, NULL, 10);
    if (f) fclose(f);
    return n;
}

static long long read_group_number(const char *folder, const char *name, const char *key) {
    char path[JAIL_CGROUP_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_number(path, key);
}

long long jail_cgroup_system_oom_kills(void) { return read_number("/proc/vmstat", "oom_kill"); }

/* Returns why a process of the group was killed. "oom_kill" counts kills for any lack of memory.
 * Version 2's line "oom", or version 1's file memory.failcnt, says whether this group's own limit
 * was hit. */
static enum jail_cgroup_outcome group_outcome(const char *folder) {
    bool is_v2 = is_cgroup_v2();
    if (read_group_number(folder, is_v2 ? "memory.events" : "memory.oom_control", "oom_kill") <= 0)
        return JAIL_CGROUP_NO_KILL;
    long long limit_hits = is_v2 ? read_group_number(folder, "memory.events", "oom")
                                 : read_group_number(folder, "memory.failcnt", "");
    return limit_hits > 0 ? JAIL_CGROUP_LIMIT_OOM : JAIL_CGROUP_SYSTEM_OOM;
}

enum jail_cgroup_outcome jail_cgroup_close(struct jail_cgroup *c) {
    enum jail_cgroup_outcome end = JAIL_CGROUP_NO_KILL;
    for (unsigned i = 0; i < c->n; i++) {
        if (end == JAIL_CGROUP_NO_KILL) end = group_outcome(c->paths[i]);
        for (unsigned k = 0; k < 200 && rmdir(c->paths[i]) < 0 && errno == EBUSY; k++) usleep(500);
    }
    c->n = 0;
    return end;
}

static void remove_stale_groups(const char *base) {
    DIR *d = opendir(base);
    for (struct dirent *x; d && (x = readdir(d));) {
        char path[JAIL_CGROUP_PATH + 300];
        int pid;
        if (strncmp(x->d_name, prefix, sizeof prefix - 1) ||
            sscanf(x->d_name + sizeof prefix - 1, "%d", &pid) != 1)
            continue;
        if (kill(pid, 0) == 0 || errno != ESRCH) continue;
        snprintf(path, sizeof path, "%.*s/%s", BASE_PATH - 1, base, x->d_name);
        rmdir(path);
    }
    if (d) closedir(d);
}

bool jail_cgroup_usable(void) {
    struct jail_cgroup c;
    sigset_t former;
    jail_interrupt_delay(&former);
    jail_cgroup_open(&c, &(struct jail_limits){.memory_bytes = 1 << 20, .max_processes = 1});
    bool usable = c.n > 0;
    for (unsigned i = 0; i < nbases; i++) remove_stale_groups(bases[i]);
    jail_cgroup_close(&c);
    jail_interrupt_allow(&former);
    return usable;
}
