/* plan.c — see plan.h. It lists the entries, detects the layout from their names, then assigns each
 * entry to a student by its name: the roster's student of that name, or a new one. */
#include "grader/class/plan.h"
#include "grader/class/assignment.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/match_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const layout_names[] = {
#define X(name, text) #name,
    PLAN_LAYOUTS(X)
#undef X
};
static const char metadata[] = "submission_metadata.yml", moodle_infix[] = "_assignsubmission_",
                  no_student_reason[] =
                      "no student's name: put it into a folder with the student's name, call it "
                      "STUDENT_EXERCISE.cu, or name the exercise with --exercise";

bool plan_parse_layout(const char *name, enum plan_layout *out) {
    for (unsigned i = 0; i < sizeof layout_names / sizeof *layout_names; i++)
        if (!strcmp(name, layout_names[i])) return *out = (enum plan_layout)i, true;
    return false;
}

/* ---- the entries ---- */

static void reject_entry(struct plan_entry *en, const char *reason, bool needs_review) {
    en->kind = PLAN_OTHER, en->reason = reason, en->needs_review = needs_review;
}

static void add_entry(struct plan *p, const char *dir, int dir_fd, const char *name) {
    struct stat st = {0};
    struct plan_entry en = {.dir = dir, .name = xstrdup(name), .file = xstrdup(name)};
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        reject_entry(&en, "its file status cannot be read", true);
    else if (name[0] == '.') reject_entry(&en, "a hidden file", false);
    else if (S_ISLNK(st.st_mode)) reject_entry(&en, "a link, which is not followed", true);
    else if (S_ISDIR(st.st_mode)) en.kind = PLAN_FOLDER;
    else if (!S_ISREG(st.st_mode)) reject_entry(&en, "not a regular file", true);
    else if (intake_is_archive(name)) en.kind = PLAN_ARCHIVE;
    else if (intake_is_source(name)) en.kind = PLAN_SOURCE;
    else reject_entry(&en, "not a folder, an archive or a .cu file", true);
    GROW(p->entries, p->nentries + 1, p->entries_capacity, 64);
    p->entries[p->nentries++] = en;
}

static bool is_chapter(const char *name) {
    for (unsigned i = 0; i < book_count(); i++)
        if (!strcmp(book_at(i)->chapter, name)) return true;
    return !strcmp(name, "chapters");
}

static bool is_exercise(const char *name) {
    for (unsigned i = 0; i < book_count(); i++)
        if (match_exercise_name(book_at(i), name)) return true;
    return false;
}

/* Returns true for the folder of one student: it has the book's folders, or files of exercises and
 * no entry that could be a student's. */
static bool is_single_student_folder(char *const *names) {
    unsigned chapters = 0, files = 0, students = 0;
    for (char *const *n = names; *n; n++) {
        struct lms_name lms;
        chapters += is_chapter(*n);
        if (is_exercise(*n) && !parse_lms_name(*n, &lms)) files++;
        else if ((*n)[0] != '.' &&
                 (!strchr(*n, '.') || intake_is_archive(*n) || intake_is_source(*n)))
            students++;
    }
    return chapters || (files && !students);
}

static const char *add_dir(struct plan *p, const char *dir) {
    GROW(p->dirs, p->ndirs + 1, p->dirs_capacity, 8);
    return p->dirs[p->ndirs++] = xstrdup(dir);
}

/* Adds the path itself as an entry of its parent folder. */
static bool add_path_as_entry(struct plan *p, const char *path, struct err *e) {
    char full_path[PATH_MAX], *slash;
    snprintf(full_path, sizeof full_path, "%s", path);
    for (size_t n = strlen(full_path); n > 1 && full_path[n - 1] == '/';) full_path[--n] = 0;
    if (!strcmp(path_basename(full_path), ".") || !strcmp(path_basename(full_path), ".."))
        if (!realpath(path, full_path))
            return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    slash = strrchr(full_path, '/');
    char *name = xstrdup(slash ? slash + 1 : full_path);
    if (slash) slash[slash == full_path] = 0;
    const char *dir = add_dir(p, slash ? full_path : ".");
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd >= 0) add_entry(p, dir, dir_fd, name), close(dir_fd);
    free(name);
    return dir_fd >= 0 || err_set(e, ERR_INPUT, "%s: cannot open: %s", dir, strerror(errno));
}

static bool add_path(struct plan *p, const char *path, struct err *e) {
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return add_path_as_entry(p, path, e);
    int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char **names = dir_fd >= 0 ? intake_names(dir_fd) : NULL;
    bool ok = names || err_set(e, ERR_INPUT, "%s: cannot open: %s", path, strerror(errno)),
         is_single_student = ok && is_single_student_folder(names);
    if (is_single_student) ok = add_path_as_entry(p, path, e);
    const char *dir = ok && !is_single_student ? add_dir(p, path) : NULL;
    for (char **n = names; dir && *n; n++) add_entry(p, dir, dir_fd, *n);
    intake_free_names(names);
    if (dir_fd >= 0) close(dir_fd);
    return ok;
}

static enum plan_layout detect_layout(const struct plan *p) {
    struct lms_name lms;
    bool has_canvas_name = false;
    for (unsigned i = 0; i < p->nentries; i++) {
        const struct plan_entry *en = &p->entries[i];
        if (!strcmp(en->name, metadata)) return PLAN_gradescope;
        if (strstr(en->name, moodle_infix)) return PLAN_moodle;
        has_canvas_name |= en->kind != PLAN_FOLDER && parse_lms_name(en->name, &lms);
    }
    return has_canvas_name ? PLAN_canvas : PLAN_folders;
}

/* ---- the students ---- */

static int by_id(const void *a, const void *b) {
    return strcmp(((const struct plan_student *)a)->id, ((const struct plan_student *)b)->id);
}

/* A node of the tree. It has its own copy of the id, because GROW moves p->students. */
struct student_node {
    struct plan_student student;
    unsigned index;
};

static unsigned find_or_add_student(struct plan *p, const char *id) {
    struct student_node *node = xcalloc(1, sizeof *node), **found;
    *node = (struct student_node){{.id = xstrdup(id)}, p->nstudents};
    found = tsearch(node, &p->student_tree, by_id);
    if (*found != node) return free(node->student.id), free(node), (*found)->index;
    GROW(p->students, p->nstudents + 1, p->students_capacity, 64);
    p->students[p->nstudents] = (struct plan_student){.id = xstrdup(id), .name = xstrdup("")};
    return p->nstudents++;
}

static unsigned find_or_add_escaped_student(struct plan *p, const char *id) {
    struct buf escaped = {0};
    text_clean_name(&escaped, id);
    unsigned s = find_or_add_student(p, buf_str(&escaped));
    buf_free(&escaped);
    return s;
}

static bool add_roster(struct plan *p, struct err *e) {
    for (unsigned i = 0; i < p->roster.n; i++) {
        const struct roster_row *row = &p->roster.rows[i];
        unsigned at = find_or_add_escaped_student(p, row->id); /* may move p->students */
        struct plan_student *s = &p->students[at];
        if (s->is_rostered)
            return err_set(e, ERR_INPUT, "the roster has '%.100s' twice; ids must be unique",
                           s->id);
        struct buf escaped = {0};
        text_clean_name(&escaped, row->name);
        free(s->name);
        s->name = xstrdup(buf_str(&escaped)), s->is_rostered = true;
        if (*row->time) s->time = xstrdup(row->time);
        buf_free(&escaped);
    }
    return true;
}

static void report_duplicate_student(const struct plan *p, unsigned s, unsigned entry,
                                     struct err *e) {
    const struct plan_entry *a = &p->entries[p->students[s].first_entry], *b = &p->entries[entry];
    struct buf first_name = {0}, second_name = {0};
    text_clean_name(&first_name, a->name), text_clean_name(&second_name, b->name);
    err_set(e, ERR_INPUT,
            "two entries are the same student '%.100s': %.200s in %.100s, and %.200s in %.100s; "
            "keep one of them, or "
            "rename one",
            p->students[s].id, buf_str(&first_name), a->dir, buf_str(&second_name), b->dir);
    buf_free(&first_name), buf_free(&second_name);
}

/* Assigns an entry to the student of one of the keys. A student may have several entries only with
 * Canvas and Moodle, which put the student's name before each file. */
static bool assign_entry(struct plan *p, unsigned entry, const char *const keys[3], const char *id,
                         struct err *e) {
    int row = ROSTER_NONE;
    for (unsigned k = 0; k < 3 && row < 0 && p->has_roster; k++)
        if (keys[k] && *keys[k]) row = roster_find(&p->roster, keys[k]);
    bool allows_several_files = p->layout == PLAN_canvas || p->layout == PLAN_moodle;
    unsigned s = row >= 0 ? find_or_add_escaped_student(p, p->roster.rows[row].id)
                          : find_or_add_escaped_student(p, id);
    struct plan_student *st = &p->students[s];
    if (st->entry_key && (!allows_several_files || strcmp(st->entry_key, id)))
        return report_duplicate_student(p, s, entry, e), false;
    if (row < 0 && st->is_rostered) /* the name is ambiguous, and equals an id */
        return err_set(e, ERR_INPUT, "'%.100s' matches more than one person of the roster", st->id);
    if (!st->entry_key) st->entry_key = xstrdup(id), st->first_entry = entry;
    p->entries[entry].has_student = true;
    GROW(p->pairs, p->npairs + 1, p->pairs_capacity, 64);
    p->pairs[p->npairs++] = (struct plan_pair){s, entry};
    return true;
}

/* ---- the names of entries, a function for each layout ---- */

static void set_student_file_name(struct plan_entry *en, const char *file) {
    char *copy = xstrdup(file);
    free(en->file), en->file = copy;
}

static bool assign_canvas_entry(struct plan *p, unsigned i, struct err *e) {
    struct lms_name lms;
    char user[64], student[NAME_MAX + 1], id[NAME_MAX + 80];
    if (!parse_lms_name(p->entries[i].name, &lms))
        return reject_entry(&p->entries[i], "its name is not in Canvas's format", true), true;
    snprintf(user, sizeof user, "%.*s", lms.nuser, lms.user);
    snprintf(student, sizeof student, "%.*s", lms.nstudent, lms.student);
    snprintf(id, sizeof id, "%s_%s", student, user);
    set_student_file_name(&p->entries[i], lms.file);
    return assign_entry(p, i, (const char *const[3]){user, student, NULL}, id, e);
}

static bool assign_moodle_entry(struct plan *p, unsigned i, struct err *e) {
    char id[NAME_MAX + 1], name[NAME_MAX + 1];
    snprintf(id, sizeof id, "%s", p->entries[i].name);
    char *infix = strstr(id, moodle_infix), *user_number;
    if (!infix)
        return reject_entry(&p->entries[i], "its name is not in Moodle's format", true), true;
    const char *rest = strchr(infix + sizeof moodle_infix - 1, '_');
    if (rest && rest[1]) set_student_file_name(&p->entries[i], rest + 1);
    if (!strncmp(infix + sizeof moodle_infix - 1, "onlinetext", 10) &&
        p->entries[i].kind != PLAN_SOURCE)
        reject_entry(&p->entries[i], "typed text, not a file", true);
    *infix = 0;
    strcpy(name, id);
    user_number = strrchr(name, '_');
    if (user_number) *user_number++ = 0;
    return assign_entry(p, i, (const char *const[3]){user_number, name, NULL}, id, e);
}

static bool assign_github_entry(struct plan *p, unsigned i, struct err *e) {
    char prefix[PATH_MAX];
    snprintf(prefix, sizeof prefix, "%s", path_basename(p->entries[i].dir));
    if (!text_ends_with(prefix, "-submissions"))
        return err_set(e, ERR_INPUT,
                       "%s: GitHub Classroom's folder must end in -submissions; this one doesn't",
                       p->entries[i].dir);
    prefix[strlen(prefix) - strlen("submissions")] = 0;
    if (!text_starts_with(p->entries[i].name, prefix)) {
        reject_entry(&p->entries[i], "its name doesn't begin with the assignment's name", true);
        return true;
    }
    const char *user = p->entries[i].name + strlen(prefix);
    return assign_entry(p, i, (const char *const[3]){user, NULL, NULL}, user, e);
}

static void strip_extension(char *name, enum plan_kind kind) {
    static const char *const suffixes[] = {".cu.txt", ".cu",      ".tar.gz",  ".tar.bz2",
                                           ".tar.xz", ".tar.zst", ".tar.lz4", ".tar.lzma"};
    if (kind == PLAN_FOLDER) return;
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with_ignore_case(name, suffixes[i])) {
            name[strlen(name) - strlen(suffixes[i])] = 0;
            return;
        }
    char *dot = strrchr(name, '.');
    if (dot && dot > name) *dot = 0;
}

/* Cuts the exercise off STUDENT_EXERCISE; returns false if there is none. */
static bool strip_exercise_suffix(char *name) {
    for (char *at = name; (at = strpbrk(at + 1, "_-"));) {
        char file[NAME_MAX + 8];
        snprintf(file, sizeof file, "%s.cu", at + 1);
        if (is_exercise(file)) return *at = 0, true;
    }
    return false;
}

static bool assign_folder_entry(struct plan *p, unsigned i, const struct exercise *only_exercise,
                                struct err *e) {
    struct plan_entry *en = &p->entries[i];
    char name[NAME_MAX + 1];
    snprintf(name, sizeof name, "%s", en->name);
    strip_extension(name, en->kind);
    bool has_no_student = en->kind == PLAN_SOURCE && is_exercise(en->name),
         had_exercise = en->kind == PLAN_SOURCE && strip_exercise_suffix(name);
    if (en->kind == PLAN_SOURCE && (has_no_student || (!had_exercise && !only_exercise)))
        return reject_entry(en, no_student_reason, true), true;
    if (had_exercise) set_student_file_name(en, en->name + strlen(name) + 1);
    bool is_on_roster = p->has_roster && roster_find(&p->roster, name) != ROSTER_NONE;
    if (en->kind == PLAN_OTHER && !is_on_roster &&
        strcmp(en->reason, "a link, which is not followed"))
        return true;
    return assign_entry(p, i, (const char *const[3]){name, NULL, NULL}, name, e);
}

/* ---- Gradescope ---- */

struct gradescope_ctx {
    struct plan *p;
    const char *dir;
    struct err *e;
    bool ok;
    unsigned next_entry; /* the search starts here: the metadata mostly has the names' order */
};

/* Sets a student's time, unless the roster has one. A time that can't be parsed is ignored; `grader
 * batch` reports how many students have none. */
static void set_submission_time(struct plan *p, unsigned entry, const char *time) {
    long long seconds;
    if (!assignment_parse_time(time, &seconds)) return;
    for (unsigned i = p->npairs; i-- > 0 && p->pairs[i].entry == entry;) {
        struct plan_student *s = &p->students[p->pairs[i].student];
        if (!s->time) s->time = xstrdup(time);
        return;
    }
}

static void on_submitter(void *user, const char *folder, const char *const names[3],
                         const char *time) {
    struct gradescope_ctx *g = user;
    const char *id = *names[0] ? names[0] : *names[1] ? names[1] : *names[2] ? names[2] : folder;
    bool found = false;
    unsigned n = g->p->nentries;
    for (unsigned k = 0; k < n && g->ok && !found; k++) {
        unsigned i = (g->next_entry + k) % n;
        struct plan_entry *en = &g->p->entries[i];
        if (en->dir != g->dir || strcmp(en->name, folder)) continue;
        found = true, g->next_entry = i;
        g->ok = assign_entry(g->p, i, names, id, g->e);
        if (g->ok) set_submission_time(g->p, i, time);
    }
    if (!found && g->ok)
        g->ok = err_set(g->e, ERR_INPUT, "%s names the folder %.200s, which does not exist",
                        metadata, folder);
}

static bool assign_gradescope_entries(struct plan *p, struct err *e) {
    bool ok = true;
    for (unsigned d = 0; d < p->ndirs && ok; d++) {
        char path[PATH_MAX];
        struct gradescope_ctx g = {p, p->dirs[d], e, true, 0};
        if (!path_join(path, sizeof path, p->dirs[d], metadata)) continue;
        ok = plan_read_gradescope(path, on_submitter, &g, e) && g.ok;
    }
    for (unsigned i = 0; i < p->nentries && ok; i++) {
        struct plan_entry *en = &p->entries[i];
        if (!strcmp(en->name, metadata)) reject_entry(en, "Gradescope's metadata", false);
        else if (!en->has_student && !en->reason)
            reject_entry(en, "submission_metadata.yml does not name it", true);
    }
    return ok;
}

/* ---- all of it ---- */

static bool assign_all_entries(struct plan *p, const struct exercise *only_exercise,
                               struct err *e) {
    bool ok = true;
    if (p->layout == PLAN_gradescope) return assign_gradescope_entries(p, e);
    for (unsigned i = 0; i < p->nentries && ok; i++) {
        if (p->entries[i].name[0] == '.') continue;
        if (p->layout == PLAN_canvas) ok = assign_canvas_entry(p, i, e);
        else if (p->layout == PLAN_moodle) ok = assign_moodle_entry(p, i, e);
        else if (p->layout == PLAN_github) ok = assign_github_entry(p, i, e);
        else ok = assign_folder_entry(p, i, only_exercise, e);
    }
    return ok;
}

static int by_student(const void *a, const void *b) {
    const struct plan_pair *x = a, *y = b;
    if (x->student != y->student) return x->student < y->student ? -1 : 1;
    return x->entry < y->entry ? -1 : x->entry > y->entry;
}

bool plan_build(struct plan *p, const char *const *paths, unsigned n, const struct plan_options *o,
                struct err *e) {
    *p = (struct plan){.layout = o->layout};
    p->has_roster = o->roster;
    if (o->roster && !(roster_read(o->roster, &p->roster, e) && add_roster(p, e))) return false;
    for (unsigned i = 0; i < n; i++)
        if (!add_path(p, paths[i], e)) return false;
    if (p->layout == PLAN_auto) p->layout = detect_layout(p);
    if (!assign_all_entries(p, o->exercise, e)) return false;
    if (p->npairs) qsort(p->pairs, p->npairs, sizeof *p->pairs, by_student);
    return true;
}

static void free_student_node(void *p) { free(((struct student_node *)p)->student.id), free(p); }

void plan_free(struct plan *p) {
    for (unsigned i = 0; i < p->ndirs; i++) free(p->dirs[i]);
    for (unsigned i = 0; i < p->nentries; i++) free(p->entries[i].name), free(p->entries[i].file);
    for (unsigned i = 0; i < p->nstudents; i++)
        free(p->students[i].id), free(p->students[i].name), free(p->students[i].entry_key),
            free(p->students[i].time);
    free(p->dirs), free(p->entries), free(p->students), free(p->pairs);
    tdestroy(p->student_tree, free_student_node);
    roster_free(&p->roster);
    *p = (struct plan){0};
}
