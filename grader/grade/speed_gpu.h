/* speed_gpu.h — measuring on a real GPU; for grading (speed.c), `grader selftest` and `grader
 * gpu-report`. */
#pragma once
#include "grader/grade/grade.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/measure.h"
#include "grader/server/roofline.h"

/* Fills in g->r->speed; false: the submission is wrong on the GPU, and a case says how. */
bool speed_gpu_run(struct grading_ctx *g);
/* A file of the book's ladder, NULL = the model answer. */
bool speed_gpu_build(const struct exercise *ex, const char *step, struct build *b, struct err *e);

/* A file at the timed size, recorded and ready to be run again and again; NULL with a reason.
 * `same_inputs`: see session.h. */
struct session *speed_gpu_open(const struct exercise *ex, const struct build *b,
                               const struct grade_options *o, bool same_inputs, struct err *e);
void speed_gpu_close(struct session *s);
/* Their times, pair by pair; both may be the same. Of `mo`, the boundary, the seed and who tells of
 * throttling are set here. */
bool speed_gpu_pairs(struct session *first, struct session *second, const struct grade_options *o,
                     struct measure_options *mo, struct measurement *m, struct err *e);
/* All of this for two files, on fresh inputs in each round. */
bool speed_gpu_compare(const struct exercise *ex, const struct build *first,
                       const struct build *second, const struct grade_options *o, double seconds,
                       struct measurement *m, struct err *e);
/* What the device can do. */
bool speed_gpu_ceiling(const struct grade_options *o, struct roofline *out, struct err *e);
