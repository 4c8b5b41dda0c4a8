/* result.h — what grading one submission for one exercise found; reports are written from it alone.
 */
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
const char *verdict_code(enum verdict v);
const char *verdict_text(enum verdict v);
/* Of two verdicts, the one that a result with both has: the later one of verdict.def. */
enum verdict verdict_join(enum verdict a, enum verdict b);
/* False where no score is known: our own fault, or withheld. Neither may be taken for a zero. */
bool verdict_has_score(enum verdict v);

struct case_result {
    const char *group, *name;
    enum verdict verdict;
    unsigned number; /* as `--case` takes it, from 1; 0 = it takes none: the counted size, the timed
                        one, a hidden case */
    bool drawn;      /* its size comes from the seed */
    const char *message;            /* for the student, several lines; "" when passed */
    const char *instructor_message; /* of a hidden case: which one it is and what was wrong, for the
                           instructor alone; else NULL */
};

struct technique_result {
    const char *name, *metric, *unit; /* unit: "output element", or NULL */
    double value, limit;
    bool is_upper_limit, passed, is_guard; /* guard: of a guard's test, else of a goal's */
    unsigned test_index; /* which one of its group, from 0: limits of one test stand next to each
                            other */
    bool has_baseline;   /* of a goal's limit: what it is for the naive version */
    double baseline_value, baseline_limit;
    double goal_progress; /* of a goal's limit: how much of the way from the naive version's figure
                   is done, 0 to 1 */
    const char *reason;
    const char *file; /* "" = no line to blame */
    unsigned line;
};

struct speed_result {
    bool valid;
    const char *kind;                            /* "modelled" or "measured" */
    double student_us, solution_us, baseline_us; /* 0 = unknown */
    double vs_solution, vs_baseline, roofline_fraction;
    double low_us, high_us; /* the model's own interval for the student's time */
    double ci_low, ci_high; /* measured: the 95 % interval of vs_solution; 0 = none */
    const char *bound_by;
    const char *size;    /* the problem that was timed: "512 x 256 x 512" */
    double bytes, flops; /* that the problem needs at this size; 0 = not said */
    double bus_rate; /* bytes a second, where the bytes cross the bus to the host; 0 = they don't */
    double tensor_flops; /* of these, for tensor cores, which have a rate of their own
                            (grade_tensor_flops) */
    double
        solution_speedup; /* of the model answer over the naive version, as a factor; 0 = unknown */
    bool is_timed_size;   /* modelled at the size that is timed, else at the one that is counted */
    bool output_fully_checked; /* the outputs of the timed size were checked, all of them */
    const char *note;          /* why there is none, or what to know about it */
    bool disqualified; /* there is none by the submission's own doing: where speed counts, its
                     points are lost */
};

/* Operations a second that the device can do of such: those on tensor cores at their rate, others
 * at that of the FP32 units. */
double result_peak_flops(const struct speed_result *s, const struct gpu_device *d);

/* Counters of a source line of the student's file, over all launches of the technique case. */
struct line_result {
    const char *file;
    unsigned line;
    struct sim_counters counters;
    double stall_seconds[SIM_STALL_COUNT]; /* seconds of the modelled time that warps spend there,
                                     by what they wait for */
};

/* The launches of one kernel: their time by the model, and what it goes to. */
struct kernel_time {
    const char *name, *occupancy_limiter, *bound_by; /* limit: what keeps more blocks from an SM */
    unsigned launches, grid[3], block[3], registers, spill_bytes, shared_bytes;
    double occupancy, us,
        breakdown[TIME_MAX_COMPONENTS]; /* parts: seconds, see time_component_name */
};

/* The costliest access of a line in the counted case: what the 32 lanes of a warp asked for. */
struct access_result {
    const char *kernel;
    struct sim_access access;
};

/* What ptxas made of a kernel, for the device's architecture. */
struct kernel_result {
    const char *name;
    unsigned registers, spill_bytes;
};

struct points {
    double correctness, technique, speed;
};

/* Technique tests: goals and those reached, guards and those kept; the goals' ways added up, 1 for
 * each that is reached. */
struct check_counts {
    unsigned goals, goals_reached, guards, guards_passed;
    double goal_progress;
};

/* Points that were not awarded, on the scale of the score: they and the score add up to max_score.
 */
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
    double case_points;              /* struct grading_policy */
    struct check_counts checks;
    struct point_loss *points_lost;
    unsigned npoints_lost;
    bool speed_counted;
    bool goals_waived;   /* the goals that it misses count as reached: it is faster than the model
                      answer   (score.h) */
    bool is_single_case; /* one case alone was run: no points are given or refused */
    bool is_unmodified;  /* the file as it came: not started */
    const char *message; /* when there are no cases: compiler's words, what went wrong; else "" */
    struct case_result *cases;
    unsigned ncases, nhidden,
        nhidden_total; /* hidden ones among them, and how many of these there are to be run */
    struct technique_result *technique;
    unsigned ntechnique;
    struct speed_result speed;
    bool has_counters;
    struct sim_counters counters;
    struct line_result *lines;
    unsigned nlines;
    struct kernel_result *kernels; /* none where ptxas could not be asked */
    unsigned nkernels;
    struct kernel_time *kernel_times; /* of the size that is timed, where it was modelled there,
                                  else of the one that is counted */
    unsigned nkernel_times;
    struct access_result *accesses; /* stay in the process that graded */
    unsigned naccesses;
    double occupancy;  /* theoretical, lowest of the launches; 0 = unknown */
    struct buf log;    /* what the submission printed and the compiler warned, cleaned */
    struct buf source; /* what was graded, for annotated listings */
};

void result_free(struct result *r);
