/* cmd_verify.c — grader verify: holds the book against its own rules.
 *
 * Skeleton: compiles, carries a TODO, and gets nothing. It passes no goal of the technique tests
 * and fails no guard, and the same holds for the ladder's naive version, which gets 10 points at
 * most; with idle work beside it (metric_padding.h) and with its traffic on other paths (path_evasion.h), too. A
 * version that is the answer at the sizes of the test file and does nothing at others is wrong at
 * each drawn case; the test file says how these are drawn. Idle work gains no step and no mutant
 * technique points. Ladder: each step compiles, is correct, and gets more points than the one
 * before, or the ladder's text says why not ("`2-pairs` scores no more than `1-single`: …").
 * Answer: AC, 100 points. Mutants: each rejected, with the verdict that its first line promises
 * ("// expect: WA", or "// expect: RTE race", where the message must hold the word), and below what
 * it deserves. Two to five steps, four mutants or more; lesson, task, ladder text and three hints
 * exist. Where the chapter has questions (quiz.h), what they say is counted is what the simulated
 * GPU counts; code, counts and pictures of its lesson are those of the programs in lesson/
 * (lesson.h). What a lesson shows as a library's way (practice/NAME.cu) is correct. Right solutions
 * in other styles than the book's (grader/tests/others) get AC.
 * --quick grades skeletons and answers alone. */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/problem.h"
#include "grader/cli/path_evasion.h"
#include "grader/cli/commands.h"
#include "grader/cli/metric_padding.h"
#include "grader/class/grade_many.h"
#include "grader/cli/lesson.h"
#include "grader/cli/ladder_check.h"
#include "grader/cli/quiz.h"
#include "grader/cli/vendor.h"
#include "grader/cli/verify_result.h"
#include "grader/grade/score.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum version_role {
    STARTER,
    STEP,
    SOLUTION,
    PRACTICE,
    ALTERNATIVE,
    MUTANT,
    PADDED,
    PADDED_OTHER,
    EVASION,
    HARDCODED_SIZES
};
/* Points of the naive version at most, and what a mutant that is correct stays below; steps of a
 * ladder before the answer; mutants. */
enum {
    MAX_BASELINE_POINTS = 10,
    MAX_MUTANT_POINTS = 95,
    MIN_STEPS = 2,
    MAX_STEPS = 9,
    MIN_MUTANTS = 4
};

struct subject {
    enum version_role role;
    char *label; /* "1-unqualified", "empty-grid.cu" */
    char *name;  /* of the file, as messages show it */
    struct buf source;
    enum path_evasion evasion; /* EVASION */
    unsigned base_subject;     /* PADDED_OTHER: the step or mutant that it is made of */
    struct result result;
};

struct verification {
    const struct options *o;
    const struct exercise **list;
    struct subject *subjects;
    struct grade_item *items;
    unsigned *exercise_of; /* of subject i: index into `list` */
    unsigned n, capacity, exercise_of_capacity;
    struct buf problems;
    unsigned nproblems;
};

static void report_problem(struct verification *c, const struct exercise *ex, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));
static void report_problem(struct verification *c, const struct exercise *ex, const char *format,
                           ...) {
    va_list ap;
    buf_printf(&c->problems, "%s: ", book_id(ex));
    va_start(ap, format);
    buf_vprintf(&c->problems, format, ap);
    va_end(ap);
    buf_puts(&c->problems, "\n");
    c->nproblems++;
}

/* Each line is a broken rule. */
static void report_problems(struct verification *c, const struct exercise *ex, const char *context,
                            struct buf *lines) {
    char *rest = NULL;
    for (char *l = lines->size ? strtok_r(lines->data, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        report_problem(c, ex, "%s: %s", context, l);
    buf_free(lines);
}

/* ---- collecting ---- */

static struct buf *add_subject(struct verification *c, unsigned exercise_index,
                               enum version_role role, const char *label, const char *name) {
    GROW(c->subjects, c->n + 1, c->capacity, 64);
    GROW(c->exercise_of, c->n + 1, c->exercise_of_capacity, 64);
    c->subjects[c->n] =
        (struct subject){.role = role, .label = xstrdup(label), .name = xstrdup(name)};
    c->exercise_of[c->n] = exercise_index;
    return &c->subjects[c->n++].source;
}

static void add_file(struct verification *c, unsigned exercise_index, enum version_role role,
                     const char *label, const char *path) {
    struct buf text = {0};
    struct err e = {0};
    if (file_read(path, SOURCE_LIMIT, &text, &e))
        *add_subject(c, exercise_index, role, label, path_basename(path)) = text;
    else report_problem(c, c->list[exercise_index], "%s", e.text);
}

static void add_starter(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    struct buf text = {0};
    struct err e = {0};
    char name[128];
    snprintf(name, sizeof name, "%s.cu", ex->name);
    bool ok = c->o->working_tree ? file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, &text, &e)
                                 : book_original_starter(ex, &text, &e);
    if (!ok) report_problem(c, ex, "skeleton: %s", e.text);
    else if (!strstr(buf_str(&text), "// TODO"))
        report_problem(c, ex, "the skeleton carries no `// TODO`");
    if (ok) *add_subject(c, exercise_index, STARTER, "skeleton", name) = text;
}

/* The baseline, or the skeleton where there is none, was added before. */
static const struct subject *find_baseline(const struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    const struct subject *baseline = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        bool is_baseline =
            ex->baseline ? s->role == STEP && !strcmp(s->label, ex->baseline) : s->role == STARTER;
        if (c->exercise_of[i] == exercise_index && is_baseline) baseline = s;
    }
    return baseline;
}

static void add_practice(struct verification *c, unsigned exercise_index) {
    char path[VENDOR_MAX_PATH];
    if (vendor_practice_path(c->list[exercise_index], path))
        add_file(c, exercise_index, PRACTICE, "practice", path);
}

static void add_padded_baseline(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    const struct subject *baseline = find_baseline(c, exercise_index);
    struct buf text = {0};
    struct err e = {0};
    if (!baseline) return; /* reported already */
    if (metric_padding_source(ex, &baseline->source, false, &text, &e))
        *add_subject(c, exercise_index, PADDED, "diluted", baseline->name) = text;
    else report_problem(c, ex, "%s", e.text);
}

/* A step before the answer, or a mutant that is right and lacks the technique. */
static bool lacks_technique(const struct subject *s) {
    return s->role == STEP ||
           (s->role == MUTANT && text_starts_with(buf_str(&s->source), "// expect: PART"));
}

/* All of these with packed idle work beside them: what a guard's average alone refuses is let
 * through. */
static void add_padded_others(struct verification *c, unsigned exercise_index) {
    for (unsigned i = 0, n = c->n; i < n; i++) {
        struct buf text = {0};
        struct err e = {0};
        char label[256];
        if (c->exercise_of[i] != exercise_index || !lacks_technique(&c->subjects[i])) continue;
        snprintf(label, sizeof label, "%.200s diluted", c->subjects[i].label);
        if (!metric_padding_source(c->list[exercise_index], &c->subjects[i].source, true, &text,
                                   &e)) {
            report_problem(c, c->list[exercise_index], "%s", e.text);
            continue;
        }
        char *name = xstrdup(c->subjects[i].name); /* the list may move */
        *add_subject(c, exercise_index, PADDED_OTHER, label, name) = text;
        c->subjects[c->n - 1].base_subject = i;
        free(name);
    }
}

static void add_evasions(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    for (unsigned evasion = 0; evasion < PATH_EVASION_COUNT; evasion++) {
        const struct subject *baseline =
            find_baseline(c, exercise_index); /* the list may have moved */
        struct buf text = {0};
        struct err e = {0};
        if (!baseline) return;
        bool applies = false,
             ok = path_evasion_source(ex, evasion, &baseline->source, &text, &applies, &e);
        if (!ok) report_problem(c, ex, "%s", e.text);
        if (!ok || !applies) {
            buf_free(&text);
            continue;
        }
        *add_subject(c, exercise_index, EVASION, path_evasion_name(evasion), baseline->name) = text;
        c->subjects[c->n - 1].evasion = evasion;
    }
}

static void add_hardcoded_sizes(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    struct buf text = {0};
    for (unsigned i = 0; i < c->n && !text.size; i++)
        if (c->exercise_of[i] == exercise_index && c->subjects[i].role == SOLUTION)
            hardcoded_sizes_source(ex, &c->subjects[i].source, &text);
    if (text.size && problem_drawn_case_count(ex))
        *add_subject(c, exercise_index, HARDCODED_SIZES, "cheat-sizes", "solution.cu") = text;
    else buf_free(&text);
}

/* All programs of a folder; how many there are. */
static unsigned add_folder(struct verification *c, unsigned exercise_index, enum version_role role,
                           const char *folder) {
    char path[PATH_MAX];
    unsigned n = 0;
    char **templates = book_list_files(folder, "", ".cu");
    for (; templates[n]; n++)
        if (!c->o->quick && path_join(path, sizeof path, folder, templates[n]))
            add_file(c, exercise_index, role, templates[n], path);
    book_free_list(templates);
    return n;
}

static void add_mutants_and_alternatives(struct verification *c, unsigned exercise_index) {
    char folder[PATH_MAX];
    const struct exercise *ex = c->list[exercise_index];
    snprintf(folder, sizeof folder, "%.4000s", book_mutants_folder(ex));
    unsigned mutant_count = add_folder(c, exercise_index, MUTANT, folder);
    if (mutant_count < MIN_MUTANTS)
        report_problem(c, ex, "%u mutants in %s instead of %d or more", mutant_count,
                       folder + strlen(book_root()) + 1, MIN_MUTANTS);
    snprintf(folder, sizeof folder, "%.3800s/grader/tests/others/%.100s/%.100s", book_root(),
             ex->chapter, ex->name);
    add_folder(c, exercise_index, ALTERNATIVE, folder);
}

static void require_file(struct verification *c, const struct exercise *ex, const char *path) {
    struct buf text = {0};
    struct err e = {0};
    if (!file_read(path, SOURCE_LIMIT, &text, &e)) report_problem(c, ex, "%s", e.text);
    else if (text.size < 80)
        report_problem(c, ex, "%s says next to nothing", path + strlen(book_root()) + 1);
    buf_free(&text);
}

static void check_texts(struct verification *c, const struct exercise *ex, bool first_of_chapter) {
    char path[PATH_MAX + 512];
    struct buf task = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/chapters/%s/README.md", book_root(), ex->chapter);
    if (first_of_chapter) require_file(c, ex, path);
    snprintf(path, sizeof path, "%s/solutions/%s/%s-ladder.md", book_root(), ex->chapter, ex->name);
    require_file(c, ex, path);
    require_file(c, ex, book_chapter_file(ex, ".md"));
    unsigned hint_count = file_read(book_chapter_file(ex, ".md"), SOURCE_LIMIT, &task, &e)
                              ? cli_hint_count(buf_str(&task))
                              : 0;
    if (hint_count != 3) report_problem(c, ex, "%u hints instead of 3", hint_count);
    buf_free(&task);
}

static void collect_subjects(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    struct buf reason = {0};
    if (!problem_is_valid_draw(ex, &reason)) report_problems(c, ex, "drawn cases", &reason);
    check_texts(c, ex,
                exercise_index == 0 ||
                    strcmp(ex->chapter, c->list[exercise_index - 1]->chapter) != 0);
    add_starter(c, exercise_index);
    char **steps = book_ladder_steps(ex);
    bool has_baseline = !ex->baseline;
    for (char **s = steps; *s; s++) {
        if (!c->o->quick) add_file(c, exercise_index, STEP, *s, book_solution_file(ex, *s));
        has_baseline |= ex->baseline && !strcmp(*s, ex->baseline);
    }
    unsigned nsteps = 0;
    while (steps[nsteps]) nsteps++;
    if (nsteps < MIN_STEPS || nsteps > MAX_STEPS)
        report_problem(c, ex, "%u steps %s-N-….cu in solutions/%s instead of %d to %d", nsteps,
                       ex->name, ex->chapter, MIN_STEPS, MAX_STEPS);
    if (!has_baseline)
        report_problem(c, ex, "its baseline '%s' is no step of the ladder", ex->baseline);
    book_free_list(steps);
    add_file(c, exercise_index, SOLUTION, "answer", book_solution_file(ex, NULL));
    add_mutants_and_alternatives(c, exercise_index);
    if (c->o->quick) return;
    add_practice(c, exercise_index);
    add_padded_baseline(c, exercise_index);
    add_padded_others(c, exercise_index);
    add_evasions(c, exercise_index);
    add_hardcoded_sizes(c, exercise_index);
}

/* ---- judging ---- */

/* Limits of one test stand next to each other. */
static bool is_test_passed(const struct result *r, unsigned first, unsigned *next) {
    bool passed = true;
    for (*next = first;
         *next < r->ntechnique && !strcmp(r->technique[*next].name, r->technique[first].name);
         ++*next)
        passed &= r->technique[*next].passed;
    return passed;
}

/* More of the technique points than the naive version deserves. */
static bool exceeds_baseline_technique(const struct result *r) {
    return 100 * r->earned.technique > MAX_BASELINE_POINTS * r->available.technique + 1e-6;
}

/* The first goal that was reached; "" = none. */
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
        return report_problem(c, ex, "mutant %s passes", s->label), false;
    if (!text_starts_with(text, prefix))
        return report_problem(c, ex, "mutant %s: its first line is not `// expect: VERDICT`",
                              s->label),
               false;
    const char *expectation = text + sizeof prefix - 1;
    if (text_starts_with(s->label, "cheat-") &&
        exceeds_baseline_technique(&s->result)) /* what no machine writes: see path_evasion.h */
        return report_problem(c, ex, "mutant %s: gets %.1f of %.0f technique points", s->label,
                              s->result.earned.technique, s->result.available.technique),
               false;
    if (s->result.verdict == V_PART && s->result.score > MAX_MUTANT_POINTS)
        return report_problem(c, ex, "mutant %s: gets %.1f points", s->label, s->result.score),
               false;
    if (cli_matches_expectation(&s->result, expectation)) return true;
    report_problem(c, ex, "mutant %s: expected %.*s, got %s: %s", s->label,
                   (int)strcspn(expectation, "\r\n"), expectation, verdict_code(s->result.verdict),
                   cli_failure_reason(&s->result));
    return false;
}

static bool judge_padded(struct verification *c, const struct exercise *ex,
                         const struct subject *s) {
    const struct result *r = &s->result;
    if (r->verdict != V_AC && r->verdict != V_PART)
        return report_problem(c, ex, "the naive version with idle work beside it is %s: %s",
                              verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (is_test_passed(r, i, &next) && !r->technique[i].is_guard)
            report_problem(
                c, ex,
                "the goal `%s` is reached by the naive version with idle work beside it: limit "
                "a total, not an "
                "average (%s)",
                r->technique[i].name, r->technique[i].metric);
    if (exceeds_baseline_technique(r) && !r->checks.goals_reached)
        report_problem(
            c, ex, "the naive version with idle work beside it gets %.1f of %.0f technique points",
            r->earned.technique, r->available.technique);
    return !exceeds_baseline_technique(r);
}

/* Idle work may cost points: limits on totals are there for that. It must gain none. */
static bool judge_padded_other(struct verification *c, const struct exercise *ex,
                               const struct subject *s) {
    const struct result *r = &s->result, *unpadded = &c->subjects[s->base_subject].result;
    if (unpadded->verdict != V_AC && unpadded->verdict != V_PART) return true; /* said already */
    if (r->verdict != V_AC && r->verdict != V_PART)
        return report_problem(c, ex, "%s: with idle work beside it it is %s: %s", s->label,
                              verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    double max_points = unpadded->earned.technique; /* all of them where goals were waived */
    if (r->earned.technique <= max_points + 1e-6) return true;
    report_problem(
        c, ex,
        "%s: idle work beside it raises the technique points from %.1f to %.1f: limit a total, "
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

/* The naive version by another path: correct, on that path, and without a goal; or excused. */
static bool judge_evasion(struct verification *c, const struct exercise *ex,
                          const struct subject *s) {
    const struct result *r = &s->result;
    const char *exemption = path_evasion_exemption(s->evasion, ex->name);
    bool is_correct = r->verdict == V_AC || r->verdict == V_PART,
         is_path_used = is_correct && uses_path(r, s->evasion);
    if (is_path_used && exemption)
        report_problem(c, ex, "%s: it is excused (%s), and can be taken", s->label, exemption);
    if (!is_path_used && !exemption)
        report_problem(c, ex, "%s: the naive version by this path is %s: %s", s->label,
                       is_correct ? "not on it" : verdict_code(r->verdict),
                       is_correct ? path_evasion_counter(s->evasion) : cli_failure_reason(r));
    if (is_path_used && first_reached_goal(r)[0])
        report_problem(
            c, ex,
            "%s: the goal `%s` is reached by the naive version on another path: limit the effect",
            s->label, first_reached_goal(r));
    else if (is_path_used && exceeds_baseline_technique(r))
        report_problem(c, ex,
                       "%s: gets %.1f of %.0f technique points by another path: limit the effect",
                       s->label, r->earned.technique, r->available.technique);
    return is_path_used && !exceeds_baseline_technique(r);
}

static bool judge_hardcoded_sizes(struct verification *c, const struct exercise *ex,
                                  const struct subject *s) {
    struct buf reason = {0};
    bool is_detected = hardcoded_sizes_are_detected(ex, &s->result, &reason);
    report_problems(c, ex, s->label, &reason);
    return is_detected;
}

/* A missing text was reported already. */
static bool read_ladder(const struct exercise *ex, struct buf *out) {
    char path[PATH_MAX + 512];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/solutions/%s/%s-ladder.md", book_root(), ex->chapter, ex->name);
    return file_read(path, SOURCE_LIMIT, out, &e);
}

/* The counters of a step that the ladder's text publishes are those that were counted. */
static void check_ladder_counters(struct verification *c, const struct exercise *ex,
                                  const struct subject *s) {
    struct buf ladder = {0}, reason = {0};
    if (read_ladder(ex, &ladder) &&
        !ladder_counters_agree(buf_str(&ladder), s->label, &s->result.counters, &reason))
        report_problem(c, ex, "%s: %.*s", s->label, (int)strcspn(buf_str(&reason), "\n"),
                       buf_str(&reason));
    buf_free(&ladder), buf_free(&reason);
}

/* The naive versions: the baseline, and the skeleton where it is correct. */
static void check_baseline(struct verification *c, const struct exercise *ex,
                           const struct subject *s) {
    bool is_baseline = s->role == STEP && ex->baseline && !strcmp(s->label, ex->baseline);
    struct buf reason = {0};
    if (s->role != STARTER && !is_baseline) return;
    const struct points *points = &s->result.earned;
    double earned = points->correctness + points->technique +
                    points->speed; /* of the file as it came, too, which scores 0 */
    if (earned > MAX_BASELINE_POINTS)
        report_problem(c, ex, "%s gets %.1f points, and must get %d at most", s->label, earned,
                       MAX_BASELINE_POINTS);
    if (!score_check_rule(&s->result, &reason)) report_problems(c, ex, s->label, &reason);
    buf_free(&reason);
}

/* Does a student who runs the unedited skeleton read which line to look at? */
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

/* Does the ladder's text say why this step is not above the one before? */
static bool ladder_explains(const struct exercise *ex, const char *step) {
    char phrase[160];
    struct buf ladder = {0};
    snprintf(phrase, sizeof phrase, "`%.100s` scores no more than", step);
    bool found = read_ladder(ex, &ladder) && strstr(buf_str(&ladder), phrase);
    buf_free(&ladder);
    return found;
}

/* Points rise from step to step. */
static void check_step_order(struct verification *c, unsigned exercise_index) {
    const struct subject *previous = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->exercise_of[i] != exercise_index || s->role != STEP) continue;
        bool is_better = !previous || s->result.score > previous->result.score + 0.05;
        bool is_explained = ladder_explains(c->list[exercise_index], s->label);
        if (!is_better && !is_explained)
            report_problem(c, c->list[exercise_index],
                           "step %s gets %.1f points, %s %.1f, and the ladder does not say why",
                           s->label, s->result.score, previous->label, previous->result.score);
        if (is_better && is_explained)
            report_problem(c, c->list[exercise_index],
                           "the ladder excuses step %s, which needs no excuse", s->label);
        previous = s;
    }
}

/* Speed has points where the technique gains something, and only there. */
static void check_speed_points(struct verification *c, const struct exercise *ex,
                               const struct result *solution) {
    enum {
        GAIN_MARGIN_PERCENT = 110
    }; /* %: the gain of an exercise near the bound may move a little with the model */
    /* Graded as a submission is, it runs whole, and other blocks of it are traced: the answer
     * itself must not lose points (full ones are from 0.90 on). Nor is more to be had:
     * segmented_sum's longest segment is seen in a whole run only, 0.94. */
    static const double MAX_SELF_DEVIATION = 0.08;
    double gain = solution->speed.solution_speedup, self_ratio = solution->speed.vs_solution;
    if (!solution->speed.valid)
        report_problem(c, ex, "the answer has no time: %s", solution->speed.note);
    else if (self_ratio < 1 - MAX_SELF_DEVIATION || self_ratio > 1 + MAX_SELF_DEVIATION)
        report_problem(c, ex,
                       "the answer, run whole, is modelled at %.2f of its own speed by a sample",
                       self_ratio);
    else if (ex->points.speed > 0 && gain < SCORE_MIN_SPEEDUP)
        report_problem(c, ex, "speed has points, and the answer gains a factor of %.2f only", gain);
    else if (ex->points.speed == 0 && gain * 100 > SCORE_MIN_SPEEDUP * GAIN_MARGIN_PERCENT)
        report_problem(c, ex, "speed has no points, and the answer gains a factor of %.2f", gain);
}

static bool judge(struct verification *c, const struct exercise *ex, const struct subject *s) {
    enum verdict v = s->result.verdict;
    const char *code = verdict_code(v);
    bool is_correct = v == V_AC || v == V_PART;
    if (is_correct && (s->role == STEP || s->role == SOLUTION)) check_ladder_counters(c, ex, s);
    if (is_correct) check_baseline(c, ex, s);
    if (s->role == STARTER && v != V_CE && v != V_IE && !has_source_line(&s->result))
        report_problem(c, ex, "what the skeleton's report finds wrong has no line");
    if (s->role == EVASION) return judge_evasion(c, ex, s);
    if (s->role == HARDCODED_SIZES && v != V_IE) return judge_hardcoded_sizes(c, ex, s);
    if (v == V_IE)
        report_problem(c, ex, "%s: could not be graded: %s", s->label,
                       cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_CE)
        report_problem(c, ex, "the skeleton does not compile: %s", cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_AC) report_problem(c, ex, "the skeleton gets full marks");
    else if (s->role == STEP && !is_correct)
        report_problem(c, ex, "step %s is %s: %s", s->label, code, cli_failure_reason(&s->result));
    else if (s->role == PRACTICE && !is_correct)
        report_problem(c, ex, "practice/%s is %s: %s", s->name, code,
                       cli_failure_reason(&s->result));
    else if (s->role == ALTERNATIVE && v != V_AC)
        report_problem(c, ex, "others/%s is right and gets %s, %.1f points: %s", s->label, code,
                       s->result.score, cli_failure_reason(&s->result));
    else if (s->role == SOLUTION && v != V_AC)
        report_problem(c, ex, "the answer is %s with %.1f points: %s", code, s->result.score,
                       cli_failure_reason(&s->result));
    else if (s->role == PADDED) return judge_padded(c, ex, s);
    else if (s->role == PADDED_OTHER) return judge_padded_other(c, ex, s);
    else return s->role != MUTANT || judge_mutant(c, ex, s);
    return false;
}

static void put_summary_row(struct verification *c, unsigned exercise_index, unsigned width,
                            struct buf *out) {
    const struct exercise *ex = c->list[exercise_index];
    const struct result *starter = NULL, *solution = NULL;
    unsigned mutant_count = 0, killed_count = 0, step_count = 0, evasion_count = 0,
             detected_count = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->exercise_of[i] != exercise_index) continue;
        bool ok = judge(c, ex, s);
        if (s->role == STARTER) starter = &s->result;
        if (s->role == SOLUTION) solution = &s->result, check_speed_points(c, ex, solution);
        mutant_count += s->role == MUTANT, killed_count += s->role == MUTANT && ok,
            step_count += s->role == STEP;
        evasion_count += s->role >= EVASION, detected_count += s->role >= EVASION && ok;
    }
    check_step_order(c, exercise_index);
    buf_printf(out, "%-*s  ", (int)width, book_id(ex));
    if (starter) buf_printf(out, "%-4s %5.1f  ", verdict_code(starter->verdict), starter->score);
    else buf_printf(out, "%-12s", "missing");
    if (solution) buf_printf(out, "%-4s %5.1f  ", verdict_code(solution->verdict), solution->score);
    else buf_printf(out, "%-12s", "missing");
    if (solution && solution->speed.valid && solution->speed.vs_baseline > 0)
        buf_printf(out, "%7.2f x", solution->speed.vs_baseline);
    else buf_printf(out, "%9s", "-");
    buf_printf(out, "  %5u  %4u of %-4u    %u of %u\n", step_count, killed_count, mutant_count,
               detected_count, evasion_count);
}

static void report_problem_lines(struct verification *c, const struct exercise *ex,
                                 const char *context, struct buf *lines) {
    for (const char *line = buf_str(lines); *line; line += strcspn(line, "\n") + 1)
        report_problem(c, ex, "%s: %.*s", context, (int)strcspn(line, "\n"), line);
    buf_free(lines);
}

/* Questions and lesson: once for each chapter, named after its first exercise here. */
static void check_chapters(struct verification *c) {
    for (unsigned i = 0; c->list[i]; i++) {
        struct buf quiz = {0}, lesson = {0};
        if (i && !strcmp(c->list[i]->chapter, c->list[i - 1]->chapter)) continue;
        if (quiz_exists(c->list[i]->chapter)) quiz_check(c->list[i]->chapter, &quiz);
        lesson_check(c->list[i]->chapter, &lesson);
        report_problem_lines(c, c->list[i], "quiz", &quiz),
            report_problem_lines(c, c->list[i], "lesson", &lesson);
    }
}

static bool grade_subjects(struct verification *c, struct err *e) {
    struct grade_options go = options_to_grade_options(c->o, c->o->devices[0]);
    struct result *results = xcalloc(c->n, sizeof *results);
    c->items = xcalloc(c->n, sizeof *c->items);
    for (unsigned i = 0; i < c->n; i++)
        c->items[i] = (struct grade_item){
            .ex = c->list[c->exercise_of[i]],
            .name = c->subjects[i].name,
            .source = &c->subjects[i].source,
            .trusted = c->subjects[i].role<SOLUTION, .skip_timing = c->subjects[i].role> MUTANT};
    char label[32];
    snprintf(label, sizeof label, "%u files", c->n);
    go.progress = status_show, go.user = label;
    bool ok = class_grade_many(c->items, c->n, c->o->jobs, &go, results, e);
    for (unsigned i = 0; ok && i < c->n; i++) c->subjects[i].result = results[i];
    free(results);
    return ok;
}

/* Exercise, version, score and modelled time: does the score rise as the time falls? */
static void write_scores(const struct verification *c, unsigned width, struct buf *out) {
    buf_printf(out, "\n%-*s  %-30s  %-7s %6s  %s\n", (int)width, "exercise", "version", "verdict",
               "score", "modelled, us");
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        buf_printf(out, "%-*s  %-30s  %-7s %6.1f", (int)width, book_id(c->list[c->exercise_of[i]]),
                   s->label, verdict_code(s->result.verdict), s->result.score);
        if (s->result.speed.valid) buf_printf(out, "  %.1f", s->result.speed.student_us);
        buf_puts(out, "\n");
    }
}

static void write_summary(struct verification *c, struct buf *out) {
    unsigned width = 8;
    for (unsigned i = 0; c->list[i]; i++)
        if (strlen(book_id(c->list[i])) > width) width = (unsigned)strlen(book_id(c->list[i]));
    buf_printf(out, "%-*s  %-10s  %-10s  %9s  %5s  %s  %s\n", (int)width, "exercise", "skeleton",
               "answer", "speedup", "steps", "mutants killed", "cheats seen");
    for (unsigned i = 0; c->list[i]; i++) put_summary_row(c, i, width, out);
    buf_puts(out, "(speedup: answer against the naive version, modelled)\n");
    if (c->o->verbose) write_scores(c, width, out);
    if (!c->nproblems) return;
    buf_printf(out, "\n%u rule%s broken:\n", c->nproblems, c->nproblems == 1 ? "" : "s");
    buf_add(out, c->problems.data, c->problems.size);
}

static void free_verification(struct verification *c) {
    for (unsigned i = 0; i < c->n; i++) {
        free(c->subjects[i].label), free(c->subjects[i].name);
        buf_free(&c->subjects[i].source);
        result_free(&c->subjects[i].result);
    }
    free(c->subjects), free(c->exercise_of), free(c->items), free(c->list);
    buf_free(&c->problems);
}

int cmd_verify(const struct options *o) {
    struct err e = {0};
    struct options fixed_options = *o; /* the book's verdicts do not hang on chance */
    snprintf(fixed_options.seed, sizeof fixed_options.seed, "verify");
    struct verification c = {.o = &fixed_options, .list = cli_select_exercises(o, &e)};
    if (!c.list) return cli_report_error(&e);
    for (unsigned i = 0; c.list[i]; i++) collect_subjects(&c, i);
    struct buf out = {0};
    bool ok = grade_subjects(&c, &e);
    if (ok) check_chapters(&c);
    status_clear();
    if (ok) write_summary(&c, &out);
    ok = ok && cli_write_output(o, &out, &e);
    int status = c.nproblems ? EXIT_FAILED : EXIT_PASSED;
    buf_free(&out);
    free_verification(&c);
    return ok ? status : cli_report_error(&e);
}
