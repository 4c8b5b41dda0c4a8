/* intake.h — reads a student's entry into memory: a file, a folder, or an archive in a format that
 * libarchive reads. The class commands and autograde call it. It unpacks nothing to the disk,
 * follows no link and keeps only source files; what it leaves out it rejects: lists it, with the
 * reason.
 *
 * libarchive runs in a sandboxed process, with limits on memory and time, so that a malicious
 * archive harms only that process. The grader checks the records that this process sends back. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "grader/class/plan.h"

#include <stdbool.h>

enum {
    INTAKE_MAX_ARCHIVE_BYTES = 32 << 20, /* of a packed archive */
    INTAKE_MAX_TOTAL_BYTES = 64 << 20,   /* of its unpacked content */
    INTAKE_MAX_ENTRIES = 4096,
    INTAKE_MAX_RATIO = 200, /* unpacked to packed bytes; checked after the first unpacked MiB */
    INTAKE_MAX_PATH = 512,
    INTAKE_MAX_ARCHIVES = 8,   /* in a student's folder */
    INTAKE_MAX_DEPTH = 12,     /* nested folders in a student's folder */
    INTAKE_MAX_REJECTIONS = 64 /* listed by name; `needs_review` covers the rest, too */
};

struct intake_file {
    char *path; /* relative, no "..", "/"-separated */
    struct buf data;
    struct plan_version version;
};
/* A file that was left out. */
struct intake_rejection {
    char *path, *reason; /* escaped, for one line */
    /* The student may have meant to hand it in, so a person has to look before anything counts as
     * missing. */
    bool needs_review;
};
struct intake {
    struct intake_file *files;
    unsigned n, capacity;
    struct intake_rejection *rejections;
    unsigned nrejections, rejections_capacity;
    unsigned other_file_count;     /* files that are not sources and need no review */
    struct buf other_exercises;    /* names of handed-in exercises that are not asked for: "a, b" */
    unsigned other_exercise_count; /* of handed-in exercises that are not asked for */
    bool needs_review;             /* a rejection needs review, perhaps one that isn't listed */
};

/* Returns true if the file of this path is to be kept. */
typedef bool intake_filter_fn(void *user, const char *path);

/* Returns true if the name ends in .cu, in any case, or in .cu.txt, which some browsers make. */
bool intake_is_source(const char *path);
/* intake_is_source as a filter; `user` is not used. */
bool intake_accept_source(void *user, const char *path);
/* Returns true if a file of this name needs review when it is left out: the name is that of a
 * source, of other code, or of an archive. */
bool intake_needs_review(const char *path);
bool intake_is_archive(const char *name);
/* Opens a regular file of up to `limit` bytes beneath `dir_fd`, without following links. Returns -1
 * on failure. */
int intake_openat_beneath(int dir_fd, const char *path, size_t limit);
/* Appends all that can be read. Returns false on an error, or if it is more than `limit` bytes. */
bool intake_read_fd(int fd, size_t limit, struct buf *out);
/* Returns the names in a folder, sorted as bytes, without "." and ".."; NULL if it can't be read.
 * Free the list with intake_free_names. */
char **intake_names(int dir_fd);
void intake_free_names(char **list);
/* Adds the files of a student's folder, and those of the archives in it; rejects what can't be
 * read. */
void intake_folder(int dir_fd, intake_filter_fn *filter, void *user, struct intake *out);
/* Adds the files of the archive behind `fd`, and those of archives in it. Returns false if the
 * archive is refused as a whole. With intake_accept_source, the grader's cache (cache.h) keeps what
 * was read, so that the next intake need not unpack the archive again. */
bool intake_archive(int fd, intake_filter_fn *filter, void *user, struct intake *out,
                    struct err *e);
/* Counts a file that is no source in other_file_count. Rejects, with review, one that is named
 * after an exercise (transpose.txt), since the student may have meant it. */
void intake_add_other(struct intake *in, const char *path);
/* Moves all of `from`, which becomes empty, to `to`; its paths are then below `folder`, or
 * unchanged if that is "". */
void intake_move(struct intake *to, struct intake *from, const char *folder);
/* Adds a copy of a file; rejects it if there is a file of this path already. */
void intake_add(struct intake *in, const char *path, const void *data, size_t size);
/* Adds a file that is left out to the rejections. */
void intake_reject(struct intake *in, const char *path, bool needs_review, const char *reason);
void intake_free(struct intake *in);
