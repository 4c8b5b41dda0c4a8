/* verify_judge.c — decides whether the result of a version keeps the rules of `grader verify`,
 * which cmd_verify.c lists. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/problem.h"
#include "grader/cli/commands.h"
#include "grader/cli/ladder_check.h"
#include "grader/cli/ladder_points.h"
#include "grader/cli/verify.h"
#include "grader/cli/verify_result.h"
#include "grader/grade/score.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BASELINE_POINTS = 10,
    MAX_MUTANT_POINTS = 95 /* of a correct mutant, which lacks the technique */
};

/* Returns true if all limits of the test at `first` passed. The limits of one test are adjacent;
 * `*next` becomes the index of the next test. */
static bool is_test_passed(const struct result *r, unsigned first, unsigned *next) {
    bool passed = true;
    for (*next = first;
         *next < r->ntechnique && !strcmp(r->technique[*next].name, r->technique[first].name);
         ++*next)
        passed &= r->technique[*next].passed;
    return passed;
}

/* Returns true if the version got more technique points than a baseline may have. */
static bool exceeds_baseline_technique(const struct result *r) {
    return 100 * r->earned.technique > MAX_BASELINE_POINTS * r->available.technique + 1e-6;
}

/* Returns the first goal that was reached; "" = none. */
static const char *first_reached_goal(const struct result *r) {
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (is_test_passed(r, i, &next) && !r->technique[i].is_guard) return r->technique[i].name;
    return "";
}

static bool judge_mutant(struct verification *c, const struct exercise *ex,
                         const struct subject *s) {
    static const char prefix[] = "// expect: ";
    const char *text = buf_str(&s->source);
    if (s->result.verdict == V_AC)
        return verify_report_problem(c, ex, "mutant %s is accepted", s->label), false;
    if (!text_starts_with(text, prefix))
        return verify_report_problem(c, ex, "mutant %s: its first line is not `// expect: VERDICT`",
                                     s->label),
               false;
    const char *expectation = text + sizeof prefix - 1;
    if (text_starts_with(s->label, "exploit-") &&
        exceeds_baseline_technique(&s->result)) /* evasions written by hand: path_evasions.def */
        return verify_report_problem(c, ex, "mutant %s: gets %.1f of %.0f technique points",
                                     s->label, s->result.earned.technique,
                                     s->result.available.technique),
               false;
    if (s->result.verdict == V_PART && s->result.score > MAX_MUTANT_POINTS)
        return verify_report_problem(c, ex, "mutant %s: gets %.1f points", s->label,
                                     s->result.score),
               false;
    if (cli_matches_expectation(&s->result, expectation)) return true;
    verify_report_problem(c, ex, "mutant %s: expected %.*s, got %s: %s", s->label,
                          (int)strcspn(expectation, "\r\n"), expectation,
                          verdict_code(s->result.verdict), cli_failure_reason(&s->result));
    return false;
}

static bool judge_padded(struct verification *c, const struct exercise *ex,
                         const struct subject *s) {
    const struct result *r = &s->result;
    if (r->verdict != V_AC && r->verdict != V_PART)
        return verify_report_problem(c, ex, "the baseline with idle work added is %s: %s",
                                     verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (is_test_passed(r, i, &next) && !r->technique[i].is_guard)
            verify_report_problem(
                c, ex,
                "the baseline with idle work added reaches the goal `%s`: limit a total, not an "
                "average (%s)",
                r->technique[i].name, r->technique[i].metric);
    if (exceeds_baseline_technique(r) && !r->checks.goals_reached)
        verify_report_problem(
            c, ex, "the baseline with idle work added gets %.1f of %.0f technique points",
            r->earned.technique, r->available.technique);
    return !exceeds_baseline_technique(r);
}

/* Checks that idle work adds no technique points. It may cost points, since goals limit totals. */
static bool judge_padded_other(struct verification *c, const struct exercise *ex,
                               const struct subject *s) {
    const struct result *r = &s->result, *unpadded = &c->subjects[s->base_subject].result;
    if (unpadded->verdict != V_AC && unpadded->verdict != V_PART)
        return true; /* reported already */
    if (r->verdict != V_AC && r->verdict != V_PART)
        return verify_report_problem(c, ex, "%s: with idle work added it is %s: %s", s->label,
                                     verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    double max_points = unpadded->earned.technique; /* all of them where goals were waived */
    if (r->earned.technique <= max_points + 1e-6) return true;
    verify_report_problem(
        c, ex,
        "%s: added idle work raises the technique points from %.1f to %.1f: limit a total, "
        "not an average",
        s->label, max_points, r->earned.technique);
    return false;
}

static bool uses_path(const struct result *r, enum path_evasion evasion) {
    for (unsigned i = 0; r->has_counters && i < sim_counter_count(); i++)
        if (!strcmp(sim_counter_name(i), path_evasion_counter(evasion)))
            return sim_counter_get(&r->counters, i) > 0;
    return false;
}

/* Checks that the baseline on another path is correct, uses that path and reaches no goal, unless
 * path_evasions.def exempts the exercise. */
static bool judge_evasion(struct verification *c, const struct exercise *ex,
                          const struct subject *s) {
    const struct result *r = &s->result;
    const char *exemption = path_evasion_exemption(s->evasion, ex->name);
    bool is_correct = r->verdict == V_AC || r->verdict == V_PART,
         is_path_used = is_correct && uses_path(r, s->evasion);
    if (is_path_used && exemption)
        verify_report_problem(c, ex, "%s: exempt (%s), but this path works", s->label, exemption);
    if (!is_path_used && !exemption)
        verify_report_problem(c, ex, "%s: the baseline on this path is %s: %s", s->label,
                              is_correct ? "not on it" : verdict_code(r->verdict),
                              is_correct ? path_evasion_counter(s->evasion)
                                         : cli_failure_reason(r));
    if (is_path_used && first_reached_goal(r)[0])
        verify_report_problem(
            c, ex, "%s: the goal `%s` is reached by the baseline on another path: limit the effect",
            s->label, first_reached_goal(r));
    else if (is_path_used && exceeds_baseline_technique(r))
        verify_report_problem(
            c, ex, "%s: gets %.1f of %.0f technique points on another path: limit the effect",
            s->label, r->earned.technique, r->available.technique);
    return is_path_used && !exceeds_baseline_technique(r);
}

static bool judge_hardcoded_sizes(struct verification *c, const struct exercise *ex,
                                  const struct subject *s) {
    struct buf reason = {0};
    bool is_detected = hardcoded_sizes_are_detected(ex, &s->result, &reason);
    verify_report_problems(c, ex, s->label, &reason);
    return is_detected;
}

/* Reads the ladder's text; false if it is missing, which was reported already. */
static bool read_ladder(const struct exercise *ex, struct buf *out) {
    char path[PATH_MAX + 512];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/solutions/%s/%s-ladder.md", book_root(), ex->chapter, ex->name);
    return file_read(path, SOURCE_LIMIT, out, &e);
}

/* Checks that the ladder's text publishes the counters of a step as they were counted. */
static void check_ladder_counters(struct verification *c, const struct exercise *ex,
                                  const struct subject *s) {
    struct buf ladder = {0}, reason = {0};
    if (read_ladder(ex, &ladder) &&
        !ladder_counters_agree(buf_str(&ladder), s->label, &s->result.counters, &reason))
        verify_report_problem(c, ex, "%s: %.*s", s->label, (int)strcspn(buf_str(&reason), "\n"),
                              buf_str(&reason));
    buf_free(&ladder), buf_free(&reason);
}

/* Checks the points of the baseline, and of the starter file where it is correct. */
static void check_baseline(struct verification *c, const struct exercise *ex,
                           const struct subject *s) {
    bool is_baseline = s->role == STEP && ex->baseline && !strcmp(s->label, ex->baseline);
    struct buf reason = {0};
    if (s->role != STARTER && !is_baseline) return;
    const struct points *points = &s->result.earned;
    /* The sum, because an unchanged starter file has a score of 0. */
    double earned = points->correctness + points->technique + points->speed;
    if (earned > MAX_BASELINE_POINTS)
        verify_report_problem(c, ex, "%s gets %.1f points; at most %d are allowed", s->label,
                              earned, MAX_BASELINE_POINTS);
    if (!score_check_rule(&s->result, &reason)) verify_report_problems(c, ex, s->label, &reason);
    buf_free(&reason);
}

/* Returns true if the report names a line of the file: the starter file's must, for the student. */
static bool has_source_line(const struct result *r) {
    char location[160];
    snprintf(location, sizeof location, "%s:", r->file);
    for (unsigned i = 0; i < r->ncases; i++) {
        const char *at = strstr(r->cases[i].message, location);
        if (at && strspn(at + strlen(location), "123456789") > 0) return true;
    }
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].passed && r->technique[i].line) return true;
    return false;
}

/* Returns true if the ladder's text says this of the step. */
static bool ladder_says(const struct exercise *ex, const char *step, const char *statement) {
    char phrase[160];
    struct buf ladder = {0};
    snprintf(phrase, sizeof phrase, "`%.100s` %.50s", step, statement);
    bool found = read_ladder(ex, &ladder) && strstr(buf_str(&ladder), phrase);
    buf_free(&ladder);
    return found;
}

static bool is_graded(const struct result *r) { return r->verdict == V_AC || r->verdict == V_PART; }

/* Checks that no step costs points, unless the ladder says that it does, and that its report says
 * how to go on. */
static void check_step_points(struct verification *c, const struct exercise *ex,
                              const struct subject *s, const struct subject *previous) {
    struct buf problems = {0};
    if (!is_graded(&s->result)) return; /* reported already */
    bool is_detour = ladder_says(ex, s->label, "costs points");
    if (previous && is_graded(&previous->result) && !is_detour)
        ladder_keeps_points(&s->result, &previous->result, &problems);
    ladder_names_idea(&s->result, &problems);
    verify_report_problems(c, ex, s->label, &problems);
}

/* Returns true if both steps have equal points and the later one is faster: the error of modelled
 * ratios (score_counted_speed) then hides a gain that the model shows. */
static bool is_faster_tie(const struct result *step, const struct result *previous) {
    return step->score > previous->score - 0.05 && step->speed.valid && previous->speed.valid &&
           step->speed.student_us < previous->speed.student_us;
}

/* Checks that the score rises from step to step. */
void verify_step_order(struct verification *c, unsigned exercise_index) {
    const struct subject *previous = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->exercise_of[i] != exercise_index || s->role != STEP) continue;
        bool is_better = !previous || s->result.score > previous->result.score + 0.05;
        bool is_explained = ladder_says(c->list[exercise_index], s->label, "scores no more than") ||
                            ladder_says(c->list[exercise_index], s->label, "costs points");
        if (!is_better && !is_explained && !is_faster_tie(&s->result, &previous->result))
            verify_report_problem(c, c->list[exercise_index],
                                  "step %s gets %.1f points, %s %.1f; the ladder must explain it",
                                  s->label, s->result.score, previous->label,
                                  previous->result.score);
        if (is_better && is_explained)
            verify_report_problem(c, c->list[exercise_index],
                                  "the ladder says that step %s scores no more, but it does",
                                  s->label);
        check_step_points(c, c->list[exercise_index], s, previous);
        previous = s;
    }
}

/* Checks that speed has points if and only if the technique makes the exercise faster. */
void verify_speed_points(struct verification *c, const struct exercise *ex,
                         const struct result *solution) {
    /* The gain of an exercise near the bound may change a little with the model. */
    enum { GAIN_MARGIN_PERCENT = 110 };
    /* Grading times the model solution on other inputs than those that gave its recorded time. It
     * must not lose points by that: full points start at 0.90. */
    static const double MAX_SELF_DEVIATION = 0.08;
    double gain = solution->speed.solution_speedup, self_ratio = solution->speed.vs_solution;
    if (!solution->speed.valid)
        verify_report_problem(c, ex, "the model solution has no time: %s", solution->speed.note);
    else if (self_ratio < 1 - MAX_SELF_DEVIATION || self_ratio > 1 + MAX_SELF_DEVIATION)
        verify_report_problem(
            c, ex, "the model solution, simulated in full, has %.2f of its speed from a sample",
            self_ratio);
    else if (ex->points.speed > 0 && ex->unscored_gain)
        verify_report_problem(c, ex, "speed has points, but .unscored_gain says why not");
    else if (ex->points.speed > 0 && gain < SCORE_MIN_SPEEDUP)
        verify_report_problem(
            c, ex, "speed has points, but the model solution's speedup is only %.2f", gain);
    else if (ex->points.speed == 0 && !ex->unscored_gain &&
             gain * 100 > SCORE_MIN_SPEEDUP * GAIN_MARGIN_PERCENT)
        verify_report_problem(
            c, ex, "speed has no points, but the model solution's speedup is %.2f", gain);
}

bool verify_judge(struct verification *c, const struct exercise *ex, const struct subject *s) {
    enum verdict v = s->result.verdict;
    const char *code = verdict_code(v);
    bool is_correct = v == V_AC || v == V_PART;
    if (is_correct && (s->role == STEP || s->role == SOLUTION)) check_ladder_counters(c, ex, s);
    if (is_correct) check_baseline(c, ex, s);
    if (s->role == STARTER && v != V_CE && v != V_IE && !has_source_line(&s->result))
        verify_report_problem(c, ex, "the starter file's report names no line of the source");
    if (s->role == EVASION) return judge_evasion(c, ex, s);
    if (s->role == HARDCODED_SIZES && v != V_IE) return judge_hardcoded_sizes(c, ex, s);
    if (v == V_IE)
        verify_report_problem(c, ex, "%s: could not be graded: %s", s->label,
                              cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_CE)
        verify_report_problem(c, ex, "the starter file does not compile: %s",
                              cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_AC)
        verify_report_problem(c, ex, "the starter file is accepted");
    else if (s->role == STEP && !is_correct)
        verify_report_problem(c, ex, "step %s is %s: %s", s->label, code,
                              cli_failure_reason(&s->result));
    else if (s->role == PRACTICE && !is_correct)
        verify_report_problem(c, ex, "practice/%s is %s: %s", s->name, code,
                              cli_failure_reason(&s->result));
    else if (s->role == ALTERNATIVE && v != V_AC)
        verify_report_problem(c, ex, "others/%s is correct but gets %s, %.1f points: %s", s->label,
                              code, s->result.score, cli_failure_reason(&s->result));
    else if (s->role == SOLUTION && v != V_AC)
        verify_report_problem(c, ex, "the model solution is %s with %.1f points: %s", code,
                              s->result.score, cli_failure_reason(&s->result));
    else if (s->role == PADDED) return judge_padded(c, ex, s);
    else if (s->role == PADDED_OTHER) return judge_padded_other(c, ex, s);
    else return s->role != MUTANT || judge_mutant(c, ex, s);
    return false;
}
