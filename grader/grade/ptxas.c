/* ptxas.c — see ptxas.h. server/ptxas.c parses the output of ptxas. */
#include "grader/grade/ptxas.h"
#include "common/text.h"
#include "grader/grade/build.h"
#include "common/cache.h"
#include "grader/grade/compiler_jail.h"
#include "grader/server/ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 4 << 20, MESSAGE_LIMIT = 4096 };

/* If machine code is needed: runs ptxas with line numbers, then the disassembler. If that fails or
 * takes too long, there is no listing. Paths are arguments, so that the sandbox translates them. */
static const char disassemble_script[] =
    "\"$1\" \"$2\" -lineinfo -v k.ptx -o k.cubin || exit\n"
    "ulimit -t 15; ulimit -f 65536\n"
    "\"$3\" -ndf -c -gp -hex k.cubin >k.sass 2>/dev/null || rm -f k.sass";
/* A shell exits with 128 + N if signal N ended its command; ptxas itself exits with 255 after an
 * error. */
enum { SIGNAL_STATUS_BASE = 128, MAX_SIGNALS = 64 };

struct ptxas_job {
    struct jail *jail; /* NULL: `text` came from the cache */
    struct buf text;
    struct buf code; /* struct sass_insn records */
    bool refused, disassembles;
    char reason[256]; /* our own failure */
    char key[HASH_HEX_SIZE];
};

/* Lowers the target in the PTX to an older GPU: ptxas rejects newer targets whatever the code uses.
 * With sm_90a code, ptxas then names the instructions that the older GPU lacks. */
static void retarget(struct buf *ptx, unsigned arch) {
    char from[32], to[32];
    snprintf(from, sizeof from, ".target sm_%u", (unsigned)BUILD_ARCH);
    snprintf(to, sizeof to, ".target sm_%u", arch);
    char *at = ptx->size ? memmem(ptx->data, ptx->size, from, strlen(from)) : NULL;
    if (at && arch >= 10 && arch < 100) memcpy(at, to, strlen(to)); /* two digits as well */
    at = at ? at + strlen(from) : NULL;
    if (at && *at == 'a') *at = ' ';
}

static bool is_sm_90a(const struct buf *ptx) {
    return ptx->size && memmem(ptx->data, ptx->size, ".target sm_90a", strlen(".target sm_90a"));
}

static void start_jail(struct ptxas_job *p, const struct buf *text, unsigned arch) {
    char option[32];
    snprintf(option, sizeof option, "-arch=sm_%u%s", arch,
             arch == BUILD_ARCH && is_sm_90a(text) ? "a" : "");
    const char *ptxas_argv[] = {"/cuda/bin/ptxas", option, "-v", "k.ptx", "-o", "k.cubin", NULL};
    const char *script_argv[] = {"/bin/sh",         "-c",   disassemble_script, "sh",
                                 "/cuda/bin/ptxas", option, "/nvdisasm",        NULL};
    struct compiler_jail t;
    struct err e = {0};
    bool ok = build_compiler_jail(&t, &e) && t.has_compiler;
    if (!ok) {
        snprintf(p->reason, sizeof p->reason, "%.255s",
                 e.text[0] ? e.text : "there is no ptxas; run `make setup`");
        return;
    }
    struct buf ptx = {0};
    buf_add(&ptx, text->data, text->size);
    if (arch < BUILD_ARCH) retarget(&ptx, arch);
    struct jail_file file = {"k.ptx", ptx.data, ptx.size};
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = p->disassembles ? script_argv : ptxas_argv,
                           .env = build_environment,
                           .binds = t.binds,
                           .nbinds = t.nbinds,
                           .files = &file,
                           .nfiles = 1,
                           .out_files = {p->disassembles ? "k.sass" : NULL},
                           .limits = build_limits};
    p->jail = jail_start(&job, &e);
    if (!p->jail) snprintf(p->reason, sizeof p->reason, "%.250s", e.text);
    buf_free(&ptx);
}

/* A cache entry is a line with how ptxas ended and the bytes of text; then the text; then records
 * of machine code. A: accepted without disassembly; N: accepted with disassembly, whose records
 * follow, if any; R: rejected. */
static bool load_cached(struct ptxas_job *p) {
    struct buf entry = {0};
    char end;
    size_t text;
    int head = 0;
    bool hit = cache_get("ptxas", p->key, &entry) &&
               sscanf(buf_str(&entry), "%c%zu%n", &end, &text, &head) == 2 && text <= entry.size &&
               (size_t)head + 1 + text <= entry.size;
    if (hit) {
        p->refused = end == 'R';
        hit = end != 'A' || !p->disassembles;
    }
    if (hit) {
        buf_add(&p->text, entry.data + head + 1, text);
        if (p->disassembles)
            buf_add(&p->code, entry.data + head + 1 + text, entry.size - head - 1 - text);
    }
    buf_free(&entry);
    return hit;
}

static void store_cached(const struct ptxas_job *p) {
    struct buf entry = {0};
    buf_printf(&entry, "%c%zu\n", p->refused ? 'R' : p->disassembles ? 'N' : 'A', p->text.size);
    buf_add(&entry, p->text.data, p->text.size);
    buf_add(&entry, p->code.data, p->code.size);
    cache_put("ptxas", p->key, entry.data, entry.size);
    buf_free(&entry);
}

struct ptxas_job *ptxas_start(const struct build *b, unsigned arch) {
    struct ptxas_job *p = xcalloc(1, sizeof *p);
    struct hash h;
    if (arch < 75) arch = 75; /* the oldest that the toolkit knows */
    hash_init(&h);
    hash_update_string(&h, "ptxas 10");
    p->disassembles = build_disassembler(NULL);
    hash_update_string(&h, b->key);
    hash_update(&h, &arch, sizeof arch);
    hash_final_hex(&h, p->key);
    if (!load_cached(p)) start_jail(p, &b->ptx, arch);
    return p;
}

/* A listing that is none costs the model its best source, and nothing else. */
static void parse_listing(struct ptxas_job *p, const struct buf *listing) {
    struct sass_insn *code;
    struct err ignored = {0};
    uint32_t n;
    buf_clear(&p->code);
    if (!sass_parse(buf_str(listing), listing->size, &code, &n, &ignored)) return;
    buf_add(&p->code, code, n * sizeof *code);
    free(code);
}

static void collect_result(struct ptxas_job *p) {
    struct jail_result r;
    jail_wait(p->jail, BUILD_WALL_SECONDS, &r);
    p->jail = NULL;
    buf_clear(&p->text);
    bool exited = r.outcome == JAIL_EXITED &&
                  (r.code < SIGNAL_STATUS_BASE || r.code > SIGNAL_STATUS_BASE + MAX_SIGNALS);
    p->refused = exited && r.code != 0;
    text_clean(&p->text, buf_str(&r.output), r.output.size, TEXT_LIMIT);
    if (r.has_out_file[0]) parse_listing(p, &r.out_files[0]);
    if (r.outcome == JAIL_INTERNAL_ERROR) snprintf(p->reason, sizeof p->reason, "%s", r.reason);
    else if (build_was_killed_by_os(&r))
        p->refused = false,
        snprintf(p->reason, sizeof p->reason, "the system killed ptxas because memory ran out");
    else if (!exited) { /* by a limit: this device code is too much for ptxas */ p->refused = true;
        buf_puts(&p->text, "ptxas ran out of time or memory, or crashed, on this device code\n");
    } else store_cached(p);
    jail_result_free(&r);
}

static void parse_kernels(const char *text, struct ptxas *out) {
    struct ptxas_usage f;
    while ((text = ptxas_parse_next(text, &f))) {
        out->kernels = xrealloc(out->kernels, (out->nkernels + 1) * sizeof *out->kernels);
        char *name = xmalloc(f.length + 1);
        memcpy(name, f.name, f.length);
        name[f.length] = 0;
        out->kernels[out->nkernels++] = (struct ptxas_kernel){name, f.registers, f.spill_bytes};
    }
}

static void copy_code(const struct buf *from, struct ptxas *out) {
    struct sass_insn *code = xcalloc(from->size / sizeof *code + 1, sizeof *code);
    uint32_t n = (uint32_t)(from->size / sizeof *code);
    memcpy(code, buf_str(from), n * sizeof *code);
    if (n && sass_valid(code, n)) out->code = code, out->ncode = n;
    else free(code);
}

/* Copies ptxas' errors and warnings, without its "ptxas info" lines. */
static void copy_message(const char *text, struct buf *out) {
    for (size_t n; *text && out->size < MESSAGE_LIMIT; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (!text_starts_with(text, "ptxas info")) buf_add(out, text, n), buf_puts(out, "\n");
    }
}

void ptxas_finish(struct ptxas_job *p, struct ptxas *out) {
    *out = (struct ptxas){0};
    if (p->jail) collect_result(p);
    out->refused = p->refused, out->failed = p->reason[0];
    if (p->refused) copy_message(buf_str(&p->text), &out->text);
    else if (p->reason[0]) buf_puts(&out->text, p->reason);
    else parse_kernels(buf_str(&p->text), out), copy_code(&p->code, out);
    buf_free(&p->text), buf_free(&p->code);
    free(p);
}

void ptxas_free(struct ptxas *p) {
    for (unsigned i = 0; i < p->nkernels; i++) free(p->kernels[i].name);
    free(p->kernels), free(p->code);
    buf_free(&p->text);
    *p = (struct ptxas){0};
}
