/* plan.h — plans an intake: lists the entries of the folders that an instructor names, and finds
 * each one's student; the class commands call it. It reads names only, and Gradescope's metadata.
 * It drops no entry: one without a student has a reason. Each entry's own name decides its layout,
 * so one folder may hold several. If a student can't be told for certain, the entry and every
 * student who may be meant are unclear; the others are planned as usual. */
#pragma once
#include "common/err.h"
#include "common/exercise.h"
#include "grader/class/roster.h"

#include <stdbool.h>

/* X(name, description of an entry's name) */
/* clang-format off */
#define PLAN_LAYOUTS(X)                                                                      \
    X(auto, "")                                                                              \
    X(folders, "a folder, an archive or a file with the student's name")                     \
    X(canvas, "doejane_123_456_FILE, doejane_LATE_123_456_FILE")                             \
    X(moodle, "Jane Doe_123_assignsubmission_file_, a folder or the start of a file's name") \
    X(blackboard, "ASSIGNMENT_USERNAME_attempt_2026-10-01-21-59-00_FILE")                    \
    X(brightspace, "123-456 - Jane Doe - Oct 1, 2026 1159 PM, a folder or a file")           \
    X(sakai, "Doe, Jane(username), a folder")                                                \
    X(gradescope, "submission_123, with submission_metadata.yml beside it")                  \
    X(github, "ASSIGNMENT-username, in the folder ASSIGNMENT-submissions")
/* clang-format on */
enum plan_layout {
#define X(name, text) PLAN_LAYOUT_##name,
    PLAN_LAYOUTS(X)
#undef X
};
/* Returns false if no layout has this name. */
bool plan_parse_layout(const char *name, enum plan_layout *out);
const char *plan_layout_name(enum plan_layout layout);

/* When a file was handed in, by its entry's name; 0 = unknown. A file is newer than another only if
 * both numbers are greater. In Canvas, `order` is the upload's number, and `revision` counts
 * uploads of the same name (the "-2" in it); elsewhere both are the date. */
struct plan_version {
    unsigned long long order, revision;
};

enum plan_kind { PLAN_KIND_FOLDER, PLAN_KIND_ARCHIVE, PLAN_KIND_SOURCE, PLAN_KIND_OTHER };

struct plan_entry {
    const char *dir; /* its folder */
    char *name;      /* its name there */
    char *file;      /* the student's name of it, which is matched to exercises */
    enum plan_kind kind;
    char *reason;      /* why it is not read; NULL = it is read */
    bool needs_review; /* with `reason`: a person has to look */
    char *ambiguity;   /* why its student is not certain, or NULL */
    enum plan_layout layout;
    struct plan_version version;
    bool has_student, is_link, is_typed_text;
};
struct plan_student {
    char *id;            /* unique, escaped */
    char *name;          /* from the roster, or "" */
    char *entry_key;     /* the student's name in the entries; NULL = no entry */
    char *time;          /* of the submission, from the roster, Gradescope or git; NULL = unknown */
    char *review_reason; /* why a person has to decide which entry is the student's; NULL = clear */
    bool is_rostered;
    unsigned candidate_entry; /* 1 + an unclaimed entry that may be the student's; 0 = none */
    unsigned first_entry;     /* the first of the student's entries, for messages */
};
struct plan_pair {
    unsigned student, entry;
};
struct plan {
    enum plan_layout layout; /* of all entries; PLAN_LAYOUT_auto = each entry's own */
    char **dirs;
    struct plan_entry *entries;
    struct plan_student *students;
    struct plan_pair *pairs; /* sorted by student */
    unsigned ndirs, nentries, nstudents, npairs, dirs_capacity, entries_capacity, students_capacity,
        pairs_capacity;
    struct roster roster;
    bool has_roster;
    void *student_tree; /* of struct student_node, by id; see tsearch(3) */
};
struct plan_options {
    enum plan_layout layout;
    const char *roster;              /* a path, or NULL */
    const char *utc_offset;          /* of the roster's times in words; NULL = they don't count */
    const struct exercise *exercise; /* only this one, or NULL */
};
/* Builds the plan. Returns false if a folder or the roster can't be read. Free with plan_free. */
bool plan_build(struct plan *p, const char *const *paths, unsigned n, const struct plan_options *o,
                struct err *e);
/* Sets the time of students who have none and whose folder is a git repository to that of the last
 * commit. Returns the number of these students. */
unsigned plan_add_git_times(struct plan *p);
void plan_free(struct plan *p);

/* Reads the metadata of a Gradescope export: calls `on_submitter` with the folder's name, the id,
 * e-mail address and name of a person, and the time; "" = unknown. */
bool plan_read_gradescope(const char *path,
                          void (*on_submitter)(void *user, const char *folder,
                                               const char *const names[3], const char *time),
                          void *user, struct err *e);
