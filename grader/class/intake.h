/* intake.h — what a student handed in: a file, a folder, or an archive (whatever libarchive reads),
 * read into memory. Nothing is unpacked on the disk, no link is followed, and only source files are
 * kept; what is left out is listed with the reason.
 *
 * libarchive reads an archive inside a jail, with its limits on memory and time: a file that bursts
 * it, or finds a fault in it, ends there. What it hands out is checked again. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum {
    INTAKE_MAX_ARCHIVE_BYTES = 32 << 20, /* of an archive as it came */
    INTAKE_MAX_TOTAL_BYTES = 64 << 20,   /* of all that is in it */
    INTAKE_MAX_ENTRIES = 4096,
    INTAKE_MAX_RATIO = 200, /* unpacked to packed, looked at from the first MiB on */
    INTAKE_MAX_PATH = 512,
    INTAKE_MAX_DEPTH = 12,     /* of folders in a student's folder */
    INTAKE_MAX_REJECTIONS = 64 /* what was left out and is named; more is only counted on */
};

struct intake_file {
    char *path; /* relative, no "..", "/"-separated */
    struct buf data;
};
/* `doubt`: it may be what a student meant to hand in, so that a person has to look before anything
 * counts as missing. */
struct intake_rejection {
    char *path, *reason; /* escaped, for one line */
    bool needs_review;
};
struct intake {
    struct intake_file *files;
    unsigned n, capacity;
    struct intake_rejection *rejections;
    unsigned nrejections, rejections_capacity;
    unsigned other_file_count; /* files that are no sources */
    bool needs_review;         /* something that was left out is in doubt */
};

/* True if the file of this path is to be kept. */
typedef bool intake_filter_fn(void *user, const char *path);

/* By its name: .cu, in capitals too, and .cu.txt as some browsers have it. */
bool intake_is_source(const char *path);
/* By its name: code of some other kind, or an archive. */
bool intake_needs_review(const char *path);
bool intake_is_archive(const char *name);
/* Opens a path beneath `folder`, through no link; regular files up to `limit` bytes. -1 = no. */
int intake_openat_beneath(int dir_fd, const char *path, size_t limit);
bool intake_read_fd(int fd, size_t limit, struct buf *out);
/* Names in a folder, sorted as bytes, without "." and ".."; NULL where it cannot be read. */
char **intake_names(int dir_fd);
void intake_free_names(char **list);
/* Adds what is in a student's folder. */
void intake_folder(int dir_fd, intake_filter_fn *filter, void *user, struct intake *out);
/* Adds what is in the archive behind `fd`. False: it is refused as a whole, and `e` says why. */
bool intake_archive(int fd, intake_filter_fn *filter, void *user, struct intake *out,
                    struct err *e);
/* Adds a file; one of this path that is there already counts. */
void intake_add(struct intake *in, const char *path, const void *data, size_t size);
void intake_reject(struct intake *in, const char *path, bool needs_review, const char *reason);
void intake_free(struct intake *in);
