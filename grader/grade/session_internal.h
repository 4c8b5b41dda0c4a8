/* session_internal.h — what the files of a session share: session_start.c has its processes, from
 * start to end; session.c its cases. Private to them. */
#pragma once
#include "grader/grade/device_process.h"
#include "grader/grade/session.h"
#include "grader/grade/case_memory.h"

enum { LOG_LIMIT = 8 << 10 };
static const double host_timeout_seconds = 4; /* for loading, and for one call of the entry */

struct session {
    const struct exercise *ex;
    const struct build *build;
    struct session_options o;
    const struct ptxas *ptxas;     /* once known */
    struct device_process *device; /* NULL until the first case, and after the host process died */
    struct jail *jail;
    struct problem problem;
    bool is_prefetched; /* it was drawn and solved ahead */
    struct case_memory case_memory;
    uint64_t address[EX_ARGS];      /* of each argument's own buffer */
    struct control_reply recording; /* what recording gave */
    bool is_recorded;
    bool has_inputs; /* with same_inputs: `inputs` stand in the memory file */
    struct control_replay replay_inputs;
    struct launch_stats launch_stats;
    struct buf log;
    size_t output_read;  /* bytes of the jail's output already in the log */
    size_t log_labelled; /* bytes of the log that are under the name of their case */
    unsigned start_count;
    bool is_finished;
    char compiled_by[64];
    /* Of a submission that does not load: the verdict of every case. */
    enum verdict load_verdict;
    struct buf load_message;
};

enum verdict session_set_verdict(struct case_run *out, enum verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* How the host process ended, as a verdict. */
enum verdict session_verdict_from_host(struct case_run *out, const struct jail_result *r);
/* Starts both processes and has the object loaded; V_AC, or the verdict in `out`. */
enum verdict session_start(struct session *s, struct case_run *out);
/* Asks the device process. True with an answer; else the verdict is in `out`, and the processes are
 * gone. */
bool session_request(struct session *s, enum control_op op, double seconds,
                     struct control_request *q, int fd, struct control_reply *p,
                     struct case_run *out);
/* What it sent, or did instead, as a verdict; the processes are gone then. */
enum verdict session_verdict_from_device(struct session *s, enum device_outcome outcome,
                                         double seconds, struct case_run *out);
void session_read_log(struct session *s); /* what the host process printed so far */
/* Ends both processes; `seconds` is the grace that a host process which is on its way out gets. */
void session_stop(struct session *s, double seconds, struct jail_result *r);
void session_stop_quietly(struct session *s);
