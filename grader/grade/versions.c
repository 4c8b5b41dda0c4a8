/* versions.c — see versions.h. A cache entry is the size of the launch statistics of the technique
 * case and those statistics, then the same for the timed case, with size 0 if the simulator can't
 * run it. */
#include "grader/grade/versions.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/compiler_jail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_stats(const struct launch_stats *t, struct buf *out) {
    void *packed = xmalloc(launch_stats_wire_bytes());
    uint64_t size = t->launches ? launch_stats_pack(t, packed) : 0;
    buf_add(out, &size, sizeof size);
    buf_add(out, packed, size);
    free(packed);
}

static const char *read_stats(const char *at, const char *end, struct launch_stats *t) {
    uint64_t size;
    *t = (struct launch_stats){0};
    if (!at || (size_t)(end - at) < sizeof size) return NULL;
    memcpy(&size, at, sizeof size);
    at += sizeof size;
    if ((uint64_t)(end - at) < size || (size && !launch_stats_unpack(t, at, size))) return NULL;
    return at + size;
}

/* Runs one case and appends its statistics. Clears `cacheable` if a busy machine ended it, since
 * another run may succeed. */
static bool run_case(struct session *s, const struct ex_case *c, struct case_plan plan,
                     struct buf *out, bool *cacheable) {
    struct case_run run;
    session_case(s, c, &plan, &run);
    bool ok = run.verdict == V_AC;
    *cacheable = *cacheable && !run.host_too_slow;
    if (ok) write_stats(&run.launch_stats, out);
    session_case_free(&run);
    return ok;
}

static bool run_version(const struct exercise *ex, const struct build *b,
                        const struct gpu_device *d, unsigned workers, struct buf *out,
                        bool *cacheable, struct err *e) {
    struct ptxas ptxas_result = {0};
    static const uint64_t zero_size;
    ptxas_finish(ptxas_start(b, d->cc_major * 10 + d->cc_minor), &ptxas_result);
    struct session_options so = {
        .device = d, .seed = "reference times", .workers = workers, .ptxas_result = &ptxas_result};
    struct session *s = session_open(ex, b, &so, e);
    bool ok = s && run_case(s, &ex->technique_case, grade_plan_technique, out, cacheable);
    if (s && !ok) err_set(e, ERR_INTERNAL, "its results are wrong at the technique size");
    if (ok && !run_case(s, &ex->timed_case, *grade_reference_plan(ex), out, cacheable))
        buf_add(out, &zero_size, sizeof zero_size);
    session_close(s);
    ptxas_free(&ptxas_result);
    return ok;
}

static void make_version_key(const struct exercise *ex, const struct build *b,
                             const struct gpu_device *d, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, "versions 1");
    cache_add_grader(&h);
    hash_update_string(&h, book_id(ex));
    hash_update_string(&h, d->name);
    hash_update_string(&h, build_disassembler(NULL) ? "machine code" : "PTX");
    hash_update_string(&h, b->key);
    hash_final_hex(&h, key);
}

static bool read_entry(const struct exercise *ex, const char *file, const struct buf *bytes,
                       struct version *v) {
    struct launch_stats counted, timed;
    const char *end = bytes->data + bytes->size, *rest = read_stats(bytes->data, end, &counted);
    bool ok = read_stats(rest, end, &timed);
    v->result = (struct result){.ex = ex};
    v->result.file = arena_strndup(&v->result.arena, file, strlen(file));
    if (ok) {
        result_fill_lines(&v->result, &counted);
        result_fill_times(&v->result, timed.launches ? &timed : &counted);
        v->us = timed.seconds * 1e6, v->counted_us = counted.seconds * 1e6;
        v->result.counters = counted.counters, v->result.occupancy = counted.occupancy;
    }
    launch_stats_free(&counted), launch_stats_free(&timed);
    return ok;
}

static bool load_version(const struct exercise *ex, const char *file, const struct buf *source,
                         const struct gpu_device *d, unsigned workers, struct version *v,
                         struct err *e) {
    struct build b = {0};
    struct buf bytes = {0};
    char key[HASH_HEX_SIZE];
    struct build_source s = {file, source->data ? source->data : "", source->size, ex->sm_90a};
    bool ok = build_run(&s, &b, e);
    if (ok && !b.ok) ok = err_set(e, ERR_INTERNAL, "%.80s does not compile", file);
    if (ok) make_version_key(ex, &b, d, key);
    if (ok && !cache_get("versions", key, &bytes)) {
        bool cacheable = true;
        ok = run_version(ex, &b, d, workers, &bytes, &cacheable, e);
        if (ok && cacheable) cache_put("versions", key, bytes.data, bytes.size);
    }
    ok = ok && (read_entry(ex, file, &bytes, v) ||
                err_set(e, ERR_INTERNAL, "%.80s: the cache entry is invalid", file));
    if (ok) buf_add(&v->result.source, source->data, source->size);
    build_free(&b);
    buf_free(&bytes);
    return ok;
}

static void add_version(const struct exercise *ex, const char *name, const char *file,
                        const struct buf *source, const struct gpu_device *d, unsigned workers,
                        struct version *list, unsigned *n, struct buf *errors) {
    struct err e = {0};
    struct version *v = &list[*n];
    snprintf(v->name, sizeof v->name, "%s", name);
    if (load_version(ex, file, source, d, workers, v, &e)) ++*n;
    else buf_printf(errors, "%s: %s\n", name, e.text);
}

static void add_ladder_file(const struct exercise *ex, const char *step, const struct gpu_device *d,
                            unsigned workers, struct version *list, unsigned *n,
                            struct buf *errors) {
    struct buf source = {0};
    struct err e = {0};
    char file[128];
    const char *path = book_solution_file(ex, step);
    grade_safe_file_name(ex, path, file, sizeof file);
    if (file_read(path, SOURCE_LIMIT, &source, &e))
        add_version(ex, step ? step : "solution", file, &source, d, workers, list, n, errors);
    else buf_printf(errors, "%s\n", e.text);
    buf_free(&source);
}

struct version *version_list(const struct exercise *ex, const struct gpu_device *d,
                             unsigned workers, unsigned *n, struct buf *errors) {
    char **steps = book_ladder_steps(ex), file[128];
    unsigned count = 0;
    struct buf source = {0};
    struct err e = {0};
    while (steps[count]) count++;
    struct version *list = xcalloc(count + 2, sizeof *list);
    *n = 0;
    if (baseline_source(ex, file, sizeof file, &source, &e))
        add_version(ex, "naive", file, &source, d, workers, list, n, errors);
    for (unsigned i = 0; i < count; i++)
        if (!ex->baseline || strcmp(steps[i], ex->baseline))
            add_ladder_file(ex, steps[i], d, workers, list, n, errors);
    if (book_has_solutions()) add_ladder_file(ex, NULL, d, workers, list, n, errors);
    else buf_puts(errors, "the ladder and the model solution, which this release leaves out\n");
    book_free_list(steps);
    buf_free(&source);
    return list;
}

void version_free(struct version *list, unsigned n) {
    for (unsigned i = 0; i < n; i++) result_free(&list[i].result);
    free(list);
}

const struct version *version_find(const struct version *list, unsigned n, const char *name) {
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(list[i].name, name)) return &list[i];
    return NULL;
}
