/* jail.h — runs a program that nobody vouches for: nvcc on a student's file, and the student's host
 * code.
 *
 * There are two tiers, and jail_probe chooses the stronger one that holds (docs/security.md says
 * what each promises). T1: a jailed program lives in its own user, mount, pid, network, IPC and UTS
 * namespaces. It sees a read-only root built from the binds it was given, one writable folder /work
 * of limited size, and no /proc, no network and no descriptor that was not passed on purpose.
 * seccomp removes the system calls that have no business here; limits hold time, memory, output and
 * processes, and Landlock repeats the rules on files. It dies with the grader, and everything it
 * started dies with it. T2, where user namespaces are not to be had: Landlock alone hides files,
 * signals and TCP, seccomp sockets and what Landlock does not know; a keeper process ends the
 * program's process group.
 *
 *   struct jail *j = jail_start(&(struct jail_job){.argv = argv, .binds = binds, ...}, &err);
 *   jail_wait(j, seconds, &result);   // kills what is left
 *   jail_result_free(&result);
 *
 * jail_probe() tries forbidden actions inside a jail; where one succeeds, nothing is to be run. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jail_bind {
    const char *from, *to; /* read-only; `to` is absolute, its parents are created */
    bool optional;         /* skip where `from` does not exist */
};
struct jail_file {
    const char *name; /* of a file in /work, written before the start; no slashes */
    const void *data;
    size_t size;
};
struct jail_fd {
    int from, to; /* the grader's descriptor, and its number inside (3 or more) */
};

/* What a jail is for decides which system calls are refused, and whether trying one is a violation
 * (the process is killed, verdict SEC) or just fails: compilers probe for things that an entry
 * function has no reason to touch. The device process is our own program: it lays a stricter filter
 * on itself (jail_restrict_self) before it reads a byte of a submission. */
enum jail_kind {
    JAIL_COMPILER,
    JAIL_HOST,
    JAIL_DEVICE,
    JAIL_GPU /* a device process with a real GPU */,
    JAIL_KIND_COUNT
};

enum { JAIL_MAX_OUT_FILES = 3 };
struct jail_limits {
    double cpu_seconds;     /* of the busiest process */
    uint64_t memory_bytes;  /* private writable memory of a process; JAIL_DEVICE: see
                               jail_resident_bytes */
    uint64_t address_bytes; /* address space of a process; 0 = no limit */
    uint64_t file_bytes;    /* one file, and what is printed */
    uint64_t work_bytes;    /* the writable folder */
    unsigned max_processes,
        max_fds; /* processes and threads of the jail; descriptors of a process */
};

struct jail_job {
    enum jail_kind kind;
    const char *const *argv, *const *env; /* NULL-terminated; argv[0] is a path inside */
    int (*entry)(void *); /* instead of argv: called in the jail, its value is the exit status */
    void *entry_data;
    const struct jail_bind *binds;
    unsigned nbinds;
    const struct jail_file *files;
    unsigned nfiles;
    bool mounts_proc; /* with a /proc of its own processes, which a GPU's driver wants; without
                  namespaces, the machine's */
    const struct jail_fd *fds;
    unsigned nfds;
    const char *out_files[JAIL_MAX_OUT_FILES]; /* files of /work to hand out after exit status 0;
                                     each at most limits.file_bytes */
    struct jail_limits limits;
};

enum jail_outcome {
    JAIL_EXITED,         /* code */
    JAIL_SIGNALLED,      /* signal */
    JAIL_TIMEOUT,        /* wall clock or CPU time */
    JAIL_OUTPUT_LIMIT,   /* printed or wrote more than file_bytes */
    JAIL_MEMORY_LIMIT,   /* ended because its control group reached its limit of memory */
    JAIL_SYSTEM_OOM,     /* ended because the machine, or a container around the grader, ran out of
                          * memory
                          */
    JAIL_VIOLATION,      /* a forbidden system call */
    JAIL_INTERNAL_ERROR, /* our own fault; `why` says what */
};

struct jail_result {
    enum jail_outcome outcome;
    int code, signal;
    struct buf output; /* what was printed, standard output and error together, as bytes */
    struct buf out_files[JAIL_MAX_OUT_FILES]; /* the files asked for */
    bool has_out_file[JAIL_MAX_OUT_FILES];
    char reason[256];
};

struct jail;

/* The program runs when this returns. NULL: the jail could not be set up (never the program's own
 * failure to start, which jail_wait reports as JAIL_INTERNAL_ERROR). */
struct jail *jail_start(const struct jail_job *job, struct err *e);
/* Becomes readable when the jailed program has ended. */
int jail_pollfd(const struct jail *j);
/* What was printed so far, appended from byte `from` on; returns the new `from`. */
size_t jail_output(const struct jail *j, size_t from, size_t limit, struct buf *out);
/* Waits up to `seconds` for the end, kills what is left, and frees the jail. */
void jail_wait(struct jail *j, double seconds, struct jail_result *r);
void jail_result_free(struct jail_result *r);

/* Bytes of memory that the jail's processes hold now; 0 = not known. The device process reserves
 * far more than it uses, so that no rlimit can hold it: whoever waits for it looks at this. */
uint64_t jail_resident_bytes(const struct jail *j);
/* For the device process: from now on this process computes, speaks on the descriptors that it has,
 * makes threads and maps memory; any other system call kills it. */
bool jail_restrict_self(void);

/* The binds that any dynamically linked program needs, and those of a compiler on top. */
const struct jail_bind *jail_system_binds(enum jail_kind kind, unsigned *n);

/* True if jails hold on this machine. The text says which tier, or what failed and what to do. */
bool jail_probe(struct err *e);
/* "T1: namespaces, Landlock 7, seccomp", for reports. */
const char *jail_describe_tier(void);

enum jail_tier { JAIL_NAMESPACES, JAIL_LANDLOCK, JAIL_NONE };
/* Tests force a tier by this, or by WARPBOOK_JAIL_TIER=T1 or T2 in the environment of a program
 * that probes. */
void jail_set_tier(enum jail_tier t);
enum jail_tier jail_current_tier(void);
/* Put every later jail into control groups, where these can be made; jail_probe decides it. */
void jail_use_cgroups(bool enabled);
/* For --no-jail: every later jail_start runs the program unprotected (limits only), in a temporary
 * folder. */
void jail_disable(void);
bool jail_disabled(void);
