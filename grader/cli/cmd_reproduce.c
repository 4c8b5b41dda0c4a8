/* cmd_reproduce.c — grader reproduce STORE STUDENT EXERCISE: grades a stored submission again with
 * the stored seed and device, and prints whether the result is identical. If not, it prints what
 * differs. It also prints which of grader, compiler, book and assignment has changed since. */
#include "common/text.h"
#include "grader/cli/class_copies.h"
#include "grader/grade/provenance.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stored_result {
    struct buf source;
    char seed[65], device[128], grader_digest[HASH_HEX_SIZE], nvcc_version[64],
        book_digest[HASH_HEX_SIZE], policy_digest[HASH_HEX_SIZE];
    bool count_modelled; /* modelled times earn speed points */
    json_t *result;
};

#define COPY_COLUMN(out, q, column) snprintf(out, sizeof(out), "%s", store_column_text(q, column))

static void read_row(struct store_rows *q, struct stored_result *t) {
    enum { BODY, SEED, DEVICE, GRADER, NVCC, BOOK, COUNT_MODELLED, JSON, POLICY };
    buf_add(&t->source, store_column_bytes(q, BODY), store_column_size(q, BODY));
    COPY_COLUMN(t->seed, q, SEED);
    COPY_COLUMN(t->device, q, DEVICE);
    COPY_COLUMN(t->grader_digest, q, GRADER);
    COPY_COLUMN(t->nvcc_version, q, NVCC);
    COPY_COLUMN(t->book_digest, q, BOOK);
    COPY_COLUMN(t->policy_digest, q, POLICY);
    t->count_modelled = store_column_int(q, COUNT_MODELLED);
    t->result = json_loads(store_column_text(q, JSON), 0, NULL);
}

static bool load_stored_result(struct store *s, const char *student, const struct exercise *ex,
                               struct stored_result *t, struct err *e) {
    struct store_rows *q =
        store_query(s, e,
                    "SELECT c.body, r.seed, r.device, r.grader, r.nvcc, r.book, "
                    "r.counted, r.json, r.terms FROM submission s JOIN"
                    " result r ON r.key = s.key JOIN source c ON c.digest = s.digest "
                    "WHERE s.student = ? AND s.exercise = ?",
                    "tt", student, book_id(ex));
    if (store_step(s, &q, e)) read_row(q, t);
    store_finalize(&q);
    if (!t->result)
        err_set(e, ERR_INPUT, "%s has no result of '%.100s' for %s", s->path, student, book_id(ex));
    return t->result != NULL;
}

static json_t *grade_again(const struct options *o, const struct exercise *ex,
                           const struct stored_result *t, const struct gpu_device *d) {
    struct grade_options grade_options = options_to_grade_options(o, d);
    struct result result;
    char name[128];
    grade_options.seed = t->seed;
    grade_options.count_modelled = t->count_modelled;
    grade_options.policy = class_policy(o->loaded_assignment, ex);
    grade_safe_file_name(ex, ex->name, name, sizeof name);
    grade_source(ex, name, buf_str(&t->source), t->source.size, &grade_options, &result);
    const struct result *results[] = {&result};
    json_t *report = report_json(results, 1, d, t->seed),
           *regraded = json_incref(json_array_get(json_object_get(report, "exercises"), 0));
    json_decref(report);
    result_free(&result);
    return regraded;
}

/* Returns true if both values are the same. Reals are compared to 12 digits, as the store has them.
 */
static bool is_same_json(const json_t *a, const json_t *b) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY | JSON_SORT_KEYS;
    char *x = json_dumps(a, flags), *y = json_dumps(b, flags);
    bool equal = x && y && !strcmp(x, y);
    free(x), free(y);
    return equal;
}

static void print_difference(const char *key, const json_t *stored, const json_t *regraded) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY;
    char *a = json_dumps(stored, flags), *b = json_dumps(regraded, flags);
    if (json_is_object(regraded) || json_is_array(regraded)) printf("  %s differs\n", key);
    else printf("  %s was %.200s, is %.200s\n", key, a ? a : "none", b ? b : "none");
    free(a), free(b);
}

/* Returns true if the results are identical. Keys that only the stored result has are left out: an
 * older grader wrote them. */
static bool print_differences(const json_t *stored, json_t *regraded) {
    const char *key;
    json_t *value;
    bool is_identical = true;
    json_object_foreach(regraded, key, value) {
        const json_t *before = json_object_get(stored, key);
        if (is_same_json(before, value)) continue;
        if (is_identical) printf("different:\n");
        is_identical = false;
        print_difference(key, before, value);
    }
    if (is_identical) printf("identical\n");
    return is_identical;
}

static void print_if_changed(const char *description, const char *stored, const char *current) {
    if (strcmp(stored, current))
        printf("  the %s has changed: %.16s then, %.16s now\n", description, stored, current);
}

/* Prints what has changed since, and may explain a difference. */
static void print_changes(const struct options *o, const struct exercise *ex,
                          const struct stored_result *t) {
    char book_digest[HASH_HEX_SIZE], policy_digest[HASH_HEX_SIZE];
    grade_book_digest(ex, book_digest);
    grade_policy_digest(class_policy(o->loaded_assignment, ex), policy_digest);
    print_if_changed("grader", t->grader_digest, grade_build_digest());
    print_if_changed("compiler", t->nvcc_version, grade_nvcc_version());
    print_if_changed("book", t->book_digest, book_digest);
    print_if_changed("assignment", t->policy_digest, policy_digest);
}

static const struct gpu_device *find_device(const char *name, struct err *e) {
    const struct gpu_device *d = device_find(name);
    if (!d)
        err_set(e, ERR_INPUT,
                "the result is from '%.100s'; only results of a simulated GPU are reproducible",
                name);
    return d;
}

static int reproduce(const struct options *o, struct store *s, struct err *e) {
    struct options exercise_options = *o; /* with EXERCISE as the only operand */
    exercise_options.operands += 2;
    exercise_options.noperands = 1;
    const struct exercise *ex = cli_select_exercise(&exercise_options, e);
    struct stored_result t = {0};
    bool is_loaded = ex && cli_copies_forward(o, s, o->operands[1], ex, e) &&
                     load_stored_result(s, o->operands[1], ex, &t, e);
    const struct gpu_device *d = is_loaded ? find_device(t.device, e) : NULL;
    json_t *regraded = d ? grade_again(o, ex, &t, d) : NULL;
    int status;
    if (regraded) {
        status = print_differences(t.result, regraded) ? EXIT_PASSED : EXIT_FAILED;
        print_changes(o, ex, &t);
    } else status = cli_report_error(e);
    json_decref(regraded);
    json_decref(t.result);
    buf_free(&t.source);
    return status;
}

int cmd_reproduce(const struct options *o) {
    struct err e = {0};
    struct store s;
    if (!cli_class_open(o, 3, "a store, a student and an exercise", &s, &e))
        return cli_report_error(&e);
    struct assignment a; /* empty if the store has none */
    struct options class_options;
    int status = cli_class_assignment(o, &s, &a, &class_options, &e)
                     ? reproduce(&class_options, &s, &e)
                     : cli_report_error(&e);
    assignment_free(&a);
    store_close(&s);
    return status;
}
