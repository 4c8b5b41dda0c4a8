/* cmd_similar.c — grader similar STORE|DIR…: finds pairs of submissions that share passages, also
 * with earlier years and public solutions (--against), and copies of the book's versions. It prints
 * a list, or with --output FOLDER writes pages. */
#include "grader/class/similarity.h"
#include "grader/cli/class_args.h"

#include <stdio.h>
#include <stdlib.h>

static bool compare_all(const struct options *o, struct store *s,
                        struct similarity_against *against, unsigned *pair_count,
                        unsigned *book_copy_count, struct err *e) {
    const struct exercise **list = cli_class_list(o, e);
    struct similarity_pages pages;
    bool ok = list && (!o->output || similarity_pages_begin(&pages, o->output, e));
    for (unsigned i = 0; ok && list[i]; i++) {
        struct similarity_class c = {.ex = list[i]};
        ok = similarity_load(&c, s, against, o->nagainst, e);
        if (ok && c.ntexts) {
            similarity_find_pairs(&c, &similarity_defaults);
            *pair_count += c.npairs;
            if (o->output) ok = similarity_pages_add(&pages, &c, e);
            else *book_copy_count += similarity_print_text(&c, stdout);
        }
        similarity_free(&c);
    }
    if (ok && o->output)
        *book_copy_count = pages.book_copy_count, ok = similarity_pages_end(&pages, e);
    free(list);
    return ok;
}

/* Opens what --against names, and compares. */
static bool compare_with_others(const struct options *o, struct store *s, unsigned *pair_count,
                                unsigned *book_copy_count, struct err *e) {
    struct similarity_against *against = xcalloc(o->nagainst + 1, sizeof *against);
    unsigned n = 0, left_out = 0;
    bool ok = true;
    for (; ok && n < o->nagainst; n++) {
        ok = similarity_open_against(&against[n], o->against[n], &left_out, e);
        if (ok && left_out)
            fprintf(stderr, "grader: warning: %s: %u files or folders could not be read\n",
                    o->against[n], left_out);
    }
    ok = ok && compare_all(o, s, against, pair_count, book_copy_count, e);
    while (n-- > 0) similarity_close_against(&against[n]);
    free(against);
    return ok;
}

static bool open_store_or_folders(const struct options *o, struct store *s, struct err *e) {
    unsigned entry_count;
    if (similarity_is_store(o->operands[0])) return store_open(s, o->operands[0], false, e);
    if (!store_open(s, NULL, true, e)) return false;
    const struct exercise **list = cli_class_list(o, e);
    bool ok = list && cli_class_intake(o, s, list, &entry_count, e);
    free(list);
    if (!ok) store_close(s);
    return ok;
}

int cmd_similar(const struct options *o) {
    struct err e = {0};
    struct store s;
    unsigned pair_count = 0, book_copy_count = 0;
    if (!o->noperands)
        return err_set(&e, ERR_INPUT, "similar takes a store or folders of submissions"),
               cli_report_error(&e);
    if (!open_store_or_folders(o, &s, &e)) return cli_report_error(&e);
    bool ok = compare_with_others(o, &s, &pair_count, &book_copy_count, &e);
    store_close(&s);
    if (!ok) return cli_report_error(&e);
    if (o->output)
        printf("%u pairs, %u copies of the book's versions; see index.html in %s\n", pair_count,
               book_copy_count, o->output);
    else
        fprintf(stderr, "%u pairs, %u copies of the book's versions\n", pair_count,
                book_copy_count);
    return EXIT_PASSED;
}
