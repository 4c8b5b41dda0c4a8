/* cmd_tune.c — grader tune: every combination of the parameters that a file declares, checked and
 * timed, several at a time; a table as they come, the best of each device, and a page with curves.
 * What is done is kept: the same command goes on. */
#include "common/file.h"
#include "common/where.h"
#include "common/hash.h"
#include "common/text.h"
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/cli/tune.h"
#include "grader/grade/cache.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/result_bytes.h"
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
    unsigned n, next, *at; /* at: which row is in which place */
    char name[128], state[PATH_MAX];
    const char *devices[MAX_DEVICES];
    unsigned jobs;
};

/* What the rows depend on: the text, what checks it, the devices. */
static void key_of(const struct sweep *s, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "tune 1");
    cache_add_grader(&h);
    hash_update_string(&h, book_id(s->ex));
    hash_update(&h, s->source.data, s->source.size);
    for (unsigned i = 0; i < s->o->ndevices; i++) hash_update_string(&h, s->o->devices[i]->name);
    hash_final_hex(&h, key);
}

static enum parallel_answer next(void *user, unsigned slot, struct err *e) {
    struct sweep *s = user;
    (void)e;
    while (s->next < s->n && s->rows[s->next].done) s->next++;
    if (s->next == s->n) return PARALLEL_END;
    s->at[slot] = s->next++;
    return PARALLEL_ITEM;
}

/* Speed is asked for, points are not: a sample of the timed size is enough. */
static void work(void *user, unsigned slot, struct buf *out) {
    struct sweep *s = user;
    const struct tune_row *row = &s->rows[s->at[slot]];
    struct grade_options go = options_grade(s->o, s->o->devices[row->device]);
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

static void tell(const struct sweep *s, const struct tune_row *row, const char *why) {
    char label[TUNE_LABEL];
    struct buf line = {0};
    tune_label(&s->space, row->combination, label);
    buf_printf(&line, "  %-10s %-36s %-7s", s->devices[row->device], label, row->verdict);
    if (row->us > 0)
        buf_puts(&line, " "), page_time(row->us, &line), buf_printf(&line, " %s", row->kind);
    else if (why[0])
        buf_puts(&line, "\n"), report_wrap(why, 13, &(struct report_style){.width = 80}, &line);
    while (line.size && line.data[line.size - 1] == '\n') line.data[--line.size] = 0;
    progress_clear();
    puts(buf_str(&line));
    fflush(stdout);
    buf_free(&line);
}

static const char *why_not(const struct result *r) {
    for (unsigned i = 0; i < r->ncases; i++)
        if (r->cases[i].verdict != V_AC) return r->cases[i].message;
    return r->message[0] ? r->message : r->speed.note;
}

static bool done(void *user, unsigned slot, bool ok, const char *data, size_t size, struct err *e) {
    struct sweep *s = user;
    struct tune_row *row = &s->rows[s->at[slot]];
    struct result r = {.message = ""};
    ok = ok && result_deserialize(&r, s->ex, data, size);
    bool right = ok && (r.verdict == V_AC || r.verdict == V_PART);
    snprintf(row->verdict, sizeof row->verdict, "%s",
             !ok                      ? "IE"
             : right && r.speed.valid ? "right"
             : right                  ? "untimed"
                                      : verdict_code(r.verdict));
    if (right && r.speed.valid) row->us = r.speed.student_us;
    if (right && r.speed.valid) snprintf(row->kind, sizeof row->kind, "%s", r.speed.kind);
    if (ok) row->counters = r.counters;
    char why[240];
    snprintf(why, sizeof why, "%.*s", ok ? (int)strcspn(why_not(&r), "\n") : 0,
             ok ? why_not(&r) : "");
    tell(s, row, why);
    row->done = ok && r.verdict != V_IE; /* our own faults are tried again */
    if (ok) result_free(&r);
    return !row->done || tune_state_add(s->state, s->at[slot], row, e);
}

static bool open_sweep(struct sweep *s, const struct options *o, struct err *e) {
    char path[PATH_MAX + 512], key[HASH_HEX_SIZE];
    s->o = o;
    if (!(s->ex = cli_chosen_one(o, e))) return false;
    snprintf(path, sizeof path, "%s", cli_student_file(o, s->ex));
    grade_safe_file_name(s->ex, path, s->name, sizeof s->name);
    if (!file_read(path, SOURCE_LIMIT, &s->source, e)) return false;
    if (!tune_space_read(&s->source, &s->space, e)) return false;
    bool gpu = false;
    for (unsigned i = 0; i < o->ndevices; i++)
        s->devices[i] = o->devices[i]->name, gpu |= gpu_options_of(o->devices[i]) != NULL;
    s->jobs = gpu ? 1 : parallel_jobs(o->jobs); /* to measure takes the GPU alone */
    s->n = s->space.ncombinations * o->ndevices;
    s->rows = xcalloc(s->n, sizeof *s->rows);
    s->at = xcalloc(s->jobs, sizeof *s->at);
    for (unsigned i = 0; i < s->n; i++)
        s->rows[i] = (struct tune_row){.combination = i % s->space.ncombinations,
                                       .device = i / s->space.ncombinations};
    key_of(s, key);
    if (!tune_state_path(s->ex->name, key, s->state, e)) return false;
    tune_state_read(s->state, s->rows, s->n);
    return true;
}

static void tell_best(const struct tune_page *p, unsigned d) {
    const struct tune_row *best = tune_best(p, d);
    char label[TUNE_LABEL];
    struct buf text = {0};
    if (!best) {
        printf("%s: no combination comes out right\n", p->devices[d]);
        return;
    }
    tune_label(p->space, best->combination, label);
    struct buf time = {0};
    page_time(best->us, &time);
    printf("%s: best is %s, %s %s", p->devices[d], label, buf_str(&time), best->kind);
    buf_free(&time);
    if (p->space->current < p->space->ncombinations) {
        const struct tune_row *now = tune_row_at(p, d, p->space->current);
        if (now == best) printf(", as the file has it");
        else if (now->us > 0)
            printf(", %.2f times as fast as the file as it is", now->us / best->us);
        if (now != best && now->us > 0) tune_changes(now, best, 8, &text);
    }
    printf("\n%s", buf_str(&text));
    buf_free(&text);
}

static bool finish(const struct sweep *s, struct err *e) {
    struct tune_page p = {book_id(s->ex), s->name, &s->space, s->rows, s->devices, s->o->ndevices};
    struct buf page = {0};
    char path[PATH_MAX] = "", pages[PATH_MAX];
    puts("");
    for (unsigned d = 0; d < p.ndevices; d++) tell_best(&p, d);
    tune_write_page(&p, &page);
    bool ok = s->o->output || paths_pages_dir(pages, e);
    if (ok && !s->o->output)
        snprintf(path, sizeof path, "%.3800s/tune", pages), ok = dir_create(path, e);
    if (ok && !s->o->output)
        snprintf(path, sizeof path, "%.3800s/tune/%.100s.html", pages, s->ex->name);
    ok = ok && file_write_output(s->o->output ? s->o->output : path, buf_str(&page), page.size, e);
    if (ok) printf("page: %s\n", s->o->output ? s->o->output : path);
    buf_free(&page);
    return ok;
}

static int close_sweep(struct sweep *s, bool ok, const struct err *e) {
    bool any = false;
    for (unsigned i = 0; i < s->n; i++) any |= s->rows[i].us > 0;
    free(s->rows), free(s->at);
    tune_space_free(&s->space);
    buf_free(&s->source);
    return !ok ? cli_complain(e) : any ? EXIT_PASSED : EXIT_FAILED;
}

int cmd_tune(const struct options *o) {
    struct sweep s = {0};
    struct err e = {0};
    bool ok = open_sweep(&s, o, &e);
    unsigned known = 0;
    for (unsigned i = 0; ok && i < s.n; i++)
        if (s.rows[i].done) known++;
    if (ok)
        printf("%s: %u combinations%s%s\n", book_id(s.ex), s.space.ncombinations,
               o->ndevices > 1 ? " on each device" : "", known ? "; going on:" : "");
    for (unsigned i = 0; ok && i < s.n; i++)
        if (s.rows[i].done) tell(&s, &s.rows[i], "");
    ok = ok && parallel_run(s.jobs, &(struct parallel){next, work, done, &s}, &e);
    ok = ok && finish(&s, &e);
    return close_sweep(&s, ok, &e);
}
