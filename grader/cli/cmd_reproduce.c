/* cmd_reproduce.c — grader reproduce STORE STUDENT EXERCISE: grades a stored submission again with
 * the stored seed and device. It reports whether the result is identical, or else what differs and
 * which cause is possible: grader, compiler, book, assignment. */
#include "common/text.h"
#include "grader/cli/class_args.h"
#include "grader/grade/provenance.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stored_result {
    struct buf source;
    char seed[65], device[128], grader[HASH_HEX_SIZE], nvcc[64], book_digest[HASH_HEX_SIZE],
        policy_digest[HASH_HEX_SIZE];
    bool count_modelled;
    json_t *result;
};

static bool load_stored_result(struct store *s, const char *student, const struct exercise *ex,
                               struct stored_result *t, struct err *e) {
    sqlite3_stmt *q = store_query(s, e,
                                  "SELECT c.body, r.seed, r.device, r.grader, r.nvcc, r.book, "
                                  "r.counted, r.json, r.terms FROM submission s JOIN"
                                  " result r ON r.key = s.key JOIN source c ON c.digest = s.digest "
                                  "WHERE s.student = ? AND s.exercise = ?",
                                  "tt", student, book_id(ex));
    bool found = store_step(s, &q, e);
    if (found) {
        buf_add(&t->source, sqlite3_column_blob(q, 0), (size_t)sqlite3_column_bytes(q, 0));
        snprintf(t->seed, sizeof t->seed, "%s", store_column_text(q, 1)),
            snprintf(t->device, sizeof t->device, "%s", store_column_text(q, 2));
        snprintf(t->grader, sizeof t->grader, "%s", store_column_text(q, 3)),
            snprintf(t->nvcc, sizeof t->nvcc, "%s", store_column_text(q, 4));
        snprintf(t->book_digest, sizeof t->book_digest, "%s", store_column_text(q, 5)),
            t->count_modelled = sqlite3_column_int(q, 6);
        snprintf(t->policy_digest, sizeof t->policy_digest, "%s", store_column_text(q, 8));
        t->result = json_loads(store_column_text(q, 7), 0, NULL);
    }
    store_finalize(&q);
    return (found && t->result) || err_set(e, ERR_INPUT, "%s has no result of '%.100s' for %s",
                                           s->path, student, book_id(ex));
}

static json_t *grade_again(const struct options *o, const struct exercise *ex,
                           const struct stored_result *t, const struct gpu_device *d) {
    struct grade_options go = options_to_grade_options(o, d);
    struct result r;
    char name[128];
    const struct result *result = &r;
    go.seed = t->seed, go.count_modelled = t->count_modelled,
    go.policy = class_policy(o->loaded_assignment, ex);
    grade_safe_file_name(ex, ex->name, name, sizeof name);
    grade_source(ex, name, buf_str(&t->source), t->source.size, &go, &r);
    json_t *all = report_json(&result, 1, d, t->seed),
           *regraded = json_deep_copy(json_array_get(json_object_get(all, "exercises"), 0));
    json_decref(all);
    result_free(&r);
    return regraded;
}

/* Returns true if both values have the same text, with the 12 digits that a result is stored with.
 */
static bool is_same_json(const json_t *a, const json_t *b) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY | JSON_SORT_KEYS;
    char *x = json_dumps(a, flags), *y = json_dumps(b, flags);
    bool equal = x && y && !strcmp(x, y);
    free(x), free(y);
    return equal;
}

static void print_difference(const char *key, const json_t *stored, const json_t *regraded) {
    char *a = json_dumps(stored, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY),
         *b = json_dumps(regraded, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_ENCODE_ANY);
    if (json_is_object(regraded) || json_is_array(regraded)) printf("  %s differs\n", key);
    else printf("  %s was %.200s, is %.200s\n", key, a ? a : "none", b ? b : "none");
    free(a), free(b);
}

static void print_cause(const char *description, const char *stored, const char *current) {
    if (strcmp(stored, current))
        printf("  the %s has changed: %.16s then, %.16s now\n", description, stored, current);
}

static bool compare_results(const struct options *o, const struct exercise *ex,
                            const struct stored_result *t, json_t *regraded) {
    char policy_digest[HASH_HEX_SIZE];
    const char *key;
    json_t *value;
    char book_digest[HASH_HEX_SIZE];
    bool identical = true;
    json_object_foreach(regraded, key, value) identical &=
        is_same_json(json_object_get(t->result, key), value);
    printf("%s\n", identical ? "identical" : "different:");
    if (!identical) json_object_foreach(regraded, key, value) {
            if (!is_same_json(json_object_get(t->result, key), value))
                print_difference(key, json_object_get(t->result, key), value);
        }
    grade_book_digest(ex, book_digest);
    print_cause("grader", t->grader, grade_build_digest()),
        print_cause("compiler", t->nvcc, grade_nvcc_version()),
        print_cause("book", t->book_digest, book_digest);
    grade_policy_digest(class_policy(o->loaded_assignment, ex), policy_digest);
    print_cause("assignment", t->policy_digest, policy_digest);
    return identical;
}

static int reproduce(const struct options *o, struct store *s, struct err *e) {
    struct options exercise_options = *o;
    exercise_options.operands += 2, exercise_options.noperands = 1;
    const struct exercise *ex = cli_select_exercise(&exercise_options, e);
    struct stored_result t = {0};
    bool ok = ex && load_stored_result(s, o->operands[1], ex, &t, e);
    const struct gpu_device *d = ok ? device_find(t.device) : NULL;
    if (ok && !d)
        err_set(e, ERR_INPUT,
                "it was graded on '%.100s'; only results of a simulated GPU are reproducible",
                t.device);
    json_t *regraded = d ? grade_again(o, ex, &t, d) : NULL;
    int status = !regraded                              ? cli_report_error(e)
                 : compare_results(o, ex, &t, regraded) ? EXIT_PASSED
                                                        : EXIT_FAILED;
    json_decref(regraded), json_decref(t.result);
    buf_free(&t.source);
    return status;
}

int cmd_reproduce(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 3, "a store, a student and an exercise", &s, &e))
        return cli_report_error(&e);
    struct assignment a;
    struct options effective;
    int status = cli_class_assignment(o, &s, &a, &effective, &e) ? reproduce(&effective, &s, &e)
                                                                 : cli_report_error(&e);
    assignment_free(&a);
    store_close(&s);
    return status;
}
