/* side_by_side.c — see side_by_side.h. */
#include "grader/report/side_by_side.h"
#include "grader/page/page.h"

#include <string.h>

/* Writes the time right-aligned in 12 columns; µ takes two bytes of UTF-8. */
static void write_time_column(double us, struct buf *out) {
    struct buf text = {0};
    if (us > 0) page_time(us, &text);
    else buf_puts(&text, "-");
    buf_printf(out, "%*s ", 12 + (strstr(buf_str(&text), "µ") ? 1 : 0), buf_str(&text));
    buf_free(&text);
}

void report_side_by_side_add(struct buf *rows, const struct gpu_device *d,
                             const struct result *results, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        const struct speed_result *s = &results[i].speed;
        if (!s->valid) continue;
        /* The bottleneck without the "(next: ...)" behind it. */
        int head = (int)strcspn(s->bound_by, "(");
        if (head && s->bound_by[head]) head--; /* the blank before it */
        buf_printf(rows, "  %-20.20s %-10.10s ", results[i].ex->name, d->name);
        write_time_column(s->student_us, rows), write_time_column(s->baseline_us, rows),
            write_time_column(s->solution_us, rows);
        buf_printf(rows, "%9.2f %9.2f  %.*s\n", s->vs_baseline, s->vs_solution, head, s->bound_by);
    }
}

void report_side_by_side_write(const struct buf *rows, struct buf *out) {
    if (!rows->size) return;
    buf_printf(out,
               "Comparison of devices (speedup: over the baseline; relative: to the model "
               "solution's speed)\n  %-20s "
               "%-10s %12s %12s %12s %9s %9s  %s\n",
               "exercise", "device", "yours", "baseline", "solution", "speedup", "relative",
               "bound by");
    buf_add(out, rows->data, rows->size);
}
