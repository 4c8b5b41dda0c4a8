/* score.c — see score.h. */
#include "grader/grade/score.h"
#include "grader/book/problem.h"

#include <math.h>
#include <string.h>

/* A limit of 0 has no logarithm, nor has a value of 0 that must grow. In both cases the range is
 * two decades. A missed limit has at most 0.95 of the progress. */
static const double zero_limit_range = 100, max_missed_progress = 0.95;

/* Returns by which factor a value misses the limit; 1 or less if it meets it. */
static double excess(const struct technique_result *t, double value, double limit,
                     double baseline) {
    if (!t->is_upper_limit) return value > 0 ? limit / value : zero_limit_range;
    double min_value = limit > 0 ? limit : baseline / zero_limit_range;
    return min_value > 0 ? value / min_value : value > 0 ? INFINITY : 0;
}

double score_goal_progress(const struct technique_result *t) {
    if (t->passed) return 1;
    if (!t->has_baseline) return 0;
    double from = excess(t, t->baseline_value, t->baseline_limit, t->baseline_value),
           at = excess(t, t->value, t->limit, t->baseline_value);
    bool condition = from <= 1 + 1e-9;
    if (condition) from = SCORE_CONDITION_RANGE;
    double progress = isinf(at) ? 0 : 1 - log(at) / log(from);
    return fmax(0, fmin(max_missed_progress, condition ? progress / 2 : progress));
}

double score_technique(double full, const struct check_counts *n) {
    double goals = n->goals ? n->goals : 1, progress = n->goals ? n->goal_progress : 1,
           guards_failed = n->guards - n->guards_passed;
    return fmax(0, full * (progress - guards_failed) / goals);
}

double score_speed(double full, double vs_solution, double solution_speedup) {
    double progress =
        log(vs_solution * solution_speedup) / log(solution_speedup * SCORE_FULL_SPEED);
    return full * fmax(0, fmin(1, progress));
}

/* ---- the error of modelled ratios ----
 * Times that differ by less than SCORE_EQUAL_LOG_RATIO count as they are: a version's own time from
 * a sample and from the full grid differ by as much, and a baseline must earn nothing by that. */

static const struct ratio_error {
    double log_ratio, log_error;
} ratio_errors[] = {
    {0, 0},
    {SCORE_EQUAL_LOG_RATIO, 0},
#define X(log_ratio, log_error, pairs) {log_ratio, log_error},
#include "grader/grade/ratio_error.def"
#undef X
};
enum { RATIO_ERROR_COUNT = sizeof ratio_errors / sizeof *ratio_errors };

/* Returns the error of a ratio, both as logarithms, interpolated between the rows. */
static double log_ratio_error(double log_ratio) {
    double at = fabs(log_ratio);
    for (unsigned i = 1; i < RATIO_ERROR_COUNT; i++) {
        const struct ratio_error *a = &ratio_errors[i - 1], *b = &ratio_errors[i];
        if (at < b->log_ratio)
            return a->log_error + (b->log_error - a->log_error) * (at - a->log_ratio) /
                                      (b->log_ratio - a->log_ratio);
    }
    return ratio_errors[RATIO_ERROR_COUNT - 1].log_error;
}

/* Returns the highest ratio within the error, as logarithms, at least that of any smaller ratio: a
 * faster version must not count for less where the error grows faster than the ratio. */
static double max_log_ratio(double log_ratio) {
    double max = log_ratio + log_ratio_error(log_ratio);
    for (unsigned i = 0; i < RATIO_ERROR_COUNT; i++)
        for (int sign = -1; sign <= 1; sign += 2)
            if (sign * ratio_errors[i].log_ratio < log_ratio)
                max = fmax(max, sign * ratio_errors[i].log_ratio + ratio_errors[i].log_error);
    return max;
}

double score_counted_speed(double vs_solution, double solution_speedup) {
    double log_baseline = log(vs_solution * solution_speedup);
    if (!(log_baseline > 0) || !(solution_speedup > 0)) return vs_solution;
    double by_baseline = log_baseline + log_ratio_error(log_baseline) - log(solution_speedup);
    return exp(fmax(log(vs_solution), fmin(max_log_ratio(log(vs_solution)), by_baseline)));
}

/* ---- points lost ---- */

static void add_point_loss(struct result *r, double points, const char *group,
                           const struct buf *reason) {
    r->points_lost[r->npoints_lost++] =
        (struct point_loss){points, group, arena_strndup(&r->arena, buf_str(reason), reason->size)};
}

/* Returns the deciding limit of one test: of a goal the one with the least progress, of a guard the
 * first that failed; NULL if all are met. Sets `next` to the index behind the test's limits. */
static const struct technique_result *deciding_limit(const struct result *r, unsigned first,
                                                     unsigned *next) {
    const struct technique_result *t = r->technique, *worst = NULL;
    for (*next = first; *next < r->ntechnique && t[*next].test_index == t[first].test_index &&
                        t[*next].is_guard == t[first].is_guard;
         ++*next)
        if (!t[*next].passed &&
            (!worst || (!worst->is_guard && t[*next].goal_progress < worst->goal_progress)))
            worst = &t[*next];
    return worst;
}

static void add_limit_loss(struct result *r, const struct technique_result *t, double points) {
    struct buf reason = {0};
    if (t->is_guard) buf_printf(&reason, "guard failed: %s", t->name);
    else if (t->goal_progress > 0)
        buf_printf(&reason, "goal %.0f %% reached: %s", 100 * t->goal_progress, t->name);
    else buf_printf(&reason, "goal not reached: %s", t->name);
    add_point_loss(r, points, t->is_guard ? "guard" : "goal", &reason);
    buf_free(&reason);
}

static void add_technique_losses(struct result *r, double alpha_value) {
    const struct check_counts *n = &r->checks;
    double earned = n->goals ? r->available.technique *
                                   (r->goals_waived ? n->goals : n->goal_progress) / n->goals
                             : r->available.technique;
    double guard_losses = earned - r->earned.technique;
    for (unsigned i = 0, next; i < r->ntechnique; i = next) {
        const struct technique_result *t = deciding_limit(r, i, &next);
        if (!t || (!t->is_guard && r->goals_waived)) continue;
        double points = t->is_guard ? guard_losses / (n->guards - n->guards_passed)
                                    : (1 - t->goal_progress) * r->available.technique / n->goals;
        /* 0 if other guards took all of the goals' points already */
        if (points > 1e-9) add_limit_loss(r, t, points * alpha_value);
    }
}

static void put_speed(const struct speed_result *s, struct buf *out) {
    buf_printf(out, "%.2fx the model solution's speed (%s", s->vs_solution, s->kind);
    if (s->counted_vs_solution > 1.005 * s->vs_solution)
        buf_printf(out, ", counts as %.2fx", s->counted_vs_solution);
    buf_printf(out, "), full points from %.2fx", SCORE_FULL_SPEED);
}

static void add_speed_loss(struct result *r, double alpha_value) {
    double points = r->available.speed - r->earned.speed;
    struct buf reason = {0};
    if (!r->speed_counted || points < 1e-9) return;
    if (r->speed.disqualified) buf_printf(&reason, "no time: %s", r->speed.note);
    else put_speed(&r->speed, &reason);
    bool are_goals_reached = r->goals_waived || r->checks.goals_reached == r->checks.goals;
    if (!r->speed.disqualified && r->missing_idea && are_goals_reached)
        buf_printf(&reason, "; " SCORE_IDEA_PREFIX "%s", r->missing_idea);
    add_point_loss(r, points * alpha_value, "speed", &reason);
    buf_free(&reason);
}

/* ---- points ---- */

static bool speed_counts(const struct result *r, bool count_modelled) {
    const struct speed_result *s = &r->speed;
    bool is_counted = s->disqualified
                          ? count_modelled
                          : s->valid && (count_modelled || strcmp(s->kind, "measured") == 0);
    return is_counted && r->available.speed > 0 &&
           (s->disqualified || s->solution_speedup >= SCORE_MIN_SPEEDUP);
}

/* Returns true if missed goals are waived: faster beyond doubt, all output checked, all guards
 * passed. */
static bool earns_waiver(const struct result *r, bool count_modelled) {
    const struct speed_result *s = &r->speed;
    bool measured = s->valid && strcmp(s->kind, "measured") == 0;
    /* A time below the roofline shows an error of the model, not a fast kernel. */
    bool modelled = s->valid && count_modelled && s->vs_solution >= SCORE_WAIVE_SPEEDUP &&
                    s->roofline_fraction < 1.1;
    bool faster = measured ? s->ci_low > 1 : modelled;
    return faster && s->output_fully_checked && r->checks.guards_passed == r->checks.guards &&
           r->checks.goals_reached < r->checks.goals;
}

/* Scores the starter file: 0, even if the model's noise gave it points. `earned` keeps those for
 * `grader verify`. */
static void score_unmodified(struct result *r) {
    struct buf reason = {0};
    buf_puts(&reason, "not started: this is the starter file");
    r->score = 0, r->verdict = V_PART;
    add_point_loss(r, r->max_score, "goal", &reason);
    buf_free(&reason);
}

static double sum_points(const struct points *p, bool with_speed) {
    return p->correctness + p->technique + (with_speed ? p->speed : 0);
}

/* Returns the available points. If an instructor gives points for cases, the other shares keep
 * their proportion. */
static struct points point_shares(const struct result *r) {
    double technique = r->ex->points.technique, speed = r->ex->points.speed;
    if (!(r->case_points > 0)) return (struct points){r->ex->points.correctness, technique, speed};
    double alpha_value = (r->max_score - r->case_points) / (technique + speed);
    return (struct points){r->case_points, technique * alpha_value, speed * alpha_value};
}

void score_points(struct result *r, bool count_modelled) {
    r->available = point_shares(r);
    r->speed_counted = speed_counts(r, count_modelled);
    r->goals_waived = earns_waiver(r, count_modelled);
    r->earned.correctness = r->available.correctness;
    r->earned.technique = r->goals_waived ? r->available.technique
                                          : score_technique(r->available.technique, &r->checks);
    bool modelled = r->speed.valid && strcmp(r->speed.kind, "modelled") == 0;
    r->speed.counted_vs_solution =
        modelled && r->speed_counted
            ? score_counted_speed(r->speed.vs_solution, r->speed.solution_speedup)
            : r->speed.vs_solution;
    r->earned.speed = r->speed.valid && r->speed_counted
                          ? score_speed(r->available.speed, r->speed.counted_vs_solution,
                                        r->speed.solution_speedup)
                          : 0;
    double full = sum_points(&r->available, r->speed_counted),
           earned = sum_points(&r->earned, r->speed_counted);
    double alpha_value = full > 0 ? r->max_score / full : 0;
    r->score = full > 0 ? earned * alpha_value : r->max_score;
    r->verdict = earned < full - 1e-9 ? V_PART : V_AC;
    r->points_lost = arena_array(&r->arena, struct point_loss, r->ntechnique + 1);
    if (r->is_unmodified) {
        score_unmodified(r);
        return;
    }
    add_technique_losses(r, alpha_value);
    add_speed_loss(r, alpha_value);
}

/* Returns the number of correct cases, and the total with cases that were not run and the technique
 * case. */
static unsigned count_correct_cases(const struct result *r, unsigned *total) {
    unsigned correct = 0,
             planned = r->ex->ncases + problem_drawn_case_count(r->ex) + r->nhidden_total + 1;
    for (unsigned i = 0; i < r->ncases; i++) correct += r->cases[i].verdict == V_AC;
    *total = r->ncases > planned ? r->ncases : planned;
    return correct;
}

/* Returns true if correct cases earn points: not for a starter file, nor if the sandbox stopped it.
 */
static bool has_case_points(const struct result *r) {
    return r->case_points > 0 && !r->is_unmodified && r->verdict != V_SEC && r->verdict != V_CE;
}

void score_incorrect(struct result *r) {
    struct buf reason = {0};
    unsigned total, correct = count_correct_cases(r, &total);
    r->npoints_lost = 0, r->score = 0;
    if (!verdict_has_score(r->verdict)) return;
    r->points_lost = arena_array(&r->arena, struct point_loss, 2);
    if (has_case_points(r)) {
        r->score = r->case_points * correct / total;
        buf_printf(&reason, "%u of %u cases are not correct", total - correct, total);
        add_point_loss(r, r->case_points - r->score, "correctness", &reason);
        buf_clear(&reason);
        buf_printf(&reason, "only correct results earn technique and speed points, and this is %s",
                   verdict_code(r->verdict));
        add_point_loss(r, r->max_score - r->case_points, "goal", &reason);
    } else {
        buf_printf(&reason, "only correct results earn points, and this is %s",
                   verdict_code(r->verdict));
        add_point_loss(r, r->max_score, "correctness", &reason);
    }
    buf_free(&reason);
}

/* ---- the rule ---- */

bool score_check_rule(const struct result *baseline, struct buf *reason) {
    size_t initial_size = reason->size;
    if (!baseline->checks.goals)
        buf_puts(reason, "it has no goal, so nothing earns the technique points\n");
    for (unsigned i = 0, next; i < baseline->ntechnique; i = next) {
        const struct technique_result *t = &baseline->technique[i],
                                      *failed = deciding_limit(baseline, i, &next);
        if (t->is_guard == !failed) continue;
        buf_printf(reason,
                   t->is_guard
                       ? "the guard `%s` fails on the baseline (%s)\n"
                       : "the baseline meets every limit of the goal `%s` (%s): make it a guard\n",
                   t->name, failed ? failed->metric : t->metric);
    }
    if (baseline->checks.goals_reached && reason->size == initial_size)
        buf_puts(reason, "a goal without limits passes on the baseline\n");
    return reason->size == initial_size;
}
