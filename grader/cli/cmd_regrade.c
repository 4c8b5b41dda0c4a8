/* cmd_regrade.c — grader regrade STORE --seed S: grades a store's submissions with another seed and
 * lists the results that change. With --diff it leaves the gradebook as it is. */
#include "grader/cli/class_copies.h"

#include <stdio.h>

#define OLD_SCORE EXPORT_ROUNDED("a.score")
#define NEW_SCORE EXPORT_ROUNDED("b.score")
static const char changed_marks_sql[] =
    "SELECT s.student, s.exercise, coalesce(a.verdict, 'none'), " OLD_SCORE ", b.verdict,"
    " " NEW_SCORE " FROM todo t JOIN submission s ON s.n = t.n JOIN result b ON b.key = t.key"
    " LEFT JOIN result a ON a.key = s.key"
    " WHERE coalesce(a.verdict, '') <> b.verdict OR coalesce(a.score, -1) <> coalesce(b.score, -1)"
    " ORDER BY 1, 2";

static bool print_changes(struct store *s, unsigned *changed_count, struct err *e) {
    struct store_rows *q = store_query(s, e, changed_marks_sql, "");
    for (*changed_count = 0; store_step(s, &q, e); ++*changed_count)
        printf("%-24s %-32s %-8s %6s -> %-8s %6s\n", store_column_text(q, 0),
               store_column_text(q, 1), store_column_text(q, 2), store_column_text(q, 3),
               store_column_text(q, 4), store_column_text(q, 5));
    long long n = store_query_int(s, e, "SELECT count(*) FROM todo");
    printf("%u of %lld results differ\n", *changed_count, n);
    return !e->text[0];
}

int cmd_regrade(const struct options *o) {
    struct err e = {0};
    struct store s;
    unsigned changed_count = 0;
    bool has_changed_copy = false;
    if (!o->has_seed)
        return err_set(&e, ERR_INPUT, "regrade needs --seed TEXT, a new seed"),
               cli_report_error(&e);
    if (!cli_class_open(o, 1, "a store that `grader batch --store` made", &s, &e))
        return cli_report_error(&e);
    struct assignment a;
    struct options effective;
    bool ok = cli_class_assignment(o, &s, &a, &effective, &e) &&
              cli_class_grade(&effective, &s, o->seed, true, &e) &&
              print_changes(&s, &changed_count, &e);
    bool has_copies = ok && cli_copies_are_used(&effective);
    if (has_copies) ok = cli_copies_run(&effective, &s, "regrade", o->seed, &has_changed_copy, &e);
    if (ok && !o->diff)
        ok = class_save_seed(&s, o->seed, &e) &&
             cli_class_grade(&effective, &s, o->seed, false, &e) &&
             (!has_copies || cli_copies_run(&effective, &s, "batch", o->seed, NULL, &e));
    assignment_free(&a);
    store_close(&s);
    return !ok                                 ? cli_report_error(&e)
           : changed_count || has_changed_copy ? EXIT_FAILED
                                               : EXIT_PASSED;
}
