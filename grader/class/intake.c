/* intake.c — see intake.h. The sandboxed half writes records to a memory file. A record has a kind,
 * the decimal lengths of a name and of data, a newline, the name, and the data. The kinds are 'F' a
 * file, 'L' left out, 'D' left out and needs review, 'O' another file, 'R' archive refused. The
 * data of 'L' and 'D' is the reason; the name of 'R' is its reason. An archive within the archive
 * is read like a folder, one within that isn't. */
#include "grader/class/intake.h"
#include "common/cache.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/class/match_files.h"
#include "grader/grade/grade.h"
#include "grader/jail/jail.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- plain files ---- */

int intake_openat_beneath(int dir_fd, const char *path, size_t limit) {
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
    struct stat st;
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= limit))
        return fd;
    close(fd);
    return -1;
}

bool intake_read_fd(int fd, size_t limit, struct buf *out) {
    char chunk[16384];
    size_t before = out->size;
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 || out->size - before + (size_t)n > limit) return false;
        buf_add(out, chunk, (size_t)n);
    }
    return true;
}

bool intake_is_archive(const char *name) {
    static const char *const suffixes[] = {
        ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz",  ".txz", ".zst", ".lzma",
        ".lz4", ".lz",  ".7z", ".rar", ".cab", ".cpio", ".iso", ".lha", ".lzh", ".xar"};
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with_ignore_case(name, suffixes[i])) return true;
    return false;
}

/* Sakai puts the instructor's files into this folder of each student's. */
static const char sakai_feedback[] = "Feedback Attachment(s)/";

static bool is_hidden(const char *path) {
    const char *base = path_basename(path);
    return base[0] == '.' || !strncmp(path, "__MACOSX/", 9) || strstr(path, "/__MACOSX/") ||
           !strncmp(path, sakai_feedback, strlen(sakai_feedback));
}

bool intake_is_source(const char *path) {
    return !is_hidden(path) &&
           (text_ends_with_ignore_case(path, ".cu") || text_ends_with_ignore_case(path, ".cu.txt"));
}

bool intake_accept_source(void *user, const char *path) {
    (void)user;
    return intake_is_source(path);
}

bool intake_needs_review(const char *path) {
    static const char *const suffixes[] = {".cuh",   ".c",   ".cc",      ".cpp", ".cxx",
                                           ".ipynb", ".ptx", ".cu.docx", ".rtf"};
    if (is_hidden(path)) return false;
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with_ignore_case(path, suffixes[i])) return true;
    return intake_is_source(path) || intake_is_archive(path);
}

/* ---- in the sandbox ---- */

enum { ARCHIVE_FD = 3, RECORDS_FD = 4 };

struct archive_reader {
    struct archive *archive;
    intake_filter_fn *filter;
    void *user;
    uint64_t compressed_bytes, uncompressed_bytes;
    unsigned entry_count;
    const char *nested; /* the path of the archive within the archive that is being read, or "" */
    bool exceeds_limit;
};

static void write_record(char kind, const char *name, const struct buf *data) {
    char head[64];
    size_t n = data ? data->size : 0;
    int h = snprintf(head, sizeof head, "%c %zu %zu\n", kind, strlen(name), n);
    if (write(RECORDS_FD, head, (size_t)h) != h ||
        write(RECORDS_FD, name, strlen(name)) != (ssize_t)strlen(name) ||
        (n && write(RECORDS_FD, data->data, n) != (ssize_t)n))
        _exit(9);
}

/* Writes a record of an entry; for one of an archive within the archive, its path comes first. */
static void write_entry(const struct archive_reader *r, char kind, const char *path,
                        const struct buf *data) {
    struct buf full = {0};
    buf_printf(&full, "%s%s%s", r->nested, *r->nested ? "/" : "", path);
    write_record(kind, buf_str(&full), data);
    buf_free(&full);
}

static void write_rejection(const struct archive_reader *r, const char *path, bool needs_review,
                            const char *text) {
    struct buf reason = {.data = (char *)text, .size = strlen(text)};
    write_entry(r, needs_review ? 'D' : 'L', path, &reason);
}

/* Refuses the archive as a whole; of an archive within it, only that one, unless the content
 * exceeds a limit. */
static bool refuse_archive(struct archive_reader *r, const char *reason) {
    struct buf text = {.data = (char *)reason, .size = strlen(reason)};
    if (*r->nested && !r->exceeds_limit) write_record('D', r->nested, &text);
    else write_record('R', reason, NULL);
    return false;
}

/* Returns true for a relative path without "..". Both the sandboxed half and the grader check. */
static bool is_safe_path(const char *path) {
    if (!*path || *path == '/' || strlen(path) > INTAKE_MAX_PATH || strchr(path, '\\'))
        return false;
    for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
        if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) return false;
    return true;
}

static bool refuse_limit(struct archive_reader *r, const char *reason) {
    r->exceeds_limit = true;
    return refuse_archive(r, reason);
}

static bool check_limits(struct archive_reader *r) {
    if (r->uncompressed_bytes > INTAKE_MAX_TOTAL_BYTES)
        return refuse_limit(r, "it unpacks to more than 64 MiB");
    if (r->uncompressed_bytes > 1 << 20 &&
        r->uncompressed_bytes / INTAKE_MAX_RATIO > r->compressed_bytes)
        return refuse_limit(r, "it unpacks to more than 200 times its size");
    return true;
}

/* Reads all data of an entry; counts it, and keeps it only if it has at most `limit` bytes. */
static bool read_entry_data(struct archive_reader *r, size_t limit, struct buf *out,
                            bool *is_complete) {
    char chunk[16384];
    *is_complete = true;
    for (la_ssize_t n; (n = archive_read_data(r->archive, chunk, sizeof chunk)) != 0;) {
        if (n < 0) return refuse_archive(r, "it is damaged, or its format is not supported");
        r->uncompressed_bytes += (uint64_t)n;
        if (!check_limits(r)) return false;
        if (out->size + (size_t)n > limit) *is_complete = false;
        else buf_add(out, chunk, (size_t)n);
    }
    return true;
}

/* Returns the bytes of a name unchanged, even if they are not valid UTF-8. */
static const char *entry_path(struct archive_entry *entry) {
    const char *path = archive_entry_pathname(entry);
    if (!path) path = archive_entry_pathname_utf8(entry);
    while (path && !strncmp(path, "./", 2)) path += 2;
    return path;
}

static bool read_nested_archive(struct archive_reader *r, const char *path, const struct buf *data);

/* Returns true if the archive `path` within the archive is to be read, too. */
static bool is_nested_archive(const struct archive_reader *r, const char *path) {
    return intake_needs_review(path) && intake_is_archive(path) && !*r->nested;
}

/* Returns the number of bytes to keep of an entry, or 0, after a record with the reason. */
static size_t bytes_to_keep(struct archive_reader *r, struct archive_entry *entry,
                            const char *path) {
    bool is_link = archive_entry_hardlink(entry) || archive_entry_symlink(entry),
         is_accepted = r->filter(r->user, path);
    bool needs_review = is_accepted || intake_needs_review(path);
    if (!is_safe_path(path))
        write_rejection(r, path, needs_review, "a path that leads out of the submission");
    else if (strlen(r->nested) + 1 + strlen(path) > INTAKE_MAX_PATH)
        write_rejection(r, "", true, "it has a path longer than 512 bytes");
    else if (is_link || archive_entry_filetype(entry) != AE_IFREG)
        write_rejection(r, path, needs_review, "a link, or not a regular file");
    else if (is_accepted) return SOURCE_LIMIT;
    else if (is_nested_archive(r, path)) return INTAKE_MAX_ARCHIVE_BYTES;
    else if (intake_is_archive(path) && needs_review)
        write_rejection(r, path, true, "an archive in an archive in an archive");
    else if (needs_review) write_rejection(r, path, true, "not a .cu file");
    else write_entry(r, 'O', path, NULL);
    return 0;
}

static bool extract_entry(struct archive_reader *r, struct archive_entry *entry) {
    const char *path = entry_path(entry);
    if (++r->entry_count > INTAKE_MAX_ENTRIES)
        return refuse_limit(r, "it has more than 4096 entries");
    if (!path) write_rejection(r, "(a name that cannot be read)", true, "its name cannot be read");
    if (!path || archive_entry_filetype(entry) == AE_IFDIR) return true;
    size_t limit = bytes_to_keep(r, entry, path);
    bool is_complete = false;
    struct buf data = {0};
    bool ok = read_entry_data(r, limit, &data, &is_complete);
    if (ok && limit && !is_complete)
        write_rejection(r, path, true,
                        limit == SOURCE_LIMIT ? "larger than 1 MiB" : "larger than 32 MiB");
    else if (ok && limit == SOURCE_LIMIT) write_entry(r, 'F', path, &data);
    else if (ok && limit) ok = read_nested_archive(r, path, &data);
    buf_free(&data);
    return ok;
}

/* Enables the formats that libarchive reads without another program, except mtree, which may name
 * files outside the archive, and raw and empty, which accept any file as an archive. */
static void enable_formats(struct archive *a) {
    archive_read_support_filter_gzip(a), archive_read_support_filter_bzip2(a),
        archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a), archive_read_support_filter_lzma(a),
        archive_read_support_filter_lz4(a);
    archive_read_support_filter_lzip(a), archive_read_support_filter_compress(a);
    archive_read_support_format_tar(a), archive_read_support_format_zip(a),
        archive_read_support_format_7zip(a);
    archive_read_support_format_rar(a), archive_read_support_format_rar5(a),
        archive_read_support_format_cpio(a);
    archive_read_support_format_cab(a), archive_read_support_format_lha(a),
        archive_read_support_format_iso9660(a);
    archive_read_support_format_xar(a);
}

/* Reads all entries. Returns false if the archive is refused. */
static bool read_entries(struct archive_reader *r) {
    struct archive_entry *entry;
    for (;;) {
        int status = archive_read_next_header(r->archive, &entry);
        if (status == ARCHIVE_EOF) return true;
        if (status < ARCHIVE_WARN)
            return refuse_archive(r, "it is damaged, or its format is not supported");
        if (archive_entry_is_encrypted(entry)) return refuse_archive(r, "it is encrypted");
        if (!extract_entry(r, entry)) return false;
    }
}

/* Reads an archive within the archive. Returns false if the content exceeds a limit. */
static bool read_nested_archive(struct archive_reader *r, const char *path,
                                const struct buf *data) {
    struct archive *outer = r->archive, *a = r->archive = archive_read_new();
    unsigned before = r->entry_count;
    r->nested = path;
    enable_formats(a);
    if (archive_read_open_memory(a, buf_str(data), data->size) != ARCHIVE_OK)
        refuse_archive(r, "its archive format is not supported");
    else if (read_entries(r) && r->entry_count == before)
        refuse_archive(r, "it is damaged, or has no files");
    archive_read_free(a);
    r->archive = outer, r->nested = "";
    return !r->exceeds_limit;
}

static int read_archive(void *data) {
    struct archive_reader *r = data;
    r->archive = archive_read_new();
    enable_formats(r->archive);
    lseek(ARCHIVE_FD, 0, SEEK_SET);
    if (archive_read_open_fd(r->archive, ARCHIVE_FD, 65536) != ARCHIVE_OK)
        return refuse_archive(r, "its archive format is not supported"), 0;
    if (read_entries(r)) _exit(0);
    return 0;
}

/* ---- outside ---- */

void intake_reject(struct intake *in, const char *path, bool needs_review, const char *reason) {
    in->needs_review |= needs_review;
    if (in->nrejections >= INTAKE_MAX_REJECTIONS) return;
    GROW(in->rejections, in->nrejections + 1, in->rejections_capacity, 8);
    struct buf escaped = {0};
    text_clean_name(&escaped, path);
    in->rejections[in->nrejections++] =
        (struct intake_rejection){.path = xstrdup(buf_str(&escaped)),
                                  .reason = xstrdup(reason),
                                  .needs_review = needs_review};
    buf_free(&escaped);
}

static struct intake_file *find_file(struct intake *in, const char *path) {
    for (unsigned i = 0; i < in->n; i++)
        if (!strcmp(in->files[i].path, path)) return &in->files[i];
    return NULL;
}

void intake_add(struct intake *in, const char *path, const void *data, size_t size) {
    if (find_file(in, path)) {
        intake_reject(in, path, false, "a second file with this path; the first one counts");
        return;
    }
    GROW(in->files, in->n + 1, in->capacity, 8);
    struct intake_file *f = &in->files[in->n++];
    *f = (struct intake_file){.path = xstrdup(path)};
    buf_add(&f->data, data, size);
}

void intake_add_other(struct intake *in, const char *path) {
    if (match_has_wrong_extension(path))
        intake_reject(in, path, true, "named after an exercise, but not a .cu file");
    else in->other_file_count++;
}

static char *path_below(const char *folder, const char *path) {
    struct buf joined = {0};
    buf_printf(&joined, "%s%s%s", folder, *folder ? "/" : "", path);
    char *copy = xstrdup(buf_str(&joined));
    buf_free(&joined);
    return copy;
}

void intake_move(struct intake *to, struct intake *from, const char *folder) {
    for (unsigned i = 0; i < from->n; i++) {
        GROW(to->files, to->n + 1, to->capacity, 8);
        to->files[to->n] = from->files[i];
        to->files[to->n++].path = path_below(folder, from->files[i].path);
        free(from->files[i].path);
    }
    from->n = 0;
    for (unsigned i = 0; i < from->nrejections; i++) {
        const struct intake_rejection *r = &from->rejections[i];
        char *path = path_below(folder, r->path);
        intake_reject(to, path, r->needs_review, r->reason);
        free(path);
    }
    to->other_file_count += from->other_file_count, to->needs_review |= from->needs_review;
    intake_free(from);
}

/* Of equal paths in an archive the last one counts, as for tar and unzip. */
static void add_archived_file(struct intake *in, const char *path, const void *data, size_t size) {
    struct intake_file *f = find_file(in, path);
    if (!f) {
        intake_add(in, path, data, size);
        return;
    }
    intake_reject(in, path, false, "an earlier file with this path; the last one counts");
    buf_clear(&f->data);
    buf_add(&f->data, data, size);
}

static void add_file_record(struct intake *in, const char *path, size_t npath, const char *data,
                            size_t size) {
    char name[INTAKE_MAX_PATH + 1];
    if (npath >= sizeof name || size > SOURCE_LIMIT || memchr(path, 0, npath)) return;
    memcpy(name, path, npath), name[npath] = 0;
    if (is_safe_path(name)) add_archived_file(in, name, data, size);
}

static void add_rejection_record(struct intake *in, const char *path, size_t npath,
                                 bool needs_review, const char *reason_bytes, size_t nreason) {
    char name[INTAKE_MAX_PATH + 1], reason[128];
    snprintf(name, sizeof name, "%.*s", npath > INTAKE_MAX_PATH ? INTAKE_MAX_PATH : (int)npath,
             path);
    snprintf(reason, sizeof reason, "%.*s", nreason > 120 ? 120 : (int)nreason, reason_bytes);
    struct buf escaped = {0};
    text_clean_name(&escaped, reason);
    intake_reject(in, name, needs_review, buf_str(&escaped));
    buf_free(&escaped);
}

static void add_other_record(struct intake *in, const char *path, size_t npath) {
    char name[INTAKE_MAX_PATH + 1];
    snprintf(name, sizeof name, "%.*s", npath > INTAKE_MAX_PATH ? INTAKE_MAX_PATH : (int)npath,
             path);
    intake_add_other(in, name);
}

/* Parses the records; they are no more trusted than the archive. */
static bool parse_records(const char *at, const char *end, struct intake *in, struct err *e) {
    while (at < end) {
        char kind, line[64] = "";
        size_t name_len, size;
        int header_len = 0;
        memcpy(line, at,
               (size_t)(end - at) < sizeof line - 1 ? (size_t)(end - at) : sizeof line - 1);
        if (sscanf(line, "%c %zu %zu%n", &kind, &name_len, &size, &header_len) != 3 || !header_len)
            break;
        at += header_len + 1;
        if (at > end || name_len > (size_t)(end - at) || size > (size_t)(end - at) - name_len)
            break;
        if (kind == 'R') {
            struct buf reason = {0};
            text_clean(&reason, at, name_len, 200);
            err_set(e, ERR_INPUT, "%s", buf_str(&reason));
            buf_free(&reason);
            return false;
        }
        if (kind == 'F') add_file_record(in, at, name_len, at + name_len, size);
        if (kind == 'L' || kind == 'D')
            add_rejection_record(in, at, name_len, kind == 'D', at + name_len, size);
        if (kind == 'O') add_other_record(in, at, name_len);
        at += name_len + size;
    }
    return at == end || err_set(e, ERR_INPUT, "the archive reader failed");
}

/* Runs read_archive in the sandbox. libarchive converts names to the locale and fails if it lacks a
 * letter, so the child gets a UTF-8 locale. */
static bool run_reader(struct archive_reader *r, int fd, int out, struct jail_result *result,
                       struct err *e) {
    struct jail_fd fds[] = {{fd, ARCHIVE_FD}, {out, RECORDS_FD}};
    struct jail_job job = {.kind = JAIL_HOST,
                           .entry = read_archive,
                           .entry_data = r,
                           .fds = fds,
                           .nfds = 2,
                           .limits = {.cpu_seconds = 10,
                                      .memory_bytes = 256 << 20,
                                      .file_bytes = INTAKE_MAX_TOTAL_BYTES + (8 << 20),
                                      .work_bytes = 1 << 20,
                                      .max_processes = 4,
                                      .max_fds = 64}};
    job.binds = jail_system_binds(JAIL_HOST, &job.nbinds);
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0),
             saved_locale = utf8 ? uselocale(utf8) : 0;
    struct jail *j = jail_start(&job, e);
    if (utf8) uselocale(saved_locale), freelocale(utf8);
    if (!j) return false;
    jail_wait(j, 20, result);
    if (result->outcome == JAIL_INTERNAL_ERROR) return err_set(e, ERR_SYSTEM, "%s", result->reason);
    if (result->outcome == JAIL_SYSTEM_OOM)
        return err_set(e, ERR_SYSTEM, "the machine ran out of memory while reading the archive");
    return (result->outcome == JAIL_EXITED && result->code == 0) ||
           err_set(e, ERR_INPUT, "the archive reader exceeded its time or memory, or crashed");
}

static bool read_records(int fd, intake_filter_fn *filter, void *user, struct buf *records,
                         struct err *e) {
    struct stat st;
    int records_fd = memfd_create("intake", MFD_CLOEXEC);
    if (records_fd < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_SYSTEM, "intake: %s", strerror(errno));
    struct archive_reader r = {
        .filter = filter, .user = user, .compressed_bytes = (uint64_t)st.st_size + 1, .nested = ""};
    struct jail_result result = {0};
    bool ok = run_reader(&r, fd, records_fd, &result, e);
    lseek(records_fd, 0, SEEK_SET);
    ok = ok && intake_read_fd(records_fd, INTAKE_MAX_TOTAL_BYTES + (8 << 20), records);
    jail_result_free(&result);
    close(records_fd);
    return ok;
}

/* ---- the cache: a sandbox costs 5 ms, and a class hands in the same archives at every intake ----
 */

enum { MAX_CACHED_RECORDS_BYTES = 1 << 20 };
static const char cache_kind[] = "archives";

/* Sets the key of the archive's records: its content and the programs that read it. Returns false
 * if the records are not to be cached. */
static bool find_cache_key(int fd, intake_filter_fn *filter, char key[HASH_HEX_SIZE]) {
    struct buf content = {0};
    struct hash h;
    bool ok = filter == intake_accept_source && lseek(fd, 0, SEEK_SET) == 0 &&
              intake_read_fd(fd, INTAKE_MAX_ARCHIVE_BYTES, &content);
    hash_init(&h);
    cache_add_grader(&h);
    hash_update_string(&h, archive_version_details());
    hash_update(&h, buf_str(&content), content.size);
    hash_final_hex(&h, key);
    buf_free(&content);
    return ok;
}

bool intake_archive(int fd, intake_filter_fn *filter, void *user, struct intake *out,
                    struct err *e) {
    char key[HASH_HEX_SIZE];
    struct buf records = {0};
    bool is_cacheable = find_cache_key(fd, filter, key),
         is_cached = is_cacheable && cache_get(cache_kind, key, &records);
    bool ok = is_cached || read_records(fd, filter, user, &records, e);
    if (ok && is_cacheable && !is_cached && records.size <= MAX_CACHED_RECORDS_BYTES)
        cache_put(cache_kind, key, buf_str(&records), records.size);
    ok = ok && parse_records(buf_str(&records), buf_str(&records) + records.size, out, e);
    /* libarchive takes some truncated archives, such as 7z, for empty ones. */
    if (ok && !records.size) ok = err_set(e, ERR_INPUT, "it is damaged, or has no files");
    buf_free(&records);
    return ok || err_set(e, ERR_INPUT, "the archive reader failed");
}

void intake_free(struct intake *in) {
    for (unsigned i = 0; i < in->n; i++) free(in->files[i].path), buf_free(&in->files[i].data);
    for (unsigned i = 0; i < in->nrejections; i++)
        free(in->rejections[i].path), free(in->rejections[i].reason);
    free(in->files), free(in->rejections), buf_free(&in->other_exercises);
    *in = (struct intake){0};
}
