/* cmd_similar.c — grader similar STORE|DIR…: pairs of submissions with passages in common, and
 * copies of the book's, as a list; with --output FOLDER as pages. */
#include "grader/class/similar.h"
#include "grader/cli/class_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool read_exercise(struct store *s, struct similar_class *c, struct err *e) {
    sqlite3_stmt *q = store_ask(s, e,
                                "SELECT s.student, s.file, c.body FROM submission s JOIN source c "
                                "ON c.digest = s.digest WHERE s.state = "
                                "'taken' AND s.exercise = ? ORDER BY s.student",
                                "t", book_id(c->ex));
    bool ok = q;
    if (ok) similar_book(c);
    while (ok && store_next(s, &q, e))
        similar_add(c, store_text(q, 0), store_text(q, 1), sqlite3_column_blob(q, 2),
                    (size_t)sqlite3_column_bytes(q, 2));
    store_end(&q);
    return ok && !e->text[0];
}

static bool compare_all(const struct options *o, struct store *s, unsigned *pairs, unsigned *taken,
                        struct err *e) {
    const struct exercise **list = cli_class_list(o, e);
    struct similar_pages pages;
    bool ok = list && (!o->output || similar_pages_begin(&pages, o->output, e));
    for (unsigned i = 0; ok && list[i]; i++) {
        struct similar_class c = {.ex = list[i]};
        ok = read_exercise(s, &c, e);
        if (ok && c.ntexts) {
            similar_find(&c, &similar_usual);
            *pairs += c.npairs;
            if (o->output) ok = similar_pages_add(&pages, &c, e);
            else *taken += similar_text_list(&c, stdout);
        }
        similar_free(&c);
    }
    if (ok && o->output) *taken = pages.taken, ok = similar_pages_end(&pages, e);
    free(list);
    return ok;
}

/* A store is a file, what was handed in are folders or archives. */
static bool is_store(const char *path) {
    char head[16] = "";
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    size_t n = f ? fread(head, 1, 15, f) : 0;
    if (f) fclose(f);
    return n == 15 && !strcmp(head, "SQLite format 3");
}

static bool open_any(const struct options *o, struct store *s, struct err *e) {
    unsigned seen;
    if (is_store(o->names[0])) return store_open(s, o->names[0], false, e);
    if (!store_open(s, NULL, true, e)) return false;
    const struct exercise **list = cli_class_list(o, e);
    bool ok = list && cli_class_intake(o, s, list, &seen, e);
    free(list);
    if (!ok) store_close(s);
    return ok;
}

int cmd_similar(const struct options *o) {
    struct err e = {0};
    struct store s;
    unsigned pairs = 0, taken = 0;
    if (!o->nnames)
        return err_set(&e, ERR_INPUT, "similar takes a store, or folders of submissions"),
               cli_complain(&e);
    if (!open_any(o, &s, &e)) return cli_complain(&e);
    bool ok = compare_all(o, &s, &pairs, &taken, &e);
    store_close(&s);
    if (!ok) return cli_complain(&e);
    if (o->output)
        printf("%u pairs, %u copies of the book's; see index.html in %s\n", pairs, taken,
               o->output);
    else fprintf(stderr, "%u pairs, %u copies of the book's\n", pairs, taken);
    return EXIT_PASSED;
}
