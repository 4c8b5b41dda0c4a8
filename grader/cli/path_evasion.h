/* path_evasion.h — the naive version of an exercise whose memory traffic takes other paths: what a student
 * would write who wants the count of one path low without moving less. `grader verify` demands that
 * none of them reaches a goal. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"
#include "grader/grade/result.h"

enum path_evasion {
#define EVASION(id, name, counter, text) PATH_EVASION_##id,
#include "grader/cli/path_evasions.def"
#undef EVASION
    PATH_EVASION_COUNT
};
const char *path_evasion_name(enum path_evasion evasion);    /* "cheat-atomic" */
const char *path_evasion_counter(enum path_evasion evasion); /* above 0 where the path was taken */
/* Why the path cannot be taken by machine in that exercise, NULL where it can. */
const char *path_evasion_exemption(enum path_evasion evasion, const char *exercise);
/* Appends the naive version that takes the path, in the technique case only. `applies`: it has
 * accesses that could. False: no template. */
bool path_evasion_source(const struct exercise *ex, enum path_evasion evasion,
                         const struct buf *baseline, struct buf *out, bool *applies, struct err *e);

/* Appends a version that knows the sizes that the test file lists, those that are counted and timed
 * among them: there it is the model answer, at any other it does nothing. */
void hardcoded_sizes_source(const struct exercise *ex, const struct buf *solution, struct buf *out);
/* True where its result is right at each listed case and at no drawn one; else a line of `why` for
 * each that is not so. */
bool hardcoded_sizes_are_detected(const struct exercise *ex, const struct result *r,
                                  struct buf *problems);
