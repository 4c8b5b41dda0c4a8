/* plan.c — see plan.h. First the entries are listed, then the layout is decided by what their names
 * look like, then each entry is given to the student whom its name means: by the roster where there
 * is one, else by itself. */
#include "grader/class/plan.h"
#include "grader/class/assignment.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/pick.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const layouts[] = {
#define X(name, text) #name,
    PLAN_LAYOUTS(X)
#undef X
};
static const char
    metadata[] = "submission_metadata.yml",
    moodle_mark[] = "_assignsubmission_",
    no_student[] =
        "no student's name: put it into a folder of that name, call it STUDENT_EXERCISE.cu, "
        "or name the exercise with --exercise";

bool plan_layout_named(const char *name, enum plan_layout *out) {
    for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strcmp(name, layouts[i])) return *out = (enum plan_layout)i, true;
    return false;
}

/* ---- the entries ---- */

static void set_aside(struct plan_entry *en, const char *why, bool doubt) {
    en->kind = PLAN_OTHER, en->why = why, en->doubt = doubt;
}

static void add_entry(struct plan *p, const char *dir, int folder, const char *name) {
    struct stat st = {0};
    struct plan_entry en = {.dir = dir, .name = xstrdup(name), .file = xstrdup(name)};
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        set_aside(&en, "it cannot be looked at", true);
    else if (name[0] == '.') set_aside(&en, "a hidden file", false);
    else if (S_ISLNK(st.st_mode)) set_aside(&en, "a link, which is not followed", true);
    else if (S_ISDIR(st.st_mode)) en.kind = PLAN_FOLDER;
    else if (!S_ISREG(st.st_mode)) set_aside(&en, "no regular file", true);
    else if (intake_is_archive(name)) en.kind = PLAN_ARCHIVE;
    else if (intake_is_source(name)) en.kind = PLAN_SOURCE;
    else set_aside(&en, "neither a folder nor an archive nor a .cu file", true);
    GROW(p->entries, p->nentries + 1, p->room_entries, 64);
    p->entries[p->nentries++] = en;
}

static bool is_chapter(const char *name) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_at(i)->chapter, name)) return true;
    return !strcmp(name, "chapters");
}

static bool is_exercise(const char *name) {
    for (unsigned i = 0; i < book_count(); i++)
        if (pick_names(book_at(i), name)) return true;
    return false;
}

/* One student's own folder: the book's folders are in it, or files of exercises and nothing that
 * could be a student. */
static bool is_students_own(char *const *names) {
    unsigned chapters = 0, files = 0, students = 0;
    for (char *const *n = names; *n; n++) {
        struct pick_lms lms;
        chapters += is_chapter(*n);
        if (is_exercise(*n) && !pick_lms_name(*n, &lms)) files++;
        else if ((*n)[0] != '.' &&
                 (!strchr(*n, '.') || intake_is_archive(*n) || intake_is_source(*n)))
            students++;
    }
    return chapters || (files && !students);
}

static const char *keep_dir(struct plan *p, const char *dir) {
    GROW(p->dirs, p->ndirs + 1, p->room_dirs, 8);
    return p->dirs[p->ndirs++] = xstrdup(dir);
}

/* The path itself is an entry of the folder above it. */
static bool add_single(struct plan *p, const char *path, struct err *e) {
    char whole[PATH_MAX], *slash;
    snprintf(whole, sizeof whole, "%s", path);
    for (size_t n = strlen(whole); n > 1 && whole[n - 1] == '/';) whole[--n] = 0;
    if (!strcmp(path_basename(whole), ".") || !strcmp(path_basename(whole), ".."))
        if (!realpath(path, whole))
            return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    slash = strrchr(whole, '/');
    char *name = xstrdup(slash ? slash + 1 : whole);
    if (slash) slash[slash == whole] = 0;
    const char *dir = keep_dir(p, slash ? whole : ".");
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) add_entry(p, dir, folder, name), close(folder);
    free(name);
    return folder >= 0 || err_set(e, ERR_INPUT, "%s: cannot open: %s", dir, strerror(errno));
}

static bool add_path(struct plan *p, const char *path, struct err *e) {
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return add_single(p, path, e);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char **names = folder >= 0 ? intake_names(folder) : NULL;
    bool ok = names || err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno)),
         own = ok && is_students_own(names);
    if (own) ok = add_single(p, path, e);
    const char *dir = ok && !own ? keep_dir(p, path) : NULL;
    for (char **n = names; dir && *n; n++) add_entry(p, dir, folder, *n);
    intake_free_names(names);
    if (folder >= 0) close(folder);
    return ok;
}

static enum plan_layout layout_of(const struct plan *p) {
    struct pick_lms lms;
    bool canvas = false;
    for (unsigned i = 0; i < p->nentries; i++) {
        const struct plan_entry *en = &p->entries[i];
        if (!strcmp(en->name, metadata)) return PLAN_gradescope;
        if (strstr(en->name, moodle_mark)) return PLAN_moodle;
        canvas |= en->kind != PLAN_FOLDER && pick_lms_name(en->name, &lms);
    }
    return canvas ? PLAN_canvas : PLAN_folders;
}

/* ---- the students ---- */

static int by_id(const void *a, const void *b) {
    return strcmp(((const struct plan_student *)a)->id, ((const struct plan_student *)b)->id);
}

/* The tree holds copies: the students' array moves. */
struct place {
    struct plan_student s;
    unsigned at;
};

static unsigned student_called(struct plan *p, const char *id) {
    struct place *here = xcalloc(1, sizeof *here), **found;
    *here = (struct place){{.id = xstrdup(id)}, p->nstudents};
    found = tsearch(here, &p->by_id, by_id);
    if (*found != here) return free(here->s.id), free(here), (*found)->at;
    GROW(p->students, p->nstudents + 1, p->room_students, 64);
    p->students[p->nstudents] = (struct plan_student){.id = xstrdup(id), .name = xstrdup("")};
    return p->nstudents++;
}

static unsigned student_escaped(struct plan *p, const char *id) {
    struct buf shown = {0};
    text_clean_name(&shown, id);
    unsigned s = student_called(p, buf_str(&shown));
    buf_free(&shown);
    return s;
}

static bool add_roster(struct plan *p, struct err *e) {
    for (unsigned i = 0; i < p->roster.n; i++) {
        const struct roster_row *row = &p->roster.rows[i];
        unsigned at = student_escaped(p, row->id); /* which may move the students */
        struct plan_student *s = &p->students[at];
        if (s->rostered)
            return err_set(e, ERR_INPUT, "the roster has '%.100s' twice; ids must be unique",
                           s->id);
        struct buf shown = {0};
        text_clean_name(&shown, row->name);
        free(s->name);
        s->name = xstrdup(buf_str(&shown)), s->rostered = true;
        if (*row->time) s->time = xstrdup(row->time);
        buf_free(&shown);
    }
    return true;
}

static void say_twice(const struct plan *p, unsigned s, unsigned entry, struct err *e) {
    const struct plan_entry *a = &p->entries[p->students[s].first], *b = &p->entries[entry];
    struct buf one = {0}, two = {0};
    text_clean_name(&one, a->name), text_clean_name(&two, b->name);
    err_set(e, ERR_INPUT,
            "two entries are the same student '%.100s': %.200s in %.100s, and %.200s in %.100s; "
            "keep one of them, or "
            "rename one",
            p->students[s].id, buf_str(&one), a->dir, buf_str(&two), b->dir);
    buf_free(&one), buf_free(&two);
}

/* Several files of one student are usual where an LMS puts the name before each. */
static bool give(struct plan *p, unsigned entry, const char *const keys[3], const char *id,
                 struct err *e) {
    int row = ROSTER_NONE;
    for (unsigned k = 0; k < 3 && row < 0 && p->has_roster; k++)
        if (keys[k] && *keys[k]) row = roster_find(&p->roster, keys[k]);
    bool flat = p->layout == PLAN_canvas || p->layout == PLAN_moodle;
    unsigned s = row >= 0 ? student_escaped(p, p->roster.rows[row].id) : student_escaped(p, id);
    struct plan_student *st = &p->students[s];
    if (st->key && (!flat || strcmp(st->key, id))) return say_twice(p, s, entry, e), false;
    if (row < 0 && st->rostered) /* several are called so, and it is no one's id */
        return err_set(e, ERR_INPUT, "'%.100s' means more than one person of the roster", st->id);
    if (!st->key) st->key = xstrdup(id), st->first = entry;
    p->entries[entry].given = true;
    GROW(p->pairs, p->npairs + 1, p->room_pairs, 64);
    p->pairs[p->npairs++] = (struct plan_pair){s, entry};
    return true;
}

/* ---- what names mean, a function for each layout ---- */

static void rename_file(struct plan_entry *en, const char *file) {
    char *copy = xstrdup(file);
    free(en->file), en->file = copy;
}

static bool give_canvas(struct plan *p, unsigned i, struct err *e) {
    struct pick_lms lms;
    char user[64], student[NAME_MAX + 1], id[NAME_MAX + 80];
    if (!pick_lms_name(p->entries[i].name, &lms))
        return set_aside(&p->entries[i], "no name as Canvas gives them", true), true;
    snprintf(user, sizeof user, "%.*s", lms.nuser, lms.user);
    snprintf(student, sizeof student, "%.*s", lms.nstudent, lms.student);
    snprintf(id, sizeof id, "%s_%s", student, user);
    rename_file(&p->entries[i], lms.file);
    return give(p, i, (const char *const[3]){user, student, NULL}, id, e);
}

static bool give_moodle(struct plan *p, unsigned i, struct err *e) {
    char id[NAME_MAX + 1], name[NAME_MAX + 1];
    snprintf(id, sizeof id, "%s", p->entries[i].name);
    char *mark = strstr(id, moodle_mark), *number;
    if (!mark) return set_aside(&p->entries[i], "no name as Moodle gives them", true), true;
    const char *rest = strchr(mark + sizeof moodle_mark - 1, '_');
    if (rest && rest[1]) rename_file(&p->entries[i], rest + 1);
    if (!strncmp(mark + sizeof moodle_mark - 1, "onlinetext", 10) &&
        p->entries[i].kind != PLAN_SOURCE)
        set_aside(&p->entries[i], "text that was typed in, no file", true);
    *mark = 0;
    strcpy(name, id);
    number = strrchr(name, '_');
    if (number) *number++ = 0;
    return give(p, i, (const char *const[3]){number, name, NULL}, id, e);
}

static bool give_github(struct plan *p, unsigned i, struct err *e) {
    char prefix[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s", path_basename(p->entries[i].dir));
    if (!text_ends_with(prefix, "-submissions"))
        return err_set(e, ERR_INPUT,
                       "%s: GitHub Classroom's folder ends in -submissions, this one does not",
                       p->entries[i].dir);
    prefix[strlen(prefix) - strlen("submissions")] = 0;
    if (!text_starts_with(p->entries[i].name, prefix)) {
        set_aside(&p->entries[i], "its name does not begin as the assignment's repositories do",
                  true);
        return true;
    }
    const char *user = p->entries[i].name + strlen(prefix);
    return give(p, i, (const char *const[3]){user, NULL, NULL}, user, e);
}

static void strip_ending(char *name, enum plan_kind kind) {
    static const char *const ends[] = {".cu.txt", ".cu",      ".tar.gz",  ".tar.bz2",
                                       ".tar.xz", ".tar.zst", ".tar.lz4", ".tar.lzma"};
    if (kind == PLAN_FOLDER) return;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with_ignore_case(name, ends[i])) {
            name[strlen(name) - strlen(ends[i])] = 0;
            return;
        }
    char *dot = strrchr(name, '.');
    if (dot && dot > name) *dot = 0;
}

/* STUDENT_EXERCISE: cuts the exercise off. */
static bool cut_exercise(char *name) {
    for (char *at = name; (at = strpbrk(at + 1, "_-"));) {
        char file[NAME_MAX + 8];
        snprintf(file, sizeof file, "%s.cu", at + 1);
        if (is_exercise(file)) return *at = 0, true;
    }
    return false;
}

static bool give_folders(struct plan *p, unsigned i, const struct exercise *only, struct err *e) {
    struct plan_entry *en = &p->entries[i];
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", en->name);
    strip_ending(name, en->kind);
    bool anonymous = en->kind == PLAN_SOURCE && is_exercise(en->name),
         cut = en->kind == PLAN_SOURCE && cut_exercise(name);
    if (en->kind == PLAN_SOURCE && (anonymous || (!cut && !only)))
        return set_aside(en, no_student, true), true;
    if (cut) rename_file(en, en->name + strlen(name) + 1);
    bool known = p->has_roster && roster_find(&p->roster, name) != ROSTER_NONE;
    if (en->kind == PLAN_OTHER && !known && strcmp(en->why, "a link, which is not followed"))
        return true;
    return give(p, i, (const char *const[3]){name, NULL, NULL}, name, e);
}

/* ---- Gradescope ---- */

struct giving {
    struct plan *p;
    const char *dir;
    struct err *e;
    bool ok;
    unsigned next; /* the metadata's order is the names' mostly: the search goes on where it was */
};

/* The roster's word stands before Gradescope's. A time that can't be read is none: `batch` says how
 * many students have none. */
static void give_time(struct plan *p, unsigned entry, const char *time) {
    long long seconds;
    if (!assignment_time(time, &seconds)) return;
    for (unsigned i = p->npairs; i-- > 0 && p->pairs[i].entry == entry;) {
        struct plan_student *s = &p->students[p->pairs[i].student];
        if (!s->time) s->time = xstrdup(time);
        return;
    }
}

static void give_submitter(void *user, const char *folder, const char *const names[3],
                           const char *time) {
    struct giving *g = user;
    const char *id = *names[0] ? names[0] : *names[1] ? names[1] : *names[2] ? names[2] : folder;
    bool found = false;
    unsigned n = g->p->nentries;
    for (unsigned k = 0; k < n && g->ok && !found; k++) {
        unsigned i = (g->next + k) % n;
        struct plan_entry *en = &g->p->entries[i];
        if (en->dir != g->dir || strcmp(en->name, folder)) continue;
        found = true, g->next = i;
        g->ok = give(g->p, i, names, id, g->e);
        if (g->ok) give_time(g->p, i, time);
    }
    if (!found && g->ok)
        g->ok = err_set(g->e, ERR_INPUT, "%s names the folder %.200s, which is not there", metadata,
                        folder);
}

static bool give_gradescope(struct plan *p, struct err *e) {
    bool ok = true;
    for (unsigned d = 0; d < p->ndirs && ok; d++) {
        char path[PATH_MAX];
        struct giving g = {p, p->dirs[d], e, true, 0};
        if (!path_join(path, sizeof path, p->dirs[d], metadata)) continue;
        ok = plan_gradescope(path, give_submitter, &g, e) && g.ok;
    }
    for (unsigned i = 0; i < p->nentries && ok; i++) {
        struct plan_entry *en = &p->entries[i];
        if (!strcmp(en->name, metadata)) set_aside(en, "says who handed in what", false);
        else if (!en->given && !en->why)
            set_aside(en, "submission_metadata.yml does not name it", true);
    }
    return ok;
}

/* ---- all of it ---- */

static bool give_all(struct plan *p, const struct exercise *only, struct err *e) {
    bool ok = true;
    if (p->layout == PLAN_gradescope) return give_gradescope(p, e);
    for (unsigned i = 0; i < p->nentries && ok; i++) {
        if (p->entries[i].name[0] == '.') continue;
        if (p->layout == PLAN_canvas) ok = give_canvas(p, i, e);
        else if (p->layout == PLAN_moodle) ok = give_moodle(p, i, e);
        else if (p->layout == PLAN_github) ok = give_github(p, i, e);
        else ok = give_folders(p, i, only, e);
    }
    return ok;
}

static int by_student(const void *a, const void *b) {
    const struct plan_pair *x = a, *y = b;
    if (x->student != y->student) return x->student < y->student ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

bool plan_make(struct plan *p, const char *const *paths, unsigned n, const struct plan_options *o,
               struct err *e) {
    *p = (struct plan){.layout = o->layout};
    p->has_roster = o->roster;
    if (o->roster && !(roster_read(o->roster, &p->roster, e) && add_roster(p, e))) return false;
    for (unsigned i = 0; i < n; i++)
        if (!add_path(p, paths[i], e)) return false;
    if (p->layout == PLAN_auto) p->layout = layout_of(p);
    if (!give_all(p, o->exercise, e)) return false;
    if (p->npairs) qsort(p->pairs, p->npairs, sizeof *p->pairs, by_student);
    return true;
}

static void free_place(void *p) { free(((struct place *)p)->s.id), free(p); }

void plan_free(struct plan *p) {
    for (unsigned i = 0; i < p->ndirs; i++) free(p->dirs[i]);
    for (unsigned i = 0; i < p->nentries; i++) free(p->entries[i].name), free(p->entries[i].file);
    for (unsigned i = 0; i < p->nstudents; i++)
        free(p->students[i].id), free(p->students[i].name), free(p->students[i].key),
            free(p->students[i].time);
    free(p->dirs), free(p->entries), free(p->students), free(p->pairs);
    tdestroy(p->by_id, free_place);
    roster_free(&p->roster);
    *p = (struct plan){0};
}
