/* cmd_verify.c — grader verify: holds the book against its own rules.
 *
 * Skeleton: compiles, carries a TODO, and gets nothing. It passes no goal of the technique tests
 * and fails no guard, and the same holds for the ladder's naive version, which gets 10 points at
 * most; with idle work beside it (dilute.h) and with its traffic on other paths (cheat.h), too. A
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
#include "grader/cli/cheat.h"
#include "grader/cli/commands.h"
#include "grader/cli/dilute.h"
#include "grader/class/grade_many.h"
#include "grader/cli/lesson.h"
#include "grader/cli/published.h"
#include "grader/cli/quiz.h"
#include "grader/cli/vendor.h"
#include "grader/cli/verify_result.h"
#include "grader/grade/score.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum role {
    SKELETON,
    STEP,
    ANSWER,
    PRACTICE,
    OTHER,
    MUTANT,
    DILUTED,
    DILUTED_OTHER,
    CHEAT,
    KNOWS_SIZES
};
/* Points of the naive version at most, and what a mutant that is correct stays below; steps of a
 * ladder before the answer; mutants. */
enum { NAIVE_MOST = 10, MUTANT_MOST = 95, FEWEST_STEPS = 2, MOST_STEPS = 9, FEWEST_MUTANTS = 4 };

struct subject {
    enum role role;
    char *label; /* "1-unqualified", "empty-grid.cu" */
    char *name;  /* of the file, as messages show it */
    struct buf source;
    enum cheat_path path; /* CHEAT */
    unsigned of;          /* DILUTED_OTHER: the step or mutant that it is made of */
    struct result result;
};

struct checkup {
    const struct options *o;
    const struct exercise **list;
    struct subject *subjects;
    struct grade_item *items;
    unsigned *owner; /* of subject i: index into `list` */
    unsigned n, room, owner_room;
    struct buf problems;
    unsigned nproblems;
};

static void problem(struct checkup *c, const struct exercise *ex, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void problem(struct checkup *c, const struct exercise *ex, const char *format, ...) {
    va_list ap;
    buf_printf(&c->problems, "%s: ", book_id(ex));
    va_start(ap, format);
    buf_vprintf(&c->problems, format, ap);
    va_end(ap);
    buf_puts(&c->problems, "\n");
    c->nproblems++;
}

/* Each line is a broken rule. */
static void problems(struct checkup *c, const struct exercise *ex, const char *what,
                     struct buf *lines) {
    char *rest = NULL;
    for (char *l = lines->size ? strtok_r(lines->data, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        problem(c, ex, "%s: %s", what, l);
    buf_free(lines);
}

/* ---- collecting ---- */

static struct buf *add(struct checkup *c, unsigned owner, enum role role, const char *label,
                       const char *name) {
    GROW(c->subjects, c->n + 1, c->room, 64);
    GROW(c->owner, c->n + 1, c->owner_room, 64);
    c->subjects[c->n] =
        (struct subject){.role = role, .label = xstrdup(label), .name = xstrdup(name)};
    c->owner[c->n] = owner;
    return &c->subjects[c->n++].source;
}

static void add_file(struct checkup *c, unsigned owner, enum role role, const char *label,
                     const char *path) {
    struct buf text = {0};
    struct err e = {0};
    if (file_read(path, SOURCE_LIMIT, &text, &e))
        *add(c, owner, role, label, path_basename(path)) = text;
    else problem(c, c->list[owner], "%s", e.text);
}

static void add_skeleton(struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    struct buf text = {0};
    struct err e = {0};
    char name[128];
    snprintf(name, sizeof name, "%s.cu", ex->name);
    bool ok = c->o->working_tree ? file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, &text, &e)
                                 : book_original_starter(ex, &text, &e);
    if (!ok) problem(c, ex, "skeleton: %s", e.text);
    else if (!strstr(buf_str(&text), "// TODO"))
        problem(c, ex, "the skeleton carries no `// TODO`");
    if (ok) *add(c, owner, SKELETON, "skeleton", name) = text;
}

/* The baseline, or the skeleton where there is none, was added before. */
static const struct subject *find_naive(const struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    const struct subject *naive = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        bool chosen =
            ex->baseline ? s->role == STEP && !strcmp(s->label, ex->baseline) : s->role == SKELETON;
        if (c->owner[i] == owner && chosen) naive = s;
    }
    return naive;
}

static void add_practice(struct checkup *c, unsigned owner) {
    char path[VENDOR_PATH];
    if (vendor_practice(c->list[owner], path)) add_file(c, owner, PRACTICE, "practice", path);
}

static void add_diluted(struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    const struct subject *naive = find_naive(c, owner);
    struct buf text = {0};
    struct err e = {0};
    if (!naive) return; /* reported already */
    if (dilute_source(ex, &naive->source, false, &text, &e))
        *add(c, owner, DILUTED, "diluted", naive->name) = text;
    else problem(c, ex, "%s", e.text);
}

/* A step before the answer, or a mutant that is right and lacks the technique. */
static bool lacks_technique(const struct subject *s) {
    return s->role == STEP ||
           (s->role == MUTANT && text_starts_with(buf_str(&s->source), "// expect: PART"));
}

/* All of these with packed idle work beside them: what a guard's average alone refuses is let
 * through. */
static void add_diluted_others(struct checkup *c, unsigned owner) {
    for (unsigned i = 0, n = c->n; i < n; i++) {
        struct buf text = {0};
        struct err e = {0};
        char label[256];
        if (c->owner[i] != owner || !lacks_technique(&c->subjects[i])) continue;
        snprintf(label, sizeof label, "%.200s diluted", c->subjects[i].label);
        if (!dilute_source(c->list[owner], &c->subjects[i].source, true, &text, &e)) {
            problem(c, c->list[owner], "%s", e.text);
            continue;
        }
        char *name = xstrdup(c->subjects[i].name); /* the list may move */
        *add(c, owner, DILUTED_OTHER, label, name) = text;
        c->subjects[c->n - 1].of = i;
        free(name);
    }
}

static void add_cheats(struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    for (unsigned path = 0; path < CHEAT_PATHS; path++) {
        const struct subject *naive = find_naive(c, owner); /* the list may have moved */
        struct buf text = {0};
        struct err e = {0};
        if (!naive) return;
        bool applies = false, ok = cheat_source(ex, path, &naive->source, &text, &applies, &e);
        if (!ok) problem(c, ex, "%s", e.text);
        if (!ok || !applies) {
            buf_free(&text);
            continue;
        }
        *add(c, owner, CHEAT, cheat_name(path), naive->name) = text;
        c->subjects[c->n - 1].path = path;
    }
}

static void add_known_sizes(struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    struct buf text = {0};
    for (unsigned i = 0; i < c->n && !text.size; i++)
        if (c->owner[i] == owner && c->subjects[i].role == ANSWER)
            cheat_known_source(ex, &c->subjects[i].source, &text);
    if (text.size && problem_drawn_case_count(ex))
        *add(c, owner, KNOWS_SIZES, "cheat-sizes", "answer.cu") = text;
    else buf_free(&text);
}

/* All programs of a folder; how many there are. */
static unsigned add_folder(struct checkup *c, unsigned owner, enum role role, const char *folder) {
    char path[PATH_MAX];
    unsigned n = 0;
    char **files = book_list_files(folder, "", ".cu");
    for (; files[n]; n++)
        if (!c->o->quick && path_join(path, sizeof path, folder, files[n]))
            add_file(c, owner, role, files[n], path);
    book_free_list(files);
    return n;
}

static void add_mutants_and_others(struct checkup *c, unsigned owner) {
    char folder[PATH_MAX];
    const struct exercise *ex = c->list[owner];
    snprintf(folder, sizeof folder, "%.4000s", book_mutants_folder(ex));
    unsigned mutants = add_folder(c, owner, MUTANT, folder);
    if (mutants < FEWEST_MUTANTS)
        problem(c, ex, "%u mutants in %s instead of %d or more", mutants,
                folder + strlen(book_root()) + 1, FEWEST_MUTANTS);
    snprintf(folder, sizeof folder, "%.3800s/grader/tests/others/%.100s/%.100s", book_root(),
             ex->chapter, ex->name);
    add_folder(c, owner, OTHER, folder);
}

static void need_file(struct checkup *c, const struct exercise *ex, const char *path) {
    struct buf text = {0};
    struct err e = {0};
    if (!file_read(path, SOURCE_LIMIT, &text, &e)) problem(c, ex, "%s", e.text);
    else if (text.size < 80)
        problem(c, ex, "%s says next to nothing", path + strlen(book_root()) + 1);
    buf_free(&text);
}

static void check_texts(struct checkup *c, const struct exercise *ex, bool first_of_chapter) {
    char path[PATH_MAX + 512];
    struct buf task = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/chapters/%s/README.md", book_root(), ex->chapter);
    if (first_of_chapter) need_file(c, ex, path);
    snprintf(path, sizeof path, "%s/solutions/%s/%s-ladder.md", book_root(), ex->chapter, ex->name);
    need_file(c, ex, path);
    need_file(c, ex, book_chapter_file(ex, ".md"));
    unsigned hints = file_read(book_chapter_file(ex, ".md"), SOURCE_LIMIT, &task, &e)
                         ? cli_hint_count(buf_str(&task))
                         : 0;
    if (hints != 3) problem(c, ex, "%u hints instead of 3", hints);
    buf_free(&task);
}

static void collect(struct checkup *c, unsigned owner) {
    const struct exercise *ex = c->list[owner];
    struct buf why = {0};
    if (!problem_is_valid_draw(ex, &why)) problems(c, ex, "drawn cases", &why);
    check_texts(c, ex, owner == 0 || strcmp(ex->chapter, c->list[owner - 1]->chapter) != 0);
    add_skeleton(c, owner);
    char **steps = book_ladder_steps(ex);
    bool has_baseline = !ex->baseline;
    for (char **s = steps; *s; s++) {
        if (!c->o->quick) add_file(c, owner, STEP, *s, book_solution_file(ex, *s));
        has_baseline |= ex->baseline && !strcmp(*s, ex->baseline);
    }
    unsigned nsteps = 0;
    while (steps[nsteps]) nsteps++;
    if (nsteps < FEWEST_STEPS || nsteps > MOST_STEPS)
        problem(c, ex, "%u steps %s-N-….cu in solutions/%s instead of %d to %d", nsteps, ex->name,
                ex->chapter, FEWEST_STEPS, MOST_STEPS);
    if (!has_baseline) problem(c, ex, "its baseline '%s' is no step of the ladder", ex->baseline);
    book_free_list(steps);
    add_file(c, owner, ANSWER, "answer", book_solution_file(ex, NULL));
    add_mutants_and_others(c, owner);
    if (c->o->quick) return;
    add_practice(c, owner);
    add_diluted(c, owner);
    add_diluted_others(c, owner);
    add_cheats(c, owner);
    add_known_sizes(c, owner);
}

/* ---- judging ---- */

/* Limits of one test stand next to each other. */
static bool test_passed(const struct result *r, unsigned first, unsigned *next) {
    bool passed = true;
    for (*next = first;
         *next < r->ntechnique && !strcmp(r->technique[*next].name, r->technique[first].name);
         ++*next)
        passed &= r->technique[*next].passed;
    return passed;
}

/* More of the technique points than the naive version deserves. */
static bool comes_far(const struct result *r) {
    return 100 * r->earned.technique > NAIVE_MOST * r->available.technique + 1e-6;
}

/* The first goal that was reached; "" = none. */
static const char *reached(const struct result *r) {
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (test_passed(r, i, &next) && !r->technique[i].is_guard) return r->technique[i].name;
    return "";
}

static bool judge_mutant(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    static const char mark[] = "// expect: ";
    const char *text = buf_str(&s->source);
    if (s->result.verdict == V_AC) return problem(c, ex, "mutant %s passes", s->label), false;
    if (!text_starts_with(text, mark))
        return problem(c, ex, "mutant %s: its first line is not `// expect: VERDICT`", s->label),
               false;
    const char *expect = text + sizeof mark - 1;
    if (text_starts_with(s->label, "cheat-") &&
        comes_far(&s->result)) /* what no machine writes: see cheat.h */
        return problem(c, ex, "mutant %s: gets %.1f of %.0f technique points", s->label,
                       s->result.earned.technique, s->result.available.technique),
               false;
    if (s->result.verdict == V_PART && s->result.score > MUTANT_MOST)
        return problem(c, ex, "mutant %s: gets %.1f points", s->label, s->result.score), false;
    if (cli_came_as_promised(&s->result, expect)) return true;
    problem(c, ex, "mutant %s: expected %.*s, got %s: %s", s->label, (int)strcspn(expect, "\r\n"),
            expect, verdict_code(s->result.verdict), cli_reason(&s->result));
    return false;
}

static bool judge_diluted(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    const struct result *r = &s->result;
    if (r->verdict != V_AC && r->verdict != V_PART)
        return problem(c, ex, "the naive version with idle work beside it is %s: %s",
                       verdict_code(r->verdict), cli_reason(r)),
               false;
    for (unsigned i = 0, next; i < r->ntechnique; i = next)
        if (test_passed(r, i, &next) && !r->technique[i].is_guard)
            problem(c, ex,
                    "the goal `%s` is reached by the naive version with idle work beside it: limit "
                    "a total, not an "
                    "average (%s)",
                    r->technique[i].name, r->technique[i].metric);
    if (comes_far(r) && !r->checks.goals_reached)
        problem(c, ex,
                "the naive version with idle work beside it gets %.1f of %.0f technique points",
                r->earned.technique, r->available.technique);
    return !comes_far(r);
}

/* Idle work may cost points: limits on totals are there for that. It must gain none. */
static bool judge_diluted_other(struct checkup *c, const struct exercise *ex,
                                const struct subject *s) {
    const struct result *r = &s->result, *plain = &c->subjects[s->of].result;
    if (plain->verdict != V_AC && plain->verdict != V_PART) return true; /* said already */
    if (r->verdict != V_AC && r->verdict != V_PART)
        return problem(c, ex, "%s: with idle work beside it it is %s: %s", s->label,
                       verdict_code(r->verdict), cli_reason(r)),
               false;
    double most = plain->earned.technique; /* all of them where goals were waived */
    if (r->earned.technique <= most + 1e-6) return true;
    problem(c, ex,
            "%s: idle work beside it raises the technique points from %.1f to %.1f: limit a total, "
            "not an average",
            s->label, most, r->earned.technique);
    return false;
}

static bool path_taken(const struct result *r, enum cheat_path path) {
    for (unsigned i = 0; r->has_counters && i < sim_counter_count(); i++)
        if (!strcmp(sim_counter_name(i), cheat_counter(path)))
            return sim_counter_get(&r->counters, i) > 0;
    return false;
}

/* The naive version by another path: correct, on that path, and without a goal; or excused. */
static bool judge_cheat(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    const struct result *r = &s->result;
    const char *excuse = cheat_excuse(s->path, ex->name);
    bool correct = r->verdict == V_AC || r->verdict == V_PART,
         taken = correct && path_taken(r, s->path);
    if (taken && excuse)
        problem(c, ex, "%s: it is excused (%s), and can be taken", s->label, excuse);
    if (!taken && !excuse)
        problem(c, ex, "%s: the naive version by this path is %s: %s", s->label,
                correct ? "not on it" : verdict_code(r->verdict),
                correct ? cheat_counter(s->path) : cli_reason(r));
    if (taken && reached(r)[0])
        problem(
            c, ex,
            "%s: the goal `%s` is reached by the naive version on another path: limit the effect",
            s->label, reached(r));
    else if (taken && comes_far(r))
        problem(c, ex, "%s: gets %.1f of %.0f technique points by another path: limit the effect",
                s->label, r->earned.technique, r->available.technique);
    return taken && !comes_far(r);
}

static bool judge_known_sizes(struct checkup *c, const struct exercise *ex,
                              const struct subject *s) {
    struct buf why = {0};
    bool seen = cheat_known_is_seen(ex, &s->result, &why);
    problems(c, ex, s->label, &why);
    return seen;
}

/* A missing text was reported already. */
static bool read_ladder(const struct exercise *ex, struct buf *out) {
    char path[PATH_MAX + 512];
    struct err e = {0};
    snprintf(path, sizeof path, "%s/solutions/%s/%s-ladder.md", book_root(), ex->chapter, ex->name);
    return file_read(path, SOURCE_LIMIT, out, &e);
}

/* The counters of a step that the ladder's text publishes are those that were counted. */
static void check_published(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    struct buf ladder = {0}, why = {0};
    if (read_ladder(ex, &ladder) &&
        !published_agrees(buf_str(&ladder), s->label, &s->result.counters, &why))
        problem(c, ex, "%s: %.*s", s->label, (int)strcspn(buf_str(&why), "\n"), buf_str(&why));
    buf_free(&ladder), buf_free(&why);
}

/* The naive versions: the baseline, and the skeleton where it is correct. */
static void check_naive(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    bool baseline = s->role == STEP && ex->baseline && !strcmp(s->label, ex->baseline);
    struct buf why = {0};
    if (s->role != SKELETON && !baseline) return;
    const struct points *got = &s->result.earned;
    double earned = got->correctness + got->technique +
                    got->speed; /* of the file as it came, too, which scores 0 */
    if (earned > NAIVE_MOST)
        problem(c, ex, "%s gets %.1f points, and must get %d at most", s->label, earned,
                NAIVE_MOST);
    if (!score_check_rule(&s->result, &why)) problems(c, ex, s->label, &why);
    buf_free(&why);
}

/* Does a student who runs the unedited skeleton read which line to look at? */
static bool points_to_a_line(const struct result *r) {
    char place[160];
    snprintf(place, sizeof place, "%s:", r->file);
    for (unsigned i = 0; i < r->ncases; i++) {
        const char *at = strstr(r->cases[i].message, place);
        if (at && strspn(at + strlen(place), "123456789") > 0) return true;
    }
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].passed && r->technique[i].line) return true;
    return false;
}

/* Does the ladder's text say why this step is not above the one before? */
static bool explained(const struct exercise *ex, const char *step) {
    char words[160];
    struct buf ladder = {0};
    snprintf(words, sizeof words, "`%.100s` scores no more than", step);
    bool found = read_ladder(ex, &ladder) && strstr(buf_str(&ladder), words);
    buf_free(&ladder);
    return found;
}

/* Points rise from step to step. */
static void check_order(struct checkup *c, unsigned owner) {
    const struct subject *before = NULL;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->owner[i] != owner || s->role != STEP) continue;
        bool more = !before || s->result.score > before->result.score + 0.05;
        bool said = explained(c->list[owner], s->label);
        if (!more && !said)
            problem(c, c->list[owner],
                    "step %s gets %.1f points, %s %.1f, and the ladder does not say why", s->label,
                    s->result.score, before->label, before->result.score);
        if (more && said)
            problem(c, c->list[owner], "the ladder excuses step %s, which needs no excuse",
                    s->label);
        before = s;
    }
}

/* Speed has points where the technique gains something, and only there. */
static void check_share(struct checkup *c, const struct exercise *ex, const struct result *answer) {
    enum {
        SURE = 110
    }; /* %: the gain of an exercise near the bound may move a little with the model */
    /* Graded as a submission is, it runs whole, and other blocks of it are traced: the answer
     * itself must not lose points (full ones are from 0.90 on). Nor is more to be had:
     * segmented_sum's longest segment is seen in a whole run only, 0.94. */
    static const double ITSELF = 0.08;
    double gain = answer->speed.solution_speedup, itself = answer->speed.vs_solution;
    if (!answer->speed.valid) problem(c, ex, "the answer has no time: %s", answer->speed.note);
    else if (itself < 1 - ITSELF || itself > 1 + ITSELF)
        problem(c, ex, "the answer, run whole, is modelled at %.2f of its own speed by a sample",
                itself);
    else if (ex->points.speed > 0 && gain < SCORE_MIN_SPEEDUP)
        problem(c, ex, "speed has points, and the answer gains a factor of %.2f only", gain);
    else if (ex->points.speed == 0 && gain * 100 > SCORE_MIN_SPEEDUP * SURE)
        problem(c, ex, "speed has no points, and the answer gains a factor of %.2f", gain);
}

static bool judge(struct checkup *c, const struct exercise *ex, const struct subject *s) {
    enum verdict v = s->result.verdict;
    const char *code = verdict_code(v);
    bool correct = v == V_AC || v == V_PART;
    if (correct && (s->role == STEP || s->role == ANSWER)) check_published(c, ex, s);
    if (correct) check_naive(c, ex, s);
    if (s->role == SKELETON && v != V_CE && v != V_IE && !points_to_a_line(&s->result))
        problem(c, ex, "what the skeleton's report finds wrong has no line");
    if (s->role == CHEAT) return judge_cheat(c, ex, s);
    if (s->role == KNOWS_SIZES && v != V_IE) return judge_known_sizes(c, ex, s);
    if (v == V_IE) problem(c, ex, "%s: could not be graded: %s", s->label, cli_reason(&s->result));
    else if (s->role == SKELETON && v == V_CE)
        problem(c, ex, "the skeleton does not compile: %s", cli_reason(&s->result));
    else if (s->role == SKELETON && v == V_AC) problem(c, ex, "the skeleton gets full marks");
    else if (s->role == STEP && !correct)
        problem(c, ex, "step %s is %s: %s", s->label, code, cli_reason(&s->result));
    else if (s->role == PRACTICE && !correct)
        problem(c, ex, "practice/%s is %s: %s", s->name, code, cli_reason(&s->result));
    else if (s->role == OTHER && v != V_AC)
        problem(c, ex, "others/%s is right and gets %s, %.1f points: %s", s->label, code,
                s->result.score, cli_reason(&s->result));
    else if (s->role == ANSWER && v != V_AC)
        problem(c, ex, "the answer is %s with %.1f points: %s", code, s->result.score,
                cli_reason(&s->result));
    else if (s->role == DILUTED) return judge_diluted(c, ex, s);
    else if (s->role == DILUTED_OTHER) return judge_diluted_other(c, ex, s);
    else return s->role != MUTANT || judge_mutant(c, ex, s);
    return false;
}

static void summarise(struct checkup *c, unsigned owner, unsigned width, struct buf *out) {
    const struct exercise *ex = c->list[owner];
    const struct result *skeleton = NULL, *answer = NULL;
    unsigned mutants = 0, killed = 0, steps = 0, cheats = 0, seen = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        if (c->owner[i] != owner) continue;
        bool ok = judge(c, ex, s);
        if (s->role == SKELETON) skeleton = &s->result;
        if (s->role == ANSWER) answer = &s->result, check_share(c, ex, answer);
        mutants += s->role == MUTANT, killed += s->role == MUTANT && ok, steps += s->role == STEP;
        cheats += s->role >= CHEAT, seen += s->role >= CHEAT && ok;
    }
    check_order(c, owner);
    buf_printf(out, "%-*s  ", (int)width, book_id(ex));
    if (skeleton) buf_printf(out, "%-4s %5.1f  ", verdict_code(skeleton->verdict), skeleton->score);
    else buf_printf(out, "%-12s", "missing");
    if (answer) buf_printf(out, "%-4s %5.1f  ", verdict_code(answer->verdict), answer->score);
    else buf_printf(out, "%-12s", "missing");
    if (answer && answer->speed.valid && answer->speed.vs_baseline > 0)
        buf_printf(out, "%7.2f x", answer->speed.vs_baseline);
    else buf_printf(out, "%9s", "-");
    buf_printf(out, "  %5u  %4u of %-4u    %u of %u\n", steps, killed, mutants, seen, cheats);
}

static void put_problems(struct checkup *c, const struct exercise *ex, const char *what,
                         struct buf *wrong) {
    for (const char *line = buf_str(wrong); *line; line += strcspn(line, "\n") + 1)
        problem(c, ex, "%s: %.*s", what, (int)strcspn(line, "\n"), line);
    buf_free(wrong);
}

/* Questions and lesson: once for each chapter, named after its first exercise here. */
static void check_chapters(struct checkup *c) {
    for (unsigned i = 0; c->list[i]; i++) {
        struct buf quiz = {0}, lesson = {0};
        if (i && !strcmp(c->list[i]->chapter, c->list[i - 1]->chapter)) continue;
        if (quiz_exists(c->list[i]->chapter)) quiz_check(c->list[i]->chapter, &quiz);
        lesson_check(c->list[i]->chapter, &lesson);
        put_problems(c, c->list[i], "quiz", &quiz), put_problems(c, c->list[i], "lesson", &lesson);
    }
}

static bool grade_everything(struct checkup *c, struct err *e) {
    struct grade_options go = options_grade(c->o, c->o->devices[0]);
    struct result *results = xcalloc(c->n, sizeof *results);
    c->items = xcalloc(c->n, sizeof *c->items);
    for (unsigned i = 0; i < c->n; i++)
        c->items[i] = (struct grade_item){
            .ex = c->list[c->owner[i]],
            .name = c->subjects[i].name,
            .source = &c->subjects[i].source,
            .trusted = c->subjects[i].role<ANSWER, .no_speed = c->subjects[i].role> MUTANT};
    char what[32];
    snprintf(what, sizeof what, "%u files", c->n);
    go.progress = progress_show, go.user = what;
    bool ok = class_grade_many(c->items, c->n, c->o->jobs, &go, results, e);
    for (unsigned i = 0; ok && i < c->n; i++) c->subjects[i].result = results[i];
    free(results);
    return ok;
}

/* Exercise, version, score and modelled time: does the score rise as the time falls? */
static void write_scores(const struct checkup *c, unsigned width, struct buf *out) {
    buf_printf(out, "\n%-*s  %-30s  %-7s %6s  %s\n", (int)width, "exercise", "version", "verdict",
               "score", "modelled, us");
    for (unsigned i = 0; i < c->n; i++) {
        const struct subject *s = &c->subjects[i];
        buf_printf(out, "%-*s  %-30s  %-7s %6.1f", (int)width, book_id(c->list[c->owner[i]]),
                   s->label, verdict_code(s->result.verdict), s->result.score);
        if (s->result.speed.valid) buf_printf(out, "  %.1f", s->result.speed.student_us);
        buf_puts(out, "\n");
    }
}

static void write_summary(struct checkup *c, struct buf *out) {
    unsigned width = 8;
    for (unsigned i = 0; c->list[i]; i++)
        if (strlen(book_id(c->list[i])) > width) width = (unsigned)strlen(book_id(c->list[i]));
    buf_printf(out, "%-*s  %-10s  %-10s  %9s  %5s  %s  %s\n", (int)width, "exercise", "skeleton",
               "answer", "speedup", "steps", "mutants killed", "cheats seen");
    for (unsigned i = 0; c->list[i]; i++) summarise(c, i, width, out);
    buf_puts(out, "(speedup: answer against the naive version, modelled)\n");
    if (c->o->verbose) write_scores(c, width, out);
    if (!c->nproblems) return;
    buf_printf(out, "\n%u rule%s broken:\n", c->nproblems, c->nproblems == 1 ? "" : "s");
    buf_add(out, c->problems.data, c->problems.size);
}

static void free_checkup(struct checkup *c) {
    for (unsigned i = 0; i < c->n; i++) {
        free(c->subjects[i].label), free(c->subjects[i].name);
        buf_free(&c->subjects[i].source);
        result_free(&c->subjects[i].result);
    }
    free(c->subjects), free(c->owner), free(c->items), free(c->list);
    buf_free(&c->problems);
}

int cmd_verify(const struct options *o) {
    struct err e = {0};
    struct options fixed = *o; /* the book's verdicts do not hang on chance */
    snprintf(fixed.seed, sizeof fixed.seed, "verify");
    struct checkup c = {.o = &fixed, .list = cli_chosen(o, &e)};
    if (!c.list) return cli_complain(&e);
    for (unsigned i = 0; c.list[i]; i++) collect(&c, i);
    struct buf out = {0};
    bool ok = grade_everything(&c, &e);
    if (ok) check_chapters(&c);
    progress_clear();
    if (ok) write_summary(&c, &out);
    ok = ok && cli_deliver(o, &out, &e);
    int status = c.nproblems ? EXIT_FAILED : EXIT_PASSED;
    buf_free(&out);
    free_checkup(&c);
    return ok ? status : cli_complain(&e);
}
