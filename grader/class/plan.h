/* plan.h — the entries of the folders that an instructor names, and which student each belongs to.
 * No entry is dropped: one that belongs to nobody has a reason. Nothing is read here but names and,
 * of Gradescope, who handed in what. */
#pragma once
#include "common/err.h"
#include "common/exercise.h"
#include "grader/class/roster.h"

#include <stdbool.h>

/* X(name, what an entry is called there) */
/* clang-format off */
#define PLAN_LAYOUTS(X)                                                                                 \
    X(auto, "")                                                                                         \
    X(folders, "a folder, an archive or a file with the student's name")                                \
    X(canvas, "doejane_123_456_FILE, doejane_LATE_123_456_FILE")                                        \
    X(moodle, "Jane Doe_123_assignsubmission_file_, a folder or the start of a file's name")            \
    X(gradescope, "submission_123, with submission_metadata.yml beside it")                             \
    X(github, "ASSIGNMENT-username, in the folder ASSIGNMENT-submissions")
/* clang-format on */
enum plan_layout {
#define X(name, text) PLAN_##name,
    PLAN_LAYOUTS(X)
#undef X
};
/* False: there is none of this name. */
bool plan_parse_layout(const char *name, enum plan_layout *out);

enum plan_kind { PLAN_FOLDER, PLAN_ARCHIVE, PLAN_SOURCE, PLAN_OTHER };

struct plan_entry {
    const char *dir; /* the folder that it lies in */
    char *name;      /* its name there */
    char *file;      /* what the student called it, for what to look for */
    enum plan_kind kind;
    const char *reason; /* not to be read, and why; NULL otherwise. A literal. */
    bool needs_review;  /* why: a person has to look */
    bool has_student;   /* to a student */
};
struct plan_student {
    char *id;        /* unique, escaped */
    char *name;      /* of the roster, or "" */
    char *entry_key; /* how the entries name the student; NULL = no entry */
    char *
        time; /* when it was handed in, as the roster, Gradescope or git says; NULL = they do not */
    bool is_rostered;
    unsigned first_entry; /* of the entries that name the student, for messages */
};
struct plan_pair {
    unsigned student, entry;
};
struct plan {
    enum plan_layout layout;
    char **dirs;
    struct plan_entry *entries;
    struct plan_student *students;
    struct plan_pair *pairs; /* sorted by student */
    unsigned ndirs, nentries, nstudents, npairs, dirs_capacity, entries_capacity, students_capacity,
        pairs_capacity;
    struct roster roster;
    bool has_roster;
    void *student_tree; /* tree of students */
};
struct plan_options {
    enum plan_layout layout;
    const char *roster;              /* a path, or NULL */
    const struct exercise *exercise; /* only this one, or NULL */
};
/* False: a folder can't be read, or two entries or two people are the same student. */
bool plan_build(struct plan *p, const char *const *paths, unsigned n, const struct plan_options *o,
                struct err *e);
/* Gives a time to students who have none and whose folder is a git repository: that of the last
 * commit. How many these are. */
unsigned plan_add_git_times(struct plan *p);
void plan_free(struct plan *p);

/* Who handed in what, of a Gradescope export: calls `each` with the folder's name, three names of a
 * person, "" = none, and the time,
 * "" = none. */
bool plan_read_gradescope(const char *path,
                          void (*on_submitter)(void *user, const char *folder,
                                               const char *const names[3], const char *time),
                          void *user, struct err *e);
