/* cheat.h — the naive version of an exercise whose memory traffic takes other paths: what a student
 * would write who wants the count of one path low without moving less. `grader verify` demands that
 * none of them reaches a goal. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"
#include "grader/grade/result.h"

enum cheat_path {
#define CHEAT(id, name, counter, text) CHEAT_##id,
#include "grader/cli/cheats.def"
#undef CHEAT
    CHEAT_PATHS
};
const char *cheat_name(enum cheat_path path);    /* "cheat-atomic" */
const char *cheat_counter(enum cheat_path path); /* above 0 where the path was taken */
/* Why the path cannot be taken by machine in that exercise, NULL where it can. */
const char *cheat_excuse(enum cheat_path path, const char *exercise);
/* Appends the naive version that takes the path, in the technique case only. `applies`: it has
 * accesses that could. False: no template. */
bool cheat_source(const struct exercise *ex, enum cheat_path path, const struct buf *naive,
                  struct buf *out, bool *applies, struct err *e);

/* Appends a version that knows the sizes that the test file lists, those that are counted and timed
 * among them: there it is the model answer, at any other it does nothing. */
void cheat_known_source(const struct exercise *ex, const struct buf *answer, struct buf *out);
/* True where its result is right at each listed case and at no drawn one; else a line of `why` for
 * each that is not so. */
bool cheat_known_is_seen(const struct exercise *ex, const struct result *r, struct buf *why);
