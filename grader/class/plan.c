/* plan.c — see plan.h. It lists the entries, then assigns each one to a student by its name: the
 * roster's student of that name, or a new one. A name that fits several students, and a name that
 * merely contains a student's, assigns nothing: plan_ambiguity.c then marks all whom it may mean.
 */
#include "grader/class/plan.h"
#include "grader/class/assignment.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/class/intake.h"
#include "grader/class/match_files.h"
#include "grader/class/plan_ambiguity.h"
#include "grader/class/plan_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const layout_names[] = {
#define X(name, text) #name,
    PLAN_LAYOUTS(X)
#undef X
};
static const char
    metadata[] = "submission_metadata.yml",
    no_student_reason[] =
        "no student's name: move it into a folder with the student's name, rename it to "
        "STUDENT_EXERCISE.cu, or name the exercise with --exercise";

bool plan_parse_layout(const char *name, enum plan_layout *out) {
    for (unsigned i = 0; i < sizeof layout_names / sizeof *layout_names; i++)
        if (!strcmp(name, layout_names[i])) return *out = (enum plan_layout)i, true;
    return false;
}

const char *plan_layout_name(enum plan_layout layout) { return layout_names[layout]; }

/* ---- the entries ---- */

static void reject_entry(struct plan_entry *en, const char *reason, bool needs_review) {
    char *copy = xstrdup(reason);
    free(en->reason);
    en->kind = PLAN_KIND_OTHER, en->reason = copy, en->needs_review = needs_review;
}

/* Sakai and Brightspace put these beside the students' folders. */
static bool is_index_of_lms(const char *name) {
    return !strcasecmp(name, "grades.csv") || !strcasecmp(name, "grades.xls") ||
           !strcasecmp(name, "index.html");
}

static void add_entry(struct plan *p, const char *dir, int dir_fd, const char *name) {
    struct stat st = {0};
    struct plan_entry en = {.dir = dir, .name = xstrdup(name), .file = xstrdup(name)};
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        reject_entry(&en, "its file status cannot be read", true);
    else if (name[0] == '.') reject_entry(&en, "a hidden file", false);
    else if (is_index_of_lms(name)) reject_entry(&en, "a list that the LMS adds", false);
    else if (S_ISLNK(st.st_mode))
        en.is_link = true, reject_entry(&en, "a link, which is not followed", true);
    else if (S_ISDIR(st.st_mode)) en.kind = PLAN_KIND_FOLDER;
    else if (!S_ISREG(st.st_mode)) reject_entry(&en, "not a regular file", true);
    else if (intake_is_archive(name)) en.kind = PLAN_KIND_ARCHIVE;
    else if (intake_is_source(name)) en.kind = PLAN_KIND_SOURCE;
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
        struct canvas_name lms;
        chapters += is_chapter(*n);
        if (is_exercise(*n) && !match_parse_canvas_name(*n, &lms)) files++;
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

/* Sets the submission time of a row of the roster, if it has one. */
static void set_roster_time(struct plan_student *s, const struct roster_row *row,
                            const char *utc_offset) {
    char time[ROSTER_TIME_SIZE];
    if (*row->time) s->time = xstrdup(row->time);
    else if (utc_offset && roster_parse_words(row->words, utc_offset, time))
        s->time = xstrdup(time);
}

static bool add_roster(struct plan *p, const char *utc_offset, struct err *e) {
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
        set_roster_time(s, row, utc_offset);
        buf_free(&escaped);
    }
    return true;
}

/* Marks a student with entries of two different names; a person has to choose one. */
static void mark_duplicate_student(struct plan *p, unsigned s, unsigned entry) {
    const struct plan_entry *a = &p->entries[p->students[s].first_entry], *b = &p->entries[entry];
    struct buf reason = {0};
    buf_puts(&reason, "two entries are the same student: "), text_clean_name(&reason, a->name);
    buf_puts(&reason, " in "), text_clean_name(&reason, a->dir);
    buf_puts(&reason, ", and "), text_clean_name(&reason, b->name);
    buf_puts(&reason, " in "), text_clean_name(&reason, b->dir);
    buf_puts(&reason, "; keep one of them, or rename one");
    plan_require_review(&p->students[s], buf_str(&reason));
    buf_free(&reason);
}

/* Returns the row of the roster that the id, or else the keys name; ROSTER_NONE; or
 * ROSTER_AMBIGUOUS with the reason. The keys must agree: in "Jane Doe_13", the number may be in
 * somebody else's row. */
static int find_row(const struct plan *p, const struct plan_name *name, struct buf *reason) {
    const char *ambiguous = NULL;
    int row = name->is_id_certain ? roster_find(&p->roster, name->id) : ROSTER_NONE;
    if (row >= 0) return row;
    if (row == ROSTER_AMBIGUOUS) ambiguous = name->id;
    row = ROSTER_NONE;
    for (unsigned k = 0; k < PLAN_MAX_KEYS; k++) {
        int found =
            *name->roster_keys[k] ? roster_find(&p->roster, name->roster_keys[k]) : ROSTER_NONE;
        if (found == ROSTER_AMBIGUOUS) ambiguous = name->roster_keys[k];
        if (found >= 0 && row >= 0 && found != row) {
            buf_printf(reason, "it names two students of the roster, '%.100s' and '%.100s'",
                       p->roster.rows[row].id, p->roster.rows[found].id);
            return ROSTER_AMBIGUOUS;
        }
        if (found >= 0) row = found;
    }
    if (row >= 0 || !ambiguous) return row;
    buf_printf(reason, "'%.100s' is several students of the roster; use an id", ambiguous);
    return ROSTER_AMBIGUOUS;
}

static bool allows_several_entries(enum plan_layout layout) {
    return layout == PLAN_LAYOUT_canvas || layout == PLAN_LAYOUT_moodle ||
           layout == PLAN_LAYOUT_blackboard || layout == PLAN_LAYOUT_brightspace;
}

/* Claims an entry for a student. A student may have several entries only in an LMS's layout, under
 * one name, which the LMS puts before each file. */
static void claim_entry(struct plan *p, unsigned i, const char *student, const char *key) {
    unsigned s = find_or_add_escaped_student(p, student);
    struct plan_student *st = &p->students[s];
    struct plan_entry *en = &p->entries[i];
    if (st->entry_key && (!allows_several_entries(en->layout) || strcmp(st->entry_key, key) ||
                          p->entries[st->first_entry].layout != en->layout))
        mark_duplicate_student(p, s, i);
    if (!st->entry_key) st->entry_key = xstrdup(key), st->first_entry = i;
    en->has_student = true;
    GROW(p->pairs, p->npairs + 1, p->pairs_capacity, 64);
    p->pairs[p->npairs++] = (struct plan_pair){s, i};
}

/* Leaves the entry to a person, with all students whom the name may mean. */
static void mark_ambiguous_entry(struct plan *p, unsigned i, const struct plan_name *name,
                                 const char *reason) {
    struct plan_entry *en = &p->entries[i];
    if (!en->ambiguity) en->ambiguity = xstrdup(reason);
    plan_add_candidates(p, i, name->id);
    for (unsigned k = 0; k < PLAN_MAX_KEYS; k++) plan_add_candidates(p, i, name->roster_keys[k]);
}

/* Returns true for a group's work: the roster has such a group, and no such person. */
static bool is_group_entry(const struct plan *p, const struct plan_name *name) {
    return *name->group && roster_has_group(&p->roster, name->group) &&
           roster_find(&p->roster, name->group) == ROSTER_NONE;
}

static void claim_for_group(struct plan *p, unsigned i, const struct plan_name *name) {
    for (unsigned row = 0; row < p->roster.n; row++)
        if (roster_is_in_group(&p->roster, row, name->group))
            claim_entry(p, i, p->roster.rows[row].id, name->id);
}

/* Assigns an entry to the student of that name, or marks it as ambiguous. */
static void assign_entry(struct plan *p, unsigned i, const struct plan_name *name) {
    struct plan_entry *en = &p->entries[i];
    struct buf reason = {0};
    if (is_group_entry(p, name)) {
        claim_for_group(p, i, name);
        return;
    }
    int row = find_row(p, name, &reason),
        contained = row == ROSTER_NONE ? plan_find_contained(p, en->name) : ROSTER_NONE;
    if (contained != ROSTER_NONE)
        buf_printf(&reason, "not on the roster under this name, which contains %s%.100s; rename it",
                   contained >= 0 ? "that of " : "those of several students",
                   contained >= 0 ? p->roster.rows[contained].id : "");
    if (buf_str(&reason)[0]) mark_ambiguous_entry(p, i, name, buf_str(&reason));
    else claim_entry(p, i, row >= 0 ? p->roster.rows[row].id : name->id, name->id);
    buf_free(&reason);
}

/* ---- the names of entries ---- */

static void set_student_file_name(struct plan_entry *en, const char *file) {
    char *copy = xstrdup(file);
    free(en->file), en->file = copy;
}

static void assign_lms_entry(struct plan *p, unsigned i) {
    static const char *const forms[] = {
#define X(name, text) text,
        PLAN_LAYOUTS(X)
#undef X
    };
    struct plan_entry *en = &p->entries[i];
    struct plan_name name;
    if (!plan_parse_name(en->layout, en, &name)) {
        struct buf reason = {0};
        buf_printf(&reason, "its name is not in the format %s", forms[en->layout]);
        reject_entry(en, buf_str(&reason), true);
        buf_free(&reason);
        return;
    }
    if (*name.file) set_student_file_name(en, name.file);
    en->is_typed_text = name.is_typed_text, en->version = name.version;
    assign_entry(p, i, &name);
}

/* Cuts the exercise off STUDENT_EXERCISE or "STUDENT - EXERCISE". Returns where it began, or 0 if
 * there is none. */
static size_t strip_exercise_suffix(char *name) {
    for (char *at = name; (at = strpbrk(at + 1, "_-"));) {
        char file[NAME_MAX + 8], *exercise = at + 1 + strspn(at + 1, " ");
        snprintf(file, sizeof file, "%s.cu", exercise);
        if (!is_exercise(file)) continue;
        while (at > name && at[-1] == ' ') at--;
        *at = 0;
        return (size_t)(exercise - name);
    }
    return 0;
}

static void assign_folder_entry(struct plan *p, unsigned i, const struct exercise *only_exercise) {
    struct plan_entry *en = &p->entries[i];
    struct plan_name name = {.is_id_certain = true};
    plan_strip_extension(en, name.id);
    bool has_no_student = en->kind == PLAN_KIND_SOURCE && is_exercise(en->name);
    size_t exercise = en->kind == PLAN_KIND_SOURCE ? strip_exercise_suffix(name.id) : 0;
    if (en->kind == PLAN_KIND_SOURCE && (has_no_student || (!exercise && !only_exercise))) {
        reject_entry(en, no_student_reason, true);
        return;
    }
    if (exercise) set_student_file_name(en, en->name + exercise);
    snprintf(name.group, sizeof name.group, "%s", name.id);
    bool is_on_roster = roster_find(&p->roster, name.id) != ROSTER_NONE || is_group_entry(p, &name);
    if (en->kind != PLAN_KIND_OTHER || is_on_roster || en->is_link) assign_entry(p, i, &name);
}

/* Returns the layout of one entry. An entry that the roster names is that student's, whatever else
 * its name looks like. */
static enum plan_layout choose_layout(const struct plan *p, const struct plan_entry *en) {
    char stem[PLAN_NAME_SIZE];
    if (p->layout != PLAN_LAYOUT_auto) return p->layout;
    plan_strip_extension(en, stem);
    return roster_find(&p->roster, stem) != ROSTER_NONE ? PLAN_LAYOUT_folders
                                                        : plan_detect_layout(en);
}

/* ---- Gradescope ---- */

struct gradescope_ctx {
    struct plan *p;
    const char *dir;
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

/* Returns the entry of this name in the folder of the metadata, or the number of entries. */
static unsigned find_gradescope_entry(struct gradescope_ctx *g, const char *folder) {
    unsigned n = g->p->nentries;
    for (unsigned k = 0; k < n; k++) {
        unsigned i = (g->next_entry + k) % n;
        const struct plan_entry *en = &g->p->entries[i];
        if (en->dir == g->dir && !strcmp(en->name, folder)) return g->next_entry = i;
    }
    return n;
}

/* Adds a submitter whose folder is not there: unclear, because it may have been lost. */
static void mark_lost_submission(struct plan *p, const struct plan_name *name, const char *folder) {
    struct buf reason = {0}, ignored = {0};
    int row = find_row(p, name, &ignored);
    const char *id = row >= 0 ? p->roster.rows[row].id : name->id;
    unsigned s = find_or_add_escaped_student(p, id);
    buf_printf(&reason, "%s names the folder ", metadata), text_clean_name(&reason, folder);
    buf_puts(&reason, ", which does not exist");
    plan_require_review(&p->students[s], buf_str(&reason));
    buf_free(&reason), buf_free(&ignored);
}

static void on_submitter(void *user, const char *folder, const char *const identity[3],
                         const char *time) {
    struct gradescope_ctx *g = user;
    struct plan_name name = {0};
    const char *id = *identity[0]   ? identity[0]
                     : *identity[1] ? identity[1]
                     : *identity[2] ? identity[2]
                                    : folder;
    snprintf(name.id, sizeof name.id, "%s", id);
    for (unsigned k = 0; k < 3; k++)
        snprintf(name.roster_keys[k], PLAN_NAME_SIZE, "%s", identity[k]);
    unsigned i = find_gradescope_entry(g, folder);
    if (i == g->p->nentries) {
        mark_lost_submission(g->p, &name, folder);
        return;
    }
    g->p->entries[i].layout = PLAN_LAYOUT_gradescope;
    assign_entry(g->p, i, &name);
    set_submission_time(g->p, i, time);
}

/* Assigns the entries that the metadata `m` beside them names. */
static bool assign_gradescope_entries(struct plan *p, unsigned m, struct err *e) {
    char path[PATH_MAX];
    struct gradescope_ctx g = {p, p->entries[m].dir, 0};
    if (!path_join(path, sizeof path, g.dir, metadata)) return true;
    if (!plan_read_gradescope(path, on_submitter, &g, e)) return false;
    reject_entry(&p->entries[m], "Gradescope's metadata", false);
    for (unsigned i = 0; i < p->nentries; i++) {
        struct plan_entry *en = &p->entries[i];
        bool is_submission =
            p->layout == PLAN_LAYOUT_gradescope || text_starts_with(en->name, "submission_");
        if (en->dir == g.dir && is_submission && !en->has_student && !en->ambiguity && !en->reason)
            reject_entry(en, "submission_metadata.yml does not name it", true);
    }
    return true;
}

/* ---- all of it ---- */

static void assign_own_name(struct plan *p, unsigned i, const struct exercise *only_exercise) {
    struct plan_entry *en = &p->entries[i];
    if (en->has_student || en->ambiguity || en->name[0] == '.' || !strcmp(en->name, metadata))
        return;
    if (p->layout == PLAN_LAYOUT_auto && en->reason &&
        text_starts_with(en->reason, "submission_metadata"))
        return;
    en->layout = choose_layout(p, en);
    if (en->layout == PLAN_LAYOUT_folders) assign_folder_entry(p, i, only_exercise);
    else assign_lms_entry(p, i);
}

static bool assign_all_entries(struct plan *p, const struct exercise *only_exercise,
                               struct err *e) {
    bool may_be_gradescope = p->layout == PLAN_LAYOUT_auto || p->layout == PLAN_LAYOUT_gradescope;
    for (unsigned i = 0; i < p->nentries && may_be_gradescope; i++)
        if (!strcmp(p->entries[i].name, metadata) && !assign_gradescope_entries(p, i, e))
            return false;
    for (unsigned i = 0; i < p->nentries; i++) assign_own_name(p, i, only_exercise);
    return true;
}

/* Gives each unclaimed entry its reason, and marks the students whom it may mean. */
static void review_unclaimed_entries(struct plan *p) {
    for (unsigned i = 0; i < p->nentries; i++) {
        struct plan_entry *en = &p->entries[i];
        if (en->has_student) continue;
        if (en->ambiguity) reject_entry(en, en->ambiguity, true);
        plan_add_candidates_in_name(p, i);
    }
    plan_review_candidates(p);
}

/* Text that was typed into the LMS beside files is left out; without files, a person reads it. */
static void reject_typed_text(struct plan *p) {
    for (unsigned i = 0, end; i < p->npairs; i = end) {
        bool has_file = false;
        for (end = i; end < p->npairs && p->pairs[end].student == p->pairs[i].student; end++)
            has_file |= !p->entries[p->pairs[end].entry].is_typed_text;
        for (unsigned k = i; k < end; k++) {
            struct plan_entry *en = &p->entries[p->pairs[k].entry];
            if (en->is_typed_text) reject_entry(en, "typed text, not a file", !has_file);
        }
    }
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
    if (o->roster && !(roster_read(o->roster, &p->roster, e) && add_roster(p, o->utc_offset, e)))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (!add_path(p, paths[i], e)) return false;
    if (!assign_all_entries(p, o->exercise, e)) return false;
    review_unclaimed_entries(p);
    if (p->npairs) qsort(p->pairs, p->npairs, sizeof *p->pairs, by_student);
    reject_typed_text(p);
    return true;
}

static void free_student_node(void *p) { free(((struct student_node *)p)->student.id), free(p); }

void plan_free(struct plan *p) {
    for (unsigned i = 0; i < p->ndirs; i++) free(p->dirs[i]);
    for (unsigned i = 0; i < p->nentries; i++)
        free(p->entries[i].name), free(p->entries[i].file), free(p->entries[i].reason),
            free(p->entries[i].ambiguity);
    for (unsigned i = 0; i < p->nstudents; i++)
        free(p->students[i].id), free(p->students[i].name), free(p->students[i].entry_key),
            free(p->students[i].time), free(p->students[i].review_reason);
    free(p->dirs), free(p->entries), free(p->students), free(p->pairs);
    tdestroy(p->student_tree, free_student_node);
    roster_free(&p->roster);
    *p = (struct plan){0};
}
