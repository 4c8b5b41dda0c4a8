/* hidden.c — cases that an instructor keeps to himself. They run in a session of their own, whose
 * processes and whose output end with it: what a submission sees there it can't print later, when
 * its words are kept. A report has the verdict of each and nothing else; what is for the instructor
 * alone goes to `secret`. */
#include "grader/grade/grading_ctx.h"

#include <stdio.h>
#include <string.h>

enum {
    FIRST_HIDDEN_INDEX = 1 << 16
}; /* of their random numbers: those of the other cases are the same with and without them */

static void redact_case(struct grading_ctx *g, unsigned i) {
    struct case_result *c = &g->r->cases[g->r->ncases - 1];
    struct buf instructor_text = {0};
    char name[64];
    buf_printf(&instructor_text, "%s%s%s", c->name, c->message[0] ? "\n" : "", c->message);
    c->instructor_message =
        arena_strndup(&g->r->arena, buf_str(&instructor_text), instructor_text.size);
    int n = snprintf(name, sizeof name, "hidden case %u of %u", i + 1, g->o->policy->nhidden);
    c->name = arena_strndup(&g->r->arena, name, (size_t)n);
    c->message =
        c->verdict == V_AC
            ? ""
            : "what it looks like is not told: try sizes and values that your own tests lack";
    buf_free(&instructor_text);
}

/* False where one failed or was not run. */
static bool run_hidden_cases(struct grading_ctx *g) {
    const struct grading_policy *t = g->o->policy;
    bool all_passed = true;
    for (unsigned i = 0; i < t->nhidden && !g->stopped; i++) {
        all_passed &= check_case(g, &t->hidden_cases[i], grade_plan_correctness, "", NULL) == V_AC;
        redact_case(g, i), g->r->nhidden++;
    }
    return all_passed && !g->stopped;
}

bool check_hidden(struct grading_ctx *g) {
    const struct grading_policy *t = g->o->policy;
    struct err e = {0};
    if (!t || !t->nhidden || g->o->only_case || g->stopped) return true;
    struct session *visible_session = g->session;
    unsigned next_index = g->next_index;
    g->session = grade_session(g, &e), g->next_index = FIRST_HIDDEN_INDEX;
    bool ok = g->session && run_hidden_cases(g);
    if (!g->session)
        g->r->message =
            arena_strndup(&g->r->arena, e.text, strlen(e.text)); /* with no case to say so: V_IE */
    session_close(g->session);
    g->session = visible_session, g->next_index = next_index;
    return ok;
}
