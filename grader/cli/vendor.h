/* vendor.h — the vendor's libraries for the same job, where one does it: cuBLAS, loaded if it is
 * there; CUB, compiled from grader/vendor/NAME.cu behind the exercise's own entry. */
#pragma once
#include "common/exercise.h"
#include "grader/grade/build.h"
#include "grader/server/backend.h"

#include <limits.h>

/* The routine of cuBLAS that does the exercise's job; NULL = none. */
const char *vendor_routine(const struct exercise *ex);
/* Seconds of cuBLAS for the exercise's timed size; 0 with a reason in `e`: no such routine, or no
 * library. */
double vendor_time(struct backend *b, const struct exercise *ex, const char **routine,
                   struct err *e);

enum { VENDOR_MAX_PATH = PATH_MAX + 64 };
/* The exercise's CUB version; false where there is none. */
bool vendor_cub_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]);
/* What the lesson shows as the way of a library: chapters/NN-slug/practice/NAME.cu; false where
 * there is none. */
bool vendor_practice_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]);
bool vendor_build(const struct exercise *ex, const char *path, struct build *b, struct err *e);
