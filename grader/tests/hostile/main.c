/* main.c — build/tests/hostile: grades every submission of the corpus in each tier of the
 * sandbox that the machine allows, as this user and (from root) as nobody, and prints each
 * threat, the outcome and what stopped it. It fails if a submission gets a verdict or points
 * that it should not, if the planted secret shows, if a process or file remains, or if an honest
 * submission suffers. It then runs the archives, graders killed at random moments, and the
 * sandbox's cost.
 *
 *   build/tests/hostile [--quick] [--only NAME[,NAME...]]
 *       all of it; --quick: the subset of `make check`, one tier; NAME: a part of a file's name
 *   build/tests/hostile --tier T1|T2 ...
 *       one tier, as this user; the first form starts these */
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/jail/jail.h"
#include "grader/tests/hostile/hostile.h"
#include "grader/tests/plus_one.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the exercise: out[i] = in[i] + 1 ---- */

static void any_bits(const struct ex_case *c, struct ex_rng *r, void *data, size_t n) {
    (void)c;
    for (size_t i = 0; i < n; i++)
        ((int32_t *)data)[i] = (int32_t)((uint32_t)ex_random(r) & 0x7ffffffeu) - (1 << 30);
}
static double bytes(const struct ex_case *c) { return 8.0 * (double)c->dim[0]; }
static const struct ex_arg args[] = PLUS_ONE_ARGS(.fill = any_bits);
START_TEST(coalesced) {
    ex_require_at_most("global_load_sectors_per_request", 16, "a warp reads 512 bytes at most");
}
END_TEST
static void tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, right, 0, 3);
    tcase_add_test(goals, coalesced);
    (void)guards;
}
#define PLUS_ONE                                                                        \
    .name = "plus_one", .chapter = "99-test", .args = args, .nargs = 3, .cases = cases, \
    .ncases = 3, .technique_case = {.dim = {4096}}, .timed_case = {.dim = {1 << 22}},   \
    .reference = reference, .bytes = bytes
const struct exercise plus_one = {PLUS_ONE, .title = "adds one",
                                  .points = {.correctness = 40, .technique = 30, .speed = 30},
                                  .tests = tests};

/* The same, graded on what the entry calls, for attacks on these metrics. One launch reaches all
 * goals. */
START_TEST(calls_are_few) {
    static const struct {
        const char *metric;
        double limit;
    } limits[] = {{"host_commands", 1},
                  {"instantiated_nodes", 1},
                  {"synchronizing_calls", 0},
                  {"max_temporary_bytes", 0}};
    ex_require_at_most(limits[_i].metric, limits[_i].limit, "one launch is enough");
}
END_TEST
static void call_tests(TCase *correctness, TCase *goals, TCase *guards) {
    tcase_add_loop_test(correctness, right, 0, 3);
    tcase_add_loop_test(goals, calls_are_few, 0, 4);
    (void)guards;
}
static const struct exercise plus_one_by_calls = {
    PLUS_ONE, .title = "adds one, with few calls",
    .points = {.correctness = 40, .technique = 60, .speed = 0}, .tests = call_tests};

/* ---- judging ---- */

static void put_all_messages(const struct result *r, struct buf *out) {
    buf_printf(out, "%s\n%s\n", verdict_code(r->verdict), r->message);
    for (unsigned i = 0; i < r->ncases; i++)
        buf_printf(out, "%s: %s\n", r->cases[i].name, r->cases[i].message);
    for (unsigned i = 0; i < r->ntechnique; i++)
        buf_printf(out, "%s %s %s\n%s is %g%s\n", r->technique[i].metric, r->technique[i].reason,
                   r->technique[i].file, r->technique[i].metric, r->technique[i].value,
                   r->technique[i].passed ? "" : ": not reached");
    for (unsigned i = 0; i < r->nlines; i++) buf_printf(out, "%s\n", r->lines[i].file);
    for (unsigned i = 0; i < r->nkernels; i++) buf_printf(out, "%s\n", r->kernels[i].name);
    buf_printf(out, "%s\n%s\n", r->speed.note, buf_str(&r->log));
}

static bool has_no_control_characters(const char *s) {
    for (; *s; s++)
        if (((unsigned char)*s < ' ' && *s != '\n' && *s != '\t') || *s == 0x7f) return false;
    return true;
}

/* Attacks on the speed points are graded with modelled speed counting, and get none. */
static bool is_timed(const struct attack *a) { return text_starts_with(a->name, "speed-"); }
static const double speedless_exercise = 70;
static bool is_on_calls(const struct attack *a) { return text_starts_with(a->name, "metric-"); }

static void judge(const struct attack *a, const struct result *r, struct buf *problems) {
    struct buf text = {0};
    put_all_messages(r, &text);
    const char *s = buf_str(&text);
    bool passed = r->verdict == V_AC || r->verdict == V_PART;
    if (!corpus_expects(a, r->verdict)) buf_printf(problems, "expected %s; ", a->verdicts);
    if (a->expected_text[0] && !strstr(s, a->expected_text) && !strchr(a->verdicts, '/'))
        buf_printf(problems, "does not say \"%s\"; ", a->expected_text);
    if (strstr(s, decoy_token())) buf_puts(problems, "THE SECRET SHOWS; ");
    if (strstr(s, "LEAK:")) buf_printf(problems, "%.120s; ", strstr(s, "LEAK:"));
    if (!has_no_control_characters(s)) buf_puts(problems, "control characters in the report; ");
    if (is_timed(a) && passed && r->score > speedless_exercise + 1e-6)
        buf_printf(problems, "%.1f points, and it has no time; ", r->score);
    if (!passed && r->score != 0) buf_printf(problems, "%.1f points for nothing; ", r->score);
    if (text.size > 200000) buf_printf(problems, "a report of %zu bytes; ", text.size);
    buf_free(&text);
}

/* The line that tells the student why. */
static const char *stop_reason(const struct result *r) {
    static char line[160];
    const char *s = r->message;
    for (unsigned i = r->ncases; i-- > 0;)
        if (r->cases[i].verdict == r->verdict && r->verdict != V_AC) s = r->cases[i].message;
    for (unsigned i = 0; !*s && i < r->ntechnique; i++)
        if (!r->technique[i].passed) s = r->technique[i].metric;
    while (*s == '\n') s++;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(s, "\n"), s);
    return *line ? line : "had no effect on the result";
}

/* ---- one corpus ---- */

static unsigned grade_alike(struct attack *list, unsigned n, unsigned tally[V_COUNT]) {
    struct grade_options o = {
        .device = device_find("h200"), .seed = "hostile", .count_modelled = is_timed(list)};
    struct grade_item *items = xcalloc(n + 1, sizeof *items);
    struct result *results = xcalloc(n + 1, sizeof *results);
    struct err e = {0};
    unsigned failed = 0;
    for (unsigned i = 0; i < n; i++)
        items[i] = (struct grade_item){.ex = is_on_calls(list) ? &plus_one_by_calls : &plus_one,
                                       .name = "plus_one.cu",
                                       .source = &list[i].source};
    if (!class_grade_many(items, n, 0, &o, results, &e)) die("%s", e.text);
    for (unsigned i = 0; i < n; i++) {
        struct buf problems = {0};
        judge(&list[i], &results[i], &problems);
        tally[results[i].verdict]++;
        printf("%s %-26s %-4s %-4s %s\n       stopped by: %s\n", problems.size ? "FAIL" : "ok  ",
               list[i].name, list[i].threat, verdict_code(results[i].verdict), list[i].tries,
               stop_reason(&results[i]));
        if (problems.size) printf("       WRONG: %s\n", buf_str(&problems)), failed++;
        buf_free(&problems);
        result_free(&results[i]);
    }
    free(items), free(results);
    fflush(stdout);
    return failed;
}

static bool is_graded_alike(const struct attack *a, const struct attack *b) {
    return is_timed(a) == is_timed(b) && is_on_calls(a) == is_on_calls(b);
}

static unsigned grade_list(struct attack *list, unsigned n, unsigned tally[V_COUNT]) {
    unsigned failed = 0;
    for (unsigned first = 0, last; first < n; first = last) {
        for (last = first; last < n && is_graded_alike(&list[last], &list[first]);) last++;
        failed += grade_alike(list + first, last - first, tally);
    }
    return failed;
}

struct selection {
    const char *tier, *only_name;
    bool is_quick;
};

static bool is_selected(const struct selection *c, const char *name) {
    char part[128];
    if (!c->only_name) return true;
    for (const char *at = c->only_name; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);
        if (strstr(name, part)) return true;
    }
    return false;
}

static unsigned choose(struct attack *list, unsigned n, const struct selection *c,
                       struct attack *out) {
    unsigned nselected = 0;
    for (unsigned i = 0; i < n; i++)
        if ((!c->is_quick || list[i].is_quick) && is_selected(c, list[i].name))
            out[nselected++] = list[i];
    return nselected;
}

static unsigned try_corpus(const char *folder, const struct selection *c, const char *label) {
    unsigned n, tally[V_COUNT] = {0};
    struct attack *list = corpus_load(folder, &n), *selected = xcalloc(n + 1, sizeof *selected);
    unsigned nselected = choose(list, n, c, selected),
             failed = grade_list(selected, nselected, tally);
    struct buf problems = {0};
    report_leftovers(&problems);
    if (problems.size) printf("FAIL   %s\n", buf_str(&problems)), failed++;
    printf("%s, %s as %s: %u submissions, %u failed;", label, jail_describe_tier(),
           geteuid() ? "nobody" : "root", nselected, failed);
    for (int v = 0; v < V_COUNT; v++)
        if (tally[v]) printf(" %s %u", verdict_code(v), tally[v]);
    printf("\n\n");
    buf_free(&problems);
    free(selected);
    corpus_free(list, n);
    return failed;
}

static int run_tier(const struct selection *c) {
    struct err e = {0};
    setenv("WARPBOOK_JAIL_TIER", c->tier, 1);
    if (!jail_probe(&e))
        return printf("%s as %s: not on this machine: %s\n\n", c->tier,
                      geteuid() ? "nobody" : "root", e.text),
               0;
    plant();
    unsigned failed = try_corpus("", c, "hostile");
    if (!c->is_quick) failed += try_corpus("/honest", c, "honest");
    remove_decoys();
    return failed ? 1 : 0;
}

/* ---- all of it ---- */

static bool run_self(const char *tier, const struct selection *c, bool is_nobody) {
    const char *argv[] = {"hostile",    "--tier",
                          tier,         c->only_name ? "--only" : c->is_quick ? "--quick" : NULL,
                          c->only_name, NULL};
    int status = 1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (is_nobody && (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
                          setresuid(65534, 65534, 65534) < 0))
            _exit(1);
        execv("/proc/self/exe", (char *const *)argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFSIGNALED(status))
        printf("FAIL   the runner itself was ended by %s\n", strsignal(WTERMSIG(status)));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static unsigned run_extras(void) {
    struct err e = {0};
    if (!jail_probe(&e)) return printf("FAIL   %s\n", e.text), 1;
    plant();
    unsigned failed = try_archives() + try_kills(100) + try_interrupts(40) + measure_jail();
    remove_decoys();
    return failed;
}

static unsigned run_quick_extras(void) {
    struct err e = {0};
    if (!jail_probe(&e)) return printf("FAIL   %s\n", e.text), 1;
    plant();
    unsigned failed = try_archives() + try_interrupts(2);
    remove_decoys();
    return failed;
}

static unsigned run_all(const struct selection *c) {
    static const char *const tiers[] = {"T1", "T2"};
    unsigned failed = 0;
    for (unsigned i = 0; i < (c->is_quick ? 1 : 2); i++) {
        failed += !run_self(tiers[i], c, false);
        if (!c->is_quick && geteuid() == 0) failed += !run_self(tiers[i], c, true);
    }
    if (!c->only_name) failed += c->is_quick ? run_quick_extras() : run_extras();
    return failed;
}

int main(int argc, char **argv) {
    struct selection c = {0};
    struct err e = {0};
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick")) c.is_quick = true;
        else if (!strcmp(argv[i], "--tier") && i + 1 < argc) c.tier = argv[++i];
        else if (!strcmp(argv[i], "--only") && i + 1 < argc) c.only_name = argv[++i];
        else if (!strcmp(argv[i], "--extras")) c.only_name = "";
        else
            return fprintf(stderr,
                           "usage: hostile [--quick | --only NAME | --extras] [--tier T1|T2]\n"),
                   2;
    signal(SIGPIPE, SIG_IGN);
    if (!book_open(&e)) die("%s", e.text);
    if (c.tier) return run_tier(&c);
    bool extras_only = c.only_name && !*c.only_name;
    unsigned failed = extras_only ? run_extras() : run_all(&c);
    printf(failed ? "hostile: %u parts FAILED\n" : "hostile: all held\n", failed);
    return failed ? 1 : 0;
}
