/* metric_padding.h — adds well-formed idle work to a version of an exercise. A student could do
 * that to improve an average without the technique. `grader verify` requires that such a version
 * reaches no goal. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

/* Appends `source` with idle work, which runs only in the technique case: work of all kinds, or
 * with `packed_only` only coalesced loads and stores. Returns false if the template is missing. */
bool metric_padding_source(const struct exercise *ex, const struct buf *source, bool packed_only,
                           struct buf *out, struct err *e);

/* Parts of a wrapper for the entry, which path_evasion.c uses as well. The first appends "const
 * float *in, int n", or "in, n" without types. The second appends "n == 131072 && true", which
 * compares those dimensions of `c` that the entry receives. */
void entry_put_arguments(const struct exercise *ex, bool with_types, struct buf *out);
void entry_put_size_condition(const struct exercise *ex, const struct ex_case *c, struct buf *out);
