/* metric_padding.h — a version of an exercise with well-formed idle work beside it: what a student would
 * write who wants a technique check's average without the technique. `grader verify` demands that
 * it reaches no goal. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

/* Appends the diluted version of `source`. The idle work is done for the technique case only: of
 * all kinds, or (`packed`) packed loads and stores alone. False: no template. */
bool metric_padding_source(const struct exercise *ex, const struct buf *source, bool packed_only,
                           struct buf *out, struct err *e);

/* What a wrapper of the entry is written from (path_evasion.c as well): "const float *in, int n" with
 * types, "in, n" without; and "n == 131072 && true", the dimensions of `c`, as far as the entry is
 * told. */
void entry_put_arguments(const struct exercise *ex, bool with_types, struct buf *out);
void entry_put_size_condition(const struct exercise *ex, const struct ex_case *c, struct buf *out);
