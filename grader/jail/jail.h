/* jail.h — runs an untrusted program in a sandbox: nvcc on a student's file, the student's host
 * code, the device process. The grader and the class commands call it.
 *
 * There are two tiers; jail_probe selects the stronger one that works on this machine.
 * docs/security.md says what each promises.
 * T1: the program runs in user, mount, pid, network, IPC and UTS namespaces of its own. It sees a
 * read-only root built from the job's binds, one writable folder /work of limited size, no /proc,
 * no network, and only the descriptors that the job passes. seccomp refuses unneeded system calls;
 * limits bound time, memory, output and processes; Landlock repeats the rules on files. If the
 * grader dies, the kernel kills the program and everything it started.
 * T2, for machines without user namespaces: Landlock alone blocks access to files, signals and
 * TCP. seccomp blocks sockets and whatever Landlock does not cover. A keeper process kills the
 * program's process group at the end.
 *
 *   struct jail *j = jail_start(&(struct jail_job){.argv = argv, .binds = binds, ...}, &err);
 *   jail_wait(j, seconds, &result);   // kills what is left
 *   jail_result_free(&result);
 *
 * jail_probe() tries forbidden actions inside a sandbox. If one succeeds, run no submission. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jail_bind {
    const char *from, *to; /* read-only; `to` is absolute, its parents are created */
    bool optional;         /* skip the bind if `from` does not exist */
};
struct jail_file {
    const char *name; /* a file in /work, written before the start; no slashes */
    const void *data;
    size_t size;
};
struct jail_fd {
    int from, to; /* the grader's descriptor, and its number inside (3 or more) */
};

/* The kind decides which system calls are refused, and whether a refused call is a violation (the
 * process is killed, verdict SEC) or just fails: compilers probe for features that an entry has no
 * reason to touch. The device process is our own program: it installs a stricter filter on itself
 * (jail_restrict_self) before it reads a byte of a submission. */
enum jail_kind {
    JAIL_COMPILER,
    JAIL_HOST,
    JAIL_DEVICE,
    JAIL_GPU, /* a device process with a real GPU */
    JAIL_KIND_COUNT
};

enum { JAIL_MAX_OUT_FILES = 8 };
struct jail_limits {
    double cpu_seconds; /* of each process */
    /* Private writable memory of a process; for JAIL_DEVICE, see jail_resident_bytes. */
    uint64_t memory_bytes;
    uint64_t address_bytes; /* address space of a process; 0 = no limit */
    uint64_t file_bytes;    /* one file, and the printed output */
    /* Largest size of a file at all, also of shared memory, most of which may stay unused;
     * 0 = file_bytes. */
    uint64_t sparse_bytes;
    uint64_t work_bytes; /* the writable folder */
    /* Processes and threads in the sandbox; descriptors of each process. */
    unsigned max_processes, max_fds;
};

struct jail_job {
    enum jail_kind kind;
    const char *const *argv, *const *env; /* NULL-terminated; argv[0] is a path inside */
    int (*entry)(void *); /* instead of argv: called inside, returns the exit status */
    void *entry_data;
    const struct jail_bind *binds;
    unsigned nbinds;
    const struct jail_file *files;
    unsigned nfiles;
    /* Provide a /proc of the sandbox's processes, which a GPU's driver needs; without namespaces,
     * the machine's /proc. */
    bool mounts_proc;
    const struct jail_fd *fds;
    unsigned nfds;
    /* Files of /work to return after exit status 0, each at most limits.file_bytes. */
    const char *out_files[JAIL_MAX_OUT_FILES];
    struct jail_limits limits;
};

enum jail_outcome {
    JAIL_EXITED,         /* code */
    JAIL_SIGNALLED,      /* signal */
    JAIL_TIMEOUT,        /* wall clock or CPU time */
    JAIL_OUTPUT_LIMIT,   /* printed or wrote more than file_bytes */
    JAIL_MEMORY_LIMIT,   /* its control group reached the memory limit */
    JAIL_SYSTEM_OOM,     /* the machine, or a container around the grader, ran out of memory */
    JAIL_VIOLATION,      /* a forbidden system call */
    JAIL_INTERNAL_ERROR, /* our own fault; see `reason` */
};

struct jail_result {
    enum jail_outcome outcome;
    int code, signal;
    struct buf output;                        /* standard output and error together, as bytes */
    struct buf out_files[JAIL_MAX_OUT_FILES]; /* the files that the job named */
    bool has_out_file[JAIL_MAX_OUT_FILES];
    char reason[256];
};

struct jail;

/* Makes SIGINT, SIGTERM and SIGHUP end this process and its forked children by
 * jail_end_by_signal(). A signal that is ignored stays so. */
void jail_handle_interrupts(void);
/* Kills the sandboxes of this process, waits for its children (up to 0.7 s), removes the control
 * groups, and ends the process by the signal. A handler may call it. */
void jail_end_by_signal(int number);

/* Starts the program. Returns NULL if the sandbox could not be set up. If only the program fails
 * to start, jail_wait reports JAIL_INTERNAL_ERROR. */
struct jail *jail_start(const struct jail_job *job, struct err *e);
/* Returns a descriptor that becomes readable when the program has ended. */
int jail_pollfd(const struct jail *j);
/* Appends up to `limit` bytes of the output, from byte `from` on; returns the next `from`. */
size_t jail_output(const struct jail *j, size_t from, size_t limit, struct buf *out);
/* Waits up to `seconds` for the end, kills what is left, and frees `j`. */
void jail_wait(struct jail *j, double seconds, struct jail_result *r);
void jail_result_free(struct jail_result *r);

/* Returns the resident memory of the sandbox's processes in bytes; 0 = unknown. The device process
 * reserves far more than it uses, so no rlimit fits it; the grader polls this number instead. */
uint64_t jail_resident_bytes(const struct jail *j);
/* Sums processor time over the threads of its processes: what they used, and how long they waited
 * for a processor; 0 where the kernel doesn't tell. */
void jail_processor_seconds(const struct jail *j, double *used, double *waited);
/* Restricts the calling process (the device process): it may compute, use its open descriptors,
 * start threads and map memory; any other system call kills it. */
bool jail_restrict_self(void);

/* Returns the binds that any dynamically linked program needs, or those of a compiler. */
const struct jail_bind *jail_system_binds(enum jail_kind kind, unsigned *n);

/* Selects the tier; returns true if one works on this machine. Otherwise `e` says what failed and
 * what to do. */
bool jail_probe(struct err *e);
/* Returns a text for reports, such as "T1: namespaces, Landlock 7, seccomp". */
const char *jail_describe_tier(void);

enum jail_tier { JAIL_NAMESPACES, JAIL_LANDLOCK, JAIL_NONE };
/* Tests force a tier with this function, or with WARPBOOK_JAIL_TIER=T1 or T2 in the environment of
 * a program that calls jail_probe. */
void jail_set_tier(enum jail_tier t);
enum jail_tier jail_current_tier(void);
/* Puts every later sandbox into control groups, if they can be created; called by jail_probe. */
void jail_use_cgroups(bool enabled);
/* For --no-jail: every later jail_start runs the program unprotected, with limits only, in a
 * temporary folder. */
void jail_disable(void);
bool jail_disabled(void);
