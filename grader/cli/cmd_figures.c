/* cmd_figures.c — grader figures: writes the baseline data (grade/baseline_data.h), for the devices
 * named or, in a student's release, for all that are simulated. `make baselines` and `make
 * student-release` call it. Times that the cache holds are not computed again. */
#include "common/text.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/grade/baseline_data.h"
#include "grader/grade/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An item is an exercise on a device. Its lines are stored by its index, so that the order in which
 * items finish has no effect on the output. */
struct baseline_data_builder {
    const struct options *o;
    const struct gpu_device **devices;
    const struct exercise **list;
    unsigned n, device_count, next_index, *slot_items;
    struct buf *lines;
    struct err error;
    struct status_count count; /* of an exercise on a device */
};

static bool add_times(const struct exercise *ex, const struct grade_options *go, bool is_baseline,
                      struct buf *out, struct err *e) {
    double times[2];
    char key[BASELINE_KEY_SIZE];
    if (!speed_reference_times(ex, go, is_baseline, times)) return true;
    if (!speed_reference_key(ex, is_baseline, key, e)) return false;
    buf_printf(out, "times %s %s %s %s %a %a\n", book_id(ex), go->device->name,
               is_baseline ? "naive" : "solution", key, times[0], times[1]);
    return true;
}

/* Appends the lines of baseline.c, each after the exercise's name. */
static bool add_limits(const struct exercise *ex, const struct grade_options *go, struct buf *out,
                       struct err *e) {
    struct buf text = {0};
    char *rest = NULL, key[BASELINE_KEY_SIZE];
    bool ok = speed_reference_key(ex, true, key, e) && baseline_limits(ex, go, &text, e);
    for (char *l = text.size ? strtok_r(text.data, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        buf_printf(out, "limit %s %s %s\n", book_id(ex), key, l);
    buf_free(&text);
    return ok;
}

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct baseline_data_builder *m = user;
    (void)e;
    if (m->next_index == m->n * m->device_count) return PARALLEL_END;
    m->slot_items[slot] = m->next_index++;
    return PARALLEL_ITEM;
}

static void run_item(void *user, unsigned slot, struct buf *out) {
    struct baseline_data_builder *m = user;
    const struct exercise *ex = m->list[m->slot_items[slot] / m->device_count];
    unsigned device_index = m->slot_items[slot] % m->device_count;
    struct grade_options go = options_to_grade_options(m->o, m->devices[device_index]);
    struct err e = {0};
    go.ignore_baseline_data = true;
    if (!go.workers) go.workers = 1;
    bool ok = add_times(ex, &go, false, out, &e) && add_times(ex, &go, true, out, &e) &&
              (device_index || add_limits(ex, &go, out, &e));
    if (!ok) buf_clear(out), buf_printf(out, "failed %s: %s\n", book_id(ex), e.text);
}

static bool item_done(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e) {
    struct baseline_data_builder *m = user;
    const struct exercise *ex = m->list[m->slot_items[slot] / m->device_count];
    (void)e;
    if (!ok)
        err_set(&m->error, ERR_INTERNAL, "%s: the grader's process for it crashed", book_id(ex));
    else if (size > 7 && !memcmp(data, "failed ", 7))
        err_set(&m->error, ERR_INTERNAL, "%.*s", (int)(size - 7), data + 7);
    else buf_add(&m->lines[m->slot_items[slot]], data, size);
    m->count.done++;
    status_count_show(&m->count, book_id(ex));
    return ok;
}

static void write_all(struct baseline_data_builder *m, struct buf *out) {
    buf_puts(out, "# Written by `grader figures`; grader/grade/baseline_data.h has the format.\n"
                  "warpbook-figures 2\n");
    buf_printf(out, "nvcc %s\nsimulator %s\n", grade_nvcc_version(), baseline_data_simulator());
    for (unsigned i = 0; i < m->n * m->device_count; i++)
        buf_add(out, m->lines[i].data, m->lines[i].size);
    baseline_data_append_digest(out);
}

/* The options have room for fewer devices than the table may list. */
static void choose_devices(struct baseline_data_builder *m) {
    const struct options *o = m->o;
    unsigned known = 0;
    while (device_at(known)) known++;
    m->devices = xcalloc(o->has_device ? o->ndevices : known, sizeof(const struct gpu_device *));
    for (unsigned i = 0; o->has_device ? i < o->ndevices : device_at(i) != NULL; i++)
        m->devices[m->device_count++] = o->has_device ? o->devices[i] : device_at(i);
}

int cmd_figures(const struct options *o) {
    struct baseline_data_builder m = {.o = o};
    struct err e = {0};
    struct buf out = {0};
    if (!(m.list = cli_select_exercises(o, &e))) return cli_report_error(&e);
    while (m.list[m.n]) m.n++;
    choose_devices(&m);
    unsigned jobs = parallel_job_count(o->jobs);
    m.slot_items = xcalloc(jobs, sizeof *m.slot_items);
    m.lines = xcalloc(m.n * m.device_count, sizeof *m.lines);
    status_count_begin(&m.count, "results", m.n * m.device_count);
    status_count_show(&m.count, "");
    bool ok =
        parallel_run(jobs, &(struct parallel_ops){next_item, run_item, item_done, &m, NULL}, &e);
    status_clear();
    if (ok && m.error.text[0]) e = m.error, ok = false;
    if (ok) write_all(&m, &out), ok = cli_write_output(o, &out, &e);
    for (unsigned i = 0; i < m.n * m.device_count; i++) buf_free(&m.lines[i]);
    free(m.list), free(m.devices), free(m.slot_items), free(m.lines);
    buf_free(&out);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
