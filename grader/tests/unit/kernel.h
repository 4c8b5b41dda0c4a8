/* kernel.h — PTX kernels in unit tests: a device, a module, a launch.
 *
 *   struct kernel_rig r = rig_open("…PTX…");
 *   uint64_t in = sim_alloc(r.sim, 1024, "in"), params[] = {in};
 *   struct sim_result got = rig_run(&r, "k", 1, 32, params, sizeof params);
 *   … sim_result_free(&got); rig_close(&r); */
#pragma once
#include "common/arena.h"
#include "grader/sim/sim.h"

struct kernel_rig {
    struct sim *sim;
    struct sim_module *module;
};

struct rig_options {
    unsigned workers; /* 0 = 1 */
    bool sanitize, adversarial, ptx_counters;
    uint64_t memory;    /* of each device */
    unsigned devices;   /* 0 = 1 */
    const char *device; /* NULL = h200 */
    enum sim_native native;
};

/* Fails the test where the PTX does not load. */
struct kernel_rig rig_open(const char *ptx);
struct kernel_rig rig_open_with(const char *ptx, struct rig_options o);
void rig_close(struct kernel_rig *r);
/* A one-dimensional launch. */
struct sim_result rig_run(struct kernel_rig *r, const char *kernel, uint32_t grid, uint32_t block,
                          const void *params, uint32_t bytes);
/* What one source line counted; zeros if nothing. */
struct sim_counters rig_line(const struct sim_result *r, uint32_t line);
/* The report of one kind, or NULL. */
const struct sim_report *rig_report(const struct sim_result *r, enum sim_fault fault);
/* PTX with something filled in. */
char *rig_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
