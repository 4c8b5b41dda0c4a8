/* hidden.c — runs an instructor's hidden cases. They have a session of their own, whose processes
 * and output end with it, so that a submission can't print later what it saw there. A report shows
 * only the verdict of each; details for the instructor go to `instructor_message`. */
#include "grader/grade/grading_ctx.h"

#include <stdio.h>
#include <string.h>

/* Index for their random numbers, so that they don't change those of other cases. */
enum { FIRST_HIDDEN_INDEX = 1 << 16 };

static void redact_case(struct grading_ctx *g, unsigned i) {
    struct case_result *c = &g->r->cases[g->r->ncases - 1];
    struct buf instructor_text = {0};
    char name[64];
    buf_printf(&instructor_text, "%s%s%s", c->name, c->message[0] ? "\n" : "", c->message);
    c->instructor_message =
        arena_strndup(&g->r->arena, buf_str(&instructor_text), instructor_text.size);
    int n = snprintf(name, sizeof name, "hidden case %u of %u", i + 1, g->o->policy->nhidden);
    c->name = arena_strndup(&g->r->arena, name, (size_t)n);
    c->message = c->verdict == V_AC
                     ? ""
                     : "the details are hidden; try sizes and values that your own tests lack";
    buf_free(&instructor_text);
}

/* Returns false if a hidden case failed or was not run. */
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
    if (!g->session) /* No case has this message, so the verdict becomes V_IE. */
        g->r->message = arena_strndup(&g->r->arena, e.text, strlen(e.text));
    session_close(g->session);
    g->session = visible_session, g->next_index = next_index;
    return ok;
}
