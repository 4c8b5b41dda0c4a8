/* exercise_hidden.h — defines hidden cases, in a file that an assignment names
 * (docs/instructor-guide.md):
 *
 *   #include "common/exercise_hidden.h"
 *   EX_HIDDEN({{33, 4097}, .label = "wide"}, {{4097, 33}, .label = "tall"})
 *
 * The numbers are dimensions, as in the cases of the exercise's test file. */
#pragma once
#include "common/exercise.h"

#define EX_HIDDEN(...)                                                                             \
    __attribute__((visibility("default"))) const struct ex_case ex_hidden_cases[] = {__VA_ARGS__}; \
    __attribute__((visibility("default"))) const unsigned ex_hidden_count =                        \
        EX_COUNT(ex_hidden_cases);
