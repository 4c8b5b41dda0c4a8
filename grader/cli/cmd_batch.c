/* cmd_batch.c — grader batch PATH…: a class of submissions. A PATH is a folder, in which each folder, each
 * archive, and, with --exercise E, each .cu file is a student's; or it is one archive, or one .cu file. In a
 * student's folder or archive, an exercise's file is looked for as NN-slug/NAME.cu, chapters/NN-slug/NAME.cu,
 * or NAME.cu; in archives, one folder round it all is fine too.
 *
 * Students name folders and files, and may plant links: nothing is followed out of the folder, only regular files are
 * read (intake.h), names are escaped in every output. The gradebook has a row for each student and exercise. */
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/class/intake.h"
#include "grader/jail/jail.h"
#include "grader/class/grade_many.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct entry {
    char *student; /* escaped */
    const struct exercise *ex;
    struct buf source;
    bool found;
    const char *refused; /* why nothing of this student could be read; owned */
    struct result result;
};

struct batch {
    const struct options *o;
    const struct exercise **list;
    struct entry *entries;
    unsigned n, room;
};

static bool take_folder(struct batch *b, const char *path, struct err *e);

static struct entry *add(struct batch *b, const char *student, const struct exercise *ex) {
    GROW(b->entries, b->n + 1, b->room, 64);
    b->entries[b->n] = (struct entry){.student = xstrdup(student), .ex = ex};
    return &b->entries[b->n++];
}

/* ---- reading what students handed in ---- */

static bool read_beneath(int folder, const char *path, struct buf *out) {
    int fd = intake_open_beneath(folder, path, SOURCE_LIMIT);
    bool ok = fd >= 0 && intake_read(fd, SOURCE_LIMIT, out);
    if (fd >= 0) close(fd);
    return ok;
}

/* Where an exercise's file may lie, the surest place first. */
static const char *const places[] = {"%s/%s.cu", "chapters/%s/%s.cu", "%.0s%s.cu"};
enum { PLACES = sizeof places / sizeof *places };

static void place(const struct exercise *ex, unsigned i, char out[PATH_MAX]) {
    snprintf(out, PATH_MAX, places[i], ex->chapter, ex->name);
}

static bool read_exercise(int folder, const char *student, const struct exercise *ex, struct buf *out) {
    char name[PATH_MAX], path[2 * PATH_MAX];
    for (unsigned i = 0; i < PLACES; i++) {
        place(ex, i, name);
        snprintf(path, sizeof path, "%s/%s", student, name);
        if (read_beneath(folder, path, out)) return true;
        buf_clear(out);
    }
    return false;
}

/* The path itself, or the path in the one folder round it all. */
static bool is_at(const char *path, const char *where) {
    const char *inner = strchr(path, '/');
    return !strcmp(path, where) || (inner && !strcmp(inner + 1, where));
}

static bool wanted(void *user, const char *path) {
    const struct batch *b = user;
    char where[PATH_MAX];
    for (unsigned i = 0; b->list[i]; i++)
        for (unsigned k = 0; k < PLACES; k++) {
            place(b->list[i], k, where);
            if (is_at(path, where)) return true;
        }
    return false;
}

static bool find_in(const struct intake *in, const struct exercise *ex, struct buf *out) {
    char where[PATH_MAX];
    for (unsigned k = 0; k < PLACES; k++) {
        place(ex, k, where);
        for (unsigned i = 0; i < in->n; i++) {
            if (!is_at(in->files[i].path, where)) continue;
            buf_add(out, buf_str(&in->files[i].data), in->files[i].data.size);
            return true;
        }
    }
    return false;
}

static void take_archive(struct batch *b, int fd, const char *shown) {
    struct intake in = {0};
    struct err e = {0};
    bool ok = fd >= 0 ? intake_archive(fd, wanted, b, &in, &e)
                      : err_set(&e, ERR_INPUT, "it is a link, no regular file, or larger than 32 MiB");
    for (unsigned i = 0; b->list[i]; i++) {
        struct entry *en = add(b, shown, b->list[i]);
        en->found = ok && find_in(&in, b->list[i], &en->source);
        if (!ok) en->refused = xstrdup(e.text);
    }
    if (in.notes.size) progress_clear(), fprintf(stderr, "%s: %s", shown, buf_str(&in.notes));
    intake_free(&in);
}

static void take_student(struct batch *b, int folder, const char *name) {
    struct buf shown = {0};
    struct stat st;
    text_name(&shown, name);
    bool is_folder = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    bool is_file = !is_folder && b->o->exercise && text_ends(name, ".cu");
    if (!is_folder && intake_is_archive(name)) {
        int fd = intake_open_beneath(folder, name, INTAKE_ARCHIVE_BYTES);
        take_archive(b, fd, buf_str(&shown));
        if (fd >= 0) close(fd);
    }
    for (unsigned i = 0; (is_folder || is_file) && b->list[i]; i++) {
        struct entry *e = add(b, buf_str(&shown), b->list[i]);
        e->found =
            is_folder ? read_exercise(folder, name, b->list[i], &e->source) : read_beneath(folder, name, &e->source);
    }
    buf_free(&shown);
}

/* A path that the instructor named: a folder of students, or one student's archive or file. */
static bool take_path(struct batch *b, const char *path, struct err *e) {
    struct stat st;
    if (stat(path, &st) < 0) return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return take_folder(b, path, e);
    if (!intake_is_archive(path) && !(text_ends(path, ".cu") && b->o->exercise))
        return err_set(e, ERR_INPUT,
                       "%s: neither a folder nor an archive (.zip, .tar.gz and the like); a .cu file takes --exercise",
                       path);
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%s", path);
    char *slash = strrchr(above, '/');
    if (slash) slash[slash == above] = 0;
    int folder = open(slash ? above : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    take_student(b, folder, path_base(path));
    close(folder);
    return true;
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
        for (unsigned k = 0; k < b->n; k++) used |= b->entries[k].ex == b->entries[i].ex && b->entries[k].found;
        used |= b->entries[i].refused && b->entries[i].ex == b->list[0]; /* one row says that it was refused */
        b->entries[i].result.ex = used ? b->entries[i].ex : NULL;
    }
    for (unsigned i = 0; i < b->n; i++) {
        if (b->entries[i].result.ex) b->entries[kept++] = b->entries[i];
        else free(b->entries[i].student), free((char *)b->entries[i].refused), buf_free(&b->entries[i].source);
    }
    b->n = kept;
}

/* ---- grading ---- */

static bool grade_found(struct batch *b, struct err *e) {
    struct grade_options go = options_grade(b->o, b->o->devices[0]);
    struct grade_item *items = xcalloc(b->n, sizeof *items);
    struct result *results = xcalloc(b->n, sizeof *results);
    unsigned n = 0;
    for (unsigned i = 0; i < b->n; i++)
        if (b->entries[i].found)
            items[n++] = (struct grade_item){
                .ex = b->entries[i].ex, .name = b->entries[i].ex->name, .source = &b->entries[i].source};
    char what[40];
    snprintf(what, sizeof what, "%u files", n);
    go.progress = progress_show, go.user = what;
    bool ok = class_grade_many(items, n, b->o->jobs, &go, results, e);
    for (unsigned i = 0, k = 0; ok && i < b->n; i++)
        if (b->entries[i].found) b->entries[i].result = results[k++];
    free(items), free(results);
    return ok;
}

/* ---- the gradebook ---- */

/* A spreadsheet takes a cell that begins with one of these for a formula. */
static void csv_cell(struct buf *out, const char *s) {
    buf_puts(out, "\"");
    if (*s && strchr("=+-@|%\t\r\n", s[strspn(s, " ")])) buf_puts(out, "'");
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

static const char *nothing(const struct entry *e) { return e->refused ? e->refused : "nothing handed in"; }

static void write_csv(const struct batch *b, struct buf *out) {
    buf_puts(out, "student,exercise,verdict,score,max_score,speed_kind,vs_solution,reason,jail\r\n");
    for (unsigned i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        struct buf why = {0};
        if (e->found) first_reason(&e->result, &why);
        csv_cell(out, e->student);
        buf_printf(out, ",\"%s\",%s,", book_id(e->ex), code_of(e));
        if (!e->found || verdict_scored(e->result.verdict)) buf_printf(out, "%.1f", e->found ? e->result.score : 0.0);
        buf_puts(out, ",100.0,");
        if (e->found && e->result.speed.valid)
            buf_printf(out, "%s,%.4f,", e->result.speed.kind, e->result.speed.vs_solution);
        else buf_puts(out, ",,");
        csv_cell(out, e->found ? buf_str(&why) : nothing(e));
        buf_printf(out, ",\"%s\"", jail_tier());
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
        if (b->entries[i].refused) json_object_set_new(student, "refused", json_string(b->entries[i].refused));
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
    buf_printf(out, "jail: %s\n", jail_tier());
    buf_printf(out, "%-24s %-32s %-8s %6s  %s\n", "student", "exercise", "verdict", "score", "reason");
    for (unsigned i = 0; i < b->n; i++) {
        const struct entry *e = &b->entries[i];
        struct buf why = {0};
        if (e->found) first_reason(&e->result, &why);
        else buf_puts(&why, nothing(e));
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
    return cli_chosen(&all, e);
}

static bool batch(struct batch *b, struct buf *out, struct err *e) {
    for (unsigned i = 0; i < b->o->nnames; i++)
        if (!take_path(b, b->o->names[i], e)) return false;
    drop_unused(b);
    if (!b->n)
        return err_set(e, ERR_INPUT,
                       "no submissions found: batch wants folders or archives of students, each with files such as "
                       "02-coalescing/transpose.cu");
    if (!grade_found(b, e)) return false;
    if (b->o->format == FORMAT_JSON) write_json(b, out);
    else if (b->o->format == FORMAT_CSV) write_csv(b, out);
    else write_text(b, out);
    return cli_deliver(b->o, out, e);
}

int cmd_batch(const struct options *o) {
    struct err e = {0};
    if (!o->nnames) return err_set(&e, ERR_INPUT, "batch takes folders or archives"), cli_complain(&e);
    struct batch b = {.o = o, .list = which(o, &e)};
    if (!b.list) return cli_complain(&e);
    struct buf out = {0};
    bool ok = batch(&b, &out, &e);
    int status = EXIT_PASSED;
    for (unsigned i = 0; i < b.n; i++) {
        struct entry *en = &b.entries[i];
        if (ok && en->found && en->result.verdict == V_IE) status = EXIT_BROKEN;
        if (ok && status == EXIT_PASSED && (!en->found || en->result.verdict != V_AC)) status = EXIT_FAILED;
        free(en->student), free((char *)en->refused), buf_free(&en->source);
        if (en->found && ok) result_free(&en->result);
    }
    free(b.entries), free(b.list);
    buf_free(&out);
    return ok ? status : cli_complain(&e);
}
