/* kernel.c — implements kernel.h. */
#include "grader/tests/unit/kernel.h"
#include "grader/sim/timing/timing.h"

#include <check.h>
#include <stdarg.h>
#include <string.h>

struct kernel_rig rig_open_with(const char *ptx, struct rig_options o) {
    struct err e = {0};
    struct sim_options so = {.device = device_find(o.device ? o.device : "h200"),
                             .workers = o.workers ? o.workers : 1,
                             .sanitize = o.sanitize,
                             .adversarial_schedule = o.adversarial,
                             .memory_limit = o.memory,
                             .devices = o.devices,
                             .ptx_counters = o.ptx_counters,
                             .native = o.native};
    struct kernel_rig r = {.sim = sim_open(&so, &e)};
    ck_assert_msg(r.sim != NULL, "%s", e.text);
    r.module = sim_load(r.sim, ptx, strlen(ptx), &e);
    ck_assert_msg(r.module != NULL, "%s", e.text);
    return r;
}

struct kernel_rig rig_open(const char *ptx) {
    return rig_open_with(ptx, (struct rig_options){0});
}

void rig_close(struct kernel_rig *r) { sim_close(r->sim); }

struct sim_result rig_run(struct kernel_rig *r, const char *kernel, uint32_t grid, uint32_t block,
                          const void *params, uint32_t bytes) {
    struct err e = {0};
    struct sim_result result;
    struct sim_launch l = {.kernel = sim_find_kernel(r->module, kernel),
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .params = params,
                           .param_bytes = bytes};
    ck_assert_msg(l.kernel != NULL, "no kernel %s", kernel);
    const char *refused = sim_check_launch(r->sim, &l, &e);
    ck_assert_msg(refused == NULL, "%s: %s", refused, e.text);
    sim_launch(r->sim, &l, &result);
    return result;
}

struct sim_counters rig_line(const struct sim_result *r, uint32_t line) {
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == line) return r->lines[i].counters;
    return (struct sim_counters){0};
}

const struct sim_report *rig_report(const struct sim_result *r, enum sim_fault fault) {
    for (unsigned i = 0; i < r->nreports; i++)
        if (r->reports[i].fault == fault) return &r->reports[i];
    return NULL;
}

char *rig_printf(struct arena *a, const char *format, ...) {
    struct buf text = {0};
    va_list ap;
    va_start(ap, format);
    buf_vprintf(&text, format, ap);
    va_end(ap);
    char *copy = arena_strndup(a, text.data, text.size);
    buf_free(&text);
    return copy;
}
