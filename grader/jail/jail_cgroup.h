/* jail_cgroup.h — control groups around a jail, where this user may make them: limits on the sum
 * over its processes, which rlimits cannot hold. Version 1 (a folder for pids, one for memory) and
 * version 2 (one for both). */
#pragma once
#include "grader/jail/jail.h"

#include <sys/types.h>

enum { JAIL_CGROUP_PATH = 600 }; /* those of a desktop's terminal are some 150 long */
struct jail_cgroup {
    char paths[2][JAIL_CGROUP_PATH];
    unsigned n; /* 0 = none can be made here; the jail does without */
};
void jail_cgroup_open(struct jail_cgroup *c, const struct jail_limits *l);
bool jail_cgroup_add(const struct jail_cgroup *c, pid_t pid);
enum jail_cgroup_outcome {
    JAIL_CGROUP_NO_KILL,
    JAIL_CGROUP_LIMIT_OOM, /* a process was killed because the groups' own limit was reached */
    JAIL_CGROUP_SYSTEM_OOM /* one was killed, and the limit was not reached: memory ran out further
                           up, or in the machine */
};
/* Removes the groups, whose processes must be dead. */
enum jail_cgroup_outcome jail_cgroup_close(struct jail_cgroup *c);
/* Processes that the kernel has killed for want of memory since it started, in any group; -1 = it
 * does not say. */
long long jail_cgroup_system_oom_kills(void);
/* True if groups can be made; also removes those of graders that were killed. */
bool jail_cgroup_usable(void);
