/* build.c — see build.h; ptxas.c has the second half of a build. The sandbox contains the toolkit
 * at /cuda, the system's compiler and libraries, our runtime library, and the source file in /work,
 * which is also the working directory: messages name the file as the student does, and nothing else
 * can be included. Equal input gives an equal object, wherever the book is installed. */
#include "grader/grade/build.h"
#include "common/file.h"
#include "common/processor.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "common/cache.h"
#include "grader/grade/compiler_jail.h"
#include "grader/grade/host_header.h"
#include "grader/grade/nvcc_phases.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MESSAGE_LIMIT = 16 << 10,
    RUNTIME_LIMIT = 64 << 20,
    PTX_LIMIT = 32 << 20,
    HEADER_LIMIT = 16 << 20
};

const char *const build_environment[] = {
    "PATH=/cuda/bin:/usr/bin", "TMPDIR=/work",        "HOME=/work",
    "LC_ALL=C.UTF-8",          "SOURCE_DATE_EPOCH=0", NULL};
static const char *const flags[] = {PROCESSOR_NVCC_FLAGS "-shared",
                                    "-Xcompiler",
                                    "-fPIC," LINE_TABLE_FLAGS,
                                    "-cudart",
                                    "none",
                                    "-lineinfo",
                                    "--no-compress",
                                    "-keep"};
enum { NFLAGS = sizeof flags / sizeof *flags };
static unsigned extra_target_cc; /* compute capability of the GPU in this machine; 0 = none */
static bool compiler_ignored, shortcuts_ignored, disassembly_enabled;

void build_ignore_compiler(bool ignore) { compiler_ignored = ignore; }

void build_use_shortcuts(bool on) { shortcuts_ignored = !on; }

void build_enable_disassembly(bool on) { disassembly_enabled = on; }

void build_add_target(unsigned cc) { extra_target_cc = cc >= 75 ? cc : 0; }

/* The targets of nvcc: the PTX that we execute; for a GPU in this machine also machine code, and
 * PTX if the GPU is too old for the former. Code for sm_90a runs on no other GPU, so only exercises
 * that need it get it. */
struct build_targets {
    char ptx[64], extra[64]; /* extra: "" = none */
};

static struct build_targets targets_of(const struct build_source *s) {
    struct build_targets t = {.extra = ""};
    const char *a = s->sm_90a ? "a" : "";
    snprintf(t.ptx, sizeof t.ptx, "arch=compute_%d%s,code=compute_%d%s", BUILD_ARCH, a, BUILD_ARCH,
             a);
    if (extra_target_cc == BUILD_ARCH)
        snprintf(t.extra, sizeof t.extra, "arch=compute_%u%s,code=sm_%u%s", extra_target_cc, a,
                 extra_target_cc, a);
    else if (extra_target_cc)
        snprintf(t.extra, sizeof t.extra, "arch=compute_%u,code=[compute_%u,sm_%u]",
                 extra_target_cc, extra_target_cc, extra_target_cc);
    return t;
}

const struct jail_limits build_limits = {.cpu_seconds = BUILD_SECONDS,
                                         .memory_bytes = 2ull << 30,
                                         .file_bytes = 64 << 20,
                                         .work_bytes = 512 << 20,
                                         .max_processes = 64,
                                         .max_fds = 256};

bool build_disassembler(char path[PATH_MAX]) {
    char ignored[PATH_MAX];
    return disassembly_enabled && !compiler_ignored && paths_nvdisasm(path ? path : ignored);
}

/* Returns true, with an error, if the folder contains the book: a submission could include every
 * file that the sandbox shows, and must not see the solutions. */
static bool exposes_book(const struct jail_bind *b, struct err *e) {
    char from[PATH_MAX], book[PATH_MAX];
    if (!realpath(b->from, from) || !realpath(book_root(), book)) return false;
    size_t n = strlen(from);
    if (strncmp(from, book, n) || (book[n] && book[n] != '/')) return false;
    err_set(
        e, ERR_SYSTEM,
        "the book lies in %.300s, below %.300s, which submissions may read; install it elsewhere",
        book, from);
    return true;
}

bool build_compiler_jail(struct compiler_jail *t, struct err *e) {
    struct err ignored = {0};
    t->has_compiler = !compiler_ignored && paths_cuda_toolkit(t->cuda, &ignored);
    if (!file_exists(paths_component("libwbcudart.a", t->library)))
        return err_set(e, ERR_SYSTEM, "%s is missing; %s", t->library,
                       paths_is_installed() ? "install Warpbook again" : "run `make`");
    const struct jail_bind *system = jail_system_binds(JAIL_COMPILER, &t->nbinds);
    memcpy(t->binds, system, t->nbinds * sizeof *system);
    if (t->has_compiler) t->binds[t->nbinds++] = (struct jail_bind){t->cuda, "/cuda", false};
    if (build_disassembler(t->disassembler))
        t->binds[t->nbinds++] = (struct jail_bind){t->disassembler, "/nvdisasm", false};
    t->binds[t->nbinds++] = (struct jail_bind){t->library, "/lib-warpbook/libwbcudart.a", false};
    if (!shortcuts_ignored && file_exists(paths_component("trim_headers", t->trim_headers)))
        t->binds[t->nbinds++] =
            (struct jail_bind){t->trim_headers, "/lib-warpbook/trim_headers", false};
    for (unsigned i = 0; i < t->nbinds; i++)
        if (exposes_book(&t->binds[i], e)) return false;
    return true;
}

/* ---- the key ---- */

/* Hashes a tool's size and time instead of its content: reading the toolkit at each run would take
 * longer than compiling. */
static void hash_tool(struct hash *h, const char *folder, const char *name) {
    char path[PATH_MAX + 64];
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &st) < 0) st.st_size = -1;
    int64_t id[3] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec};
    hash_update(h, id, sizeof id);
}

/* Hashes options and targets; with `with_tools` the compiler, too. */
static void hash_compiler(struct hash *h, const struct compiler_jail *t,
                          const struct build_targets *to, bool with_tools) {
    static const char *const tools[] = {"bin/nvcc", "nvvm/bin/cicc", "bin/cudafe++", "bin/ptxas",
                                        "bin/fatbinary"};
    for (unsigned i = 0; i < NFLAGS; i++) hash_update_string(h, flags[i]);
    hash_update_string(h, to->ptx);
    if (to->extra[0]) hash_update_string(h, to->extra);
    if (!with_tools) return;
    for (unsigned i = 0; i < sizeof tools / sizeof *tools; i++) hash_tool(h, t->cuda, tools[i]);
    hash_tool(h, "/usr/bin", "g++"), hash_tool(h, "/usr/bin", "ld");
    /* What a file may include depends on the sandbox. */
    enum jail_tier tier = jail_current_tier();
    hash_update(h, &tier, sizeof tier);
}

/* Hashes everything that the object depends on; with `with_tools` the compiler, too. */
static bool make_key(const struct compiler_jail *t, const struct build_source *s, bool with_tools,
                     char key[HASH_HEX_SIZE], struct err *e) {
    struct hash h;
    struct buf library = {0};
    struct build_targets to = targets_of(s);
    bool ok = file_read(t->library, RUNTIME_LIMIT, &library, e);
    hash_init(&h);
    hash_update_string(&h, with_tools ? "object 3" : "carried 3");
    hash_compiler(&h, t, &to, with_tools);
    hash_update(&h, library.data, library.size);
    hash_update_string(&h, s->name);
    hash_update(&h, s->text, s->size);
    hash_final_hex(&h, key);
    buf_free(&library);
    return ok;
}

/* ---- the cached form: a line with ok (0 or 1), three sizes and the image's digest; then object,
 * PTX, messages ---- */

static void store_object(const struct build *b) {
    struct buf entry = {0};
    buf_printf(&entry, "%d %zu %zu %zu %s\n", b->ok, b->object.size, b->ptx.size, b->messages.size,
               b->image[0] ? b->image : "-");
    buf_add(&entry, b->object.data, b->object.size);
    buf_add(&entry, b->ptx.data, b->ptx.size);
    buf_add(&entry, b->messages.data, b->messages.size);
    cache_put("obj", b->key, entry.data, entry.size);
    buf_free(&entry);
}

static bool fetch_object(struct build *b) {
    struct buf entry = {0};
    int ok, head = 0;
    size_t object, ptx, messages;
    bool found = cache_get("obj", b->key, &entry) &&
                 sscanf(entry.data, "%d %zu %zu %zu %64s%n", &ok, &object, &ptx, &messages,
                        b->image, &head) == 5 &&
                 (size_t)head + 1 + object + ptx + messages == entry.size;
    if (found) {
        const char *at = entry.data + head + 1;
        b->ok = ok, b->cached = true, b->end = JAIL_EXITED;
        buf_add(&b->object, at, object);
        buf_add(&b->ptx, at + object, ptx);
        buf_add(&b->messages, at + object + ptx, messages);
    }
    buf_free(&entry);
    return found;
}

/* ---- the compiler ---- */

bool build_was_out_of_time(const struct jail_result *r) {
    bool failed = r->outcome == JAIL_EXITED && r->code != 0;
    return r->outcome == JAIL_TIMEOUT || (failed && r->code == 128 + SIGXCPU) ||
           (failed && strstr(buf_str(&r->output), "died due to signal 24 "));
}

static const char *end_reason(const struct jail_result *r) {
    if (build_was_out_of_time(r)) return "the compiler ran for more than 60 s and was stopped";
    switch (r->outcome) {
    case JAIL_OUTPUT_LIMIT: return "the compiler wrote more than 64 MiB and was stopped";
    case JAIL_VIOLATION:
        return "the sandbox stopped the compiler at a system call that compiling does not need";
    case JAIL_MEMORY_LIMIT: return "the compiler ran out of memory and was stopped";
    case JAIL_SIGNALLED: return "the compiler crashed or ran out of memory";
    default: return NULL;
    }
}

/* A limit of the sandbox would have its own outcome. The OS kills a process when the memory of the
 * machine or container runs out; nvcc reports that of its parts in words, a shell by its status. */
bool build_was_killed_by_os(const struct jail_result *r) {
    bool failed = r->outcome == JAIL_EXITED && r->code != 0;
    return r->outcome == JAIL_SYSTEM_OOM ||
           (r->outcome == JAIL_SIGNALLED && r->signal == SIGKILL) ||
           (failed && r->code == 128 + SIGKILL) ||
           (failed && strstr(buf_str(&r->output), "died due to signal 9 "));
}

bool build_could_not_start(const struct jail_result *r) {
    return r->outcome == JAIL_EXITED && (r->code == 126 || r->code == 127);
}

/* Sets the error if the compiler ended for a reason that isn't the submission's. */
static bool check_machine(const struct compiler_jail *t, const struct jail_result *r,
                          struct err *e) {
    if (r->outcome == JAIL_INTERNAL_ERROR) return err_set(e, ERR_SYSTEM, "%s", r->reason);
    if (build_was_killed_by_os(r))
        return err_set(e, ERR_SYSTEM, "the system killed the compiler because memory ran out");
    return !build_could_not_start(r) ||
           err_set(
               e, ERR_SYSTEM,
               "the sandbox can't run the compiler in %.300s; its user needs execute permission "
               "for every folder above it (move the tree out of /root, or chmod o+x them)",
               t->cuda);
}

static void take_result(struct jail_result *r, struct build *out) {
    out->end = r->outcome;
    out->reason = end_reason(r);
    out->ok = r->outcome == JAIL_EXITED && r->code == 0 && r->has_out_file[0] &&
              r->has_out_file[1] && r->has_out_file[2];
    if (out->ok && r->out_files[1].size > PTX_LIMIT)
        out->ok = false, out->reason = "the device code is more than 32 MiB of PTX";
    struct buf clean = {0};
    text_clean(&clean, buf_str(&r->output), r->output.size, MESSAGE_LIMIT);
    text_replace(&clean, "/work/", "");
    out->messages = clean;
    if (!out->ok) return;
    buf_add(&out->object, r->out_files[0].data, r->out_files[0].size);
    buf_add(&out->ptx, r->out_files[1].data, r->out_files[1].size);
    struct hash h;
    hash_init(&h);
    hash_update(&h, r->out_files[2].data, r->out_files[2].size);
    hash_final_hex(&h, out->image);
}

/* Files that nvcc keeps next to its output: the PTX, the fat binary that it embeds, the module ID.
 */
struct nvcc_outputs {
    char ptx[160], image[160], module_id[160];
};

static void name_nvcc_outputs(struct nvcc_outputs *k, const struct build_source *s) {
    int stem = (int)strlen(s->name) - 3; /* without .cu */
    bool several = extra_target_cc && extra_target_cc != BUILD_ARCH;
    snprintf(k->image, sizeof k->image, "%.*s.fatbin", stem, s->name);
    snprintf(k->module_id, sizeof k->module_id, "%.*s.module_id", stem, s->name);
    if (several)
        snprintf(k->ptx, sizeof k->ptx, "%.*s.compute_%d%s.ptx", stem, s->name, BUILD_ARCH,
                 s->sm_90a ? "a" : "");
    else snprintf(k->ptx, sizeof k->ptx, "%.*s.ptx", stem, s->name);
}

/* Sets `id` to the module ID of a build of the same path whose functions had the same signatures;
 * "" = unknown, as always where the sandbox's folder has another path each time. */
static void load_module_id(const struct build_source *s, char key[HASH_HEX_SIZE],
                           char id[MODULE_ID_SIZE]) {
    struct hash h;
    struct buf entry = {0};
    id[0] = 0;
    hash_init(&h);
    hash_update_string(&h, "module ID 1");
    hash_update_string(&h, s->name);
    nvcc_phases_hash_signatures(&h, s->text, s->size);
    hash_final_hex(&h, key);
    bool known = jail_current_tier() == JAIL_NAMESPACES && cache_get("module", key, &entry) &&
                 nvcc_phases_is_module_id(buf_str(&entry), entry.size);
    if (known) snprintf(id, MODULE_ID_SIZE, "%s", buf_str(&entry));
    buf_free(&entry);
}

static void store_module_id(const char key[HASH_HEX_SIZE], const struct jail_result *r) {
    const struct buf *id = &r->out_files[3];
    if (r->has_out_file[3] && jail_current_tier() == JAIL_NAMESPACES &&
        nvcc_phases_is_module_id(buf_str(id), id->size))
        cache_put("module", key, id->data, id->size);
}

enum { MAX_NVCC_ARGS = NFLAGS + 16 };

/* Sets the arguments of nvcc_phases_script, or of one that takes the same. */
static void make_nvcc_command(const char *argv[MAX_NVCC_ARGS], const char *script,
                              const char *module_id, const struct build_targets *to,
                              const char *name) {
    unsigned n = 0;
    argv[n++] = "/bin/sh", argv[n++] = "-c", argv[n++] = script, argv[n++] = "sh";
    argv[n++] = module_id, argv[n++] = "/cuda/bin/nvcc";
    for (unsigned i = 0; i < NFLAGS; i++) argv[n++] = flags[i];
    argv[n++] = "-gencode", argv[n++] = to->ptx;
    if (to->extra[0]) argv[n++] = "-gencode", argv[n++] = to->extra;
    argv[n++] = name;
    argv[n++] = "/lib-warpbook/libwbcudart.a";
    argv[n++] = "-o", argv[n++] = "out.so", argv[n] = NULL;
}

/* Adds the precompiled header to the sandbox. It needs namespaces, which give it a fixed path. */
static void add_host_header(struct compiler_jail *t, const struct build_targets *to,
                            struct host_header *header) {
    const char *argv[MAX_NVCC_ARGS];
    char key[HASH_HEX_SIZE];
    struct hash h;
    if (shortcuts_ignored || jail_current_tier() != JAIL_NAMESPACES) return;
    hash_init(&h);
    hash_update_string(&h, "host header 5");
    hash_compiler(&h, t, to, true);
    hash_final_hex(&h, key);
    char *script = host_header_script();
    make_nvcc_command(argv, script, "", to, host_header_source);
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = build_environment,
                           .binds = t->binds,
                           .nbinds = t->nbinds,
                           .limits = build_limits};
    host_header_prepare(header, key, &job);
    free(script);
    for (unsigned i = 0; i < header->nbinds; i++) t->binds[t->nbinds++] = header->binds[i];
}

static bool compile(struct compiler_jail *t, const struct build_source *s, struct build *out,
                    struct err *e) {
    struct build_targets to = targets_of(s);
    struct host_header header;
    char module_key[HASH_HEX_SIZE], module_id[MODULE_ID_SIZE];
    const char *argv[MAX_NVCC_ARGS];
    load_module_id(s, module_key, module_id);
    add_host_header(t, &to, &header);
    make_nvcc_command(argv, nvcc_phases_script, module_id, &to, s->name);
    struct nvcc_outputs nvcc_files;
    name_nvcc_outputs(&nvcc_files, s);
    struct jail_file file = {s->name, s->text, s->size};
    struct jail_job job = {
        .kind = JAIL_COMPILER,
        .argv = argv,
        .env = build_environment,
        .binds = t->binds,
        .nbinds = t->nbinds,
        .files = &file,
        .nfiles = 1,
        .out_files = {"out.so", nvcc_files.ptx, nvcc_files.image, nvcc_files.module_id},
        .limits = build_limits};
    struct jail *j = jail_start(&job, e);
    if (!j) return false;
    struct jail_result r;
    jail_wait(j, BUILD_WALL_SECONDS, &r);
    bool ok = check_machine(t, &r, e);
    if (ok) take_result(&r, out);
    if (ok && out->ok && !module_id[0]) store_module_id(module_key, &r);
    jail_result_free(&r);
    return ok;
}

/* ---- objects compiled on another machine ---- */

/* Returns the release, 13000 for CUDA 13.0; 0 = no toolkit, or unknown. */
static unsigned cuda_release(const struct compiler_jail *t) {
    static const char marker[] = "#define CUDA_VERSION ";
    char path[PATH_MAX + 32];
    struct buf text = {0};
    struct err ignored = {0};
    unsigned version = 0;
    snprintf(path, sizeof path, "%s/include/cuda.h", t->cuda);
    if (t->has_compiler && file_read(path, HEADER_LIMIT, &text, &ignored)) {
        const char *at = strstr(buf_str(&text), marker);
        if (at) version = (unsigned)strtoul(at + sizeof marker - 1, NULL, 10);
    }
    buf_free(&text);
    return version;
}

/* Fetches an object that a compiler on another machine made, by the key without tools. If this
 * machine has a compiler, it must be of the same release. */
static bool fetch_portable(const struct compiler_jail *t, const struct build_source *s,
                           struct build *out, struct err *e) {
    char key[HASH_HEX_SIZE], object_key[HASH_HEX_SIZE] = "";
    struct buf entry = {0};
    unsigned compiler_release = 0;
    if (!make_key(t, s, false, key, e)) return false;
    bool ok = cache_get("carried", key, &entry) &&
              sscanf(buf_str(&entry), "%64s %u", object_key, &compiler_release) == 2 &&
              (!t->has_compiler || compiler_release == cuda_release(t));
    buf_free(&entry);
    if (ok) memcpy(out->key, object_key, sizeof object_key);
    return ok && fetch_object(out);
}

static void store_portable(const struct compiler_jail *t, const struct build_source *s,
                           const struct build *b) {
    char key[HASH_HEX_SIZE], text[HASH_HEX_SIZE + 16];
    struct err ignored = {0};
    int n = snprintf(text, sizeof text, "%s %u", b->key, cuda_release(t));
    if (make_key(t, s, false, key, &ignored)) cache_put("carried", key, text, (size_t)n);
}

static bool set_no_toolkit_error(const char *name, struct err *e) {
    struct err reason = {0};
    char ignored[PATH_MAX];
    if (paths_cuda_toolkit(ignored, &reason))
        err_set(&reason, ERR_SYSTEM, "the compiler is disabled");
    return err_set(e, ERR_SYSTEM, "%s was not compiled before, and %s%s", name, reason.text,
                   paths_is_installed() ? "" : ", or `make gpu-carry` where there is a compiler");
}

bool build_run(const struct build_source *s, struct build *out, struct err *e) {
    char key[HASH_HEX_SIZE];
    *out = (struct build){0};
    struct compiler_jail t;
    if (!build_compiler_jail(&t, e)) return false;
    if (!t.has_compiler) return fetch_portable(&t, s, out, e) || set_no_toolkit_error(s->name, e);
    if (!make_key(&t, s, true, key, e)) return false;
    memcpy(out->key, key, sizeof key);
    if (fetch_object(out) || fetch_portable(&t, s, out, e)) return true;
    memcpy(out->key, key, sizeof key);
    if (!compile(&t, s, out, e)) return false;
    /* After a limit, the next attempt may end differently. */
    if (out->end == JAIL_EXITED) store_object(out);
    return true;
}

bool build_find_key(const struct build_source *s, char key[HASH_HEX_SIZE]) {
    struct compiler_jail t;
    struct err ignored = {0};
    return build_compiler_jail(&t, &ignored) && t.has_compiler &&
           make_key(&t, s, true, key, &ignored);
}

bool build_run_portable(const struct build_source *s, struct build *out, struct err *e) {
    struct compiler_jail t;
    if (!build_run(s, out, e) || !build_compiler_jail(&t, e)) return false;
    if (out->ok && t.has_compiler) store_portable(&t, s, out);
    return true;
}

void build_free(struct build *b) {
    buf_free(&b->object);
    buf_free(&b->ptx);
    buf_free(&b->messages);
}
