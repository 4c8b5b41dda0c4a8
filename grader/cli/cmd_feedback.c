/* cmd_feedback.c — grader feedback STORE FOLDER: writes pages for each student. */
#include "grader/cli/class_args.h"

#include <stdio.h>

int cmd_feedback(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 2, "a store and a folder for the pages", &s, &e))
        return cli_report_error(&e);
    int student_count = export_feedback(&s, o->operands[1], &e);
    store_close(&s);
    if (student_count < 0) return cli_report_error(&e);
    printf("pages for %d students in %s\n", student_count, o->operands[1]);
    return EXIT_PASSED;
}
