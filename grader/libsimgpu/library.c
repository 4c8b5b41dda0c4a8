/* library.c — libsimgpu's functions (simgpu.h), by the simulator's interface (sim.h). The Makefile
 * joins it and the parts of the simulator that it needs into lib/libsimgpu.a, in which only names
 * that begin with `simgpu_` are global. */
#include "grader/libsimgpu/simgpu.h"
#include "grader/sim/timing/timing.h"

#include <stdlib.h>
#include <string.h>

struct simgpu {
    struct sim *sim;
    struct err error;
    bool models_time;
    double dram_bytes; /* moved by earlier launches: what L2 holds */
    struct sim_result result;
    struct time_estimate estimate;
};

static _Thread_local struct err open_error;

simgpu *simgpu_open(const char *device, unsigned flags) {
    open_error = (struct err){0};
    struct sim_options o = {
        .device = device_find(device ? device : "h200"),
        .sanitize = !(flags & SIMGPU_NO_SANITIZER),
        .hardware_order = flags & SIMGPU_HARDWARE_ORDER,
    };
    if (!o.device) {
        err_set(&open_error, ERR_INPUT, "unknown device '%.60s'; `simgpu devices` lists all",
                device);
        return NULL;
    }
    simgpu *g = xcalloc(1, sizeof *g);
    g->models_time = flags & SIMGPU_MODEL_TIME;
    g->sim = sim_open(&o, &open_error);
    if (!g->sim) free(g), g = NULL;
    return g;
}

void simgpu_close(simgpu *g) {
    if (!g) return;
    sim_result_free(&g->result);
    sim_close(g->sim);
    free(g);
}

const char *simgpu_error(const simgpu *g) { return g ? g->error.text : open_error.text; }

void simgpu_set_limits(simgpu *g, uint64_t warp_instructions, double seconds) {
    sim_set_budget(g->sim, warp_instructions, seconds);
}

/* Sets the error of a call, in place of an earlier call's. Returns false. */
static bool fail(simgpu *g, const char *text, const char *subject) {
    g->error = (struct err){0};
    return err_set(&g->error, ERR_INPUT, "%s%.200s", text, subject);
}

/* Drops the results of the last launch, and its error. */
static void reset_results(simgpu *g) {
    sim_result_free(&g->result);
    g->result = (struct sim_result){0}, g->estimate = (struct time_estimate){0};
    g->error = (struct err){0};
}

/* ---- device memory ---- */

uint64_t simgpu_alloc(simgpu *g, uint64_t bytes, const char *name) {
    uint64_t address = sim_alloc(g->sim, bytes, name);
    if (!address) fail(g, "out of device memory", "");
    return address;
}

static bool range_status(simgpu *g, enum sim_status status) {
    return status == SIM_OK || fail(g, "the range does not lie in one live allocation", "");
}

bool simgpu_free(simgpu *g, uint64_t address) {
    return sim_free(g->sim, address) == SIM_OK ||
           fail(g, "no live allocation begins at this address", "");
}

bool simgpu_write(simgpu *g, uint64_t to, const void *from, uint64_t bytes) {
    return range_status(g, sim_write(g->sim, to, from, bytes));
}

/* Adds a finding if the host gets values that were computed from uninitialized reads. Each kind of
 * finding occurs once, so there is room unless this one is there already. */
static void check_undefined(simgpu *g, uint64_t from, uint64_t bytes) {
    struct sim_report report;
    if (!sim_check_undefined(g->sim, from, bytes, &report)) return;
    if (g->result.nreports < SIM_FAULT_COUNT) g->result.reports[g->result.nreports++] = report;
}

bool simgpu_read(simgpu *g, uint64_t from, void *to, uint64_t bytes) {
    check_undefined(g, from, bytes);
    return range_status(g, sim_read(g->sim, from, to, bytes));
}

bool simgpu_fill(simgpu *g, uint64_t to, uint8_t value, uint64_t bytes) {
    return range_status(g, sim_fill(g->sim, to, value, bytes));
}

/* ---- modules: simgpu_module is the simulator's own module ---- */

static const struct sim_module *sim_module_of(const simgpu_module *m) { return (const void *)m; }

simgpu_module *simgpu_load_ptx(simgpu *g, const char *text, size_t length) {
    g->error = (struct err){0};
    return (void *)sim_load(g->sim, text, length, &g->error);
}

void simgpu_unload(simgpu *g, simgpu_module *m) {
    reset_results(g); /* reports name the module's files */
    sim_unload(g->sim, (void *)m);
}

bool simgpu_variable(simgpu *g, const simgpu_module *m, const char *name, uint64_t *address,
                     uint64_t *bytes) {
    return sim_find_symbol(sim_module_of(m), name, address, bytes) ||
           fail(g, "the module has no variable ", name);
}

static const struct sim_kernel *find_kernel(simgpu *g, const simgpu_module *m, const char *name) {
    const struct sim_kernel *k = sim_find_kernel(sim_module_of(m), name);
    if (!k) fail(g, "the module has no kernel ", name);
    return k;
}

bool simgpu_set_registers(simgpu *g, const simgpu_module *m, const char *kernel, unsigned registers,
                          unsigned spill_bytes) {
    const struct sim_kernel *k = find_kernel(g, m, kernel);
    if (k) sim_set_registers(k, registers, spill_bytes);
    return k;
}

/* ---- launches ---- */

static void copy_dims(uint32_t to[3], const unsigned from[3]) {
    for (unsigned i = 0; i < 3; i++) to[i] = from[i] ? from[i] : 1;
}

/* Lays the arguments out as the kernel's parameter space. The caller frees it. */
static void *lay_out_arguments(const struct sim_kernel_info *info, void **arguments) {
    char *space = xcalloc(info->param_bytes + 1, 1);
    for (uint32_t i = 0; i < info->nparams; i++)
        memcpy(space + info->params[i].offset, arguments[i], info->params[i].bytes);
    return space;
}

static void run_launch(simgpu *g, const struct sim_launch *l) {
    struct time_options o = {.full_grid = true, .prior_dram_bytes = g->dram_bytes};
    if (!g->models_time) return sim_launch(g->sim, l, &g->result);
    if (time_launch(g->sim, l, &o, &g->result, &g->estimate))
        g->dram_bytes += g->estimate.dram_bytes;
}

/* Returns true if no fault ended the launch, else sets the fault's report as the error. */
static bool launch_status(simgpu *g) {
    if (g->result.fault == SIM_FAULT_NONE) return true;
    const char *text = sim_fault_name(g->result.fault);
    for (unsigned i = 0; i < g->result.nreports; i++)
        if (g->result.reports[i].fault == g->result.fault) text = g->result.reports[i].text;
    return err_set(&g->error, ERR_INPUT, "%s", text);
}

bool simgpu_run(simgpu *g, const simgpu_launch *l) {
    reset_results(g);
    const struct sim_kernel *kernel = find_kernel(g, l->module, l->kernel);
    if (!kernel) return false;
    struct sim_kernel_info info;
    sim_kernel_info(kernel, &info);
    if (info.nparams && !l->arguments) return fail(g, "arguments are missing for ", l->kernel);
    struct sim_launch s = {.kernel = kernel,
                           .dynamic_shared = l->dynamic_shared_bytes,
                           .param_bytes = info.param_bytes,
                           .cooperative = l->is_cooperative};
    copy_dims(s.grid, l->grid), copy_dims(s.block, l->block);
    if (l->cluster[0]) copy_dims(s.cluster_dims, l->cluster);
    if (sim_check_launch(g->sim, &s, &g->error)) return false;
    void *space = lay_out_arguments(&info, l->arguments);
    s.params = space;
    run_launch(g, &s);
    free(space);
    return launch_status(g);
}

static uint64_t counter_of(simgpu *g, const struct sim_counters *c, const char *name) {
    for (unsigned i = 0; i < sim_counter_count(); i++)
        if (!strcmp(sim_counter_name(i), name)) return sim_counter_get(c, i);
    return fail(g, "there is no counter ", name);
}

uint64_t simgpu_counter(simgpu *g, const char *name) {
    return counter_of(g, &g->result.counters, name);
}

const char *simgpu_counter_name(unsigned i) {
    return i < sim_counter_count() ? sim_counter_name(i) : NULL;
}

unsigned simgpu_line_count(const simgpu *g) { return g->result.nlines; }

const char *simgpu_line(const simgpu *g, unsigned i, unsigned *line) {
    if (i >= g->result.nlines) return NULL;
    *line = g->result.lines[i].line;
    return g->result.lines[i].file;
}

uint64_t simgpu_line_counter(simgpu *g, unsigned i, const char *name) {
    if (i < g->result.nlines) return counter_of(g, &g->result.lines[i].counters, name);
    return fail(g, "the launch has no such line", "");
}

double simgpu_modelled_seconds(const simgpu *g, double *low, double *high) {
    if (low) *low = g->estimate.low;
    if (high) *high = g->estimate.high;
    return g->estimate.seconds;
}

unsigned simgpu_finding_count(const simgpu *g) { return g->result.nreports; }

bool simgpu_get_finding(const simgpu *g, unsigned i, simgpu_finding *out) {
    if (i >= g->result.nreports) return false;
    const struct sim_report *r = &g->result.reports[i];
    *out = (simgpu_finding){.kind = sim_fault_name(r->fault),
                            .text = r->text,
                            .file = r->file ? r->file : "",
                            .count = r->count,
                            .address = r->address,
                            .line = r->line,
                            .is_note = sim_fault_is_note(r->fault)};
    memcpy(out->block, r->block, sizeof out->block);
    memcpy(out->thread, r->thread, sizeof out->thread);
    return true;
}

size_t simgpu_output(simgpu *g, char *out, size_t size) {
    struct buf text = {0};
    sim_drain_output(g->sim, &text, &text);
    size_t length = text.size < size ? text.size : size ? size - 1 : 0;
    if (length) memcpy(out, text.data, length);
    if (size) out[length] = 0;
    buf_free(&text);
    return length;
}
