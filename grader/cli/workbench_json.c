/* workbench_json.c — what the page of `grader serve` shows, as JSON. */
#include "common/file.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/cli/quiz.h"
#include "grader/cli/workbench.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXT_BYTES = 4 << 20, MAX_RUNS = 500, MAX_DOTS = 30 };

void workbench_put_json(struct json_t *o, struct buf *out) {
    char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (!text) die("JSON: out of memory");
    buf_puts(out, text);
    free(text);
    json_decref(o);
}

static json_t *text_json(const struct buf *text) {
    json_t *j = json_stringn(buf_str(text), text->size);
    return j ? j : json_string("(not valid UTF-8)");
}

/* ---- contents ---- */

/* Returns the shortest time among the correct runs on a device; 0 = none. */
static double best_time(const struct exercise *ex, const struct gpu_device *d) {
    static struct report_history_entry runs[MAX_RUNS];
    unsigned n = progress_history(ex, d, runs, MAX_RUNS);
    double best = 0;
    for (unsigned i = 0; i < n; i++)
        if (runs[i].us > 0 && (best == 0 || runs[i].us < best)) best = runs[i].us;
    return best;
}

static json_t *row_json(const struct exercise *ex, const struct gpu_device *d) {
    struct progress p;
    progress_load(ex, &p);
    bool is_started = !progress_is_unmodified(ex), is_graded = is_started && p.verdict[0];
    const char *state = !is_started ? "not started" : !strcmp(p.verdict, "AC") ? "done" : "tried";
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:f, s:i}", "id", book_id(ex), "name",
                     ex->name, "title", ex->title, "state", state, "verdict",
                     is_graded ? p.verdict : "", "score", is_graded ? p.score : 0.0, "best_us",
                     best_time(ex, d), "hints", (int)p.hint_count);
}

static json_t *steps_json(const struct book_path_row *path) {
    json_t *steps = json_array();
    for (const struct book_path_row *row = path; (row = book_path_next(row));)
        if (row->kind == BOOK_PATH_STEP)
            json_array_append_new(steps, json_string(book_id(book_path_exercise(row))));
    return steps;
}

static json_t *paths_json(void) {
    const struct book_path_row *path;
    json_t *list = json_array();
    for (unsigned i = 0; (path = book_path_at(i)); i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "name", path->name, "title",
                                              path->title, "steps", steps_json(path)));
    return list;
}

struct json_t *workbench_contents_json(const struct gpu_device *d) {
    json_t *chapters = json_array(), *rows = NULL;
    const struct exercise *next;
    unsigned done = progress_count_passed(&next);
    for (unsigned i = 0; i < book_count(); i++) {
        const struct exercise *ex = book_at(i);
        if (!i || strcmp(ex->chapter, book_at(i - 1)->chapter) != 0) {
            struct buf title = {0};
            book_chapter_title(ex, &title);
            json_array_append_new(chapters,
                                  json_pack("{s:s, s:o, s:o}", "id", ex->chapter, "title",
                                            text_json(&title), "exercises", rows = json_array()));
            buf_free(&title);
        }
        json_array_append_new(rows, row_json(ex, d));
    }
    const struct book_path_row *path = progress_followed_path();
    return json_pack("{s:o, s:i, s:i, s:s, s:o, s:s}", "chapters", chapters, "done", (int)done,
                     "total", (int)book_count(), "next", next ? book_id(next) : "", "paths",
                     paths_json(), "path", path ? path->name : "");
}

/* ---- an exercise ---- */

static json_t *markdown_json(const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    if (file_read(path, MAX_TEXT_BYTES, &text, &ignored)) text_empty_comments(&text);
    json_t *j = text_json(&text);
    buf_free(&text);
    return j;
}

/* Returns NAME.md without its hints. */
static json_t *task_json(const struct exercise *ex) {
    struct buf text = {0}, task = {0};
    struct err ignored = {0};
    if (file_read(book_chapter_file(ex, ".md"), MAX_TEXT_BYTES, &text, &ignored))
        text_empty_comments(&text);
    const char *hints = strstr(buf_str(&text), "\n## Hint ");
    buf_add(&task, buf_str(&text), hints ? (size_t)(hints - buf_str(&text)) : text.size);
    json_t *j = text_json(&task);
    buf_free(&text), buf_free(&task);
    return j;
}

struct json_t *workbench_hints_json(const struct exercise *ex) {
    struct buf text = {0};
    struct err ignored = {0};
    struct progress p;
    json_t *shown = json_array();
    progress_load(ex, &p);
    if (file_read(book_chapter_file(ex, ".md"), MAX_TEXT_BYTES, &text, &ignored))
        text_empty_comments(&text);
    for (unsigned i = 1; i <= p.hint_count; i++) {
        struct buf hint = {0};
        if (cli_find_hint(buf_str(&text), i, &hint)) json_array_append_new(shown, text_json(&hint));
        buf_free(&hint);
    }
    unsigned count = cli_hint_count(buf_str(&text));
    buf_free(&text);
    return json_pack("{s:o, s:i}", "shown", shown, "count", (int)count);
}

struct json_t *workbench_exercise_json(const struct workbench *w, unsigned index, struct err *e) {
    const struct exercise *ex = book_at(index);
    const struct buf *last = &w->exercises[index].result;
    struct buf source = {0};
    char digest[HASH_HEX_SIZE], lesson[PATH_MAX];
    bool ok = workbench_read_source(ex, &source, e);
    json_t *text = ok ? json_stringn(buf_str(&source), source.size) : NULL;
    if (ok && !text) err_set(e, ERR_INPUT, "the file is not UTF-8; use another editor for it");
    sha256_hex(buf_str(&source), source.size, digest);
    buf_free(&source);
    if (!text) return NULL;
    snprintf(lesson, sizeof lesson, "%.3800s/chapters/%.100s/README.md", book_root(), ex->chapter);
    json_t *result = last->size ? json_loads(buf_str(last), 0, NULL) : NULL;
    const struct gpu_device *d = w->exercises[index].device;
    return json_pack(
        "{s:s, s:s, s:o, s:b, s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:b, s:b, s:o?, "
        "s:o}",
        "device", d ? d->name : w->o->devices[0]->name, "default_device", w->o->devices[0]->name,
        "devices", workbench_devices_json(), "has_quiz", (int)quiz_exists(ex->chapter), "id",
        book_id(ex), "title", ex->title, "chapter", ex->chapter, "source", text, "digest", digest,
        "task", task_json(ex), "lesson", markdown_json(lesson), "hints", workbench_hints_json(ex),
        "has_solution", (int)book_has_solutions(), "started", (int)!progress_is_unmodified(ex),
        "result", result, "queue", workbench_queue_json(w));
}

static int compare_times(const void *a, const void *b) {
    const struct report_history_entry *x = a, *y = b;
    return x->graded_at < y->graded_at ? -1 : x->graded_at > y->graded_at;
}

struct json_t *workbench_history_json(const struct exercise *ex, const struct gpu_device *d) {
    static struct report_history_entry runs[MAX_RUNS + PROGRESS_MAX_VERSIONS];
    struct buf plot = {0};
    unsigned n = progress_history(ex, d, runs, MAX_RUNS);
    report_picture_history(&(struct report_context){.history = runs, .nhistory = n}, &plot);
    n = progress_history(ex, NULL, runs, MAX_RUNS);
    n += progress_ungraded_versions(ex, runs + n, PROGRESS_MAX_VERSIONS);
    qsort(runs, n, sizeof *runs, compare_times);
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list,
                              json_pack("{s:I, s:s, s:f, s:f, s:s, s:s}", "graded_at",
                                        (json_int_t)runs[i].graded_at, "verdict", runs[i].verdict,
                                        "score", runs[i].score, "us", runs[i].us, "digest",
                                        runs[i].source_digest, "device", runs[i].device));
    json_t *o = json_pack("{s:o, s:s}", "runs", list, "plot", buf_str(&plot));
    buf_free(&plot);
    return o;
}

struct json_t *workbench_solution_json(const struct exercise *ex, struct err *e) {
    struct buf source = {0};
    char ladder[PATH_MAX];
    if (!book_has_solutions())
        return err_set(e, ERR_INPUT, "this release leaves the model solutions out"), NULL;
    if (!file_read(book_solution_file(ex, NULL), MAX_TEXT_BYTES, &source, e)) return NULL;
    snprintf(ladder, sizeof ladder, "%.3800s/solutions/%.160s-ladder.md", book_root(), book_id(ex));
    json_t *o = json_pack("{s:o, s:o}", "source", text_json(&source), "ladder",
                          file_exists(ladder) ? markdown_json(ladder) : json_string(""));
    buf_free(&source);
    return o;
}

struct json_t *workbench_devices_json(void) {
    json_t *list = json_array();
    for (unsigned i = 0; device_at(i); i++)
        json_array_append_new(list, json_pack("{s:s, s:s}", "name", device_at(i)->name, "full_name",
                                              device_at(i)->full_name));
    return list;
}

/* Returns the questions without their answers. */
struct json_t *workbench_quiz_json(const struct exercise *ex, struct err *e) {
    struct quiz quiz;
    json_t *list = NULL;
    if (quiz_open(ex->chapter, &quiz, e)) {
        list = json_array();
        for (unsigned i = 0; i < quiz.n; i++)
            json_array_append_new(list, json_pack("{s:s, s:i}", "text", quiz.questions[i].text,
                                                  "choices", (int)quiz.questions[i].nchoices));
    }
    quiz_free(&quiz);
    return list ? json_pack("{s:o}", "questions", list) : NULL;
}

/* ---- a result ---- */

static json_t *pictures_json(const struct gpu_device *d, const struct result *r) {
    static struct report_history_entry runs[MAX_DOTS];
    struct report_context context = {.history = runs,
                                     .nhistory = progress_history(r->ex, d, runs, MAX_DOTS)};
    return report_pictures_json(r, d, &context);
}

/* Returns the meaning of each verdict, by its code. */
static json_t *verdict_texts_json(void) {
    json_t *texts = json_object();
    for (int v = 0; v < V_COUNT; v++)
        json_object_set_new(texts, verdict_code(v), json_string(verdict_text(v)));
    return texts;
}

struct json_t *workbench_result_json(const struct gpu_device *d, const struct result *r) {
    struct report_style style = {.width = 100};
    struct buf report = {0}, first = {0};
    char digest[HASH_HEX_SIZE];
    json_t *all = report_json(&r, 1, d, r->seed);
    json_t *j = json_incref(json_array_get(json_object_get(all, "exercises"), 0));
    report_text(r, d, &style, &report);
    if (r->verdict != V_AC) report_first_failure(r, &first);
    sha256_hex(buf_str(&r->source), r->source.size, digest);
    json_object_set(j, "jail", json_object_get(all, "jail"));
    json_object_set_new(j, "file", json_string(r->file));
    json_object_set_new(j, "verdict_text", json_string(verdict_text(r->verdict)));
    json_object_set_new(j, "verdict_texts", verdict_texts_json());
    json_object_set_new(j, "first_failure", text_json(&first));
    json_object_set_new(j, "report", text_json(&report));
    json_object_set_new(j, "digest", json_string(digest));
    json_object_set_new(j, "device", json_string(d->full_name));
    json_object_set_new(j, "device_name", json_string(d->name));
    json_object_set_new(j, "pictures", pictures_json(d, r));
    if (r->has_counters) json_object_set_new(j, "profile", report_profile_json(r));
    json_decref(all);
    buf_free(&report), buf_free(&first);
    return j;
}
