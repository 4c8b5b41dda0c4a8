/* cmd_gradescope.c — grader gradescope HW.toml --output autograder.zip: writes an autograder
 * package for Gradescope. */
#include "grader/class/package.h"
#include "grader/cli/class_args.h"

#include <stdio.h>
#include <unistd.h>

int cmd_gradescope(const struct options *o) {
    struct err e = {0};
    struct assignment a;
    unsigned file_count = 0;
    if (o->noperands != 1)
        return err_set(&e, ERR_INPUT, "gradescope takes one assignment, such as hw1.toml"),
               cli_report_error(&e);
    if (!o->output && isatty(1))
        return err_set(&e, ERR_INPUT,
                       "gradescope writes a zip file; name it with --output autograder.zip"),
               cli_report_error(&e);
    if (!assignment_read(o->operands[0], true, &a, &e)) return cli_report_error(&e);
    if (a.variants.count)
        err_set(&e, ERR_INPUT,
                "%.300s: Gradescope grades all students with one package; make one for each copy "
                "of [variants], with an assignment without them",
                a.path);
    bool ok = !e.text[0] && class_write_package(&a, o->output, &file_count, &e);
    if (ok && o->output) printf("%s: %u files; %u exercises\n", o->output, file_count, a.n);
    assignment_free(&a);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
