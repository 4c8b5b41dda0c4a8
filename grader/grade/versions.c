/* versions.c — see versions.h. An entry of the cache is the size of a tally, that tally (of the
 * counted case), another one (of the timed case, where the simulator can run it). */
#include "grader/grade/versions.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/cache.h"
#include "grader/grade/grading.h"
#include "grader/grade/toolbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void pack(const struct launch_stats *t, struct buf *out) {
    void *box = xmalloc(launch_stats_wire_bytes());
    uint64_t size = t->launches ? launch_stats_pack(t, box) : 0;
    buf_add(out, &size, sizeof size);
    buf_add(out, box, size);
    free(box);
}

static const char *unpack(const char *at, const char *end, struct launch_stats *t) {
    uint64_t size;
    *t = (struct launch_stats){0};
    if (!at || (size_t)(end - at) < sizeof size) return NULL;
    memcpy(&size, at, sizeof size);
    at += sizeof size;
    if ((uint64_t)(end - at) < size || (size && !launch_stats_unpack(t, at, size))) return NULL;
    return at + size;
}

/* `lasting`: false where a busy machine ended it, which says nothing about another time. */
static bool run_case(struct session *s, const struct ex_case *c, struct case_plan plan,
                     struct buf *out, bool *lasting) {
    struct case_run run;
    session_case(s, c, &plan, &run);
    bool ok = run.verdict == V_AC;
    *lasting = *lasting && !run.slow_machine;
    if (ok) pack(&run.tally, out);
    session_case_free(&run);
    return ok;
}

static bool run(const struct exercise *ex, const struct build *b, const struct gpu_device *d,
                unsigned workers, struct buf *out, bool *lasting, struct err *e) {
    struct ptxas registers = {0};
    static const uint64_t none;
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &registers);
    struct session_options so = {
        .device = d, .seed = "reference times", .workers = workers, .registers = &registers};
    struct session *s = session_open(ex, b, &so, e);
    bool ok = s && run_case(s, &ex->technique_case, grade_plan_technique, out, lasting);
    if (s && !ok)
        err_set(e, ERR_INTERNAL, "it does not come out right at the size that is counted");
    if (ok && !run_case(s, &ex->timed, grade_plan_timed, out, lasting))
        buf_add(out, &none, sizeof none);
    session_close(s);
    ptxas_free(&registers);
    return ok;
}

static void key_of(const struct exercise *ex, const struct build *b, const struct gpu_device *d,
                   char key[HASH_HEX]) {
    struct hash h;
    hash_start(&h);
    hash_text(&h, "versions 1");
    cache_add_grader(&h);
    hash_text(&h, book_id(ex));
    hash_text(&h, d->name);
    hash_text(&h, build_disassembler(NULL) ? "machine code" : "PTX");
    hash_text(&h, b->key);
    hash_hex(&h, key);
}

static bool take(const struct exercise *ex, const char *file, const struct buf *bytes,
                 struct version *v) {
    struct launch_stats counted, timed;
    const char *end = bytes->data + bytes->size, *rest = unpack(bytes->data, end, &counted);
    bool ok = unpack(rest, end, &timed);
    v->shown = (struct result){.ex = ex};
    v->shown.file = arena_strndup(&v->shown.arena, file, strlen(file));
    if (ok) {
        grade_keep_lines(&v->shown, &counted);
        grade_keep_times(&v->shown, timed.launches ? &timed : &counted);
        v->us = timed.seconds * 1e6, v->counted_us = counted.seconds * 1e6;
        v->shown.counters = counted.counters, v->shown.occupancy = counted.occupancy;
    }
    launch_stats_free(&counted), launch_stats_free(&timed);
    return ok;
}

static bool one(const struct exercise *ex, const char *file, const struct buf *source,
                const struct gpu_device *d, unsigned workers, struct version *v, struct err *e) {
    struct build b = {0};
    struct buf bytes = {0};
    char key[HASH_HEX];
    struct build_source s = {file, source->data ? source->data : "", source->size, ex->sm_90a};
    bool ok = build_run(&s, &b, e);
    if (ok && !b.ok) ok = err_set(e, ERR_INTERNAL, "%.80s does not compile", file);
    if (ok) key_of(ex, &b, d, key);
    if (ok && !cache_get("versions", key, &bytes)) {
        bool lasting = true;
        ok = run(ex, &b, d, workers, &bytes, &lasting, e);
        if (ok && lasting) cache_put("versions", key, bytes.data, bytes.size);
    }
    ok = ok && (take(ex, file, &bytes, v) ||
                err_set(e, ERR_INTERNAL, "%.80s: the cache holds something else", file));
    if (ok) buf_add(&v->shown.source, source->data, source->size);
    build_free(&b);
    buf_free(&bytes);
    return ok;
}

static void add(const struct exercise *ex, const char *name, const char *file,
                const struct buf *source, const struct gpu_device *d, unsigned workers,
                struct version *list, unsigned *n, struct buf *trouble) {
    struct err e = {0};
    struct version *v = &list[*n];
    snprintf(v->name, sizeof v->name, "%s", name);
    if (one(ex, file, source, d, workers, v, &e)) ++*n;
    else buf_printf(trouble, "%s: %s\n", name, e.text);
}

static void add_file(const struct exercise *ex, const char *step, const struct gpu_device *d,
                     unsigned workers, struct version *list, unsigned *n, struct buf *trouble) {
    struct buf source = {0};
    struct err e = {0};
    char file[128];
    const char *path = book_solution_file(ex, step);
    grade_name(ex, path, file, sizeof file);
    if (file_read(path, SOURCE_LIMIT, &source, &e))
        add(ex, step ? step : "answer", file, &source, d, workers, list, n, trouble);
    else buf_printf(trouble, "%s\n", e.text);
    buf_free(&source);
}

struct version *version_list(const struct exercise *ex, const struct gpu_device *d,
                             unsigned workers, unsigned *n, struct buf *trouble) {
    char **steps = book_steps(ex), file[128];
    unsigned count = 0;
    struct buf source = {0};
    struct err e = {0};
    while (steps[count]) count++;
    struct version *list = xcalloc(count + 2, sizeof *list);
    *n = 0;
    if (naive_source(ex, file, sizeof file, &source, &e))
        add(ex, "naive", file, &source, d, workers, list, n, trouble);
    for (unsigned i = 0; i < count; i++)
        if (!ex->baseline || strcmp(steps[i], ex->baseline))
            add_file(ex, steps[i], d, workers, list, n, trouble);
    if (book_has_answers()) add_file(ex, NULL, d, workers, list, n, trouble);
    else buf_puts(trouble, "the ladder and the answer, which this release leaves out\n");
    book_free_list(steps);
    buf_free(&source);
    return list;
}

void version_free(struct version *list, unsigned n) {
    for (unsigned i = 0; i < n; i++) result_free(&list[i].shown);
    free(list);
}

const struct version *version_named(const struct version *list, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(list[i].name, name)) return &list[i];
    return NULL;
}
