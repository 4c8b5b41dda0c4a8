/* cmd_figures.c — grader figures: what a student's release keeps of the answers (grade/figures.h),
 * of all exercises or those named, for all simulated devices. `make student-release` writes it into
 * the release; the times come from the cache where they were needed before. */
#include "common/text.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/grade/figures.h"
#include "grader/grade/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An item is an exercise on a device; its lines are kept under its number, whichever is done first.
 */
struct making {
    const struct options *o;
    const struct exercise **list;
    unsigned n, devices, next, *at;
    struct buf *lines;
    struct err failed;
};

static void add_times(const struct exercise *ex, const struct gpu_device *d,
                      const struct grade_options *go, bool naive, struct buf *out) {
    double times[2];
    if (speed_reference_times(ex, go, naive, times))
        buf_printf(out, "times %s %s %s %a %a\n", book_id(ex), d->name, naive ? "naive" : "answer",
                   times[0], times[1]);
}

/* naive.c's lines, each with the exercise before it. */
static bool add_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                       struct err *e) {
    struct buf text = {0};
    char *rest = NULL;
    bool ok = baseline_limits(ex, go, &text, e);
    for (char *l = text.size ? strtok_r(text.data, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        buf_printf(out, "limit %s %s\n", book_id(ex), l);
    buf_free(&text);
    return ok;
}

static enum parallel_answer next(void *user, unsigned slot, struct err *e) {
    struct making *m = user;
    (void)e;
    if (m->next == m->n * m->devices) return PARALLEL_END;
    m->at[slot] = m->next++;
    return PARALLEL_ITEM;
}

static void work(void *user, unsigned slot, struct buf *out) {
    struct making *m = user;
    const struct exercise *ex = m->list[m->at[slot] / m->devices];
    unsigned number = m->at[slot] % m->devices;
    struct grade_options go = options_grade(m->o, device_at(number));
    struct err e = {0};
    if (!go.workers) go.workers = 1;
    add_times(ex, go.device, &go, false, out);
    add_times(ex, go.device, &go, true, out);
    if (number == 0 && !add_limits(ex, &go, out, &e))
        buf_printf(out, "failed %s: %s\n", book_id(ex), e.text);
}

static bool done(void *user, unsigned slot, bool ok, const char *data, size_t size, struct err *e) {
    struct making *m = user;
    const struct exercise *ex = m->list[m->at[slot] / m->devices];
    (void)e;
    if (!ok)
        err_set(&m->failed, ERR_INTERNAL, "%s: the grader's own process for it died", book_id(ex));
    else if (size > 7 && !memcmp(data, "failed ", 7))
        err_set(&m->failed, ERR_INTERNAL, "%.*s", (int)(size - 7), data + 7);
    else buf_add(&m->lines[m->at[slot]], data, size);
    progress_show((void *)book_id(ex), device_at(m->at[slot] % m->devices)->name);
    return ok;
}

static void write_all(struct making *m, struct buf *out) {
    buf_puts(out, "# What scores need of the answers, which this release leaves out: "
                  "grader/grade/figures.h\nwarpbook-figures 1\n");
    buf_printf(out, "nvcc %s\n", grade_nvcc_version());
    for (unsigned i = 0; i < m->n * m->devices; i++)
        buf_add(out, m->lines[i].data, m->lines[i].size);
    baseline_data_append_digest(out);
}

int cmd_figures(const struct options *o) {
    struct making m = {.o = o};
    struct err e = {0};
    struct buf out = {0};
    if (!(m.list = cli_chosen(o, &e))) return cli_complain(&e);
    while (m.list[m.n]) m.n++;
    while (device_at(m.devices)) m.devices++;
    unsigned jobs = parallel_jobs(o->jobs);
    m.at = xcalloc(jobs, sizeof *m.at);
    m.lines = xcalloc(m.n * m.devices, sizeof *m.lines);
    bool ok = parallel_run(jobs, &(struct parallel){next, work, done, &m}, &e);
    if (ok && m.failed.text[0]) e = m.failed, ok = false;
    if (ok) write_all(&m, &out), ok = cli_deliver(o, &out, &e);
    for (unsigned i = 0; i < m.n * m.devices; i++) buf_free(&m.lines[i]);
    free(m.list), free(m.at), free(m.lines);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
