/* test_user_limits.c — tests that low limits of the shell are raised, or named with what to do. */
#include "grader/cli/user_limits.h"
#include "grader/tests/unit/unit.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct {
    int resource;
    rlim_t low, enough;
    const char *text;
} rows[] = {
    {RLIMIT_FSIZE, 1000 << 10, 1 << 30, "size of a file, KiB: 1000): run `ulimit -f 1048576`"},
    {RLIMIT_STACK, 256 << 10, 8 << 20, "stack, KiB: 256): run `ulimit -s 2048`"},
    {RLIMIT_NPROC, 50, 4096, "processes of the user: 50): run `ulimit -u 1024`"},
    {RLIMIT_NOFILE, 24, 1024, "open files: 24): run `ulimit -n 256`"},
    {RLIMIT_CPU, 100, 4000, "processor time, seconds: 100): run `ulimit -t 3601`"},
    {RLIMIT_AS, 4ull << 30, RLIM_INFINITY, "KiB: 4194304): run `ulimit -v 7340032`"},
};
enum { NROWS = sizeof rows / sizeof *rows };

/* Check forks for each test, so these limits hold in one test only. Root could raise any limit. */
static void set(int i, rlim_t hard) {
    struct rlimit r = {rows[i].low, hard};
    ck_assert_int_eq(setrlimit((__rlimit_resource_t)rows[i].resource, &r), 0);
    if (geteuid() == 0) ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
}

START_TEST(a_soft_limit_is_raised) {
    struct rlimit r;
    struct err e = {0};
    set(_i, rows[_i].enough);
    ck_assert_msg(cli_lift_limits(&e), "%s", e.text);
    ck_assert(getrlimit((__rlimit_resource_t)rows[_i].resource, &r) == 0);
    ck_assert_msg(r.rlim_cur > rows[_i].low, "%s", rows[_i].text);
}
END_TEST

START_TEST(a_hard_limit_is_named) {
    struct err e = {0};
    set(_i, rows[_i].low);
    ck_assert(!cli_lift_limits(&e));
    ck_assert_msg(strstr(e.text, rows[_i].text), "%s", e.text);
}
END_TEST

UNIT_SUITE(user_limits) {
    Suite *s = suite_create("user_limits");
    TCase *t = tcase_create("limits");
    tcase_add_loop_test(t, a_soft_limit_is_raised, 0, NROWS);
    tcase_add_loop_test(t, a_hard_limit_is_named, 0, NROWS);
    suite_add_tcase(s, t);
    return s;
}
