/* test_measure.c — tests the statistics of measuring against made-up clocks with known true
 * times, the detection of throttling through a fake NVML, and the roofline kernels on the
 * simulator. */
#include "grader/grade/measure.h"
#include "grader/server/roofline.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/driver.h"
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/unit/fake_cuda.h"
#include "grader/tests/unit/unit.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- made-up clocks ---- */

struct clock {
    double first, second, noise, drift; /* drift: both grow by this part each round */
    unsigned calls, first_leads;        /* heads: rounds in which the first one ran first */
    unsigned last_round;
    int fail_at;
    uint64_t random;
};

static double uniform(uint64_t *s) {
    *s = *s * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*s >> 11) / 9007199254740992.0;
}
static double gauss(uint64_t *s) {
    return sqrt(-2 * log(1 - uniform(s))) * cos(6.283185307179586 * uniform(s));
}

static double run_once(void *user, unsigned version, unsigned round) {
    struct clock *c = user;
    if (c->fail_at && (int)c->calls >= c->fail_at) return -1;
    if (c->calls++ % 2 == 0) c->first_leads += version == 0;
    c->last_round = round;
    double drift = pow(1 + c->drift, round);
    return (version ? c->second : c->first) * drift * exp(c->noise * gauss(&c->random));
}

static struct measurement measure(struct clock *c, struct measure_options o) {
    struct measurement m;
    o.skip_warm_up = true;
    if (!o.seconds) o.seconds = 5;
    measure_pairs(run_once, c, &o, &m);
    return m;
}

START_TEST(the_ratio_lies_within_its_interval) {
    struct clock c = {.first = 3e-5, .second = 2e-5, .noise = 0.02, .random = 1};
    struct measurement m = measure(&c, (struct measure_options){.seed = 7});
    ck_assert(m.ok && m.is_precise && m.low <= 1.5 && m.high >= 1.5 && fabs(m.ratio - 1.5) < 0.03);
    ck_assert(m.pairs >= 10 && m.pairs < 100);
    ck_assert(fabs(m.first - 3e-5) < 2e-6 && fabs(m.second - 2e-5) < 2e-6);
}
END_TEST

/* Slow changes cancel in a pair, and each of the two runs first about equally often. */
START_TEST(drift_cancels_and_pair_order_is_random) {
    struct clock c = {.first = 1e-5, .second = 1e-5, .noise = 0.05, .drift = 0.01, .random = 3};
    struct measurement m =
        measure(&c, (struct measure_options){
                        .seed = 11, .min_pairs = 200, .max_pairs = 200, .precision = 1e-6});
    ck_assert_uint_eq(m.pairs, 200);
    ck_assert(m.low <= 1 && m.high >= 1);
    ck_assert(c.first_leads > 70 && c.first_leads < 130);
}
END_TEST

START_TEST(an_interval_across_the_boundary_is_unclear) {
    struct clock c = {.first = 0.95e-5, .second = 1e-5, .noise = 0.3, .random = 5};
    struct measurement m =
        measure(&c, (struct measure_options){.seed = 1, .max_pairs = 20, .boundary = 0.95});
    ck_assert(m.ok && m.is_inconclusive && !m.is_precise);
    struct clock clear = {.first = 2e-5, .second = 1e-5, .noise = 0.1, .random = 5};
    m = measure(&clear, (struct measure_options){.seed = 1, .max_pairs = 20, .boundary = 0.95});
    ck_assert(m.ok && !m.is_inconclusive);
}
END_TEST

START_TEST(failed_runs_are_reported_with_their_cause) {
    struct clock c = {.first = 1e-5, .second = 1e-5, .fail_at = 7, .random = 5};
    struct measurement m = measure(&c, (struct measure_options){.seed = 1, .min_pairs = 50});
    ck_assert(!m.ok && strstr(m.cause, "failed"));
    struct clock none = {.first = 0, .second = 1e-5, .random = 5};
    m = measure(&none, (struct measure_options){.seed = 1});
    ck_assert(!m.ok && strstr(m.cause, "launched nothing"));
}
END_TEST

/* Of many experiments, about 95 in 100 intervals contain the truth. */
START_TEST(about_95_percent_of_intervals_cover_the_truth) {
    unsigned inside = 0;
    uint64_t random = 99;
    for (unsigned k = 0; k < 200; k++) {
        double v[41], low, high;
        for (unsigned i = 0; i < 41; i++) v[i] = exp(0.1 * gauss(&random));
        measure_bootstrap(v, 41, k, &low, &high);
        inside += low <= 1 && high >= 1;
    }
    ck_assert_msg(inside >= 180 && inside <= 199, "%u of 200", inside);
}
END_TEST

START_TEST(the_bootstrap_is_deterministic) {
    double v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, a, b, c, d;
    measure_bootstrap(v, 11, 5, &a, &b);
    measure_bootstrap(v, 11, 5, &c, &d);
    ck_assert(a == c && b == d && a >= 2 && a <= 5 && b >= 7 && b <= 10);
    ck_assert(measure_median(v, 11) == 6 && measure_median(v, 10) == 5.5 &&
              measure_median(v, 0) == 0);
    double same[] = {4, 4, 4};
    measure_bootstrap(same, 3, 1, &a, &b);
    ck_assert(a == 4 && b == 4);
}
END_TEST

/* ---- a fake driver ---- */

static void *fake_symbol(const char *name) {
    static void *library;
    if (!library) library = dlopen(fake_cuda_use("WARPBOOK_LIBNVML"), RTLD_NOW);
    ck_assert_msg(library != NULL, "%s", dlerror());
    return dlsym(library, name);
}

START_TEST(throttled_pairs_are_dropped) {
    void (*set_throttle)(unsigned long long, unsigned);
    *(void **)&set_throttle = fake_symbol("fakecuda_set_throttle");
    struct nvml *n = nvml_open();
    struct clock c = {.first = 1e-5, .second = 1e-5, .random = 5};
    set_throttle(0x20 /* thermal */, 0);
    struct measurement m =
        measure(&c, (struct measure_options){.seed = 1, .nvml = n, .max_pairs = 20, .seconds = 1});
    ck_assert(!m.ok && m.pairs == 0 && m.dropped > 0 && strstr(m.cause, "throttled"));
    set_throttle(0, 0);
    m = measure(&c, (struct measure_options){.seed = 1, .nvml = n});
    ck_assert(m.ok && m.dropped == 0);
    nvml_close(n);
}
END_TEST

/* The copy kernel copies, and the figures are bytes and operations over the time that the clock
 * gave. */
static struct sim *sim;
static char kernel_name[64];
static uint64_t hook_alloc(size_t bytes) { return sim_alloc(sim, bytes, "pool"); }
static void hook_free(uint64_t at) { sim_free(sim, at); }
static bool hook_write(uint64_t to, const void *data, size_t n) {
    return sim_write(sim, to, data, n) == SIM_OK;
}
static bool hook_read(uint64_t from, void *data, size_t n) {
    return sim_read(sim, from, data, n) == SIM_OK;
}
static void *hook_load(const char *ptx) {
    struct err e = {0};
    struct sim_module *m = sim_load(sim, ptx, strlen(ptx), &e);
    ck_assert_msg(m != NULL, "%s", e.text);
    return m;
}
static void hook_unload(void *m) { sim_unload(sim, m); }
static void *hook_kernel(void *m, const char *name) {
    snprintf(kernel_name, sizeof kernel_name, "%s", name);
    return (void *)sim_find_kernel(m, name);
}
static unsigned copied, multiplied;
static int hook_launch(void *k, const unsigned grid[3], const unsigned block[3], unsigned shared,
                       const void *params, size_t bytes, double *seconds) {
    bool copy = !strcmp(kernel_name, "wb_copy");
    *(copy ? &copied : &multiplied) += 1;
    *seconds = 1e-3;
    if (!copy || copied > 1) return 0; /* the FMA kernel is long: it was decoded, that will do */
    struct sim_launch l = {.kernel = k,
                           .grid = {grid[0], grid[1], grid[2]},
                           .block = {block[0], block[1], block[2]},
                           .dynamic_shared = shared,
                           .params = params,
                           .param_bytes = (uint32_t)bytes};
    struct sim_result r;
    sim_launch(sim, &l, &r);
    const uint64_t *p = params;
    unsigned char actual[4096], expected[4096];
    ck_assert(sim_read(sim, p[0] + p[2] * 16 - 4096, actual, 4096) == SIM_OK &&
              sim_read(sim, p[1] + p[2] * 16 - 4096, expected, 4096) == SIM_OK);
    ck_assert(r.fault == SIM_FAULT_NONE && !memcmp(actual, expected, 4096) && actual[0] == 1);
    sim_result_free(&r);
    return 0;
}

START_TEST(the_roofline_is_measured) {
    struct err e = {0};
    struct roofline r;
    struct fakecuda_hooks hooks = {
        hook_alloc,  hook_free, hook_write,  hook_read,   hook_load,
        hook_unload, NULL,      hook_kernel, hook_launch, fake_cuda_copy_params};
    void (*set_hooks)(const struct fakecuda_hooks *),
        (*set_times)(double, double, unsigned, double);
    const char *(*violations)(void);
    *(void **)&set_hooks = fake_symbol("fakecuda_set_hooks");
    *(void **)&set_times = fake_symbol("fakecuda_set_times");
    *(void **)&violations = fake_symbol("fakecuda_violations");
    struct sim_options so = {.device = device_find("h200")};
    sim = sim_open(&so, &e);
    set_hooks(&hooks);
    set_times(1e-5, 0, 0, 1);
    struct backend *b = backend_gpu_open(&(struct gpu_options){.pool_bytes = 16 << 20}, &e);
    ck_assert_msg(b != NULL, "%s", e.text);
    ck_assert_msg(roofline_measure(b, &r, &e), "%s", e.text);
    ck_assert(fabs(r.bytes_per_second / (2 * 4194304 / 1e-3) - 1) < 1e-3);
    ck_assert(fabs(r.flops_per_second / (2.0 * 16 * 4096 * 256 * 132 * 16 / 1e-3) - 1) < 1e-3);
    ck_assert(copied == 8 && multiplied == 8);
    b->ops->close(b);
    ck_assert_str_eq(violations(), "");
    sim_close(sim);
}
END_TEST

UNIT_SUITE(measure) {
    Suite *s = suite_create("measure");
    TCase *c = tcase_create("pairs");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, the_ratio_lies_within_its_interval);
    tcase_add_test(c, drift_cancels_and_pair_order_is_random);
    tcase_add_test(c, an_interval_across_the_boundary_is_unclear);
    tcase_add_test(c, failed_runs_are_reported_with_their_cause);
    tcase_add_test(c, about_95_percent_of_intervals_cover_the_truth);
    tcase_add_test(c, the_bootstrap_is_deterministic);
    tcase_add_test(c, throttled_pairs_are_dropped);
    tcase_add_test(c, the_roofline_is_measured);
    suite_add_tcase(s, c);
    return s;
}
