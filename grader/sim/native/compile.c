/* compile.c — has generated code compiled and loads what that makes. See native.h. Objects are kept
 * in the cache under the digest of the generated code, the options and the compiler. */
#include "grader/sim/native/compiler.h"
#include "grader/sim/native/generate.h"
#include "common/cache.h"
#include "common/file.h"
#include "common/grow.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The options that decide results are those of the lane functions (Makefile: SAME, exec_rule). */
static const char *const options[] = {
    "-std=gnu11", "-O3", "-fPIC", "-shared", "-x", "c", "-w", "-fsigned-char", "-ffp-contract=off",
    "-fno-math-errno", "-fno-trapping-math",
    /* Threaded jumps leave control flow in a loop, which gcc then does not vectorize. */
    "-fno-thread-jumps",
    /* So does an expression that is computed where only one of two ways needs it. */
    "-fno-tree-pre",
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
    atomic_bool is_limit_reported;
    _Atomic u64 milliseconds; /* of processor time that gcc took for this process */
} compiler;

static bool run_compiler(struct native_run *run, int source, int object, struct err *e) {
    const char *argv[OPTION_COUNT + MAX_LEVEL_OPTIONS + 1] = {NULL};
    char level[256], *rest = level;
    unsigned n = OPTION_COUNT;
    u64 milliseconds = 0;
    snprintf(level, sizeof level, "%s", level_options());
    memcpy(argv, options, sizeof options);
    for (char *word; n < OPTION_COUNT + MAX_LEVEL_OPTIONS && (word = strsep(&rest, " "));)
        argv[n++] = word;
    bool ok = native_compiler_run(run, argv, source, object, &milliseconds, e);
    compiler.milliseconds += milliseconds;
    return ok;
}

/* Writes what gcc compiles, and leaves the file at its start. */
static bool write_source(int fd, const struct buf *text, struct err *e) {
    size_t prelude = (size_t)(native_prelude_end - native_prelude);
    bool ok = fd >= 0 && write(fd, native_prelude, prelude) == (ssize_t)prelude &&
              write(fd, text->data, text->size) == (ssize_t)text->size && !lseek(fd, 0, SEEK_SET);
    return ok || err_set(e, ERR_SYSTEM, "no memory for native code");
}

static void keep_file(const char *folder, const char *name, const struct buf *text,
                      bool (*write_to)(int fd, const struct buf *text, struct err *e)) {
    char path[PATH_TEMPORARY_BYTES + 16];
    struct err ignored = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    write_to(fd, text, &ignored);
    if (fd >= 0) close(fd);
}

static bool write_text(int fd, const struct buf *text, struct err *e) {
    return (fd >= 0 && write(fd, text->data, text->size) == (ssize_t)text->size) ||
           err_set(e, ERR_SYSTEM, "can't write");
}

/* Keeps the text, and gcc's options for it, for those who work on the generator. */
static void keep_source(const struct buf *text) {
    char folder[PATH_TEMPORARY_BYTES];
    struct buf words = {0};
    path_temporary(folder, "native");
    if (!getenv("SIMGPU_KEEP_NATIVE") || !mkdtemp(folder)) return;
    for (unsigned i = 0; i < OPTION_COUNT; i++) buf_printf(&words, "%s ", options[i]);
    buf_printf(&words, "%s\n", level_options());
    keep_file(folder, "kernel.c", text, write_source);
    keep_file(folder, "options", &words, write_text);
    buf_free(&words);
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

/* Launches may run while this publishes: they see the functions that a module has in one pointer,
 * which a block reads once, at its beginning. Old arrays stay until the module is unloaded. */
static void publish(struct sim_module *m, void *object, const u8 *made) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    make_present(object);
    struct native_code *code = xcalloc(m->nsegments, sizeof *code);
    pthread_mutex_lock(&lock);
    if (m->native) memcpy(code, m->native, m->nsegments * sizeof *code);
    for (u32 i = 0; i < m->nsegments; i++) {
        if (made[i] & NATIVE_SEGMENT)
            code[i].segment = (native_fn *)(uintptr_t)find_function(object, "native", i);
        if (made[i] & NATIVE_LOOP)
            code[i].loop = (native_loop_fn *)(uintptr_t)find_function(object, "loop", i);
    }
    struct native_object *o = xcalloc(1, sizeof *o);
    *o = (struct native_object){object, code, m->native_objects};
    m->native_objects = o;
    __atomic_store_n(&m->native, code, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* ---- objects ---- */

static const char cache_kind[] = "native";

static void object_key(const struct buf *gcc, const struct buf *text, char key[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update(&h, gcc->data, gcc->size);
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

static void *compile_object(struct native_run *run, const char key[HASH_HEX_SIZE],
                            const struct buf *text, struct err *e) {
    int source = memfd_create("native-source", MFD_CLOEXEC),
        object_fd = memfd_create("native", MFD_CLOEXEC);
    void *object = NULL;
    keep_source(text);
    if (write_source(source, text, e) && run_compiler(run, source, object_fd, e))
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

/* Returns true if gcc compiles the kernel in a reasonable time. */
static bool is_short(const struct sim_func *f, struct err *e) {
    u32 ops = f->end_op - f->first_op;
    return ops <= MAX_KERNEL_OPS ||
           err_set(e, ERR_LIMIT,
                   "kernel `%.200s` has %u operations, and gcc would take long for more than %d: "
                   "the interpreter runs it",
                   f->func->name, ops, MAX_KERNEL_OPS);
}

bool native_make(struct native_run *run, struct sim_module *m, const struct sim_func *f,
                 bool may_compile, struct err *e) {
    char key[HASH_HEX_SIZE];
    struct buf text = {0}, gcc = {0};
    if (!is_short(f, e)) return false;
    u8 *made = xcalloc(m->nsegments, sizeof *made);
    native_compiler_identity(&gcc);
    if (native_generate(m, f, &text, made)) {
        object_key(&gcc, &text, key);
        void *object = load_cached(key);
        if (!object && may_compile && has_time_left(e)) object = compile_object(run, key, &text, e);
        if (object) publish(m, object, made);
    }
    free(made);
    buf_free(&text), buf_free(&gcc);
    return !e->kind;
}

/* Most reasons concern all kernels. */
static bool is_new_reason(const struct err *e) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct err last;
    pthread_mutex_lock(&lock);
    bool is_new = strcmp(last.text, e->text) != 0;
    last = *e;
    pthread_mutex_unlock(&lock);
    return is_new;
}

bool native_compile(struct sim_module *m, const struct sim_func *f, struct err *e) {
    struct native_run run = NATIVE_RUN_INIT;
    if (native_make(&run, m, f, true, e) || is_new_reason(e)) return !e->kind;
    *e = (struct err){0};
    return true;
}

void native_unload(struct sim_module *m) {
    native_cancel(m);
    for (struct native_object *o = m->native_objects, *next; o; o = next) {
        next = o->next;
        dlclose(o->object);
        free(o->code);
        free(o);
    }
    m->native_objects = NULL, m->native = NULL;
}
