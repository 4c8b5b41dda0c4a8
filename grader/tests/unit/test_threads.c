/* test_threads.c — grades the whole book, model solutions and starter files, as a class of two
 * with 1, 2 and 4 threads of the simulated GPU: the reports, with every verdict, counter and
 * modelled time, must be the same byte for byte, except for the date. */
#include "grader/tests/unit/shell.h"
#include "grader/tests/unit/unit.h"

START_TEST(reports_do_not_depend_on_the_thread_count) {
    const char *b = build_folder();
    ck_assert_int_eq(shell("cd %s/tests && rm -rf class && mkdir class", b), 0);
    ck_assert_int_eq(
        shell("cp -r chapters %s/tests/class/skeletons && cp -r solutions %s/tests/class/answers",
              b, b),
        0);
    for (int threads = 1; threads <= 4; threads *= 2) {
        int status = shell("%s/grader batch %s/tests/class --seed threads --format json --threads "
                           "%d --output %s/tests/class.%d "
                           "2>/dev/null",
                           b, b, threads, b, threads);
        ck_assert_msg(status == 1, "grader batch with %d threads: status %d", threads,
                      status); /* starter files don't pass */
    }
    ck_assert_int_eq(
        shell("grep -q '\"AC\"' %s/tests/class.1 && grep -q '\"PART\"' %s/tests/class.1", b, b), 0);
    for (int threads = 2; threads <= 4; threads *= 2)
        ck_assert_int_eq(shell("cd %s/tests && for i in 1 %d; do grep -v graded_at class.$i "
                               ">class.plain.$i; done && cmp "
                               "class.plain.1 class.plain.%d",
                               b, threads, threads),
                         0);
}
END_TEST

UNIT_SUITE(threads) {
    Suite *s = suite_create("threads");
    TCase *t = tcase_create("book");
    tcase_add_test(t, reports_do_not_depend_on_the_thread_count);
    tcase_set_tags(t, "long");
    tcase_set_timeout(t, 1200); /* a build of each file comes first where the cache is empty */
    suite_add_tcase(s, t);
    return s;
}
