/* result_serialize.h — a result as bytes, to pass from one process of the grader to another. Not a file
 * format. */
#pragma once
#include "grader/grade/result.h"

void result_serialize(const struct result *r, struct buf *out);
/* False where the bytes are no result. `ex` is the exercise that was graded. */
bool result_deserialize(struct result *r, const struct exercise *ex, const char *data, size_t size);
