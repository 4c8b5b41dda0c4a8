/* score.c — see score.h. */
#include "grader/grade/score.h"

#include <math.h>
#include <string.h>

double score_technique(double full, const struct check_counts *n) {
    unsigned goals = n->goals ? n->goals : 1, reached = n->goals ? n->reached : 1, failed = n->guards - n->kept;
    return reached > failed ? full * (reached - failed) / goals : 0;
}

double score_speed(double full, double vs_solution) { return full * fmax(0, fmin(1, vs_solution / SCORE_FULL_SPEED)); }

/* ---- what is missing ---- */

static void add_missing(struct result *r, double points, const char *group, const struct buf *why) {
    r->missing[r->nmissing++] = (struct missing){points, group, arena_strndup(&r->arena, buf_str(why), why->size)};
}

/* Several limits of one test stand next to each other; the test fails at the last of them. */
static bool ends_check(const struct result *r, unsigned i) {
    return i + 1 == r->ntechnique || strcmp(r->technique[i].name, r->technique[i + 1].name) != 0;
}

static void missing_technique(struct result *r, double scale) {
    const struct check_counts *n = &r->checks;
    double reached = n->goals ? r->full.technique * n->reached / n->goals : r->full.technique;
    double taken = reached - r->got.technique;
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        struct buf why = {0};
        if (t->passed || !ends_check(r, i)) continue;
        double points = t->guard ? taken / (n->guards - n->kept) : r->full.technique / n->goals;
        if (points < 1e-9) continue; /* the goals' shares are gone already */
        buf_printf(&why, "%s: %s", t->guard ? "a guard failed" : "a goal is not reached", t->name);
        add_missing(r, points * scale, t->guard ? "guard" : "goal", &why);
        buf_free(&why);
    }
}

static void missing_speed(struct result *r, double scale) {
    double points = r->full.speed - r->got.speed;
    struct buf why = {0};
    if (!r->speed_counted || points < 1e-9) return;
    if (r->speed.forfeit) buf_printf(&why, "no time: %s", r->speed.note);
    else
        buf_printf(&why, "%.2f of the model answer's speed, full points from %.2f", r->speed.vs_solution,
                   SCORE_FULL_SPEED);
    add_missing(r, points * scale, "speed", &why);
    buf_free(&why);
}

static double sum(const struct points *p, bool with_speed) {
    return p->correctness + p->technique + (with_speed ? p->speed : 0);
}

void score_points(struct result *r, bool count_modelled) {
    r->full = (struct points){r->ex->points.correctness, r->ex->points.technique, r->ex->points.speed};
    r->speed_counted =
        r->speed.valid ? count_modelled || strcmp(r->speed.kind, "measured") == 0 : count_modelled && r->speed.forfeit;
    r->got.correctness = r->full.correctness;
    r->got.technique = score_technique(r->full.technique, &r->checks);
    r->got.speed = r->speed.valid ? score_speed(r->full.speed, r->speed.vs_solution) : 0;
    double full = sum(&r->full, r->speed_counted), got = sum(&r->got, r->speed_counted);
    double scale = full > 0 ? r->max_score / full : 0;
    r->score = full > 0 ? got * scale : r->max_score;
    r->verdict = got < full - 1e-9 ? V_PART : V_AC;
    r->missing = arena_array(&r->arena, struct missing, r->ntechnique + 1);
    missing_technique(r, scale);
    missing_speed(r, scale);
}

void score_nothing(struct result *r) {
    struct buf why = {0};
    r->nmissing = 0;
    if (!verdict_scored(r->verdict)) return;
    r->missing = arena_array(&r->arena, struct missing, 1);
    buf_printf(&why, "points are given for correct results only, and this is %s", verdict_code(r->verdict));
    add_missing(r, r->max_score, "correctness", &why);
    buf_free(&why);
}

/* ---- the rule ---- */

bool score_rule(const struct result *naive, struct buf *why) {
    size_t before = why->size;
    if (!naive->checks.goals) buf_puts(why, "it has no goal: nothing earns the technique points\n");
    for (unsigned i = 0; i < naive->ntechnique; i++) {
        const struct technique_result *t = &naive->technique[i];
        if (t->guard == t->passed) continue;
        buf_printf(why,
                   t->guard ? "the guard `%s` fails on the naive version (%s)\n"
                            : "the goal `%s` has a limit that the naive version meets (%s): make it a guard\n",
                   t->name, t->metric);
    }
    if (naive->checks.reached && why->size == before)
        buf_puts(why, "a goal without limits passes on the naive version\n");
    return why->size == before;
}
