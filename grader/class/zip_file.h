/* zip_file.h — writes a zip file; packages and feedback use it. All times are 1980, so that equal
 * content gives equal files. */
#pragma once
#include "common/err.h"

#include <archive.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>

struct zip_file {
    struct archive *archive;
    unsigned file_count;
    struct err *e; /* the caller's */
    locale_t utf8, saved_locale;
};
/* Begins a zip file that goes to `f`. Always end it with zip_end. */
bool zip_begin(struct zip_file *z, FILE *f, struct err *e);
bool zip_add(struct zip_file *z, const char *name, const void *data, size_t size,
             bool is_executable);
/* Returns false if the file is not complete. */
bool zip_end(struct zip_file *z, bool ok);
