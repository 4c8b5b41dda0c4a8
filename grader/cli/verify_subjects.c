/* verify_subjects.c — collects the versions that `grader verify` grades: files of the book, and
 * versions generated from them (metric_padding.h, path_evasion.h, hardcoded sizes). */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/problem.h"
#include "grader/cli/commands.h"
#include "grader/cli/metric_padding.h"
#include "grader/cli/quiz.h"
#include "grader/cli/vendor.h"
#include "grader/cli/verify.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MIN_STEPS = 2, /* of a ladder, without the model solution */
    MAX_STEPS = 9,
    MIN_MUTANTS = 4
};

void verify_report_problem(struct verification *c, const struct exercise *ex, const char *format,
                           ...) {
    va_list ap;
    buf_printf(&c->problems, "%s: ", book_id(ex));
    va_start(ap, format);
    buf_vprintf(&c->problems, format, ap);
    va_end(ap);
    buf_puts(&c->problems, "\n");
    c->nproblems++;
}

void verify_report_problems(struct verification *c, const struct exercise *ex, const char *context,
                            struct buf *lines) {
    char *rest = NULL;
    for (char *l = lines->size ? strtok_r(lines->data, "\n", &rest) : NULL; l;
         l = strtok_r(NULL, "\n", &rest))
        verify_report_problem(c, ex, "%s: %s", context, l);
    buf_free(lines);
}

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
    else verify_report_problem(c, c->list[exercise_index], "%s", e.text);
}

static void add_starter(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    struct buf text = {0};
    struct err e = {0};
    char name[128];
    snprintf(name, sizeof name, "%s.cu", ex->name);
    bool ok = c->o->working_tree ? file_read(book_chapter_file(ex, ".cu"), SOURCE_LIMIT, &text, &e)
                                 : book_original_starter(ex, &text, &e);
    if (!ok) verify_report_problem(c, ex, "starter file: %s", e.text);
    else if (!strstr(buf_str(&text), "// TODO"))
        verify_report_problem(c, ex, "the starter file has no `// TODO`");
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
    else verify_report_problem(c, ex, "%s", e.text);
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
            verify_report_problem(c, c->list[exercise_index], "%s", e.text);
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
        if (!ok) verify_report_problem(c, ex, "%s", e.text);
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
        *add_subject(c, exercise_index, HARDCODED_SIZES, "exploit-sizes", "solution.cu") = text;
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
        verify_report_problem(c, ex, "%u mutants in %s; the book requires %d or more", mutant_count,
                              folder + strlen(book_root()) + 1, MIN_MUTANTS);
    snprintf(folder, sizeof folder, "%.3800s/grader/tests/others/%.100s/%.100s", book_root(),
             ex->chapter, ex->name);
    add_folder(c, exercise_index, ALTERNATIVE, folder);
}

static void require_file(struct verification *c, const struct exercise *ex, const char *path) {
    struct buf text = {0};
    struct err e = {0};
    if (!file_read(path, SOURCE_LIMIT, &text, &e)) verify_report_problem(c, ex, "%s", e.text);
    else if (text.size < 80)
        verify_report_problem(c, ex, "%s has less than 80 characters",
                              path + strlen(book_root()) + 1);
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
    if (hint_count != 3) verify_report_problem(c, ex, "%u hints instead of 3", hint_count);
    buf_free(&task);
}

void verify_collect_subjects(struct verification *c, unsigned exercise_index) {
    const struct exercise *ex = c->list[exercise_index];
    struct buf reason = {0};
    if (!problem_check_drawn_cases(ex, &reason))
        verify_report_problems(c, ex, "drawn cases", &reason);
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
        verify_report_problem(c, ex, "%u steps %s-N-….cu in solutions/%s instead of %d to %d",
                              nsteps, ex->name, ex->chapter, MIN_STEPS, MAX_STEPS);
    if (!has_baseline)
        verify_report_problem(c, ex, "its baseline '%s' is not a step of the ladder", ex->baseline);
    book_free_list(steps);
    add_file(c, exercise_index, SOLUTION, "solution", book_solution_file(ex, NULL));
    add_mutants_and_alternatives(c, exercise_index);
    if (c->o->quick) return;
    add_practice(c, exercise_index);
    add_padded_baseline(c, exercise_index);
    add_padded_others(c, exercise_index);
    add_evasions(c, exercise_index);
    add_hardcoded_sizes(c, exercise_index);
}
