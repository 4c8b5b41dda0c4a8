/* gpu_counters.h — the simulator's counters beside those that Nsight Compute reads on a GPU. */
#pragma once
#include "common/buf.h"
#include "grader/grade/grade.h"

/* Runs the model answer's technique case under `ncu` and on the simulator; appends rows of a table and JSON
 * objects. False with the reason where ncu is missing or may not read counters. */
struct json_t;
bool gpu_counters(const struct exercise *ex, const struct grade_options *o, struct buf *table, struct json_t *list,
                  struct err *e);
