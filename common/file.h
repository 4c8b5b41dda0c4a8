/* file.h — whole files, folders and paths. Every failure names the path and the system's reason. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Appends the file's bytes to `out`. Refuses anything that is no regular file, and more than
 * `limit` bytes. */
bool file_read(const char *path, size_t limit, struct buf *out, struct err *e);
/* Writes beside the target and renames: a reader sees the old file or the new one, never half of
 * one. Refuses to replace what is no regular file: a device, a pipe, a link, a folder. */
bool file_write(const char *path, const void *data, size_t size, struct err *e);
/* The same for a path that a person named: where it leads to a device or a pipe, the bytes go
 * there. */
bool file_write_output(const char *path, const void *data, size_t size, struct err *e);
/* The same in parts: opened at once, so that a path that can't be written is known before the work;
 * `path` NULL: standard output. What was written before appears with file_close(…, true) only. */
struct file_out {
    FILE *f;
    char path[4096], temporary[4096];
};
bool file_open(const char *path, struct file_out *o, struct err *e);
bool file_close(struct file_out *o, bool commit, struct err *e);
bool file_exists(const char *path);
/* Creates a folder and its parents; an existing one is fine. */
bool dir_create(const char *path, struct err *e);
/* Removes a folder and what is in it, following no link. */
bool dir_remove(const char *path, struct err *e);
/* The part after the last '/'; points into `path`. */
const char *path_basename(const char *path);
/* "dir/name" into a static-size buffer; false if it does not fit. */
bool path_join(char *out, size_t size, const char *dir, const char *name);
