/* faults.c — a library for LD_PRELOAD. The FAULT_AT-th call that opens, maps, reads, writes, syncs,
 * truncates or deletes a store (a file whose name contains ".db") fails with FAULT_ERRNO, and so do
 * all later ones if FAULT_STAYS is set; with FAULT_KILL the process is killed there instead, after
 * half of a write. The FAULT_MALLOC-th allocation of SQLite also fails. The process that opened the
 * store counts the calls. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static long calls, allocations, fail_at;
static bool fail_on;
static uintptr_t sqlite_from, sqlite_to; /* its code */

static long number(const char *name) {
    const char *s = getenv(name);
    return s ? atol(s) : 0;
}

/* How many calls there were, for who wants to go through all of them. */
static pid_t owner;
static int find_sqlite(struct dl_phdr_info *o, size_t size, void *data) {
    (void)size, (void)data;
    for (unsigned i = 0; strstr(o->dlpi_name, "libsqlite3") && i < o->dlpi_phnum; i++)
        if (o->dlpi_phdr[i].p_type == PT_LOAD && (o->dlpi_phdr[i].p_flags & PF_X))
            sqlite_from = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr,
            sqlite_to = sqlite_from + o->dlpi_phdr[i].p_memsz;
    return 0;
}
__attribute__((constructor)) static void begin(void) {
    owner = getpid();
    dl_iterate_phdr(find_sqlite, NULL);
    fail_at = number("FAULT_MALLOC"), fail_on = getenv("FAULT_STAYS");
}
__attribute__((destructor)) static void write_counts(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *f = path && getpid() == owner && calls ? fopen(path, "w") : NULL;
    if (f) fprintf(f, "%ld %ld\n", calls, allocations), fclose(f);
}

static bool is_store_path(const char *path) { return strstr(path, ".db") != NULL; }

static bool of_a_store(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return is_store_path(path);
}

/* 0: goes on; else the error. */
static int fault(bool is_store) {
    long at = number("FAULT_AT");
    if (!at || !is_store) return 0;
    calls++;
    if (calls != at && !(calls > at && getenv("FAULT_STAYS"))) return 0;
    return (int)number("FAULT_ERRNO") ? (int)number("FAULT_ERRNO") : EIO;
}

#define REAL(type, name, ...)         \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

static bool stops_store(bool is_store, int *result) {
    int error = fault(is_store);
    if (error && getenv("FAULT_KILL")) *result = -2;
    else if (error) errno = error, *result = -1;
    return error;
}
static bool stops(int fd, int *result) { return stops_store(of_a_store(fd), result); }

/* ---- calls that only fail, or kill the process before they do anything ---- */

static bool fails(bool is_store) {
    int r;
    if (!stops_store(is_store, &r)) return false;
    if (r == -2) kill(getpid(), SIGKILL);
    return true;
}
__attribute__((visibility("default"))) int open64(const char *path, int flags, ...) {
    REAL(int, open64, const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return fails(is_store_path(path)) ? -1 : real(path, flags, mode);
}
__attribute__((visibility("default"))) int unlink(const char *path) {
    REAL(int, unlink, const char *);
    return fails(is_store_path(path)) ? -1 : real(path);
}
__attribute__((visibility("default"))) void *mmap64(void *at, size_t n, int protection, int flags,
                                                    int fd, off64_t from) {
    REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);
    return fails(fd >= 0 && of_a_store(fd)) ? MAP_FAILED : real(at, n, protection, flags, fd, from);
}
__attribute__((visibility("default"))) ssize_t pread64(int fd, void *data, size_t n, off64_t from) {
    REAL(ssize_t, pread64, int, void *, size_t, off64_t);
    return fails(of_a_store(fd)) ? -1 : real(fd, data, n, from);
}

/* ---- calls that write ---- */

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void *data, size_t n,
                                                        off64_t at) {
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    int r;
    if (!stops(fd, &r)) return real(fd, data, n, at);
    if (r == -2) real(fd, data, n / 2, at), kill(getpid(), SIGKILL);
    return -1;
}
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t n,
                                                      off_t at) {
    return pwrite64(fd, data, n, at);
}
__attribute__((visibility("default"))) ssize_t write(int fd, const void *data, size_t n) {
    REAL(ssize_t, write, int, const void *, size_t);
    int r;
    if (!stops(fd, &r)) return real(fd, data, n);
    if (r == -2) real(fd, data, n / 2), kill(getpid(), SIGKILL);
    return -1;
}
__attribute__((visibility("default"))) int fdatasync(int fd) {
    REAL(int, fdatasync, int);
    int r;
    if (!stops(fd, &r)) return real(fd);
    if (r == -2) kill(getpid(), SIGKILL);
    return -1;
}
__attribute__((visibility("default"))) int fsync(int fd) {
    REAL(int, fsync, int);
    int r;
    if (!stops(fd, &r)) return real(fd);
    if (r == -2) kill(getpid(), SIGKILL);
    return -1;
}
__attribute__((visibility("default"))) int ftruncate64(int fd, off64_t n) {
    REAL(int, ftruncate64, int, off64_t);
    int r;
    if (!stops(fd, &r)) return real(fd, n);
    if (r == -2) kill(getpid(), SIGKILL);
    return -1;
}
__attribute__((visibility("default"))) int ftruncate(int fd, off_t n) { return ftruncate64(fd, n); }

/* ---- allocations: those that SQLite's code asks for; those of the grader itself end it by design
 * ---- */

void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);

static bool refuses(const void *caller) {
    uintptr_t at = (uintptr_t)caller;
    if (at < sqlite_from || at >= sqlite_to) return false;
    allocations++;
    return fail_at && (allocations == fail_at || (allocations > fail_at && fail_on));
}

__attribute__((visibility("default"))) void *malloc(size_t n) {
    return refuses(__builtin_return_address(0)) ? errno = ENOMEM, NULL : __libc_malloc(n);
}
__attribute__((visibility("default"))) void *realloc(void *p, size_t n) {
    return refuses(__builtin_return_address(0)) ? errno = ENOMEM, NULL : __libc_realloc(p, n);
}
