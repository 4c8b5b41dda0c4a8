/* intake_collect.c — class_intake: saves each student's submission in the store (class.h). */
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/assignment.h"
#include "grader/class/class.h"
#include "grader/class/intake_read.h"
#include "grader/class/match_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct intake_ctx {
    struct store *s;
    const struct plan *p;
    const struct exercise *const *list;
    struct exercise_match *matches;
    unsigned found_count; /* students of whom this run's paths have an entry, or may have one */
    bool is_complete;
    struct class_kept *kept;
};

/* ---- rows ---- */

static bool add_intake_row(struct intake_ctx *c, const char *student, const char *entry,
                           const char *file, const char *exercise, const char *state,
                           const char *reason, struct err *e) {
    return store_exec(
        c->s, e,
        "INSERT INTO intake (student, entry, file, exercise, state, why) VALUES (?, ?, ?, ?, ?, ?)",
        "tttttt", student, entry, file, exercise, state, reason);
}

static bool upsert_submission(struct intake_ctx *c, const char *student, const struct exercise *ex,
                              const char *state, const char *digest, const char *file,
                              const char *reason, struct err *e) {
    return store_exec(
        c->s, e,
        "INSERT INTO submission (student, exercise, state, digest, file, why) VALUES "
        "(?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (student, exercise) DO UPDATE SET state = excluded.state, file = "
        "excluded.file,"
        " why = excluded.why, key = CASE WHEN submission.digest = excluded.digest THEN "
        "submission.key END, "
        "digest = excluded.digest",
        "tttttt", student, book_id(ex), state, digest, file, reason);
}

static bool save_accepted_file(struct intake_ctx *c, const char *student, const char *entry,
                               const struct exercise *ex, const struct intake_file *f,
                               struct err *e) {
    struct buf shown = {0};
    char digest[HASH_HEX_SIZE];
    sha256_hex(f->data.data, f->data.size, digest);
    text_clean_name(&shown, f->path);
    bool ok = store_exec(c->s, e,
                         "INSERT INTO source (digest, body) VALUES (?, ?) ON CONFLICT DO NOTHING",
                         "tb", digest, &f->data) &&
              upsert_submission(c, student, ex, "taken", digest, buf_str(&shown), "", e) &&
              add_intake_row(c, student, entry, buf_str(&shown), book_id(ex), "taken", "", e);
    buf_free(&shown);
    return ok;
}

static const char *first_review_reason(const struct intake *in) {
    for (unsigned i = 0; i < in->nrejections; i++)
        if (in->rejections[i].needs_review) return in->rejections[i].reason;
    return in->needs_review ? "more files were left out than are listed" : "";
}

static bool upsert_student(struct intake_ctx *c, const struct plan_student *st, unsigned entries,
                           const char *review_reason, struct err *e) {
    char time[32] = "";
    long long seconds;
    if (st->time && !assignment_parse_time(st->time, &seconds))
        return err_set(
            e, ERR_INPUT,
            "'%.100s' handed in at '%.60s': write the time like 2026-10-01T21:59:00+02:00", st->id,
            st->time);
    if (st->time) assignment_format_time(seconds, time);
    return store_exec(
        c->s, e,
        "INSERT INTO student (id, name, rostered, entries, doubt, submitted_at) VALUES "
        "(?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET submitted_at = CASE WHEN "
        "excluded.submitted_at = '' THEN student.submitted_at ELSE excluded.submitted_at END, "
        "name = CASE WHEN excluded.name = '' THEN student.name ELSE excluded.name END,"
        " rostered = CASE WHEN excluded.rostered = 1 THEN 1 ELSE student.rostered END, entries = "
        "excluded.entries, "
        "doubt = excluded.doubt",
        "ttlltt", st->id, st->name, (long long)st->is_rostered, (long long)entries, review_reason,
        time);
}

/* Adds a row for the book's exercises that were handed in, but aren't among those to grade. */
static bool save_other_exercises(struct intake_ctx *c, const char *student, const char *entry,
                                 const struct intake *in, struct err *e) {
    unsigned n = in->other_exercise_count, shown = 1;
    struct buf reason = {0};
    for (const char *p = buf_str(&in->other_exercises); (p = strchr(p, ',')); p++) shown++;
    if (!n) return true;
    buf_printf(&reason, "not part of this assignment: %s", buf_str(&in->other_exercises));
    if (n > shown) buf_printf(&reason, " and %u more", n - shown);
    bool ok = add_intake_row(c, student, entry, "", "", "left out", buf_str(&reason), e);
    buf_free(&reason);
    return ok;
}

static bool save_rejections(struct intake_ctx *c, const char *student, const char *entry,
                            const struct intake *in, struct err *e) {
    bool ok = true;
    char other_files_text[64];
    for (unsigned i = 0; i < in->nrejections && ok; i++)
        ok = add_intake_row(c, student, entry, in->rejections[i].path, "",
                            in->rejections[i].needs_review ? "unclear" : "left out",
                            in->rejections[i].reason, e);
    snprintf(other_files_text, sizeof other_files_text, "%u other file%s, no sources",
             in->other_file_count, in->other_file_count == 1 ? "" : "s");
    if (in->other_file_count && ok)
        ok = add_intake_row(c, student, entry, "", "", "left out", other_files_text, e);
    return ok && save_other_exercises(c, student, entry, in, e);
}

/* Sets to absent what an earlier intake took and is no longer handed in. The row must stay: another
 * grader may export the store now, and no student may vanish from the gradebook.
 * add_missing_submissions sets the final state. */
static bool withdraw_submission(struct intake_ctx *c, const char *student, const char *exercise,
                                struct err *e) {
    return store_exec(c->s, e,
                      "UPDATE submission SET state = 'absent', digest = NULL, file = '', why = "
                      "'nothing handed in', key = NULL WHERE student = ? AND exercise = ? AND file "
                      "<> ''",
                      "tt", student, exercise);
}

static bool has_submission(struct intake_ctx *c, const char *student, const char *exercise,
                           struct err *e) {
    struct store_rows *q = store_query(
        c->s, e, "SELECT 1 FROM submission WHERE student = ? AND exercise = ? AND file <> ''", "tt",
        student, exercise);
    bool found = store_step(c->s, &q, e);
    store_finalize(&q);
    return found;
}

/* Keeps what an earlier run took of exercises that this run has no file of: it may name only a
 * folder of resubmissions. If something of the student needs a review, the file may be in there. */
static bool keep_or_withdraw(struct intake_ctx *c, const char *student, bool needs_review,
                             struct err *e) {
    bool ok = true;
    for (unsigned k = 0; c->list[k] && ok; k++) {
        const char *exercise = book_id(c->list[k]);
        if (c->matches[k].file_index >= 0 || c->matches[k].reason) continue;
        if (c->is_complete || needs_review) ok = withdraw_submission(c, student, exercise, e);
        else c->kept->files += has_submission(c, student, exercise, e);
    }
    return ok && !e->text[0];
}

static bool save_student_intake(struct intake_ctx *c, const struct plan_student *st,
                                const char *entry, unsigned entries, struct intake *in,
                                struct err *e) {
    match_files_to_exercises(in, c->list, c->matches);
    bool ok = upsert_student(c, st, entries, first_review_reason(in), e) &&
              store_exec(c->s, e, "DELETE FROM intake WHERE student = ?", "t", st->id) &&
              keep_or_withdraw(c, st->id, in->needs_review, e);
    for (unsigned k = 0; c->list[k] && ok; k++) {
        if (c->matches[k].file_index >= 0)
            ok = save_accepted_file(c, st->id, entry, c->list[k],
                                    &in->files[c->matches[k].file_index], e);
        else if (c->matches[k].reason)
            ok = upsert_submission(c, st->id, c->list[k], "unclear", NULL, "several",
                                   c->matches[k].reason, e);
    }
    ok = ok && save_rejections(c, st->id, entry, in, e);
    if (ok && entries && !in->n && !in->nrejections && !in->other_file_count)
        ok = add_intake_row(c, st->id, entry, "", "", st->is_rostered ? "missing" : "left out",
                            "it is empty", e);
    if (ok && !entries && st->is_rostered && !st->review_reason)
        ok = add_intake_row(c, st->id, "", "", "", "missing",
                            "on the roster, but nothing handed in", e);
    if (ok && entries && c->p->has_roster && !st->is_rostered)
        ok = add_intake_row(c, st->id, entry, "", "", "note", "not on the roster", e);
    return ok;
}

/* Replaces the student's rows of `entry`. */
static bool save_entries(struct intake_ctx *c, const struct plan_student *st,
                         const struct plan_pair *pairs, unsigned n, struct err *e) {
    bool ok = store_exec(c->s, e, "DELETE FROM entry WHERE student = ?", "t", st->id);
    for (unsigned i = 0; i < n && ok; i++) {
        const struct plan_entry *en = &c->p->entries[pairs[i].entry];
        ok = store_exec(c->s, e, "INSERT INTO entry VALUES (?, ?, ?, ?, ?)", "ttttl", st->id,
                        en->name, plan_layout_name(en->layout), en->file, (long long)en->kind);
    }
    return ok;
}

static bool save_student(struct intake_ctx *c, unsigned student, const struct plan_pair *pairs,
                         unsigned n, struct intake *in, struct err *e) {
    const struct plan_student *st = &c->p->students[student];
    struct buf entry = {0};
    for (unsigned i = 0; i < n; i++) {
        buf_puts(&entry, i ? ", " : "");
        text_clean_name(&entry, c->p->entries[pairs[i].entry].name);
    }
    bool ok =
        save_student_intake(c, st, buf_str(&entry), n, in, e) && save_entries(c, st, pairs, n, e);
    buf_free(&entry);
    return ok;
}

/* Updates what the roster says of a student whose submission an earlier run stored, and keeps the
 * submission. `*kept` becomes false if the store has none. */
static bool keep_student(struct intake_ctx *c, const struct plan_student *st, bool *kept,
                         struct err *e) {
    struct store_rows *q = store_query(
        c->s, e, "SELECT entries, doubt FROM student WHERE id = ? AND (entries > 0 OR doubt <> '')",
        "t", st->id);
    struct buf review_reason = {0};
    unsigned entries = 0;
    *kept = store_step(c->s, &q, e);
    if (*kept) entries = (unsigned)store_column_int(q, 0);
    if (*kept) buf_puts(&review_reason, store_column_text(q, 1));
    store_finalize(&q);
    bool ok = !e->text[0] && (!*kept || upsert_student(c, st, entries, buf_str(&review_reason), e));
    buf_free(&review_reason);
    return ok;
}

/* Saves a student, or keeps what the store has if no entry of this run can be the student's. */
static bool save_or_keep(struct intake_ctx *c, unsigned student, const struct plan_pair *pairs,
                         unsigned n, struct intake *in, struct err *e) {
    const struct plan_student *st = &c->p->students[student];
    bool is_found = n || st->review_reason, kept = false;
    c->found_count += is_found;
    if (!is_found && !c->is_complete && !keep_student(c, st, &kept, e)) return false;
    return kept || save_student(c, student, pairs, n, in, e);
}

/* Saves a group of students that have been read, in one transaction: a sync for each student would
 * take longer than all else. A student who is not read yet is read between two transactions, so
 * that no other grader waits for the lock meanwhile. */
static bool save_group(struct intake_ctx *c, struct intake_group *g, struct err *e) {
    bool ok = store_begin(c->s, e);
    if (!ok) return false;
    for (unsigned i = 0; i < g->n && ok; i++) {
        const struct plan_pair *pairs = c->p->pairs + g->first_pair[i];
        unsigned student = g->first_student + i, n = g->first_pair[i + 1] - g->first_pair[i];
        if (!g->is_read[i]) {
            if (!store_commit(c->s, true, e)) return false;
            intake_read_student(c->p, student, pairs, n, &g->intakes[i]);
            if (!store_begin(c->s, e)) return false;
        }
        ok = save_or_keep(c, student, pairs, n, &g->intakes[i], e);
        intake_free(&g->intakes[i]);
    }
    return store_commit(c->s, ok, e);
}

static bool collect_all(struct intake_ctx *c, struct err *e) {
    struct intake_group *g = xcalloc(1, sizeof *g);
    bool ok = true;
    for (unsigned student = 0, pair = 0; student < c->p->nstudents && ok;) {
        ok = intake_read_group(g, c->p, student, pair, e) && save_group(c, g, e);
        student += g->n, pair = g->first_pair[g->n];
        intake_free_group(g);
    }
    free(g);
    return ok;
}

/* ---- the rest of the rows ---- */

static bool save_unattributed_entries(struct intake_ctx *c, struct err *e) {
    bool ok = store_exec(c->s, e, "DELETE FROM intake WHERE student = ''", "");
    for (unsigned i = 0; i < c->p->nentries && ok; i++) {
        const struct plan_entry *en = &c->p->entries[i];
        struct buf shown = {0};
        text_clean_name(&shown, en->name);
        if (!en->has_student)
            ok = add_intake_row(c, "", buf_str(&shown), "", "",
                                en->needs_review ? "unclear" : "left out",
                                en->reason ? en->reason : "", e);
        buf_free(&shown);
    }
    return ok;
}

/* Adds rows for submissions that do not exist. Only an exercise that was handed in or assigned
 * counts. A student with something to review is unclear, not missing. */
static bool add_missing_submissions(struct intake_ctx *c, struct err *e) {
    const char *only_exercise = c->list[0] && !c->list[1] ? book_id(c->list[0]) : NULL;
    return store_exec(c->s, e,
                      "DELETE FROM submission WHERE state IN ('missing', 'absent') OR (state = "
                      "'unclear' AND file = '')",
                      "") &&
           store_exec(
               c->s, e,
               "INSERT INTO submission (student, exercise, state, file, why)"
               " SELECT t.id, x.exercise, CASE WHEN t.doubt <> '' THEN 'unclear' WHEN t.rostered "
               "= 1 THEN 'missing' ELSE"
               " 'absent' END, '', CASE WHEN t.doubt <> '' THEN t.doubt ELSE 'nothing handed in' "
               "END FROM student t,"
               " (SELECT DISTINCT exercise FROM submission UNION SELECT ?1 WHERE ?1 IS NOT NULL"
               "  UNION SELECT exercise FROM assigned"
               "  UNION SELECT '' WHERE ?1 IS NULL AND NOT EXISTS (SELECT 1 FROM submission) AND "
               "NOT EXISTS (SELECT 1 "
               "FROM assigned)) x WHERE true ON CONFLICT DO NOTHING",
               "t", only_exercise);
}

bool class_intake(struct store *s, const struct plan *p, const struct exercise *const *list,
                  bool is_complete, struct class_kept *kept, struct err *e) {
    unsigned n = 0;
    while (list[n]) n++;
    struct intake_ctx c = {s, p, list, xcalloc(n + 1, sizeof *c.matches), 0, is_complete, kept};
    *kept = (struct class_kept){0};
    bool ok = collect_all(&c, e);
    ok = ok && store_begin(s, e) &&
         store_commit(s, save_unattributed_entries(&c, e) && add_missing_submissions(&c, e), e);
    free(c.matches);
    kept->students =
        store_query_int(s, e, "SELECT count(*) FROM student WHERE entries > 0 OR doubt <> ''") -
        c.found_count;
    return ok && !e->text[0];
}

long long class_count_unclear(struct store *s, struct err *e) {
    return store_query_int(
        s, e,
        "SELECT (SELECT count(DISTINCT student) FROM gradebook WHERE state = 'unclear') +"
        " (SELECT count(*) FROM intake WHERE student = '' AND state = 'unclear')");
}
