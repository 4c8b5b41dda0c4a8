/* file.h — reads and writes whole files; folders and paths. Every error names the path and the
 * system's reason. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Appends the file's bytes to `out`. Fails unless it is a regular file of at most `limit` bytes. */
bool file_read(const char *path, size_t limit, struct buf *out, struct err *e);
/* Writes a file of the program's own. Writes a temporary file next to the target and renames it:
 * readers see the old file or the new one, never a part. Fails if the target exists but is not a
 * regular file. */
bool file_write(const char *path, const void *data, size_t size, struct err *e);
/* The same for a path that a person named: follows a link; writes to a device or a pipe directly.
 */
bool file_write_output(const char *path, const void *data, size_t size, struct err *e);
/* Opens and closes such an output, so that an unwritable path fails before the work. `path` NULL:
 * standard output. A file appears only at file_close() with `commit`. */
struct file_out {
    FILE *f;
    char path[4096], temporary[4096];
};
bool file_open(const char *path, struct file_out *o, struct err *e);
bool file_close(struct file_out *o, bool commit, struct err *e);
bool file_exists(const char *path);
/* Creates a folder and its parents, if they do not exist. */
bool dir_create(const char *path, struct err *e);
/* Removes a folder with its contents. Follows no links. */
bool dir_remove(const char *path, struct err *e);
/* Returns the part after the last '/'; points into `path`. */
const char *path_basename(const char *path);
/* Writes "dir/name" to `out`; returns false if it does not fit. */
bool path_join(char *out, size_t size, const char *dir, const char *name);
/* Writes a template for mkstemp or mkdtemp: "FOLDER/warpbook-NAME.XXXXXX". FOLDER is TMPDIR if that
 * is an absolute path of at most 200 bytes, else /tmp. */
enum { PATH_TEMPORARY_BYTES = 256 };
void path_temporary(char out[PATH_TEMPORARY_BYTES], const char *name);
