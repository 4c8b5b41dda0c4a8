/* intake.h — what a student handed in: a file, a folder, or an archive (.zip, .tar, .tar.gz and the like),
 * read into memory. Nothing is unpacked on the disk, no link is followed, and only files that an exercise
 * names are kept.
 *
 * libarchive reads an archive inside a jail, with its limits on memory and time: a file that bursts it, or
 * finds a fault in it, ends there. What it hands out is checked again. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>

enum {
    INTAKE_ARCHIVE_BYTES = 32 << 20, /* of an archive as it came */
    INTAKE_TOTAL_BYTES = 64 << 20,   /* of all that is in it */
    INTAKE_ENTRIES = 4096,
    INTAKE_RATIO = 200, /* unpacked to packed, looked at from the first MiB on */
    INTAKE_PATH = 512
};

struct intake_file {
    char *path; /* relative, no "..", "/"-separated */
    struct buf data;
};
struct intake {
    struct intake_file *files;
    unsigned n, room;
    struct buf notes; /* what was left out and why, names escaped, a line each */
};

/* True if the exercise list wants a file of this path. */
typedef bool intake_wants(void *user, const char *path);

bool intake_is_archive(const char *name);
/* Opens a path beneath `folder`, through no link; regular files up to `limit` bytes. -1 = no. */
int intake_open_beneath(int folder, const char *path, size_t limit);
bool intake_read(int fd, size_t limit, struct buf *out);
/* Reads the archive behind `fd`. False: it is refused as a whole, and `e` says why. */
bool intake_archive(int fd, intake_wants *wants, void *user, struct intake *out, struct err *e);
void intake_free(struct intake *in);
