/* baseline_data.h — a student's release: the book without answers, ladders and mutants. What scores need
 * of these is recorded in the file chapters/figures.txt, when the release is made: for each
 * exercise and device the modelled times of the model answer and of the naive version, and the
 * naive version's figures for the goals. The simulator gives the same times and counters
 * everywhere, so that a score there is that of the full tree, as long as nvcc is of the same
 * release; a result says where it is not.
 *
 * Lines, after comments; floats are in base 16, so that none is rounded:
 *   warpbook-figures 1
 *   nvcc 13.0.88
 *   times 02-coalescing/transpose h200 answer TIMED COUNTED     seconds at either size, 0 = too
 * long to simulate times 02-coalescing/transpose h200 naive TIMED COUNTED limit
 * 02-coalescing/transpose TEST VALUE LIMIT METRIC       a line of baseline.c end SHA256 of all before
 * it: against damage, not against who edits it; marks that count are given by the full tree */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

/* True: this book has figures instead of answers. */
bool baseline_data_exists(void);
/* False: the file is not there, damaged, or has no times of the exercise; without answers and
 * figures nothing can be scored. */
bool baseline_data_load(const char *exercise, struct err *e);
/* False: there is none for it (which is no error), or the file is damaged. */
bool baseline_data_times(const char *exercise, const char *device, const char *version,
                         double times[2], struct err *e);
/* The naive version's lines for the goals, as baseline.c keeps them, appended. */
bool baseline_data_limits(const char *exercise, struct buf *out, struct err *e);
/* nvcc's version that they were made with, "" = not known. */
const char *baseline_data_nvcc_version(void);

/* ---- making them ---- */

/* speed.c: modelled seconds at the timed and at the counted size, of the model answer or the naive
 * version, on go->device. */
bool speed_reference_times(const struct exercise *ex, const struct grade_options *go,
                           bool use_baseline, double times[2]);
/* baseline.c: the naive version's lines for the goals. */
bool baseline_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                     struct err *e);

/* ---- the same out of a text ---- */

bool baseline_data_verify(const struct buf *text, struct err *e);
bool baseline_data_find_times(const char *text, const char *exercise, const char *device,
                              const char *version, double times[2]);
bool baseline_data_has(const char *text, const char *exercise);
void baseline_data_find_limits(const char *text, const char *exercise, struct buf *out);
/* The last line, for what was written before it. */
void baseline_data_append_digest(struct buf *text);
