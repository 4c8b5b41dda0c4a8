/* launch.c — kernel launches: checks them as a CUDA runtime would, then runs them unless recording.
 * A fault poisons the context: as on a GPU, the launch itself succeeds and every later call returns
 * the error. */
#include "grader/server/repeats.h"

#include <math.h>
#include <string.h>

/* Returns the processor time that a launch may take; 0 = no limit. Outside a replay, and where a
 * thread had a processor of its own, that is the time until the deadline. */
static double seconds_left(const struct server *s) {
    double remaining = s->busy_limit ? s->busy_limit - s->busy_seconds
                       : s->deadline ? s->deadline - server_now()
                                     : 0;
    return remaining || s->busy_limit || s->deadline ? fmax(remaining, 1e-3) : 0;
}

static void truncate_output(struct buf *b) {
    if (b->size <= MAX_OUTPUT_BYTES) return;
    b->size = MAX_OUTPUT_BYTES;
    b->data[MAX_OUTPUT_BYTES] = 0;
}

/* If a client never requests its output, all after the first MAX_OUTPUT_BYTES bytes is lost. */
static void drain_output(struct server *s) {
    s->backend->ops->drain_output(s->backend, &s->device_stdout, &s->device_stderr);
    truncate_output(&s->device_stdout);
    truncate_output(&s->device_stderr);
}

/* Does what a launch does besides changing memory. */
static void account_launch(struct server *s, struct server_launch *l,
                           const struct backend_result *result) {
    s->seconds += result->seconds;
    s->sticky_error = result->error;
    l->result = result;
    server_clock_launch(s, l);
    if (s->options.on_launch) s->options.on_launch(s->options.user, l);
    s->launches++;
}

/* Returns true if the launch wrote output. */
static bool execute_launch(struct server *s, struct server_launch *l,
                           struct backend_result *result) {
    size_t bytes = s->device_stdout.size + s->device_stderr.size;
    if (s->options.on_launch_begin) s->options.on_launch_begin(s->options.user, l);
    s->backend->ops->set_time_limit(s->backend, seconds_left(s));
    s->backend->ops->launch(s->backend, l->launch, result);
    s->busy_seconds += result->sim.busy_seconds;
    drain_output(s);
    return s->device_stdout.size + s->device_stderr.size != bytes;
}

static void replay_launch(struct server *s, const struct server_kernel *k,
                          const struct backend_launch *launch) {
    struct backend_result result = {0};
    struct server_launch l = {s->launches, k->name, launch, NULL, s->backend, s->fd};
    execute_launch(s, &l, &result);
    account_launch(s, &l, &result);
    sim_result_free(&result.sim);
}

/* All blocks must be resident at the same time, or they could not wait for each other. */
static int check_cooperative(struct server *s, const struct server_kernel *k,
                             const struct backend_launch *l) {
    unsigned threads = l->block[0] * l->block[1] * l->block[2];
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint64_t max_blocks =
        (uint64_t)s->backend->device->sms *
        s->backend->ops->occupancy(s->backend, k->backend.handle, threads, l->dynamic_shared);
    if (blocks <= max_blocks) return 0;
    return server_refuse(
        s, WB_cudaErrorCooperativeLaunchTooLarge,
        "kernel `%.200s`: a cooperative launch of %llu blocks; the device holds %llu at once",
        k->name, (unsigned long long)blocks, (unsigned long long)max_blocks);
}

static int check_launch(struct server *s, const struct server_kernel *k,
                        const struct wb_req_launch *q, const struct backend_launch *l) {
    if (l->param_bytes != k->backend.info.param_bytes)
        return server_refuse(s, WB_cudaErrorInvalidValue,
                             "kernel `%.200s`: %u bytes of parameters, expected %u", k->name,
                             l->param_bytes, k->backend.info.param_bytes);
    struct err e = {0};
    if (k->backend.info.local_bytes > MAX_LOCAL_BYTES)
        return server_refuse(
            s, WB_cudaErrorLaunchOutOfResources,
            "kernel `%.200s`: %u bytes of local memory a thread; a GPU has %d at most", k->name,
            k->backend.info.local_bytes, MAX_LOCAL_BYTES);
    if (q->dynamic_shared <= UINT32_MAX) {
        int error = s->backend->ops->check_launch(s->backend, l, &e);
        if (error) return server_refuse(s, error, "kernel `%.200s`: %.280s", k->name, e.text);
    }
    if (q->dynamic_shared <= k->max_dynamic_shared)
        return l->cooperative ? check_cooperative(s, k, l) : 0;
    return server_refuse(s, WB_cudaErrorInvalidValue,
                         "kernel `%.200s`: %llu bytes of dynamic shared memory, at most %u without "
                         "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)",
                         k->name, (unsigned long long)q->dynamic_shared, k->max_dynamic_shared);
}

static void defer_launch(struct server *s, const struct wb_req_launch *q,
                         const struct server_kernel *k, const struct backend_launch *l) {
    s->pending.kernel = k;
    s->pending.request = *q;
    s->pending.launch = *l;
    s->pending.launch.params = s->pending.params;
    memcpy(s->pending.params, l->params, l->param_bytes);
}

int server_exec_launch(struct server *s, const struct wb_req_launch *q, struct message_tail params,
                       bool is_replay) {
    const struct server_kernel *k = server_kernel_at(s, q->kernel);
    if (!k) return WB_cudaErrorInvalidDeviceFunction;
    struct backend_launch l = {
        .kernel = k->backend.handle,
        .grid = {q->grid_x, q->grid_y, q->grid_z},
        .block = {q->block_x, q->block_y, q->block_z},
        .dynamic_shared = (uint32_t)q->dynamic_shared,
        .params = params.data,
        .param_bytes = (uint32_t)params.size,
        .cooperative = q->cooperative,
        .cluster = {WB_CLUSTER_DIM(q->cluster, 0), WB_CLUSTER_DIM(q->cluster, 1),
                    WB_CLUSTER_DIM(q->cluster, 2)},
        .large_clusters = q->cluster & WB_CLUSTER_LARGE,
    };
    /* The launch was valid when recorded; later attributes of the kernel don't matter. */
    int error = is_replay ? 0 : check_launch(s, k, q, &l);
    if (error) return error;
    if (is_replay) replay_launch(s, k, &l);
    else if (s->recording) s->seconds += s->backend->device->launch_seconds, s->launches++;
    else defer_launch(s, q, k, &l);
    return 0;
}

void server_run_pending(struct server *s) {
    struct backend_result result = {0};
    struct server_launch l = {
        s->launches, s->pending.kernel->name, &s->pending.launch, NULL, s->backend, s->fd};
    s->pending.kernel = NULL;
    const struct backend_result *known = repeats_begin_launch(s, &s->pending);
    if (known) {
        account_launch(s, &l, known);
        return;
    }
    bool has_output = execute_launch(s, &l, &result);
    account_launch(s, &l, &result);
    repeats_end_launch(s, &result, has_output);
}

int server_on_launch(struct server *s, const struct wb_req_launch *q, struct message_tail tail,
                     struct wb_rep_launch *p, struct buf *out) {
    (void)p, (void)out;
    _Alignas(16) uint8_t params[WB_PARAM_BYTES];
    if (tail.size > sizeof params) return WB_cudaErrorInvalidValue;
    if (s->options.max_launches && s->launches >= s->options.max_launches) {
        s->limit_exceeded = true;
        return server_refuse(s, WB_cudaErrorNotPermitted, "more than %u kernel launches",
                             s->options.max_launches);
    }
    memcpy(params, tail.data, tail.size); /* in the frame they are aligned to 8 bytes only */
    struct message_tail aligned = {params, tail.size};
    int error = server_exec_launch(s, q, aligned, false);
    if (!error) recording_append(s, WB_OP_launch, q, sizeof *q, aligned, 0);
    return error;
}

int server_on_occupancy(struct server *s, const struct wb_req_occupancy *q,
                        struct message_tail tail, struct wb_rep_occupancy *p, struct buf *out) {
    (void)tail, (void)out;
    const struct server_kernel *k = server_kernel_at(s, q->kernel);
    if (!k) return WB_cudaErrorInvalidDeviceFunction;
    if (!q->threads || q->dynamic_shared > UINT32_MAX / 2) return WB_cudaErrorInvalidValue;
    p->blocks = s->backend->ops->occupancy(s->backend, k->backend.handle, q->threads,
                                           (unsigned)q->dynamic_shared);
    return 0;
}
