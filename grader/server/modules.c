/* modules.c — the device server's modules, kernels and symbols. Handles are table indices plus one;
 * an invented handle returns cudaErrorInvalidResourceHandle. */
#include "grader/server/internal.h"

#include <stdlib.h>
#include <string.h>

static struct server_module *module_at(struct server *s, uint64_t id) {
    if (!id || id > s->nmodules || !s->modules[id - 1].handle) return NULL;
    return &s->modules[id - 1];
}

struct server_kernel *server_kernel_at(struct server *s, uint64_t id) {
    if (!id || id > s->nkernels || !s->kernels[id - 1].name) return NULL;
    return &s->kernels[id - 1];
}

static void clear_kernels(struct server *s, unsigned module) {
    for (unsigned i = 0; i < s->nkernels; i++) {
        if (s->kernels[i].module != module || !s->kernels[i].name) continue;
        free(s->kernels[i].name);
        s->kernels[i].name = NULL;
    }
}

void server_modules_clear(struct server *s) {
    for (unsigned i = 0; i < s->nmodules; i++) {
        if (!s->modules[i].handle) continue;
        clear_kernels(s, i);
        s->backend->ops->unload(s->backend, s->modules[i].handle);
    }
    s->nmodules = s->nkernels = 0;
    free(s->upload);
    s->upload = NULL;
    s->upload_bytes = 0;
}

int server_on_upload(struct server *s, const struct wb_req_upload *q, struct message_tail tail,
                     struct wb_rep_upload *p, struct buf *out) {
    (void)tail, (void)p, (void)out;
    if (q->total > MAX_UPLOAD_BYTES)
        return server_refuse(s, WB_cudaErrorMemoryAllocation, "a module of more than 256 MiB");
    if (q->bytes > s->options.window_bytes || q->offset > q->total ||
        q->bytes > q->total - q->offset)
        return WB_cudaErrorInvalidValue;
    if (q->offset == 0) {
        free(s->upload);
        s->upload = xcalloc(1, q->total + 1);
        s->upload_bytes = q->total;
    }
    if (q->total != s->upload_bytes || !s->upload) return WB_cudaErrorInvalidValue;
    memcpy(s->upload + q->offset, s->window, q->bytes);
    return 0;
}

/* nvcc's images are known by their digests; handmade or recombined ones are refused. */
static bool is_allowed_image(const struct server *s) {
    struct hash h;
    char hex[HASH_HEX_SIZE];
    bool is_allowed = !s->options.image_digests;
    hash_init(&h);
    hash_update(&h, s->upload, s->upload_bytes);
    hash_final_hex(&h, hex);
    for (unsigned i = 0; i < s->options.nimages; i++)
        is_allowed |= !strcmp(s->options.image_digests[i], hex);
    return is_allowed;
}

int server_on_module_load(struct server *s, const struct wb_req_module_load *q,
                          struct message_tail tail, struct wb_rep_module_load *p, struct buf *out) {
    (void)tail, (void)out;
    if (!s->upload || q->bytes != s->upload_bytes) return WB_cudaErrorInvalidValue;
    if (s->nmodules == MAX_MODULES)
        return server_refuse(s, WB_cudaErrorMemoryAllocation, "more than %d modules", MAX_MODULES);
    struct err e = {0};
    void *module = NULL;
    if (!is_allowed_image(s))
        return server_refuse(s, WB_cudaErrorInvalidKernelImage,
                             "only device code that nvcc compiled from this file can be loaded");
    if (s->recording) /* its variables would have other addresses in replays */
        return server_refuse(
            s, WB_cudaErrorNotPermitted,
            "device code is loaded when the program starts, not by an exercise's entry");
    int error = s->backend->ops->load(s->backend, s->upload, s->upload_bytes, &module, &e);
    free(s->upload);
    s->upload = NULL;
    s->upload_bytes = 0;
    if (error)
        return server_refuse(s, error, "the program's device code cannot be loaded: %.440s",
                             e.text);
    s->modules[s->nmodules++].handle = module;
    p->module = s->nmodules;
    return 0;
}

int server_on_module_unload(struct server *s, const struct wb_req_module_unload *q,
                            struct message_tail tail, struct wb_rep_module_unload *p,
                            struct buf *out) {
    (void)tail, (void)p, (void)out;
    struct server_module *m = module_at(s, q->module);
    if (!m) return WB_cudaErrorInvalidResourceHandle;
    if (s->options.grading) return 0; /* replays need it after the client has gone */
    clear_kernels(s, (unsigned)q->module - 1);
    s->backend->ops->unload(s->backend, m->handle);
    m->handle = NULL;
    return 0;
}

static struct server_kernel *find_cached_kernel(struct server *s, unsigned module,
                                                const char *name) {
    for (unsigned i = 0; i < s->nkernels; i++)
        if (s->kernels[i].name && s->kernels[i].module == module &&
            !strcmp(s->kernels[i].name, name))
            return &s->kernels[i];
    return NULL;
}

static struct server_kernel *add_kernel(struct server *s, unsigned module, const char *name,
                                        const struct backend_kernel *k) {
    if (s->nkernels == MAX_KERNELS) return NULL;
    s->kernels = xrealloc(s->kernels, (s->nkernels + 1) * sizeof *s->kernels);
    struct server_kernel *added = &s->kernels[s->nkernels++];
    uint32_t used = k->info.static_shared;
    *added = (struct server_kernel){
        .module = module,
        .name = xstrdup(name),
        .backend = *k,
        .max_dynamic_shared = used < DEFAULT_SHARED_LIMIT ? DEFAULT_SHARED_LIMIT - used : 0,
    };
    return added;
}

static void fill_kernel_reply(const struct server_kernel *k, struct wb_rep_kernel_find *p,
                              struct buf *out) {
    const struct sim_kernel_info *i = &k->backend.info;
    p->param_bytes = i->param_bytes;
    p->nparams = i->nparams < WB_MAX_PARAMS ? i->nparams : WB_MAX_PARAMS;
    p->static_shared = i->static_shared;
    p->local_bytes = i->local_bytes;
    p->const_bytes = i->const_bytes;
    p->registers = i->registers;
    p->max_threads = i->max_threads;
    p->max_dynamic_shared = k->max_dynamic_shared;
    p->cluster = WB_CLUSTER(i->cluster_dims[0], i->cluster_dims[1], i->cluster_dims[2]);
    p->requires_cluster = i->requires_cluster_dims;
    p->may_sync_with_host = i->may_sync_with_host;
    for (uint32_t n = 0; n < p->nparams; n++)
        buf_add(out, &(struct wb_param){i->params[n].offset, i->params[n].bytes},
                sizeof(struct wb_param));
}

int server_on_kernel_find(struct server *s, const struct wb_req_kernel_find *q,
                          struct message_tail tail, struct wb_rep_kernel_find *p, struct buf *out) {
    char name[WB_FRAME_BYTES];
    if (!module_at(s, q->module)) return WB_cudaErrorInvalidResourceHandle;
    if (!server_tail_name(tail, name, sizeof name)) return WB_cudaErrorInvalidValue;
    unsigned module = (unsigned)q->module - 1;
    struct server_kernel *k = find_cached_kernel(s, module, name);
    if (!k) {
        struct backend_kernel found = {0};
        if (!s->backend->ops->find_kernel(s->backend, s->modules[module].handle, name, &found))
            return server_refuse(s, WB_cudaErrorInvalidDeviceFunction,
                                 "the device code has no kernel `%.200s`", name);
        if (s->options.on_kernel_found) {
            if (!s->options.on_kernel_found(s->options.user, name, &found))
                return server_refuse(s, WB_cudaErrorInvalidKernelImage,
                                     "ptxas reported nothing about kernel `%.200s`", name);
            s->backend->ops->find_kernel(s->backend, s->modules[module].handle, name, &found);
        }
        k = add_kernel(s, module, name, &found);
        if (!k)
            return server_refuse(s, WB_cudaErrorMemoryAllocation, "more than %d kernels",
                                 MAX_KERNELS);
    }
    p->kernel = (uint64_t)(k - s->kernels) + 1;
    fill_kernel_reply(k, p, out);
    return 0;
}

int server_on_kernel_limit(struct server *s, const struct wb_req_kernel_limit *q,
                           struct message_tail tail, struct wb_rep_kernel_limit *p,
                           struct buf *out) {
    (void)tail, (void)p, (void)out;
    struct server_kernel *k = server_kernel_at(s, q->kernel);
    if (!k) return WB_cudaErrorInvalidResourceHandle;
    uint64_t max_shared = s->backend->device->shared_per_block;
    if (q->max_dynamic_shared > max_shared ||
        q->max_dynamic_shared + k->backend.info.static_shared > max_shared)
        return server_refuse(s, WB_cudaErrorInvalidValue,
                             "kernel `%.200s`: %llu bytes of dynamic and %u of static shared "
                             "memory; a block has at most %llu",
                             k->name, (unsigned long long)q->max_dynamic_shared,
                             k->backend.info.static_shared, (unsigned long long)max_shared);
    k->max_dynamic_shared = (uint32_t)q->max_dynamic_shared;
    return 0;
}

int server_on_symbol_find(struct server *s, const struct wb_req_symbol_find *q,
                          struct message_tail tail, struct wb_rep_symbol_find *p, struct buf *out) {
    (void)out;
    char name[WB_FRAME_BYTES];
    struct server_module *m = module_at(s, q->module);
    if (!m) return WB_cudaErrorInvalidResourceHandle;
    if (!server_tail_name(tail, name, sizeof name)) return WB_cudaErrorInvalidValue;
    if (!s->backend->ops->find_symbol(s->backend, m->handle, name, &p->address, &p->bytes))
        return server_refuse(s, WB_cudaErrorInvalidSymbol,
                             "the device code has no variable `%.200s`", name);
    return 0;
}
