/* cheat_known.c — the cheat that knows the sizes of the listed cases: the model answer there,
 * nothing elsewhere (cheat.h). */
#include "grader/book/book.h"
#include "grader/book/problem.h"
#include "grader/cli/cheat.h"
#include "grader/cli/dilute.h"

#include <string.h>

static void condition(const struct exercise *ex, struct buf *out) {
    for (unsigned i = 0; i < ex->ncases + 2; i++) {
        const struct ex_case *c = i < ex->ncases    ? &ex->cases[i]
                                  : i == ex->ncases ? &ex->technique_case
                                                    : &ex->timed_case;
        buf_puts(out, i ? " ||\n        (" : "(");
        dilute_condition(ex, c, out);
        buf_puts(out, ")");
    }
}

void cheat_known_source(const struct exercise *ex, const struct buf *answer, struct buf *out) {
    const char *entry = book_entry(ex);
    buf_printf(out, "#define %s known_entry\n#line 1\n%s\n#undef %s\n", entry, buf_str(answer),
               entry);
    buf_puts(out, "template <class... P, class... A> static void known_call(void (*f)(P...), A... "
                  "a) { f((P)a...); }\n");
    buf_printf(out, "extern \"C\" void %s(", entry);
    dilute_arguments(ex, true, out);
    buf_puts(out, ") {\n    if (");
    condition(ex, out);
    buf_puts(out, ")\n        known_call(known_entry, ");
    dilute_arguments(ex, false, out);
    buf_puts(out, ");\n}\n");
}

bool cheat_known_is_seen(const struct exercise *ex, const struct result *r, struct buf *why) {
    unsigned right = 0, drawn = 0;
    size_t before = why->size;
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        bool ok = c->verdict == V_AC;
        right += ok && c->number && !c->drawn, drawn += c->drawn;
        if (ok && c->drawn)
            buf_printf(why, "a version that does nothing at a drawn size is right there: %s\n",
                       c->name);
    }
    if (drawn < problem_drawn_case_count(ex))
        buf_printf(why, "%u of %u drawn sizes were checked\n", drawn, problem_drawn_case_count(ex));
    if (right < ex->ncases)
        buf_printf(why, "the version that knows the listed sizes is right at %u of %u\n", right,
                   ex->ncases);
    return why->size == before;
}
