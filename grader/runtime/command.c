/* command.c — carries out what streams are given: kernels, copies, fills, host functions. */
#include "grader/runtime/runtime.h"

static int run_launch(const struct wb_command *c) {
    int error;
    const struct wb_function *f = wb_function(c->launch.func, &error);
    if (!f) return error;
    wb_flush_output();
    wb_managed_to_device();
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
    return wb_ask_tail(launch, &q, NULL, c->launch.params, c->launch.param_bytes, NULL, 0);
}

static int run_host(const struct wb_command *c) {
    int error = wb_sync(); /* not called when the context is broken */
    if (!error) c->host.function(c->host.data);
    return error;
}

int wb_run(const struct wb_command *c) {
    switch (c->kind) {
    case WB_LAUNCH: return run_launch(c);
    case WB_COPY:
        return wb_copy_any(c->copy.to, c->copy.to_pitch, c->copy.from, c->copy.from_pitch, c->copy.width, c->copy.rows,
                           c->copy.kind);
    case WB_FILL: return wb_fill(c->fill.to, c->fill.pitch, c->fill.value, c->fill.unit, c->fill.width, c->fill.rows);
    case WB_HOST: return run_host(c);
    case WB_RECORD: return wb_event_record_now(c->event), 0;
    case WB_CHILD: return wb_graph_run(c->child);
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

int wb_issue(cudaStream_t s, const struct wb_command *c) {
    int error = wb_check_stream(s);
    if (error) return error;
    struct wb_capture *into = wb_capture(s);
    return into && into->graph ? capture(into, c) : wb_run(c);
}
