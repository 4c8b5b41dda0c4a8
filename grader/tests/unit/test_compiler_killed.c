/* test_compiler_killed.c — tests that the grader distinguishes a compiler that the OS killed,
 * for which the submission is not to blame, from one that exceeded our limits and from one that
 * reported an error. */
#include "grader/grade/build.h"
#include "grader/tests/unit/unit.h"

#include <signal.h>

static bool is_killed(enum jail_outcome end, int code, int signal, const char *output) {
    struct jail_result r = {.outcome = end, .code = code, .signal = signal};
    buf_puts(&r.output, output);
    bool was = build_was_killed_by_os(&r);
    jail_result_free(&r);
    return was;
}

START_TEST(a_killed_compiler_is_distinguished_from_a_compile_error) {
    ck_assert(is_killed(JAIL_SIGNALLED, 0, SIGKILL, "") &&
              is_killed(JAIL_SYSTEM_OOM, 0, SIGKILL, ""));
    ck_assert(is_killed(JAIL_EXITED, 137, 0, "Killed\n")); /* a shell's word for its child */
    ck_assert(is_killed(JAIL_EXITED, 255, 0,
                        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n"));
    ck_assert(!is_killed(JAIL_EXITED, 1, 0, "transpose.cu(3): error: #error Killed\n"));
    ck_assert(!is_killed(JAIL_EXITED, 0, 0, "warning: died due to signal 9 (Kill signal)\n"));
    ck_assert(!is_killed(JAIL_SIGNALLED, 0, SIGSEGV, "") &&
              !is_killed(JAIL_MEMORY_LIMIT, 0, SIGKILL, "") &&
              !is_killed(JAIL_TIMEOUT, 0, SIGKILL, ""));
}
END_TEST

/* POSIX: a shell's status is 126 for a file that it may not execute, 127 for none. */
START_TEST(a_compiler_that_may_not_run_is_no_compile_error) {
    struct jail_result r = {.outcome = JAIL_EXITED, .code = 126};
    ck_assert(build_could_not_start(&r));
    r.code = 127;
    ck_assert(build_could_not_start(&r));
    r.code = 1;
    ck_assert(!build_could_not_start(&r));
    r.outcome = JAIL_TIMEOUT, r.code = 126;
    ck_assert(!build_could_not_start(&r));
}
END_TEST

static bool is_out_of_time(enum jail_outcome end, int code, const char *output) {
    struct jail_result r = {.outcome = end, .code = code};
    buf_puts(&r.output, output);
    bool is = build_was_out_of_time(&r);
    jail_result_free(&r);
    return is;
}

/* A process of the compiler that used up its processor time ends by SIGXCPU, 24 on Linux. */
START_TEST(a_compiler_out_of_time_is_distinguished_from_a_compile_error) {
    ck_assert(is_out_of_time(JAIL_TIMEOUT, 0, ""));
    ck_assert(is_out_of_time(JAIL_EXITED, 152, "CPU time limit exceeded\n"));
    ck_assert(
        is_out_of_time(JAIL_EXITED, 255,
                       "nvcc error   : 'cicc' died due to signal 24 (CPU time limit exceeded)\n"));
    ck_assert(!is_out_of_time(JAIL_EXITED, 1, "transpose.cu(3): error: #error 24\n"));
    ck_assert(!is_out_of_time(JAIL_EXITED, 0, "warning: died due to signal 24 \n"));
}
END_TEST

UNIT_SUITE(compiler_killed) {
    Suite *s = suite_create("compiler_killed");
    TCase *t = tcase_create("killed");
    tcase_add_test(t, a_killed_compiler_is_distinguished_from_a_compile_error);
    tcase_add_test(t, a_compiler_that_may_not_run_is_no_compile_error);
    tcase_add_test(t, a_compiler_out_of_time_is_distinguished_from_a_compile_error);
    suite_add_tcase(s, t);
    return s;
}
