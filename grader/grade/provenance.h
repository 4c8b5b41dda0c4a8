/* provenance.h — what a result depends on besides the submission, in words that are the same on
 * every machine, so that results can be traced and compared. */
#pragma once
#include "common/exercise.h"
#include "common/hash.h"
#include "grader/grade/grade.h"

#include <stdbool.h>

/* Returns a digest of the programs that grade. Equal programs give equal results, wherever they are
 * installed. */
const char *grade_build_digest(void);
/* Returns "13.0.88"; with ", nvdisasm 13.5.37" if times are modelled from machine code; "none"
 * without nvcc. */
const char *grade_nvcc_version(void);
/* Returns true if the book was verified with this compiler. Sets `releases` to the newest verified
 * one, for a message. */
bool grade_is_nvcc_verified(const char **releases);
/* Sets a digest of what the book ships for an exercise: model solution, baseline, starter file. */
void grade_book_digest(const struct exercise *ex, char out[HASH_HEX_SIZE]);
/* Sets `out` to a digest of what grading depends on, hidden cases and case points; "" = neither. */
void grade_policy_digest(const struct grading_policy *t, char out[HASH_HEX_SIZE]);
/* Sets the current time, as "2026-01-31T12:00:00Z". */
void grade_utc_date(char out[32]);
/* Returns the simulated device of this name, or NULL. */
const struct gpu_device *grade_simulated_device(const char *device);
/* Returns "sim" if a simulated device has this name, else "gpu". */
const char *grade_backend(const char *device);
