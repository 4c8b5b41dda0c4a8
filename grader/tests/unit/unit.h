/* unit.h — registers the suites. A test file defines UNIT_SUITE(name) { ... return suite; },
 * with the name that it passes to suite_create, and has no main: build/tests/unit runs all
 * suites, `make test SUITE=name` runs one. */
#pragma once
#include <check.h>
#include <stdbool.h>

struct unit_suite {
    const char *name;
    Suite *(*create)(void);
};

/* Ends a test that cannot run here; main.c counts and lists them. */
#define SKIP(...) return unit_skip(__func__, __VA_ARGS__)
void unit_skip(const char *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define UNIT_SUITE(ident)                                                            \
    static Suite *unit_make_##ident(void);                                           \
    static const struct unit_suite unit_suite_##ident = {#ident, unit_make_##ident}; \
    static const struct unit_suite *const unit_pointer_##ident                       \
        __attribute__((section("unit_suites"), used)) = &unit_suite_##ident;         \
    static Suite *unit_make_##ident(void)
