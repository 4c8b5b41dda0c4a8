/* cmd_gradescope.c — grader gradescope HW.toml --output autograder.zip: the whole package of an
 * autograder. */
#include "grader/class/package.h"
#include "grader/cli/class_args.h"

#include <stdio.h>
#include <unistd.h>

int cmd_gradescope(const struct options *o) {
    struct err e = {0};
    struct assignment a;
    unsigned files = 0;
    if (o->nnames != 1)
        return err_set(&e, ERR_INPUT, "gradescope takes an assignment, such as hw1.toml"),
               cli_complain(&e);
    if (!o->output && isatty(1))
        return err_set(&e, ERR_INPUT,
                       "gradescope writes a zip file: say where by --output autograder.zip"),
               cli_complain(&e);
    if (!assignment_read(o->names[0], true, &a, &e)) return cli_complain(&e);
    bool ok = class_package(&a, o->output, &files, &e);
    if (ok && o->output) printf("%s: %u files; %u exercises\n", o->output, files, a.n);
    assignment_free(&a);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
