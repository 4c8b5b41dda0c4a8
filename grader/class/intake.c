/* intake.c — see intake.h. The jailed half writes records to a memory file: a kind ('F' a file, 'L'
 * left out, 'D' left out and in doubt, 'O' some other file, 'R' refused as a whole), the lengths of
 * a name and of data as decimal numbers, a newline, name, data: of 'L' and 'D' the reason. */
#include "grader/class/intake.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
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

int intake_open_beneath(int folder, const char *path, size_t limit) {
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    struct stat st;
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= limit))
        return fd;
    close(fd);
    return -1;
}

bool intake_read(int fd, size_t limit, struct buf *out) {
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
    static const char *const ends[] = {".zip", ".tar",  ".gz",   ".tgz", ".bz2", ".tbz2", ".xz",
                                       ".txz", ".zst",  ".lzma", ".lz4", ".lz",  ".7z",   ".rar",
                                       ".cab", ".cpio", ".iso",  ".lha", ".lzh", ".xar"};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with_ignore_case(name, ends[i])) return true;
    return false;
}

static bool is_hidden(const char *path) {
    const char *base = path_basename(path);
    return base[0] == '.' || !strncmp(path, "__MACOSX/", 9) || strstr(path, "/__MACOSX/");
}

bool intake_is_source(const char *path) {
    return !is_hidden(path) &&
           (text_ends_with_ignore_case(path, ".cu") || text_ends_with_ignore_case(path, ".cu.txt"));
}

bool intake_is_doubtful(const char *path) {
    static const char *const ends[] = {".cuh",   ".c",   ".cc",      ".cpp", ".cxx",
                                       ".ipynb", ".ptx", ".cu.docx", ".rtf"};
    if (is_hidden(path)) return false;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with_ignore_case(path, ends[i])) return true;
    return intake_is_source(path) || intake_is_archive(path);
}

/* ---- in the jail ---- */

enum { IN = 3, OUT = 4 };

struct reader {
    struct archive *archive;
    intake_wants *wants;
    void *user;
    uint64_t packed, unpacked;
    unsigned entries;
};

static void put(char kind, const char *name, const struct buf *data) {
    char head[64];
    size_t n = data ? data->size : 0;
    int h = snprintf(head, sizeof head, "%c %zu %zu\n", kind, strlen(name), n);
    if (write(OUT, head, (size_t)h) != h ||
        write(OUT, name, strlen(name)) != (ssize_t)strlen(name) ||
        (n && write(OUT, data->data, n) != (ssize_t)n))
        _exit(9);
}

static void left_out(const char *path, bool doubt, const char *why) {
    struct buf reason = {.data = (char *)why, .size = strlen(why)};
    put(doubt ? 'D' : 'L', path, &reason);
}

static bool refuse(const char *why) {
    put('R', why, NULL);
    return false;
}

/* Relative and without "..": the same test before and after the jail. */
static bool is_tame(const char *path) {
    if (!*path || *path == '/' || strlen(path) > INTAKE_PATH || strchr(path, '\\')) return false;
    for (const char *p = path; *p; p += strcspn(p, "/"), p += *p == '/')
        if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2])) return false;
    return true;
}

static bool within_limits(const struct reader *r) {
    if (r->unpacked > INTAKE_TOTAL_BYTES) return refuse("it unpacks to more than 64 MiB");
    if (r->unpacked > 1 << 20 && r->unpacked / INTAKE_RATIO > r->packed)
        return refuse("it unpacks to more than 200 times its size");
    return true;
}

/* All the data of an entry; kept only where it is wanted, counted in any case. */
static bool take_data(struct reader *r, bool keep, struct buf *out, bool *whole) {
    char chunk[16384];
    *whole = true;
    for (la_ssize_t n; (n = archive_read_data(r->archive, chunk, sizeof chunk)) != 0;) {
        if (n < 0) return refuse("it is damaged, or of a kind that is not read");
        r->unpacked += (uint64_t)n;
        if (!within_limits(r)) return false;
        if (!keep || out->size + (size_t)n > SOURCE_LIMIT) *whole = false;
        else buf_add(out, chunk, (size_t)n);
    }
    return true;
}

/* The bytes of a name as they are: what is no UTF-8 stays what it is. */
static const char *path_of(struct archive_entry *entry) {
    const char *path = archive_entry_pathname(entry);
    if (!path) path = archive_entry_pathname_utf8(entry);
    while (path && !strncmp(path, "./", 2)) path += 2;
    return path;
}

/* False: not wanted, and it is said why. */
static bool keeps(struct reader *r, struct archive_entry *entry, const char *path) {
    bool link = archive_entry_hardlink(entry) || archive_entry_symlink(entry),
         wanted = r->wants(r->user, path);
    bool doubt = wanted || intake_is_doubtful(path);
    if (!is_tame(path)) left_out(path, doubt, "a path that leads out of the submission");
    else if (link || archive_entry_filetype(entry) != AE_IFREG)
        left_out(path, doubt, "a link or no regular file");
    else if (wanted) return true;
    else if (intake_is_doubtful(path)) left_out(path, true, "no .cu file");
    else put('O', path, NULL);
    return false;
}

static bool take_entry(struct reader *r, struct archive_entry *entry) {
    const char *path = path_of(entry);
    if (++r->entries > INTAKE_ENTRIES) return refuse("it has more than 4096 entries");
    if (!path) left_out("(a name that cannot be read)", true, "its name cannot be read");
    if (!path || archive_entry_filetype(entry) == AE_IFDIR) return true;
    bool keep = keeps(r, entry, path), whole = false;
    struct buf data = {0};
    bool ok = take_data(r, keep, &data, &whole);
    if (ok && keep && !whole) left_out(path, true, "larger than 1 MiB");
    if (ok && keep && whole) put('F', path, &data);
    buf_free(&data);
    return ok;
}

/* All that libarchive reads in its own process, but what may name files outside of the archive
 * (mtree) and what takes anything for an archive (raw, empty). */
static void support(struct archive *a) {
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

static int read_archive(void *data) {
    struct reader *r = data;
    struct archive *a = r->archive = archive_read_new();
    struct archive_entry *entry;
    support(a);
    lseek(IN, 0, SEEK_SET);
    if (archive_read_open_fd(a, IN, 65536) != ARCHIVE_OK)
        return refuse("it is no archive of a kind that is read"), 0;
    for (;;) {
        int status = archive_read_next_header(a, &entry);
        if (status == ARCHIVE_EOF) break;
        if (status < ARCHIVE_WARN) return refuse("it is damaged, or of a kind that is not read"), 0;
        if (archive_entry_is_encrypted(entry)) return refuse("it is encrypted"), 0;
        if (!take_entry(r, entry)) return 0;
    }
    _exit(0);
}

/* ---- outside ---- */

void intake_leave(struct intake *in, const char *path, bool doubt, const char *why) {
    in->doubt |= doubt;
    if (in->nleft >= INTAKE_LEFT) return;
    GROW(in->left, in->nleft + 1, in->room_left, 8);
    struct buf shown = {0};
    text_clean_name(&shown, path);
    in->left[in->nleft++] =
        (struct intake_left){.path = xstrdup(buf_str(&shown)), .why = xstrdup(why), .doubt = doubt};
    buf_free(&shown);
}

void intake_add(struct intake *in, const char *path, const void *data, size_t size) {
    for (unsigned i = 0; i < in->n; i++)
        if (!strcmp(in->files[i].path, path)) {
            intake_leave(in, path, false, "it is there twice, the first one counts");
            return;
        }
    GROW(in->files, in->n + 1, in->room, 8);
    struct intake_file *f = &in->files[in->n++];
    *f = (struct intake_file){.path = xstrdup(path)};
    buf_add(&f->data, data, size);
}

static void keep_file(struct intake *in, const char *path, size_t npath, const char *data,
                      size_t size) {
    char name[INTAKE_PATH + 1];
    if (npath >= sizeof name || size > SOURCE_LIMIT || memchr(path, 0, npath)) return;
    memcpy(name, path, npath), name[npath] = 0;
    if (is_tame(name)) intake_add(in, name, data, size);
}

static void keep_left(struct intake *in, const char *path, size_t npath, bool doubt,
                      const char *why, size_t nwhy) {
    char name[INTAKE_PATH + 1], reason[128];
    snprintf(name, sizeof name, "%.*s", npath > INTAKE_PATH ? INTAKE_PATH : (int)npath, path);
    snprintf(reason, sizeof reason, "%.*s", nwhy > 120 ? 120 : (int)nwhy, why);
    struct buf clean = {0};
    text_clean_name(&clean, reason);
    intake_leave(in, name, doubt, buf_str(&clean));
    buf_free(&clean);
}

/* What a jailed process wrote is as little to be trusted as the archive. */
static bool unpack(const char *at, const char *end, struct intake *in, struct err *e) {
    while (at < end) {
        char kind, line[64] = "";
        size_t name, size;
        int head = 0;
        memcpy(line, at,
               (size_t)(end - at) < sizeof line - 1 ? (size_t)(end - at) : sizeof line - 1);
        if (sscanf(line, "%c %zu %zu%n", &kind, &name, &size, &head) != 3 || !head) break;
        at += head + 1;
        if (at > end || name > (size_t)(end - at) || size > (size_t)(end - at) - name) break;
        if (kind == 'R') {
            struct buf why = {0};
            text_clean(&why, at, name, 200);
            err_set(e, ERR_INPUT, "%s", buf_str(&why));
            buf_free(&why);
            return false;
        }
        if (kind == 'F') keep_file(in, at, name, at + name, size);
        if (kind == 'L' || kind == 'D') keep_left(in, at, name, kind == 'D', at + name, size);
        in->others += kind == 'O';
        at += name + size;
    }
    return at == end || err_set(e, ERR_INPUT, "reading it went wrong");
}

/* libarchive turns names into the locale's bytes, and gives up where it has no such letter: the
 * child has one that has all. */
static bool run_reader(struct reader *r, int fd, int out, struct jail_result *result,
                       struct err *e) {
    struct jail_fd fds[] = {{fd, IN}, {out, OUT}};
    struct jail_job job = {.kind = JAIL_HOST,
                           .entry = read_archive,
                           .entry_data = r,
                           .fds = fds,
                           .nfds = 2,
                           .limits = {.cpu_seconds = 10,
                                      .memory_bytes = 256 << 20,
                                      .file_bytes = INTAKE_TOTAL_BYTES + (8 << 20),
                                      .work_bytes = 1 << 20,
                                      .max_processes = 4,
                                      .max_fds = 64}};
    job.binds = jail_system_binds(JAIL_HOST, &job.nbinds);
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0), before = utf8 ? uselocale(utf8) : 0;
    struct jail *j = jail_start(&job, e);
    if (utf8) uselocale(before), freelocale(utf8);
    if (!j) return false;
    jail_wait(j, 20, result);
    if (result->outcome == JAIL_INTERNAL_ERROR) return err_set(e, ERR_SYSTEM, "%s", result->reason);
    if (result->outcome == JAIL_SYSTEM_OOM)
        return err_set(e, ERR_SYSTEM, "the machine ran out of memory while it was read");
    return (result->outcome == JAIL_EXITED && result->code == 0) ||
           err_set(e, ERR_INPUT, "reading it took more time or memory than is given, or crashed");
}

bool intake_archive(int fd, intake_wants *wants, void *user, struct intake *out, struct err *e) {
    struct stat st;
    int answer = memfd_create("intake", MFD_CLOEXEC);
    if (answer < 0 || fstat(fd, &st) < 0)
        return err_set(e, ERR_SYSTEM, "intake: %s", strerror(errno));
    struct reader r = {.wants = wants, .user = user, .packed = (uint64_t)st.st_size + 1};
    struct jail_result result = {0};
    struct buf records = {0};
    bool ok = run_reader(&r, fd, answer, &result, e);
    lseek(answer, 0, SEEK_SET);
    ok = ok && intake_read(answer, INTAKE_TOTAL_BYTES + (8 << 20), &records) &&
         unpack(buf_str(&records), buf_str(&records) + records.size, out, e);
    jail_result_free(&result);
    buf_free(&records);
    close(answer);
    return ok || err_set(e, ERR_INPUT, "reading it went wrong");
}

void intake_free(struct intake *in) {
    for (unsigned i = 0; i < in->n; i++) free(in->files[i].path), buf_free(&in->files[i].data);
    for (unsigned i = 0; i < in->nleft; i++) free(in->left[i].path), free(in->left[i].why);
    free(in->files), free(in->left);
    *in = (struct intake){0};
}
