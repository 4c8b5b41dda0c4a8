/* compile.c — runs the host's C compiler on generated code and loads what it makes. See native.h.
 * Objects are kept in the cache under the digest of the generated code, the options and the
 * compiler's version. */
#include "grader/sim/native/generate.h"
#include "common/cache.h"
#include "common/file.h"
#include "common/grow.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The options that decide results are those of the lane functions (Makefile: SAME, exec_rule). */
static const char *const options[] = {
    "-std=gnu11", "-O3", "-fPIC", "-shared", "-x", "c", "-w", "-fsigned-char", "-ffp-contract=off",
    "-fno-math-errno", "-fno-trapping-math",
    /* Threaded jumps leave control flow in a loop, which gcc then does not vectorize. */
    "-fno-thread-jumps",
    /* Scalars side by side are those of different loads, which are faster apart. */
    "-fno-tree-slp-vectorize"};
/* gcc took 11 s of processor time for a kernel of CUB with 1199 operations, and 13 s for one of 331
 * with 128 loads in a row. So the time of a whole run is limited, too. */
enum { MAX_KERNEL_OPS = 1200, MAX_RUN_SECONDS = 20 };
enum { OPTION_COUNT = sizeof options / sizeof *options, MAX_LEVEL_OPTIONS = 4 };

/* Returns the options of the level whose lane functions run, separated by spaces. */
static const char *level_options(void) {
    static const struct {
        const char *name, *options;
    } levels[] = {
#define LEVEL_x86_64(name, had, cpuinfo, flags)  {#name, #flags},
#define LEVEL_aarch64(name, had, cpuinfo, flags) {#name, #flags},
#include "grader/sim/code/isa_levels.def"
    };
    const char *name = "";
    for (unsigned level = 1; level <= LANES_MAX_LEVELS; level++)
        if (lanes_level_table(level) == lanes_default_table()) name = lanes_level_name(level);
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (!strcmp(levels[i].name, name)) return levels[i].options;
    return "";
}

/* ---- the compiler ---- */

static struct {
    pthread_once_t once;
    char version[1024]; /* what `gcc --version` prints; "" = there is no gcc */
    atomic_bool is_absence_reported, is_limit_reported;
    _Atomic u64 milliseconds; /* of processor time that gcc took for this process */
} compiler = {.once = PTHREAD_ONCE_INIT};

static void find_version(void) {
    FILE *f = popen("gcc --version 2>/dev/null", "re");
    size_t n = f ? fread(compiler.version, 1, sizeof compiler.version - 1, f) : 0;
    compiler.version[n] = 0;
    if (f && pclose(f) != 0) compiler.version[0] = 0;
}

static u64 milliseconds_of(struct timeval t) {
    return (u64)t.tv_sec * 1000 + (u64)t.tv_usec / 1000;
}

/* Source and object are anonymous files, so that a run that is killed leaves none behind. gcc has
 * the source as its standard input, and the object under this number. */
enum { OBJECT_FD = 9 };

static bool spawn_compiler(int source, int object, pid_t *pid) {
    const char *argv[OPTION_COUNT + MAX_LEVEL_OPTIONS + 5] = {"gcc"};
    char level[256], *rest = level;
    unsigned n = 1;
    posix_spawn_file_actions_t files;
    snprintf(level, sizeof level, "%s", level_options());
    memcpy(argv + n, options, sizeof options), n += OPTION_COUNT;
    for (char *word; n < OPTION_COUNT + MAX_LEVEL_OPTIONS && (word = strsep(&rest, " "));)
        argv[n++] = word;
    argv[n++] = "-", argv[n++] = "-o", argv[n++] = "/proc/self/fd/9";
    extern char **environ;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, source, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, object, OBJECT_FD);
    bool ok = posix_spawnp(pid, argv[0], &files, NULL, (char *const *)argv, environ) == 0;
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

static bool run_compiler(int source, int object, struct err *e) {
    pid_t pid;
    int status;
    struct rusage used = {0};
    if (!spawn_compiler(source, object, &pid))
        return err_set(e, ERR_SYSTEM, "can't run gcc, which --native needs: install it");
    bool is_ended = wait4(pid, &status, 0, &used) == pid;
    compiler.milliseconds += milliseconds_of(used.ru_utime) + milliseconds_of(used.ru_stime);
    if (is_ended && status == 0) return true;
    return err_set(e, ERR_SYSTEM,
                   "gcc failed on the native code of a kernel; SIMGPU_KEEP_NATIVE=1 keeps that");
}

/* Writes what gcc compiles, and leaves the file at its start. */
static bool write_source(int fd, const struct buf *text, struct err *e) {
    size_t prelude = (size_t)(native_prelude_end - native_prelude);
    bool ok = fd >= 0 && write(fd, native_prelude, prelude) == (ssize_t)prelude &&
              write(fd, text->data, text->size) == (ssize_t)text->size && !lseek(fd, 0, SEEK_SET);
    return ok || err_set(e, ERR_SYSTEM, "no memory for native code");
}

/* For those who work on the generator. */
static void keep_source(const struct buf *text) {
    char folder[PATH_TEMPORARY_BYTES], path[PATH_TEMPORARY_BYTES + 16];
    struct err ignored = {0};
    path_temporary(folder, "native");
    if (!getenv("SIMGPU_KEEP_NATIVE") || !mkdtemp(folder)) return;
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    write_source(fd, text, &ignored);
    if (fd >= 0) close(fd);
}

/* Reads a byte of each page, so that all are present: a masked load of a page that isn't costs
 * hundreds of cycles each time no lane is active, since it never makes the page present. */
static void make_present(void *object) {
    struct link_map *map = NULL;
    if (dlinfo(object, RTLD_DI_LINKMAP, &map) != 0) return;
    const unsigned char *base = (const unsigned char *)map->l_addr;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(base + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        for (size_t at = 0; segments[i].p_type == PT_LOAD && at < segments[i].p_memsz; at += 4096)
            (void)*(const volatile unsigned char *)(base + segments[i].p_vaddr + at);
}

static void *find_function(void *object, const char *kind, u32 segment) {
    char name[32];
    snprintf(name, sizeof name, "%s_%u", kind, segment);
    return dlsym(object, name);
}

static void publish(struct sim_module *m, void *object, const u8 *made) {
    make_present(object);
    if (!m->native) m->native = arena_array(&m->arena, struct native_code, m->nsegments);
    for (u32 i = 0; i < m->nsegments; i++) {
        if (made[i] & NATIVE_SEGMENT)
            m->native[i].segment = (native_fn *)(uintptr_t)find_function(object, "native", i);
        if (made[i] & NATIVE_LOOP)
            m->native[i].loop = (native_loop_fn *)(uintptr_t)find_function(object, "loop", i);
    }
    m->native_objects =
        xrealloc(m->native_objects, (m->nnative_objects + 1) * sizeof *m->native_objects);
    m->native_objects[m->nnative_objects++] = object;
}

/* ---- objects ---- */

static const char cache_kind[] = "native";

static void object_key(const struct buf *text, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, compiler.version);
    for (unsigned i = 0; i < OPTION_COUNT; i++) hash_update_string(&h, options[i]);
    hash_update_string(&h, level_options());
    hash_update(&h, native_prelude, (size_t)(native_prelude_end - native_prelude));
    hash_update(&h, text->data, text->size);
    hash_final_hex(&h, key);
}

/* Returns the object of the cache, whose digest is right; NULL = none. The digest that follows it
 * in the file is no part of what is loaded. */
static void *load_cached(const char key[HASH_HEX_SIZE]) {
    char path[PATH_MAX];
    struct buf object = {0};
    bool found = cache_get(cache_kind, key, &object) && cache_find(cache_kind, key, path);
    buf_free(&object);
    return found ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void keep_object(const char key[HASH_HEX_SIZE], int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0) return;
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return;
    cache_put(cache_kind, key, data, (size_t)st.st_size);
    munmap(data, (size_t)st.st_size);
}

/* Loads the object. Its file stays open, since dlopen takes an equal path for the same object. */
static void *load_object(int fd, struct err *e) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) err_set(e, ERR_SYSTEM, "can't load native code: %s", dlerror());
    return object;
}

static void *compile_object(const char key[HASH_HEX_SIZE], const struct buf *text, struct err *e) {
    int source = memfd_create("native-source", MFD_CLOEXEC),
        object_fd = memfd_create("native", MFD_CLOEXEC);
    void *object = NULL;
    keep_source(text);
    if (write_source(source, text, e) && run_compiler(source, object_fd, e))
        object = load_object(object_fd, e);
    if (object) keep_object(key, object_fd);
    if (source >= 0) close(source);
    if (object_fd >= 0 && !object) close(object_fd);
    return object;
}

/* Returns false if no time is left; sets the error the first time. */
static bool has_time_left(struct err *e) {
    if (compiler.milliseconds <= 1000 * MAX_RUN_SECONDS) return true;
    return !atomic_exchange(&compiler.is_limit_reported, true) &&
           err_set(e, ERR_LIMIT,
                   "gcc took %d s of processor time: the interpreter runs the other kernels; the "
                   "next run "
                   "compiles more of them, since objects are kept",
                   MAX_RUN_SECONDS);
}

static bool build_kernel(struct sim_module *m, const struct sim_func *f, struct err *e) {
    char key[HASH_HEX_SIZE];
    struct buf text = {0};
    u8 *made = xcalloc(m->nsegments, sizeof *made);
    if (native_generate(m, f, &text, made)) {
        object_key(&text, key);
        void *object = load_cached(key);
        if (!object && has_time_left(e)) object = compile_object(key, &text, e);
        if (object) publish(m, object, made);
    }
    free(made);
    buf_free(&text);
    return !e->kind;
}

bool native_compile(struct sim_module *m, const struct sim_func *f, struct err *e) {
    u32 ops = f->end_op - f->first_op;
    m->funcs[f - m->funcs].is_native = true;
    if (ops > MAX_KERNEL_OPS)
        return err_set(e, ERR_LIMIT,
                       "kernel `%.200s` has %u operations, and gcc would take long for more than "
                       "%d: the interpreter runs it",
                       f->func->name, ops, MAX_KERNEL_OPS);
    pthread_once(&compiler.once, find_version);
    if (compiler.version[0]) return build_kernel(m, f, e);
    return atomic_exchange(&compiler.is_absence_reported, true) ||
           err_set(e, ERR_SYSTEM, "can't run gcc, which --native needs: install it");
}

void native_unload(struct sim_module *m) {
    for (u32 i = 0; i < m->nnative_objects; i++) dlclose(m->native_objects[i]);
    free(m->native_objects);
    m->native_objects = NULL, m->nnative_objects = 0;
}
