/* bench.c — how fast the simulator runs: `make bench`, or build/tests/bench [NAME…].
 *
 * Each kernel runs with the sanitizer on and off (counters are always on, they cost nothing to
 * leave out), the best of several runs; so does the same computation in plain C (cpu_reference.c).
 * Results are compared, so that a fast wrong run is no record. Columns: lane instructions of the
 * launch (PTX level), lane instructions a second with and without the sanitizer, milliseconds with
 * the sanitizer and of plain C, and how many times plain C's time the two simulated runs take; then
 * processor time of all threads, with the sanitizer and without, and its ratio: what else runs on
 * the machine changes these least. */
#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/sim/sim.h"
#include "grader/sim/timing/timing.h"
#include "grader/tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BUFFERS = 3, REPEATS = 5 };
enum element_type { FLOATS, INTS, DOUBLES };

struct bench {
    const char *name, *file, *kernel;
    void (*cpu_kernel)(void *const *buffers, int n);
    int n;
    enum element_type element_type;
    unsigned nbuffers; /* the last is the result */
    size_t bytes[MAX_BUFFERS];
    unsigned grid[2], block[2];
    bool accumulates; /* the result is added to, from zero */
    double tolerance; /* of the largest element */
};

enum { M = 1 << 20, K = 1 << 10 };
static const struct bench benches[] = {
    {"vector add 4M",
     "vector_add",
     "vector_add",
     cpu_vector_add,
     4 * M,
     FLOATS,
     3,
     {16 * M, 16 * M, 16 * M},
     {4 * M / 256, 1},
     {256, 1},
     false,
     0},
    {"SGEMM naive 256",
     "sgemm",
     "sgemm_naive",
     cpu_sgemm,
     256,
     FLOATS,
     3,
     {256 * K, 256 * K, 256 * K},
     {8, 32},
     {32, 8},
     false,
     1e-5},
    {"SGEMM naive 512",
     "sgemm",
     "sgemm_naive",
     cpu_sgemm,
     512,
     FLOATS,
     3,
     {M, M, M},
     {16, 64},
     {32, 8},
     false,
     1e-5},
    {"SGEMM tiled 256",
     "sgemm",
     "sgemm_tiled",
     cpu_sgemm,
     256,
     FLOATS,
     3,
     {256 * K, 256 * K, 256 * K},
     {8, 8},
     {32, 32},
     false,
     1e-5},
    {"SGEMM tiled 512",
     "sgemm",
     "sgemm_tiled",
     cpu_sgemm,
     512,
     FLOATS,
     3,
     {M, M, M},
     {16, 16},
     {32, 32},
     false,
     1e-5},
    {"transpose 2048",
     "transpose",
     "transpose",
     cpu_transpose,
     2048,
     FLOATS,
     2,
     {16 * M, 16 * M},
     {64, 64},
     {32, 8},
     false,
     0},
    {"transpose padded",
     "transpose",
     "transpose_padded",
     cpu_transpose,
     2048,
     FLOATS,
     2,
     {16 * M, 16 * M},
     {64, 64},
     {32, 8},
     false,
     0},
    {"reduction 4M",
     "reduce",
     "reduce",
     cpu_reduce,
     4 * M,
     INTS,
     2,
     {16 * M, 4},
     {1024, 1},
     {256, 1},
     true,
     0},
    {"histogram 1M",
     "histogram",
     "histogram",
     cpu_histogram,
     M,
     INTS,
     2,
     {4 * M, 1024},
     {128, 1},
     {256, 1},
     true,
     0},
    {"n-body 2048",
     "nbody",
     "nbody",
     cpu_nbody,
     2048,
     FLOATS,
     2,
     {32 * K, 32 * K},
     {16, 1},
     {128, 1},
     false,
     1e-4},
    {"stencil f64 1024",
     "stencil",
     "stencil",
     cpu_stencil,
     1024,
     DOUBLES,
     2,
     {8 * M, 8 * M},
     {32, 128},
     {32, 8},
     false,
     1e-15},
};
enum { BENCH_COUNT = sizeof benches / sizeof *benches };

static void fill_random(void *data, size_t bytes, enum element_type type, unsigned seed) {
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + 1;
    for (size_t i = 0; i < bytes / (type == DOUBLES ? 8 : 4); i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t v = (uint32_t)(x >> 32);
        if (type == FLOATS) ((float *)data)[i] = (float)(v >> 8) * 0x1p-24f;
        else if (type == DOUBLES) ((double *)data)[i] = v * 0x1p-32;
        else ((uint32_t *)data)[i] = v;
    }
}

/* ---- the simulator ---- */

struct bench_device {
    struct sim *sim;
    struct sim_module *module;
    struct buf ptx;
};

static void open_device(struct bench_device *d, const struct bench *b, const char *folder) {
    struct err e = {0};
    char path[4200];
    struct sim_options o = {.device = device_find("h200"), .sanitize = true};
    snprintf(path, sizeof path, "%s/%s.ptx", folder, b->file);
    d->ptx = (struct buf){0};
    if (!file_read(path, 1 << 24, &d->ptx, &e) || !(d->sim = sim_open(&o, &e)) ||
        !(d->module = sim_load(d->sim, buf_str(&d->ptx), d->ptx.size, &e))) {
        fprintf(stderr, "bench: %s: %s\n", b->name, e.text);
        exit(1);
    }
}

struct bench_seconds {
    double wall, cpu; /* of the best run; of the one that took least of the processors, all threads
                         together */
};

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The counters are those of the last run. */
static struct bench_seconds run_simulated(struct bench_device *d, const struct bench *b,
                                          void *const *host, bool sanitize, uint64_t *lane_insns) {
    uint64_t address[MAX_BUFFERS], params[MAX_BUFFERS + 1];
    struct bench_seconds best = {INFINITY, INFINITY};
    unsigned result = b->nbuffers - 1;
    for (unsigned i = 0; i < b->nbuffers; i++) {
        params[i] = address[i] = sim_alloc(d->sim, b->bytes[i], "buffer");
        sim_write(d->sim, address[i], host[i], b->bytes[i]);
    }
    memcpy(&params[b->nbuffers], &b->n, 4);
    sim_set_sanitize(d->sim, sanitize);
    struct sim_launch l = {.kernel = sim_find_kernel(d->module, b->kernel),
                           .grid = {b->grid[0], b->grid[1], 1},
                           .block = {b->block[0], b->block[1], 1},
                           .params = params,
                           .param_bytes = b->nbuffers * 8 + 4};
    for (int i = 0; i < REPEATS; i++) {
        struct sim_result r;
        if (b->accumulates) sim_fill(d->sim, address[result], 0, b->bytes[result]);
        double start = clock_seconds(), used = cpu_seconds();
        sim_launch(d->sim, &l, &r);
        best.wall = fmin(best.wall, clock_seconds() - start);
        best.cpu = fmin(best.cpu, cpu_seconds() - used);
        if (r.nreports) fprintf(stderr, "bench: %s: %s\n", b->name, r.reports[0].text), exit(1);
        *lane_insns = r.counters.thread_inst_executed;
        sim_result_free(&r);
    }
    sim_read(d->sim, address[result], host[result], b->bytes[result]);
    for (unsigned i = 0; i < b->nbuffers; i++) sim_free(d->sim, address[i]);
    return best;
}

static double run_cpu(const struct bench *b, void *const *host) {
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        if (b->accumulates) memset(host[b->nbuffers - 1], 0, b->bytes[b->nbuffers - 1]);
        double start = clock_seconds();
        b->cpu_kernel(host, b->n);
        double seconds = clock_seconds() - start;
        if (seconds < best) best = seconds;
    }
    return best;
}

/* ---- results ---- */

static double element(const struct bench *b, const void *data, size_t i) {
    return b->element_type == FLOATS    ? ((const float *)data)[i]
           : b->element_type == DOUBLES ? ((const double *)data)[i]
                                        : ((const uint32_t *)data)[i];
}

static bool results_match(const struct bench *b, const void *actual, const void *expected) {
    size_t n = b->bytes[b->nbuffers - 1] / (b->element_type == DOUBLES ? 8 : 4);
    double max_abs = 0, max_error = 0;
    for (size_t i = 0; i < n; i++) {
        double g = element(b, actual, i), w = element(b, expected, i);
        if (fabs(w) > max_abs) max_abs = fabs(w);
        if (!(fabs(g - w) <= max_error)) max_error = fabs(g - w);
    }
    return max_error <= b->tolerance * max_abs;
}

static bool run_bench(const struct bench *b, const char *folder) {
    struct bench_device d;
    struct arena arena = {0};
    void *host[MAX_BUFFERS], *cpu_buffers[MAX_BUFFERS];
    uint64_t lanes = 0;
    for (unsigned i = 0; i < b->nbuffers; i++) {
        host[i] = arena_alloc(&arena, b->bytes[i]);
        cpu_buffers[i] = arena_alloc(&arena, b->bytes[i]);
        fill_random(host[i], b->bytes[i], b->element_type, i);
        memcpy(cpu_buffers[i], host[i], b->bytes[i]);
    }
    open_device(&d, b, folder);
    struct bench_seconds sanitized = run_simulated(&d, b, host, true, &lanes),
                         unsanitized = run_simulated(&d, b, host, false, &lanes);
    double c = run_cpu(b, cpu_buffers);
    bool matches = results_match(b, host[b->nbuffers - 1], cpu_buffers[b->nbuffers - 1]);
    printf("%-18s %8.1f M %8.2f G/s %8.2f G/s %9.2f ms %8.2f ms %7.1f x %6.1f x %8.2f ms %8.2f ms "
           "%6.2f x%s\n",
           b->name, (double)lanes * 1e-6, (double)lanes / sanitized.wall * 1e-9,
           (double)lanes / unsanitized.wall * 1e-9, sanitized.wall * 1e3, c * 1e3,
           sanitized.wall / c, unsanitized.wall / c, sanitized.cpu * 1e3, unsanitized.cpu * 1e3,
           sanitized.cpu / unsanitized.cpu, matches ? "" : "   WRONG RESULT");
    sim_close(d.sim);
    buf_free(&d.ptx);
    arena_free(&arena);
    return matches;
}

static bool is_selected(const struct bench *b, int argc, char **argv) {
    bool any = argc < 2;
    for (int i = 1; i < argc; i++) any |= strstr(b->name, argv[i]) != NULL;
    return any;
}

int main(int argc, char **argv) {
    char folder[4096];
    ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (n < 0) return perror("/proc/self/exe"), 1;
    folder[n] = 0;
    bool ok = true;
    printf("%ld cores; lane instructions a second with counters, and with and without the "
           "sanitizer; ratio to plain C, "
           "one thread, -O2\n",
           sysconf(_SC_NPROCESSORS_ONLN));
    printf("%-18s %10s %12s %12s %12s %11s %9s %8s %11s %11s %8s\n", "kernel", "lane insns",
           "sanitizer", "without", "sanitizer", "plain C", "ratio", "without", "cpu, with",
           "without", "ratio");
    strcat(folder, "-ptx");
    for (unsigned i = 0; i < BENCH_COUNT; i++)
        if (is_selected(&benches[i], argc, argv)) ok &= run_bench(&benches[i], folder);
    return ok ? 0 : 1;
}
