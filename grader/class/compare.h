/* compare.h — compares two stores: whose grade changed, and why. `grader compare` calls it. */
#pragma once
#include "grader/class/store.h"

#include <stdio.h>

struct comparison {
    long long common,
        changed;    /* students and exercises in both stores; of all, those that differ */
    bool has_means; /* of the scores of those in both; false if either has no score */
    double old_mean, new_mean;
};
/* Writes a line for each student and exercise whose state, verdict or score differs between the
 * store and the one at `new_path`, with what changed of the things that the grade depends on. */
bool class_compare(struct store *s, const char *new_path, bool as_csv, FILE *f,
                   struct comparison *out, struct err *e);
