/* hidden.c — cases that an instructor keeps to himself. They run in a session of their own, whose
 * processes and whose output end with it: what a submission sees there it can't print later, when
 * its words are kept. A report has the verdict of each and nothing else; what is for the instructor
 * alone goes to `secret`. */
#include "grader/grade/grading.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_INDEX = 1 << 16
}; /* of their random numbers: those of the other cases are the same with and without them */

static void conceal(struct grading *g, unsigned i) {
    struct case_result *c = &g->r->cases[g->r->ncases - 1];
    struct buf secret = {0};
    char name[64];
    buf_printf(&secret, "%s%s%s", c->name, c->message[0] ? "\n" : "", c->message);
    c->secret = arena_strndup(&g->r->arena, buf_str(&secret), secret.size);
    int n = snprintf(name, sizeof name, "hidden case %u of %u", i + 1, g->o->terms->nhidden);
    c->name = arena_strndup(&g->r->arena, name, (size_t)n);
    c->message =
        c->verdict == V_AC
            ? ""
            : "what it looks like is not told: try sizes and values that your own tests lack";
    buf_free(&secret);
}

/* False where one failed or was not run. */
static bool run_all(struct grading *g) {
    const struct grade_terms *t = g->o->terms;
    bool right = true;
    for (unsigned i = 0; i < t->nhidden && !g->stopped; i++) {
        right &= check_case(g, &t->hidden[i], grade_plan_correctness, "", NULL) == V_AC;
        conceal(g, i), g->r->nhidden++;
    }
    return right && !g->stopped;
}

bool check_hidden(struct grading *g) {
    const struct grade_terms *t = g->o->terms;
    struct err e = {0};
    if (!t || !t->nhidden || g->o->only_case || g->stopped) return true;
    struct session *usual = g->session;
    unsigned next = g->next_index;
    g->session = grade_session(g, &e), g->next_index = FIRST_INDEX;
    bool ok = g->session && run_all(g);
    if (!g->session)
        g->r->message =
            arena_strndup(&g->r->arena, e.text, strlen(e.text)); /* with no case to say so: V_IE */
    session_close(g->session);
    g->session = usual, g->next_index = next;
    return ok;
}
