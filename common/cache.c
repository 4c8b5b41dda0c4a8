/* cache.c — see cache.h. An entry is its payload followed by the payload's SHA-256 as 64 hex
 * digits. */
#include "common/cache.h"
#include "common/file.h"
#include "common/paths.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRY_LIMIT = 256 << 20, DIGEST_BYTES = HASH_HEX_SIZE - 1 };

static void digest(const void *data, size_t size, char out[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update(&h, data, size);
    hash_final_hex(&h, out);
}

/* Sets the folder of a kind. Returns false if it exists and others may write to it. */
static bool cache_dir(const char *kind, char cache[PATH_MAX], char *out, size_t size) {
    struct err ignored = {0};
    return paths_cache_dir(cache, &ignored) && cache_is_private(cache) &&
           path_join(out, size, cache, kind) && (access(out, F_OK) < 0 || cache_is_private(out));
}

/* Marks an entry as used, for cache_bound.c. */
static void touch(const char *path) { utimensat(AT_FDCWD, path, NULL, 0); }

bool cache_find(const char *kind, const char key[HASH_HEX_SIZE], char path[PATH_MAX]) {
    char cache[PATH_MAX], folder[PATH_MAX];
    bool found = cache_dir(kind, cache, folder, sizeof folder) &&
                 path_join(path, PATH_MAX, folder, key) && file_exists(path);
    if (found) touch(path);
    return found;
}

bool cache_get(const char *kind, const char key[HASH_HEX_SIZE], struct buf *out) {
    char cache[PATH_MAX], folder[PATH_MAX], path[PATH_MAX], sum[HASH_HEX_SIZE];
    if (!cache_dir(kind, cache, folder, sizeof folder) ||
        !path_join(path, sizeof path, folder, key))
        return false;
    struct err e = {0};
    size_t initial_size = out->size;
    if (file_exists(path) && file_read(path, ENTRY_LIMIT, out, &e) &&
        out->size - initial_size >= DIGEST_BYTES) {
        size_t payload = out->size - initial_size - DIGEST_BYTES;
        digest(out->data + initial_size, payload, sum);
        if (!memcmp(sum, out->data + initial_size + payload, DIGEST_BYTES)) {
            out->size = initial_size + payload;
            out->data[out->size] = 0;
            touch(path);
            return true;
        }
        unlink(path);
    }
    out->size = initial_size;
    return false;
}

static bool write_all(int fd, const char *data, size_t size) {
    for (ssize_t n; size; data += n, size -= (size_t)n) {
        n = write(fd, data, size);
        if (n < 0 && errno == EINTR) n = 0;
        if (n < 0) return false;
    }
    return true;
}

/* Names a complete entry. If another grader was first, its entry is equal to ours. */
static bool link_entry(int fd, const char *path) {
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
}

/* Returns false with errno if the entry could not be written. */
static bool write_entry(const char *folder, const char *path, const void *data, size_t size) {
    char sum[HASH_HEX_SIZE];
    struct err ignored = {0};
    digest(data, size, sum);
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
    if (fd >= 0) {
        bool ok =
            write_all(fd, data, size) && write_all(fd, sum, DIGEST_BYTES) && link_entry(fd, path);
        int error = errno;
        close(fd);
        return errno = error, ok;
    }
    if (errno == ENOSPC || errno == EDQUOT) return false;
    struct buf total = {0}; /* this file system has no unnamed files */
    buf_add(&total, data, size);
    buf_add(&total, sum, DIGEST_BYTES);
    bool ok = file_write(path, total.data, total.size, &ignored);
    buf_free(&total);
    return ok;
}

/* On a full disk, half of the cache makes room for the entry; if that fails too, it is lost. */
void cache_put(const char *kind, const char key[HASH_HEX_SIZE], const void *data, size_t size) {
    char cache[PATH_MAX], folder[PATH_MAX], path[PATH_MAX];
    if (!cache_dir(kind, cache, folder, sizeof folder) ||
        !path_join(path, sizeof path, folder, key) || (mkdir(folder, 0700) < 0 && errno != EEXIST))
        return;
    bool ok = write_entry(folder, path, data, size);
    if (!ok && (errno == ENOSPC || errno == EDQUOT)) {
        cache_evict(cache, cache_limit() / 2);
        ok = write_entry(folder, path, data, size);
    }
    if (ok) cache_count_added(cache, size + DIGEST_BYTES);
}

/* Finds the linker's build id, a hash of the program's content. */
static int find_build_id(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct buf *id = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE) continue;
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *desc = at + sizeof *note + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID) buf_add(id, desc, note->n_descsz);
            at = desc + ((note->n_descsz + 3) & ~3u);
        }
    }
    return 1; /* the first object is the program itself */
}

void cache_add_grader(struct hash *h) {
    struct buf id = {0};
    dl_iterate_phdr(find_build_id, &id);
    struct stat st = {0};
    if (id.size == 0 && stat("/proc/self/exe", &st) == 0)
        buf_printf(&id, "%lld %lld", (long long)st.st_size, (long long)st.st_mtime);
    /* The simulator and the host process are separate programs. */
    static const char *const programs[] = {"device", "hostproc"};
    char path[PATH_MAX];
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        if (stat(paths_component(programs[i], path), &st) == 0)
            buf_printf(&id, "%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                       st.st_mtim.tv_nsec);
    hash_update(h, id.data, id.size);
    buf_free(&id);
}
