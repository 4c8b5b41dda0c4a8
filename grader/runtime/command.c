/* command.c — carries out what streams are given: kernels, copies, fills, host functions. */
#include "grader/runtime/graph.h"

#include <string.h>

/* Whether the server would let it pass: it did so for the same with a grid that was no smaller. */
static bool acceptable(const struct wb_function *f, const struct wb_req_launch *q) {
    struct wb_req_launch same = f->acceptable;
    same.stream = q->stream;
    same.grid_x = q->grid_x, same.grid_y = q->grid_y, same.grid_z = q->grid_z;
    if (q->cluster || f->info.cluster)
        return f->accepted && !memcmp(&f->acceptable, q, sizeof *q); /* clusters divide it */
    return f->accepted && !memcmp(&same, q, sizeof same) && q->grid_x && q->grid_y && q->grid_z &&
           q->grid_x <= f->acceptable.grid_x && q->grid_y <= f->acceptable.grid_y &&
           q->grid_z <= f->acceptable.grid_z;
}

/* Sends it off; or asks, where the answer is not known. */
static int send_launch(struct wb_function *f, const struct wb_req_launch *q, const uint8_t *params,
                       uint32_t bytes) {
    wb_launched();
    if (acceptable(f, q)) return wb_post_tail(launch, q, params, bytes);
    int error = wb_ask_tail(launch, q, NULL, params, bytes, NULL, 0);
    if (!error) f->accepted = true, f->acceptable = *q;
    return error;
}

static int run_launch(const struct wb_command *c) {
    int error;
    struct wb_function *f = wb_function(c->launch.func, &error);
    if (!f) return error;
    wb_flush_output();
    struct wb_req_launch q = {
        .kernel = f->kernel,
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
    if (!wb_translates()) return send_launch(f, &q, c->launch.params, c->launch.param_bytes);
    _Alignas(16) uint8_t params[WB_PARAM_BYTES];
    memcpy(params, c->launch.params, c->launch.param_bytes);
    wb_translate(params, c->launch.param_bytes);
    return send_launch(f, &q, params, c->launch.param_bytes);
}

static int run_host(const struct wb_command *c) {
    int error = wb_sync(); /* not called when the context is broken */
    wb_flights_forget();   /* what it is called behind may be any of them */
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

int wb_run(const struct wb_command *c) {
    switch (c->kind) {
    case WB_LAUNCH: return run_launch(c);
    case WB_COPY: return run_copy(c);
    case WB_FILL:
        return wb_fill(c->fill.to, c->fill.pitch, c->fill.value, c->fill.unit, c->fill.width,
                       c->fill.rows);
    case WB_HOST: return run_host(c);
    case WB_RECORD: return wb_event_record_now(c->event), 0;
    case WB_CHILD: return wb_graph_run(c->child);
    case WB_CONDITIONAL: return wb_graph_conditional_run(c);
    case WB_ALLOC: return wb_graph_memory_begin(c->memory.p, c->memory.again);
    case WB_FREE: return wb_free(c->memory.p);
    case WB_WAIT:
        return wb_event_wait_now(c->event),
               0; /* what recorded it comes earlier in what the device has been sent */
    case WB_EMPTY: break;
    }
    return 0;
}

static int capture(struct wb_capture *into, const struct wb_command *c) {
    cudaGraphNode_t node;
    int error = wb_graph_add(into->graph, c, into->last, into->nlast, &node);
    if (error) return error;
    into->last[0] = node;
    into->nlast = 1;
    return 0;
}

/* Whether the host goes on only when it is done, as the manual says; among device memory it never
 * does. */
static bool waits_for(const struct wb_command *c) {
    bool to_device = wb_is_device(c->copy.to) && !wb_is_shared(c->copy.to);
    bool from_device = wb_is_device(c->copy.from) && !wb_is_shared(c->copy.from);
    if (c->kind != WB_COPY || (to_device && from_device)) return false;
    return !c->copy.async || !wb_is_device(c->copy.to);
}

int wb_issue(cudaStream_t s, const struct wb_command *c) {
    int error = wb_check_stream(s);
    if (error) return error;
    struct wb_capture *into = wb_capture(s);
    if (into && into->broken) return cudaErrorStreamCaptureInvalidated;
    if (into && into->graph) return capture(into, c);
    error = wb_implicit(s);
    if (error) return error;
    bool flies = wb_flies(c);
    if (flies) wb_order_count();
    wb_order_command(s);
    error = wb_run(c);
    wb_stream_used(s);
    if (!error && flies) wb_flight_begin(c);
    if (!error && waits_for(c)) wb_order_host_stream(s);
    return error;
}
