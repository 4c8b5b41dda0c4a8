// expect.h — for programs that compute the same on the host: says what differs.
#pragma once
#include "check.h"

static int wrong;
// Counts what is wrong and shows the first.
#define EXPECT(condition, ...)              \
    do {                                    \
        if (!(condition) && wrong++ < 10) { \
            printf(__VA_ARGS__);            \
            puts("");                       \
        }                                   \
    } while (0)
