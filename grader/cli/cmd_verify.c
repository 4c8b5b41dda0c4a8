/* cmd_verify.c — grader verify: checks the book against its own rules.
 *
 * Starter file: it compiles, has a TODO and scores 0.
 * Baseline: it reaches no goal, fails no guard and gets at most 10 points. The same holds for the
 *   starter file where it is correct, and for the baseline with idle work added (metric_padding.h)
 *   or with its traffic on other paths (path_evasion.h).
 * Hardcoded sizes: a version that is the model solution at the sizes of the test file, and does
 *   nothing at others, fails each drawn case.
 * Ladder: 2 to 9 steps. Each step compiles, is correct and gets more points than the one before, or
 *   the ladder's text explains why not ("`2-pairs` scores no more than `1-single`: …"); none costs
 *   points. The report of a step that reaches all goals and is slow names the missing idea and its
 *   lesson (ladder_points.h). The ladder's table has the counters that the simulated GPU counts.
 * Model solution: AC with 100 points.
 * Mutants: 4 or more. Each gets the verdict that its first line expects ("// expect: WA", or
 *   "// expect: RTE race", where the message must contain the word). Idle work adds no technique
 *   points to a step or a mutant.
 * Alternatives: correct solutions in other styles (grader/tests/others) get AC.
 * Texts: lesson, task, ladder text and three hints exist. Counted answers of the chapter's
 *   questions (quiz.h), and code, counts and pictures of its lesson (lesson.h), match the programs.
 *   A library's version in the lesson (practice/NAME.cu) is correct.
 * Baseline data (grade/baseline_data.h): recorded times and counts are those of a run.
 *
 * --quick checks only starter files and model solutions, trusts the baseline data, and takes kept
 * results (result_cache.h), whose keys hold all that they depend on. */
#include "grader/cli/commands.h"
#include "grader/cli/lesson.h"
#include "grader/cli/progress.h"
#include "grader/cli/quiz.h"
#include "grader/cli/verify.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_summary_row(struct verification *c, unsigned exercise_index, unsigned width,
                            struct buf *out) {
    const struct exercise *ex = c->list[exercise_index];
    const struct result *starter = NULL, *solution = NULL;
    unsigned mutant_count = 0, killed_count = 0, step_count = 0, evasion_count = 0,
             detected_count = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->exercise_of[i] != exercise_index) continue;
        bool ok = verify_judge(c, ex, s);
        if (s->role == STARTER) starter = &s->result;
        if (s->role == SOLUTION) solution = &s->result, verify_speed_points(c, ex, solution);
        mutant_count += s->role == MUTANT, killed_count += s->role == MUTANT && ok,
            step_count += s->role == STEP;
        evasion_count += s->role >= EVASION, detected_count += s->role >= EVASION && ok;
    }
    verify_step_order(c, exercise_index);
    verify_baseline_data(c, ex, starter, solution);
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

/* Checks questions and lesson once for each chapter, and reports them under its first exercise. */
static void check_chapters(struct verification *c) {
    for (unsigned i = 0; c->list[i]; i++) {
        struct buf quiz = {0}, lesson = {0};
        if (i && !strcmp(c->list[i]->chapter, c->list[i - 1]->chapter)) continue;
        if (quiz_exists(c->list[i]->chapter)) quiz_check(c->list[i]->chapter, &quiz);
        lesson_check(c->list[i]->chapter, &lesson);
        verify_report_problems(c, c->list[i], "quiz", &quiz),
            verify_report_problems(c, c->list[i], "lesson", &lesson);
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
    struct status_count count;
    status_count_begin(&count, "files", c->n);
    go.ignore_baseline_data = !c->o->quick;
    go.reuse = c->o->quick && !c->o->no_cache ? GRADE_REUSE_SAME_SEED : GRADE_ANEW;
    go.progress = status_count_next, go.user = &count;
    if (c->n) status_count_show(&count, c->items[0].name);
    bool ok = class_grade_many(c->items, c->n, c->o->jobs, &go, results, e);
    for (unsigned i = 0; ok && i < c->n; i++) c->subjects[i].result = results[i];
    free(results);
    return ok;
}

/* Says how many results are not of this run; --no-cache grades all anew. */
static void write_kept_count(const struct verification *c, struct buf *out) {
    unsigned kept_count = 0;
    for (unsigned i = 0; i < c->n; i++) kept_count += c->subjects[i].result.is_kept;
    if (kept_count)
        buf_printf(out, "(%u of %u results kept from an earlier run of the same files)\n",
                   kept_count, c->n);
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
               "solution", "speedup", "steps", "mutants killed", "exploits detected");
    for (unsigned i = 0; c->list[i]; i++) put_summary_row(c, i, width, out);
    buf_puts(out, "(speedup: model solution over baseline, modelled)\n");
    write_kept_count(c, out);
    if (c->o->verbose) write_scores(c, width, out);
    if (c->outdated.size)
        buf_printf(
            out,
            "\nThe recorded times and counts of these exercises (chapters/figures.txt) are of "
            "another\nsource, nvcc or simulator; gradings run the book's versions instead. To "
            "renew them, run\n`make baselines`: %s\n",
            buf_str(&c->outdated));
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
    buf_free(&c->problems), buf_free(&c->outdated);
}

int cmd_verify(const struct options *o) {
    struct err e = {0};
    struct options fixed_options = *o; /* with a fixed seed, so that every run gives the same */
    snprintf(fixed_options.seed, sizeof fixed_options.seed, "verify");
    struct verification c = {.o = &fixed_options, .list = cli_select_exercises(o, &e)};
    if (!c.list) return cli_report_error(&e);
    for (unsigned i = 0; c.list[i]; i++) verify_collect_subjects(&c, i);
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
