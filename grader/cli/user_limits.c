/* user_limits.c — see user_limits.h. */
#include "grader/cli/user_limits.h"

#include <stdio.h>
#include <sys/resource.h>

/* Device memory and its shadows reserve addresses, most of which never become memory. Under a limit
 * of address space they reserve less, and the simulator uses one thread where it checks for races
 * (sim/mem/memory.c); the figure is what the largest case then needs. So that limit is lifted as
 * far as possible. The other figures are the sandboxes' own limits (jail_limits), since a process
 * can't raise a limit that the shell has set lower; for files, the memory of the largest case; for
 * the stack, what the simulator's threads were tested with. */
enum { ADDRESSES_KIB = 7 << 20 };
static const struct user_limit {
    int resource;
    const char *option, *what;
    rlim_t needed, unit; /* needed: in units; unit: bytes, or 1 */
} limits[] = {
    {RLIMIT_AS, "v", "addresses of a process, KiB", ADDRESSES_KIB, 1024},
    {RLIMIT_FSIZE, "f", "size of a file, KiB", 1 << 20, 1024},
    {RLIMIT_DATA, "d", "data of a process, KiB", 2 << 20, 1024},
    {RLIMIT_STACK, "s", "stack, KiB", 2048, 1024},
    {RLIMIT_NPROC, "u", "processes of the user", 1024, 1},
    {RLIMIT_NOFILE, "n", "open files", 256, 1},
    {RLIMIT_CPU, "t", "processor time, seconds", 3601, 1},
};

/* RLIM_INFINITY is the largest value. Only root may raise the hard limit. */
static bool lift(const struct user_limit *l, struct rlimit *now) {
    rlim_t needed = l->needed * l->unit;
    if (getrlimit((__rlimit_resource_t)l->resource, now) < 0) return true;
    struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY},
                  as_hard = {now->rlim_max, now->rlim_max};
    if (l->resource == RLIMIT_AS && (setrlimit(RLIMIT_AS, &unlimited) == 0 ||
                                     (now->rlim_max >= needed && !setrlimit(RLIMIT_AS, &as_hard))))
        return true;
    if (now->rlim_cur >= needed) return true;
    struct rlimit lifted = {needed, now->rlim_max < needed ? needed : now->rlim_max};
    return setrlimit((__rlimit_resource_t)l->resource, &lifted) == 0;
}

static bool set_limit_error(const struct user_limit *l, const struct rlimit *now, struct err *e) {
    return err_set(e, ERR_SYSTEM,
                   "this shell limits a grading too far (%s: %llu): run `ulimit -%s %llu`, or if "
                   "that is refused, start a shell with a higher hard limit (`ulimit -H%s` shows "
                   "it; for addresses under Slurm, raise --mem or VSizeFactor)",
                   l->what, (unsigned long long)(now->rlim_cur / l->unit), l->option,
                   (unsigned long long)l->needed, l->option);
}

bool cli_lift_limits(struct err *e) {
    for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit now;
        if (!lift(&limits[i], &now)) return set_limit_error(&limits[i], &now, e);
    }
    return true;
}
