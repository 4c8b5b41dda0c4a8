/* test_caller_variables.c — tests that variables of the caller don't change a verdict. Exercises
 * are Check suites, and Check reads such variables: one that leaves out tests accepts any solution.
 */
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

static const char *const variables[] = {
    "CK_INCLUDE_TAGS=none", "CK_EXCLUDE_TAGS=correctness", "CK_RUN_SUITE=none", "CK_RUN_CASE=none",
    "CK_FORK=no",           "CK_DEFAULT_TIMEOUT=0.001",    "CK_MAX_MSG_SIZE=10"};
enum { NVARIABLES = sizeof variables / sizeof *variables };

/* Wrong for one row only, which the counted case does not have. */
START_TEST(a_wrong_answer_stays_wrong) {
    ck_assert_int_eq(
        shell("f=$(mktemp -d) && sed 's/ = tile\\[/ = (rows == 1) + tile[/' "
              "solutions/02-coalescing/transpose.cu >$f/transpose.cu && "
              "env %s %s/grader run transpose --file $f/transpose.cu --no-modelled-speed "
              ">$f/report; grep -q 'transpose  WA' $f/report; s=$?; rm -r $f; exit $s",
              variables[_i], build_folder()),
        0);
}
END_TEST

UNIT_SUITE(caller_variables) {
    Suite *s = suite_create("caller_variables");
    TCase *t = tcase_create("Check");
    tcase_add_loop_test(t, a_wrong_answer_stays_wrong, 0, NVARIABLES);
    suite_add_tcase(s, t);
    return s;
}
