/* class_args.c — intake, grading and export for the commands that work on a class; class_args.h
 * describes the functions. */
#include "grader/cli/class_args.h"
#include "grader/class/assignment_draw.h"
#include "grader/cli/vary.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/provenance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool stored_assignment_path(struct store *s, char path[4096], struct err *e) {
    struct store_rows *q = s ? store_query(s, e, "SELECT path FROM assignment", "") : NULL;
    path[0] = 0;
    if (s && store_step(s, &q, e)) snprintf(path, 4096, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return !e->text[0];
}

static bool read_assignment(const struct options *o, struct store *s, struct assignment *a,
                            struct err *e) {
    char path[4096];
    if (o->assignment_path) return assignment_read(o->assignment_path, true, a, e);
    if (!stored_assignment_path(s, path, e)) return false;
    if (!path[0]) return true;
    if (file_exists(path)) return assignment_read(path, true, a, e);
    return err_set(
        e, ERR_INPUT,
        "%s was graded with the assignment %s, which no longer exists; name it with --assignment",
        s->path, path);
}

bool cli_class_assignment(const struct options *o, struct store *s, struct assignment *a,
                          struct options *out, struct err *e) {
    *a = (struct assignment){0}, *out = *o;
    if (!read_assignment(o, s, a, e)) return false;
    if (!a->n) return true;
    out->loaded_assignment = a, out->ignore_modelled_speed |= !a->count_modelled;
    if (!o->has_seed && a->seed[0])
        snprintf(out->seed, sizeof out->seed, "%s", a->seed), out->has_seed = true;
    if (!o->roster && a->roster[0]) out->roster = a->roster;
    if (o->has_device) return true;
    out->ndevices = 0;
    return options_add_device(out, a->device, e) || (assignment_free(a), false);
}

static const struct exercise **exercises_of_assignment(const struct assignment *a) {
    const struct exercise **list = xcalloc(a->n + 1, sizeof *list);
    for (unsigned i = 0; i < a->n; i++) list[i] = a->parts[i].ex;
    return list;
}

const struct exercise **cli_class_list(const struct options *o, struct err *e) {
    if (o->exercise) return book_find(o->exercise, e);
    if (o->loaded_assignment) return exercises_of_assignment(o->loaded_assignment);
    struct options all_options = *o;
    all_options.noperands = 0;
    return cli_select_exercises(&all_options, e);
}

/* Takes missing submission times from git and warns: an author can set a commit's date. */
static void add_git_times(struct plan *p) {
    unsigned n = plan_add_git_times(p);
    if (n)
        fprintf(stderr,
                "grader: warning: for %u student%s the submission time is the date of a commit, "
                "which the student's own clock set (a column submitted_at in the roster takes "
                "precedence)\n",
                n, n == 1 ? "" : "s");
}

static void report_kept(const struct class_kept *kept) {
    if (kept->students > 0)
        fprintf(stderr, "grader: kept what the store has of %lld student%s without an entry here\n",
                kept->students, kept->students == 1 ? "" : "s");
    if (kept->files > 0)
        fprintf(stderr, "grader: kept %lld earlier submission%s of students with an entry here\n",
                kept->files, kept->files == 1 ? "" : "s");
    if (kept->students > 0 || kept->files > 0)
        fputs("grader: if these paths hold all submissions, add --complete: what they lack is then "
              "missing\n",
              stderr);
}

bool cli_class_intake(const struct options *o, struct store *s, const struct exercise *const *list,
                      unsigned *entry_count, struct err *e) {
    struct plan p;
    struct class_kept kept;
    struct plan_options po = {
        .layout = o->layout, .roster = o->roster, .exercise = list[1] ? NULL : list[0]};
    if (o->loaded_assignment && o->loaded_assignment->utc_offset[0])
        po.utc_offset = o->loaded_assignment->utc_offset;
    if (o->loaded_assignment && !assignment_save(o->loaded_assignment, s, e)) return false;
    bool ok = plan_build(&p, o->operands, o->noperands, &po, e);
    if (ok && o->loaded_assignment && o->loaded_assignment->has_deadline) add_git_times(&p);
    ok = ok && class_intake(s, &p, list, o->complete, &kept, e);
    if (ok) report_kept(&kept);
    *entry_count = p.nentries;
    plan_free(&p);
    return ok;
}

static void show_progress(void *user, const struct class_progress *p) {
    (void)user;
    struct buf line = {0};
    struct status_count count = {"submissions", p->graded, p->total, 0};
    status_put_count(&count, p->seconds, &line);
    if (p->internal_error_count) buf_printf(&line, " (%u IE)", p->internal_error_count);
    status_print(buf_str(&line));
    buf_free(&line);
}

static void warn_unverified_compiler(void) {
    const char *verified_nvcc;
    if (grade_is_nvcc_verified(&verified_nvcc)) return;
    fprintf(stderr,
            "grader: warning: nvcc is %s, but the book was verified with %s: goals may be easier "
            "or harder to reach; run `grader verify` first\n",
            grade_nvcc_version(), verified_nvcc);
}

/* Returns false if the assignment is frozen to another build of the grader. A copy for some
 * students counts as the grader that wrote it. */
static bool check_release(const struct assignment *a, struct err *e) {
    char origin[HASH_HEX_SIZE] = "";
    vary_copy_number(origin);
    if (!a || !strncmp(a->release, grade_build_digest(), strlen(a->release)) ||
        !strncmp(a->release, origin, strlen(a->release)))
        return true;
    return err_set(e, ERR_INPUT,
                   "%s is frozen to the grader %s, and this is %s: grade with that one, or change "
                   "its line release",
                   a->path, a->release, grade_build_digest());
}

/* Notes which grader wrote this copy of the book: that one can read its results. */
static bool save_origin(struct store *s, struct err *e) {
    char origin[HASH_HEX_SIZE], name[HASH_HEX_SIZE + 32];
    if (!vary_copy_number(origin)) return true;
    snprintf(name, sizeof name, CLASS_COPY_SETTING "%s", grade_build_digest());
    return store_exec(s, e,
                      "INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                      "tt", name, origin);
}

/* Saves who has which variant, and what follows for the list of submissions to grade. */
static bool prepare_variants(struct store *s, struct class_grade_options *g, struct err *e) {
    if (!g->assignment || !g->assignment->variants.count) return true;
    g->variant = vary_copy_number(NULL);
    return assignment_draw_save(g->assignment, s, e) && save_origin(s, e);
}

/* Grades what fails another variant by this one. */
static bool grade_others(struct store *s, struct class_grade_options *g, struct err *e) {
    g->check_others = true;
    return class_grade(s, g, e);
}

bool cli_class_grade(const struct options *o, struct store *s, const char *seed,
                     bool keep_gradebook, struct err *e) {
    const struct assignment *a = o->loaded_assignment;
    if (!check_release(a, e) || (a && !vary_check_assignment(a, e))) return false;
    struct class_grade_options g = {.grade = options_to_grade_options(o, o->devices[0]),
                                    .keep_gradebook = keep_gradebook,
                                    .progress = show_progress,
                                    .jobs = o->jobs};
    const struct exercise **list = o->exercise ? cli_class_list(o, e) : NULL;
    if (o->exercise && !list) return false;
    if (list && !list[1]) g.only_exercise = list[0];
    free(list);
    if (gpu_options_of(o->devices[0])) g.jobs = 1; /* a second job would disturb the timing */
    if (o->shard_count) g.shard_index = o->shard_number - 1, g.shard_count = o->shard_count;
    g.grade.reuse = o->no_cache ? GRADE_ANEW : GRADE_REUSE_SAME_SEED;
    g.grade.seed = seed, g.assignment = o->loaded_assignment;
    if (!prepare_variants(s, &g, e)) return false;
    if (!g.variant) warn_unverified_compiler();
    bool ok = class_grade(s, &g, e);
    if (ok && !keep_gradebook && a && a->variants.count) ok = grade_others(s, &g, e);
    status_clear();
    return ok;
}

bool cli_class_export(const struct options *o, struct store *s, FILE *f, struct err *e) {
    switch (o->format) {
    case FORMAT_TEXT: return export_text(s, f, e);
    case FORMAT_CSV: return export_csv(s, f, e);
    case FORMAT_NBGRADER: return export_nbgrader(s, f, e);
    case FORMAT_TOTALS: return export_totals(s, f, e);
    case FORMAT_JSON: return export_json(s, f, e);
    case FORMAT_JUNIT: return export_junit(s, f, e);
    case FORMAT_TAP: return export_tap(s, f, e);
    case FORMAT_HTML:
        return err_set(e, ERR_INPUT,
                       "--format html applies to `grader stats`; `grader feedback` writes pages");
    case FORMAT_MOODLE:
    case FORMAT_CANVAS:
    case FORMAT_BLACKBOARD:
    case FORMAT_BRIGHTSPACE:
        return err_set(e, ERR_INPUT, "the formats of an LMS apply to `grader export` and feedback");
    default:
        return err_set(e, ERR_INPUT,
                       "--format gradescope, classroom and autolab apply only to `grader run`");
    }
}

int cli_class_exit_status(struct store *s, struct err *e) {
    long long internal_errors =
        store_query_int(s, e, "SELECT count(*) FROM gradebook WHERE verdict = 'IE'");
    long long not_accepted = store_query_int(
        s, e, "SELECT count(*) FROM gradebook WHERE coalesce(verdict, state) <> 'AC'");
    return internal_errors < 0 || not_accepted < 0 ? cli_report_error(e)
           : internal_errors                       ? EXIT_INTERNAL_ERROR
           : not_accepted                          ? EXIT_FAILED
                                                   : EXIT_PASSED;
}

bool cli_class_open(const struct options *o, unsigned min_names, const char *usage, struct store *s,
                    struct err *e) {
    if (o->noperands < min_names) return err_set(e, ERR_INPUT, "%s takes %s", o->command, usage);
    return store_open(s, o->operands[0], false, e);
}
