/* jail_plan.h — the data that jail.c (outside) passes to jail_init.c and jail_keeper.c (inside);
 * private to this folder. */
#pragma once
#include "grader/jail/jail.h"
#include "grader/jail/jail_cgroup.h"

#include <linux/filter.h>
#include <signal.h>
#include <sys/types.h>

enum { JAIL_UID = 1000, JAIL_MAX_FDS = 8 };

/* The report that the sandbox's first process, or the keeper, sends the grader at its end. */
struct jail_report {
    const char *failed_stage; /* a literal: the setup step that failed; NULL = none */
    int error;                /* errno of that step */
    int status;               /* the program's status, as from waitpid */
    unsigned out_mask;        /* bit i: the i-th of job->out_files was copied out */
    bool work_limit_exceeded; /* the writable folder exceeded its limit */
};

struct jail_plan {
    const struct jail_job *job;
    int start_fd;                    /* readable once the user map is written */
    int report_fd;                   /* one struct jail_report */
    int output_fd;                   /* the program's standard output and error */
    int input_fd;                    /* its standard input */
    int out_fds[JAIL_MAX_OUT_FILES]; /* memory files for job->out_files, or -1 */
    /* The program keeps the grader's user. T1: the map has only that id. T2: the grader is not
     * root, or runs with --no-jail. */
    bool keeps_uid;
    unsigned uid; /* T2 without keeps_uid: the program's user and group */
    /* T2: the keeper adds itself to them. T1: the grader adds the first process. */
    const struct jail_cgroup *cgroups;
    const char *work_folder; /* T2: the folder that replaces /work; NULL in namespaces */
    bool is_confined;        /* T2: Landlock and seccomp; false only with --no-jail */
    unsigned max_processes;  /* T2: RLIMIT_NPROC, which counts all processes of the user */
    struct sock_fprog filter;
};

/* Builds the seccomp filter for a kind; `arch` is libseccomp's number of a machine. The caller
 * frees `out->filter`. */
bool jail_filter(enum jail_kind kind, bool without_namespaces, uint32_t arch,
                 struct sock_fprog *out);

/* Runs the sandbox's first process (jail_init.c); never returns. */
_Noreturn void jail_init_run(const struct jail_plan *p);
/* Sets descriptors, limits, privileges and the filter, then executes the program; never returns.
 * T2 uses it, too. */
_Noreturn void jail_exec(const struct jail_plan *p, const char *const *argv, const char *const *env,
                         int error_fd);
/* Starts the program. If it does not start, sends the report and returns -1. The first process and
 * the keeper call it. */
pid_t jail_launch(const struct jail_plan *p, const char *const *argv, const char *const *env);
/* Copies job->out_files from the current folder: regular files up to the limit only. Returns one
 * bit for each file copied. */
unsigned jail_copy_out(const struct jail_plan *p);

/* Runs the keeper of a sandbox without namespaces (jail_keeper.c): creates the folder, starts the
 * program, kills it when the grader ends or closes its end of `start_fd`, removes the folder and
 * reports; never returns. */
_Noreturn void jail_keeper_run(const struct jail_plan *p);

/* The table of this process's sandboxes for jail_end_by_signal (jail_interrupt.c). A sandbox is
 * known by its control groups. */
void jail_interrupt_add(const struct jail_cgroup *cgroups);
/* Sets what to kill: the first process, or for a keeper the descriptor to close; 0 and -1 = none.
 */
void jail_interrupt_set_program(const struct jail_cgroup *cgroups, pid_t program, int liveness_fd);
void jail_interrupt_remove(const struct jail_cgroup *cgroups);
/* Delays the handled signals from the creation of a group or process until the table knows it: an
 * end by a signal in between would leave it behind. `former` gets the signal mask to restore. */
void jail_interrupt_delay(sigset_t *former);
void jail_interrupt_allow(const sigset_t *former);
/* Restores the default actions in a process of a sandbox. */
void jail_forget_interrupts(void);
