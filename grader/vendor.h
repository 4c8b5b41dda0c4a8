/* vendor.h — the vendor's library for the same job, where one does it: cuBLAS, loaded if it is there. */
#pragma once
#include "common/exercise.h"
#include "grader/server/backend.h"

/* Seconds of cuBLAS for the exercise's timed size; 0 with a reason in `e`: no such routine, or no library. */
double vendor_time(struct backend *b, const struct exercise *ex, const char **routine, struct err *e);
