/* session_internal.h — shared by session_start.c (the processes of a session), session.c (its
 * cases) and session_reports.c (what the device process reports of a case), private to them. */
#pragma once
#include "grader/grade/device_process.h"
#include "grader/grade/session.h"
#include "grader/grade/case_memory.h"

enum { LOG_LIMIT = 8 << 10 };
static const double host_timeout_seconds = 4; /* for loading; for one call of the entry */

struct session {
    const struct exercise *ex;
    const struct build *build;
    struct session_options o;
    const struct ptxas *ptxas;     /* once known */
    struct device_process *device; /* NULL until the first case, and after the host process died */
    struct jail *jail;
    struct problem problem;
    /* The memory file came with the inputs, which another process compares; `problem` has only its
     * scalars. */
    bool is_prefetched;
    struct case_memory case_memory;
    uint64_t address[EX_ARGS];      /* of each argument's own buffer */
    struct control_reply recording; /* the reply to CONTROL_RECORD */
    bool is_recorded;
    bool has_inputs; /* with same_inputs: the memory file holds `replay_inputs` */
    struct control_replay replay_inputs;
    struct launch_stats launch_stats;
    struct buf log;
    size_t output_read;  /* bytes of the jail's output already in the log */
    size_t log_labelled; /* bytes of the log labelled with their case */
    unsigned start_count;
    bool is_finished;
    char compiled_by[64];
    /* The verdict of every case if the submission does not load. */
    enum verdict load_verdict;
    struct buf load_message;
};

/* Sets verdict and message; returns the verdict. */
enum verdict session_set_verdict(struct case_run *out, enum verdict v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets the verdict from the end of the host process. */
enum verdict session_verdict_from_host(struct case_run *out, const struct jail_result *r);
/* Writes the line at which the host process crashed or hangs, and ": "; nothing if it is unknown.
 */
void session_write_host_position(const struct jail_result *r, struct buf *out);
/* Starts both processes and loads the object; returns V_AC, or the verdict in `out`. */
enum verdict session_start(struct session *s, struct case_run *out);
/* Sends a request to the device process. Returns true with a reply; else the verdict is in `out`,
 * and the processes have ended. */
bool session_request(struct session *s, enum control_op op, double seconds,
                     struct control_request *q, int fd, struct control_reply *p,
                     struct case_run *out);
/* Sets the verdict for a device process without a valid reply. Ends both processes. */
enum verdict session_verdict_from_device(struct session *s, enum device_outcome outcome,
                                         double seconds, struct case_run *out);
void session_read_log(struct session *s); /* appends new output of the host process to the log */
/* Ends both processes; a host process that is exiting gets `seconds` to do so. */
void session_stop(struct session *s, double seconds, struct jail_result *r);
void session_stop_quietly(struct session *s);

/* Logs the first note on a revalidated read of a submission. Other notes only explain wrong
 * results. */
void session_log_notes(struct session *s);
/* Adds the notes that may explain a wrong result to the message. */
void session_explain_by_notes(const struct session *s, struct case_run *out);
/* Returns true if the case has a finding, which a note is not. */
bool session_has_findings(const struct session *s);
/* Writes the first findings. Uninitialized reads come last: a missing barrier causes them, too. */
void session_write_reports(const struct session *s, struct case_run *out);
