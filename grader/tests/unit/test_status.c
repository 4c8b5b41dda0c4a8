/* test_status.c — tests what the status line says of counted work, and that a log gets one line a
 * minute at most. */
#include "common/clock.h"
#include "common/status.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The figures follow by division: 12 in 240 s are 3 a minute, and 42 more take 14 min. */
START_TEST(counted_work_has_rate_and_time_left) {
    static const struct {
        struct status_count count;
        double seconds;
        const char *text;
    } rows[] = {
        {{"exercises", 12, 54, 0}, 240, "12 of 54 exercises, 3.0 a minute, about 14 min left"},
        {{"files", 30, 40, 0}, 15, "30 of 40 files, 2.0 a second, about 5 s left"},
        {{"files", 0, 40, 0}, 15, "0 of 40 files"},
        {{"files", 2, 2, 0}, 60, "2 of 2 files, 2.0 a minute, about 0 s left"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf text = {0};
        status_put_count(&rows[i].count, rows[i].seconds, &text);
        ck_assert_str_eq(buf_str(&text), rows[i].text);
        buf_free(&text);
    }
}
END_TEST

/* Standard error is a file here: a short step leaves nothing in a log. */
START_TEST(short_work_leaves_no_line_in_a_log) {
    FILE *log = tmpfile();
    struct status_count count;
    ck_assert(log && dup2(fileno(log), 2) == 2);
    status_count_begin(&count, "files", 3);
    for (unsigned i = 0; i < 3; i++) status_count_next(&count, "folder/one.cu");
    ck_assert_uint_eq(count.done, 3);
    status_clear();
    ck_assert_int_eq(lseek(2, 0, SEEK_END), 0);
    fclose(log);
}
END_TEST

/* A step that began 61 s ago has run for longer than a log's interval, and its line says so. */
START_TEST(a_long_step_is_logged_with_its_duration) {
    char text[128] = "";
    FILE *log = tmpfile();
    ck_assert(log && dup2(fileno(log), 2) == 2);
    status_print_since("3 of 9 blocks", clock_seconds() - 61);
    sleep(2);
    status_clear();
    rewind(log);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, log));
    ck_assert_msg(strstr(text, ": 3 of 9 blocks, 6") != NULL, "%s", text);
    ck_assert_ptr_null(fgets(text, sizeof text, log));
    fclose(log);
}
END_TEST

UNIT_SUITE(status) {
    Suite *s = suite_create("status");
    TCase *t = tcase_create("count");
    tcase_add_test(t, counted_work_has_rate_and_time_left);
    tcase_add_test(t, short_work_leaves_no_line_in_a_log);
    tcase_add_test(t, a_long_step_is_logged_with_its_duration);
    suite_add_tcase(s, t);
    return s;
}
