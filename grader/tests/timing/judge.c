/* judge.c — compares the time model with published results: prints every row of cases.def,
 * launched on the simulator by sample, as Markdown; with --ablation also the error without each
 * term.
 *
 *   build/tests/judge [--ablation] [--only TEXT] [--verbose] CUDA-FOLDER CACHE-FOLDER
 *
 * nvcc compiles the kernels for the device's architecture; register counts come from ptxas. */
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
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const struct {
    const char *name;
    unsigned bit;
} terms[] = {
#define X(id, text) {text, TERM_BIT(id)},
    TIME_TERMS(X)
#undef X
};
enum { TERM_COUNT = sizeof terms / sizeof *terms };

struct validation_options {
    const char *cuda, *cache, *only;
    bool ablation, verbose;
};

static void die_with(const char *subject, const char *reason) {
    fprintf(stderr, "judge: %s: %s\n", subject, reason);
    exit(1);
}

/* ---- one launch ---- */

static void ptx_of(const struct validation_options *o, const char *file, const struct gpu_device *d,
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
    if (!dir_create(o->cache, &e) || system(command) || !file_read(path, 16 << 20, out, &e))
        die_with(file, e.text);
}

struct arguments {
    unsigned char bytes[256];
    unsigned n;
};

static void push_argument(struct arguments *a, const void *value, unsigned size) {
    a->n = (a->n + size - 1) / size * size;
    memcpy(a->bytes + a->n, value, size);
    a->n += size;
}

/* Bytes of a distribution, see cases.def; the same in every run. */
static unsigned char next_byte(char kind, uint64_t i, uint64_t *state) {
    static double cumulative[256]; /* of weights k^-1.5: which part is at most this value */
    if (kind == 'r' && i % 8192) return (unsigned char)(*state >> 32);
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    unsigned char uniform = (unsigned char)(*state >> 32);
    if (kind != 'z') return uniform;
    for (unsigned k = 0; !cumulative[255] && k < 256; k++)
        cumulative[k] = (k ? cumulative[k - 1] : 0) + pow(k + 1.0, -1.5);
    double x = (double)(*state >> 11) * 0x1p-53 * cumulative[255];
    unsigned v = 0;
    while (v < 255 && cumulative[v] < x) v++;
    return (unsigned char)v;
}

static uint64_t make_buffer(struct sim *s, char kind, uint64_t bytes) {
    uint64_t at = sim_alloc(s, bytes, "buffer"), state = 1;
    if (!at || sim_fill(s, at, 0, bytes) != SIM_OK) die_with("buffer", "out of memory");
    unsigned char *data = kind == 'b' ? NULL : malloc(bytes);
    for (uint64_t i = 0; data && i < bytes; i++) data[i] = next_byte(kind, i, &state);
    if (data && sim_write(s, at, data, bytes) != SIM_OK) die_with("buffer", "cannot be written");
    free(data);
    return at;
}

static void make_arguments(struct sim *s, const char *text, struct arguments *a) {
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        if (strchr("buzr", *word)) {
            uint64_t at = make_buffer(s, *word, strtoull(word + 1, NULL, 10));
            push_argument(a, &at, 8);
        } else if (*word == 'l') {
            uint64_t v = strtoull(word + 1, NULL, 10);
            push_argument(a, &v, 8);
        } else if (*word == 'i') {
            int v = atoi(word + 1);
            push_argument(a, &v, 4);
        } else {
            float v = (float)atof(word + 1);
            push_argument(a, &v, 4);
        }
    }
}

/* Modelled times of a row: with all terms, then without each. Returns how many were computed. */
static void model_row(const struct validation_options *o, const struct row *r,
                      const struct gpu_device *d, struct time_estimate *t, unsigned n) {
    struct err e = {0};
    struct buf ptx = {0};
    struct sim_options so = {.device = d, .memory_limit = 4ull << 30};
    struct sim *s = sim_open(&so, &e);
    if (!s) die_with(r->label, e.text);
    ptx_of(o, r->file, d, &ptx);
    struct sim_module *m = sim_load(s, ptx.data, ptx.size, &e);
    char ptxas[PATH_MAX];
    unsigned arch = d->cc_major * 10 + d->cc_minor;
    snprintf(ptxas, sizeof ptxas, "%s/bin/ptxas", o->cuda);
    if (!m ||
        !ptxas_set_registers(m, ptx.data, ptx.size, arch < 75 ? 75 : arch, ptxas, o->cache, &e))
        die_with(r->label, e.text);
    struct arguments a = {.n = 0};
    make_arguments(s, r->args, &a);
    struct sim_launch l = {.kernel = sim_find_kernel(m, r->kernel),
                           .grid = {r->gx, r->gy, 1},
                           .block = {r->bx, r->by, 1},
                           .params = a.bytes,
                           .param_bytes = a.n};
    if (!l.kernel) die_with(r->kernel, "no such kernel");
    if (sim_check_launch(s, &l, &e)) die_with(r->kernel, e.text);
    for (unsigned i = 0; i < n; i++) {
        struct sim_result result;
        struct time_options to = {.disabled_terms = i ? terms[i - 1].bit : 0, .warm_l2 = true};
        if (!time_launch(s, &l, &to, &result, &t[i]))
            die_with(r->label, result.nreports ? result.reports[0].text : "not sampled");
        sim_result_free(&result);
    }
    sim_close(s);
    buf_free(&ptx);
}

/* ---- the table ---- */

struct errors {
    double time[2][ROW_COUNT], speedup[2][ROW_COUNT]; /* |log ratio|, by set */
    unsigned ntime[2], nspeedup[2], order_pairs, orders_matched, in_interval, intervals;
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(const double *v, unsigned n) {
    double sorted[ROW_COUNT];
    if (!n) return 0;
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}
static double max_error(const double *v, unsigned n) {
    double w = 0;
    for (unsigned i = 0; i < n; i++) w = v[i] > w ? v[i] : w;
    return w;
}
/* As a factor's distance from 1: an error of 0.20 is 20 % too long or 1/1.2 too short. */
static double factor_error(double log_ratio) { return exp(fabs(log_ratio)) - 1; }

struct group_state {
    const struct row *group;
    double published[ROW_COUNT], modelled[ROW_COUNT];
    unsigned n;
};

static void end_group(const struct group_state *g, struct errors *e) {
    for (unsigned i = 0; i < g->n; i++)
        for (unsigned j = 0; j < i; j++) {
            double p = log(g->published[i] / g->published[j]),
                   m = log(g->modelled[i] / g->modelled[j]);
            if (fabs(p) < 0.05) continue; /* told to be the same */
            e->order_pairs++;
            e->orders_matched += p * m > 0;
        }
}

static void run_row(const struct validation_options *o, const struct row *r, struct group_state *g,
                    struct errors *e, double log_times[TERM_COUNT + 1][ROW_COUNT], unsigned index) {
    struct time_estimate t[TERM_COUNT + 1];
    double start = clock_seconds();
    unsigned n = o->ablation ? TERM_COUNT + 1 : 1;
    model_row(o, r, device_find(g->group->device), t, n);
    double elapsed = clock_seconds() - start, us = t[0].seconds * 1e6;
    bool has_time = r->published > 0;
    double published = has_time ? r->published : 1 / -r->published;
    g->published[g->n] = published, g->modelled[g->n++] = us;
    int set = r->set < 0 ? g->group->set : r->set;
    double ratio = g->modelled[0] / us, published_ratio = g->published[0] / published,
           error = log(us / published), speedup = log(ratio / published_ratio);
    if (has_time) e->time[set][e->ntime[set]++] = factor_error(error);
    if (g->n > 1 && has_time) e->speedup[set][e->nspeedup[set]++] = factor_error(speedup);
    if (has_time)
        e->intervals++,
            e->in_interval += published >= t[0].low * 1e6 && published <= t[0].high * 1e6;
    char published_text[64] = "", error_text[64] = "";
    if (has_time) snprintf(published_text, sizeof published_text, "%.1f", published);
    if (has_time) snprintf(error_text, sizeof error_text, "%+.0f %%", 100 * (us / published - 1));
    printf(
        "| %s | %s | %.1f (%.1f–%.1f) | %s | %.2f | %.2f | %+.0f %% | %s, %.0f %%; %s, %.0f %% |\n",
        r->label, published_text, us, t[0].low * 1e6, t[0].high * 1e6, error_text, published_ratio,
        ratio, 100 * (ratio / published_ratio - 1), time_component_name(t[0].limits[0].component),
        100 * t[0].limits[0].share, time_component_name(t[0].limits[1].component),
        100 * t[0].limits[1].share);
    if (o->verbose)
        printf("<!-- third: %s %.0f %%; L1 hits %.2f, L2 hits %.2f, DRAM %.0f MB; %.2f s%s%s -->\n",
               time_component_name(t[0].limits[2].component), 100 * t[0].limits[2].share,
               t[0].l1_hit_rate, t[0].l2_hit_rate, t[0].dram_bytes * 1e-6, elapsed,
               *t[0].uncertainty_note ? "; " : "", t[0].uncertainty_note);
    fflush(stdout);
    for (unsigned i = 0; i < n; i++) log_times[i][index] = log(t[i].seconds * 1e6);
}

static void print_summary(const struct errors *e) {
    static const char *const names[] = {"fitted on", "not fitted on"};
    printf(
        "\n| rows | times: median, worst error | speedups: median, worst error |\n|---|---|---|\n");
    for (int s = 0; s < 2; s++)
        printf("| %s | %.0f %%, %.0f %% (%u) | %.0f %%, %.0f %% (%u) |\n", names[s],
               100 * median(e->time[s], e->ntime[s]), 100 * max_error(e->time[s], e->ntime[s]),
               e->ntime[s], 100 * median(e->speedup[s], e->nspeedup[s]),
               100 * max_error(e->speedup[s], e->nspeedup[s]), e->nspeedup[s]);
    printf("\nPairs whose published order is kept: %u of %u. Published times inside the interval: "
           "%u of %u.\n",
           e->orders_matched, e->order_pairs, e->in_interval, e->intervals);
}

static void print_ablation(double log_times[TERM_COUNT + 1][ROW_COUNT]) {
    printf("\n| left out | times: median, worst error | speedups: median, worst error "
           "|\n|---|---|---|\n");
    for (unsigned k = 0; k <= TERM_COUNT; k++) {
        double te[ROW_COUNT], se[ROW_COUNT], base = 0, base_published = 0;
        unsigned nt = 0, ns = 0, group_size = 0;
        for (unsigned i = 0; i < ROW_COUNT; i++) {
            if (!rows[i].label) group_size = 0;
            if (!rows[i].label || isnan(log_times[0][i])) continue;
            double p = log(rows[i].published > 0 ? rows[i].published : -1 / rows[i].published);
            if (rows[i].published > 0) te[nt++] = factor_error(log_times[k][i] - p);
            if (rows[i].published < 0) continue;
            if (group_size++)
                se[ns++] = factor_error((log_times[k][i] - base) - (p - base_published));
            else base = log_times[k][i], base_published = p;
        }
        printf("| %s | %.0f %%, %.0f %% | %.0f %%, %.0f %% |\n", k ? terms[k - 1].name : "nothing",
               100 * median(te, nt), 100 * max_error(te, nt), 100 * median(se, ns),
               100 * max_error(se, ns));
    }
}

static void validate_model(const struct validation_options *o) {
    static struct group_state g;
    static struct errors e;
    static double log_times[TERM_COUNT + 1][ROW_COUNT];
    for (unsigned i = 0; i < ROW_COUNT; i++) log_times[0][i] = NAN;
    const struct row *group = NULL;
    for (unsigned i = 0; i < ROW_COUNT; i++) {
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
        } else if (group) run_row(o, r, &g, &e, log_times, i);
    }
    end_group(&g, &e);
    print_summary(&e);
    if (o->ablation) print_ablation(log_times);
}

int main(int argc, char **argv) {
    struct validation_options o = {.cuda = NULL};
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
    validate_model(&o);
    return 0;
}
