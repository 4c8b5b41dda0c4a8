/* cmd_batch.c — grader batch DIR…: a class of submissions. Each folder in DIR is a student; in it, an exercise's file is
 * looked for as NN-slug/NAME.cu, chapters/NN-slug/NAME.cu, or NAME.cu. With --exercise E, a plain file in DIR is a
 * student's version of E as well.
 *
 * Students name folders and files, and may plant links: nothing is followed out of DIR (openat2), only regular files
 * are read, names are escaped in every output. The gradebook has a row for each student and exercise. */
#include "common/file.h"
#include "common/text.h"
#include "grader/commands.h"
#include "grader/many.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
    char *student; /* escaped */
    const struct exercise *ex;
    struct buf source;
    bool found;
    struct result result;
};

struct batch {
    const struct options *o;
    const struct exercise **list;
    struct entry *entries;
    unsigned n, room;
};

static struct entry *add(struct batch *b, const char *student, const struct exercise *ex) {
    if (b->n == b->room) {
        b->room = b->room ? 2 * b->room : 64;
        b->entries = xrealloc(b->entries, b->room * sizeof *b->entries);
    }
    b->entries[b->n] = (struct entry){.student = xstrdup(student), .ex = ex};
    return &b->entries[b->n++];
}

/* ---- reading what students handed in ---- */

static bool read_beneath(int folder, const char *path, struct buf *out) {
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    struct stat st;
    char chunk[16384];
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SOURCE_LIMIT;
    for (ssize_t n; ok && (n = read(fd, chunk, sizeof chunk)) != 0 && out->size <= SOURCE_LIMIT;) {
        ok = n > 0;
        if (ok) buf_add(out, chunk, (size_t)n);
    }
    if (fd >= 0) close(fd);
    return ok;
}

static bool read_exercise(int folder, const char *student, const struct exercise *ex, struct buf *out) {
    static const char *const places[] = {"%s/%s/%s.cu", "%s/chapters/%s/%s.cu"};
    char path[PATH_MAX];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(path, sizeof path, places[i], student, ex->chapter, ex->name);
        if (read_beneath(folder, path, out)) return true;
        buf_clear(out);
    }
    snprintf(path, sizeof path, "%s/%s.cu", student, ex->name);
    return read_beneath(folder, path, out);
}

static void take_student(struct batch *b, int folder, const char *name) {
    struct buf shown = {0};
    struct stat st;
    text_name(&shown, name);
    bool is_folder = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    bool is_file = !is_folder && b->o->exercise && text_ends(name, ".cu");
    for (unsigned i = 0; (is_folder || is_file) && b->list[i]; i++) {
        struct entry *e = add(b, buf_str(&shown), b->list[i]);
        e->found = is_folder ? read_exercise(folder, name, b->list[i], &e->source)
                             : read_beneath(folder, name, &e->source);
    }
    buf_free(&shown);
}

static bool take_folder(struct batch *b, const char *path, struct err *e) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    char **names = book_files(path, "", "");
    for (char **n = names; *n; n++) take_student(b, folder, *n);
    book_free_list(names);
    close(folder);
    return true;
}

/* An exercise that nobody handed in is none of this batch's. */
static void drop_unused(struct batch *b) {
    unsigned kept = 0;
    for (unsigned i = 0; i < b->n; i++) {
        bool used = false;
        for (unsigned k = 0; k < b->n; k++)
            used |= b->entries[k].ex == b->entries[i].ex && b->entries[k].found;
        b->entries[i].result.ex = used ? b->entries[i].ex : NULL;
    }
    for (unsigned i = 0; i < b->n; i++) {
        if (b->entries[i].result.ex) b->entries[kept++] = b->entries[i];
        else free(b->entries[i].student), buf_free(&b->entries[i].source);
    }
    b->n = kept;
}

/* ---- grading ---- */

static bool grade_found(struct batch *b, struct err *e) {
    struct grade_options go = options_grade(b->o, b->o->devices[0]);
    struct many_item *items = xcalloc(b->n, sizeof *items);
    struct result *results = xcalloc(b->n, sizeof *results);
    unsigned n = 0;
    for (unsigned i = 0; i < b->n; i++)
        if (b->entries[i].found)
            items[n++] = (struct many_item){
                .ex = b->entries[i].ex, .name = b->entries[i].ex->name, .source = &b->entries[i].source};
    char what[40];
    snprintf(what, sizeof what, "%u files", n);
    go.progress = progress_show, go.user = what;
    bool ok = many_grade(items, n, b->o->jobs, &go, results, e);
    for (unsigned i = 0, k = 0; ok && i < b->n; i++)
        if (b->entries[i].found) b->entries[i].result = results[k++];
    free(items), free(results);
    return ok;
}

/* ---- the gradebook ---- */

/* A spreadsheet takes a cell that begins with one of these for a formula. */
static void csv_cell(struct buf *out, const char *s) {
    buf_puts(out, "\"");
    if (strchr("=+-@\t\r", *s) && *s) buf_puts(out, "'");
    for (; *s; s++) buf_printf(out, *s == '"' ? "\"\"" : "%c", *s);
    buf_puts(out, "\"");
}

static const char *code_of(const struct entry *e) { return e->found ? verdict_code(e->result.verdict) : "-"; }

static void first_reason(const struct result *r, struct buf *out) {
    const char *why = r->message ? r->message : "";
    for (unsigned i = r->ntechnique; i-- > 0;)
        if (!r->technique[i].passed) why = r->technique[i].name;
    for (unsigned i = r->ncases; i-- > 0;)
        if (r->cases[i].verdict != V_AC) why = r->cases[i].name;
    buf_printf(out, "%.*s", (int)strcspn(why, "\n"), why);
}

static void write_csv(const struct batch *b, struct buf *out) {
    buf_puts(out, "student,exercise,verdict,score,max_score,speed_kind,vs_solution,reason\r\n");
    for (unsigned i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        struct buf why = {0};
        if (e->found) first_reason(&e->result, &why);
        csv_cell(out, e->student);
        buf_printf(out, ",\"%s\",%s,", book_id(e->ex), code_of(e));
        if (!e->found || e->result.verdict != V_IE) buf_printf(out, "%.1f", e->found ? e->result.score : 0.0);
        buf_puts(out, ",100.0,");
        if (e->found && e->result.speed.valid)
            buf_printf(out, "%s,%.4f,", e->result.speed.kind, e->result.speed.vs_solution);
        else buf_puts(out, ",,");
        csv_cell(out, e->found ? buf_str(&why) : "nothing handed in");
        buf_puts(out, "\r\n");
        buf_free(&why);
    }
}

static bool same_student(const struct batch *b, unsigned i, unsigned k) {
    return !strcmp(b->entries[i].student, b->entries[k].student);
}

static void write_json(const struct batch *b, struct buf *out) {
    json_t *o = json_object(), *list = json_array();
    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "seed", json_string(b->o->seed));
    for (unsigned i = 0, end; i < b->n; i = end) {
        const struct result **results = xcalloc(b->n, sizeof *results);
        unsigned n = 0;
        for (end = i; end < b->n && same_student(b, i, end); end++)
            if (b->entries[end].found) results[n++] = &b->entries[end].result;
        json_t *student = report_json(results, n, b->o->devices[0], b->o->seed);
        json_object_del(student, "schema"), json_object_del(student, "seed");
        json_object_set_new(student, "student", json_string(b->entries[i].student));
        json_array_append_new(list, student);
        free(results);
    }
    json_object_set_new(o, "submissions", list);
    char *s = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    buf_printf(out, "%s\n", s);
    free(s);
    json_decref(o);
}

static void write_text(const struct batch *b, struct buf *out) {
    buf_printf(out, "%-24s %-32s %-8s %6s  %s\n", "student", "exercise", "verdict", "score", "reason");
    for (unsigned i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        struct buf why = {0};
        if (e->found) first_reason(&e->result, &why);
        else buf_puts(&why, "nothing handed in");
        buf_printf(out, "%-24.24s %-32s %-8s %6.1f  %.80s\n", e->student, book_id(e->ex), code_of(e),
                   e->found ? e->result.score : 0.0, buf_str(&why));
        buf_free(&why);
    }
}

/* ---- the command ---- */

static const struct exercise **which(const struct options *o, struct err *e) {
    if (o->exercise) return book_find(o->exercise, e);
    struct options all = *o;
    all.nnames = 0;
    return chosen(&all, e);
}

static bool batch(struct batch *b, struct buf *out, struct err *e) {
    for (unsigned i = 0; i < b->o->nnames; i++)
        if (!take_folder(b, b->o->names[i], e)) return false;
    drop_unused(b);
    if (!b->n)
        return err_set(e, ERR_INPUT,
                       "no submissions found: batch wants folders of students, each with files such as "
                       "02-coalescing/transpose.cu");
    if (!grade_found(b, e)) return false;
    if (b->o->json) write_json(b, out);
    else if (b->o->csv) write_csv(b, out);
    else write_text(b, out);
    return deliver(b->o, out, e);
}

int cmd_batch(const struct options *o) {
    struct err e = {0};
    if (!o->nnames) return err_set(&e, ERR_INPUT, "batch takes one folder or more"), complain(&e);
    struct batch b = {.o = o, .list = which(o, &e)};
    if (!b.list) return complain(&e);
    struct buf out = {0};
    bool ok = batch(&b, &out, &e);
    int status = EXIT_PASSED;
    for (unsigned i = 0; i < b.n; i++) {
        struct entry *en = &b.entries[i];
        if (ok && en->found && en->result.verdict == V_IE) status = EXIT_BROKEN;
        if (ok && status == EXIT_PASSED && (!en->found || en->result.verdict != V_AC)) status = EXIT_FAILED;
        free(en->student), buf_free(&en->source);
        if (en->found && ok) result_free(&en->result);
    }
    free(b.entries), free(b.list);
    buf_free(&out);
    return ok ? status : complain(&e);
}
