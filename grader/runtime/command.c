/* command.c — executes the commands of streams: kernels, copies, fills, host functions. */
#include "grader/runtime/graph.h"

#include <string.h>

/* Returns true if the server would accept the launch: it accepted the same one with a grid at least
 * as large. */
static bool is_validated_launch(const struct wb_function *f, const struct wb_req_launch *q) {
    struct wb_req_launch normalized = f->valid_launch;
    normalized.stream = q->stream;
    normalized.grid_x = q->grid_x, normalized.grid_y = q->grid_y, normalized.grid_z = q->grid_z;
    if (q->cluster || f->info.cluster)
        return f->has_valid_launch &&
               !memcmp(&f->valid_launch, q, sizeof *q); /* clusters divide it */
    return f->has_valid_launch && !memcmp(&normalized, q, sizeof normalized) && q->grid_x &&
           q->grid_y && q->grid_z && q->grid_x <= f->valid_launch.grid_x &&
           q->grid_y <= f->valid_launch.grid_y && q->grid_z <= f->valid_launch.grid_z;
}

/* Sends the command without waiting if the server will accept it, otherwise requests a reply. */
static int send_launch(struct wb_function *f, const struct wb_req_launch *q, const uint8_t *params,
                       uint32_t bytes) {
    wb_mark_launch_pending();
    if (wb_has_call_sink() || is_validated_launch(f, q))
        return wb_post_tail(launch, q, params, bytes);
    int error = wb_request_tail(launch, q, NULL, params, bytes, NULL, 0);
    if (!error) f->has_valid_launch = true, f->valid_launch = *q;
    return error;
}

static int run_launch(const struct wb_command *c) {
    int error;
    struct wb_function *f = wb_get_function(c->launch.func, &error);
    if (!f) return error;
    wb_flush_output();
    struct wb_req_launch q = {
        .kernel = f->kernel_id,
        .stream = (uint64_t)c->launch.stream,
        .grid_x = c->launch.grid.x,
        .grid_y = c->launch.grid.y,
        .grid_z = c->launch.grid.z,
        .block_x = c->launch.block.x,
        .block_y = c->launch.block.y,
        .block_z = c->launch.block.z,
        .dynamic_shared = c->launch.shared,
        .cooperative = c->launch.cooperative,
        .cluster = c->launch.cluster,
    };
    if (!wb_needs_translation()) return send_launch(f, &q, c->launch.params, c->launch.param_bytes);
    _Alignas(16) uint8_t params[WB_PARAM_BYTES];
    memcpy(params, c->launch.params, c->launch.param_bytes);
    wb_translate_pointers(params, c->launch.param_bytes);
    return send_launch(f, &q, params, c->launch.param_bytes);
}

static int run_host_function(const struct wb_command *c) {
    int error = wb_sync(); /* not called after an error that poisons the context */
    wb_inflight_clear();   /* it may depend on any of them */
    if (!error) c->host.function(c->host.data);
    return error;
}

static int run_copy(const struct wb_command *c) {
    int error = 0;
    for (size_t z = 0; !error && (z < c->copy.depth || !z); z++)
        error = wb_copy_any((char *)c->copy.to + z * c->copy.to_slice, c->copy.to_pitch,
                            (const char *)c->copy.from + z * c->copy.from_slice, c->copy.from_pitch,
                            c->copy.width, c->copy.rows, c->copy.kind, c->copy.async);
    return error;
}

static int run_command(const struct wb_command *c) {
    switch (c->kind) {
    case WB_LAUNCH: return run_launch(c);
    case WB_COPY: return run_copy(c);
    case WB_FILL:
        return wb_fill(c->fill.to, c->fill.pitch, c->fill.value, c->fill.unit, c->fill.width,
                       c->fill.rows);
    case WB_HOST: return run_host_function(c);
    case WB_RECORD: return wb_event_record_now(c->event), 0;
    case WB_CHILD: return wb_graph_run(c->child);
    case WB_CONDITIONAL: return wb_graph_conditional_run(c);
    case WB_ALLOC: return wb_graph_memory_alloc(c->memory.p, c->memory.auto_free);
    case WB_FREE: return wb_free_ordered(c->memory.p);
    case WB_WAIT:
        return wb_event_wait_now(c->event), 0; /* the message that records it was sent earlier */
    case WB_EMPTY: break;
    }
    return 0;
}

int wb_run_command(const struct wb_command *c) {
    int error = run_command(c);
    if (!error) wb_inflight_track(c);
    return error;
}

int wb_run_node(const struct wb_command *c) {
    unsigned device = wb_exchange_device(c->device);
    int error = wb_run_command(c);
    wb_exchange_device(device);
    return error;
}

static int capture_command(struct wb_capture *capture, const struct wb_command *c) {
    cudaGraphNode_t node;
    int error = wb_graph_add(capture->graph, c, capture->deps, capture->ndeps, &node);
    if (error) return error;
    capture->deps[0] = node;
    capture->ndeps = 1;
    return 0;
}

/* Returns true if the call returns only after the copy is done, as the manual specifies. A copy
 * within device memory never blocks. */
static bool copy_blocks_host(const struct wb_command *c) {
    bool to_device = wb_is_device(c->copy.to) && !wb_is_shared(c->copy.to);
    bool from_device = wb_is_device(c->copy.from) && !wb_is_shared(c->copy.from);
    if (c->kind != WB_COPY || (to_device && from_device)) return false;
    return !c->copy.async || !wb_is_device(c->copy.to);
}

static int issue_on_current(cudaStream_t s, const struct wb_command *c) {
    struct wb_capture *capture = wb_stream_capture(s);
    if (capture && capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (capture && capture->graph) return capture_command(capture, c);
    int error = wb_check_implicit_sync(s);
    if (error) return error;
    wb_inflight_prepare(c);
    wb_order_locate(c->kind == WB_LAUNCH);
    wb_order_command(s);
    error = wb_run_command(c);
    wb_stream_update_seq(s);
    if (!error && copy_blocks_host(c)) wb_order_host_wait_stream(s);
    return error;
}

/* A command goes to its stream's device, whichever is current. The programming guide says that a
 * kernel's launch fails if another one is current; driver 580 accepts it on an H200. */
int wb_issue_command(cudaStream_t s, const struct wb_command *c) {
    int error = wb_check_stream(s);
    if (error) return error;
    unsigned device = wb_exchange_device(wb_stream_device(s));
    error = issue_on_current(s, c);
    wb_exchange_device(device);
    return error;
}
