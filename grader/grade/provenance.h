/* provenance.h — what a result depends on beside the submission, in words that are the same on
 * every machine: so that a result says where it came from, and two can be compared. */
#pragma once
#include "common/exercise.h"
#include "common/hash.h"

#include <stdbool.h>

/* Digest of the programs that grade: equal programs give equal results, wherever they lie. */
const char *grade_build_digest(void);
/* "13.0.88"; "13.0.88, nvdisasm 13.5.37" where times are modelled from machine code; "none" without
 * nvcc. */
const char *grade_nvcc_version(void);
/* Was the book verified with this compiler? `with` is set to those it was, for a message. */
bool grade_is_nvcc_verified(const char **releases);
/* Digest of what the book ships for an exercise: the model answer, the naive version, the skeleton.
 */
void grade_book_digest(const struct exercise *ex, char out[HASH_HEX_SIZE]);
/* Now, "2026-01-31T12:00:00Z". */
void grade_utc_date(char out[32]);
/* The simulated device of this name; NULL = there is none. */
const struct gpu_device *grade_simulated_device(const char *device);
/* "sim" or "gpu": what a device of this name is. */
const char *grade_backend(const char *device);
