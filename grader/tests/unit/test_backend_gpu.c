/* test_backend_gpu.c — tests the gpu backend against a fake driver (grader/tests/fakecuda),
 * which checks how it is called and forwards launches to the simulator. The times that it
 * returns are made up. */
#include "common/file.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/driver.h"
#include "grader/server/protocol.h"
#include "grader/sim/tensor_map.h"
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/unit/fake_cuda.h"
#include "grader/tests/unit/unit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the fake and its device ---- */

static struct {
    void *library;
    void (*set_hooks)(const struct fakecuda_hooks *);
    void (*set_times)(double, double, unsigned, double);
    void (*set_throttle)(unsigned long long, unsigned);
    const char *(*violations)(void);
    unsigned (*calls)(const char *);
} fake;
static struct sim *sim;
static int launch_error;

static uint64_t sim_hook_alloc(size_t bytes) {
    uint64_t at = sim_alloc(sim, bytes, "pool");
    sim_fill(sim, at, 0, bytes);
    return at;
}
static void sim_hook_free(uint64_t at) { sim_free(sim, at); }
static bool sim_hook_write(uint64_t to, const void *data, size_t n) {
    return sim_write(sim, to, data, n) == SIM_OK;
}
static bool sim_hook_read(uint64_t from, void *data, size_t n) {
    return sim_read(sim, from, data, n) == SIM_OK;
}
static void *sim_hook_load(const char *ptx) {
    struct err e = {0};
    return sim_load(sim, ptx, strlen(ptx), &e);
}
static void sim_hook_unload(void *m) { sim_unload(sim, m); }
static bool sim_hook_symbol(void *m, const char *name, uint64_t *at, size_t *n) {
    uint64_t bytes = 0;
    bool found = sim_find_symbol(m, name, at, &bytes);
    *n = bytes;
    return found;
}
static void *sim_hook_kernel(void *m, const char *name) { return (void *)sim_find_kernel(m, name); }
static int sim_hook_launch(void *k, const unsigned grid[3], const unsigned block[3],
                           unsigned shared, const void *params, size_t bytes, double *seconds) {
    struct sim_launch l = {
        .kernel = k, .dynamic_shared = shared, .params = params, .param_bytes = (uint32_t)bytes};
    struct sim_result r;
    memcpy(l.grid, grid, sizeof l.grid);
    memcpy(l.block, block, sizeof l.block);
    if (launch_error) return launch_error;
    sim_launch(sim, &l, &r);
    *seconds = 1e-5;
    int error = r.fault == SIM_FAULT_NONE ? 0 : 700;
    sim_result_free(&r);
    return error;
}
static const struct fakecuda_hooks to_sim = {
    sim_hook_alloc,  sim_hook_free,   sim_hook_write,  sim_hook_read,   sim_hook_load,
    sim_hook_unload, sim_hook_symbol, sim_hook_kernel, sim_hook_launch, fake_cuda_copy_params};

static void find_fake(void) {
    fake.library = dlopen(fake_cuda_use("WARPBOOK_LIBNVML"), RTLD_NOW);
    ck_assert_msg(fake.library != NULL, "%s", dlerror());
    *(void **)&fake.set_hooks = dlsym(fake.library, "fakecuda_set_hooks");
    *(void **)&fake.set_times = dlsym(fake.library, "fakecuda_set_times");
    *(void **)&fake.set_throttle = dlsym(fake.library, "fakecuda_set_throttle");
    *(void **)&fake.violations = dlsym(fake.library, "fakecuda_violations");
    *(void **)&fake.calls = dlsym(fake.library, "fakecuda_call_count");
}

static struct backend *open_gpu(void) {
    struct err e = {0};
    find_fake();
    struct sim_options so = {.device = device_find("h200")};
    sim = sim_open(&so, &e);
    launch_error = 0;
    fake.set_hooks(&to_sim);
    fake.set_times(1e-5, 0, 0, 1);
    struct backend *b = backend_gpu_open(&(struct gpu_options){.pool_bytes = 64 << 20}, &e);
    ck_assert_msg(b != NULL, "%s", e.text);
    return b;
}

static void close_gpu(struct backend *b) {
    b->ops->close(b);
    ck_assert_str_eq(fake.violations(), "");
    sim_close(sim);
}

/* k(p): p[thread] = 3 × thread. */
static void *load_scale(struct backend *b, struct backend_kernel *k) {
    struct buf image = {0};
    struct err e = {0};
    void *module = NULL;
    ck_assert_msg(file_read("grader/tests/ptx/scale-plain.fatbin", 1 << 20, &image, &e), "%s",
                  e.text);
    ck_assert_msg(b->ops->load(b, image.data, image.size, &module, &e) == 0, "%s", e.text);
    ck_assert(b->ops->find_kernel(b, module, "_Z1kPi", k));
    ck_assert(!b->ops->find_kernel(b, module, "missing", &(struct backend_kernel){0}));
    buf_free(&image);
    return module;
}

static struct backend_launch scale_launch(const struct backend_kernel *k, const uint64_t *p) {
    return (struct backend_launch){
        .kernel = k->handle, .grid = {1, 1, 1}, .block = {64, 1, 1}, .params = p, .param_bytes = 8};
}

/* ---- without a device ---- */

START_TEST(a_missing_driver_is_reported) {
    struct err e = {0};
    setenv("WARPBOOK_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
    ck_assert_ptr_null(backend_gpu_open(&(struct gpu_options){0}, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "no GPU"));
    ck_assert_ptr_nonnull(strstr(e.text, "--device sim"));
}
END_TEST

START_TEST(a_missing_device_is_reported) {
    struct err e = {0};
    find_fake();
    setenv("FAKECUDA_NO_DEVICE", "1", 1);
    ck_assert_ptr_null(backend_gpu_open(&(struct gpu_options){0}, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "finds no device"));
}
END_TEST

/* ---- with one ---- */

START_TEST(a_kernel_launch_writes_its_results) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    load_scale(b, &k);
    ck_assert_uint_eq(k.info.param_bytes, 8);
    ck_assert_uint_eq(k.info.nparams, 1);
    int actual[64] = {0};
    uint64_t p = b->ops->alloc(b, sizeof actual, "p");
    struct backend_launch l = scale_launch(&k, &p);
    struct backend_result r;
    struct err e = {0};
    ck_assert_int_eq(b->ops->check_launch(b, &l, &e), 0);
    b->ops->launch(b, &l, &r);
    ck_assert_int_eq(r.error, 0);
    ck_assert(r.measured && r.seconds > 0.9e-5 && r.seconds < 1.1e-5);
    ck_assert(b->ops->read(b, p, actual, sizeof actual));
    for (int i = 0; i < 64; i++) ck_assert_int_eq(actual[i], 3 * i);
    struct gpu_info info;
    backend_gpu_info(b, &info);
    ck_assert_str_eq(info.name, "Fake GPU");
    ck_assert_str_eq(info.compiled_by, "the driver, from PTX");
    close_gpu(b);
}
END_TEST

START_TEST(allocations_are_aligned_and_can_be_copied_and_filled) {
    struct backend *b = open_gpu();
    uint64_t p = b->ops->alloc(b, 100, "p"), q = b->ops->alloc(b, 0, "q"),
             r = b->ops->alloc(b, 1000, "r"), start, bytes;
    ck_assert(p && q && r && q > p + 100 && r > q && p % 512 == 0);
    unsigned char data[100], back[100];
    for (int i = 0; i < 100; i++) data[i] = (unsigned char)i;
    ck_assert(b->ops->write(b, p, data, 100) && b->ops->copy(b, r + 4, p, 100) &&
              b->ops->read(b, r + 4, back, 100));
    ck_assert_mem_eq(data, back, 100);
    ck_assert(b->ops->fill(b, p + 1, 7, 99) && b->ops->read(b, p, back, 100) && back[0] == 0 &&
              back[99] == 7);
    ck_assert(!b->ops->write(b, p + 1, data, 100) && !b->ops->fill(b, p - 1, 0, 1) &&
              !b->ops->read(b, r + 1000, back, 1));
    ck_assert(b->ops->find_allocation(b, r + 999, &start, &bytes) && start == r && bytes == 1000);
    ck_assert(b->ops->free(b, q) && !b->ops->free(b, r + 4) && b->ops->free(b, 0));
    ck_assert_uint_eq(b->ops->alloc(b, 8, "again"), q); /* the first gap */
    b->ops->reset(b);
    ck_assert_uint_eq(b->ops->alloc(b, 100, "p"), p); /* the same calls, the same addresses */
    ck_assert_uint_eq(b->ops->alloc(b, 1ull << 40, "too much"), 0);
    close_gpu(b);
}
END_TEST

START_TEST(a_held_back_queue_runs_after_its_release) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    load_scale(b, &k);
    int actual[64] = {0}, error = -1;
    uint64_t p = b->ops->alloc(b, sizeof actual, "p");
    struct backend_launch l = scale_launch(&k, &p);
    struct backend_result r;
    struct err e = {0};
    ck_assert(backend_gpu_flush_l2(b));
    ck_assert(backend_gpu_begin_timed(b, &e));
    for (int i = 0; i < 3; i++) {
        b->ops->launch(b, &l, &r);
        ck_assert(r.error == 0 && r.seconds == 0);
    }
    actual[0] = 77;
    ck_assert(b->ops->write(b, p, actual, 4));
    actual[0] = 0;
    ck_assert(!b->ops->read(b, p, actual, 4)); /* it would wait for ever */
    double seconds = backend_gpu_end_timed(b, &error);
    ck_assert_int_eq(error, 0);
    ck_assert(seconds > 2.9e-5 && seconds < 3.3e-5);
    ck_assert(b->ops->read(b, p, actual, sizeof actual));
    ck_assert_int_eq(actual[0], 77);
    ck_assert_int_eq(actual[5], 15);
    ck_assert_uint_eq(fake.calls("cuLaunchHostFunc"), 1);
    ck_assert_uint_ge(fake.calls("cuCtxResetPersistingL2Cache"), 1);
    close_gpu(b);
}
END_TEST

/* A host buffer is page-locked memory: a copy takes what is written there to the device, and
 * back. */
START_TEST(host_buffers_are_pinned_and_copied_both_ways) {
    struct backend *b = open_gpu();
    int data[64], actual[64] = {0};
    uint64_t in = b->ops->alloc_host(b, sizeof data, "in"),
             out = b->ops->alloc_host(b, sizeof data, "out"),
             p = b->ops->alloc(b, sizeof data, "p"), start, bytes;
    for (int i = 0; i < 64; i++) data[i] = 5 * i;
    ck_assert(b->ops->find_allocation(b, out + 9, &start, &bytes) && start == out &&
              bytes == sizeof data);
    ck_assert(b->ops->write(b, in, data, sizeof data));
    ck_assert(b->ops->copy(b, p, in + 4, 252) && b->ops->copy(b, out, p, 252) &&
              b->ops->read(b, out, actual, 252));
    ck_assert_mem_eq(actual, data + 1, 252);
    unsigned pinned = fake.calls("cuMemHostAlloc");
    b->ops->reset(b);
    ck_assert_uint_eq(b->ops->alloc_host(b, 100, "in"),
                      in); /* the same place, and the same memory */
    ck_assert_uint_eq(fake.calls("cuMemHostAlloc"), pinned);
    close_gpu(b);
}
END_TEST

static void order_stream(struct backend *b, uint32_t stream, uint32_t number, uint32_t after,
                         uint32_t its, bool host_waits) {
    struct sim_stream_clock o = {.stream = stream, .sequence = number, .has_dependent = host_waits};
    if (after) o.ordered_after[after] = its;
    b->ops->set_stream_clock(b, &o);
}

/* in and out in stream 2, the kernel in stream 3 between them. */
START_TEST(events_order_work_across_streams) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    load_scale(b, &k);
    int actual[64] = {0}, error = -1;
    uint64_t out = b->ops->alloc_host(b, sizeof actual, "out"),
             p = b->ops->alloc(b, sizeof actual, "p");
    struct backend_launch l = scale_launch(&k, &p);
    struct backend_result r;
    struct err e = {0};
    unsigned streams = fake.calls("cuStreamCreate"), event_waits = fake.calls("cuStreamWaitEvent");
    for (int round = 0; round < 2; round++) {
        memset(actual, 7, sizeof actual);
        ck_assert(b->ops->write(b, out, actual, sizeof actual));
        ck_assert(backend_gpu_begin_timed(b, &e));
        order_stream(b, 2, 1, 0, 0, true);
        ck_assert(b->ops->fill(b, p, 0, sizeof actual));
        order_stream(b, 3, 1, 2, 1, true);
        b->ops->launch(b, &l, &r);
        ck_assert_int_eq(r.error, 0);
        order_stream(b, 2, 2, 3, 1, false);
        ck_assert(b->ops->copy(b, out, p, sizeof actual));
        backend_gpu_end_timed(b, &error);
        ck_assert_int_eq(error, 0);
        ck_assert(b->ops->read(b, out, actual, sizeof actual));
        for (int i = 0; i < 64; i++) ck_assert_int_eq(actual[i], 3 * i);
    }
    ck_assert_uint_eq(fake.calls("cuStreamCreate") - streams,
                      2); /* used again in the second round */
    /* Each round: two streams begin behind the gate, one waits for the other twice, and the end
     * waits for both. */
    ck_assert_uint_eq(fake.calls("cuStreamWaitEvent") - event_waits, 2 * (2 + 2 + 2));
    close_gpu(b);
}
END_TEST

/* Where the host waited in the recording, the queue is submitted, and the host waits. */
START_TEST(a_host_synchronization_releases_the_queue) {
    struct backend *b = open_gpu();
    struct err e = {0};
    int error = -1;
    uint64_t p = b->ops->alloc(b, 64, "p");
    ck_assert(backend_gpu_begin_timed(b, &e));
    order_stream(b, 2, 1, 0, 0, true);
    ck_assert(b->ops->fill(b, p, 1, 64));
    struct sim_stream_clock o = {.stream = 3, .sequence = 1, .all_later_ordered_after = {0, 0, 1}};
    b->ops->set_stream_clock(b, &o);
    ck_assert_uint_eq(fake.calls("cuEventSynchronize"), 1);
    b->ops->set_stream_clock(b, NULL); /* and what has no order goes behind all of it */
    ck_assert(b->ops->fill(b, p, 2, 64));
    backend_gpu_end_timed(b, &error);
    ck_assert_int_eq(error, 0);
    close_gpu(b);
}
END_TEST

START_TEST(a_fault_is_sticky_until_reset) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    load_scale(b, &k);
    uint64_t p = b->ops->alloc(b, 256, "p");
    struct backend_launch l = scale_launch(&k, &p);
    struct backend_result r;
    int value;
    launch_error = 700;
    b->ops->launch(b, &l, &r);
    ck_assert_int_eq(r.error, WB_cudaErrorIllegalAddress);
    ck_assert(!b->ops->read(b, p, &value, 4));
    b->ops->launch(b, &l, &r);
    ck_assert_int_eq(r.error, WB_cudaErrorIllegalAddress);
    b->ops->close(b);
    ck_assert_uint_eq(fake.calls("cuDevicePrimaryCtxReset_v2"), 1);
    sim_close(sim);
}
END_TEST

START_TEST(invalid_launch_configurations_are_rejected) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    load_scale(b, &k);
    uint64_t p = b->ops->alloc(b, 256, "p");
    struct err e = {0};
    struct backend_launch l = scale_launch(&k, &p);
    l.block[0] = 2048;
    ck_assert_int_eq(b->ops->check_launch(b, &l, &e), WB_cudaErrorInvalidConfiguration);
    l = scale_launch(&k, &p);
    l.grid[1] = 0;
    ck_assert_int_eq(b->ops->check_launch(b, &l, &e), WB_cudaErrorInvalidConfiguration);
    l = scale_launch(&k, &p);
    l.dynamic_shared = 300000;
    ck_assert_int_eq(b->ops->check_launch(b, &l, &e), WB_cudaErrorInvalidValue);
    close_gpu(b);
}
END_TEST

static unsigned char launched_params[320];

/* They are adjacent, whatever the kernel takes. */
static size_t copy_all_params(void *k, void **params, void *out, size_t capacity) {
    (void)k, (void)capacity;
    memcpy(out, params[0], sizeof launched_params);
    return sizeof launched_params;
}

static int keep_params(void *k, const unsigned grid[3], const unsigned block[3], unsigned shared,
                       const void *params, size_t bytes, double *seconds) {
    (void)k, (void)grid, (void)block, (void)shared;
    ck_assert_uint_eq(bytes, sizeof launched_params);
    memcpy(launched_params, params, bytes);
    *seconds = 1e-5;
    return 0;
}

/* A map of 48 x 80 floats in rows of 256 bytes, boxes of 32 x 16, as the runtime writes it. */
static const struct tensor_map written_map = {.address = 0x10000,
                                              .dim = {48, 80, 1, 1, 1},
                                              .stride = {256},
                                              .box = {32, 16, 1, 1, 1},
                                              .element_stride = {1, 2, 1, 1, 1},
                                              .type = 7, /* CU_TENSOR_MAP_DATA_TYPE_FLOAT32 */
                                              .rank = 2,
                                              .swizzle = 3,
                                              .l2_promotion = 2,
                                              .fill_with_nan = 1};

/* A GPU reads the driver's encoding, which only its driver knows. Everything else stays as it is.
 */
START_TEST(the_driver_encodes_tensor_maps) {
    struct backend *b = open_gpu();
    struct backend_kernel k;
    struct backend_result r;
    struct err e = {0};
    struct fakecuda_hooks hooks = to_sim;
    struct fakecuda_tensor_map expected = {"encoded", 0x10000, {48, 80}, 256, {32, 16}, {1, 2},
                                           2,         7,       0,        3,   2,        1};
    unsigned char params[320] = {1, 2, 3};
    struct tensor_map m = written_map;
    memcpy(&m.magic, TENSOR_MAP_MAGIC, sizeof m.magic);
    memcpy(params + 64, &m, sizeof m);
    memcpy(params + 192, &m, sizeof m);
    hooks.launch = keep_params, hooks.copy_params = copy_all_params;
    fake.set_hooks(&hooks);
    load_scale(b, &k);
    struct backend_launch l = scale_launch(&k, (const uint64_t *)params);
    l.param_bytes = sizeof params;
    ck_assert_int_eq(b->ops->check_launch(b, &l, &e), 0);
    b->ops->launch(b, &l, &r);
    ck_assert_int_eq(r.error, 0);
    ck_assert_mem_eq(launched_params, params, 64);
    ck_assert_mem_eq(launched_params + 64, &expected, sizeof expected);
    ck_assert_mem_eq(launched_params + 192, &expected, sizeof expected);
    ck_assert_mem_eq(params + 64, &m, sizeof m);
    m.rank = 3; /* which the fake refuses */
    memcpy(params + 64, &m, sizeof m);
    b->ops->launch(b, &l, &r);
    ck_assert_int_eq(r.error, WB_cudaErrorInvalidValue);
    close_gpu(b);
}
END_TEST

/* Tests the fake itself: it must detect a caller that waits for something that the caller holds. */
START_TEST(the_fake_driver_detects_a_deadlock) {
    struct backend *b = open_gpu();
    struct err e = {0};
    struct driver d;
    ck_assert(driver_open(&d, &e));
    ck_assert(backend_gpu_begin_timed(b, &e));
    d.cuCtxSynchronize();
    int error;
    backend_gpu_end_timed(b, &error);
    ck_assert_ptr_nonnull(strstr(fake.violations(), "held back"));
    driver_close(&d);
    close_gpu(b);
}
END_TEST

START_TEST(nvml_reports_clocks_and_throttling) {
    find_fake();
    struct gpu_state s;
    struct nvml *n = nvml_open();
    ck_assert_ptr_nonnull(n);
    fake.set_throttle(4, 2);
    nvml_read(n, &s);
    ck_assert(s.valid && s.sm_mhz == 1980 && s.other_processes == 2 &&
              (s.throttle_reasons & NVML_THROTTLE_MASK));
    fake.set_throttle(1, 0); /* idle is no throttling */
    nvml_read(n, &s);
    ck_assert(!(s.throttle_reasons & NVML_THROTTLE_MASK) && s.other_processes == 0);
    nvml_close(n);
}
END_TEST

UNIT_SUITE(backend_gpu) {
    Suite *s = suite_create("backend_gpu");
    TCase *c = tcase_create("fake driver");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_missing_driver_is_reported);
    tcase_add_test(c, a_missing_device_is_reported);
    tcase_add_test(c, a_kernel_launch_writes_its_results);
    tcase_add_test(c, allocations_are_aligned_and_can_be_copied_and_filled);
    tcase_add_test(c, a_held_back_queue_runs_after_its_release);
    tcase_add_test(c, host_buffers_are_pinned_and_copied_both_ways);
    tcase_add_test(c, events_order_work_across_streams);
    tcase_add_test(c, a_host_synchronization_releases_the_queue);
    tcase_add_test(c, a_fault_is_sticky_until_reset);
    tcase_add_test(c, invalid_launch_configurations_are_rejected);
    tcase_add_test(c, the_driver_encodes_tensor_maps);
    tcase_add_test(c, the_fake_driver_detects_a_deadlock);
    tcase_add_test(c, nvml_reports_clocks_and_throttling);
    suite_add_tcase(s, c);
    return s;
}
