/* backend_sim.c — the simulated GPU as a backend: a thin layer over grader/sim/sim.h. */
#include "grader/server/backend.h"
#include "grader/server/protocol.h"
#include "grader/server/ptxas.h"
#include "grader/sim/ptx/ptx.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_FATBINS = 256 /* fat binaries in one image: files that were compiled apart (-rdc=true) */
};

struct backend_sim {
    struct backend base;
    struct sim *sim;
    struct sim_options options;
    bool timing_enabled;
    bool cold_l2; /* every launch starts with cold caches */
    bool empty_caches;
    unsigned device; /* the selected one */
    /* Bytes between DRAM and L2, by launches since the reset, of each device. */
    double dram_bytes_moved[SIM_MAX_DEVICES];
    struct backend_ptxas ptxas;
    struct ptxas_batch *ptxas_batches;
    unsigned nptxas_batches;
};

/* ptxas running on a module's texts until one of its kernels is looked up. */
struct ptxas_batch {
    void *module;
    struct ptxas_run *runs[MAX_FATBINS];
    unsigned nruns;
};

struct sim *backend_sim(struct backend *b) {
    return ((struct backend_sim *)b)->sim;
}

void backend_sim_set_instruction_budget(struct backend *b, uint64_t budget) {
    ((struct backend_sim *)b)->options.instruction_budget = budget;
    sim_begin_shared_budget(backend_sim(b));
}

void backend_sim_set_cold_l2(struct backend *b, bool on) {
    ((struct backend_sim *)b)->cold_l2 = on;
}
void backend_sim_set_empty_caches(struct backend *b, bool on) {
    ((struct backend_sim *)b)->empty_caches = on;
}
void backend_sim_set_timing(struct backend *b, bool on) {
    ((struct backend_sim *)b)->timing_enabled = on;
}

void backend_sim_set_ptxas(struct backend *b, const struct backend_ptxas *p) {
    ((struct backend_sim *)b)->ptxas = *p;
}

/* ---- registers from ptxas ---- */

static void start_ptxas_batch(struct backend_sim *s, void *module, const struct sim_ptx_text *texts,
                              unsigned n) {
    unsigned arch = s->base.device->cc_major * 10 + s->base.device->cc_minor;
    if (!s->ptxas.path) return;
    s->ptxas_batches =
        xrealloc(s->ptxas_batches, (s->nptxas_batches + 1) * sizeof *s->ptxas_batches);
    struct ptxas_batch *p = &s->ptxas_batches[s->nptxas_batches++];
    *p = (struct ptxas_batch){.module = module, .nruns = n};
    for (unsigned i = 0; i < n; i++)
        p->runs[i] = ptxas_begin(texts[i].ptx, texts[i].length, arch < 75 ? 75 : arch, n > 1,
                                 s->ptxas.path, s->ptxas.cache);
}

/* `asked`: a kernel is looked up; otherwise the module is unloaded. */
static void finish_ptxas_batch(struct backend_sim *s, const void *module, bool apply) {
    for (unsigned i = 0; i < s->nptxas_batches; i++) {
        struct ptxas_batch *p = &s->ptxas_batches[i];
        if (p->module != module) continue;
        for (unsigned k = 0; k < p->nruns; k++) {
            struct err e = {0};
            if (!ptxas_end(p->runs[k], apply ? p->module : NULL, &e) && apply &&
                s->ptxas.on_failure)
                s->ptxas.on_failure(s->ptxas.user, e.text);
        }
        *p = s->ptxas_batches[--s->nptxas_batches];
        return;
    }
}

static void sim_backend_close(struct backend *b) {
    struct backend_sim *s = (struct backend_sim *)b;
    while (s->nptxas_batches) finish_ptxas_batch(s, s->ptxas_batches[0].module, false);
    free(s->ptxas_batches);
    sim_close(backend_sim(b));
    free(b);
}

static void sim_backend_reset(struct backend *b) {
    struct backend_sim *s = (struct backend_sim *)b;
    memset(s->dram_bytes_moved, 0, sizeof s->dram_bytes_moved);
    sim_reset(backend_sim(b));
}
static void sim_backend_select_device(struct backend *b, unsigned device, uint32_t accessible) {
    ((struct backend_sim *)b)->device = device;
    sim_select_device(backend_sim(b), device, accessible);
}
static unsigned sim_backend_device_of(struct backend *b, uint64_t address) {
    return sim_device_of(backend_sim(b), address);
}
static void sim_backend_reset_device(struct backend *b) {
    struct backend_sim *s = (struct backend_sim *)b;
    s->dram_bytes_moved[s->device] = 0;
    sim_reset_device(backend_sim(b));
}
static void sim_backend_free_all(struct backend *b) { sim_free_all(backend_sim(b)); }

/* PTX text that a program generated at run time; a fat binary does not begin with text. */
static bool is_text(const void *image, size_t size) {
    const unsigned char *p = image;
    size_t n = size < 64 ? strnlen(image, size) : 64;
    for (size_t i = 0; i < n; i++)
        if (p[i] >= 0x7f || (p[i] < ' ' && p[i] != '\n' && p[i] != '\t' && p[i] != '\r'))
            return false;
    return n > 0;
}

static int sim_backend_load(struct backend *b, const void *image, size_t size, void **module,
                            struct err *e) {
    struct arena arena = {0};
    struct sim_ptx_text texts[MAX_FATBINS];
    unsigned n = 0, sm = b->device->cc_major * 10 + b->device->cc_minor;
    bool found = true;
    for (size_t at = 0, bytes; found && at < size; at += bytes) {
        const uint8_t *image_part = (const uint8_t *)image + at;
        bytes = ptx_fatbin_bytes(image_part, size - at);
        if (n && !bytes) break; /* what follows is none */
        if (n == MAX_FATBINS)
            return arena_free(&arena), err_set(e, ERR_LIMIT, "more than %d files", MAX_FATBINS),
                   WB_cudaErrorInvalidPtx;
        bool text = is_text(image_part, size - at);
        if (text) texts[n].length = bytes = strnlen((const char *)image_part, size - at);
        texts[n].ptx =
            text ? (const char *)image_part
                 : ptx_from_fatbin(&arena, image_part, size - at, sm, &texts[n].length, e);
        found = texts[n++].ptx;
    }
    *module = found && n ? sim_load_linked(backend_sim(b), texts, n, e) : NULL;
    if (*module) start_ptxas_batch((struct backend_sim *)b, *module, texts, n);
    arena_free(&arena);
    if (*module) return 0;
    if (!found || !n) return WB_cudaErrorNoKernelImageForDevice;
    return e->kind == ERR_UNSUPPORTED ? WB_cudaErrorNotSupported
           : e->kind == ERR_LIMIT     ? WB_cudaErrorMemoryAllocation
                                      : WB_cudaErrorInvalidPtx;
}

static void sim_backend_unload(struct backend *b, void *module) {
    finish_ptxas_batch((struct backend_sim *)b, module, false);
    sim_unload(backend_sim(b), module);
}

static bool sim_backend_find_kernel(struct backend *b, void *module, const char *name,
                                    struct backend_kernel *out) {
    finish_ptxas_batch((struct backend_sim *)b, module, true);
    const struct sim_kernel *k = sim_find_kernel(module, name);
    out->handle = k;
    if (k) sim_kernel_info(k, &out->info);
    return k;
}

static bool sim_backend_find_symbol(struct backend *b, void *module, const char *name,
                                    uint64_t *address, uint64_t *bytes) {
    (void)b;
    return sim_find_symbol(module, name, address, bytes);
}

static uint64_t sim_backend_alloc(struct backend *b, uint64_t bytes, const char *name) {
    return sim_alloc(backend_sim(b), bytes, name);
}
static uint64_t sim_backend_alloc_pages(struct backend *b, uint64_t bytes, const char *name) {
    return sim_alloc_pages(backend_sim(b), bytes, name);
}
static uint64_t sim_backend_alloc_host(struct backend *b, uint64_t bytes, const char *name) {
    return sim_alloc_pinned(backend_sim(b), bytes, name);
}
static uint64_t sim_backend_map_shared(struct backend *b, int fd, uint64_t offset) {
    return sim_map_host_shared(backend_sim(b), fd, offset) ? SIM_HOST_SHARED_BYTES : 0;
}
static uint64_t sim_backend_alloc_shared(struct backend *b, uint64_t bytes, const char *name) {
    return sim_alloc_host_shared(backend_sim(b), bytes, name);
}
static bool sim_backend_share_pages(struct backend *b, uint64_t address, int fd, uint64_t offset) {
    return sim_map_shared_pages(backend_sim(b), address, fd, offset);
}
static bool sim_backend_export_pages(struct backend *b, uint64_t address, int *fd,
                                     uint64_t *offset) {
    return sim_export_pages(backend_sim(b), address, fd, offset);
}
static void sim_backend_unshare_pages(struct backend *b) { sim_unmap_shared_pages(backend_sim(b)); }
static bool sim_backend_mark_contents(struct backend *b, uint64_t address, uint64_t bytes,
                                      bool written) {
    return (written ? sim_mark_initialized : sim_mark_uninitialized)(backend_sim(b), address,
                                                                     bytes) == SIM_OK;
}
static bool sim_backend_free(struct backend *b, uint64_t address) {
    return sim_free(backend_sim(b), address) == SIM_OK;
}
static bool sim_backend_find_allocation(struct backend *b, uint64_t address, uint64_t *start,
                                        uint64_t *bytes) {
    return sim_find_allocation(backend_sim(b), address, start, bytes);
}
static uint64_t sim_backend_memory_used(struct backend *b) {
    return sim_memory_used(backend_sim(b));
}
static bool sim_backend_write(struct backend *b, uint64_t to, const void *data, uint64_t bytes) {
    return sim_write(backend_sim(b), to, data, bytes) == SIM_OK;
}
static bool sim_backend_read(struct backend *b, uint64_t from, void *data, uint64_t bytes) {
    return sim_read(backend_sim(b), from, data, bytes) == SIM_OK;
}
static bool sim_backend_fill(struct backend *b, uint64_t to, uint8_t value, uint64_t bytes) {
    return sim_fill(backend_sim(b), to, value, bytes) == SIM_OK;
}
static bool sim_backend_copy(struct backend *b, uint64_t to, uint64_t from, uint64_t bytes) {
    return sim_copy(backend_sim(b), to, from, bytes) == SIM_OK;
}

static void sim_backend_memory_state_hash(struct backend *b, struct backend_hash *out) {
    sim_memory_state_hash(backend_sim(b), out->words);
}

static bool sim_backend_check_initialized(struct backend *b, uint64_t from, uint64_t bytes,
                                          struct sim_report *out) {
    return sim_check_undefined(backend_sim(b), from, bytes, out);
}

static void sim_backend_set_stream_clock(struct backend *b, const struct sim_stream_clock *o) {
    sim_set_stream_clock(backend_sim(b), o);
}
static bool sim_backend_check_host_access(struct backend *b, const char *description,
                                          const struct sim_strided_range *r,
                                          struct sim_report *out) {
    return sim_check_host_access(backend_sim(b), description, r, out);
}
static unsigned sim_backend_list_accesses(struct backend *b, uint64_t low, uint64_t high,
                                          struct sim_access_run *out, unsigned max) {
    return sim_list_accesses(backend_sim(b), low, high, out, max);
}

static uint64_t sim_backend_texture_create(struct backend *b, const struct sim_texture *t) {
    return sim_texture_create(backend_sim(b), t);
}
static bool sim_backend_texture_destroy(struct backend *b, uint64_t handle) {
    return sim_texture_destroy(backend_sim(b), handle);
}

static struct sim_launch to_sim_launch(const struct backend_launch *l) {
    struct sim_launch s = {
        .kernel = l->kernel,
        .dynamic_shared = l->dynamic_shared,
        .params = l->params,
        .param_bytes = l->param_bytes,
        .cooperative = l->cooperative,
        .allows_nonportable_clusters = l->large_clusters,
    };
    memcpy(s.cluster_dims, l->cluster, sizeof s.cluster_dims);
    memcpy(s.grid, l->grid, sizeof s.grid);
    memcpy(s.block, l->block, sizeof s.block);
    return s;
}

/* The simulator names errors, because it may not depend on the protocol. */
static int error_by_name(const char *name) {
    static const struct {
        const char *name;
        int code;
    } errors[] = {
#define X(id, code, text) {#id, code},
#include "grader/server/errors.def"
#undef X
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(errors[i].name, name)) return errors[i].code;
    return WB_cudaErrorUnknown;
}

static int sim_backend_check_launch(struct backend *b, const struct backend_launch *l,
                                    struct err *e) {
    struct sim_launch s = to_sim_launch(l);
    const char *name = sim_check_launch(backend_sim(b), &s, e);
    return name ? error_by_name(name) : 0;
}

static const int fault_errors[SIM_FAULT_COUNT] = {
#define X(id, text, error) [id] = WB_##error,
    SIM_FAULTS(X)
#undef X
};

/* A kernel that accesses other devices' memory takes as long as the link needs for that. */
static void add_link_time(const struct gpu_device *d, struct backend_result *out) {
    double seconds = time_peer_kernel_seconds(d, (double)out->sim.peer_bytes);
    if (seconds <= out->seconds) return;
    out->seconds = seconds;
    if (!(out->estimate.seconds > 0)) return;
    out->estimate.seconds = out->estimate.low = seconds;
    if (out->estimate.high < seconds) out->estimate.high = seconds;
    out->estimate.uncertainty_note = "limited by the link between the devices";
}

static void sim_backend_launch(struct backend *b, const struct backend_launch *l,
                               struct backend_result *out) {
    struct sim_launch s = to_sim_launch(l);
    memset(out, 0, sizeof *out);
    uint64_t sample = sim_get_sample_warps(backend_sim(b));
    bool timing = sample || ((struct backend_sim *)b)->timing_enabled;
    double warps = ((double)s.block[0] * s.block[1] * s.block[2] + 31) / 32 * s.grid[0] *
                   s.grid[1] * s.grid[2];
    struct backend_sim *bs = (struct backend_sim *)b;
    /* L2 keeps the previous launch's data. */
    struct time_options o = {
        .full_grid = warps <= (double)sample || !sample,
        .prior_dram_bytes = bs->cold_l2 || bs->empty_caches ? 0 : bs->dram_bytes_moved[bs->device],
        .empty_l2 = bs->empty_caches};
    if (timing) timing = time_launch(backend_sim(b), &s, &o, &out->sim, &out->estimate);
    else sim_launch(backend_sim(b), &s, &out->sim);
    if (timing) bs->dram_bytes_moved[bs->device] += out->estimate.dram_bytes;
    out->error = fault_errors[out->sim.fault];
    struct time_estimate counter_estimate = {0};
    if (!timing) time_from_counters(b->device, &s, &out->sim, &counter_estimate);
    out->seconds = timing ? out->estimate.seconds : counter_estimate.seconds;
    if (out->sim.peer_bytes) add_link_time(b->device, out);
}

static unsigned sim_backend_occupancy(struct backend *b, const void *kernel, unsigned threads,
                                      unsigned dynamic_shared) {
    struct sim_kernel_info info;
    sim_kernel_info(kernel, &info);
    if (threads > info.max_threads) return 0;
    return device_blocks_per_sm(b->device, threads, info.registers,
                                info.static_shared + dynamic_shared, NULL);
}

static void sim_backend_set_time_limit(struct backend *b, double seconds) {
    struct backend_sim *s = (struct backend_sim *)b;
    double default_limit = s->options.time_budget;
    double limit = !seconds || (default_limit && default_limit < seconds) ? default_limit : seconds;
    sim_set_budget(s->sim, s->options.instruction_budget, limit);
}

static void sim_backend_drain_output(struct backend *b, struct buf *out, struct buf *errors) {
    sim_drain_output(backend_sim(b), out, errors);
}

static bool sim_backend_set_heap_size(struct backend *b, uint64_t bytes) {
    return sim_set_heap(backend_sim(b), bytes);
}

static const struct backend_ops sim_ops = {
#define OP(name) .name = sim_backend_##name
    OP(close),
    OP(reset),
    OP(free_all),
    OP(select_device),
    OP(device_of),
    OP(reset_device),
    OP(load),
    OP(unload),
    OP(find_kernel),
    OP(find_symbol),
    OP(alloc),
    OP(alloc_pages),
    OP(share_pages),
    OP(export_pages),
    OP(unshare_pages),
    OP(mark_contents),
    OP(free),
    OP(find_allocation),
    OP(memory_used),
    OP(write),
    OP(read),
    OP(memory_state_hash),
    OP(check_initialized),
    OP(set_stream_clock),
    OP(check_host_access),
    OP(list_accesses),
    OP(fill),
    OP(copy),
    OP(check_launch),
    OP(launch),
    OP(occupancy),
    OP(set_time_limit),
    OP(drain_output),
    OP(map_shared),
    OP(alloc_shared),
    OP(texture_create),
    OP(texture_destroy),
    OP(set_heap_size),
    OP(alloc_host),
#undef OP
};

struct backend *backend_sim_open(const struct sim_options *o, struct err *e) {
    struct sim *sim = sim_open(o, e);
    if (!sim) return NULL;
    struct backend_sim *b = xcalloc(1, sizeof *b);
    b->base = (struct backend){
        .ops = &sim_ops,
        .device = o->device,
        .base = SIM_BASE,
        .span = SIM_SPAN,
        .memory_bytes = o->memory_limit ? o->memory_limit : o->device->dram_bytes,
        .ndevices = o->devices ? o->devices : 1,
    };
    b->sim = sim;
    b->options = *o;
    return &b->base;
}
