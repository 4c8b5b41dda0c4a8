/* collect.c — intake: what each student handed in, into the store (class.h). */
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/assignment.h"
#include "grader/class/class.h"
#include "grader/class/intake.h"
#include "grader/class/pick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct collecting {
    struct store *s;
    const struct plan *p;
    const struct exercise *const *list;
    struct pick *picks;
};

static bool wanted(void *user, const char *path) {
    (void)user;
    return intake_is_source(path);
}

static void read_one(int folder, const struct plan_entry *en, struct intake *in) {
    struct err e = {0};
    struct buf data = {0};
    int fd = -1;
    if (en->why) intake_leave(in, en->name, en->doubt, en->why);
    else if (en->kind == PLAN_FOLDER) {
        fd = openat(folder, en->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) intake_leave(in, en->name, true, "a folder that cannot be read");
        else intake_folder(fd, wanted, NULL, in);
        if (pick_is_class(in))
            intake_free(in), intake_leave(in, en->name, true,
                                          "a whole class: name this folder, not the one above");
    } else {
        size_t limit = en->kind == PLAN_ARCHIVE ? INTAKE_ARCHIVE_BYTES : SOURCE_LIMIT;
        fd = intake_open_beneath(folder, en->name, limit);
        if (fd < 0)
            intake_leave(in, en->name, true,
                         en->kind == PLAN_ARCHIVE ? "it cannot be read, or is larger than 32 MiB"
                                                  : "it cannot be read, or is larger than 1 MiB");
        else if (en->kind == PLAN_ARCHIVE && !intake_archive(fd, wanted, NULL, in, &e))
            intake_leave(in, en->name, true, e.text);
        else if (en->kind == PLAN_ARCHIVE && pick_is_class(in))
            intake_free(in), intake_leave(in, en->name, true,
                                          "a whole class: unpack it into a folder, and name that");
        else if (en->kind == PLAN_SOURCE && intake_read(fd, SOURCE_LIMIT, &data))
            intake_add(in, en->file, buf_str(&data), data.size);
    }
    if (fd >= 0) close(fd);
    buf_free(&data);
}

static void read_entry(const struct plan_entry *en, struct intake *in) {
    int folder = open(en->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) intake_leave(in, en->name, true, "its folder cannot be read");
    else read_one(folder, en, in), close(folder);
}

/* ---- rows ---- */

static bool note(struct collecting *c, const char *student, const char *entry, const char *file,
                 const char *exercise, const char *state, const char *why, struct err *e) {
    return store_do(
        c->s, e,
        "INSERT INTO intake (student, entry, file, exercise, state, why) VALUES (?, ?, ?, ?, ?, ?)",
        "tttttt", student, entry, file, exercise, state, why);
}

static bool put_submission(struct collecting *c, const char *student, const struct exercise *ex,
                           const char *state, const char *digest, const char *file, const char *why,
                           struct err *e) {
    return store_do(c->s, e,
                    "INSERT INTO submission (student, exercise, state, digest, file, why) VALUES "
                    "(?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (student, exercise) DO UPDATE SET state = excluded.state, file = "
                    "excluded.file,"
                    " why = excluded.why, key = CASE WHEN digest IS excluded.digest THEN key END, "
                    "digest = excluded.digest",
                    "tttttt", student, book_id(ex), state, digest, file, why);
}

static bool put_taken(struct collecting *c, const char *student, const char *entry,
                      const struct exercise *ex, const struct intake_file *f, struct err *e) {
    struct buf shown = {0};
    char digest[HASH_HEX_SIZE];
    sha256_hex(f->data.data, f->data.size, digest);
    text_clean_name(&shown, f->path);
    bool ok = store_do(c->s, e, "INSERT OR IGNORE INTO source (digest, body) VALUES (?, ?)", "tb",
                       digest, &f->data) &&
              put_submission(c, student, ex, "taken", digest, buf_str(&shown), "", e) &&
              note(c, student, entry, buf_str(&shown), book_id(ex), "taken", "", e);
    buf_free(&shown);
    return ok;
}

static const char *first_doubt(const struct intake *in) {
    for (unsigned i = 0; i < in->nleft; i++)
        if (in->left[i].doubt) return in->left[i].why;
    return in->doubt ? "more was left out than is listed" : "";
}

static bool put_student(struct collecting *c, const struct plan_student *st, unsigned entries,
                        const char *doubt, struct err *e) {
    char time[32] = "";
    long long seconds;
    if (st->time && !assignment_time(st->time, &seconds))
        return err_set(
            e, ERR_INPUT,
            "'%.100s' handed in at '%.60s': write such times as 2026-10-01T21:59:00+02:00", st->id,
            st->time);
    if (st->time) assignment_time_text(seconds, time);
    return store_do(c->s, e,
                    "INSERT INTO student (id, name, rostered, entries, doubt, submitted_at) VALUES "
                    "(?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (id) DO"
                    " UPDATE SET submitted_at = CASE WHEN excluded.submitted_at = '' THEN "
                    "submitted_at ELSE "
                    "excluded.submitted_at END, name = CASE WHEN excluded.name = '' THEN name ELSE "
                    "excluded.name END,"
                    " rostered = max(rostered, excluded.rostered), entries = excluded.entries, "
                    "doubt = excluded.doubt",
                    "ttlltt", st->id, st->name, (long long)st->rostered, (long long)entries, doubt,
                    time) &&
           store_do(c->s, e, "DELETE FROM intake WHERE student = ?", "t", st->id);
}

static bool put_left(struct collecting *c, const char *student, const char *entry,
                     const struct intake *in, struct err *e) {
    bool ok = true;
    char more[64];
    for (unsigned i = 0; i < in->nleft && ok; i++)
        ok = note(c, student, entry, in->left[i].path, "",
                  in->left[i].doubt ? "unclear" : "left out", in->left[i].why, e);
    snprintf(more, sizeof more, "%u other file%s, no sources", in->others,
             in->others == 1 ? "" : "s");
    if (in->others && ok) ok = note(c, student, entry, "", "", "left out", more, e);
    return ok;
}

/* What was taken last time and is there no more. Its row stays, for fill_gaps to say what it is:
 * another grader may export this store now, and nobody vanishes from a gradebook. */
static bool forget_gone(struct collecting *c, const char *student, struct err *e) {
    bool ok = true;
    for (unsigned k = 0; c->list[k] && ok; k++)
        if (c->picks[k].file < 0 && !c->picks[k].why)
            ok = store_do(c->s, e,
                          "UPDATE submission SET state = 'absent', digest = NULL, file = '', why = "
                          "'nothing handed "
                          "in', key = NULL"
                          " WHERE student = ? AND exercise = ? AND file <> ''",
                          "tt", student, book_id(c->list[k]));
    return ok;
}

static bool put_all(struct collecting *c, const struct plan_student *st, const char *entry,
                    unsigned entries, struct intake *in, struct err *e) {
    pick_files(in, c->list, c->picks);
    bool ok = put_student(c, st, entries, first_doubt(in), e) && forget_gone(c, st->id, e);
    for (unsigned k = 0; c->list[k] && ok; k++) {
        if (c->picks[k].file >= 0)
            ok = put_taken(c, st->id, entry, c->list[k], &in->files[c->picks[k].file], e);
        else if (c->picks[k].why)
            ok = put_submission(c, st->id, c->list[k], "unclear", NULL, "several", c->picks[k].why,
                                e);
    }
    ok = ok && put_left(c, st->id, entry, in, e);
    if (ok && entries && !in->n && !in->nleft && !in->others)
        ok = note(c, st->id, entry, "", "", st->rostered ? "missing" : "left out",
                  "there is nothing in it", e);
    if (ok && !entries && st->rostered)
        ok = note(c, st->id, "", "", "", "missing", "on the roster, and nothing handed in", e);
    if (ok && entries && c->p->has_roster && !st->rostered)
        ok = note(c, st->id, entry, "", "", "note", "not on the roster", e);
    return ok;
}

/* One transaction a student: what a kill leaves is whole students. */
static bool collect(struct collecting *c, unsigned student, const struct plan_pair *pairs,
                    unsigned n, struct err *e) {
    const struct plan_student *st = &c->p->students[student];
    struct intake in = {0};
    struct buf entry = {0};
    for (unsigned i = 0; i < n; i++) {
        const struct plan_entry *en = &c->p->entries[pairs[i].entry];
        read_entry(en, &in);
        buf_puts(&entry, i ? ", " : "");
        text_clean_name(&entry, en->name);
    }
    bool ok = store_begin(c->s, e);
    if (ok) ok = store_commit(c->s, put_all(c, st, buf_str(&entry), n, &in, e), e);
    intake_free(&in);
    buf_free(&entry);
    return ok;
}

/* ---- what there is of whom ---- */

static bool put_nobodys(struct collecting *c, struct err *e) {
    bool ok = store_do(c->s, e, "DELETE FROM intake WHERE student = ''", "");
    for (unsigned i = 0; i < c->p->nentries && ok; i++) {
        const struct plan_entry *en = &c->p->entries[i];
        struct buf shown = {0};
        text_clean_name(&shown, en->name);
        if (!en->given)
            ok = note(c, "", buf_str(&shown), "", "", en->doubt ? "unclear" : "left out",
                      en->why ? en->why : "", e);
        buf_free(&shown);
    }
    return ok;
}

/* An exercise that nobody handed in is none of this class's. A student is only missing where
 * nothing is in doubt. */
static bool fill_gaps(struct collecting *c, struct err *e) {
    const char *only = c->list[0] && !c->list[1] ? book_id(c->list[0]) : NULL;
    return store_do(c->s, e,
                    "DELETE FROM submission WHERE state IN ('missing', 'absent') OR (state = "
                    "'unclear' AND file = '')",
                    "") &&
           store_do(
               c->s, e,
               "INSERT OR IGNORE INTO submission (student, exercise, state, file, why)"
               " SELECT t.id, x.exercise, CASE WHEN t.doubt <> '' THEN 'unclear' WHEN t.rostered "
               "THEN 'missing' ELSE"
               " 'absent' END, '', CASE WHEN t.doubt <> '' THEN t.doubt ELSE 'nothing handed in' "
               "END FROM student t,"
               " (SELECT DISTINCT exercise FROM submission UNION SELECT ?1 WHERE ?1 IS NOT NULL"
               "  UNION SELECT exercise FROM assigned"
               "  UNION SELECT '' WHERE ?1 IS NULL AND NOT EXISTS (SELECT 1 FROM submission) AND "
               "NOT EXISTS (SELECT 1 "
               "FROM assigned)) x",
               "t", only);
}

bool class_intake(struct store *s, const struct plan *p, const struct exercise *const *list,
                  struct err *e) {
    unsigned n = 0;
    while (list[n]) n++;
    struct collecting c = {s, p, list, xcalloc(n + 1, sizeof *c.picks)};
    bool ok = true;
    for (unsigned student = 0, at = 0, end; student < p->nstudents && ok; student++, at = end) {
        for (end = at; end < p->npairs && p->pairs[end].student == student; end++) {}
        ok = collect(&c, student, p->pairs + at, end - at, e);
    }
    ok = ok && store_begin(s, e) && store_commit(s, put_nobodys(&c, e) && fill_gaps(&c, e), e);
    free(c.picks);
    return ok;
}
