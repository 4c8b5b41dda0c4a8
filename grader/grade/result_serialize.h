/* result_serialize.h — converts a result to bytes and back, to pass it between processes of one
 * grader. Not a file format. */
#pragma once
#include "grader/grade/result.h"

/* Appends the result as bytes that result_deserialize() of the same build reads. */
void result_serialize(const struct result *r, struct buf *out);
/* Returns false if the bytes are malformed. `ex` is the graded exercise. */
bool result_deserialize(struct result *r, const struct exercise *ex, const char *data, size_t size);
