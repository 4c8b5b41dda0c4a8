/* baseline_data.h — a student's release has the book without model solutions, ladders and mutants.
 * What scoring needs of them is recorded in chapters/figures.txt when the release is made: for each
 * exercise and device the modelled times of the model solution and the baseline, and the baseline's
 * values of the goal limits. The simulator gives the same times and counters everywhere, so scores
 * equal those of the full tree as long as nvcc is of the same release; otherwise the result says
 * so.
 *
 * The file has comments, then lines; floats are hexadecimal, so that no digit is lost:
 *
 *   warpbook-figures 1
 *   nvcc 13.0.88
 *   times 02-coalescing/transpose h200 answer TIMED COUNTED
 *   times 02-coalescing/transpose h200 naive TIMED COUNTED
 *   limit 02-coalescing/transpose TEST VALUE LIMIT METRIC
 *   end SHA256
 *
 * TIMED and COUNTED are seconds at the timed and at the technique size, 0 = too long to simulate. A
 * `limit` line is one of baseline.c. The digest of all lines before it protects against damage, not
 * against editing: scores that count come from the full tree. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

/* Returns true if this book has figures instead of model solutions. */
bool baseline_data_exists(void);
/* Reads the file. Returns false if it is missing, damaged or lacks the exercise: without model
 * solutions and figures, nothing can be scored. */
bool baseline_data_load(const char *exercise, struct err *e);
/* Returns false if there is no entry (no error), or if the file is damaged. */
bool baseline_data_times(const char *exercise, const char *device, const char *version,
                         double times[2], struct err *e);
/* Appends the baseline's lines for the goals, in the form of baseline.c. */
bool baseline_data_limits(const char *exercise, struct buf *out, struct err *e);
/* Returns the version of nvcc that the figures were made with; "" = unknown. */
const char *baseline_data_nvcc_version(void);

/* ---- for the release script ---- */

/* speed.c: sets the modelled seconds at the timed and at the technique size, of the model solution
 * or the baseline, on go->device. */
bool speed_reference_times(const struct exercise *ex, const struct grade_options *go,
                           bool use_baseline, double times[2]);
/* baseline.c: appends the baseline's lines for the goals. */
bool baseline_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                     struct err *e);

/* ---- the same from a text ---- */

bool baseline_data_verify(const struct buf *text, struct err *e);
bool baseline_data_find_times(const char *text, const char *exercise, const char *device,
                              const char *version, double times[2]);
bool baseline_data_has(const char *text, const char *exercise);
void baseline_data_find_limits(const char *text, const char *exercise, struct buf *out);
/* Appends the `end` line for the text so far. */
void baseline_data_append_digest(struct buf *text);
