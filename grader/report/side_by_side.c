/* side_by_side.c — see side_by_side.h. */
#include "grader/report/side_by_side.h"

#include <stdio.h>
#include <string.h>

static void time_text(double us, char out[16]) {
    if (us <= 0) snprintf(out, 16, "-");
    else if (us >= 1e4) snprintf(out, 16, "%.4g ms", us / 1e3);
    else snprintf(out, 16, "%.4g us", us);
}

void report_side_by_side_add(struct buf *rows, const struct gpu_device *d, const struct result *results, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const struct speed_result *s = &results[i].speed;
        char own[16], answer[16], naive[16];
        if (!s->valid) continue;
        time_text(s->student_us, own), time_text(s->solution_us, answer), time_text(s->baseline_us, naive);
        /* What limits, without the next two. */
        int head = (int)strcspn(s->bound_by, "(");
        if (head && s->bound_by[head]) head--; /* the blank before it */
        buf_printf(rows, "  %-20.20s %-10.10s %12s %12s %12s %9.2f %9.2f  %.*s\n", results[i].ex->name, d->name, own,
                   naive, answer, s->vs_baseline, s->vs_solution, head, s->bound_by);
    }
}

void report_side_by_side_write(const struct buf *rows, struct buf *out) {
    if (!rows->size) return;
    buf_printf(out,
               "Side by side (gain: over the naive version; of best: of the model answer's speed)\n  %-20s "
               "%-10s %12s %12s %12s %9s %9s  %s\n",
               "exercise", "device", "yours", "naive", "model answer", "gain", "of best", "bound by");
    buf_add(out, rows->data, rows->size);
}
