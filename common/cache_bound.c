/* cache_bound.c — bounds the cache (cache.h) and shows its size.
 *
 * The file `usage` in the cache has the bytes and the number of entries added since the last scan,
 * so that adding an entry costs no scan. Beyond the limit, and after MAX_ADDED entries, because
 * other programs add files too (simgpu's registers, quiz programs), a scan lists all files and
 * removes the least recently used down to three quarters of the limit. Reading an entry sets its
 * time of modification.
 *
 * Several graders share a cache. They change `usage` under a lock that they don't wait for long: a
 * missed update only delays the next scan. A file that another process removes meanwhile counts as
 * absent, and its result is computed again.
 *
 * Entries of the kind `carried`, and the objects that they name, stay: on a machine without a
 * compiler (`make gpu-carry`) nothing could replace them. */
#include "common/file.h"
#include "common/grow.h"
#include "common/paths.h"
#include "common/text.h"
#include "common/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_LIMIT_MIB = 256, MAX_ADDED = 512, MAX_LIMIT_MIB = 1 << 24 };

struct cached_file {
    char *path;
    unsigned long long bytes;
    struct timespec used_at;
};

struct cache_listing {
    struct cached_file *files;
    unsigned n, capacity;
    unsigned long long bytes;
    struct buf carried; /* keys of objects that stay, each with a newline */
};

unsigned long long cache_limit(void) {
    const char *mib = getenv("WARPBOOK_CACHE_MIB");
    char *end;
    unsigned long long n = mib && *mib >= '0' && *mib <= '9' ? strtoull(mib, &end, 10) : 0;
    if (!n || *end || n > MAX_LIMIT_MIB) n = DEFAULT_LIMIT_MIB;
    return n << 20;
}

bool cache_is_private(const char *folder) {
    struct stat st;
    return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           !(st.st_mode & 022);
}

/* ---- the list of files ---- */

static void add_carried(struct cache_listing *l, const char *path) {
    struct buf text = {0};
    struct err ignored = {0};
    if (file_read(path, 1 << 16, &text, &ignored) && text.size >= HASH_HEX_SIZE)
        buf_printf(&l->carried, "%.*s\n", HASH_HEX_SIZE - 1, text.data);
    buf_free(&text);
}

static void add_file(struct cache_listing *l, const FTSENT *f) {
    const struct stat *st = f->fts_statp;
    bool read_later = st->st_atim.tv_sec > st->st_mtim.tv_sec;
    GROW(l->files, l->n + 1, l->capacity, 64);
    l->files[l->n++] = (struct cached_file){.path = xstrdup(f->fts_path),
                                            .bytes = 512ull * (unsigned long long)st->st_blocks,
                                            .used_at = read_later ? st->st_atim : st->st_mtim};
    l->bytes += l->files[l->n - 1].bytes;
    if (f->fts_level > 1 && !strcmp(f->fts_parent->fts_name, "carried"))
        add_carried(l, f->fts_path);
}

static void list_files(const char *folder, struct cache_listing *l) {
    char *const start[] = {(char *)folder, NULL};
    FTS *walk = fts_open(start, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    *l = (struct cache_listing){0};
    for (FTSENT *f; walk && (f = fts_read(walk));)
        if (f->fts_info == FTS_F && !(f->fts_level == 1 && !strcmp(f->fts_name, "usage")))
            add_file(l, f);
    if (walk) fts_close(walk);
}

static void free_listing(struct cache_listing *l) {
    for (unsigned i = 0; i < l->n; i++) free(l->files[i].path);
    free(l->files), buf_free(&l->carried);
}

/* ---- removing ---- */

static int compare_use(const void *a, const void *b) {
    const struct timespec *x = &((const struct cached_file *)a)->used_at,
                          *y = &((const struct cached_file *)b)->used_at;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool is_carried(const struct cache_listing *l, const char *path) {
    return strstr(path, "/carried/") || strstr(buf_str(&l->carried), path_basename(path));
}

void cache_evict(const char *folder, unsigned long long target) {
    struct cache_listing l;
    list_files(folder, &l);
    qsort(l.files, l.n, sizeof *l.files, compare_use);
    for (unsigned i = 0; i < l.n && l.bytes > target; i++)
        if (!is_carried(&l, l.files[i].path) && unlink(l.files[i].path) == 0)
            l.bytes -= l.files[i].bytes;
    free_listing(&l);
}

/* ---- counting ---- */

/* Opens `usage` with its lock; returns -1 if another process keeps it for long. */
static int open_usage(const char *folder) {
    char path[PATH_MAX];
    int fd = path_join(path, sizeof path, folder, "usage")
                 ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    for (unsigned tries = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
        if (tries == 20) return close(fd), -1;
        usleep(1000);
    }
    return fd;
}

/* Lists the files again, removes what is beyond the limit, and returns the bytes left. */
static unsigned long long rescan(const char *folder) {
    struct cache_listing l;
    list_files(folder, &l);
    unsigned long long bytes = l.bytes;
    free_listing(&l);
    if (bytes <= cache_limit()) return bytes;
    cache_evict(folder, cache_limit() / 4 * 3);
    return cache_limit() / 4 * 3;
}

void cache_count_added(const char *folder, size_t size) {
    char text[64] = "";
    unsigned long long bytes = 0, added = 0;
    int fd = open_usage(folder);
    if (fd < 0) return;
    bool known =
        pread(fd, text, sizeof text - 1, 0) > 0 && sscanf(text, "%llu %llu", &bytes, &added) == 2;
    bytes += (size + 4095) / 4096 * 4096, added++;
    if (!known || bytes > cache_limit() || added > MAX_ADDED) bytes = rescan(folder), added = 0;
    int n = snprintf(text, sizeof text, "%-20llu %-20llu\n", bytes, added);
    if (pwrite(fd, text, (size_t)n, 0) != n && ftruncate(fd, 0) < 0) {} /* scanned next time */
    close(fd);
}

/* ---- for the user ---- */

static bool find_folder(char folder[PATH_MAX], struct err *e) {
    return paths_cache_dir(folder, e) &&
           (cache_is_private(folder) ||
            err_set(e, ERR_INPUT,
                    "%s is not used, because it is not a folder that only you can write to; run "
                    "`chmod go-w` on it, or remove it",
                    folder));
}

bool cache_measure(struct cache_usage *out, struct err *e) {
    char folder[PATH_MAX];
    struct cache_listing l;
    if (!find_folder(folder, e)) return false;
    list_files(folder, &l);
    *out = (struct cache_usage){l.n, l.bytes, cache_limit()};
    free_listing(&l);
    return true;
}

/* Returns true if remove() failed because of another grader: it removed the entry first, or it
 * added entries to the folder meanwhile. */
static bool is_shared_entry(int error) {
    return error == ENOENT || error == ENOTEMPTY || error == EEXIST;
}

bool cache_empty(const char *folder, struct err *e) {
    char *const start[] = {(char *)folder, NULL};
    FTS *walk = fts_open(start, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    bool ok = walk || err_set(e, ERR_SYSTEM, "%s: cannot list: %s", folder, strerror(errno));
    for (FTSENT *f; ok && (f = fts_read(walk));)
        if (f->fts_level > 0 && f->fts_info != FTS_D && remove(f->fts_path) < 0 &&
            !is_shared_entry(errno))
            ok = err_set(e, ERR_SYSTEM, "%s: cannot remove: %s", f->fts_path, strerror(errno));
    if (walk) fts_close(walk);
    return ok;
}

bool cache_clear(struct err *e) {
    char folder[PATH_MAX];
    return find_folder(folder, e) && cache_empty(folder, e);
}
