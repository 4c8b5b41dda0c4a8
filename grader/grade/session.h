/* session.h — one submission on one device: its host process and its device process, each in a
 * jail, recordings and replays.
 *
 *   struct session *s = session_open(ex, build, &options, &err);
 *   session_case(s, c, &plan, &run);     // record once, replay with fresh inputs, compare
 *   session_case_free(&run);
 *   session_close(s);
 *
 * The host process starts once and serves every case; one that died is started again for the next
 * case. */
#pragma once
#include "grader/grade/build.h"
#include "grader/grade/inputs.h"
#include "grader/grade/ptxas.h"
#include "grader/book/problem.h"
#include "grader/grade/result.h"
#include "grader/server/launch_stats.h"

struct session_options {
    const struct gpu_device *device;
    const char *seed;
    unsigned workers; /* threads of a launch; 0 = one for each core */
    const struct gpu_options
        *gpu;         /* a real GPU (grader/server/backend_gpu.h); NULL = the simulated one */
    bool same_inputs; /* rounds after the first run on its inputs: to draw large ones takes longer
                         than anything else */
    int gpu_lease_fd; /* a file that several graders lock (flock) while they use the GPU; 0 = nobody
                 else does */
    const struct buf *source;         /* of the submission, which reports quote, */
    const char *file;                 /* …and its name in them; NULL = nothing is quoted */
    const struct ptxas *ptxas_result; /* what ptxas said; NULL = nothing, for a GPU */
    /* Where ptxas is still at work: called once the processes are starting; returns the same when
     * it has finished. */
    const struct ptxas *(*finish_ptxas)(void *user);
    void *user;
    struct input_prefetch *prefetch; /* a case that is drawn ahead; NULL = none */
};

struct case_plan {
    unsigned rounds;           /* replays, each with fresh inputs */
    bool sanitize;             /* races, uninitialised reads */
    bool timing;               /* traces for a modelled time */
    uint64_t max_instructions; /* budget of a replay's launches together, in warp instructions; 0 =
                                  none */
    double timeout_seconds;    /* for one replay, of the clock: the last resort */
    uint64_t sample_warps; /* run a sample of each launch's blocks: counters are scaled, outputs not
                              compared; 0 = all */
    unsigned index;        /* of the case, for its random numbers */
};

struct case_run {
    enum verdict verdict;
    struct buf message;
    struct launch_stats launch_stats; /* of the last round */
    bool host_too_slow;               /* the clock ended it, not a budget */
};

struct session;
/* NULL: our own failure. A submission that cannot be loaded opens, and every case tells why. */
struct session *session_open(const struct exercise *ex, const struct build *b,
                             const struct session_options *o, struct err *e);
void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan,
                  struct case_run *out);
/* On a real GPU, for measuring: records the case once; then each round draws fresh inputs (the same
 * for the same seed, index and round, whatever the submission; with `same_inputs` only the first
 * does), flushes L2 and runs the recording with its commands queued ahead. */
enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index,
                             struct case_run *out);
/* Seconds between the first command's start and the last one's end; 0 = nothing was launched, -1 =
 * it failed. */
double session_time_round(struct session *s, unsigned index, unsigned round);
void session_release(struct session *s);
/* Who made the machine code that ran: "ptxas, for this GPU"; "" on the simulated GPU. */
const char *session_compiled_by(const struct session *s);
/* True once no further case can come out otherwise: it does not load, or the jail stopped it. */
bool session_is_finished(const struct session *s);
/* What was printed since the last call was printed by this case: puts its name before it. */
void session_label_log(struct session *s, const char *name);
/* What the host process printed, and device printf, cleaned and limited. */
void session_log(struct session *s, struct buf *out);
void session_close(struct session *s);
void session_case_free(struct case_run *r);
