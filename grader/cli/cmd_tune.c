/* cmd_tune.c — grader tune: checks and times every combination of the parameters that a file
 * declares (tune.h), several at the same time. It prints a row as each one finishes, then the best
 * of each device, and writes a page with curves. A state file keeps finished rows, so the same
 * command continues an interrupted sweep. */
#include "common/file.h"
#include "common/paths.h"
#include "common/hash.h"
#include "common/text.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/cli/tune.h"
#include "common/cache.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/result_serialize.h"
#include "grader/page/page.h"
#include "grader/report/report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sweep {
    const struct options *o;
    const struct exercise *ex;
    struct buf source;
    struct tune_space space;
    struct tune_row *rows;
    unsigned n, next_row, *slot_rows; /* slot_rows[i]: the row that slot i runs */
    char name[128], state_path[PATH_MAX];
    const char *devices[MAX_DEVICES];
    unsigned jobs;
    tune_row_function *on_row;
    void *user;
};

static struct tune_page page_of(const struct sweep *s) {
    return (struct tune_page){book_id(s->ex), s->name,    &s->space,
                              s->rows,        s->devices, s->o->ndevices};
}

static void report_row(const struct sweep *s, const struct tune_row *row, const char *reason) {
    struct tune_page p = page_of(s);
    s->on_row(s->user, &p, row, reason);
}

/* Computes a hash of everything that rows depend on: the source, the grader, the devices. */
static void sweep_key(const struct sweep *s, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "tune 1");
    cache_add_grader(&h);
    hash_update_string(&h, book_id(s->ex));
    hash_update(&h, s->source.data, s->source.size);
    for (unsigned i = 0; i < s->o->ndevices; i++) hash_update_string(&h, s->o->devices[i]->name);
    hash_final_hex(&h, key);
}

static enum parallel_status next_item(void *user, unsigned slot, struct err *e) {
    struct sweep *s = user;
    (void)e;
    while (s->next_row < s->n && s->rows[s->next_row].done) s->next_row++;
    if (s->next_row == s->n) return PARALLEL_END;
    s->slot_rows[slot] = s->next_row++;
    return PARALLEL_ITEM;
}

/* Grades one row. It needs a time but no points, so a sample of the timed size is enough. */
static void run_item(void *user, unsigned slot, struct buf *out) {
    struct sweep *s = user;
    const struct tune_row *row = &s->rows[s->slot_rows[slot]];
    struct grade_options go = options_to_grade_options(s->o, s->o->devices[row->device]);
    struct buf text = {0};
    struct result r;
    go.count_modelled = false;
    if (s->jobs > 1 && !go.workers) go.workers = 1;
    tune_rewrite(&s->source, &s->space, row->combination, &text);
    grade_source(s->ex, s->name, buf_str(&text), text.size, &go, &r);
    result_serialize(&r, out);
    result_free(&r);
    buf_free(&text);
}

static const char *failure_reason(const struct result *r) {
    for (unsigned i = 0; i < r->ncases; i++)
        if (r->cases[i].verdict != V_AC) return r->cases[i].message;
    return r->message[0] ? r->message : r->speed.note;
}

static bool item_done(void *user, unsigned slot, bool ok, const char *data, size_t size,
                      struct err *e) {
    struct sweep *s = user;
    struct tune_row *row = &s->rows[s->slot_rows[slot]];
    struct result r = {.message = ""};
    ok = ok && result_deserialize(&r, s->ex, data, size);
    bool is_correct = ok && (r.verdict == V_AC || r.verdict == V_PART);
    snprintf(row->verdict, sizeof row->verdict, "%s",
             !ok                           ? "IE"
             : is_correct && r.speed.valid ? "right"
             : is_correct                  ? "untimed"
                                           : verdict_code(r.verdict));
    if (is_correct && r.speed.valid) row->us = r.speed.student_us;
    if (is_correct && r.speed.valid)
        snprintf(row->speed_kind, sizeof row->speed_kind, "%s", r.speed.kind);
    if (ok) row->counters = r.counters;
    char reason[240];
    snprintf(reason, sizeof reason, "%.*s", ok ? (int)strcspn(failure_reason(&r), "\n") : 0,
             ok ? failure_reason(&r) : "");
    report_row(s, row, reason);
    row->done = ok && r.verdict != V_IE; /* the next run repeats an internal error */
    if (ok) result_free(&r);
    return !row->done || tune_state_append(s->state_path, s->slot_rows[slot], row, e);
}

static bool open_sweep(struct sweep *s, const struct options *o, struct err *e) {
    char path[PATH_MAX + 512], key[HASH_HEX_SIZE];
    s->o = o;
    if (!(s->ex = cli_select_exercise(o, e))) return false;
    snprintf(path, sizeof path, "%s", cli_student_file(o, s->ex));
    grade_safe_file_name(s->ex, path, s->name, sizeof s->name);
    if (!file_read(path, SOURCE_LIMIT, &s->source, e)) return false;
    if (!tune_space_read(&s->source, &s->space, e)) return false;
    bool uses_gpu = false;
    for (unsigned i = 0; i < o->ndevices; i++)
        s->devices[i] = o->devices[i]->name, uses_gpu |= gpu_options_of(o->devices[i]) != NULL;
    s->jobs = uses_gpu ? 1 : parallel_job_count(o->jobs); /* a measurement needs the GPU alone */
    s->n = s->space.ncombinations * o->ndevices;
    s->rows = xcalloc(s->n, sizeof *s->rows);
    s->slot_rows = xcalloc(s->jobs, sizeof *s->slot_rows);
    for (unsigned i = 0; i < s->n; i++)
        s->rows[i] = (struct tune_row){.combination = i % s->space.ncombinations,
                                       .device = i / s->space.ncombinations};
    sweep_key(s, key);
    if (!tune_state_path(s->ex->name, key, s->state_path, e)) return false;
    tune_state_read(s->state_path, s->rows, s->n);
    return true;
}

static void free_sweep(struct sweep *s) {
    free(s->rows), free(s->slot_rows);
    tune_space_free(&s->space);
    buf_free(&s->source);
}

/* Reports the rows that an interrupted sweep left. */
static void report_finished_rows(const struct sweep *s) {
    for (unsigned i = 0; i < s->n; i++)
        if (s->rows[i].done) report_row(s, &s->rows[i], "");
}

static bool run_missing_rows(struct sweep *s, struct err *e) {
    return parallel_run(s->jobs, &(struct parallel_ops){next_item, run_item, item_done, s, NULL},
                        e);
}

bool tune_sweep(const struct options *o, tune_row_function *on_row, void *user, struct err *e) {
    struct sweep s = {.on_row = on_row, .user = user};
    bool ok = open_sweep(&s, o, e);
    if (ok) report_finished_rows(&s);
    ok = ok && run_missing_rows(&s, e);
    free_sweep(&s);
    return ok;
}

/* ---- the command ---- */

/* Prints a row, and counts it once the count has begun; `count` is a struct status_count. */
static void print_row(void *count, const struct tune_page *p, const struct tune_row *row,
                      const char *reason) {
    char label[TUNE_MAX_LABEL];
    struct buf line = {0};
    tune_label(p->space, row->combination, label);
    buf_printf(&line, "  %-10s %-36s %-7s", p->devices[row->device], label, row->verdict);
    if (row->us > 0)
        buf_puts(&line, " "), page_time(row->us, &line), buf_printf(&line, " %s", row->speed_kind);
    else if (reason[0])
        buf_puts(&line, "\n"), report_wrap(reason, 13, &(struct report_style){.width = 80}, &line);
    while (line.size && line.data[line.size - 1] == '\n') line.data[--line.size] = 0;
    status_clear();
    puts(buf_str(&line));
    fflush(stdout);
    buf_free(&line);
    struct status_count *c = count;
    if (c->total) c->done++, status_count_show(c, "");
}

static void print_best(const struct tune_page *p, unsigned d) {
    const struct tune_row *best = tune_best(p, d);
    char label[TUNE_MAX_LABEL];
    struct buf text = {0};
    if (!best) {
        printf("%s: no combination is correct\n", p->devices[d]);
        return;
    }
    tune_label(p->space, best->combination, label);
    struct buf time = {0};
    page_time(best->us, &time);
    printf("%s: best is %s, %s %s", p->devices[d], label, buf_str(&time), best->speed_kind);
    buf_free(&time);
    if (p->space->current < p->space->ncombinations) {
        const struct tune_row *current = tune_row_at(p, d, p->space->current);
        if (current == best) printf(", your current values");
        else if (current->us > 0)
            printf(", %.2f times as fast as your current values", current->us / best->us);
        if (current != best && current->us > 0) tune_put_changes(current, best, 8, &text);
    }
    printf("\n%s", buf_str(&text));
    buf_free(&text);
}

static bool write_results(const struct sweep *s, struct err *e) {
    struct tune_page p = page_of(s);
    struct buf page = {0};
    char path[PATH_MAX] = "", pages_folder[PATH_MAX];
    puts("");
    for (unsigned d = 0; d < p.ndevices; d++) print_best(&p, d);
    tune_write_page(&p, &page);
    bool ok = s->o->output || paths_pages_dir(pages_folder, e);
    if (ok && !s->o->output)
        snprintf(path, sizeof path, "%.3800s/tune", pages_folder), ok = dir_create(path, e);
    if (ok && !s->o->output)
        snprintf(path, sizeof path, "%.3800s/tune/%.100s.html", pages_folder, s->ex->name);
    ok = ok && file_write_output(s->o->output ? s->o->output : path, buf_str(&page), page.size, e);
    if (ok) printf("page: %s\n", s->o->output ? s->o->output : path);
    buf_free(&page);
    return ok;
}

int cmd_tune(const struct options *o) {
    struct status_count count = {0};
    struct sweep s = {.on_row = print_row, .user = &count};
    struct err e = {0};
    bool ok = open_sweep(&s, o, &e), has_time = false;
    unsigned done_count = 0;
    for (unsigned i = 0; ok && i < s.n; i++)
        if (s.rows[i].done) done_count++;
    if (ok)
        printf("%s: %u combinations%s%s\n", book_id(s.ex), s.space.ncombinations,
               o->ndevices > 1 ? " on each device" : "", done_count ? "; continuing:" : "");
    if (ok) {
        report_finished_rows(&s);
        status_count_begin(&count, "runs", s.n - done_count);
        if (count.total) status_count_show(&count, "");
    }
    ok = ok && run_missing_rows(&s, &e);
    status_clear();
    ok = ok && write_results(&s, &e);
    for (unsigned i = 0; i < s.n; i++) has_time |= s.rows[i].us > 0;
    free_sweep(&s);
    return !ok ? cli_report_error(&e) : has_time ? EXIT_PASSED : EXIT_FAILED;
}
