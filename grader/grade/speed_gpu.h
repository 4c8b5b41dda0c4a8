/* speed_gpu.h — measures on a real GPU; used by grading (speed.c), `grader selftest` and `grader
 * gpu-report`. */
#pragma once
#include "grader/grade/grade.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/measure.h"
#include "grader/server/roofline.h"

/* Fills in g->r->speed. Returns false if the submission is wrong on the GPU; a case has the
 * message. */
bool speed_gpu_run(struct grading_ctx *g);
/* Builds a step of the ladder; NULL = the model solution. */
bool speed_gpu_build(const struct exercise *ex, const char *step, struct build *b, struct err *e);

/* Opens a session and records the timed case, ready for repeated runs; returns NULL on failure.
 * `same_inputs`: see session.h. */
struct session *speed_gpu_open(const struct exercise *ex, const struct build *b,
                               const struct grade_options *o, bool same_inputs, struct err *e);
void speed_gpu_close(struct session *s);
/* Measures two sessions in pairs; they may be the same one. Sets boundary, seed and nvml of `mo`.
 */
bool speed_gpu_pairs(struct session *first, struct session *second, const struct grade_options *o,
                     struct measure_options *mo, struct measurement *m, struct err *e);
/* Opens sessions for two builds and measures them in pairs, with fresh inputs in each round. */
bool speed_gpu_compare(const struct exercise *ex, const struct build *first,
                       const struct build *second, const struct grade_options *o, double seconds,
                       struct measurement *m, struct err *e);
/* Measures the device's peak rates. */
bool speed_gpu_ceiling(const struct grade_options *o, struct roofline *out, struct err *e);
