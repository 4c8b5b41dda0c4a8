/* device_launch.c — launches by kernels: the functions of the CUDA device runtime (dynamic
 * parallelism, second version). core/builtin.c calls it; sim/launch.c runs the launches.
 *
 * A kernel can't wait for its launches, and the launching grid counts as running until all of them
 * have ended. So a launch is stored with a copy of its parameters, and runs when the kernel has
 * ended: in the order of the calls, each followed by its own launches; tail launches run last. That
 * is one of the orders that streams allow. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/undef.h"

#include <stdlib.h>
#include <string.h>

/* Limits from the programming guide; CUDA's numbers of streams and errors. */
enum { MAX_DEPTH = 24, MAX_PENDING = 2048 };
enum { STREAM_TAIL = 3 };
#define STREAM_GRAPH_TAIL                                                   \
    0x0100000000000000ull /* 2 and 3 in that byte: fire and forget, sibling \
                           */
enum {
    INVALID_VALUE = 1,
    INVALID_CONFIGURATION = 9,
    INVALID_PITCH = 12,
    DEPTH_EXCEEDED = 65,
    PENDING_EXCEEDED = 69
};

static u32 arg_word(const unsigned char *frame, const struct param_area *a, u32 i, u32 lane) {
    return ((const u32 *)(frame + a->offset))[i * 32 + lane];
}

static u64 arg_u64(const unsigned char *frame, const struct param_area *a, u32 lane) {
    return arg_word(frame, a, 0, lane) |
           (a->bytes >= 8 ? (u64)arg_word(frame, a, 1, lane) << 32 : 0);
}

static void put_return(unsigned char *frame, const struct call_desc *d, u32 lane, u64 v) {
    const struct param_area *a = &d->args[d->nargs];
    u32 *w = (u32 *)(frame + a->offset);
    w[lane] = (u32)v;
    if (a->bytes >= 8) w[32 + lane] = (u32)(v >> 32);
}

static void invalidate_cached_allocations(struct exec *x) { /* the allocation table moved */
    for (u32 i = 0; i < x->worker->launch->module->nstats; i++) x->pattern_cache[i].allocation = -1;
}

static u64 set_device_error(struct exec *x, u32 error) {
    return x->worker->launch->sim->device_error = error;
}

/* ---- functions that kernels call ---- */

/* void *cudaGetParameterBufferV2(function, dim3 grid, dim3 block, unsigned shared) */
static u64 get_parameter_buffer(struct exec *x, const struct call_desc *d,
                                const unsigned char *frame, u32 lane) {
    struct launch *l = x->worker->launch;
    struct sim *s = l->sim;
    u64 code = arg_u64(frame, &d->args[0], lane) - FUNC_WINDOW;
    if (code >= l->module->nfuncs || !l->module->funcs[code].kernel)
        return set_device_error(x, INVALID_VALUE), 0;
    if (s->npending_launches >= MAX_PENDING) return set_device_error(x, PENDING_EXCEEDED), 0;
    const struct sim_kernel *kernel = l->module->funcs[code].kernel;
    struct device_launch *p = xcalloc(1, sizeof *p);
    p->kernel = kernel;
    p->param_bytes = kernel->param_bytes ? kernel->param_bytes : 1;
    p->param_buffer = memory_alloc_internal(x->memory, p->param_bytes, "parameters of a launch");
    for (u32 i = 0; i < 3; i++) p->grid[i] = arg_word(frame, &d->args[1], i, lane);
    for (u32 i = 0; i < 3; i++) p->block[i] = arg_word(frame, &d->args[2], i, lane);
    p->dynamic_shared = arg_word(frame, &d->args[3], 0, lane);
    p->next = s->prepared_launches;
    s->prepared_launches = p;
    s->npending_launches++;
    invalidate_cached_allocations(x);
    return p->param_buffer;
}

static struct device_launch *take_prepared(struct sim *s, u64 buffer) {
    for (struct device_launch **p = &s->prepared_launches; *p; p = &(*p)->next)
        if ((*p)->param_buffer == buffer) {
            struct device_launch *found = *p;
            *p = found->next;
            found->next = NULL;
            return found;
        }
    return NULL;
}

static void append_launch(struct device_launch **list, struct device_launch *p) {
    while (*list) list = &(*list)->next;
    *list = p;
}

/* cudaError_t cudaLaunchDeviceV2(buffer, stream): copies the parameters out of the buffer. */
static u64 launch_kernel(struct exec *x, const struct call_desc *d, const unsigned char *frame,
                         u32 lane) {
    struct launch *l = x->worker->launch;
    struct device_launch *p = take_prepared(l->sim, arg_u64(frame, &d->args[0], lane));
    if (!p) return set_device_error(x, INVALID_VALUE);
    p->params = xcalloc(1, p->param_bytes);
    memcpy(p->params, x->memory->bytes + (p->param_buffer - SIM_BASE), p->param_bytes);
    memory_free(x->memory, p->param_buffer);
    invalidate_cached_allocations(x);
    struct sim_launch request = device_launch_request(p);
    struct err e = {0};
    bool is_too_deep = l->sim->launch_depth >= MAX_DEPTH;
    if (is_too_deep || l->check_config(l->sim, &request, &e)) {
        device_launch_free(l->sim, p);
        return set_device_error(x, is_too_deep ? DEPTH_EXCEEDED : INVALID_CONFIGURATION);
    }
    append_launch(arg_u64(frame, &d->args[1], lane) == STREAM_TAIL ? &l->sim->tail_launches
                                                                   : &l->sim->pending_launches,
                  p);
    return 0;
}

/* ---- graphs: runtime/graph_device.c runs the launches requested here ---- */

static struct sim_graph_mailbox *find_graph_mailbox(const struct memory *m) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].state == ALLOCATION_LIVE &&
            !strcmp(m->allocations[i].name, SIM_GRAPH_MAILBOX_NAME))
            return (void *)(m->bytes + m->allocations[i].start);
    return NULL;
}

u64 device_launch_current_graph(const struct memory *m) {
    const struct sim_graph_mailbox *b = find_graph_mailbox(m);
    return b ? b->current_graph : 0;
}

static bool contains_u64(const u64 *list, u32 n, u32 stride, u64 v) {
    for (u32 i = 0; i < n; i++)
        if (list[i * stride] == v) return true;
    return false;
}

/* cudaError_t cudaGraphLaunch(graph, stream), with an H100's results:
 * tests/programs/graph_device.cu. */
static u64 launch_graph(struct exec *x, const struct call_desc *d, const struct op *o,
                        const unsigned char *frame, u32 lane) {
    struct sim_graph_mailbox *b = find_graph_mailbox(x->memory);
    u64 graph = arg_u64(frame, &d->args[0], lane), stream = arg_u64(frame, &d->args[1], lane);
    if (!b || !b->is_graph_running) {
        core_fault(
            x, SIM_FAULT_BAD_CALL, o, lane, graph,
            "launches a graph, but does not run in one: only a graph's kernels may launch graphs");
        return INVALID_VALUE;
    }
    bool is_known_graph = contains_u64(b->launchable, b->nlaunchable, 1, graph),
         is_known_stream = stream >> 56 && stream >> 56 <= 3 && !(stream << 8);
    bool is_duplicate = contains_u64(b->requests, b->nrequests, 2, graph) ||
                        (graph == b->current_graph && stream != STREAM_GRAPH_TAIL);
    if (!is_known_graph || !is_known_stream || is_duplicate) return INVALID_VALUE;
    if (b->nrequests == sizeof b->requests / sizeof *b->requests / 2) return PENDING_EXCEEDED;
    b->requests[2 * b->nrequests] = graph;
    b->requests[2 * b->nrequests++ + 1] = stream;
    return 0;
}

/* Stores a handle. Streams and events are only numbers: nothing uses them. */
static u64 return_handle(struct exec *x, const struct op *o, const struct call_desc *d,
                         const unsigned char *frame, u32 lane, u64 v, u32 bytes) {
    return call_store_result(x, o, lane, arg_u64(frame, &d->args[0], lane), v, bytes)
               ? 0
               : INVALID_VALUE;
}

/* ---- names and texts of errors, copied to device memory at the first request ---- */

static const struct {
    u32 code;
    const char *strings[2];
} errors[] = {
#define X(name, code, text) {code, {#name, text}},
#include "grader/server/errors.def"
#undef X
    {UINT32_MAX, {"unrecognized error code", "unrecognized error code"}},
};
enum { NERRORS = sizeof errors / sizeof *errors };

static u64 alloc_error_strings(struct exec *x) {
    struct sim *s = x->worker->launch->sim;
    u64 bytes = 0;
    for (u32 i = 0; i < 2 * NERRORS; i++) bytes += strlen(errors[i / 2].strings[i % 2]) + 1;
    u64 to = s->error_strings =
        memory_alloc_internal(x->memory, bytes, "names and texts of errors");
    invalidate_cached_allocations(x);
    if (!to) return 0;
    memory_find_allocation(x->memory, to)->is_module_var = true; /* never freed */
    memory_set_initialized(x->memory, to, bytes, true);
    for (u32 i = 0; i < 2 * NERRORS; i++)
        to += strlen(strcpy((char *)x->memory->bytes + (to - SIM_BASE),
                            errors[i / 2].strings[i % 2])) +
              1;
    return s->error_strings;
}

static u64 find_error_string(struct exec *x, u32 error, u32 string_index) {
    u64 at = x->worker->launch->sim->error_strings;
    if (!at && !(at = alloc_error_strings(x))) return 0;
    for (u32 i = 0; i < 2 * NERRORS; i++) {
        if (i % 2 == string_index && (errors[i / 2].code == error || i / 2 == NERRORS - 1)) break;
        at += strlen(errors[i / 2].strings[i % 2]) + 1;
    }
    return at;
}

/* ---- copies and fills; like launches, they run after the kernel ---- */

static bool check_range(struct exec *x, const struct op *o, u32 lane, u64 address, u64 bytes) {
    bool is_mapped = memory_find_range(x->memory, address, bytes) >= 0;
    if (!is_mapped)
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, address,
                   "copies or fills %llu bytes at 0x%llx, which are not all in global memory",
                   (unsigned long long)bytes, (unsigned long long)address);
    return is_mapped;
}

/* Returns what a call copies or fills:
 *   cudaMemcpyAsync(to, from, length, kind, stream) · cudaMemsetAsync(to, value, length, stream)
 *   cudaMemcpy2DAsync(to, pitch, from, pitch, width, rows, kind, stream)
 *   cudaMemset2DAsync(to, pitch, value, width, rows, stream) */
static struct device_copy copy_from_args(const struct call_desc *d, const unsigned char *frame,
                                         u32 lane) {
    u64 arg[6];
    for (u32 i = 0; i < 6; i++) arg[i] = i < d->nargs ? arg_u64(frame, &d->args[i], lane) : 0;
    switch ((enum builtin)d->builtin) {
    case BUILTIN_MEMCPY_ASYNC:
        return (struct device_copy){arg[0], arg[1], arg[2], arg[2], arg[2], 1, 0};
    case BUILTIN_MEMSET_ASYNC:
        return (struct device_copy){arg[0], 0, arg[2], 0, arg[2], 1, (u8)arg[1]};
    case BUILTIN_MEMCPY_2D_ASYNC:
        return (struct device_copy){arg[0], arg[2], arg[1], arg[3], arg[4], arg[5], 0};
    default: return (struct device_copy){arg[0], 0, arg[1], 0, arg[3], arg[4], (u8)arg[2]};
    }
}

/* Returns the distance from the first byte to the end of the last row; 0 if it is too large. */
static u64 copy_extent(u64 pitch, u64 width, u64 rows) {
    u64 extent;
    return __builtin_mul_overflow(pitch, rows - 1, &extent) ||
                   __builtin_add_overflow(extent, width, &extent)
               ? 0
               : extent;
}

static u64 enqueue_copy_or_fill(struct exec *x, const struct op *o, const struct call_desc *d,
                                const unsigned char *frame, u32 lane) {
    struct sim *s = x->worker->launch->sim;
    struct device_copy c = copy_from_args(d, frame, lane);
    bool is_copy = d->builtin == BUILTIN_MEMCPY_ASYNC || d->builtin == BUILTIN_MEMCPY_2D_ASYNC;
    if (!c.width || !c.rows) return 0;
    if (c.dst_pitch < c.width || (is_copy && c.src_pitch < c.width))
        return set_device_error(x, INVALID_PITCH);
    u64 to_extent = copy_extent(c.dst_pitch, c.width, c.rows),
        from_extent = copy_extent(c.src_pitch, c.width, c.rows);
    if (!to_extent || !from_extent) return set_device_error(x, INVALID_VALUE);
    if (!check_range(x, o, lane, c.dst, to_extent) ||
        (is_copy && !check_range(x, o, lane, c.src, from_extent)))
        return INVALID_VALUE;
    if (s->npending_launches >= MAX_PENDING) return set_device_error(x, PENDING_EXCEEDED);
    struct device_launch *p = xcalloc(1, sizeof *p);
    p->copy = c;
    s->npending_launches++;
    append_launch(arg_u64(frame, &d->args[d->nargs - 1], lane) == STREAM_TAIL
                      ? &s->tail_launches
                      : &s->pending_launches,
                  p);
    return 0;
}

void device_launch_builtin(struct exec *x, const struct call_desc *d, const struct op *o, u32 lane,
                           unsigned char *frame) {
    struct sim *s = x->worker->launch->sim;
    u32 error = s->device_error;
    switch ((enum builtin)d->builtin) {
    case BUILTIN_GET_PARAM_BUFFER:
        put_return(frame, d, lane, get_parameter_buffer(x, d, frame, lane));
        break;
    case BUILTIN_LAUNCH: put_return(frame, d, lane, launch_kernel(x, d, frame, lane)); break;
    case BUILTIN_GRAPH_LAUNCH:
        put_return(frame, d, lane, launch_graph(x, d, o, frame, lane));
        break;
    case BUILTIN_GET_LAST_ERROR: s->device_error = 0, put_return(frame, d, lane, error); break;
    case BUILTIN_PEEK_ERROR: put_return(frame, d, lane, error); break;
    case BUILTIN_ERROR_NAME:
        put_return(frame, d, lane, find_error_string(x, arg_word(frame, &d->args[0], 0, lane), 0));
        break;
    case BUILTIN_ERROR_STRING:
        put_return(frame, d, lane, find_error_string(x, arg_word(frame, &d->args[0], 0, lane), 1));
        break;
    case BUILTIN_CREATE_HANDLE:
        put_return(frame, d, lane, return_handle(x, o, d, frame, lane, 0x100, 8));
        break;
    case BUILTIN_GET_DEVICE:
        put_return(frame, d, lane, return_handle(x, o, d, frame, lane, 0, 4));
        break;
    case BUILTIN_DEVICE_COUNT:
        put_return(frame, d, lane, return_handle(x, o, d, frame, lane, 1, 4));
        break;
    case BUILTIN_MEMCPY_ASYNC:
    case BUILTIN_MEMSET_ASYNC:
    case BUILTIN_MEMCPY_2D_ASYNC:
    case BUILTIN_MEMSET_2D_ASYNC:
        put_return(frame, d, lane, enqueue_copy_or_fill(x, o, d, frame, lane));
        break;
    default: put_return(frame, d, lane, 0);
    }
}

/* ---- after the kernel ---- */

struct sim_launch device_launch_request(const struct device_launch *p) {
    struct sim_launch l = {.kernel = p->kernel,
                           .dynamic_shared = p->dynamic_shared,
                           .params = p->params,
                           .param_bytes = p->param_bytes};
    memcpy(l.grid, p->grid, sizeof l.grid);
    memcpy(l.block, p->block, sizeof l.block);
    return l;
}

void device_launch_free(struct sim *s, struct device_launch *p) {
    s->npending_launches--;
    free(p->params);
    free(p);
}

static void drop_list(struct sim *s, struct device_launch **list, bool has_buffers) {
    for (struct device_launch *p = *list, *next; p; p = next) {
        next = p->next;
        if (has_buffers) memory_free(&s->memory, p->param_buffer);
        device_launch_free(s, p);
    }
    *list = NULL;
}

void device_launch_drop(struct sim *s) {
    drop_list(s, &s->prepared_launches, true);
    drop_list(s, &s->pending_launches, false);
    drop_list(s, &s->tail_launches, false);
}
