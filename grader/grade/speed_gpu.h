/* speed_gpu.h — measuring on a real GPU; for grading (speed.c), `grader selftest` and `grader gpu-report`. */
#pragma once
#include "grader/grade/grade.h"
#include "grader/grade/grading.h"
#include "grader/grade/measure.h"
#include "grader/server/roofline.h"

/* Fills in g->r->speed; false: the submission is wrong on the GPU, and a case says how. */
bool speed_gpu_run(struct grading *g);
/* A file of the book's ladder, NULL = the model answer. */
bool speed_gpu_build(const struct exercise *ex, const char *step, struct build *b, struct err *e);
/* Times of two files at the timed size, pair by pair; with `ceiling`, also what the device can do. */
bool speed_gpu_compare(const struct exercise *ex, const struct build *first, const struct build *second,
                       const struct grade_options *o, double seconds, struct measurement *m, struct roofline *ceiling,
                       struct err *e);
