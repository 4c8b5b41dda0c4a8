/* grade.h — grades one file for one exercise on one device: build, correctness, technique, speed,
 * score.
 *
 *   struct result r;
 *   grade_source(ex, "transpose.cu", source, size, &options, &r);
 *   ... r.verdict, r.score, report ...
 *   result_free(&r);
 *
 * Whatever the submission does, grade_source() returns; its own failures are V_IE, tried again
 * once. */
#pragma once
#include "grader/grade/result.h"
#include "grader/sim/timing/timing.h"

/* What an instructor asks for beyond the exercise (class/assignment.h). */
struct grading_policy {
    const struct ex_case
        *hidden_cases; /* cases that the student is not told of, but for how many there are */
    unsigned nhidden;
    double case_points; /* of 100: for correctness, in proportion to the cases that come out right;
                           0 = as the exercise says */
};

struct grade_options {
    const struct gpu_device
        *device;         /* whose time is told; correctness and technique: grade_device() */
    const char *seed;    /* text; all random numbers derive from it */
    unsigned workers;    /* simulator threads, 0 = one for each core */
    bool count_modelled; /* modelled speed counts for the score */
    unsigned only_case;  /* run this one alone, from 1, and nothing else; 0 = all */
    bool trusted;        /* a file of the book: its outputs at the timed size need no check */
    bool no_speed;       /* leave timing out */
    /* Drawn sizes hang on the file's text as well as on the seed: for who may hand in again and
     * again against one seed. */
    bool size_seed_includes_source;
    bool prefetch_inputs; /* another process draws the timed case meanwhile: for who waits for one
                             file */
    bool check_only;      /* on a GPU: run the cases there, but measure nothing */
    const struct grading_policy *policy; /* NULL = none */
    int gpu_lease_fd; /* see session.h: graders that share a GPU take turns; 0 = nobody else is
                         there */
    /* Told before each step, for a progress line; may be NULL. */
    void (*progress)(void *user, const char *step);
    void *user;
};

/* The device on which every submission is checked and counted, so that a verdict does not depend on
 * --device: some counters (atomics that compilers merge, occupancy, what a grid that fits the
 * device loads) do. */
const struct gpu_device *grade_device(void);

void grade_source(const struct exercise *ex, const char *name, const void *source, size_t size,
                  const struct grade_options *o, struct result *out);
/* The same for a file; the name that reports show is its base name. False: the file can't be read.
 */
bool grade_file(const struct exercise *ex, const char *path, const struct grade_options *o,
                struct result *out, struct err *e);

/* A name that is safe as an argument and in messages: the file's own where it is plain, else
 * NAME.cu. */
void grade_safe_file_name(const struct exercise *ex, const char *path, char *out, size_t size);

enum { SOURCE_LIMIT = 1 << 20 };
