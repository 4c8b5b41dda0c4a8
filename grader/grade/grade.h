/* grade.h — grades one file for one exercise on one device: build, correctness, technique, speed,
 * score.
 *
 *   struct result r;
 *   grade_source(ex, "transpose.cu", source, size, &options, &r);
 *   ... r.verdict, r.score, report ...
 *   result_free(&r);
 *
 * grade_source() returns whatever the submission does. Internal errors (V_IE) are tried again once.
 */
#pragma once
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

/* What an instructor adds to the exercise (class/assignment.h). */
struct grading_policy {
    const struct ex_case *hidden_cases; /* students know only their number */
    unsigned nhidden;
    /* Of 100: points for the share of correct cases; 0 = as in the exercise. */
    double case_points;
};

/* Whether grade_source() may return a kept result of the same file (result_cache.h). */
enum grade_reuse {
    GRADE_ANEW,
    GRADE_REUSE_SAME_SEED, /* only one of the same seed */
    GRADE_REUSE_DRAWN_SEED /* one of any seed that was drawn at random, as o->seed must be */
};

struct grade_options {
    enum grade_reuse reuse;
    const struct gpu_device *device; /* to time on; grade_device() checks and counts */
    const char *seed;                /* text; all random numbers derive from it */
    unsigned workers;                /* simulator threads; 0 = one for each core */
    bool count_modelled;             /* modelled speed counts for the score */
    bool empty_caches;               /* model each launch with empty caches */
    unsigned only_case;              /* run only this case, from 1; 0 = all */
    bool trusted;  /* a file of the book: its outputs at the timed size need no check */
    bool no_speed; /* no timing */
    /* Drawn sizes depend on the file's text as well as on the seed, for students who may submit
     * repeatedly against one seed. */
    bool size_seed_includes_source;
    bool prefetch_inputs;      /* another process draws the timed case meanwhile: lower latency */
    bool check_only;           /* on a GPU: run the cases there, but measure nothing */
    bool ignore_baseline_data; /* run the book's versions instead (baseline_data.h) */
    const struct grading_policy *policy; /* NULL = none */
    int gpu_lease_fd;                    /* see session.h; 0 = the GPU isn't shared */
    /* Called before each step, for a progress line; may be NULL. */
    void (*progress)(void *user, const char *step);
    void *user;
};

/* Returns the device on which every submission is checked and counted. Some counters depend on the
 * device (atomics that compilers merge, occupancy, loads of a grid sized to the device); a verdict
 * must not depend on --device. */
const struct gpu_device *grade_device(void);

/* Grades a source text. `name` is the file name in reports. */
void grade_source(const struct exercise *ex, const char *name, const void *source, size_t size,
                  const struct grade_options *o, struct result *out);
/* The same for a file. Returns false if it can't be read. */
bool grade_file(const struct exercise *ex, const char *path, const struct grade_options *o,
                struct result *out, struct err *e);

/* Sets `out` to a name that is safe as an argument and in messages: the file's own if that is safe,
 * else NAME.cu. */
void grade_safe_file_name(const struct exercise *ex, const char *path, char *out, size_t size);

enum { SOURCE_LIMIT = 1 << 20 };
