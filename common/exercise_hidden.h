/* exercise_hidden.h — a file of hidden cases, which an assignment names (docs/instructor-guide.md):
 *
 *   #include "common/exercise_hidden.h"
 *   EX_HIDDEN({{33, 4097}, .label = "wide"}, {{4097, 33}, .label = "tall"})
 *
 * What the numbers mean is in the exercise's test file, where its own cases stand. */
#pragma once
#include "common/exercise.h"

#define EX_HIDDEN(...)                                                                             \
    __attribute__((visibility("default"))) const struct ex_case ex_hidden_cases[] = {__VA_ARGS__}; \
    __attribute__((visibility("default"))) const unsigned ex_hidden_count =                        \
        EX_COUNT(ex_hidden_cases);
