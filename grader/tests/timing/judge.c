/* judge.c — holds the time model against published results: every row of cases.def, launched on the
 * simulator by sample, as Markdown; with --ablation also the error with each term left out.
 *
 *   build/tests/judge [--ablation] [--only TEXT] [--verbose] CUDA-FOLDER CACHE-FOLDER
 *
 * Kernels are compiled by nvcc for the device's architecture, registers come from ptxas. */
#include "common/buf.h"
#include "common/clock.h"
#include "common/file.h"
#include "grader/server/ptxas.h"
#include "grader/sim/timing/timing.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIT, TEST };
struct row {
    const char *group, *device, *source; /* of a GROUP row; then label is NULL */
    int set;
    const char *label, *file, *kernel;
    unsigned gx, gy, bx, by;
    const char *args;
    double published;
};
static const struct row rows[] = {
#define GROUP(name, device, set, source) {name, device, source, set, 0, 0, 0, 0, 0, 0, 0, 0, 0},
#define CASE(label, file, kernel, gx, gy, bx, by, args, published) \
    {0, 0, 0, -1, label, file, kernel, gx, gy, bx, by, args, published},
#define CASE_FIT(label, file, kernel, gx, gy, bx, by, args, published) \
    {0, 0, 0, FIT, label, file, kernel, gx, gy, bx, by, args, published},
#include "grader/tests/timing/cases.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct {
    const char *name;
    unsigned bit;
} terms[] = {
#define X(id, text) {text, TERM_BIT(id)},
    TIME_TERMS(X)
#undef X
};
enum { TERMS = sizeof terms / sizeof *terms };

struct setting {
    const char *cuda, *cache, *only;
    bool ablation, verbose;
};

static void fail(const char *what, const char *why) {
    fprintf(stderr, "judge: %s: %s\n", what, why);
    exit(1);
}

/* ---- one launch ---- */

static void ptx_of(const struct setting *o, const char *file, const struct gpu_device *d,
                   struct buf *out) {
    char path[PATH_MAX], command[3 * PATH_MAX];
    struct err e = {0};
    unsigned arch = d->cc_major * 10 + d->cc_minor;
    if (arch < 75) arch = 75; /* the oldest that the toolkit emits */
    snprintf(path, sizeof path, "%s/%s.%u.ptx", o->cache, file, arch);
    snprintf(command, sizeof command,
             "test %s -nt grader/tests/timing/%s.cu || %s/bin/nvcc -ptx -O3 -arch=compute_%u -o %s "
             "grader/tests/timing/%s.cu",
             path, file, o->cuda, arch, path, file);
    if (!dir_make(o->cache, &e) || system(command) || !file_read(path, 16 << 20, out, &e))
        fail(file, e.text);
}

struct arguments {
    unsigned char bytes[256];
    unsigned n;
};

static void put(struct arguments *a, const void *value, unsigned size) {
    a->n = (a->n + size - 1) / size * size;
    memcpy(a->bytes + a->n, value, size);
    a->n += size;
}

/* Bytes of a distribution, see cases.def; the same in every run. */
static unsigned char next_byte(char kind, uint64_t i, uint64_t *state) {
    static double below[256]; /* of weights k^-1.5: which part is at most this value */
    if (kind == 'r' && i % 8192) return (unsigned char)(*state >> 32);
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    unsigned char uniform = (unsigned char)(*state >> 32);
    if (kind != 'z') return uniform;
    for (unsigned k = 0; !below[255] && k < 256; k++)
        below[k] = (k ? below[k - 1] : 0) + pow(k + 1.0, -1.5);
    double x = (double)(*state >> 11) * 0x1p-53 * below[255];
    unsigned v = 0;
    while (v < 255 && below[v] < x) v++;
    return (unsigned char)v;
}

static uint64_t make_buffer(struct sim *s, char kind, uint64_t bytes) {
    uint64_t at = sim_alloc(s, bytes, "buffer"), state = 1;
    if (!at || sim_fill(s, at, 0, bytes) != SIM_OK) fail("buffer", "out of memory");
    unsigned char *data = kind == 'b' ? NULL : malloc(bytes);
    for (uint64_t i = 0; data && i < bytes; i++) data[i] = next_byte(kind, i, &state);
    if (data && sim_write(s, at, data, bytes) != SIM_OK) fail("buffer", "cannot be written");
    free(data);
    return at;
}

static void make_arguments(struct sim *s, const char *text, struct arguments *a) {
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        if (strchr("buzr", *word)) {
            uint64_t at = make_buffer(s, *word, strtoull(word + 1, NULL, 10));
            put(a, &at, 8);
        } else if (*word == 'l') {
            uint64_t v = strtoull(word + 1, NULL, 10);
            put(a, &v, 8);
        } else if (*word == 'i') {
            int v = atoi(word + 1);
            put(a, &v, 4);
        } else {
            float v = (float)atof(word + 1);
            put(a, &v, 4);
        }
    }
}

/* Modelled times of a row: with all terms, then without each. Returns how many were computed. */
static void model_row(const struct setting *o, const struct row *r, const struct gpu_device *d,
                      struct time_estimate *t, unsigned n) {
    struct err e = {0};
    struct buf ptx = {0};
    struct sim_options so = {.device = d, .memory_limit = 4ull << 30};
    struct sim *s = sim_open(&so, &e);
    if (!s) fail(r->label, e.text);
    ptx_of(o, r->file, d, &ptx);
    struct sim_module *m = sim_load(s, ptx.data, ptx.size, &e);
    char ptxas[PATH_MAX];
    unsigned arch = d->cc_major * 10 + d->cc_minor;
    snprintf(ptxas, sizeof ptxas, "%s/bin/ptxas", o->cuda);
    if (!m ||
        !ptxas_set_registers(m, ptx.data, ptx.size, arch < 75 ? 75 : arch, ptxas, o->cache, &e))
        fail(r->label, e.text);
    struct arguments a = {.n = 0};
    make_arguments(s, r->args, &a);
    struct sim_launch l = {.kernel = sim_find_kernel(m, r->kernel),
                           .grid = {r->gx, r->gy, 1},
                           .block = {r->bx, r->by, 1},
                           .params = a.bytes,
                           .param_bytes = a.n};
    if (!l.kernel) fail(r->kernel, "no such kernel");
    if (sim_check_launch(s, &l, &e)) fail(r->kernel, e.text);
    for (unsigned i = 0; i < n; i++) {
        struct sim_result result;
        struct time_options to = {.disabled_terms = i ? terms[i - 1].bit : 0, .warm_l2 = true};
        if (!time_launch(s, &l, &to, &result, &t[i]))
            fail(r->label, result.nreports ? result.reports[0].text : "not sampled");
        sim_result_free(&result);
    }
    sim_close(s);
    buf_free(&ptx);
}

/* ---- the table ---- */

struct errors {
    double time[2][ROWS], speedup[2][ROWS]; /* |log ratio|, by set */
    unsigned ntime[2], nspeedup[2], orders, kept, inside, intervals;
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(const double *v, unsigned n) {
    double sorted[ROWS];
    if (!n) return 0;
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
static double worst(const double *v, unsigned n) {
    double w = 0;
    for (unsigned i = 0; i < n; i++) w = v[i] > w ? v[i] : w;
    return w;
}
/* As a factor's distance from 1: an error of 0.20 is 20 % too long or 1/1.2 too short. */
static double factor_error(double log_ratio) { return exp(fabs(log_ratio)) - 1; }

struct group_state {
    const struct row *group;
    double published[ROWS], modelled[ROWS];
    unsigned n;
};

static void end_group(const struct group_state *g, struct errors *e) {
    for (unsigned i = 0; i < g->n; i++)
        for (unsigned j = 0; j < i; j++) {
            double p = log(g->published[i] / g->published[j]),
                   m = log(g->modelled[i] / g->modelled[j]);
            if (fabs(p) < 0.05) continue; /* told to be the same */
            e->orders++;
            e->kept += p * m > 0;
        }
}

static void one_row(const struct setting *o, const struct row *r, struct group_state *g,
                    struct errors *e, double log_times[TERMS + 1][ROWS], unsigned index) {
    struct time_estimate t[TERMS + 1];
    double start = clock_seconds();
    unsigned n = o->ablation ? TERMS + 1 : 1;
    model_row(o, r, device_find(g->group->device), t, n);
    double took = clock_seconds() - start, us = t[0].seconds * 1e6;
    bool times = r->published > 0;
    double published = times ? r->published : 1 / -r->published;
    g->published[g->n] = published, g->modelled[g->n++] = us;
    int set = r->set < 0 ? g->group->set : r->set;
    double ratio = g->modelled[0] / us, told = g->published[0] / published,
           error = log(us / published), speedup = log(ratio / told);
    if (times) e->time[set][e->ntime[set]++] = factor_error(error);
    if (g->n > 1 && times) e->speedup[set][e->nspeedup[set]++] = factor_error(speedup);
    if (times)
        e->intervals++, e->inside += published >= t[0].low * 1e6 && published <= t[0].high * 1e6;
    char first[64] = "", second[64] = "";
    if (times) snprintf(first, sizeof first, "%.1f", published);
    if (times) snprintf(second, sizeof second, "%+.0f %%", 100 * (us / published - 1));
    printf(
        "| %s | %s | %.1f (%.1f–%.1f) | %s | %.2f | %.2f | %+.0f %% | %s, %.0f %%; %s, %.0f %% |\n",
        r->label, first, us, t[0].low * 1e6, t[0].high * 1e6, second, told, ratio,
        100 * (ratio / told - 1), t[0].bound_by[0], 100 * t[0].share[0], t[0].bound_by[1],
        100 * t[0].share[1]);
    if (o->verbose)
        printf("<!-- third: %s %.0f %%; L1 hits %.2f, L2 hits %.2f, DRAM %.0f MB; %.2f s%s%s -->\n",
               t[0].bound_by[2], 100 * t[0].share[2], t[0].l1_hit_rate, t[0].l2_hit_rate,
               t[0].dram_bytes * 1e-6, took, *t[0].uncertainty_note ? "; " : "",
               t[0].uncertainty_note);
    fflush(stdout);
    for (unsigned i = 0; i < n; i++) log_times[i][index] = log(t[i].seconds * 1e6);
}

static void summary(const struct errors *e) {
    static const char *const names[] = {"fitted on", "not fitted on"};
    printf(
        "\n| rows | times: median, worst error | speedups: median, worst error |\n|---|---|---|\n");
    for (int s = 0; s < 2; s++)
        printf("| %s | %.0f %%, %.0f %% (%u) | %.0f %%, %.0f %% (%u) |\n", names[s],
               100 * median(e->time[s], e->ntime[s]), 100 * worst(e->time[s], e->ntime[s]),
               e->ntime[s], 100 * median(e->speedup[s], e->nspeedup[s]),
               100 * worst(e->speedup[s], e->nspeedup[s]), e->nspeedup[s]);
    printf("\nPairs whose published order is kept: %u of %u. Published times inside the interval: "
           "%u of %u.\n",
           e->kept, e->orders, e->inside, e->intervals);
}

static void ablation(double log_times[TERMS + 1][ROWS]) {
    printf("\n| left out | times: median, worst error | speedups: median, worst error "
           "|\n|---|---|---|\n");
    for (unsigned k = 0; k <= TERMS; k++) {
        double te[ROWS], se[ROWS], base = 0, told = 0;
        unsigned nt = 0, ns = 0, inside = 0;
        for (unsigned i = 0; i < ROWS; i++) {
            if (!rows[i].label) inside = 0;
            if (!rows[i].label || isnan(log_times[0][i])) continue;
            double p = log(rows[i].published > 0 ? rows[i].published : -1 / rows[i].published);
            if (rows[i].published > 0) te[nt++] = factor_error(log_times[k][i] - p);
            if (rows[i].published < 0) continue;
            if (inside++) se[ns++] = factor_error((log_times[k][i] - base) - (p - told));
            else base = log_times[k][i], told = p;
        }
        printf("| %s | %.0f %%, %.0f %% | %.0f %%, %.0f %% |\n", k ? terms[k - 1].name : "nothing",
               100 * median(te, nt), 100 * worst(te, nt), 100 * median(se, ns),
               100 * worst(se, ns));
    }
}

static void judge(const struct setting *o) {
    static struct group_state g;
    static struct errors e;
    static double log_times[TERMS + 1][ROWS];
    for (unsigned i = 0; i < ROWS; i++) log_times[0][i] = NAN;
    const struct row *group = NULL;
    for (unsigned i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        if (r->group) {
            end_group(&g, &e);
            g = (struct group_state){.group = group = r};
            bool skip = o->only && !strstr(r->group, o->only);
            if (skip) group = NULL;
            else
                printf("\n**%s** (%s). Source: %s.\n\n| case | published, µs | modelled, µs "
                       "(interval) | "
                       "error | published speedup | modelled | error | bound by "
                       "|\n|---|---|---|---|---|---|---|---|\n",
                       r->group, r->set == FIT ? "fitted on" : "not fitted on", r->source);
        } else if (group) one_row(o, r, &g, &e, log_times, i);
    }
    end_group(&g, &e);
    summary(&e);
    if (o->ablation) ablation(log_times);
}

int main(int argc, char **argv) {
    struct setting o = {.cuda = NULL};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--ablation")) o.ablation = true;
        else if (!strcmp(argv[i], "--verbose")) o.verbose = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc) o.only = argv[++i];
        else if (!o.cuda) o.cuda = argv[i];
        else o.cache = argv[i];
    }
    if (!o.cuda || !o.cache)
        return fprintf(stderr, "usage: judge [--ablation] [--only TEXT] [--verbose] CUDA-FOLDER "
                               "CACHE-FOLDER\n"),
               2;
    judge(&o);
    return 0;
}
