/* cmd_profile.c — grader profile: prints the student's source with the cost of each line. */
#include "grader/cli/commands.h"
#include "grader/grade/gpu_device.h"

int cmd_profile(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_select_exercise(o, &e);
    struct result r;
    struct grade_options go = options_to_grade_options(o, o->devices[0]);
    go.reuse = options_reuse(o);
    /* A measurement takes seconds and says nothing about lines. */
    go.no_speed = gpu_options_of(o->devices[0]) != NULL;
    go.progress = status_show, go.user = ex ? (void *)ex->name : NULL;
    if (!ex || !grade_file(ex, cli_student_file(o, ex), &go, &r, &e)) return cli_report_error(&e);
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    struct buf out = {0};
    if (r.has_counters) report_profile(&r, o->devices[0], &style, o->all, &out);
    else {
        report_text(&r, o->devices[0], &style, &out);
        buf_puts(&out, "  The profile appears once your results are correct.\n");
    }
    int status = !r.has_counters ? cli_exit_status(&r, 1) : EXIT_PASSED;
    bool ok = cli_write_output(o, &out, &e);
    buf_free(&out);
    result_free(&r);
    return ok ? status : cli_report_error(&e);
}
