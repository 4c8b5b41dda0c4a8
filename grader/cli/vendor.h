/* vendor.h — NVIDIA's libraries that do an exercise's job, for `grader vendor` and `gpu-report`:
 * cuBLAS, loaded if it is installed; CUB, compiled from grader/vendor/NAME.cu with the exercise's
 * entry. */
#pragma once
#include "common/exercise.h"
#include "grader/grade/build.h"
#include "grader/server/backend.h"

#include <limits.h>

/* Returns the cuBLAS routine that does the exercise's job; NULL = none. */
const char *vendor_routine(const struct exercise *ex);
/* Returns cuBLAS's time in seconds for the exercise's timed size; 0 with an error if it has no such
 * routine, is not installed or fails. */
double vendor_time(struct backend *b, const struct exercise *ex, const char **routine,
                   struct err *e);

enum { VENDOR_MAX_PATH = PATH_MAX + 64 };
/* Writes the path of the exercise's CUB version; false if there is none. */
bool vendor_cub_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]);
/* Writes the path of the library version that the lesson shows, chapters/NN-slug/practice/NAME.cu;
 * false if there is none. */
bool vendor_practice_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]);
bool vendor_build(const struct exercise *ex, const char *path, struct build *b, struct err *e);
