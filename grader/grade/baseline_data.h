/* baseline_data.h — what scoring needs of the book's own versions, recorded in
 * chapters/figures.txt: for each exercise and device the modelled times of the model solution and
 * the baseline, and the baseline's values of the goal limits. So a first grading neither compiles
 * nor runs them. The simulator gives the same times and counters everywhere.
 *
 * The file has comments, then lines; floats are hexadecimal, so that no digit is lost:
 *
 *   warpbook-figures 2
 *   nvcc 13.0.88
 *   simulator DIGEST
 *   times 02-coalescing/transpose h200 solution KEY TIMED COUNTED
 *   times 02-coalescing/transpose h200 naive KEY TIMED COUNTED
 *   limit 02-coalescing/transpose KEY TEST VALUE LIMIT METRIC
 *   end SHA256
 *
 * TIMED and COUNTED are seconds at the timed and at the technique size, 0 = too long to simulate. A
 * `limit` line is one of baseline.c. KEY is a digest of the exercise's test file and the version's
 * source. The simulator's digest is of its code without comments (Makefile). The digest of all
 * lines before the last protects against damage, not against editing: scores that count come from a
 * tree that you trust.
 *
 * Where a version's source is at hand, a line counts only if nvcc, simulator and key agree;
 * otherwise the grader runs the version. `make baselines` renews the lines of the default device;
 * `grader verify` reports outdated ones and compares the others with what it computes. A student's
 * release has lines for all devices, and no sources to compare them with: if its nvcc is another
 * one, the result says so. */
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
enum { BASELINE_KEY_SIZE = 17 };
/* Sets the key of the lines of a version with this source. */
void baseline_data_key(const struct exercise *ex, const char *source, size_t size,
                       char key[BASELINE_KEY_SIZE]);
/* Returns true if the lines are of this machine's nvcc and this simulator. */
bool baseline_data_is_current(void);
/* Returns false if there is no such line (no error), or if the file is damaged. `key` NULL: of any
 * source, as in a release without sources. The same applies below. */
bool baseline_data_times(const char *exercise, const char *device, const char *version,
                         const char *key, double times[2], struct err *e);
/* Appends the baseline's lines for the goals, in the form of baseline.c. */
bool baseline_data_limits(const char *exercise, const char *key, struct buf *out, struct err *e);
/* Returns the version of nvcc that the figures were made with; "" = unknown. */
const char *baseline_data_nvcc_version(void);
/* Returns the digest of this simulator's code. */
const char *baseline_data_simulator(void);

/* ---- for cmd_figures.c and verify ---- */

/* speed.c: sets the modelled seconds at the timed and at the technique size, of the model solution
 * or the baseline, on go->device. */
bool speed_reference_times(const struct exercise *ex, const struct grade_options *go,
                           bool use_baseline, double times[2]);
/* Sets the key of that version's lines. */
bool speed_reference_key(const struct exercise *ex, bool use_baseline, char key[BASELINE_KEY_SIZE],
                         struct err *e);
/* baseline.c: appends the baseline's lines for the goals. */
bool baseline_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                     struct err *e);

/* ---- the same from a text ---- */

/* Returns false if the text was changed since baseline_data_append_digest(). */
bool baseline_data_verify(const struct buf *text, struct err *e);
/* Sets a version's times by the line with this key; returns false if there is none. */
bool baseline_data_find_times(const char *text, const char *exercise, const char *device,
                              const char *version, const char *key, double times[2]);
/* Returns true if the text has lines of the exercise. */
bool baseline_data_has(const char *text, const char *exercise);
void baseline_data_find_limits(const char *text, const char *exercise, const char *key,
                               struct buf *out);
/* Appends the `end` line for the text so far. */
void baseline_data_append_digest(struct buf *text);
