/* user_limits.c — see user_limits.h. */
#include "grader/cli/user_limits.h"

#include <stdio.h>
#include <sys/resource.h>

/* Device memory and its shadows reserve addresses, most of which never become memory, so no finite
 * limit of address space is known to be enough. The other figures are the sandboxes' own limits
 * (jail_limits), since a process can't raise a limit that the shell has set lower; for files, the
 * memory of the largest case; for the stack, what the simulator's threads were tested with. */
static const struct user_limit {
    int resource;
    const char *option, *what;
    rlim_t needed, unit; /* needed: in units; unit: bytes, or 1 */
} limits[] = {
    {RLIMIT_AS, "v", "addresses of a process, KiB", RLIM_INFINITY, 1024},
    {RLIMIT_FSIZE, "f", "size of a file, KiB", 1 << 20, 1024},
    {RLIMIT_DATA, "d", "data of a process, KiB", 2 << 20, 1024},
    {RLIMIT_STACK, "s", "stack, KiB", 2048, 1024},
    {RLIMIT_NPROC, "u", "processes of the user", 1024, 1},
    {RLIMIT_NOFILE, "n", "open files", 256, 1},
    {RLIMIT_CPU, "t", "processor time, seconds", 3601, 1},
};

static rlim_t needed_value(const struct user_limit *l) {
    return l->needed == RLIM_INFINITY ? RLIM_INFINITY : l->needed * l->unit;
}

/* RLIM_INFINITY is the largest value. Only root may raise the hard limit. */
static bool lift(const struct user_limit *l, struct rlimit *now) {
    rlim_t needed = needed_value(l);
    if (getrlimit((__rlimit_resource_t)l->resource, now) < 0 || now->rlim_cur >= needed)
        return true;
    struct rlimit lifted = {needed, now->rlim_max < needed ? needed : now->rlim_max};
    return setrlimit((__rlimit_resource_t)l->resource, &lifted) == 0;
}

static bool set_limit_error(const struct user_limit *l, const struct rlimit *now, struct err *e) {
    char needed[32] = "unlimited";
    if (l->needed != RLIM_INFINITY)
        snprintf(needed, sizeof needed, "%llu", (unsigned long long)l->needed);
    return err_set(e, ERR_SYSTEM,
                   "this shell limits a grading too far (%s: %llu): run `ulimit -%s %s`, or if "
                   "that is refused, start a shell with a higher hard limit (`ulimit -H%s` shows "
                   "it; for addresses under Slurm, raise --mem or VSizeFactor)",
                   l->what, (unsigned long long)(now->rlim_cur / l->unit), l->option, needed,
                   l->option);
}

bool cli_lift_limits(struct err *e) {
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now;
        if (!lift(&limits[i], &now)) return set_limit_error(&limits[i], &now, e);
    }
    return true;
}
