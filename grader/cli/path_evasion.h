/* path_evasion.h — makes the exploits of an exercise (docs/glossary.md): the baseline with its
 * memory traffic on another path, which a student could write to lower the counter of one path
 * without moving less data; and a version with hardcoded sizes. `grader verify` requires that the
 * former reaches no goal, and that drawn cases detect the latter. */
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
const char *path_evasion_name(enum path_evasion evasion);    /* "exploit-atomic" */
const char *path_evasion_counter(enum path_evasion evasion); /* above 0 if the path was used */
/* Returns why the rewriting can't use this path in that exercise; NULL if it can. */
const char *path_evasion_exemption(enum path_evasion evasion, const char *exercise);
/* Appends the baseline with its traffic on the path, in the technique case only. `*applies` becomes
 * true if the baseline has such accesses. Returns false if the template is missing. */
bool path_evasion_source(const struct exercise *ex, enum path_evasion evasion,
                         const struct buf *baseline, struct buf *out, bool *applies, struct err *e);

/* Appends a version that is the model solution at the sizes of the test file, including the
 * technique case and the timed size, and does nothing at any other size. */
void hardcoded_sizes_source(const struct exercise *ex, const struct buf *solution, struct buf *out);
/* Returns true if its result passes each listed case and no drawn one; else it appends a line to
 * `problems` for each exception. */
bool hardcoded_sizes_are_detected(const struct exercise *ex, const struct result *r,
                                  struct buf *problems);
