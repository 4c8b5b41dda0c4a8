/* score.c — see score.h. */
#include "grader/grade/score.h"
#include "grader/book/problem.h"

#include <math.h>
#include <string.h>

/* A limit of 0 has no logarithm, nor has a figure of 0 that is to grow: two decades stand for the
 * way then, of which the last step to the limit itself is a part. */
static const double decades = 100, last_step = 0.95;

/* How many times over the limit; 1 or less: met. */
static double excess(const struct technique_result *t, double value, double limit, double naive) {
    if (!t->at_most) return value > 0 ? limit / value : decades;
    double least = limit > 0 ? limit : naive / decades;
    return least > 0 ? value / least : value > 0 ? INFINITY : 0;
}

double score_way(const struct technique_result *t) {
    if (t->passed) return 1;
    if (!t->naive_known) return 0;
    double from = excess(t, t->naive, t->naive_limit, t->naive),
           at = excess(t, t->value, t->limit, t->naive);
    bool condition = from <= 1 + 1e-9;
    if (condition) from = SCORE_CONDITION;
    double way = isinf(at) ? 0 : 1 - log(at) / log(from);
    return fmax(0, fmin(last_step, condition ? way / 2 : way));
}

double score_technique(double full, const struct check_counts *n) {
    double goals = n->goals ? n->goals : 1, way = n->goals ? n->way : 1,
           failed = n->guards - n->kept;
    return fmax(0, full * (way - failed) / goals);
}

double score_speed(double full, double vs_solution, double gain) {
    double way = log(vs_solution * gain) / log(gain * SCORE_FULL_SPEED);
    return full * fmax(0, fmin(1, way));
}

/* ---- what is missing ---- */

static void add_missing(struct result *r, double points, const char *group, const struct buf *why) {
    r->missing[r->nmissing++] =
        (struct missing){points, group, arena_strndup(&r->arena, buf_str(why), why->size)};
}

/* Limits of one test: `next` is where the next one's begin. Returns the figure that decides: of a
 * goal the least of the ways, of a guard the first that failed; NULL where all are met. */
static const struct technique_result *decisive(const struct result *r, unsigned first,
                                               unsigned *next) {
    const struct technique_result *t = r->technique, *worst = NULL;
    for (*next = first; *next < r->ntechnique && t[*next].test == t[first].test &&
                        t[*next].guard == t[first].guard;
         ++*next)
        if (!t[*next].passed && (!worst || (!worst->guard && t[*next].way < worst->way)))
            worst = &t[*next];
    return worst;
}

static void add_why(struct result *r, const struct technique_result *t, double points) {
    struct buf why = {0};
    if (t->guard) buf_printf(&why, "a guard failed: %s", t->name);
    else if (t->way > 0)
        buf_printf(&why, "%.0f %% of the way to a goal: %s", 100 * t->way, t->name);
    else buf_printf(&why, "a goal is not reached: %s", t->name);
    add_missing(r, points, t->guard ? "guard" : "goal", &why);
    buf_free(&why);
}

static void missing_technique(struct result *r, double scale) {
    const struct check_counts *n = &r->checks;
    double earned = n->goals ? r->full.technique * (r->waived ? n->goals : n->way) / n->goals
                             : r->full.technique;
    double taken = earned - r->got.technique;
    for (unsigned i = 0, next; i < r->ntechnique; i = next) {
        const struct technique_result *t = decisive(r, i, &next);
        if (!t || (!t->guard && r->waived)) continue;
        double points =
            t->guard ? taken / (n->guards - n->kept) : (1 - t->way) * r->full.technique / n->goals;
        if (points > 1e-9)
            add_why(r, t, points * scale); /* else the goals' shares are gone already */
    }
}

static void missing_speed(struct result *r, double scale) {
    double points = r->full.speed - r->got.speed;
    struct buf why = {0};
    if (!r->speed_counted || points < 1e-9) return;
    if (r->speed.forfeit) buf_printf(&why, "no time: %s", r->speed.note);
    else
        buf_printf(&why, "%.2f of the model answer's speed (%s), full points from %.2f",
                   r->speed.vs_solution, r->speed.kind, SCORE_FULL_SPEED);
    add_missing(r, points * scale, "speed", &why);
    buf_free(&why);
}

/* ---- points ---- */

static bool speed_counts(const struct result *r, bool count_modelled) {
    const struct speed_result *s = &r->speed;
    bool there = s->forfeit ? count_modelled
                            : s->valid && (count_modelled || strcmp(s->kind, "measured") == 0);
    return there && r->full.speed > 0 && (s->forfeit || s->gain >= SCORE_LEAST_GAIN);
}

/* Faster in another way: beyond doubt, all of it right, and at nobody's expense. */
static bool waive(const struct result *r, bool count_modelled) {
    const struct speed_result *s = &r->speed;
    bool measured = s->valid && strcmp(s->kind, "measured") == 0;
    /* What beats the roofline tells of the model, not of the kernel. */
    bool modelled = s->valid && count_modelled && s->vs_solution >= SCORE_WAIVE_MODELLED &&
                    s->of_roofline < 1.1;
    bool faster = measured ? s->ci_low > 1 : modelled;
    return faster && s->whole && r->checks.kept == r->checks.guards &&
           r->checks.reached < r->checks.goals;
}

/* The file as it came. What noise of the model gives it is no point; `got` keeps it, for `verify`.
 */
static void not_started(struct result *r) {
    struct buf why = {0};
    buf_puts(&why, "not started: this is the file as it came");
    r->score = 0, r->verdict = V_PART;
    add_missing(r, r->max_score, "goal", &why);
    buf_free(&why);
}

static double sum(const struct points *p, bool with_speed) {
    return p->correctness + p->technique + (with_speed ? p->speed : 0);
}

/* Where an instructor gives points for cases, the exercise's other shares keep their proportion. */
static struct points shares(const struct result *r) {
    double technique = r->ex->points.technique, speed = r->ex->points.speed;
    if (!(r->case_points > 0)) return (struct points){r->ex->points.correctness, technique, speed};
    double scale = (r->max_score - r->case_points) / (technique + speed);
    return (struct points){r->case_points, technique * scale, speed * scale};
}

void score_points(struct result *r, bool count_modelled) {
    r->full = shares(r);
    r->speed_counted = speed_counts(r, count_modelled);
    r->waived = waive(r, count_modelled);
    r->got.correctness = r->full.correctness;
    r->got.technique =
        r->waived ? r->full.technique : score_technique(r->full.technique, &r->checks);
    r->got.speed = r->speed.valid && r->speed_counted
                       ? score_speed(r->full.speed, r->speed.vs_solution, r->speed.gain)
                       : 0;
    double full = sum(&r->full, r->speed_counted), got = sum(&r->got, r->speed_counted);
    double scale = full > 0 ? r->max_score / full : 0;
    r->score = full > 0 ? got * scale : r->max_score;
    r->verdict = got < full - 1e-9 ? V_PART : V_AC;
    r->missing = arena_array(&r->arena, struct missing, r->ntechnique + 1);
    if (r->untouched) {
        not_started(r);
        return;
    }
    missing_technique(r, scale);
    missing_speed(r, scale);
}

/* Of all cases that there are: those that were not run are not right. One more is the size that is
 * counted. */
static unsigned cases_right(const struct result *r, unsigned *all) {
    unsigned right = 0, known = r->ex->ncases + problem_drawn(r->ex) + r->all_hidden + 1;
    for (unsigned i = 0; i < r->ncases; i++) right += r->cases[i].verdict == V_AC;
    *all = r->ncases > known ? r->ncases : known;
    return right;
}

/* Not for a file as it came, nor for one that the jail had to end. */
static bool cases_count(const struct result *r) {
    return r->case_points > 0 && !r->untouched && r->verdict != V_SEC && r->verdict != V_CE;
}

void score_nothing(struct result *r) {
    struct buf why = {0};
    unsigned all, right = cases_right(r, &all);
    r->nmissing = 0, r->score = 0;
    if (!verdict_scored(r->verdict)) return;
    r->missing = arena_array(&r->arena, struct missing, 2);
    if (cases_count(r)) {
        r->score = r->case_points * right / all;
        buf_printf(&why, "%u of %u cases are not right", all - right, all);
        add_missing(r, r->case_points - r->score, "correctness", &why);
        buf_clear(&why);
        buf_printf(&why, "technique and speed count for correct results only, and this is %s",
                   verdict_code(r->verdict));
        add_missing(r, r->max_score - r->case_points, "goal", &why);
    } else {
        buf_printf(&why, "points are given for correct results only, and this is %s",
                   verdict_code(r->verdict));
        add_missing(r, r->max_score, "correctness", &why);
    }
    buf_free(&why);
}

/* ---- the rule ---- */

bool score_rule(const struct result *naive, struct buf *why) {
    size_t before = why->size;
    if (!naive->checks.goals) buf_puts(why, "it has no goal: nothing earns the technique points\n");
    for (unsigned i = 0, next; i < naive->ntechnique; i = next) {
        const struct technique_result *t = &naive->technique[i],
                                      *failed = decisive(naive, i, &next);
        if (t->guard == !failed) continue;
        buf_printf(
            why,
            t->guard
                ? "the guard `%s` fails on the naive version (%s)\n"
                : "the naive version meets every limit of the goal `%s` (%s): make it a guard\n",
            t->name, failed ? failed->metric : t->metric);
    }
    if (naive->checks.reached && why->size == before)
        buf_puts(why, "a goal without limits passes on the naive version\n");
    return why->size == before;
}
