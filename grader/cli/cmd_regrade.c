/* cmd_regrade.c — grader regrade STORE --seed S: all submissions of a store with another seed, and
 * which marks that changes; with
 * --diff the gradebook stays as it is. */
#include "grader/cli/class_args.h"

#include <stdio.h>

static const char differing[] = "SELECT s.student, s.exercise, coalesce(a.verdict, 'none'), "
                                "coalesce(printf('%.1f', a.score), '-'), b.verdict,"
                                " coalesce(printf('%.1f', b.score), '-') FROM todo t JOIN "
                                "submission s ON s.n = t.n JOIN result b ON b.key = t.key"
                                " LEFT JOIN result a ON a.key = s.key WHERE a.verdict IS NOT "
                                "b.verdict OR a.score IS NOT b.score ORDER BY 1, 2";

static bool say(struct store *s, unsigned *changed, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e, differing, "");
    for (*changed = 0; store_next(s, &q, e); ++*changed)
        printf("%-24s %-32s %-8s %6s -> %-8s %6s\n", store_text(q, 0), store_text(q, 1),
               store_text(q, 2), store_text(q, 3), store_text(q, 4), store_text(q, 5));
    long long n = store_number(s, e, "SELECT count(*) FROM todo");
    printf("%u of %lld marks differ\n", *changed, n);
    return !e->text[0];
}

int cmd_regrade(const struct options *o) {
    struct err e = {0};
    struct store s;
    unsigned changed = 0;
    if (!o->seed_given)
        return err_set(&e, ERR_INPUT, "regrade takes --seed, another one than before"),
               cli_complain(&e);
    if (!cli_class_open(o, 1, "a store, as batch --store made it", &s, &e)) return cli_complain(&e);
    struct assignment a;
    struct options by;
    bool ok = cli_class_assignment(o, &s, &a, &by, &e) &&
              cli_class_grade(&by, &s, o->seed, true, &e) && say(&s, &changed, &e);
    if (ok && !o->diff)
        ok = class_keep_seed(&s, o->seed, &e) && cli_class_grade(&by, &s, o->seed, false, &e);
    assignment_free(&a);
    store_close(&s);
    return !ok ? cli_complain(&e) : changed ? EXIT_FAILED : EXIT_PASSED;
}
