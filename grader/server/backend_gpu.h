/* backend_gpu.h — a real GPU behind the device server, through the CUDA driver.
 *
 *   struct backend *b = backend_gpu_open(&(struct gpu_options){0}, &err);
 *   ... use it as any backend; each launch is timed by two events and waited for ...
 *   backend_gpu_flush_l2(b);                     evicts our data from L2
 *   backend_gpu_begin_timed(b, &err);            from here on commands are queued but don't run
 *   ... launches, fills, copies on the device ...
 *   seconds = backend_gpu_end_timed(b, &error);  runs the queue; time from first to last command
 *
 * Device memory is one pool, allocated when the backend opens, so that addresses are the same in
 * every replay. A kernel that never ends cannot be stopped on a GPU: run unknown code on the
 * simulator first. */
#pragma once
#include "grader/server/backend.h"

struct gpu_options {
    uint64_t pool_bytes; /* 0 = half of what is free, at most 16 GiB */
};

struct gpu_info {
    char name[128];
    int driver_version; /* 13000 = CUDA 13.0 */
    unsigned cc_major, cc_minor, sms;
    const char *compiled_by; /* of the module loaded last: "ptxas, for this GPU" or "the driver,
                                from PTX" */
};

struct backend *backend_gpu_open(const struct gpu_options *o, struct err *e);
void backend_gpu_info(const struct backend *b, struct gpu_info *out);

/* Overwrites L2, so that the next launch starts cold. */
bool backend_gpu_flush_l2(struct backend *b);
/* Returns false with a reason if the queue cannot be held. */
bool backend_gpu_begin_timed(struct backend *b, struct err *e);
/* `error`: a cudaError_t of what was queued, or 0. */
double backend_gpu_end_timed(struct backend *b, int *error);
