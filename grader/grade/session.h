/* session.h — runs one submission on one device: owns its host process and its device process, each
 * in a sandbox, records what the entry issues and replays it.
 *
 *   struct session *s = session_open(ex, build, &options, &err);
 *   session_case(s, c, &plan, &run);     // record once, replay with fresh inputs, compare
 *   session_case_free(&run);
 *   session_close(s);
 *
 * The host process starts once and serves every case. If it dies, the next case starts another. */
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
    unsigned workers;              /* threads of a launch; 0 = one for each core */
    const struct gpu_options *gpu; /* a real GPU (grader/server/backend_gpu.h); NULL = simulated */
    /* All rounds use the inputs of the first, because drawing large inputs dominates the time. */
    bool same_inputs;
    bool empty_caches; /* model each launch with empty caches, as Nsight Compute runs it */
    /* A file that several graders lock (flock) while they use the GPU; 0 = the GPU isn't shared. */
    int gpu_lease_fd;
    const struct buf *source;         /* of the submission, for quotes in reports */
    const char *file;                 /* its name in reports; NULL = quote nothing */
    const struct ptxas *ptxas_result; /* NULL on a GPU */
    /* If ptxas is still running: called while the processes start; waits, returns its result. */
    const struct ptxas *(*finish_ptxas)(void *user);
    void *user;
    struct input_prefetch *prefetch; /* a case whose inputs are being drawn; NULL = none */
};

struct case_plan {
    unsigned rounds;           /* replays, each with fresh inputs */
    bool sanitize;             /* detect races, uninitialized reads */
    bool watch;                /* without `sanitize`: the same in a sample of the blocks */
    bool timing;               /* trace for a modelled time */
    uint64_t max_instructions; /* budget of all launches of a replay, warp instructions; 0 = none */
    double timeout_seconds;    /* of one replay, the last resort: control.h */
    /* Warps to run of each launch, as a sample of its blocks: counters are scaled, outputs aren't
     * compared; 0 = all. */
    uint64_t sample_warps;
    unsigned index; /* of the case, for its random numbers */
};

struct case_run {
    enum verdict verdict;
    struct buf message;
    struct launch_stats launch_stats; /* of the last round */
    bool host_too_slow;               /* wall-clock time ran out, not a budget */
    bool is_deadlocked;               /* the kernel can never end, whatever the budget */
};

struct session;
/* Returns NULL on our own failure. If a submission cannot be loaded, every case says why. */
struct session *session_open(const struct exercise *ex, const struct build *b,
                             const struct session_options *o, struct err *e);
/* Records a case once, replays it by the plan and compares. Free `out` with session_case_free(). */
void session_case(struct session *s, const struct ex_case *c, const struct case_plan *plan,
                  struct case_run *out);
/* For measurements on a real GPU: records the case once. */
enum verdict session_prepare(struct session *s, const struct ex_case *c, unsigned index,
                             struct case_run *out);
/* Draws fresh inputs (with `same_inputs` in the first round only; they depend on seed, index and
 * round, not on the submission), flushes L2 and runs the recording with its commands queued ahead.
 * Returns the seconds from the start of the first command to the end of the last; 0 = nothing was
 * launched, -1 = failure. */
double session_time_round(struct session *s, unsigned index, unsigned round);
void session_release(struct session *s);
/* Returns what compiled the machine code that ran: "ptxas, for this GPU"; "" on the simulated GPU.
 */
const char *session_compiled_by(const struct session *s);
/* Returns true once all further cases would end the same way: it does not load, or the sandbox
 * stopped it. */
bool session_is_finished(const struct session *s);
/* Labels the output since the last call with the name of the case that printed it. */
void session_label_log(struct session *s, const char *name);
/* Appends the output of the host process and of device printf, cleaned and limited. */
void session_log(struct session *s, struct buf *out);
void session_close(struct session *s);
void session_case_free(struct case_run *r);
