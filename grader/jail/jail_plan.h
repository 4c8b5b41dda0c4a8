/* jail_plan.h — what jail.c (outside) hands to jail_init_run.c (inside); private to the jail. */
#pragma once
#include "grader/jail/jail.h"

#include <linux/filter.h>
#include <sys/types.h>

enum { JAIL_UID = 1000, JAIL_MAX_FDS = 8 };

/* What the first process of a jail tells the grader when it ends. */
struct jail_report {
    const char *failed_stage; /* a literal: what failed while setting up; NULL = nothing */
    int error;                /* errno of that */
    int status;               /* as waitpid reports the program's end */
    unsigned out_mask;        /* bit i: the i-th file asked for was handed out */
    bool work_limit_exceeded; /* the writable folder went over its limit */
};

struct jail_plan {
    const struct jail_job *job;
    int start_fd;                    /* readable once the user map is written */
    int report_fd;                   /* one struct jail_report */
    int output_fd;                   /* the program's standard output and error */
    int null_fd;                     /* its standard input */
    int out_fds[JAIL_MAX_OUT_FILES]; /* memory files that get the files asked for, or -1 */
    bool keeps_uid; /* T1: the map holds one id only: run under it. T2: the grader is not root, or
                     has no ids to give */
    unsigned uid;   /* T2 without keeps_uid: the program's user and group */
    const struct jail_cgroup *cgroups; /* T2: for the keeper to enter; T1 is put in by the grader */
    const char *work_folder;           /* T2: what stands for /work; NULL in namespaces */
    bool is_confined;                  /* T2: Landlock and seccomp; false only with --no-jail */
    unsigned max_processes; /* T2: RLIMIT_NPROC, which counts all processes of the user */
    struct sock_fprog filter;
};

/* The filter of a kind of jail, made for a machine by libseccomp's name of it; `shared`: without
 * namespaces. The program is the caller's to free. */
bool jail_filter(enum jail_kind kind, bool without_namespaces, uint32_t arch,
                 struct sock_fprog *out);

/* The life of a jail's first process; never returns. */
_Noreturn void jail_init_run(const struct jail_plan *p);
/* Descriptors, limits, privileges, filter, then the program; never returns. Also used without
 * namespaces. */
_Noreturn void jail_exec(const struct jail_plan *p, const char *const *argv, const char *const *env,
                         int error_fd);
/* Starts the program; -1 where it did not start, which is reported. For the first process of a jail
 * and the keeper. */
pid_t jail_launch(const struct jail_plan *p, const char *const *argv, const char *const *env);
/* Copies the files asked for, from the current folder; regular files only, never more than the
 * limit. A bit for each. */
unsigned jail_copy_out(const struct jail_plan *p);

/* The life of the keeper of a jail without namespaces (jail_keeper.c): makes the folder, starts the
 * program, ends it when the grader ends or closes its end of `go`, removes the folder, reports;
 * never returns. */
_Noreturn void jail_keeper_run(const struct jail_plan *p);
