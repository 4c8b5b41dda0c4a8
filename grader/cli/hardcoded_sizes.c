/* hardcoded_sizes.c — an exploit that knows the sizes of the listed cases: it is the model
 * solution there and does nothing at other sizes. `grader verify` checks that drawn cases detect it
 * (path_evasion.h). */
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/cli/path_evasion.h"
#include "grader/cli/metric_padding.h"

#include <string.h>

static void put_size_condition(const struct exercise *ex, struct buf *out) {
    for (unsigned i = 0; i < ex->ncases + 2; i++) {
        const struct ex_case *c = i < ex->ncases    ? &ex->cases[i]
                                  : i == ex->ncases ? &ex->technique_case
                                                    : &ex->timed_case;
        buf_puts(out, i ? " ||\n        (" : "(");
        entry_put_size_condition(ex, c, out);
        buf_puts(out, ")");
    }
}

void hardcoded_sizes_source(const struct exercise *ex, const struct buf *solution,
                            struct buf *out) {
    const char *entry = book_entry(ex);
    buf_printf(out, "#define %s known_entry\n#line 1\n%s\n#undef %s\n", entry, buf_str(solution),
               entry);
    buf_puts(out, "template <class... P, class... A> static void known_call(void (*f)(P...), A... "
                  "a) { f((P)a...); }\n");
    buf_printf(out, "extern \"C\" void %s(", entry);
    entry_put_arguments(ex, true, out);
    buf_puts(out, ") {\n    if (");
    put_size_condition(ex, out);
    buf_puts(out, ")\n        known_call(known_entry, ");
    entry_put_arguments(ex, false, out);
    buf_puts(out, ");\n}\n");
}

bool hardcoded_sizes_are_detected(const struct exercise *ex, const struct result *r,
                                  struct buf *problems) {
    unsigned correct_count = 0, drawn_count = 0;
    size_t before = problems->size;
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        bool ok = c->verdict == V_AC;
        correct_count += ok && c->number && !c->drawn, drawn_count += c->drawn;
        if (ok && c->drawn)
            buf_printf(problems, "a version that does nothing at a drawn size passes it: %s\n",
                       c->name);
    }
    if (drawn_count < problem_drawn_case_count(ex))
        buf_printf(problems, "%u of %u drawn sizes were checked\n", drawn_count,
                   problem_drawn_case_count(ex));
    if (correct_count < ex->ncases)
        buf_printf(problems, "the version that knows the listed sizes passes only %u of %u\n",
                   correct_count, ex->ncases);
    return problems->size == before;
}
