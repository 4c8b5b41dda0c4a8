/* cmd_verify.c — grader verify: checks the book against its own rules.
 *
 * Starter file: it compiles, has a TODO and scores 0.
 * Baseline: it reaches no goal, fails no guard and gets at most 10 points. The same holds for the
 *   starter file where it is correct, and for the baseline with idle work added (metric_padding.h)
 *   or with its traffic on other paths (path_evasion.h).
 * Hardcoded sizes: a version that is the model solution at the sizes of the test file, and does
 *   nothing at others, fails each drawn case.
 * Ladder: 2 to 9 steps. Each step compiles, is correct and gets more points than the one before, or
 *   the ladder's text explains why not ("`2-pairs` scores no more than `1-single`: …"). Its table
 *   has the counters that the simulated GPU counts.
 * Model solution: AC with 100 points.
 * Mutants: 4 or more. Each gets the verdict that its first line expects ("// expect: WA", or
 *   "// expect: RTE race", where the message must contain the word). Idle work adds no technique
 *   points to a step or a mutant.
 * Alternatives: correct solutions in other styles (grader/tests/others) get AC.
 * Texts: lesson, task, ladder text and three hints exist. Counted answers of the chapter's
 *   questions (quiz.h), and code, counts and pictures of its lesson (lesson.h), match the programs.
 *   A library's version in the lesson (practice/NAME.cu) is correct.
 *
 * --quick checks only starter files and model solutions. */
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
enum {
    MAX_BASELINE_POINTS = 10,
    MAX_MUTANT_POINTS = 95, /* of a correct mutant, which lacks the technique */
    MIN_STEPS = 2,          /* of a ladder, without the model solution */
    MAX_STEPS = 9,
    MIN_MUTANTS = 4
};

struct subject {
    enum version_role role;
    char *label; /* in messages: "1-unqualified", "empty-grid.cu" */
    char *name;  /* of the source file */
    struct buf source;
    enum path_evasion evasion; /* for EVASION */
    unsigned base_subject;     /* for PADDED_OTHER: index of the step or mutant without padding */
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

/* Reports each line as a broken rule and frees the buffer. */
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
    if (!ok) report_problem(c, ex, "starter file: %s", e.text);
    else if (!strstr(buf_str(&text), "// TODO"))
        report_problem(c, ex, "the starter file has no `// TODO`");
    if (ok) *add_subject(c, exercise_index, STARTER, "starter file", name) = text;
}

/* Returns the exercise's baseline, or its starter file if it names none; NULL if it is missing. */
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

/* Returns true for a step, or a mutant that is correct but lacks the technique. */
static bool lacks_technique(const struct subject *s) {
    return s->role == STEP ||
           (s->role == MUTANT && text_starts_with(buf_str(&s->source), "// expect: PART"));
}

/* Adds each of these with idle work of vector accesses: a guard that limits only an average would
 * accept them. */
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
        char *name = xstrdup(c->subjects[i].name); /* add_subject may move the array */
        *add_subject(c, exercise_index, PADDED_OTHER, label, name) = text;
        c->subjects[c->n - 1].base_subject = i;
        free(name);
    }
}

static void add_evasions(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    for (unsigned evasion = 0; evasion < PATH_EVASION_COUNT; evasion++) {
        /* add_subject may have moved the array. */
        const struct subject *baseline = find_baseline(c, exercise_index);
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

/* Adds all programs of a folder; returns their number. */
static unsigned add_folder(struct verification *c, unsigned exercise_index, enum version_role role,
                           const char *folder) {
    char path[PATH_MAX];
    unsigned n = 0;
    char **files = book_list_files(folder, "", ".cu");
    for (; files[n]; n++)
        if (!c->o->quick && path_join(path, sizeof path, folder, files[n]))
            add_file(c, exercise_index, role, files[n], path);
    book_free_list(files);
    return n;
}

static void add_mutants_and_alternatives(struct verification *c, unsigned exercise_index) {
    char folder[PATH_MAX];
    const struct exercise *ex = c->list[exercise_index];
    snprintf(folder, sizeof folder, "%.4000s", book_mutants_folder(ex));
    unsigned mutant_count = add_folder(c, exercise_index, MUTANT, folder);
    if (mutant_count < MIN_MUTANTS)
        report_problem(c, ex, "%u mutants in %s; the book requires %d or more", mutant_count,
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
        report_problem(c, ex, "%s has less than 80 characters", path + strlen(book_root()) + 1);
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
        report_problem(c, ex, "its baseline '%s' is not a step of the ladder", ex->baseline);
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
        return report_problem(c, ex, "mutant %s is accepted", s->label), false;
    if (!text_starts_with(text, prefix))
        return report_problem(c, ex, "mutant %s: its first line is not `// expect: VERDICT`",
                              s->label),
               false;
    const char *expectation = text + sizeof prefix - 1;
    if (text_starts_with(s->label, "cheat-") &&
        exceeds_baseline_technique(&s->result)) /* evasions written by hand: path_evasions.def */
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
        return report_problem(c, ex, "the baseline with idle work added is %s: %s",
                              verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (is_test_passed(r, i, &next) && !r->technique[i].is_guard)
            report_problem(
                c, ex,
                "the baseline with idle work added reaches the goal `%s`: limit a total, not an "
                "average (%s)",
                r->technique[i].name, r->technique[i].metric);
    if (exceeds_baseline_technique(r) && !r->checks.goals_reached)
        report_problem(c, ex,
                       "the baseline with idle work added gets %.1f of %.0f technique points",
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
        return report_problem(c, ex, "%s: with idle work added it is %s: %s", s->label,
                              verdict_code(r->verdict), cli_failure_reason(r)),
               false;
    double max_points = unpadded->earned.technique; /* all of them where goals were waived */
    if (r->earned.technique <= max_points + 1e-6) return true;
    report_problem(
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
        report_problem(c, ex, "%s: exempt (%s), but this path works", s->label, exemption);
    if (!is_path_used && !exemption)
        report_problem(c, ex, "%s: the baseline on this path is %s: %s", s->label,
                       is_correct ? "not on it" : verdict_code(r->verdict),
                       is_correct ? path_evasion_counter(s->evasion) : cli_failure_reason(r));
    if (is_path_used && first_reached_goal(r)[0])
        report_problem(
            c, ex, "%s: the goal `%s` is reached by the baseline on another path: limit the effect",
            s->label, first_reached_goal(r));
    else if (is_path_used && exceeds_baseline_technique(r))
        report_problem(c, ex,
                       "%s: gets %.1f of %.0f technique points on another path: limit the effect",
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
        report_problem(c, ex, "%s: %.*s", s->label, (int)strcspn(buf_str(&reason), "\n"),
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
        report_problem(c, ex, "%s gets %.1f points; at most %d are allowed", s->label, earned,
                       MAX_BASELINE_POINTS);
    if (!score_check_rule(&s->result, &reason)) report_problems(c, ex, s->label, &reason);
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

/* Returns true if the ladder's text explains why this step scores no more than the one before. */
static bool ladder_explains(const struct exercise *ex, const char *step) {
    char phrase[160];
    struct buf ladder = {0};
    snprintf(phrase, sizeof phrase, "`%.100s` scores no more than", step);
    bool found = read_ladder(ex, &ladder) && strstr(buf_str(&ladder), phrase);
    buf_free(&ladder);
    return found;
}

/* Checks that the score rises from step to step. */
static void check_step_order(struct verification *c, unsigned exercise_index) {
    const struct subject *previous = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->exercise_of[i] != exercise_index || s->role != STEP) continue;
        bool is_better = !previous || s->result.score > previous->result.score + 0.05;
        bool is_explained = ladder_explains(c->list[exercise_index], s->label);
        if (!is_better && !is_explained)
            report_problem(c, c->list[exercise_index],
                           "step %s gets %.1f points, %s %.1f; the ladder must explain it",
                           s->label, s->result.score, previous->label, previous->result.score);
        if (is_better && is_explained)
            report_problem(c, c->list[exercise_index],
                           "the ladder says that step %s scores no more, but it does", s->label);
        previous = s;
    }
}

/* Checks that speed has points if and only if the technique makes the exercise faster. */
static void check_speed_points(struct verification *c, const struct exercise *ex,
                               const struct result *solution) {
    /* The gain of an exercise near the bound may change a little with the model. */
    enum { GAIN_MARGIN_PERCENT = 110 };
    /* Grading simulates the full grid and traces other blocks than the sample that gave the model
     * solution's time. It must not lose points by that: full points start at 0.90. The bound can't
     * be much tighter: only a full run sees segmented_sum's longest segment (0.94). */
    static const double MAX_SELF_DEVIATION = 0.08;
    double gain = solution->speed.solution_speedup, self_ratio = solution->speed.vs_solution;
    if (!solution->speed.valid)
        report_problem(c, ex, "the model solution has no time: %s", solution->speed.note);
    else if (self_ratio < 1 - MAX_SELF_DEVIATION || self_ratio > 1 + MAX_SELF_DEVIATION)
        report_problem(c, ex,
                       "the model solution, simulated in full, has %.2f of its speed from a sample",
                       self_ratio);
    else if (ex->points.speed > 0 && gain < SCORE_MIN_SPEEDUP)
        report_problem(c, ex, "speed has points, but the model solution's speedup is only %.2f",
                       gain);
    else if (ex->points.speed == 0 && gain * 100 > SCORE_MIN_SPEEDUP * GAIN_MARGIN_PERCENT)
        report_problem(c, ex, "speed has no points, but the model solution's speedup is %.2f",
                       gain);
}

static bool judge(struct verification *c, const struct exercise *ex, const struct subject *s) {
    enum verdict v = s->result.verdict;
    const char *code = verdict_code(v);
    bool is_correct = v == V_AC || v == V_PART;
    if (is_correct && (s->role == STEP || s->role == SOLUTION)) check_ladder_counters(c, ex, s);
    if (is_correct) check_baseline(c, ex, s);
    if (s->role == STARTER && v != V_CE && v != V_IE && !has_source_line(&s->result))
        report_problem(c, ex, "the starter file's report names no line of the source");
    if (s->role == EVASION) return judge_evasion(c, ex, s);
    if (s->role == HARDCODED_SIZES && v != V_IE) return judge_hardcoded_sizes(c, ex, s);
    if (v == V_IE)
        report_problem(c, ex, "%s: could not be graded: %s", s->label,
                       cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_CE)
        report_problem(c, ex, "the starter file does not compile: %s",
                       cli_failure_reason(&s->result));
    else if (s->role == STARTER && v == V_AC) report_problem(c, ex, "the starter file is accepted");
    else if (s->role == STEP && !is_correct)
        report_problem(c, ex, "step %s is %s: %s", s->label, code, cli_failure_reason(&s->result));
    else if (s->role == PRACTICE && !is_correct)
        report_problem(c, ex, "practice/%s is %s: %s", s->name, code,
                       cli_failure_reason(&s->result));
    else if (s->role == ALTERNATIVE && v != V_AC)
        report_problem(c, ex, "others/%s is correct but gets %s, %.1f points: %s", s->label, code,
                       s->result.score, cli_failure_reason(&s->result));
    else if (s->role == SOLUTION && v != V_AC)
        report_problem(c, ex, "the model solution is %s with %.1f points: %s", code,
                       s->result.score, cli_failure_reason(&s->result));
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

/* Checks questions and lesson once for each chapter, and reports them under its first exercise. */
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

/* Appends exercise, version, score and modelled time, which show whether faster means more points.
 */
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
    buf_printf(out, "%-*s  %-10s  %-10s  %9s  %5s  %s  %s\n", (int)width, "exercise", "starter",
               "solution", "speedup", "steps", "mutants killed", "cheats detected");
    for (unsigned i = 0; c->list[i]; i++) put_summary_row(c, i, width, out);
    buf_puts(out, "(speedup: model solution over baseline, modelled)\n");
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
    struct options fixed_options = *o; /* with a fixed seed, so that every run gives the same */
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
