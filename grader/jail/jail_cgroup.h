/* jail_cgroup.h — control groups around a jail, where this user may make them: limits on the sum over its processes,
 * which rlimits cannot hold. Version 1 (a folder for pids, one for memory) and version 2 (one for both). */
#pragma once
#include "grader/jail/jail.h"

#include <sys/types.h>

struct jail_cgroup {
    char paths[2][160];
    unsigned n; /* 0 = none can be made here; the jail does without */
};
void jail_cgroup_open(struct jail_cgroup *c, const struct jail_limits *l);
bool jail_cgroup_add(const struct jail_cgroup *c, pid_t pid);
/* Removes the groups, whose processes must be dead. True if memory ran out in them. */
bool jail_cgroup_close(struct jail_cgroup *c);
/* True if groups can be made; also removes those of graders that were killed. */
bool jail_cgroup_usable(void);
