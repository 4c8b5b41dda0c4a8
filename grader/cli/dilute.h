/* dilute.h — the naive version of an exercise with well-formed idle work beside it: what a student would write who wants
 * a technique check's average without the technique. `grader verify` demands that it reaches no goal. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

/* Appends the diluted version of `naive`. The idle work is done for the technique case only. False: no template. */
bool dilute_source(const struct exercise *ex, const struct buf *naive, struct buf *out, struct err *e);
