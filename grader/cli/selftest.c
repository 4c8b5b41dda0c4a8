/* selftest.c — grader selftest --device gpu: checks that this machine measures reliably. It times
 * every model solution against itself. If the interval of the ratio doesn't contain 1.00, the clock
 * or the method is unreliable. */
#include "grader/cli/commands.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/speed_gpu.h"

#include <stdlib.h>

static const double measure_seconds = 4; /* for one exercise */

/* Returns 1 if the interval contains 1.00, 0 if it doesn't, -1 if the measurement failed. */
static int test_exercise(const struct exercise *ex, const struct grade_options *go,
                         struct buf *out) {
    struct build b = {0};
    struct measurement m;
    struct err e = {0};
    bool ok = speed_gpu_build(ex, NULL, &b, &e) &&
              speed_gpu_compare(ex, &b, &b, go, measure_seconds, &m, &e);
    build_free(&b);
    if (!ok) return buf_printf(out, "  %-20s not measured: %s\n", ex->name, e.text), -1;
    bool contains_one = m.low <= 1 && m.high >= 1;
    buf_printf(out, "  %-20s %s  %.4f (%.4f to %.4f), %u pairs, %u dropped%s%s, %.2f us\n",
               ex->name, contains_one ? "ok  " : "FAIL", m.ratio, m.low, m.high, m.pairs, m.dropped,
               m.dropped ? ": " : "", m.dropped ? m.cause : "", m.first * 1e6);
    return contains_one;
}

int cmd_selftest(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    const struct exercise **list = cli_select_exercises(o, &e);
    if (!list) return cli_report_error(&e);
    if (!gpu_options_of(o->devices[0])) {
        free(list);
        err_set(&e, ERR_INPUT,
                "selftest needs a GPU: add --device gpu (the simulated GPU has no noise to "
                "measure)");
        return cli_report_error(&e);
    }
    struct grade_options go = options_to_grade_options(o, o->devices[0]);
    unsigned passed_count = 0, failed_count = 0, unmeasured_count = 0;
    for (unsigned i = 0; list[i]; i++) {
        status_show((void *)list[i]->name, "measuring the model solution against itself");
        int r = test_exercise(list[i], &go, &out);
        passed_count += r == 1, failed_count += r == 0, unmeasured_count += r < 0;
    }
    status_clear();
    /* A 95 % interval misses the true value once in twenty times, so a tenth may fail. */
    bool is_fit = passed_count && failed_count <= (passed_count + failed_count) / 10;
    buf_printf(&out, "%s: %u intervals contain 1.00, %u do not, %u not measured. %s\n",
               o->devices[0]->full_name, passed_count, failed_count, unmeasured_count,
               is_fit ? "Fit to measure." : "Not fit to measure.");
    bool ok = cli_write_output(o, &out, &e);
    buf_free(&out);
    free(list);
    return !ok ? cli_report_error(&e) : is_fit && !unmeasured_count ? EXIT_PASSED : EXIT_FAILED;
}
