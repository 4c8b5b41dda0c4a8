/* zip_file.c — see zip_file.h. */
#include "grader/class/zip_file.h"

#include <archive_entry.h>

static const time_t zip_epoch = 315532800; /* 1980-01-01, the earliest date of a zip file */

static bool set_zip_error(struct zip_file *z) {
    const char *reason = archive_error_string(z->archive);
    return err_set(z->e, ERR_SYSTEM, "cannot write the zip file: %s",
                   reason ? reason : "no reason given");
}

static la_ssize_t write_bytes(struct archive *archive, void *user, const void *data, size_t size) {
    (void)archive;
    return fwrite(data, 1, size, user) == size ? (la_ssize_t)size : -1;
}

bool zip_begin(struct zip_file *z, FILE *f, struct err *e) {
    *z = (struct zip_file){.archive = archive_write_new(), .e = e};
    if (!z->archive) die("out of memory");
    /* libarchive converts names from the locale, and flags them as UTF-8 only if that is. */
    if ((z->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0))) z->saved_locale = uselocale(z->utf8);
    return (archive_write_set_format_zip(z->archive) == ARCHIVE_OK &&
            archive_write_set_options(z->archive, "hdrcharset=UTF-8") >= ARCHIVE_WARN &&
            archive_write_open(z->archive, f, NULL, write_bytes, NULL) == ARCHIVE_OK) ||
           set_zip_error(z);
}

bool zip_add(struct zip_file *z, const char *name, const void *data, size_t size,
             bool is_executable) {
    struct archive_entry *en = archive_entry_new();
    archive_entry_set_pathname(en, name);
    archive_entry_set_filetype(en, AE_IFREG),
        archive_entry_set_perm(en, is_executable ? 0755 : 0644);
    archive_entry_set_size(en, (la_int64_t)size), archive_entry_set_mtime(en, zip_epoch, 0);
    bool ok = archive_write_header(z->archive, en) >= ARCHIVE_WARN &&
              (!size || archive_write_data(z->archive, data, size) == (la_ssize_t)size);
    archive_entry_free(en);
    z->file_count += ok;
    return ok || set_zip_error(z);
}

bool zip_end(struct zip_file *z, bool ok) {
    if (archive_write_close(z->archive) != ARCHIVE_OK && ok) ok = set_zip_error(z);
    archive_write_free(z->archive);
    if (z->utf8) uselocale(z->saved_locale), freelocale(z->utf8);
    return ok;
}
