/* sim.c — the functions of sim.h: options, memory, modules, launch checks. launch.c has the rest.
 */
#include "grader/sim/sim.h"
#include "grader/sim/code/cluster.h"
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/native/native.h"
#include "grader/sim/race/race.h"
#include "grader/sim/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_sandboxed; /* then no compiler can run */

void sim_init_before_sandbox(void) {
    is_sandboxed = !getenv("SIMGPU_NATIVE");
    memory_create_shadow_file();
}

/* Returns true if the CPU has the minimum instruction set that lane functions are compiled for. */
static bool is_cpu_supported(struct err *e) {
#if defined __x86_64__
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        return err_set(e, ERR_SYSTEM,
                       "this processor has no SSE4.2 and POPCNT, which the simulated GPU requires "
                       "(x86-64 processors have had them since about 2010); in a virtual machine, "
                       "pass the host's processor through");
#endif
    (void)e;
    return true;
}

/* SIMGPU_NATIVE runs whole test suites on native code: "background" takes over during launches,
 * whatever their work, and anything else waits before each. */
static void set_native(struct sim_options *o) {
    const char *mode = getenv("SIMGPU_NATIVE");
    o->compiles_at_once = mode && !strcmp(mode, "background");
    if (o->compiles_at_once) o->native = SIM_NATIVE_IN_BACKGROUND;
    else if (mode) o->native = SIM_NATIVE_BEFORE_LAUNCH;
    if (is_sandboxed) o->native = SIM_NATIVE_NEVER;
}

struct sim *sim_open(const struct sim_options *o, struct err *e) {
    if (!is_cpu_supported(e)) return NULL;
    struct sim *s = xcalloc(1, sizeof *s);
    s->options = *o;
    set_native(&s->options);
    pthread_mutex_init(&s->output_lock, NULL);
    uint64_t limit = o->memory_limit ? o->memory_limit : o->device->dram_bytes;
    unsigned ndevices = o->devices ? o->devices : 1;
    if (memory_open(&s->memory, limit * ndevices, e)) {
        memory_set_devices(&s->memory, ndevices);
        s->memory.spare_host_bytes = o->spare_host_bytes;
        sim_select_device(s, 0, 0);
        return s;
    }
    free(s);
    return NULL;
}

void sim_close(struct sim *s) {
    if (!s) return;
    while (s->modules) sim_unload(s, s->modules);
    race_free(s);
    race_streams_free(s);
    undef_close(s);
    memory_close(&s->memory);
    device_launch_drop(s);
    free(s->textures);
    buf_free(&s->printf_output);
    buf_free(&s->assert_output);
    pthread_mutex_destroy(&s->output_lock);
    free(s);
}

/* ---- several devices ---- */

void sim_select_device(struct sim *s, unsigned device, uint32_t accessible) {
    s->memory.device = device;
    s->accessible_devices = accessible | 1u << device;
}

unsigned sim_device_of(struct sim *s, uint64_t address) {
    const struct allocation *a = memory_find_allocation(&s->memory, address);
    return a ? a->device : 0;
}

/* ---- memory ---- */

uint64_t sim_alloc(struct sim *s, uint64_t bytes, const char *name) {
    return memory_alloc(&s->memory, bytes, name);
}
uint64_t sim_alloc_pages(struct sim *s, uint64_t bytes, const char *name) {
    return memory_alloc_pages(&s->memory, bytes, name);
}
bool sim_map_shared_pages(struct sim *s, uint64_t address, int fd, uint64_t offset) {
    return memory_map_file_pages(&s->memory, address, fd, offset);
}
uint64_t sim_alloc_pinned(struct sim *s, uint64_t bytes, const char *name) {
    uint64_t address = memory_alloc_pages(&s->memory, bytes, name);
    if (address) memory_find_allocation(&s->memory, address)->is_pinned_host = true;
    return address;
}
bool sim_map_host_shared(struct sim *s, int fd, uint64_t offset) {
    return memory_map_host_shared(&s->memory, fd, offset);
}
uint64_t sim_alloc_host_shared(struct sim *s, uint64_t bytes, const char *name) {
    return memory_alloc_host_shared(&s->memory, bytes, name);
}
bool sim_export_pages(struct sim *s, uint64_t address, int *fd, uint64_t *offset) {
    return memory_export_pages(&s->memory, address, fd, offset);
}
void sim_unmap_shared_pages(struct sim *s) { memory_unmap_file_pages(&s->memory); }
enum sim_status sim_free(struct sim *s, uint64_t a) {
    const struct allocation *at = a && s->streams ? memory_find_allocation(&s->memory, a) : NULL;
    if (at) race_streams_remove(s, SIM_BASE + at->start, at->size);
    return a ? memory_free(&s->memory, a) : SIM_OK;
}
void sim_set_stream_clock(struct sim *s, const struct sim_stream_clock *o) {
    race_streams_set_clock(s, s->options.sanitize || s->options.watch ? o : NULL);
}
bool sim_check_host_access(struct sim *s, const char *description,
                           const struct sim_strided_range *r, struct sim_report *out) {
    return race_streams_check_range(s, description, r, out);
}
unsigned sim_list_accesses(const struct sim *s, uint64_t low, uint64_t high,
                           struct sim_access_run *out, unsigned max) {
    return race_streams_list(s, low, high, out, max);
}
void sim_memory_state_hash(const struct sim *s, uint64_t out[SIM_HASH_WORDS]) {
    memory_state_hash(&s->memory, out);
}
uint64_t sim_memory_used(const struct sim *s) { return s->memory.used_by[s->memory.device]; }

bool sim_find_allocation(struct sim *s, uint64_t address, uint64_t *start, uint64_t *bytes) {
    struct allocation *a = memory_find_allocation(&s->memory, address);
    if (!a) return false;
    *start = SIM_BASE + a->start;
    *bytes = a->size;
    return true;
}

static unsigned char *host_range(struct sim *s, uint64_t address, uint64_t bytes) {
    return memory_find_range(&s->memory, address, bytes) < 0
               ? NULL
               : s->memory.bytes + (address - SIM_BASE);
}

enum sim_status sim_write(struct sim *s, uint64_t address, const void *data, uint64_t bytes) {
    unsigned char *p = host_range(s, address, bytes);
    if (!p) return bytes ? SIM_BAD_ADDRESS : SIM_OK;
    if (bytes) memcpy(p, data, bytes);
    memory_set_initialized(&s->memory, address, bytes, true);
    return SIM_OK;
}

enum sim_status sim_read(struct sim *s, uint64_t address, void *data, uint64_t bytes) {
    const unsigned char *p = host_range(s, address, bytes);
    if (!p) return bytes ? SIM_BAD_ADDRESS : SIM_OK;
    if (bytes) memcpy(data, p, bytes);
    return SIM_OK;
}

enum sim_status sim_fill(struct sim *s, uint64_t address, uint8_t value, uint64_t bytes) {
    unsigned char *p = host_range(s, address, bytes);
    if (!p) return bytes ? SIM_BAD_ADDRESS : SIM_OK;
    memset(p, value, bytes);
    memory_set_initialized(&s->memory, address, bytes, true);
    return SIM_OK;
}

/* Copies the shadow memory, too: a copy of uninitialized bytes is uninitialized. */
enum sim_status sim_copy(struct sim *s, uint64_t to, uint64_t from, uint64_t bytes) {
    unsigned char *p = host_range(s, to, bytes), *q = host_range(s, from, bytes);
    if (!bytes) return SIM_OK;
    if (!p || !q) return SIM_BAD_ADDRESS;
    memmove(p, q, bytes);
    if (memory_find_allocation(&s->memory, to)->region == MEM_HOST_SHARED ||
        memory_find_allocation(&s->memory, from)->is_initialized)
        return memory_set_initialized(&s->memory, to, bytes, true), SIM_OK;
    memmove(s->memory.init_shadow + (to - SIM_BASE), s->memory.init_shadow + (from - SIM_BASE),
            bytes);
    if (!memory_is_initialized(&s->memory, to, bytes))
        memory_forget_initialized(memory_find_allocation(&s->memory, to));
    return SIM_OK;
}

enum sim_status sim_mark_initialized(struct sim *s, uint64_t address, uint64_t bytes) {
    if (!host_range(s, address, bytes)) return SIM_BAD_ADDRESS;
    memory_set_initialized(&s->memory, address, bytes, true);
    return SIM_OK;
}

enum sim_status sim_mark_uninitialized(struct sim *s, uint64_t address, uint64_t bytes) {
    if (!host_range(s, address, bytes)) return SIM_BAD_ADDRESS;
    memory_set_initialized(&s->memory, address, bytes, false);
    return SIM_OK;
}

/* ---- modules ---- */

static bool symbol_address(const struct sim_module *m, const char *name, uint64_t *out) {
    for (u32 i = 0; i < m->nvars; i++)
        if (strcmp(m->vars[i].var->name, name) == 0) return *out = m->vars[i].address, true;
    for (u32 i = 0; i < m->nfuncs; i++)
        if (strcmp(m->funcs[i].name, name) == 0) return *out = FUNC_WINDOW + i, true;
    return false;
}

/* Writes the initial value of one variable, including the addresses in it. Without one the variable
 * is zero (PTX ISA, "Initializers"). */
static bool write_initial_value(struct sim *s, const struct sim_module *m,
                                const struct module_var *v, struct err *e) {
    unsigned char *p = s->memory.bytes + (v->address - SIM_BASE);
    memory_zero(&s->memory, v->address, v->var->bytes);
    if (v->var->init) memcpy(p, v->var->init, v->var->bytes);
    for (unsigned i = 0; i < v->var->nrelocs; i++) {
        const struct ptx_reloc *r = &v->var->relocs[i];
        uint64_t at;
        if (!symbol_address(m, r->symbol, &at))
            return err_set(e, ERR_UNSUPPORTED,
                           "variable `%s` holds the address of `%s`, which is not defined",
                           v->var->name, r->symbol);
        at += (uint64_t)r->addend;
        if (r->offset + r->size <= v->var->bytes && r->size <= 8)
            memcpy(p + r->offset, &at, r->size);
    }
    memory_set_initialized(&s->memory, v->address, v->var->bytes, true);
    return true;
}

static bool module_reset(struct sim *s, const struct sim_module *m, struct err *e) {
    for (u32 i = 0; i < m->nvars; i++)
        if (!m->vars[i].is_shared && !write_initial_value(s, m, &m->vars[i], e)) return false;
    return true;
}

static void release_vars(struct sim *s, struct sim_module *m) {
    for (u32 i = 0; i < m->nvars; i++) {
        if (m->vars[i].is_shared) continue;
        struct allocation *a = memory_find_allocation(&s->memory, m->vars[i].address);
        if (a) a->is_module_var = false;
        memory_free(&s->memory, m->vars[i].address);
    }
}

/* Returns true for NVIDIA's device runtime library, which nvcc links to every program with
 * relocatable device code. core/device_launch.c replaces it. */
static bool is_device_runtime(const struct ptx_module *m) {
    return ptx_module_func(m, "cnpGetLastError") || ptx_module_func(m, "cnpLaunchDevice");
}

static struct ptx_module *parse_and_link(struct arena *a, const struct sim_ptx_text *texts,
                                         unsigned n, struct err *e) {
    struct ptx_module **parts = arena_array(a, struct ptx_module *, n);
    unsigned nparts = 0;
    for (unsigned i = 0; i < n; i++) {
        struct ptx_module *m = ptx_parse(a, texts[i].ptx, texts[i].length, e);
        if (!m) return NULL;
        if (n == 1 || !is_device_runtime(m)) parts[nparts++] = m;
    }
    return ptx_link(a, parts, nparts ? nparts : 1, e);
}

struct sim_module *sim_load(struct sim *s, const char *ptx, size_t n, struct err *e) {
    return sim_load_linked(s, &(struct sim_ptx_text){ptx, n}, 1, e);
}

static u64 hash_texts(const struct sim_ptx_text *texts, unsigned n) {
    u64 hash = 14695981039346656037ull; /* FNV-1a */
    for (unsigned i = 0; i < n; i++)
        for (size_t k = 0; k < texts[i].length; k++)
            hash = (hash ^ (u8)texts[i].ptx[k]) * 1099511628211ull;
    return hash;
}

/* Sets the module's device and its twin. */
static void find_twin(struct sim_module *m, const struct sim_ptx_text *texts, unsigned n) {
    m->device = m->sim->memory.device;
    if (m->sim->memory.ndevices == 1) return;
    m->text_hash = hash_texts(texts, n);
    for (const struct sim_module *o = m->sim->modules; o; o = o->next)
        if (o->text_hash == m->text_hash && o->device != m->device && !o->twin) m->twin = o;
}

struct sim_module *sim_load_linked(struct sim *s, const struct sim_ptx_text *texts, unsigned n,
                                   struct err *e) {
    struct sim_module *m = xcalloc(1, sizeof *m);
    m->sim = s, m->options = &s->options, m->memory = &s->memory;
    find_twin(m, texts, n);
    m->ptx = parse_and_link(&m->arena, texts, n, e);
    m->next = s->modules;
    s->modules = m;
    if (m->ptx && code_decode(m, e) && module_reset(s, m, e)) return m;
    sim_unload(s, m);
    return NULL;
}

void sim_unload(struct sim *s, struct sim_module *m) {
    undef_unload(s, m);
    struct sim_module **p = &s->modules;
    while (*p != m) p = &(*p)->next;
    *p = m->next;
    release_vars(s, m);
    native_unload(m);
    arena_free(&m->arena);
    free(m);
}

/* Frees and zeroes everything but module variables, whose bytes are undefined afterwards. */
static void free_all(struct sim *s) {
    memory_free_all(&s->memory);
    race_streams_clear(s);
    s->heap_used = 0;
    s->memory.has_undef_marks = false;
    memory_release_pages(&s->memory); /* so that no replay finds data of the one before */
}

void sim_reset(struct sim *s) {
    free_all(s);
    s->clock_cycles = 0;
    struct err ignored = {0}; /* the same calls succeeded when the module was loaded */
    for (struct sim_module *m = s->modules; m; m = m->next) module_reset(s, m, &ignored);
}

void sim_reset_device(struct sim *s) {
    struct err ignored = {0}; /* the same calls succeeded when the module was loaded */
    uint64_t *starts = xcalloc(s->memory.count + 1ul, sizeof *starts);
    unsigned n = 0;
    for (unsigned i = 0; i < s->memory.count; i++) {
        const struct allocation *a = &s->memory.allocations[i];
        bool is_program_memory = a->region != MEM_INTERNAL && !a->is_module_var;
        if (a->state == ALLOCATION_LIVE && a->device == s->memory.device && is_program_memory)
            starts[n++] = SIM_BASE + a->start;
    }
    while (n) sim_free(s, starts[--n]); /* it may change the table */
    free(starts);
    for (struct sim_module *m = s->modules; m; m = m->next)
        if (m->device == s->memory.device) module_reset(s, m, &ignored);
}

void sim_free_all(struct sim *s) {
    struct buf saved = {0};
    size_t at = 0;
    for (unsigned i = 0; i < s->memory.count; i++)
        if (s->memory.allocations[i].is_module_var)
            buf_add(&saved, s->memory.bytes + s->memory.allocations[i].start,
                    s->memory.allocations[i].size);
    free_all(s);
    for (unsigned i = 0; i < s->memory.count; i++) {
        const struct allocation *a = &s->memory.allocations[i];
        if (!a->is_module_var || !a->size) continue;
        memcpy(s->memory.bytes + a->start, saved.data + at, a->size);
        at += a->size;
    }
    buf_free(&saved);
}

const struct sim_kernel *sim_find_kernel(const struct sim_module *m, const char *name) {
    for (u32 i = 0; i < m->nkernels; i++)
        if (strcmp(m->funcs[m->kernels[i].func_index].name, name) == 0) return &m->kernels[i];
    return NULL;
}

bool sim_find_symbol(const struct sim_module *m, const char *name, uint64_t *address,
                     uint64_t *bytes) {
    for (u32 i = 0; i < m->nvars; i++)
        if (strcmp(m->vars[i].var->name, name) == 0)
            return *address = m->vars[i].address, *bytes = m->vars[i].var->bytes, true;
    return false;
}

void sim_kernel_info(const struct sim_kernel *k, struct sim_kernel_info *out) {
    const struct sim_func *c = &k->module->funcs[k->func_index];
    const struct gpu_device *d = k->module->sim->options.device;
    *out = (struct sim_kernel_info){.name = c->name,
                                    .param_bytes = k->param_bytes,
                                    .static_shared = c->static_shared,
                                    .local_bytes = c->max_local,
                                    .cooperative = c->cooperative,
                                    .may_sync_with_host = c->may_sync_with_host,
                                    .requires_cluster_dims = c->func->explicit_cluster &&
                                                             !c->func->reqnctapercluster[0]};
    for (unsigned i = 0; i < 3 && c->func->reqnctapercluster[0]; i++)
        out->cluster_dims[i] = c->func->reqnctapercluster[i] ? c->func->reqnctapercluster[i] : 1;
    u32 offset = 0, limit = d->threads_per_block;
    for (unsigned i = 0; i < c->func->nparams && i < 256; i++) {
        u32 align = c->func->params[i].align ? c->func->params[i].align : 1;
        offset = (offset + align - 1) / align * align;
        out->params[out->nparams].offset = offset;
        out->params[out->nparams++].bytes = (u32)c->func->params[i].bytes;
        offset += (u32)c->func->params[i].bytes;
    }
    const unsigned *max_block_dims = c->func->maxntid[0] ? c->func->maxntid : c->func->reqntid;
    u64 threads = max_block_dims[0]
                      ? (u64)max_block_dims[0] * (max_block_dims[1] ? max_block_dims[1] : 1) *
                            (max_block_dims[2] ? max_block_dims[2] : 1)
                      : limit;
    out->max_threads = threads < limit ? (u32)threads : limit;
    out->registers = kernel_registers(k);
    out->spill_bytes = k->spill_bytes;
}

void sim_set_registers(const struct sim_kernel *k, uint32_t registers, uint32_t spill_bytes) {
    struct sim_kernel *writable = &k->module->kernels[k - k->module->kernels];
    writable->registers = registers;
    writable->spill_bytes = spill_bytes;
}

void sim_set_machine_code(const struct sim_kernel *k, const struct sass_insn *code, uint32_t n) {
    k->module->sass = code;
    k->module->nsass = n;
}

/* ---- launches ---- */

static const char *reject_launch(struct err *e, const char *error, const char *format, ...) {
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    err_set(e, ERR_INPUT, "%s", text);
    return error;
}

/* Checks cluster dimensions. As on an H100, every size that does not fit is
 * cudaErrorInvalidClusterSize. */
static const char *check_clusters(const struct gpu_device *d, const struct sim_launch *l,
                                  const struct sim_kernel_info *k, struct err *e) {
    static const char error[] = "cudaErrorInvalidClusterSize";
    const u32 *compiled = k->cluster_dims, *requested = l->cluster_dims;
    if (!requested[0] && k->requires_cluster_dims)
        return reject_launch(
            e, error, "the kernel has __cluster_dims__ without a size; the launch must set one");
    if (requested[0] && compiled[0] &&
        (requested[0] != compiled[0] || requested[1] != compiled[1] || requested[2] != compiled[2]))
        return reject_launch(
            e, error, "clusters of (%u,%u,%u) blocks; the kernel was compiled for (%u,%u,%u)",
            requested[0], requested[1], requested[2], compiled[0], compiled[1], compiled[2]);
    const u32 *c = requested[0] ? requested : compiled;
    u64 blocks = (u64)c[0] * c[1] * c[2];
    if (!c[0]) return NULL;
    if (d->cc_major < 9 && blocks > 1)
        return reject_launch(e, error, "clusters require compute capability 9.0");
    if (blocks > (l->allows_nonportable_clusters ? CLUSTER_MAX_SIZE : CLUSTER_MAX_PORTABLE_SIZE))
        return reject_launch(e, error,
                             "clusters of %llu blocks; the limit is %d, or 16 with "
                             "cudaFuncAttributeNonPortableClusterSizeAllowed",
                             (unsigned long long)blocks, CLUSTER_MAX_PORTABLE_SIZE);
    for (unsigned i = 0; i < 3; i++)
        if (!c[i] || l->grid[i] % c[i])
            return reject_launch(
                e, error,
                "a grid of (%u,%u,%u) blocks cannot be divided into clusters of (%u,%u,%u)",
                l->grid[0], l->grid[1], l->grid[2], c[0], c[1], c[2]);
    return NULL;
}

/* Checks the sizes of grid and block. */
static const char *check_shape(const struct gpu_device *d, const struct sim_launch *l,
                               const struct sim_kernel_info *k, struct err *e) {
    u64 threads = (u64)l->block[0] * l->block[1] * l->block[2],
        blocks = (u64)l->grid[0] * l->grid[1];
    if (!threads || !blocks || !l->grid[2])
        return reject_launch(e, "cudaErrorInvalidConfiguration",
                             "an empty launch: grid (%u,%u,%u), block (%u,%u,%u)", l->grid[0],
                             l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
    if (l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 ||
        threads > d->threads_per_block)
        return reject_launch(
            e, "cudaErrorInvalidConfiguration",
            "a block of (%u,%u,%u) = %llu threads; the device allows %u, at most (1024,1024,64)",
            l->block[0], l->block[1], l->block[2], (unsigned long long)threads,
            d->threads_per_block);
    if (threads > k->max_threads)
        return reject_launch(
            e, "cudaErrorInvalidValue",
            "%llu threads a block; the kernel was compiled for at most %u (__launch_bounds__)",
            (unsigned long long)threads, k->max_threads);
    if (l->grid[0] > 2147483647u || l->grid[1] > 65535 || l->grid[2] > 65535)
        return reject_launch(e, "cudaErrorInvalidConfiguration",
                             "a grid of (%u,%u,%u); the device allows (2147483647,65535,65535)",
                             l->grid[0], l->grid[1], l->grid[2]);
    return NULL;
}

/* Checks that an SM has the shared memory and the registers for a block, and the parameters. */
static const char *check_resources(const struct gpu_device *d, const struct sim_launch *l,
                                   const struct sim_kernel_info *k, struct err *e) {
    u64 threads = (u64)l->block[0] * l->block[1] * l->block[2];
    if ((u64)k->static_shared + l->dynamic_shared > d->shared_per_block)
        return reject_launch(e, "cudaErrorInvalidValue",
                             "%u + %u bytes of shared memory a block; the device allows %u",
                             k->static_shared, l->dynamic_shared, d->shared_per_block);
    if (l->param_bytes < k->param_bytes)
        return reject_launch(e, "cudaErrorInvalidValue",
                             "%u bytes of parameters; the kernel takes %u", l->param_bytes,
                             k->param_bytes);
    if (!device_blocks_per_sm(d, (unsigned)threads, k->registers,
                              k->static_shared + l->dynamic_shared, NULL))
        return reject_launch(e, "cudaErrorLaunchOutOfResources",
                             "%llu threads of %u registers; an SM has %u",
                             (unsigned long long)threads, k->registers, d->registers_per_sm);
    return NULL;
}

const char *sim_check_launch(struct sim *s, const struct sim_launch *l, struct err *e) {
    const struct gpu_device *d = s->options.device;
    struct sim_kernel_info k;
    sim_kernel_info(l->kernel, &k);
    const char *error = check_shape(d, l, &k, e);
    if (!error) error = check_clusters(d, l, &k, e);
    return error ? error : check_resources(d, l, &k, e);
}

void sim_drain_output(struct sim *s, struct buf *out, struct buf *errors) {
    buf_add(out, s->printf_output.data, s->printf_output.size);
    buf_add(errors, s->assert_output.data, s->assert_output.size);
    buf_clear(&s->printf_output);
    buf_clear(&s->assert_output);
}

bool sim_set_heap(struct sim *s, uint64_t bytes) {
    if (bytes > SIM_MAX_HEAP_BYTES) return false;
    s->options.heap_bytes = bytes;
    return true;
}

void sim_set_sanitize(struct sim *s, bool on) { s->options.sanitize = on; }
void sim_set_watch(struct sim *s, bool on, uint64_t key) {
    s->options.watch = on, s->options.watch_key = key;
}

void sim_set_reverse_block_order(struct sim *s, bool on) { s->options.reverse_block_order = on; }
void sim_set_split_active_masks(struct sim *s, bool on) { s->options.split_active_masks = on; }

void sim_set_budget(struct sim *s, uint64_t warp_instructions, double seconds) {
    s->options.instruction_budget = warp_instructions;
    s->options.time_budget = seconds;
}

void sim_begin_shared_budget(struct sim *s) {
    s->is_budget_shared = true, s->spent_insns = s->simulation_cost = 0;
}

void sim_set_sample(struct sim *s, uint64_t warps, uint64_t key) {
    s->options.sample_warps = warps, s->options.sample_key = key;
}
