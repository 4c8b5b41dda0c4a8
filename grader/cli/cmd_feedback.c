/* cmd_feedback.c — grader feedback STORE PATH: writes pages for each student into the folder PATH;
 * with
 * --format moodle or canvas, into a zip file that the LMS takes back. */
#include "grader/cli/class_args.h"

#include <stdio.h>

int cmd_feedback(const struct options *o) {
    struct err e = {0};
    struct store s;
    bool is_zip = o->format == FORMAT_MOODLE || o->format == FORMAT_CANVAS;
    if (!is_zip && o->format != FORMAT_TEXT)
        return err_set(&e, ERR_INPUT, "feedback takes --format moodle or canvas, or none"),
               cli_report_error(&e);
    if (!cli_class_open(o, 2, "a store and a folder or a zip file for the pages", &s, &e))
        return cli_report_error(&e);
    const char *path = o->operands[1];
    int student_count =
        is_zip ? export_feedback_zip(
                     &s, o->format == FORMAT_MOODLE ? PLAN_LAYOUT_moodle : PLAN_LAYOUT_canvas, path,
                     &e)
               : export_feedback(&s, path, &e);
    store_close(&s);
    if (student_count < 0) return cli_report_error(&e);
    printf("pages for %d students in %s\n", student_count, path);
    return EXIT_PASSED;
}
