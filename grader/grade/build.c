/* build.c — see build.h. The jail holds the toolkit at /cuda, the system's compiler and libraries, our
 * runtime library and the one source file in /work, which is also the working folder: messages name the file
 * as the student does, and nothing else can be included. Equal input gives an equal object, wherever the book
 * lies. */
#include "grader/grade/build.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/grade/cache.h"
#include "grader/sim/ptx/ptx.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MESSAGE_LIMIT = 16 << 10, RUNTIME_LIMIT = 64 << 20, PTX_ARCH = 90 };
static const double nvcc_seconds = 60;

static const char *const environment[] = {"PATH=/cuda/bin:/usr/bin", "TMPDIR=/work",        "HOME=/work",
                                          "LC_ALL=C.UTF-8",          "SOURCE_DATE_EPOCH=0", NULL};
static const char *const flags[] = {
    "-shared",   "-Xcompiler",   "-fPIC", "-cudart", "none", "-gencode", "arch=compute_90,code=compute_90",
    "-lineinfo", "--no-compress"};
enum { NFLAGS = sizeof flags / sizeof *flags };
/* A second architecture for a GPU that is too old for the first; "" = none. */
static char also[48];
static bool no_compiler;

void build_ignore_compiler(bool ignore) { no_compiler = ignore; }

void build_also_for(unsigned cc) {
    also[0] = 0;
    if (cc >= 75 && cc < PTX_ARCH) snprintf(also, sizeof also, "arch=compute_%u,code=compute_%u", cc, cc);
}

static const struct jail_limits limits = {.cpu_seconds = 60,
                                          .memory_bytes = 2ull << 30,
                                          .file_bytes = 64 << 20,
                                          .work_bytes = 512 << 20,
                                          .processes = 64,
                                          .files = 256};

/* Binds of the compiler's jail: the system, the toolkit, our runtime library. */
struct toolbox {
    struct jail_bind binds[24];
    unsigned n;
    bool compiler; /* there is a toolkit */
    char cuda[PATH_MAX], library[PATH_MAX + 32];
};

static bool open_toolbox(struct toolbox *t, struct err *e) {
    char link[PATH_MAX + 32];
    snprintf(link, sizeof link, "%s/cuda", book_build());
    t->compiler = !no_compiler && realpath(link, t->cuda);
    snprintf(t->library, sizeof t->library, "%s/lib/libwbcudart.a", book_build());
    if (!file_exists(t->library)) return err_set(e, ERR_SYSTEM, "%s is missing; run `make`", t->library);
    const struct jail_bind *system = jail_system_binds(JAIL_COMPILER, &t->n);
    memcpy(t->binds, system, t->n * sizeof *system);
    if (t->compiler) t->binds[t->n++] = (struct jail_bind){t->cuda, "/cuda", false};
    t->binds[t->n++] = (struct jail_bind){t->library, "/lib-warpbook/libwbcudart.a", false};
    return true;
}

/* ---- the key ---- */

/* A tool's size and time stand for its content: reading the toolkit at each run would cost more than
 * compiling. */
static void add_tool(struct hash *h, const char *folder, const char *name) {
    char path[PATH_MAX + 64];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &st) < 0) st.st_size = -1;
    int64_t id[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    hash_add(h, id, sizeof id);
}

/* `tools`: which ones compile it counts too. */
static bool make_key(const struct toolbox *t, const char *name, const void *source, size_t size, bool with_tools,
                     char key[HASH_HEX], struct err *e) {
    static const char *const tools[] = {"bin/nvcc", "nvvm/bin/cicc", "bin/cudafe++", "bin/ptxas", "bin/fatbinary"};
    struct hash h;
    struct buf library = {0};
    bool ok = file_read(t->library, RUNTIME_LIMIT, &library, e);
    hash_start(&h);
    hash_text(&h, with_tools ? "object 1" : "carried 1");
    for (unsigned i = 0; i < NFLAGS; i++) hash_text(&h, flags[i]);
    if (also[0]) hash_text(&h, also);
    for (unsigned i = 0; with_tools && i < sizeof tools / sizeof *tools; i++) add_tool(&h, t->cuda, tools[i]);
    if (with_tools) add_tool(&h, "/usr/bin", "g++"), add_tool(&h, "/usr/bin", "ld");
    hash_add(&h, library.data, library.size);
    hash_text(&h, name);
    hash_add(&h, source, size);
    hash_hex(&h, key);
    buf_free(&library);
    return ok;
}

/* ---- the cached form: "ok|refused", sizes, object, messages ---- */

static void store(const struct build *b) {
    struct buf entry = {0};
    buf_printf(&entry, "%d %zu %zu\n", b->ok, b->object.size, b->messages.size);
    buf_add(&entry, b->object.data, b->object.size);
    buf_add(&entry, b->messages.data, b->messages.size);
    cache_put("obj", b->key, entry.data, entry.size);
    buf_free(&entry);
}

static bool fetch(struct build *b) {
    struct buf entry = {0};
    int ok, head = 0;
    size_t object, messages;
    bool found = cache_get("obj", b->key, &entry) &&
                 sscanf(entry.data, "%d %zu %zu%n", &ok, &object, &messages, &head) == 3 &&
                 (size_t)head + 1 + object + messages == entry.size;
    if (found) {
        b->ok = ok, b->cached = true, b->end = JAIL_EXITED;
        buf_add(&b->object, entry.data + head + 1, object);
        buf_add(&b->messages, entry.data + head + 1 + object, messages);
    }
    buf_free(&entry);
    return found;
}

/* ---- the compiler ---- */

static const char *end_reason(const struct jail_result *r) {
    switch (r->end) {
    case JAIL_TIMEOUT: return "the compiler ran for more than 60 s and was stopped";
    case JAIL_OUTPUT: return "the compiler wrote more than 64 MiB and was stopped";
    case JAIL_VIOLATION: return "the compiler was stopped at a system call that compiling does not need";
    case JAIL_MEMORY: return "the compiler ran out of memory and was stopped";
    case JAIL_SIGNALLED: return "the compiler crashed or ran out of memory";
    default: return NULL;
    }
}

static void take_result(struct jail_result *r, struct build *out) {
    out->end = r->end;
    out->ok = r->end == JAIL_EXITED && r->code == 0 && r->has_taken;
    out->why = end_reason(r);
    struct buf clean = {0};
    text_clean(&clean, buf_str(&r->output), r->output.size, MESSAGE_LIMIT);
    text_replace(&clean, "/work/", "");
    out->messages = clean;
    if (out->ok) buf_add(&out->object, r->taken.data, r->taken.size);
}

static bool compile(const struct toolbox *t, const char *name, const void *source, size_t size, struct build *out,
                    struct err *e) {
    const char *argv[NFLAGS + 10] = {"/cuda/bin/nvcc"};
    unsigned n = 1;
    for (unsigned i = 0; i < NFLAGS; i++) argv[n++] = flags[i];
    if (also[0]) argv[n++] = "-gencode", argv[n++] = also;
    argv[n++] = name;
    argv[n++] = "/lib-warpbook/libwbcudart.a";
    argv[n++] = "-o";
    argv[n++] = "out.so";
    struct jail_file file = {name, source, size};
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = environment,
                           .binds = t->binds,
                           .nbinds = t->n,
                           .files = &file,
                           .nfiles = 1,
                           .take = "out.so",
                           .limits = limits};
    struct jail *j = jail_start(&job, e);
    if (!j) return false;
    struct jail_result r;
    jail_wait(j, nvcc_seconds, &r);
    bool ok = r.end != JAIL_BROKEN || err_set(e, ERR_SYSTEM, "%s", r.why);
    if (ok) take_result(&r, out);
    jail_result_free(&r);
    return ok;
}

/* Without a compiler: what one made elsewhere, as the key without tools remembers it. */
static bool carried(const struct toolbox *t, const char *name, const void *source, size_t size, struct build *out,
                    struct err *e) {
    char key[HASH_HEX];
    struct buf entry = {0};
    if (!make_key(t, name, source, size, false, key, e)) return false;
    bool ok = cache_get("carried", key, &entry) && entry.size == HASH_HEX - 1;
    if (ok) memcpy(out->key, entry.data, HASH_HEX - 1), out->key[HASH_HEX - 1] = 0;
    buf_free(&entry);
    return (ok && fetch(out)) ||
           err_set(e, ERR_SYSTEM,
                   "%s/cuda: no CUDA toolkit there, and %s was not compiled before; run `make setup`, or "
                   "`make gpu-carry` where there is a compiler",
                   book_build(), name);
}

static void remember(const struct toolbox *t, const char *name, const void *source, size_t size,
                     const struct build *b) {
    char key[HASH_HEX];
    struct err ignored = {0};
    if (make_key(t, name, source, size, false, key, &ignored)) cache_put("carried", key, b->key, HASH_HEX - 1);
}

bool build_run(const char *name, const void *source, size_t size, struct build *out, struct err *e) {
    *out = (struct build){0};
    struct toolbox t;
    if (!open_toolbox(&t, e)) return false;
    if (!t.compiler) return carried(&t, name, source, size, out, e);
    if (!make_key(&t, name, source, size, true, out->key, e)) return false;
    if (fetch(out)) return true;
    if (!compile(&t, name, source, size, out, e)) return false;
    if (out->end == JAIL_EXITED) store(out); /* what a limit ended may come out otherwise next time */
    return true;
}

bool build_carry(const char *name, const void *source, size_t size, struct build *out, struct err *e) {
    struct toolbox t;
    if (!build_run(name, source, size, out, e) || !open_toolbox(&t, e)) return false;
    if (out->ok && t.compiler) remember(&t, name, source, size, out);
    return true;
}

void build_free(struct build *b) {
    buf_free(&b->object);
    buf_free(&b->messages);
}

/* ---- ptxas ---- */

struct ptxas_job {
    struct jail *jail; /* NULL: `text` came from the cache */
    struct buf text, ptx;
    unsigned arch;
    char key[HASH_HEX];
};

/* The fat binary lies somewhere in the object, recognised by its magic number; ptx_from_fatbin checks the
 * rest. */
static const char *find_ptx(struct arena *a, const struct buf *object, size_t *n) {
    static const unsigned char magic[4] = {0x50, 0xed, 0x55, 0xba};
    const char *at = object->data, *end = at + object->size;
    while ((at = memmem(at, (size_t)(end - at), magic, sizeof magic))) {
        struct err e = {0};
        const char *ptx = ptx_from_fatbin(a, at, (size_t)(end - at), PTX_ARCH, n, &e);
        if (ptx) return ptx;
        at++;
    }
    return NULL;
}

/* ptxas takes no PTX of a target that is newer than the GPU, whatever the code uses: so it is told an older
 * one. */
static void retarget(struct buf *ptx, unsigned arch) {
    char from[32], to[32];
    snprintf(from, sizeof from, ".target sm_%u", PTX_ARCH);
    snprintf(to, sizeof to, ".target sm_%u", arch);
    char *at = ptx->size ? strstr(ptx->data, from) : NULL;
    if (at && arch >= 10 && arch < 100) memcpy(at, to, strlen(to)); /* two digits as well */
}

static void launch_ptxas(struct ptxas_job *p, unsigned arch) {
    char option[32];
    snprintf(option, sizeof option, "-arch=sm_%u", arch);
    const char *argv[] = {"/cuda/bin/ptxas", option, "-v", "k.ptx", "-o", "k.cubin", NULL};
    struct toolbox t;
    struct err e = {0};
    if (!open_toolbox(&t, &e) || !t.compiler) return;
    struct buf ptx = {0};
    buf_add(&ptx, p->ptx.data, p->ptx.size);
    if (arch < PTX_ARCH) retarget(&ptx, arch);
    struct jail_file file = {"k.ptx", ptx.data, ptx.size};
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = environment,
                           .binds = t.binds,
                           .nbinds = t.n,
                           .files = &file,
                           .nfiles = 1,
                           .limits = limits};
    p->jail = jail_start(&job, &e);
    buf_free(&ptx);
}

struct ptxas_job *ptxas_start(const struct build *b, unsigned arch) {
    struct ptxas_job *p = xcalloc(1, sizeof *p);
    struct hash h;
    p->arch = arch < 75 ? 75 : arch; /* the oldest that the toolkit knows */
    hash_start(&h);
    hash_text(&h, "ptxas 2");
    hash_text(&h, b->key);
    hash_add(&h, &p->arch, sizeof p->arch);
    hash_hex(&h, p->key);
    if (cache_get("ptxas", p->key, &p->text)) return p;
    struct arena a = {0};
    size_t n;
    const char *ptx = find_ptx(&a, &b->object, &n);
    if (ptx) buf_add(&p->ptx, ptx, n), launch_ptxas(p, p->arch);
    arena_free(&a);
    return p;
}

static bool take_ptxas(struct ptxas_job *p) {
    struct jail_result r;
    if (!p->jail) return false;
    jail_wait(p->jail, nvcc_seconds, &r);
    bool ok = r.end == JAIL_EXITED && r.code == 0;
    if (ok) {
        text_clean(&p->text, buf_str(&r.output), r.output.size, 1 << 20);
        cache_put("ptxas", p->key, p->text.data, p->text.size);
    }
    p->jail = NULL;
    jail_result_free(&r);
    return ok;
}

static void parse_line(const char *line, struct ptxas_kernel *now, struct ptxas *out) {
    const char *used = strstr(line, "Used ");
    unsigned stack, stores, loads;
    if (sscanf(line, "ptxas info : Function properties for %511s", now->name) == 1) now->spill_bytes = 0;
    if (sscanf(line, " %u bytes stack frame, %u bytes spill stores, %u bytes spill loads", &stack, &stores, &loads) ==
        3)
        now->spill_bytes = stores + loads;
    if (!text_starts(line, "ptxas info") || !used || sscanf(used, "Used %u registers", &now->registers) != 1) return;
    out->kernels = xrealloc(out->kernels, (out->n + 1) * sizeof *now);
    out->kernels[out->n++] = *now;
}

/* Lines of `ptxas -v`: "Function properties for NAME", then spills, then "Used N registers". */
static void parse_ptxas(const char *text, struct ptxas *out) {
    struct ptxas_kernel now = {0};
    char line[1024];
    while (*text) {
        size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), text);
        parse_line(line, &now, out);
        text += n + (text[n] == '\n');
    }
}

void ptxas_finish(struct ptxas_job *p, struct ptxas *out) {
    *out = (struct ptxas){0};
    /* Code that an older GPU cannot run: what it takes on the grader's own is a fair guess. */
    if (p->jail && !take_ptxas(p) && p->arch < PTX_ARCH) launch_ptxas(p, PTX_ARCH), take_ptxas(p);
    parse_ptxas(buf_str(&p->text), out);
    buf_free(&p->text), buf_free(&p->ptx);
    free(p);
}

void ptxas_free(struct ptxas *p) {
    free(p->kernels);
    *p = (struct ptxas){0};
}
