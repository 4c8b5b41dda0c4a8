/* intake.c — see intake.h. The jailed half writes records to a memory file: a kind ('F' a file, 'N' a note,
 * 'R' refused), the lengths of a name and of data as decimal numbers, a newline, name, data. */
#include "grader/class/intake.h"
#include "common/grow.h"
#include "common/text.h"
#include "grader/grade/grade.h"
#include "grader/jail/jail.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
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
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    struct stat st;
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size <= limit)) return fd;
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
    static const char *const ends[] = {".zip",  ".tar",    ".tar.gz", ".tgz",    ".tar.bz2",
                                       ".tbz2", ".tar.xz", ".txz",    ".tar.zst"};
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends(name, ends[i])) return true;
    return false;
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
    if (write(OUT, head, (size_t)h) != h || write(OUT, name, strlen(name)) != (ssize_t)strlen(name) ||
        (n && write(OUT, data->data, n) != (ssize_t)n))
        _exit(9);
}

static void note(const char *path, const char *why) {
    struct buf line = {0};
    text_name(&line, path);
    bool cut = line.size > 120;
    struct buf shown = {0};
    buf_printf(&shown, "%.*s%s: %s", 120, buf_str(&line), cut ? "..." : "", why);
    buf_free(&line);
    line = shown;
    put('N', buf_str(&line), NULL);
    buf_free(&line);
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

static bool take_entry(struct reader *r, struct archive_entry *entry) {
    const char *path = archive_entry_pathname_utf8(entry);
    if (!path) path = archive_entry_pathname(entry);
    while (path && !strncmp(path, "./", 2)) path += 2;
    if (++r->entries > INTAKE_ENTRIES) return refuse("it has more than 4096 entries");
    if (!path || archive_entry_filetype(entry) == AE_IFDIR) return true;
    bool link = archive_entry_hardlink(entry) || archive_entry_symlink(entry), keep = false, whole = false;
    if (!is_tame(path)) note(path, "left out: a path that leads out of the submission");
    else if (link || archive_entry_filetype(entry) != AE_IFREG) note(path, "left out: a link or no regular file");
    else keep = r->wants(r->user, path);
    struct buf data = {0};
    bool ok = take_data(r, keep, &data, &whole);
    if (ok && keep && !whole) note(path, "left out: larger than 1 MiB");
    if (ok && keep && whole) put('F', path, &data);
    buf_free(&data);
    return ok;
}

static int read_archive(void *data) {
    struct reader *r = data;
    struct archive *a = r->archive = archive_read_new();
    struct archive_entry *entry;
    archive_read_support_filter_gzip(a), archive_read_support_filter_bzip2(a), archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a), archive_read_support_format_zip(a);
    lseek(IN, 0, SEEK_SET);
    if (archive_read_open_fd(a, IN, 65536) != ARCHIVE_OK) return refuse("it is no archive of a kind that is read"), 0;
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

static void keep_file(struct intake *in, const char *path, size_t npath, const char *data, size_t size) {
    char name[INTAKE_PATH + 1];
    if (npath >= sizeof name || size > SOURCE_LIMIT || memchr(path, 0, npath)) return;
    memcpy(name, path, npath), name[npath] = 0;
    if (!is_tame(name)) return;
    for (unsigned i = 0; i < in->n; i++)
        if (!strcmp(in->files[i].path, name)) {
            struct buf shown = {0};
            text_name(&shown, name);
            buf_printf(&in->notes, "%s: left out: the archive has it twice, the first one counts\n", buf_str(&shown));
            buf_free(&shown);
            return;
        }
    GROW(in->files, in->n + 1, in->room, 8);
    struct intake_file *f = &in->files[in->n++];
    *f = (struct intake_file){.path = xstrdup(name)};
    buf_add(&f->data, data, size);
}

/* What a jailed process wrote is as little to be trusted as the archive. */
static bool unpack(const char *at, const char *end, struct intake *in, struct err *e) {
    while (at < end) {
        char kind, line[64] = "";
        size_t name, size;
        int head = 0;
        memcpy(line, at, (size_t)(end - at) < sizeof line - 1 ? (size_t)(end - at) : sizeof line - 1);
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
        if (kind == 'N' && in->notes.size < 4096) text_clean(&in->notes, at, name, 1024), buf_puts(&in->notes, "\n");
        at += name + size;
    }
    return at == end || err_set(e, ERR_INPUT, "reading it went wrong");
}

static bool run_reader(struct reader *r, int fd, int out, struct jail_result *result, struct err *e) {
    struct jail_fd fds[] = {{fd, IN}, {out, OUT}};
    struct jail_job job = {.kind = JAIL_HOST,
                           .inside = read_archive,
                           .inside_data = r,
                           .fds = fds,
                           .nfds = 2,
                           .limits = {.cpu_seconds = 10,
                                      .memory_bytes = 256 << 20,
                                      .file_bytes = INTAKE_TOTAL_BYTES + (8 << 20),
                                      .work_bytes = 1 << 20,
                                      .processes = 4,
                                      .files = 64}};
    job.binds = jail_system_binds(JAIL_HOST, &job.nbinds);
    struct jail *j = jail_start(&job, e);
    if (!j) return false;
    jail_wait(j, 20, result);
    if (result->end == JAIL_BROKEN) return err_set(e, ERR_SYSTEM, "%s", result->why);
    return (result->end == JAIL_EXITED && result->code == 0) ||
           err_set(e, ERR_INPUT, "reading it took more time or memory than is given, or crashed");
}

bool intake_archive(int fd, intake_wants *wants, void *user, struct intake *out, struct err *e) {
    *out = (struct intake){0};
    struct stat st;
    int answer = memfd_create("intake", MFD_CLOEXEC);
    if (answer < 0 || fstat(fd, &st) < 0) return err_set(e, ERR_SYSTEM, "intake: %s", strerror(errno));
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
    free(in->files);
    buf_free(&in->notes);
    *in = (struct intake){0};
}
