/* plan.h — plans an intake: lists the entries of the folders that an instructor names, and finds
 * the student of each entry; the class commands call it. It reads names only, and Gradescope's
 * metadata. It drops no entry: one without a student has a reason. A layout is how an LMS names the
 * entries of its export; each entry's name shows its layout, so one folder may hold several. If a
 * student can't be told for certain, the entry and every student who may be meant are unclear; the
 * others are planned as usual. */
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

/* When a file was handed in, as far as its entry's name tells; 0 = unknown. A file is newer than
 * another only if both numbers are greater; if neither is, their folders decide (match_files.c). In
 * Canvas, `order` is the upload's number, and `revision` is 1, or 1 + N for "name-N.cu", which
 * Canvas makes of a name that was uploaded before; in other layouts both are the date's digits, as
 * in 20261001215900. */
struct plan_version {
    unsigned long long order, revision;
};

enum plan_kind { PLAN_KIND_FOLDER, PLAN_KIND_ARCHIVE, PLAN_KIND_SOURCE, PLAN_KIND_OTHER };

struct plan_entry {
    const char *dir; /* its folder */
    char *name;      /* its name there */
    char *file;      /* its name without what the LMS added; matched to exercises */
    enum plan_kind kind;
    char *reason;      /* why it is not read; NULL = it is read */
    bool needs_review; /* only with `reason`: it may be a submission, so a person has to look */
    char *ambiguity;   /* why its student is not certain, or NULL */
    enum plan_layout layout;
    struct plan_version version;
    bool has_student, is_link;
    bool is_typed_text; /* typed into the LMS's form, not a file that a student uploaded */
};
struct plan_student {
    char *id;            /* unique, escaped */
    char *name;          /* from the roster, or "" */
    char *entry_key;     /* the student as the entries' names spell it; NULL = no entry */
    char *time;          /* of the submission, from the roster, Gradescope or git; NULL = unknown */
    char *review_reason; /* why a person has to decide which entry is the student's; NULL = clear */
    bool is_rostered;
    /* 1 + the index of an entry without a student that may be this one's; 0 = none. */
    unsigned candidate_entry;
    unsigned first_entry; /* index of the student's first entry, if entry_key is set */
};
/* A student of an entry: a group's entry has several. */
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
    const char *roster; /* a path, or NULL */
    /* Zone of times in words in the roster, as "1 October 2026, 9:59 PM", which name none; NULL =
     * such times are ignored. */
    const char *utc_offset;
    const struct exercise *exercise; /* only this one, or NULL */
};
/* Builds the plan. Returns false if a folder or the roster can't be read. Free with plan_free. */
bool plan_build(struct plan *p, const char *const *paths, unsigned n, const struct plan_options *o,
                struct err *e);
/* Sets the time of students who have none and whose folder is a git repository to that of the last
 * commit. Returns the number of these students. */
unsigned plan_add_git_times(struct plan *p);
void plan_free(struct plan *p);

/* Reads the metadata of a Gradescope export. Calls `on_submitter` for each person of each folder,
 * with the folder's name; the person's id, e-mail address and name; and the time. "" = unknown.
 * Returns false if the file can't be read or parsed. */
bool plan_read_gradescope(const char *path,
                          void (*on_submitter)(void *user, const char *folder,
                                               const char *const identity[3], const char *time),
                          void *user, struct err *e);
