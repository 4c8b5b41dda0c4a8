/* ptxas.c — see ptxas.h. Its answer is text that names what the submission chose to name (server/ptxas.h reads it). */
#include "grader/grade/ptxas.h"
#include "common/text.h"
#include "grader/grade/cache.h"
#include "grader/grade/toolbox.h"
#include "grader/server/ptxas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_LIMIT = 4 << 20, MESSAGE_LIMIT = 4096 };

struct ptxas_job {
    struct jail *jail; /* NULL: `text` came from the cache */
    struct buf text, ptx;
    unsigned arch;
    bool refused;
    char why[256]; /* our own failure */
    char key[HASH_HEX];
};

/* ptxas takes no PTX of a target that is newer than the GPU, whatever the code uses: so it is told an older
 * one. */
static void retarget(struct buf *ptx, unsigned arch) {
    char from[32], to[32];
    snprintf(from, sizeof from, ".target sm_%u", (unsigned)BUILD_ARCH);
    snprintf(to, sizeof to, ".target sm_%u", arch);
    char *at = ptx->size ? memmem(ptx->data, ptx->size, from, strlen(from)) : NULL;
    if (at && arch >= 10 && arch < 100) memcpy(at, to, strlen(to)); /* two digits as well */
}

static void launch(struct ptxas_job *p, unsigned arch) {
    char option[32];
    snprintf(option, sizeof option, "-arch=sm_%u", arch);
    const char *argv[] = {"/cuda/bin/ptxas", option, "-v", "k.ptx", "-o", "k.cubin", NULL};
    struct toolbox t;
    struct err e = {0};
    if (!build_toolbox(&t, &e) || !t.compiler) {
        snprintf(p->why, sizeof p->why, "%.255s", e.text[0] ? e.text : "there is no ptxas here; run `make setup`");
        return;
    }
    struct buf ptx = {0};
    buf_add(&ptx, p->ptx.data, p->ptx.size);
    if (arch < BUILD_ARCH) retarget(&ptx, arch);
    struct jail_file file = {"k.ptx", ptx.data, ptx.size};
    struct jail_job job = {.kind = JAIL_COMPILER,
                           .argv = argv,
                           .env = build_environment,
                           .binds = t.binds,
                           .nbinds = t.n,
                           .files = &file,
                           .nfiles = 1,
                           .limits = build_limits};
    p->jail = jail_start(&job, &e);
    if (!p->jail) snprintf(p->why, sizeof p->why, "%.250s", e.text);
    buf_free(&ptx);
}

/* In the cache, the first letter says how it ended. */
static bool remembered(struct ptxas_job *p) {
    struct buf entry = {0};
    bool known = cache_get("ptxas", p->key, &entry) && entry.size;
    if (known) {
        p->refused = entry.data[0] == 'R';
        buf_add(&p->text, entry.data + 1, entry.size - 1);
    }
    buf_free(&entry);
    return known;
}

static void remember(const struct ptxas_job *p) {
    struct buf entry = {0};
    buf_puts(&entry, p->refused ? "R" : "A");
    buf_add(&entry, p->text.data, p->text.size);
    cache_put("ptxas", p->key, entry.data, entry.size);
    buf_free(&entry);
}

struct ptxas_job *ptxas_start(const struct build *b, unsigned arch) {
    struct ptxas_job *p = xcalloc(1, sizeof *p);
    struct hash h;
    p->arch = arch < 75 ? 75 : arch; /* the oldest that the toolkit knows */
    hash_start(&h);
    hash_text(&h, "ptxas 3");
    hash_text(&h, b->key);
    hash_add(&h, &p->arch, sizeof p->arch);
    hash_hex(&h, p->key);
    if (remembered(p)) return p;
    buf_add(&p->ptx, b->ptx.data, b->ptx.size);
    launch(p, p->arch);
    return p;
}

static void take(struct ptxas_job *p) {
    struct jail_result r;
    jail_wait(p->jail, BUILD_SECONDS, &r);
    p->jail = NULL;
    buf_clear(&p->text);
    p->refused = r.end == JAIL_EXITED && r.code != 0;
    text_clean(&p->text, buf_str(&r.output), r.output.size, TEXT_LIMIT);
    if (r.end == JAIL_BROKEN) snprintf(p->why, sizeof p->why, "%s", r.why);
    else if (r.end != JAIL_EXITED) { /* a limit: this device code is too much for ptxas */ p->refused = true;
        buf_puts(&p->text, "ptxas used up its time or memory, or crashed, over this device code\n");
    } else remember(p);
    jail_result_free(&r);
}

static void add_kernel(void *user, const struct ptxas_said *k) {
    struct ptxas *out = user;
    out->kernels = xrealloc(out->kernels, (out->n + 1) * sizeof *out->kernels);
    char *copy = xmalloc(k->length + 1);
    memcpy(copy, k->name, k->length);
    copy[k->length] = 0;
    out->kernels[out->n++] = (struct ptxas_kernel){copy, k->registers, k->spill_bytes};
}

/* Only what ptxas says against the code, not its figures. */
static void keep_message(const char *text, struct buf *out) {
    for (size_t n; *text && out->size < MESSAGE_LIMIT; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        if (!text_starts(text, "ptxas info")) buf_add(out, text, n), buf_puts(out, "\n");
    }
}

void ptxas_finish(struct ptxas_job *p, struct ptxas *out) {
    *out = (struct ptxas){0};
    if (p->jail) take(p);
    /* Code that an older GPU cannot run: what it takes on the grader's own is a fair guess. */
    if (p->refused && p->arch < BUILD_ARCH) {
        p->refused = false;
        launch(p, BUILD_ARCH);
        if (p->jail) take(p);
    }
    out->refused = p->refused, out->failed = p->why[0];
    if (p->refused) keep_message(buf_str(&p->text), &out->text);
    else if (p->why[0]) buf_puts(&out->text, p->why);
    else ptxas_read(buf_str(&p->text), add_kernel, out);
    buf_free(&p->text), buf_free(&p->ptx);
    free(p);
}

void ptxas_free(struct ptxas *p) {
    for (unsigned i = 0; i < p->n; i++) free(p->kernels[i].name);
    free(p->kernels);
    buf_free(&p->text);
    *p = (struct ptxas){0};
}
