/* jail_cgroup.h — control groups around a sandbox, if this user may create them. They limit the sum
 * over its processes, which rlimits cannot do. Both versions work: version 1 has one folder for
 * pids and one for memory, version 2 one folder for both. */
#pragma once
#include "grader/jail/jail.h"

#include <sys/types.h>

enum { JAIL_CGROUP_PATH = 600 }; /* bytes; the path of a desktop's terminal takes about 150 */
struct jail_cgroup {
    char paths[2][JAIL_CGROUP_PATH];
    unsigned n; /* 0 = none could be created; the sandbox works without them */
};
/* Makes a control group with these limits, if this machine allows it. */
void jail_cgroup_open(struct jail_cgroup *c, const struct jail_limits *l);
bool jail_cgroup_add(const struct jail_cgroup *c, pid_t pid);
enum jail_cgroup_outcome {
    JAIL_CGROUP_NO_KILL,
    JAIL_CGROUP_LIMIT_OOM, /* the kernel killed a process at the group's own limit */
    JAIL_CGROUP_SYSTEM_OOM /* it killed one below the limit: a parent group or the machine ran out
                            * of memory */
};
/* Removes the groups and returns whether the kernel killed a process for lack of memory. All
 * processes of the groups must be dead. */
enum jail_cgroup_outcome jail_cgroup_close(struct jail_cgroup *c);
/* Returns how many processes the kernel has killed for lack of memory since boot, in any group;
 * -1 = unknown. */
long long jail_cgroup_system_oom_kills(void);
/* Returns true if groups can be created; also removes the groups of graders that were killed. */
bool jail_cgroup_usable(void);
