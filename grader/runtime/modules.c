/* modules.c — registers the fat binaries, kernels and variables of nvcc's generated constructors.
 * Device code is sent to the server at its first use on a device, each of which has its own kernels
 * and variables; while grading, at once, so that every entry starts with the same device. */
#include "grader/runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wb_module {
    void *handle; /* the constructors pass &handle as the fat binary's handle */
    struct wb_module *next;
    const uint8_t *fatbin;
    size_t size;
    struct loaded_module {
        uint64_t id;
        int error;
        bool loaded;
    } on[WB_MAX_DEVICES];
};

struct device_variable {
    struct device_variable *next;
    const void *host;
    void **managed; /* the host's pointer to a __managed__ variable, or NULL */
    const char *name;
    struct wb_module *module;
    struct variable_place {
        uint64_t address, bytes;
        bool resolved;
    } on[WB_MAX_DEVICES];
};

static struct wb_module *modules;
static struct wb_function *functions;
static struct device_variable *variables;

/* The wrapper that nvcc passes, and the header of its fat binary. */
struct fatbin_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t payload_size;
};
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const struct fatbin_header *const
        *fatbins; /* version 2: the fat binaries of files that were compiled apart, up to NULL */
};
enum { WRAPPER_MAGIC = 0x466243b1, IMAGE_MAGIC = (int)0xba55ed50 };

static void *calloc_or_abort(size_t n) {
    void *p = calloc(1, n);
    if (!p) abort();
    return p;
}

/* ---- loading ---- */

static int upload_image(const struct wb_session *s, const uint8_t *data, size_t size) {
    int error = 0;
    wb_lock();
    for (size_t at = 0; !error && at < size;) {
        size_t n = size - at < s->window_bytes ? size - at : s->window_bytes;
        memcpy(s->window, data + at, n);
        error = wb_request(
            upload, &((struct wb_req_upload){.offset = at, .bytes = n, .total = size}), NULL);
        at += n;
    }
    wb_unlock();
    return error;
}

static int load_module_locked(struct wb_module *m, struct loaded_module *on) {
    int error;
    const struct wb_session *s = wb_session(&error);
    if (!s) return error;
    if (!m->fatbin) return cudaErrorInvalidKernelImage;
    struct wb_rep_module_load p = {0};
    error = upload_image(s, m->fatbin, m->size);
    if (!error)
        error = wb_request(module_load, &((struct wb_req_module_load){.bytes = m->size}), &p);
    on->id = p.module;
    return error;
}

static struct loaded_module *on_current(struct wb_module *m) { return &m->on[wb_current_device()]; }

static bool has_managed_variables(const struct wb_module *m) {
    const struct device_variable *v = variables;
    while (v && !(v->managed && v->module == m)) v = v->next;
    return v;
}

/* Loads the module for the current device. All devices share its __managed__ variables, which
 * belong to device 0: so it is loaded there first. */
static int load_module(struct wb_module *m) {
    struct loaded_module *on = on_current(m);
    wb_lock();
    unsigned device = wb_exchange_device(0);
    if (device && !on->loaded && has_managed_variables(m)) load_module(m);
    wb_exchange_device(device);
    if (!on->loaded) on->error = load_module_locked(m, on);
    on->loaded = true;
    wb_unlock();
    return on->error;
}

/* ---- kernels ---- */

static int resolve_kernel(struct wb_function *f) {
    int error = load_module(f->module);
    if (error) return error;
    struct wb_param params[WB_MAX_PARAMS];
    struct wb_req_kernel_find q = {.module = on_current(f->module)->id};
    error =
        wb_request_tail(kernel_find, &q, &f->info, f->name, strlen(f->name), params, sizeof params);
    if (error) return error;
    f->params = calloc_or_abort(sizeof params);
    memcpy(f->params, params, sizeof params);
    f->kernel_id = f->info.kernel;
    return 0;
}

/* Returns the kernel's record for the current device: each has its own attributes. */
static struct wb_function *function_on_current(struct wb_function *f) {
    unsigned device = wb_current_device();
    if (!device) return f;
    struct wb_function **at = &f->on_others[device - 1];
    if (*at) return *at;
    *at = calloc_or_abort(sizeof **at);
    **at = (struct wb_function){
        .base = f, .stub = f->stub, .name = f->name, .module = f->module, .carveout = -1};
    if (f->error == cudaErrorCudartUnloading) (*at)->error = f->error;
    return *at;
}

const void *wb_function_handle(const struct wb_function *f) { return f->base ? f->base : f; }

struct wb_function *wb_get_function(const void *stub_or_handle, int *error) {
    wb_lock();
    struct wb_function *f = functions;
    while (f && f->stub != stub_or_handle && f != stub_or_handle) f = f->next;
    if (f) f = function_on_current(f);
    if (!f)
        *error = wb_refuse(cudaErrorInvalidDeviceFunction,
                           "the pointer is no kernel; pass the name of a __global__ function");
    else {
        if (!f->kernel_id && !f->error) f->error = resolve_kernel(f);
        *error = f->error;
    }
    wb_unlock();
    return *error ? NULL : f;
}

/* ---- variables ---- */

static int resolve_variable(struct device_variable *v) {
    struct variable_place *on = &v->on[wb_current_device()];
    if (on->resolved) return 0;
    int error = load_module(v->module);
    if (error) return error;
    struct wb_rep_symbol_find p;
    struct wb_req_symbol_find q = {.module = on_current(v->module)->id};
    error = wb_request_tail(symbol_find, &q, &p, v->name, strlen(v->name), NULL, 0);
    if (error) return error;
    *on = (struct variable_place){p.address, p.bytes, true};
    return 0;
}

const char *wb_device_variable_name(const void *host) {
    wb_lock();
    const struct device_variable *v = variables;
    while (v && v->host != host) v = v->next;
    wb_unlock();
    return v ? v->name : NULL;
}

bool wb_is_device_variable(const void *p, unsigned *device) {
    bool found = false;
    wb_lock();
    for (const struct device_variable *v = variables; v && !found; v = v->next)
        for (unsigned d = 0; d < WB_MAX_DEVICES && !found; d++) {
            found = v->on[d].resolved && (uint64_t)p - v->on[d].address < v->on[d].bytes;
            if (found && device) *device = d;
        }
    wb_unlock();
    return found;
}

int wb_get_symbol(const void *host, uint64_t *address, uint64_t *bytes) {
    wb_lock();
    struct device_variable *v = variables;
    while (v && v->host != host && !(v->managed && *v->managed == host)) v = v->next;
    int error = v ? resolve_variable(v)
                  : wb_refuse(cudaErrorInvalidSymbol,
                              "pass the __device__ or __constant__ variable itself: neither its "
                              "address, nor its name as a string, nor a pointer");
    if (!error) {
        *address = v->on[wb_current_device()].address;
        *bytes = v->on[wb_current_device()].bytes;
    }
    wb_unlock();
    return error;
}

bool wb_map_managed_variables(struct wb_module *m) {
    bool any = false;
    unsigned device = wb_exchange_device(0); /* it has the one copy of them */
    for (struct device_variable *v = variables; v; v = v->next) {
        any |= v->managed && v->module == m;
        const struct variable_place *on = &v->on[0];
        if (!v->managed || v->module != m || on->resolved || resolve_variable(v)) continue;
        if (!wb_shared_map(on->address, on->bytes, WB_MEMORY_MANAGED, WB_RANGE_VARIABLE))
            *v->managed = (void *)on->address;
    }
    wb_exchange_device(device);
    return any;
}

void __cudaUnregisterFatBinary(void **handle);

/* ---- images that the program loads; they and their names live until it ends ---- */

struct wb_module *wb_module_new(const void *image, size_t size, int *error) {
    struct wb_module *m = calloc_or_abort(sizeof *m);
    m->fatbin = image;
    m->size = size;
    wb_lock();
    m->next = modules;
    modules = m;
    wb_unlock();
    *error = load_module(m);
    return m;
}

void wb_module_unload(struct wb_module *m) { __cudaUnregisterFatBinary((void **)m); }

struct wb_function *wb_function_new(struct wb_module *m, const char *name, int *error) {
    struct wb_function *f = calloc_or_abort(sizeof *f);
    *f = (struct wb_function){.name = name, .module = m, .carveout = -1};
    f->stub = f;
    wb_lock();
    f->next = functions;
    functions = f;
    wb_unlock();
    return wb_get_function(f, error) ? f : NULL;
}

int wb_module_get_variable(struct wb_module *m, const char *name, uint64_t *address,
                           uint64_t *bytes) {
    struct wb_rep_symbol_find p;
    int error = load_module(m);
    if (error) return error;
    struct wb_req_symbol_find q = {.module = on_current(m)->id};
    error = wb_request_tail(symbol_find, &q, &p, name, strlen(name), NULL, 0);
    *address = p.address;
    *bytes = p.bytes;
    return error;
}

/* ---- functions that nvcc's code calls; its headers have prototypes for C++ only ---- */

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t size, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub);

/* Relocatable code (-rdc=true): one image, which the device links. The output of nvcc's linker is
 * machine code and isn't used. */
static void join_fatbins(struct wb_module *m, const struct fatbin_header *const *fatbins) {
    uint8_t *image = NULL;
    for (; *fatbins; fatbins++) {
        size_t n = (*fatbins)->header_size + (*fatbins)->payload_size;
        image = realloc(image, m->size + n);
        if (!image) abort();
        memcpy(image + m->size, *fatbins, n);
        m->size += n;
    }
    m->fatbin = image; /* for as long as the program runs */
}

void **__cudaRegisterFatBinary(void *wrapper) {
    const struct fatbin_wrapper *w = wrapper;
    struct wb_module *m = calloc_or_abort(sizeof *m);
    const struct fatbin_header *h = w->magic == WRAPPER_MAGIC ? w->data : NULL;
    if (w->magic == WRAPPER_MAGIC && w->version == 2 && w->fatbins) join_fatbins(m, w->fatbins);
    else if (h && h->magic == (uint32_t)IMAGE_MAGIC) {
        m->fatbin = w->data;
        m->size = h->header_size + h->payload_size;
    }
    wb_lock();
    m->next = modules;
    modules = m;
    wb_unlock();
    return (void **)m;
}

static void load_on_all_devices(struct wb_module *m, unsigned ndevices) {
    unsigned before = wb_current_device();
    for (unsigned d = 0; d < ndevices; d++) wb_exchange_device(d), load_module(m);
    wb_exchange_device(before);
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    int error;
    if (!getenv(WB_ENV_WINDOW))
        return; /* not while grading; a process that forks before its first device call has no
                 * device yet */
    const struct wb_session *s = wb_session(&error);
    if (s && s->grading) load_on_all_devices((struct wb_module *)handle, s->ndevices);
}

static void unload_module(struct wb_module *m) {
    for (unsigned d = 0; d < WB_MAX_DEVICES; d++) {
        struct loaded_module *on = &m->on[d];
        if (on->id)
            wb_request(module_unload, &((struct wb_req_module_unload){.module = on->id}), NULL);
        *on = (struct loaded_module){.error = cudaErrorCudartUnloading, .loaded = true};
    }
}

static bool is_loaded(const struct wb_module *m) {
    bool loaded = false;
    for (unsigned d = 0; d < WB_MAX_DEVICES; d++) loaded |= m->on[d].loaded && !m->on[d].error;
    return loaded;
}

static void mark_unloaded(struct wb_function *f) {
    f->error = cudaErrorCudartUnloading;
    for (unsigned d = 1; d < WB_MAX_DEVICES; d++)
        if (f->on_others[d - 1]) f->on_others[d - 1]->error = cudaErrorCudartUnloading;
}

/* At exit other destructors may still look kernels up, so the records stay. */
void __cudaUnregisterFatBinary(void **handle) {
    wb_lock();
    struct wb_module *m = (struct wb_module *)handle;
    if (is_loaded(m)) unload_module(m);
    for (struct wb_function *f = functions; f; f = f->next)
        if (f->module == m) mark_unloaded(f);
    wb_unlock();
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int threads, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp) {
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    struct wb_function *f = calloc_or_abort(sizeof *f);
    *f = (struct wb_function){
        .stub = host, .name = name, .module = (struct wb_module *)handle, .carveout = -1};
    wb_lock();
    f->next = functions;
    functions = f;
    wb_unlock();
}

static void register_variable(void **handle, const void *host, void **managed, const char *name) {
    struct device_variable *v = calloc_or_abort(sizeof *v);
    *v = (struct device_variable){
        .host = host, .managed = managed, .name = name, .module = (struct wb_module *)handle};
    wb_lock();
    v->next = variables;
    variables = v;
    wb_unlock();
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    register_variable(handle, host, NULL, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t size, int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    register_variable(handle, host, host, name);
}

/* Called before the host uses a __managed__ variable. */
char __cudaInitModule(void **handle) {
    struct wb_module *m = (struct wb_module *)handle;
    int error = load_module(m);
    if (error) {
        fprintf(stderr, "warpbook: __managed__ variables cannot be used: %s\n",
                cudaGetErrorString(error));
        return 0;
    }
    wb_lock();
    wb_map_managed_variables(m);
    wb_unlock();
    return 1;
}

/* Runs in a static initializer, long before the launch, which reports any error. */
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub) {
    wb_lock();
    struct wb_function *f = functions;
    while (f && f->stub != stub) f = f->next;
    wb_unlock();
    *out = (cudaKernel_t)f;
    return f ? cudaSuccess : wb_return(cudaErrorInvalidDeviceFunction);
}
