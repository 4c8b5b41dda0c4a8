/* jail_plan.h — what jail.c (outside) hands to jail_inside.c (inside); private to the jail. */
#pragma once
#include "grader/jail.h"

#include <linux/filter.h>

enum { JAIL_UID = 1000, JAIL_MAX_FDS = 8, JAIL_FIRST_FD = 3 };

/* What the first process of a jail tells the grader when it ends. */
struct jail_report {
    const char *stage; /* a literal: what failed while setting up; NULL = nothing */
    int error;         /* errno of that */
    int status;        /* as waitpid reports the program's end */
    bool took;
};

struct jail_plan {
    const struct jail_job *job;
    int go;       /* readable once the user map is written */
    int report;   /* one struct jail_report */
    int output;   /* the program's standard output and error */
    int null;     /* its standard input */
    int take;     /* memory file that gets the file asked for, or -1 */
    bool own_uid; /* the map holds one id only: run under it */
    struct sock_fprog filter;
};

/* The life of a jail's first process; never returns. */
_Noreturn void jail_inside(const struct jail_plan *p);
/* Descriptors, limits, privileges, filter, then the program; never returns. Also used without namespaces. */
_Noreturn void jail_become(const struct jail_plan *p, bool namespaces, const char *const *argv, int complain);
