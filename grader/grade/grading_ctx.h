/* grading_ctx.h — the state of one grading, shared by grade.c, check.c, speed.c and others of this
 * folder, private to them. */
#pragma once
#include "grader/grade/grade.h"
#include "grader/grade/ptxas.h"
#include "grader/grade/session.h"

/* The test groups of an exercise, in the order of their TCases. */
enum test_group { GROUP_CORRECTNESS, GROUP_GOALS, GROUP_GUARDS, GROUP_COUNT };

struct grading_ctx {
    const struct exercise *ex;
    const struct grade_options *o;
    struct result *r;
    struct build build;
    struct session *session;
    struct input_prefetch *prefetch; /* of the timed case; NULL = none */
    struct ptxas_job *ptxas_job;
    struct ptxas ptxas;
    unsigned cases_capacity, technique_capacity;
    unsigned next_index; /* of the next case, for its random numbers */
    struct drawn_case drawn[PROBLEM_DRAWN_CASES];
    unsigned ndrawn;
    struct launch_stats launch_stats; /* of the technique case */
    char implausible_reason[512];     /* why the result is withheld; "" = it is not */
    bool stopped;                     /* run no further cases */
    /* The last case ran out of wall-clock time, which says nothing about the submission. */
    bool host_too_slow;
    bool is_deadlocked;      /* the last case's kernel can never end */
    bool unstable;           /* measured too noisily to decide the score */
    enum test_group group;   /* of the running tests */
    int test;                /* the running one, from 0 */
    int kernel_checked_test; /* the last goal that was checked for a kernel launch */
};

/* Budgets for each kind of case. They are in warp instructions, so that equal runs end equally on
 * busy and idle machines; the time limits are the last resort against hangs. */
extern const struct case_plan grade_plan_correctness, grade_plan_technique, grade_plan_timed;
/* The technique case of a submission: same counters as grade_plan_technique, but checked by the
 * sanitizer too, since code could behave differently at this known size. */
extern const struct case_plan grade_plan_counted;
/* The plan for the timed case of a version that needn't be checked: a sample of its blocks, or all
 * of them where they tell the traffic between devices. */
const struct case_plan *grade_reference_plan(const struct exercise *ex);
/* The timed size with every block. */
extern const struct case_plan grade_plan_full_grid;
/* Returns the plan with the rounds of the two cases whose sizes are known. */
struct case_plan grade_known_size_plan(const struct exercise *ex, const struct case_plan *plan);
/* A case that exceeds its plan's budget runs again with this many times the model solution's
 * instructions, if that is more: a version may be correct and slow. */
enum { SLOW_VERSION_FACTOR = 40, MAX_INSTRUCTIONS = 1000000000 };

/* grade.c: runs everything after the build; sets cases, counters, points and verdict in g->r. */
void grade_evaluate(struct grading_ctx *g);
/* check.c: runs the exercise's Check suite; returns false if a correctness case failed. */
bool check_run(struct grading_ctx *g);
/* hidden.c: runs the hidden cases of g->o->policy in a session of their own; returns false if one
 * failed. */
bool check_hidden(struct grading_ctx *g);
/* grade.c: opens a session for the build; returns NULL on failure. */
struct session *grade_session(struct grading_ctx *g, struct err *e);
/* check.c: evaluates the goals on g->launch_stats; adds their limits to g->r. */
void check_goals(struct grading_ctx *g);
/* baseline.c: appends the source of the exercise's baseline; sets the file name for messages.
 * Returns false if it can't be read. */
bool baseline_source(const struct exercise *ex, char *name, size_t size, struct buf *out,
                     struct err *e);
/* baseline.c: if a goal is missed, sets the baseline's value of each goal limit in g->r. Returns
 * false on our own failure. */
bool baseline_compare(struct grading_ctx *g, struct err *e);
/* check.c: runs one case and appends its result; moves its statistics to `stats_out` if that is not
 * NULL. */
enum verdict check_case(struct grading_ctx *g, const struct ex_case *c, struct case_plan plan,
                        const char *suffix, struct launch_stats *stats_out);

/* Returns a copy of a file name that is safe in reports. */
const char *grade_clean_name(struct arena *a, const char *name);
/* result_fill.c: copy parts of the launch statistics into a result: lines with counters, and
 * accesses; kernels with times, and the stall seconds of lines. */
void result_fill_lines(struct result *r, const struct launch_stats *t);
void result_fill_times(struct result *r, const struct launch_stats *t);
/* Replaces the result's kernels by those of ptxas. */
void result_fill_kernels(struct result *r, const struct ptxas *p);

/* model_solution.c: returns the warp instructions that the model solution executes in a case with
 * these random numbers; 0 if the book has no solutions. It builds and runs it, a second or more. */
uint64_t grade_model_instructions(struct grading_ctx *g, const struct ex_case *c, unsigned index);

/* speed.c: fills in g->r->speed, or the reason why there is no time. Returns false if the result is
 * wrong at the timed size (checked if speed counts); a case has the message. */
bool speed_run(struct grading_ctx *g);

/* sanity_check.c: compares the work at the timed size, whose outputs may be unchecked, with what
 * the size requires. Sets g->implausible_reason if no honest program can have done it. */
void sanity_check_work(struct grading_ctx *g, const struct launch_stats *stats);
/* Returns false if a time, modelled or measured, is below the device's minimum. The counters `n`
 * tell which units did the work. */
bool sanity_check_time(struct grading_ctx *g, const struct sim_counters *n, double seconds);
/* Returns true if the problem's bytes lie in host memory and cross the bus. */
bool grade_crosses_host_bus(const struct exercise *ex);
/* Returns the minimum seconds for `flops` operations, of which tensor cores do `tensor_flops`. */
double grade_compute_seconds(const struct gpu_device *d, double flops, double tensor_flops);
/* Returns how many of the operations the roofline assigns to tensor cores: all, if they could do
 * all, else the number counted. */
double grade_tensor_flops(const struct exercise *ex, double flops, double counted_flops);
