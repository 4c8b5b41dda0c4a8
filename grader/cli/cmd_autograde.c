/* cmd_autograde.c — grader autograde FOLDER --assignment HW.toml: one submission as Gradescope lays
 * it out: FOLDER/submission, FOLDER/submission_metadata.json; into FOLDER/results/results.json,
 * which is there whatever happens. */
#include "common/clock.h"
#include "common/file.h"
#include "grader/class/grade_many.h"
#include "grader/class/intake.h"
#include "grader/class/pick.h"
#include "grader/cli/class_args.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct handed_in {
    struct intake in;
    struct pick *picks;
    const struct exercise **list;
    unsigned n;
    const char **absent; /* of each exercise; NULL = there is a file */
    bool doubt;
};

static bool wanted(void *user, const char *path) {
    (void)user;
    return intake_is_source(path);
}

static bool read_submission(const struct options *o, const char *folder, struct handed_in *h,
                            struct err *e) {
    char path[PATH_MAX];
    if (!path_join(path, sizeof path, folder, "submission"))
        return err_set(e, ERR_INPUT, "%s: path too long", folder);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return err_set(e, ERR_INPUT, "%s is no folder that can be read", path);
    intake_folder(fd, wanted, NULL, &h->in);
    close(fd);
    h->n = o->terms->n, h->list = cli_class_list(o, e);
    h->picks = xcalloc(h->n + 1, sizeof *h->picks),
    h->absent = xcalloc(h->n + 1, sizeof *h->absent);
    pick_files(&h->in, h->list, h->picks);
    h->doubt = h->in.doubt;
    for (unsigned i = 0; i < h->in.nleft; i++) h->doubt |= h->in.left[i].doubt;
    for (unsigned i = 0; i < h->n; i++) {
        h->doubt |= h->picks[i].file < 0 && h->picks[i].why;
        if (h->picks[i].file >= 0) continue;
        h->absent[i] = h->picks[i].why ? h->picks[i].why
                       : h->doubt
                           ? "no file of this exercise, and something that could not be taken"
                           : "no file of this exercise was handed in";
    }
    return true;
}

/* What was left out, with the reasons, for the page that the student sees. */
static void say_left(const struct handed_in *h, struct buf *out) {
    for (unsigned i = 0; i < h->in.nleft; i++)
        buf_printf(out, "left out: %s: %s\n", h->in.left[i].path, h->in.left[i].why);
}

static bool grade_all(const struct options *o, const struct handed_in *h, struct result *results,
                      struct err *e) {
    struct grade_options go = options_grade(o, o->devices[0]);
    go.size_seed_includes_source =
        true; /* students hand in as often as they like, and read which sizes were wrong */
    go.prefetch_inputs = false; /* containers are small */
    struct grade_item *items = xcalloc(h->n + 1, sizeof *items);
    struct result *graded = xcalloc(h->n + 1, sizeof *graded);
    unsigned n = 0;
    for (unsigned i = 0; i < h->n; i++)
        if (!h->absent[i])
            items[n++] = (struct grade_item){.ex = h->list[i],
                                             .name = h->list[i]->name,
                                             .source = &h->in.files[h->picks[i].file].data,
                                             .terms = class_terms(o->terms, h->list[i])};
    /* One after the other, for the same reason. */
    bool ok = !n || class_grade_many(items, n, o->jobs ? o->jobs : 1, &go, graded, e);
    for (unsigned i = 0, k = 0; ok && i < h->n; i++) {
        if (!h->absent[i]) results[i] = graded[k++];
        else
            results[i] = (struct result){.ex = h->list[i],
                                         .id = book_id(h->list[i]),
                                         .file = "",
                                         .message = "",
                                         .max_score = 100};
    }
    free(items), free(graded);
    return ok;
}

/* ---- the mark ---- */

static bool submitted_at(const char *folder, long long *out) {
    char path[PATH_MAX];
    struct buf text = {0};
    struct err e = {0};
    json_t *o = NULL;
    if (path_join(path, sizeof path, folder, "submission_metadata.json") &&
        file_read(path, 4 << 20, &text, &e))
        o = json_loads(buf_str(&text), 0, NULL);
    const char *when = json_string_value(json_object_get(o, "created_at"));
    bool ok = when && assignment_time(when, out);
    json_decref(o);
    buf_free(&text);
    return ok;
}

/* The next one to be dropped: the lowest, of equal ones the heaviest, which is best for the
 * student; as the view `mark` has it. */
static unsigned lowest(const struct assignment *a, const double *score, const bool *dropped) {
    unsigned at = a->n;
    for (unsigned i = 0; i < a->n; i++) {
        if (dropped[i]) continue;
        bool equal = at < a->n && score[i] == score[at];
        if (at == a->n || score[i] < score[at] ||
            (equal && a->parts[i].weight > a->parts[at].weight))
            at = i;
    }
    return at;
}

static double total(const struct assignment *a, const struct result *results,
                    const struct handed_in *h) {
    double *score = xcalloc(a->n, sizeof *score), sum = 0, weights = 0;
    bool *dropped = xcalloc(a->n, sizeof *dropped);
    for (unsigned i = 0; i < a->n; i++) score[i] = h->absent[i] ? 0 : results[i].score;
    for (unsigned k = 0; k < a->drop; k++) dropped[lowest(a, score, dropped)] = true;
    for (unsigned i = 0; i < a->n; i++)
        if (!dropped[i]) sum += a->parts[i].weight * score[i], weights += a->parts[i].weight;
    free(score), free(dropped);
    return weights > 0 ? sum / weights : 0;
}

static double mark(const struct options *o, const char *folder, const struct result *results,
                   const struct handed_in *h, struct buf *note) {
    const struct assignment *a = o->terms;
    long long when, days = 0;
    bool known = submitted_at(folder, &when);
    if (known) days = assignment_days_late(a, when);
    if (a->timed && !known)
        buf_puts(note, "The time of the submission is not known: it counts as in time.\n");
    if (days)
        buf_printf(note, "Late by %lld day%s begun: %.0f %% of the mark count.\n", days,
                   days == 1 ? "" : "s", 100 * assignment_kept(a, days));
    if (a->drop)
        buf_printf(note, "The lowest %u of %u exercises %s dropped.\n", a->drop, a->n,
                   a->drop == 1 ? "is" : "are");
    return days || a->drop ? total(a, results, h) * assignment_kept(a, days) : NAN;
}

static const char *shown(enum assignment_show s) {
    static const char *const names[] = {[ASSIGNMENT_visible] = "visible",
                                        [ASSIGNMENT_hidden] = "hidden",
                                        [ASSIGNMENT_after_due_date] = "after_due_date",
                                        [ASSIGNMENT_after_published] = "after_published"};
    return names[s];
}

static void write_report(const struct options *o, const char *folder, const struct handed_in *h,
                         const struct result *results, double began, struct buf *out) {
    const struct assignment *a = o->terms;
    struct buf note = {0};
    double *share = xcalloc(h->n, sizeof *share), weights = 0;
    for (unsigned i = 0; i < h->n; i++) weights += a->parts[i].weight;
    for (unsigned i = 0; i < h->n; i++)
        share[i] = a->parts[i].weight / weights; /* 100 points in all */
    struct report_autograder_options how = {.goal_visibility = shown(a->gradescope.goals),
                                            .guard_visibility = shown(a->gradescope.guards),
                                            .case_visibility = shown(a->gradescope.cases),
                                            .leaderboard = a->gradescope.leaderboard,
                                            .weights = share,
                                            .absent_reasons = h->absent,
                                            .needs_review = h->doubt};
    how.score = mark(o, folder, results, h, &note);
    say_left(h, &note);
    how.note = buf_str(&note), how.seconds = clock_seconds() - began;
    report_autograder(results, h->n, o->devices[0], &how, out);
    buf_free(&note), free(share);
}

static bool autograde(const struct options *o, const char *folder, struct buf *out, struct err *e) {
    struct assignment a;
    struct options by;
    struct handed_in h = {0};
    double began = clock_seconds();
    if (!o->assignment) return err_set(e, ERR_INPUT, "autograde takes --assignment");
    if (!cli_class_assignment(o, NULL, &a, &by, e)) return false;
    struct result *results = xcalloc(a.n + 1, sizeof *results);
    bool ok = read_submission(&by, folder, &h, e) && grade_all(&by, &h, results, e);
    if (ok) write_report(&by, folder, &h, results, began, out);
    for (unsigned i = 0; ok && i < h.n; i++) result_free(&results[i]);
    free(results), free(h.picks), free(h.absent), free(h.list);
    intake_free(&h.in), assignment_free(&a);
    return ok;
}

int cmd_autograde(const struct options *o) {
    struct err e = {0}, unwritten = {0};
    struct buf out = {0};
    char path[PATH_MAX], results[PATH_MAX];
    if (o->nnames != 1)
        return err_set(&e, ERR_INPUT, "autograde takes a folder laid out as /autograder"),
               cli_complain(&e);
    bool ok = autograde(o, o->names[0], &out, &e);
    if (!ok) buf_clear(&out), report_autograder_failed(e.text, &out);
    bool written = path_join(results, sizeof results, o->names[0], "results") &&
                   dir_create(results, &unwritten) &&
                   path_join(path, sizeof path, results, "results.json") &&
                   file_write(path, out.data, out.size, &unwritten);
    buf_free(&out);
    if (!written) return cli_complain(&unwritten);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
