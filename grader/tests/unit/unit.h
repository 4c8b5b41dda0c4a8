/* unit.h — a unit test file puts its suite on the list with UNIT_SUITE(name) { ... return suite; } and includes
 * no main: build/tests/unit runs them all, and `CK_RUN_SUITE=name build/tests/unit` runs one. */
#pragma once
#include <check.h>

struct unit_suite {
    Suite *(*make)(void);
};

#define UNIT_SUITE(ident)                                                                                      \
    static Suite *unit_make_##ident(void);                                                                     \
    static const struct unit_suite unit_suite_##ident = {unit_make_##ident};                                   \
    static const struct unit_suite *const unit_pointer_##ident __attribute__((section("unit_suites"), used)) = \
        &unit_suite_##ident;                                                                                   \
    static Suite *unit_make_##ident(void)
