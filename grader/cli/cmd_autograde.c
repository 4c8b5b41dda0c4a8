/* cmd_autograde.c — grader autograde FOLDER --assignment HW.toml: grades one submission in
 * Gradescope's layout, FOLDER/submission and FOLDER/submission_metadata.json. It writes
 * FOLDER/results/results.json in every case; on an error that file has the reason and no score.
 * Gradescope's run_autograder calls it. */
#include "common/clock.h"
#include "common/file.h"
#include "grader/class/grade_many.h"
#include "grader/class/intake.h"
#include "grader/class/match_files.h"
#include "grader/cli/class_args.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a student handed in for the exercises of the assignment. */
struct hand_in {
    struct intake in;
    unsigned exercise_count;
    /* For each exercise: */
    const struct exercise **exercises;
    struct exercise_match *matches;
    const char **absence_reasons; /* why it has no file; NULL = it has one */
};

static void set_absence_reasons(struct hand_in *h) {
    for (unsigned i = 0; i < h->exercise_count; i++) {
        if (h->matches[i].file_index >= 0) continue;
        h->absence_reasons[i] =
            h->matches[i].reason ? h->matches[i].reason
            : h->in.needs_review ? "no file for this exercise, but some entries could not be taken"
                                 : "no file for this exercise was handed in";
    }
}

static bool read_hand_in(const struct options *o, const char *folder, struct hand_in *h,
                         struct err *e) {
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, folder, "submission"))
        return err_set(e, ERR_INPUT, "%s: path too long", folder);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return err_set(e, ERR_INPUT, "%s is not a readable folder", path);
    intake_folder(fd, intake_accept_source, NULL, &h->in);
    close(fd);
    h->exercise_count = o->loaded_assignment->n, h->exercises = cli_class_list(o, e);
    h->matches = xcalloc(h->exercise_count + 1, sizeof *h->matches),
    h->absence_reasons = xcalloc(h->exercise_count + 1, sizeof *h->absence_reasons);
    match_files_to_exercises(&h->in, h->exercises, h->matches);
    set_absence_reasons(h);
    return true;
}

/* Appends what was left out, with the reasons, for the page that the student sees. */
static void put_rejections(const struct hand_in *h, struct buf *out) {
    for (unsigned i = 0; i < h->in.nrejections; i++)
        buf_printf(out, "left out: %s: %s\n", h->in.rejections[i].path, h->in.rejections[i].reason);
}

static bool grade_all(const struct options *o, const struct hand_in *h, struct result *results,
                      struct err *e) {
    struct grade_options go = options_to_grade_options(o, o->devices[0]);
    /* Students may submit again and again, and read which sizes failed: each version of a file gets
     * drawn cases of its own. */
    go.size_seed_includes_source = true;
    go.prefetch_inputs = false; /* Gradescope's containers have little memory */
    struct grade_item *items = xcalloc(h->exercise_count + 1, sizeof *items);
    struct result *graded = xcalloc(h->exercise_count + 1, sizeof *graded);
    unsigned n = 0;
    for (unsigned i = 0; i < h->exercise_count; i++)
        if (!h->absence_reasons[i])
            items[n++] =
                (struct grade_item){.ex = h->exercises[i],
                                    .name = h->exercises[i]->name,
                                    .source = &h->in.files[h->matches[i].file_index].data,
                                    .policy = class_policy(o->loaded_assignment, h->exercises[i])};
    /* One job by default: containers have little memory. */
    bool ok = !n || class_grade_many(items, n, o->jobs ? o->jobs : 1, &go, graded, e);
    for (unsigned i = 0, k = 0; ok && i < h->exercise_count; i++) {
        if (!h->absence_reasons[i]) results[i] = graded[k++];
        else
            results[i] = (struct result){.ex = h->exercises[i],
                                         .id = book_id(h->exercises[i]),
                                         .file = "",
                                         .message = "",
                                         .max_score = 100};
    }
    free(items), free(graded);
    return ok;
}

/* ---- the score ---- */

static bool read_submission_time(const char *folder, long long *out) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err e = {0};
    json_t *o = NULL;
    if (path_join(path, sizeof path, folder, "submission_metadata.json") &&
        file_read(path, 4 << 20, &text, &e))
        o = json_loads(buf_str(&text), 0, NULL);
    const char *created_at = json_string_value(json_object_get(o, "created_at"));
    bool ok = created_at && assignment_parse_time(created_at, out);
    json_decref(o);
    buf_free(&text);
    return ok;
}

/* Returns the next exercise to drop: the lowest score, of equal ones the heaviest, which is best
 * for the student. The store's view `mark` uses the same rule. There is one: an assignment file
 * with drop_lowest >= n is refused. */
static unsigned lowest_score_index(const struct assignment *a, const double *score,
                                   const bool *is_dropped) {
    unsigned at = a->n;
    for (unsigned i = 0; i < a->n; i++) {
        if (is_dropped[i]) continue;
        bool is_tie = at < a->n && score[i] == score[at];
        if (at == a->n || score[i] < score[at] ||
            (is_tie && a->parts[i].weight > a->parts[at].weight))
            at = i;
    }
    return at;
}

static double total_score(const struct assignment *a, const struct result *results,
                          const struct hand_in *h) {
    double *score = xcalloc(a->n, sizeof *score), sum = 0, weights = 0;
    bool *is_dropped = xcalloc(a->n, sizeof *is_dropped);
    for (unsigned i = 0; i < a->n; i++) score[i] = h->absence_reasons[i] ? 0 : results[i].score;
    for (unsigned k = 0; k < a->drop_lowest; k++)
        is_dropped[lowest_score_index(a, score, is_dropped)] = true;
    for (unsigned i = 0; i < a->n; i++)
        if (!is_dropped[i]) sum += a->parts[i].weight * score[i], weights += a->parts[i].weight;
    free(score), free(is_dropped);
    return weights > 0 ? sum / weights : 0;
}

/* Appends what changes the score of all exercises together. `days`: started days of lateness. */
static void append_score_notes(const struct assignment *a, bool has_time, long long days,
                               struct buf *note) {
    if (a->has_deadline && !has_time)
        buf_puts(note, "The submission time is unknown, so the submission counts as on time.\n");
    if (days)
        buf_printf(note, "Late by %lld started day%s: %.0f %% of the score counts.\n", days,
                   days == 1 ? "" : "s", 100 * assignment_late_factor(a, days));
    if (a->drop_lowest)
        buf_printf(note, "The lowest %u of %u scores %s dropped.\n", a->drop_lowest, a->n,
                   a->drop_lowest == 1 ? "is" : "are");
}

/* Returns the score to report; NAN if it is the sum of the exercises' scores, which Gradescope adds
 * up. Appends to `note` what changed the score. */
static double final_score(const struct options *o, const char *folder, const struct result *results,
                          const struct hand_in *h, struct buf *note) {
    const struct assignment *a = o->loaded_assignment;
    long long submitted, days = 0;
    bool has_time = read_submission_time(folder, &submitted);
    if (has_time) days = assignment_days_late(a, submitted);
    append_score_notes(a, has_time, days, note);
    return days || a->drop_lowest ? total_score(a, results, h) * assignment_late_factor(a, days)
                                  : NAN;
}

static const char *visibility_name(enum assignment_visibility s) {
    static const char *const names[] = {[ASSIGNMENT_visible] = "visible",
                                        [ASSIGNMENT_hidden] = "hidden",
                                        [ASSIGNMENT_after_due_date] = "after_due_date",
                                        [ASSIGNMENT_after_published] = "after_published"};
    return names[s];
}

static void write_report(const struct options *o, const char *folder, const struct hand_in *h,
                         const struct result *results, double start_seconds, struct buf *out) {
    const struct assignment *a = o->loaded_assignment;
    struct buf note = {0};
    double *share = xcalloc(h->exercise_count, sizeof *share), weights = 0;
    for (unsigned i = 0; i < h->exercise_count; i++) weights += a->parts[i].weight;
    for (unsigned i = 0; i < h->exercise_count; i++)
        share[i] = a->parts[i].weight / weights; /* of the 100 points */
    struct report_autograder_options report_options = {
        .goal_visibility = visibility_name(a->gradescope.goals),
        .guard_visibility = visibility_name(a->gradescope.guards),
        .case_visibility = visibility_name(a->gradescope.cases),
        .leaderboard = a->gradescope.leaderboard,
        .weights = share,
        .absent_reasons = h->absence_reasons,
        .needs_review = h->in.needs_review};
    report_options.score = final_score(o, folder, results, h, &note);
    put_rejections(h, &note);
    report_options.note = buf_str(&note), report_options.seconds = clock_seconds() - start_seconds;
    report_autograder(results, h->exercise_count, o->devices[0], &report_options, out);
    buf_free(&note), free(share);
}

static bool autograde(const struct options *o, const char *folder, struct buf *out, struct err *e) {
    struct assignment a;
    struct options effective; /* with what the assignment sets; loaded_assignment is &a */
    struct hand_in h = {0};
    double start_seconds = clock_seconds();
    if (!o->assignment_path) return err_set(e, ERR_INPUT, "autograde needs --assignment F.toml");
    if (!cli_class_assignment(o, NULL, &a, &effective, e)) return false;
    if (a.variants.count)
        return err_set(e, ERR_INPUT, "autograde can't grade an assignment with [variants]"),
               assignment_free(&a), false;
    struct result *results = xcalloc(a.n + 1, sizeof *results);
    bool ok = read_hand_in(&effective, folder, &h, e) && grade_all(&effective, &h, results, e);
    if (ok) write_report(&effective, folder, &h, results, start_seconds, out);
    for (unsigned i = 0; ok && i < h.exercise_count; i++) result_free(&results[i]);
    free(results), free(h.matches), free(h.absence_reasons), free(h.exercises);
    intake_free(&h.in), assignment_free(&a);
    return ok;
}

int cmd_autograde(const struct options *o) {
    struct err e = {0}, write_error = {0};
    struct buf out = {0};
    char path[PATH_MAX], results[PATH_MAX];
    if (o->noperands != 1)
        return err_set(&e, ERR_INPUT, "autograde takes one folder with the layout of /autograder"),
               cli_report_error(&e);
    bool ok = autograde(o, o->operands[0], &out, &e);
    if (!ok) buf_clear(&out), report_autograder_failed(e.text, &out);
    bool is_written = path_join(results, sizeof results, o->operands[0], "results") &&
                      dir_create(results, &write_error) &&
                      path_join(path, sizeof path, results, "results.json") &&
                      file_write(path, out.data, out.size, &write_error);
    buf_free(&out);
    if (!is_written) return cli_report_error(&write_error);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
