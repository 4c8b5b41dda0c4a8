/* check.c — runs an exercise's Check suite inside the grader (CK_NOFORK) and implements the
 * functions that its tests call (common/exercise.h). A failed test becomes a message for the
 * student. Results are collected as they arrive; Check's own list, read afterwards, adds failures
 * by other means, such as a plain ck_assert. */
#include "common/arena.h"
#include "common/text.h"
#include "grader/grade/grading_ctx.h"
#include "grader/grade/metrics.h"
#include "grader/grade/score.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct grading_ctx *current; /* Check passes no argument to tests */

const struct exercise *ex_current_exercise(void) { return current->ex; }

/* ---- TODO comments ---- */

/* Returns the first line after `after_line` with `// TODO`; 0 = none. */
static unsigned find_todo(const struct buf *source, unsigned after_line, const char **text) {
    static const char marker[] = "// TODO";
    unsigned n = 1;
    for (const char *s = buf_str(source); *s; n++) {
        size_t length = strcspn(s, "\n");
        *text = memmem(s, length, marker, sizeof marker - 1);
        if (*text && n > after_line) return n;
        s += length + (s[length] == '\n');
    }
    return 0;
}

/* Lists remaining TODO comments: the likely cause of a wrong answer. */
static void append_todo_hint(const struct result *r, struct buf *message) {
    enum { MAX_HINTS = 3 };
    const char *text;
    for (unsigned n = 0, i = 0; i < MAX_HINTS && (n = find_todo(&r->source, n, &text)) != 0; i++) {
        buf_printf(message, "\n%s:%u still says ", r->file, n);
        text_clean(message, text, strcspn(text, "\n"), 200);
    }
}

/* ---- correctness ---- */

static struct case_result *add_case(struct grading_ctx *g) {
    struct result *r = g->r;
    ARENA_GROW(&r->arena, r->cases, r->ncases, r->ncases + 1, g->cases_capacity, 16);
    return &r->cases[r->ncases++];
}

static void report_progress(struct grading_ctx *g, const char *format, const char *argument) {
    char text[160];
    if (!g->o->progress) return;
    snprintf(text, sizeof text, format, argument);
    g->o->progress(g->o->user, text);
}

/* Returns the budget for a second run of a case that exceeded its own: in proportion to what the
 * model solution executes. Without solutions, only the timed size, the largest, gets more. */
static uint64_t larger_budget(const struct grading_ctx *g, const struct ex_case *c, uint64_t n) {
    if (!n) return c == &g->ex->timed_case ? MAX_INSTRUCTIONS : 0;
    return n < MAX_INSTRUCTIONS / SLOW_VERSION_FACTOR ? n * SLOW_VERSION_FACTOR : MAX_INSTRUCTIONS;
}

/* Runs a case. If it exceeds its budget or never ends, also counts what the model solution needs,
 * and says so. */
static void run_case(struct grading_ctx *g, const struct ex_case *c, struct case_plan plan,
                     struct case_run *run) {
    session_case(g->session, c, &plan, run);
    bool is_over_budget = run->launch_stats.fault == SIM_FAULT_INSN_BUDGET;
    if (run->verdict != V_TLE || (!is_over_budget && !run->is_deadlocked)) return;
    uint64_t n = grade_model_instructions(g, c, plan.index);
    if (is_over_budget && larger_budget(g, c, n) > plan.max_instructions) {
        plan.max_instructions = larger_budget(g, c, n);
        session_case_free(run);
        session_case(g->session, c, &plan, run);
    }
    if (n && run->verdict == V_TLE)
        buf_printf(&run->message,
                   "\nThe model solution executes %llu warp instructions in this case.",
                   (unsigned long long)n);
}

enum verdict check_case(struct grading_ctx *g, const struct ex_case *c, struct case_plan plan,
                        const char *suffix, struct launch_stats *stats_out) {
    struct buf name = {0};
    struct case_run run;
    problem_append_case_name(g->ex, c, &name);
    buf_puts(&name, suffix);
    report_progress(g, "%s", buf_str(&name));
    plan.index = g->next_index++;
    run_case(g, c, plan, &run);
    session_label_log(g->session, buf_str(&name));
    struct buf message = {0};
    text_clean(&message, buf_str(&run.message), run.message.size,
               4096); /* it contains names from the submission */
    text_demangle(&message);
    text_replace(&message, "/work/", ""); /* the path inside the sandbox */
    bool first = g->r->ncases == 0 || g->r->cases[g->r->ncases - 1].verdict == V_AC;
    if (run.verdict == V_WA && first) append_todo_hint(g->r, &message);
    *add_case(g) = (struct case_result){
        .group = "correctness",
        .verdict = run.verdict,
        .name = arena_strndup(&g->r->arena, buf_str(&name), name.size),
        .message = arena_strndup(&g->r->arena, buf_str(&message), message.size)};
    buf_free(&name);
    buf_free(&message);
    enum verdict v = run.verdict;
    g->host_too_slow = run.host_too_slow, g->is_deadlocked = run.is_deadlocked;
    bool is_fatal = v == V_TLE || v == V_SEC || v == V_OLE || v == V_MLE || v == V_IE;
    if (is_fatal || session_is_finished(g->session)) g->stopped = true;
    if (stats_out && v == V_AC) {
        *stats_out = run.launch_stats;
        run.launch_stats = (struct launch_stats){0};
    }
    session_case_free(&run);
    return v;
}

/* Returns the number of a case in reports: listed cases first, then drawn ones; 0 = neither. */
static unsigned case_number(const struct grading_ctx *g, const struct ex_case *c) {
    for (unsigned i = 0; i < g->ex->ncases; i++)
        if (c == &g->ex->cases[i]) return i + 1;
    for (unsigned i = 0; i < g->ndrawn; i++)
        if (c == &g->drawn[i].c) return g->ex->ncases + i + 1;
    return 0;
}

/* Runs one case. Drawn cases have their own range of random numbers, so that those of other cases
 * don't depend on how many are drawn. A case that runs alone gets the same numbers as in a full
 * run. */
void ex_check_case(const struct ex_case *c) {
    enum { FIRST_DRAWN_INDEX = 1 << 15 };
    if (current->stopped) ck_abort_msg("not run");
    unsigned number = case_number(current, c), next = current->next_index;
    bool drawn = number > current->ex->ncases;
    if (drawn) current->next_index = FIRST_DRAWN_INDEX + number;
    enum verdict v = V_AC;
    if (!current->o->only_case || current->o->only_case == number) {
        v = check_case(current, c, grade_plan_correctness, "", NULL);
        struct case_result *last = &current->r->cases[current->r->ncases - 1];
        last->number = number, last->drawn = drawn;
    }
    current->next_index = drawn ? next : next + 1;
    if (v != V_AC)
        ck_abort_msg("%s: %s", current->r->cases[current->r->ncases - 1].name,
                     current->r->cases[current->r->ncases - 1].message);
}

START_TEST(drawn_sizes_match_the_reference) { ex_check_case(&current->drawn[_i].c); }
END_TEST

/* ---- technique ---- */

static const struct metric *find_metric(const char *name) {
    const struct metric *m = metric_find(name);
    if (!m) die("%s: there is no metric or counter '%s'", current->ex->name, name);
    return m;
}

static char *test_title(struct grading_ctx *g) {
    const char *name = tcase_name();
    char *title = arena_strndup(&g->r->arena, name ? name : "", name ? strlen(name) : 0);
    for (char *p = title; *p; p++)
        if (*p == '_') *p = ' ';
    return title;
}

static struct technique_result *add_technique(struct grading_ctx *g) {
    struct result *r = g->r;
    ARENA_GROW(&r->arena, r->technique, r->ntechnique, r->ntechnique + 1, g->technique_capacity, 8);
    return &r->technique[r->ntechnique++];
}

/* File names come from the device code, where #line may put anything. */
const char *grade_clean_name(struct arena *a, const char *name) {
    struct buf b = {0};
    text_clean_name(&b, name);
    const char *copy = arena_strndup(a, buf_str(&b), b.size < 200 ? b.size : 200);
    buf_free(&b);
    return copy;
}

static void check_limit(const char *name, double per, const char *unit, double bound,
                        bool is_upper_limit, const char *reason);

/* A goal needs a kernel: copies have no bank conflicts, divergence or barriers, so a version
 * without kernels would reach such goals by doing nothing. */
static void require_kernel_launch(void) {
    if (current->group != GROUP_GOALS || current->launch_stats.launches ||
        current->kernel_checked_test == current->test)
        return;
    current->kernel_checked_test = current->test;
    check_limit("launches", 1, NULL, 1, false,
                "a goal requires a kernel; copies and fills alone can't reach it");
}

/* Returns the tolerance of a limit: tiny for plain limits, so that a quotient rounded up to just
 * above 1 still passes; a thousandth for limits per element, so that a flag or symbol written in
 * addition to a million elements doesn't matter. */
static double limit_slack(double bound, double per) {
    return (per == 1 ? 1e-9 : 1e-3) * fabs(bound);
}

static void check_limit(const char *name, double per, const char *unit, double bound,
                        bool is_upper_limit, const char *reason) {
    const struct metric *m = find_metric(name);
    require_kernel_launch();
    double value = metric_value(m, &current->launch_stats) / per, slack = limit_slack(bound, per);
    struct technique_result *t = add_technique(current);
    struct arena *a = &current->r->arena;
    *t = (struct technique_result){.name = test_title(current),
                                   .is_guard = current->group == GROUP_GUARDS,
                                   .test_index = (unsigned)current->test,
                                   .metric = arena_strndup(a, name, strlen(name)),
                                   .value = value,
                                   .limit = bound,
                                   .is_upper_limit = is_upper_limit,
                                   .reason = arena_strndup(a, reason, strlen(reason)),
                                   .file = ""};
    t->unit = unit ? arena_strndup(a, unit, strlen(unit)) : NULL;
    t->passed = is_upper_limit ? value <= bound + slack : value >= bound - slack;
    const char *todo;
    const struct launch_stats_line *l =
        metric_line(m, &current->launch_stats, current->r->file, per, bound, is_upper_limit);
    if (l) t->file = grade_clean_name(a, l->file), t->line = l->line;
    else if (!t->passed && (t->line = find_todo(&current->r->source, 0, &todo)))
        t->file = current->r->file;
}

void ex_require_at_most(const char *metric, double bound, const char *reason) {
    check_limit(metric, 1, NULL, bound, true, reason);
}
void ex_require_at_least(const char *metric, double bound, const char *reason) {
    check_limit(metric, 1, NULL, bound, false, reason);
}
void ex_require_at_most_per(const char *counter, double per, const char *unit, double bound,
                            const char *reason) {
    check_limit(counter, per, unit, bound, true, reason);
}
void ex_require_at_least_per(const char *counter, double per, const char *unit, double bound,
                             const char *reason) {
    check_limit(counter, per, unit, bound, false, reason);
}
double ex_metric_value(const char *metric) {
    return metric_value(find_metric(metric), &current->launch_stats);
}
unsigned ex_launch_count(void) { return current->launch_stats.launches; }

void ex_suggest(bool is_missing, const char *idea, const char *chapter, const char *heading) {
    struct buf text = {0};
    struct result *r = current->r;
    if (!is_missing || r->missing_idea) return;
    buf_printf(&text, "%s (chapter %s, \"%s\")", idea, chapter, heading);
    r->missing_idea = arena_strndup(&r->arena, buf_str(&text), text.size);
    buf_free(&text);
}

double ex_theoretical_occupancy(unsigned threads, unsigned registers, unsigned shared_bytes) {
    const struct gpu_device *d = grade_device();
    if (shared_bytes > d->shared_per_block) return 0;
    unsigned warps =
        device_blocks_per_sm(d, threads, registers, shared_bytes, NULL) * ((threads + 31) / 32);
    return (double)warps / d->warps_per_sm;
}

/* ---- running ---- */

/* Returns true if the results contain this failure already. */
static bool is_reported(const struct grading_ctx *g, const char *message) {
    for (unsigned i = 0; i < g->r->ncases; i++)
        if (g->r->cases[i].verdict != V_AC &&
            !strncmp(message, g->r->cases[i].name, strlen(g->r->cases[i].name)))
            return true;
    return !strcmp(message, "not run");
}

static void add_failure(struct grading_ctx *g, unsigned test, const char *message) {
    const char *text = arena_strndup(&g->r->arena, message, strlen(message));
    if (g->group != GROUP_CORRECTNESS)
        *add_technique(g) = (struct technique_result){.name = "test",
                                                      .metric = "",
                                                      .reason = text,
                                                      .file = "",
                                                      .is_upper_limit = true,
                                                      .is_guard = g->group == GROUP_GUARDS,
                                                      .test_index = test};
    else
        *add_case(g) = (struct case_result){
            .group = "correctness", .name = "test", .verdict = V_WA, .message = text};
}

/* Returns true if all limits of a test passed. A missed limit does not end a test, so Check does
 * not know of it. */
static bool passes_limits(const struct grading_ctx *g, unsigned test) {
    for (unsigned i = 0; i < g->r->ntechnique; i++) {
        const struct technique_result *t = &g->r->technique[i];
        if (t->is_guard == (g->group == GROUP_GUARDS) && t->test_index == test && !t->passed)
            return false;
    }
    return true;
}

/* Counts the group's tests and those passed, and adds failures that are not reported yet. */
static void read_results(struct grading_ctx *g, SRunner *runner, unsigned *tests,
                         unsigned *passed) {
    TestResult **results = srunner_results(runner);
    int n = srunner_ntests_run(runner);
    for (int i = 0; i < n; i++) {
        bool completed = tr_rtype(results[i]) == CK_PASS;
        bool ok = completed && (g->group == GROUP_CORRECTNESS || passes_limits(g, (unsigned)i));
        const char *message = tr_msg(results[i]) ? tr_msg(results[i]) : "";
        ++*tests;
        *passed += ok;
        if (!completed && !is_reported(g, message)) add_failure(g, (unsigned)i, message);
    }
    free(results);
}

/* Check handles Ctrl-C by killing the process group, the shell script that called the grader
 * included. The grader's own actions end its sandboxes first (jail_end_by_signal), so each test
 * restores them. */
static const int kept_signals[] = {SIGINT, SIGTERM};
enum { KEPT_SIGNALS = sizeof kept_signals / sizeof *kept_signals };
static struct sigaction kept_actions[KEPT_SIGNALS];

static void keep_signal_actions(void) {
    for (unsigned i = 0; i < KEPT_SIGNALS; i++) sigaction(kept_signals[i], NULL, &kept_actions[i]);
}

static void begin_test(void) {
    for (unsigned i = 0; i < KEPT_SIGNALS; i++) sigaction(kept_signals[i], &kept_actions[i], NULL);
    current->test++;
}

/* Runs the tests of one group. Check frees a suite with its runner, so each group builds its own
 * suite. */
static void run_group(struct grading_ctx *g, enum test_group group, unsigned *tests,
                      unsigned *passed) {
    static const char *const names[GROUP_COUNT] = {"correctness", "goals", "guards"};
    Suite *suite = suite_create(g->ex->name);
    TCase *groups[GROUP_COUNT];
    for (unsigned i = 0; i < GROUP_COUNT; i++)
        suite_add_tcase(suite, groups[i] = tcase_create(names[i]));
    g->ex->tests(groups[GROUP_CORRECTNESS], groups[GROUP_GOALS], groups[GROUP_GUARDS]);
    tcase_add_loop_test(groups[GROUP_CORRECTNESS], drawn_sizes_match_the_reference, 0,
                        (int)g->ndrawn);
    tcase_add_checked_fixture(groups[group], begin_test, NULL);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    current = g;
    g->group = group, g->test = g->kernel_checked_test = -1;
    keep_signal_actions();
    srunner_run(runner, g->ex->name, names[group], CK_SILENT);
    read_results(g, runner, tests, passed);
    current = NULL;
    srunner_free(runner);
}

static void find_missing_idea(struct grading_ctx *g) {
    if (!g->ex->ideas) return;
    current = g;
    g->ex->ideas();
    current = NULL;
}

void check_goals(struct grading_ctx *g) {
    struct check_counts *n = &g->r->checks;
    run_group(g, GROUP_GOALS, &n->goals, &n->goals_reached);
}

bool check_run(struct grading_ctx *g) {
    unsigned tests = 0, passed = 0;
    run_group(g, GROUP_CORRECTNESS, &tests, &passed);
    if (g->o->only_case || passed < tests) return false;
    /* The technique and the timed size must be correct too, or code could behave differently there.
     */
    struct case_plan plan = grade_known_size_plan(g->ex, &grade_plan_counted);
    if (check_case(g, &g->ex->technique_case, plan, " (counted)", &g->launch_stats) != V_AC)
        return false;
    report_progress(g, "%s", "technique");
    check_goals(g);
    struct check_counts *n = &g->r->checks;
    run_group(g, GROUP_GUARDS, &n->guards, &n->guards_passed);
    find_missing_idea(g);
    return true;
}
