/* grading_ctx.h — what grade.c, check.c and speed.c share about the grading that is going on; private
 * to them. */
#pragma once
#include "grader/grade/grade.h"
#include "grader/grade/ptxas.h"
#include "grader/grade/session.h"

/* The test cases that an exercise fills, in this order. */
enum test_group { GROUP_CORRECTNESS, GROUP_GOALS, GROUP_GUARDS, GROUP_COUNT };

struct grading_ctx {
    const struct exercise *ex;
    const struct grade_options *o;
    struct result *r;
    struct build build;
    struct session *session;
    struct input_prefetch *prefetch; /* the timed case; NULL = it is drawn when its turn comes */
    struct ptxas_job *ptxas_job;
    struct ptxas ptxas;
    unsigned cases_capacity, technique_capacity;
    unsigned next_index; /* of the next case, for its random numbers */
    struct drawn_case drawn[PROBLEM_DRAWN_CASES];
    unsigned ndrawn;
    struct launch_stats launch_stats; /* of the technique case */
    char implausible_reason[512];     /* why the result is withheld; "" = it is not */
    bool stopped;                     /* no further case is worth running */
    bool host_too_slow;      /* the last case was ended by the clock, which says nothing about the
                               submission */
    bool unstable;           /* measured too noisily to say which grade it is */
    enum test_group group;   /* of the tests that run */
    int test;                /* the one that runs, from 0 */
    int kernel_checked_test; /* the goal that was last asked whether a kernel ran at all */
};

/* What a case of each kind may cost. Budgets are in warp instructions, so that they end equal runs
 * equally, on a busy machine as on an idle one; the seconds are the last resort against what hangs.
 */
extern const struct case_plan grade_plan_correctness, grade_plan_technique, grade_plan_timed;
/* The size that is counted, of a submission: the counters are those of the technique plan. Its size
 * is known to everyone, so that code can be right at the sizes of the correctness cases alone. */
extern const struct case_plan grade_plan_counted;
/* The timed size, every block of it. */
extern const struct case_plan grade_plan_full_grid;

/* grade.c: what the session answers, as cases, counters, points and a verdict, in g->r. */
void grade_evaluate(struct grading_ctx *g);
/* check.c: runs the exercise's Check suite; returns false where a correctness case failed. */
bool check_run(struct grading_ctx *g);
/* hidden.c: runs the hidden cases of g->o->terms in a session of their own; returns false where one
 * failed. */
bool check_hidden(struct grading_ctx *g);
/* grade.c: a session for what was built. NULL: it could not be set up. */
struct session *grade_session(struct grading_ctx *g, struct err *e);
/* Runs the goals on g->tally alone: their limits, into g->r. */
void check_goals(struct grading_ctx *g);
/* baseline.c: the naive version of the exercise, which the ways to its goals begin at: its source, and
 * the name that the file has in messages. */
bool baseline_source(const struct exercise *ex, char *name, size_t size, struct buf *out,
                     struct err *e);
/* Where a goal is missed: sets what each limit of a goal in g->r is for the naive version; false:
 * it could not be found out, by our own fault. */
bool baseline_compare(struct grading_ctx *g, struct err *e);
/* Runs one case and appends its result; the tally goes to `keep` where that is not NULL. */
enum verdict check_case(struct grading_ctx *g, const struct ex_case *c, struct case_plan plan,
                        const char *suffix, struct launch_stats *stats_out);

const char *grade_clean_name(struct arena *a, const char *name);
/* From a tally, into the result: lines with what was counted, accesses; kernels with their times,
 * lines' waits. */
void result_fill_lines(struct result *r, const struct launch_stats *t);
void result_fill_times(struct result *r, const struct launch_stats *t);
/* What ptxas said, into the result, in the place of what was there. */
void result_fill_kernels(struct result *r, const struct ptxas *p);

/* speed.c: fills in g->r->speed from the student's tally at the timed size, or says why there is
 * none. False: the timed size came out wrong (checked where speed is to count); a case says how. */
bool speed_run(struct grading_ctx *g);

/* sanity_check.c: compares what was launched at the timed size (`own`, sampled, not compared) with
 * what the size calls for, and sets g->implausible where no honest program can have done it. */
void sanity_check_work(struct grading_ctx *g, const struct launch_stats *stats);
/* The floor on time alone, modelled or measured; false below it. `n`: what was counted, at whatever
 * size tells which units work. */
bool sanity_check_time(struct grading_ctx *g, const struct sim_counters *n, double seconds);
/* Whether the problem's bytes are the host's, so that they cross the bus. */
bool grade_crosses_host_bus(const struct exercise *ex);
/* Least seconds for `flops` operations, of which tensor cores do so many. */
double grade_compute_seconds(const struct gpu_device *d, double flops, double tensor_flops);
/* Of a problem's operations, those that the roof takes for tensor cores': all, where they could do
 * all, else what was counted. */
double grade_tensor_flops(const struct exercise *ex, double flops, double counted_flops);
