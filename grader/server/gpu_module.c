/* gpu_module.c — modules on a real GPU: extracts the PTX from the fat binary, compiles it for the
 * present GPU, and reads kernel parameters and initial values of variables from it. */
#include "grader/server/gpu_internal.h"
#include "grader/sim/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct backend_gpu *gpu_of(const struct backend *b) { return (struct backend_gpu *)b; }

/* ---- compiling ---- */

/* Uses the image's machine code for this GPU, if any; otherwise the driver compiles the PTX. */
static int load_image(struct backend_gpu *g, struct gpu_module *m, const char *machine,
                      const char *ptx, struct err *e) {
    char log[2048] = "";
    int error = machine ? g->d.cuModuleLoadDataEx(&m->handle, machine, 0, NULL, NULL) : -1;
    g->info.compiled_by = "ptxas, for this GPU";
    if (!error) return 0;
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES, JIT_LINE_INFO};
    void *values[] = {log, (void *)sizeof log, (void *)1};
    error = g->d.cuModuleLoadDataEx(&m->handle, ptx, 3, options, values);
    g->info.compiled_by = "the driver, from PTX";
    if (error)
        err_set(e, ERR_INPUT, "the driver cannot compile the device code (error %d): %.300s", error,
                log);
    return error;
}

/* ---- kernels and variables from the PTX ---- */

static const struct ptx_func *function_of(const struct gpu_module *m, const char *name) {
    const struct ptx_func *f = ptx_module_func(m->ptx, name);
    return f && f->is_entry ? f : NULL;
}

static void compute_param_layout(const struct ptx_func *f, struct sim_kernel_info *info) {
    uint32_t offset = 0;
    for (unsigned i = 0; i < f->nparams && i < 256; i++) {
        uint32_t align = f->params[i].align ? f->params[i].align : 1;
        offset = (offset + align - 1) / align * align;
        info->params[info->nparams].offset = offset;
        info->params[info->nparams++].bytes = (uint32_t)f->params[i].bytes;
        offset += (uint32_t)f->params[i].bytes;
    }
    info->param_bytes = offset;
}

static uint32_t get_function_attribute(struct backend_gpu *g, void *function, int attribute) {
    int value = 0;
    g->d.cuFuncGetAttribute(&value, attribute, function);
    return value > 0 ? (uint32_t)value : 0;
}

static struct gpu_kernel *make_kernel(struct backend_gpu *g, struct gpu_module *m,
                                      const char *name) {
    const struct ptx_func *f = function_of(m, name);
    void *function = NULL;
    if (!f || gpu_check_error(g, g->d.cuModuleGetFunction(&function, m->handle, name))) return NULL;
    struct gpu_kernel *k = xcalloc(1, sizeof *k);
    *k = (struct gpu_kernel){
        .module = m, .function = function, .name = xstrdup(name), .next = m->kernels};
    k->info.name = k->name;
    compute_param_layout(f, &k->info);
    k->info.static_shared = get_function_attribute(g, function, FUNCTION_SHARED);
    k->info.local_bytes = get_function_attribute(g, function, FUNCTION_LOCAL);
    k->info.const_bytes = get_function_attribute(g, function, FUNCTION_CONST);
    k->info.registers = get_function_attribute(g, function, FUNCTION_REGISTERS);
    k->info.max_threads = get_function_attribute(g, function, FUNCTION_MAX_THREADS);
    return m->kernels = k;
}

bool gpu_find_kernel(struct backend *b, void *module, const char *name,
                     struct backend_kernel *out) {
    struct gpu_module *m = module;
    struct gpu_kernel *k = m->kernels;
    while (k && strcmp(k->name, name)) k = k->next;
    if (!k) k = make_kernel(gpu_of(b), m, name);
    if (!k) return false;
    *out = (struct backend_kernel){.handle = k, .info = k->info};
    return true;
}

/* ---- variables ---- */

bool gpu_find_symbol(struct backend *b, void *module, const char *name, uint64_t *address,
                     uint64_t *bytes) {
    struct gpu_module *m = module;
    size_t size = 0;
    if (gpu_of(b)->d.cuModuleGetGlobal_v2(address, &size, m->handle, name)) return false;
    *bytes = size;
    return true;
}

/* Records the variables' addresses and initial values, which a reset restores. */
static void save_variables(struct backend_gpu *g, struct gpu_module *m) {
    m->variables = xcalloc(m->ptx->nvars + 1, sizeof *m->variables);
    for (unsigned i = 0; i < m->ptx->nvars; i++) {
        struct gpu_variable v = {0};
        size_t size = 0;
        if (g->d.cuModuleGetGlobal_v2(&v.address, &size, m->handle, m->ptx->vars[i]->name) || !size)
            continue;
        v.bytes = size;
        v.initial = xcalloc(1, size);
        if (gpu_check_error(g, g->d.cuMemcpyDtoH_v2(v.initial, v.address, size))) {
            free(v.initial);
            continue;
        }
        m->variables[m->nvariables++] = v;
    }
}

bool gpu_module_reset(struct backend_gpu *g, struct gpu_module *m) {
    for (unsigned i = 0; i < m->nvariables; i++)
        if (!gpu_upload(g, m->variables[i].address, m->variables[i].initial, m->variables[i].bytes))
            return false;
    return true;
}

bool gpu_in_variable(const struct backend_gpu *g, uint64_t address, uint64_t bytes, uint64_t *start,
                     uint64_t *size) {
    for (const struct gpu_module *m = g->modules; m; m = m->next)
        for (unsigned i = 0; i < m->nvariables; i++) {
            const struct gpu_variable *v = &m->variables[i];
            if (address - v->address >= v->bytes || address - v->address + bytes > v->bytes)
                continue;
            *start = v->address, *size = v->bytes;
            return true;
        }
    return false;
}

/* ---- loading ---- */

int gpu_load(struct backend *b, const void *image, size_t size, void **module, struct err *e) {
    struct backend_gpu *g = gpu_of(b);
    struct gpu_module *m = xcalloc(1, sizeof *m);
    size_t n = 0;
    bool is_ptx = size > 9 && !memcmp(image, ".version ", 9); /* plain PTX: our own kernels */
    const char *ptx = is_ptx ? image
                             : ptx_from_fatbin(&m->arena, image, size,
                                               g->info.cc_major * 10 + g->info.cc_minor, &n, e);
    if (is_ptx) n = size;
    int error = ptx ? 0 : WB_cudaErrorNoKernelImageForDevice;
    char *text =
        ptx ? arena_strndup(&m->arena, ptx, n) : NULL; /* zero-terminated, as the driver requires */
    if (!error && !(m->ptx = ptx_parse(&m->arena, text, n, e))) error = WB_cudaErrorInvalidPtx;
    size_t bytes;
    const char *machine =
        is_ptx ? NULL
               : ptx_cubin_from_fatbin(&m->arena, image, size,
                                       g->info.cc_major * 10 + g->info.cc_minor, &bytes);
    if (!error) error = gpu_check_error(g, load_image(g, m, machine, text, e));
    m->next = g->modules;
    g->modules = m;
    if (!error) save_variables(g, m);
    if (error) gpu_unload(b, m), m = NULL;
    *module = m;
    return error;
}

void gpu_unload(struct backend *b, void *module) {
    struct backend_gpu *g = gpu_of(b);
    struct gpu_module *m = module, **p = &g->modules;
    while (*p != m) p = &(*p)->next;
    *p = m->next;
    if (m->handle) g->d.cuModuleUnload(m->handle);
    for (struct gpu_kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        free(k->name);
        free(k);
    }
    for (unsigned i = 0; i < m->nvariables; i++) free(m->variables[i].initial);
    free(m->variables);
    arena_free(&m->arena);
    free(m);
}
