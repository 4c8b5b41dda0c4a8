/* gpu_launch.c — launches on a real GPU. Checks a launch as the CUDA runtime would, then times it
 * by two events, or only queues it. */
#include "grader/server/gpu_internal.h"

#include <stdlib.h>
#include <string.h>

static struct backend_gpu *gpu_of(const struct backend *b) { return (struct backend_gpu *)b; }

enum {
    DEFAULT_SHARED_BYTES = 48 << 10
}; /* bytes of shared memory that a kernel may have without an attribute */

/* Each kernel needs an attribute for dynamic shared memory above 48 KiB. */
static int opt_in_shared(struct backend_gpu *g, struct gpu_kernel *k, unsigned dynamic) {
    if (dynamic <= k->dynamic_shared || k->info.static_shared + dynamic <= DEFAULT_SHARED_BYTES)
        return 0;
    int error = g->d.cuFuncSetAttribute(k->function, FUNCTION_MAX_DYNAMIC_SHARED, (int)dynamic);
    if (!error) k->dynamic_shared = dynamic;
    return error;
}

unsigned gpu_occupancy(struct backend *b, const void *kernel, unsigned threads,
                       unsigned dynamic_shared) {
    struct gpu_kernel *k = (struct gpu_kernel *)kernel;
    int blocks = 0;
    if (threads > k->info.max_threads || opt_in_shared(gpu_of(b), k, dynamic_shared)) return 0;
    if (gpu_of(b)->d.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k->function, (int)threads,
                                                                 dynamic_shared))
        return 0;
    return blocks > 0 ? (unsigned)blocks : 0;
}

static int reject_launch(struct err *e, int error, const char *text) {
    err_set(e, ERR_INPUT, "%s", text);
    return error;
}

int gpu_check_launch(struct backend *b, const struct backend_launch *l, struct err *e) {
    const struct gpu_kernel *k = l->kernel;
    const struct gpu_device *d = b->device;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!threads || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return reject_launch(e, WB_cudaErrorInvalidConfiguration, "an empty launch");
    if (l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 ||
        threads > d->threads_per_block)
        return reject_launch(
            e, WB_cudaErrorInvalidConfiguration,
            "more threads a block than the device allows (1024, at most (1024,1024,64))");
    if (l->grid[0] > 2147483647u || l->grid[1] > 65535 || l->grid[2] > 65535)
        return reject_launch(e, WB_cudaErrorInvalidConfiguration,
                             "a larger grid than the device allows (2147483647,65535,65535)");
    if (threads > k->info.max_threads)
        return reject_launch(
            e, WB_cudaErrorInvalidValue,
            "more threads a block than the kernel was compiled for (__launch_bounds__, registers)");
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1)
        return reject_launch(e, WB_cudaErrorNotSupported,
                             "cluster sizes set at the launch are not supported on a GPU here: use "
                             "__cluster_dims__");
    if (gpu_has_tensor_map(l) && !gpu_of(b)->d.cuTensorMapEncodeTiled)
        return reject_launch(e, WB_cudaErrorNotSupported,
                             "this NVIDIA driver has no tensor maps (cuTensorMapEncodeTiled)");
    if ((uint64_t)k->info.static_shared + l->dynamic_shared > d->shared_per_block)
        return reject_launch(e, WB_cudaErrorInvalidValue,
                             "more shared memory a block than the device allows");
    if (!gpu_occupancy(b, k, (unsigned)threads, l->dynamic_shared))
        return reject_launch(e, WB_cudaErrorLaunchOutOfResources,
                             "no block fits on a multiprocessor (registers, shared memory)");
    return 0;
}

/* Passes each parameter by its address. In one buffer, a parameter with an alignment of 32 or more
 * would lie at another offset than in PTX: the driver aligns it in the constant bank, where
 * parameters don't begin at a multiple of that (an H100 with driver 580: 112 instead of 128). */
static int enqueue_encoded(struct backend_gpu *g, const struct backend_launch *l) {
    struct gpu_kernel *k = (struct gpu_kernel *)l->kernel;
    void *params[sizeof k->info.params / sizeof *k->info.params];
    int error = opt_in_shared(g, k, l->dynamic_shared);
    if (error) return error;
    for (unsigned i = 0; i < k->info.nparams; i++)
        params[i] = (char *)l->params + k->info.params[i].offset;
    if (l->cooperative)
        return g->d.cuLaunchCooperativeKernel(k->function, l->grid[0], l->grid[1], l->grid[2],
                                              l->block[0], l->block[1], l->block[2],
                                              l->dynamic_shared, gpu_stream(g), params);
    return g->d.cuLaunchKernel(k->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                               l->block[1], l->block[2], l->dynamic_shared, gpu_stream(g), params,
                               NULL);
}

/* The driver copies the parameters before it returns. */
static int enqueue(struct backend_gpu *g, const struct backend_launch *l) {
    if (!gpu_has_tensor_map(l)) return enqueue_encoded(g, l);
    struct backend_launch encoded = *l;
    void *params = memcpy(xcalloc(1, l->param_bytes), l->params, l->param_bytes);
    encoded.params = params;
    int error = gpu_encode_tensor_maps(g, l, params);
    if (!error) error = enqueue_encoded(g, &encoded);
    free(params);
    return error;
}

void gpu_launch(struct backend *b, const struct backend_launch *l, struct backend_result *out) {
    struct backend_gpu *g = gpu_of(b);
    float milliseconds = 0;
    memset(out, 0, sizeof *out);
    out->measured = true;
    out->error = g->sticky_error;
    if (out->error) return;
    if (g->queue_held) {
        out->error = gpu_check_error(g, enqueue(g, l));
        return;
    }
    int error = g->d.cuEventRecord(g->start, g->stream);
    if (!error) error = enqueue(g, l);
    if (!error) error = g->d.cuEventRecord(g->stop, g->stream);
    out->error = gpu_check_error(g, error);
    int wait_error = gpu_wait(g);
    if (!out->error) out->error = wait_error;
    if (!out->error && !g->d.cuEventElapsedTime(&milliseconds, g->start, g->stop))
        out->seconds = milliseconds * 1e-3;
}
