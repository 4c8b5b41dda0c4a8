/* cmd_reproduce.c — grader reproduce STORE STUDENT EXERCISE: grades what the store holds once more,
 * with the seed and device of then, and says whether the result is the same, or what differs and
 * what it may come from. */
#include "common/text.h"
#include "grader/cli/class_args.h"
#include "grader/grade/provenance.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct then {
    struct buf source;
    char seed[65], device[128], grader[HASH_HEX_SIZE], nvcc[64], book[HASH_HEX_SIZE],
        terms[HASH_HEX_SIZE];
    bool counted;
    json_t *result;
};

static bool load(struct store *s, const char *student, const struct exercise *ex, struct then *t,
                 struct err *e) {
    sqlite3_stmt *q = store_ask(s, e,
                                "SELECT c.body, r.seed, r.device, r.grader, r.nvcc, r.book, "
                                "r.counted, r.json, r.terms FROM submission s JOIN"
                                " result r ON r.key = s.key JOIN source c ON c.digest = s.digest "
                                "WHERE s.student = ? AND s.exercise = ?",
                                "tt", student, book_id(ex));
    bool found = store_next(s, &q, e);
    if (found) {
        buf_add(&t->source, sqlite3_column_blob(q, 0), (size_t)sqlite3_column_bytes(q, 0));
        snprintf(t->seed, sizeof t->seed, "%s", store_text(q, 1)),
            snprintf(t->device, sizeof t->device, "%s", store_text(q, 2));
        snprintf(t->grader, sizeof t->grader, "%s", store_text(q, 3)),
            snprintf(t->nvcc, sizeof t->nvcc, "%s", store_text(q, 4));
        snprintf(t->book, sizeof t->book, "%s", store_text(q, 5)),
            t->counted = sqlite3_column_int(q, 6);
        snprintf(t->terms, sizeof t->terms, "%s", store_text(q, 8));
        t->result = json_loads(store_text(q, 7), 0, NULL);
    }
    store_end(&q);
    return (found && t->result) || err_set(e, ERR_INPUT, "%s has no result of '%.100s' for %s",
                                           s->path, student, book_id(ex));
}

static json_t *again(const struct options *o, const struct exercise *ex, const struct then *t,
                     const struct gpu_device *d) {
    struct grade_options go = options_grade(o, d);
    struct result r;
    char name[128];
    const struct result *one = &r;
    go.seed = t->seed, go.count_modelled = t->counted, go.policy = class_terms(o->terms, ex);
    grade_safe_file_name(ex, ex->name, name, sizeof name);
    grade_source(ex, name, buf_str(&t->source), t->source.size, &go, &r);
    json_t *all = report_json(&one, 1, d, t->seed),
           *now = json_deep_copy(json_array_get(json_object_get(all, "exercises"), 0));
    json_decref(all);
    result_free(&r);
    return now;
}

/* As they are written: both have been through the same rounding. */
static bool same(const json_t *a, const json_t *b) {
    size_t how = JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY | JSON_SORT_KEYS;
    char *x = json_dumps(a, how), *y = json_dumps(b, how);
    bool equal = x && y && !strcmp(x, y);
    free(x), free(y);
    return equal;
}

static void say_key(const char *key, const json_t *then, const json_t *now) {
    char *a = json_dumps(then, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY),
         *b = json_dumps(now, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);
    if (json_is_object(now) || json_is_array(now)) printf("  %s differs\n", key);
    else printf("  %s was %.200s, is %.200s\n", key, a ? a : "none", b ? b : "none");
    free(a), free(b);
}

static void say_cause(const char *what, const char *then, const char *now) {
    if (strcmp(then, now))
        printf("  the %s is another one: %.16s then, %.16s now\n", what, then, now);
}

static bool compare(const struct options *o, const struct exercise *ex, const struct then *t,
                    json_t *now) {
    char terms[HASH_HEX_SIZE];
    const char *key;
    json_t *value;
    char book[HASH_HEX_SIZE];
    bool identical = true;
    json_object_foreach(now, key, value) identical &= same(json_object_get(t->result, key), value);
    printf("%s\n", identical ? "identical" : "not the same:");
    if (!identical) json_object_foreach(now, key, value) {
            if (!same(json_object_get(t->result, key), value))
                say_key(key, json_object_get(t->result, key), value);
        }
    grade_book_digest(ex, book);
    say_cause("grader", t->grader, grade_build_digest()),
        say_cause("compiler", t->nvcc, grade_nvcc_version()), say_cause("book", t->book, book);
    assignment_terms_digest(class_terms(o->terms, ex), terms);
    say_cause("assignment", t->terms, terms);
    return identical;
}

static int reproduce(const struct options *o, struct store *s, struct err *e) {
    struct options named = *o;
    named.names += 2, named.nnames = 1;
    const struct exercise *ex = cli_chosen_one(&named, e);
    struct then t = {0};
    bool ok = ex && load(s, o->names[1], ex, &t, e);
    const struct gpu_device *d = ok ? device_find(t.device) : NULL;
    if (ok && !d)
        err_set(e, ERR_INPUT, "it was graded on '%.100s', which is no simulated device", t.device);
    json_t *now = d ? again(o, ex, &t, d) : NULL;
    int status = !now ? cli_complain(e) : compare(o, ex, &t, now) ? EXIT_PASSED : EXIT_FAILED;
    json_decref(now), json_decref(t.result);
    buf_free(&t.source);
    return status;
}

int cmd_reproduce(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 3, "a store, a student and an exercise", &s, &e))
        return cli_complain(&e);
    struct assignment a;
    struct options by;
    int status =
        cli_class_assignment(o, &s, &a, &by, &e) ? reproduce(&by, &s, &e) : cli_complain(&e);
    assignment_free(&a);
    store_close(&s);
    return status;
}
