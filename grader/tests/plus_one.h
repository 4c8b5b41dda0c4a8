/* plus_one.h — parts of the exercise out[i] = in[i] + 1, which tests of grading define: sizes,
 * reference, arguments and the correctness test. */
#pragma once
#include "grader/book/book.h"

#include <check.h>

static size_t count(const struct ex_case *c) { return (size_t)c->dim[0]; }
static void reference(const struct ex_case *c, void *const host[], void *const expected[]) {
    for (long i = 0; i < c->dim[0]; i++)
        ((int64_t *)expected[0])[i] = ((const int32_t *)host[1])[i] + 1;
}

/* `...`: more designated fields of the input. */
#define PLUS_ONE_ARGS(...)                                                                \
    {                                                                                     \
        {.name = "out", .role = EX_OUT, .type = EX_I32, .count = count},                  \
            {.name = "in", .role = EX_IN, .type = EX_I32, .count = count, ##__VA_ARGS__}, \
            {.name = "n", .role = EX_SCALAR, .type = EX_I32},                             \
    }

static const struct ex_case cases[] = {{.dim = {0}}, {.dim = {33}}, {.dim = {257}}};
START_TEST(right) { ex_check_case(&cases[_i]); }
END_TEST
