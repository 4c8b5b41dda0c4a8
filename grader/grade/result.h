/* result.h — the result of grading one submission for one exercise. Reports use nothing else. */
#pragma once
#include "common/arena.h"
#include "common/buf.h"
#include "common/exercise.h"
#include "grader/sim/sim.h"
#include "grader/sim/timing/timing.h"

#include <stdbool.h>
#include <stdint.h>

enum verdict {
#define VERDICT(code, text, meaning) V_##code,
#include "grader/grade/verdict.def"
#undef VERDICT
    V_COUNT
};
/* Return "AC"; "accepted". */
const char *verdict_code(enum verdict v);
const char *verdict_text(enum verdict v);
/* Returns the verdict of a result with both verdicts: the later one in verdict.def. */
enum verdict verdict_join(enum verdict a, enum verdict b);
/* Returns false for verdicts without a score: internal error or withheld. Neither counts as 0. */
bool verdict_has_score(enum verdict v);

struct case_result {
    const char *group, *name;
    enum verdict verdict;
    /* As `--case` takes it, from 1; 0 for the technique case, the timed size and hidden cases. */
    unsigned number;
    bool drawn;          /* its size comes from the seed */
    const char *message; /* for the student, several lines; "" if it passed */
    /* Of a hidden case: its name and what was wrong, for the instructor only; else NULL. */
    const char *instructor_message;
};

struct technique_result {
    const char *name, *metric, *unit; /* unit: "output element", or NULL */
    double value, limit;
    bool is_upper_limit, passed, is_guard; /* of a guard's test, else of a goal's */
    unsigned test_index; /* in its group, from 0; limits of one test are adjacent */
    bool has_baseline;   /* of a goal's limit: the next two are known */
    double baseline_value, baseline_limit;
    double goal_progress; /* of a goal's limit: from the baseline's value to the limit, 0 to 1 */
    const char *reason;
    const char *file; /* "" = no line contributes */
    unsigned line;
};

/* The account of a modelled time: seconds by time_component_name(), and what limits it. */
struct time_account_result {
    double seconds; /* 0: no account */
    double components[TIME_MAX_COMPONENTS];
    struct time_limiter limits[TIME_LIMIT_COUNT];
};

struct speed_result {
    bool valid;
    const char *kind;                            /* "modelled" or "measured" */
    double student_us, solution_us, baseline_us; /* 0 = unknown */
    double vs_solution, vs_baseline, roofline_fraction;
    double counted_vs_solution;         /* that points are given for (score_counted_speed) */
    double low_us, high_us;             /* the model's interval of the student's time */
    double ci_low, ci_high;             /* measured: the 95 % interval of vs_solution; 0 = none */
    const char *bound_by;               /* the bottleneck, in words */
    struct time_account_result account; /* of bound_by: the longest kernel's, or the timeline's */
    const char *size;                   /* of the timed problem: "512 x 256 x 512" */
    double bytes, flops;                /* that the problem needs at this size; 0 = unknown */
    double bus_rate;                    /* bytes/s of the host bus, if the bytes cross it; else 0 */
    double tensor_flops;       /* the part of `flops` for tensor cores (grade_tensor_flops) */
    double solution_speedup;   /* the model solution's speed over the baseline's; 0 = unknown */
    bool is_timed_size;        /* modelled at the timed size, else at that of the technique case */
    bool output_fully_checked; /* all outputs of the timed size were checked */
    const char *note;          /* why there is no time, or a remark on it */
    bool disqualified;         /* the submission prevented a time: its speed points are lost */
};

/* Returns the peak rate in operations per second: tensor cores for s->tensor_flops of them, FP32
 * units for the others. */
double result_peak_flops(const struct speed_result *s, const struct gpu_device *d);

/* Counters of a source line of the student's file, over all launches of the technique case. */
struct line_result {
    const char *file;
    unsigned line;
    struct sim_counters counters;
    double stall_seconds[SIM_STALL_COUNT]; /* modelled time of warps at this line, by reason */
};

/* All launches of one kernel, with their modelled time. */
struct kernel_time {
    const char *name, *occupancy_limiter, *bound_by; /* what limits the blocks per SM, the time */
    unsigned launches, grid[3], block[3], registers, spill_bytes, shared_bytes;
    double occupancy, us; /* 0 to 1; of all launches together */
    struct time_account_result account;
    double stall_seconds[SIM_STALL_COUNT];
};

/* The costliest access of a line in the technique case, with the addresses of its 32 lanes. */
struct access_result {
    const char *kernel;
    struct sim_access access;
};

/* When a copy or a kernel runs in a submission with several streams, or with copies over the bus.
 */
enum { TIMELINE_COPY_IN, TIMELINE_COPY_OUT, TIMELINE_KERNELS, TIMELINE_COPY_PEER };
struct timeline_span {
    double begin_us, end_us; /* from the start */
    unsigned engine, stream; /* engine: one of the four above */
};

/* Registers and spills of a kernel, from ptxas for the device's architecture. */
struct kernel_result {
    const char *name;
    unsigned registers, spill_bytes;
};

struct points {
    double correctness, technique, speed;
};

/* Counts of technique tests; goal_progress is the sum over the goals, 1 for each one reached. */
struct check_counts {
    unsigned goals, goals_reached, guards, guards_passed;
    double goal_progress;
};

/* Points not awarded, scaled like the score: together they add up to max_score. */
struct point_loss {
    double points;
    const char *group; /* "correctness", "goal", "guard", "speed" */
    const char *reason;
};

struct result {
    struct arena arena; /* owns every string and array below */
    const struct exercise *ex;
    const char *id;   /* "02-coalescing/transpose" */
    const char *file; /* the student's file name, cleaned */
    enum verdict verdict;
    double score, max_score;
    struct points earned, available; /* before scaling */
    double case_points;              /* see struct grading_policy */
    struct check_counts checks;
    /* An idea that the version lacks and where it is taught; NULL = none. It becomes the reason of
     * lost speed points (score_points), so it is not serialized. */
    const char *missing_idea;
    struct point_loss *points_lost;
    unsigned npoints_lost;
    bool speed_counted;
    bool goals_waived;   /* missed goals count as reached (score.h) */
    bool is_single_case; /* only one case was run: no points */
    bool is_unmodified;  /* the starter file: not started */
    const char *seed;    /* that the inputs were drawn from */
    bool is_kept;        /* of an earlier grading of the same file (result_cache.h) */
    /* A limit of wall-clock time or noise decided; another machine, or a retry, may give another
     * result. */
    bool depends_on_machine;
    const char *message; /* if there are no cases: compiler messages, the failure; else "" */
    struct case_result *cases;
    unsigned ncases, nhidden, nhidden_total; /* with hidden ones; hidden ones run, planned */
    struct technique_result *technique;
    unsigned ntechnique;
    struct speed_result speed;
    bool has_counters;
    struct sim_counters counters;
    struct line_result *lines;
    unsigned nlines;
    struct kernel_result *kernels; /* none if ptxas did not run */
    unsigned nkernels;
    struct kernel_time *kernel_times; /* at the timed size if modelled there, else technique case */
    unsigned nkernel_times;
    struct timeline_span *spans; /* at the size of kernel_times; none if times add up */
    unsigned nspans;
    struct access_result *accesses;
    unsigned naccesses;
    double occupancy;  /* theoretical, lowest of all launches; 0 = unknown */
    struct buf log;    /* compiler warnings and program output, cleaned */
    struct buf source; /* the graded source, for annotated listings */
};

void result_free(struct result *r);
