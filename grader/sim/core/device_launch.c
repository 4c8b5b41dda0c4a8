/* device_launch.c — launches by kernels: what device code calls of the device runtime (CUDA dynamic
 * parallelism, the second version).
 *
 * A kernel cannot wait for what it launched, and the grid that launched counts as running until all
 * that it launched has ended. So a launch is kept, with a copy of its parameters, and runs when the
 * kernel has ended: in the order of the calls, each with what it launches itself, and tail launches
 * last. That is one of the orders that streams allow. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/taint.h"

#include <stdlib.h>
#include <string.h>

/* The programming guide's limits; CUDA's numbers of streams and errors. */
enum { MOST_DEPTH = 24, MOST_PENDING = 2048 };
enum { STREAM_TAIL = 3 };
#define STREAM_GRAPH_TAIL 0x0100000000000000ull /* beside it, as a sibling: 2 and 3 there */
enum { INVALID_VALUE = 1, INVALID_CONFIGURATION = 9, DEPTH_EXCEEDED = 65, PENDING_EXCEEDED = 69 };

static u32 word(const unsigned char *frame, const struct param_area *a, u32 i, u32 lane) {
    return ((const u32 *)(frame + a->offset))[i * 32 + lane];
}

static u64 wide(const unsigned char *frame, const struct param_area *a, u32 lane) {
    return word(frame, a, 0, lane) | (a->bytes >= 8 ? (u64)word(frame, a, 1, lane) << 32 : 0);
}

static void put(unsigned char *frame, const struct call_desc *d, u32 lane, u64 v) {
    const struct param_area *a = &d->args[d->nargs];
    u32 *w = (u32 *)(frame + a->offset);
    w[lane] = (u32)v;
    if (a->bytes >= 8) w[32 + lane] = (u32)(v >> 32);
}

static void forget_memos(struct exec *x) { /* the allocation table moved */
    for (u32 i = 0; i < x->worker->launch->module->nstats; i++) x->memos[i].allocation = -1;
}

static u64 fail(struct exec *x, u32 error) { return x->worker->launch->sim->device_error = error; }

/* ---- what kernels call ---- */

/* void *cudaGetParameterBufferV2(function, dim3 grid, dim3 block, unsigned shared) */
static u64 take_buffer(struct exec *x, const struct call_desc *d, const unsigned char *frame,
                       u32 lane) {
    struct launch *l = x->worker->launch;
    struct sim *s = l->sim;
    u64 code = wide(frame, &d->args[0], lane) - FUNC_WINDOW;
    if (code >= l->module->nfuncs || !l->module->funcs[code].kernel)
        return fail(x, INVALID_VALUE), 0;
    if (s->npending >= MOST_PENDING) return fail(x, PENDING_EXCEEDED), 0;
    const struct sim_kernel *kernel = l->module->funcs[code].kernel;
    struct device_launch *p = xcalloc(1, sizeof *p);
    p->kernel = kernel;
    p->bytes = kernel->param_bytes ? kernel->param_bytes : 1;
    p->buffer = memory_alloc_internal(x->memory, p->bytes, "parameters of a launch");
    for (u32 i = 0; i < 3; i++) p->grid[i] = word(frame, &d->args[1], i, lane);
    for (u32 i = 0; i < 3; i++) p->block[i] = word(frame, &d->args[2], i, lane);
    p->shared = word(frame, &d->args[3], 0, lane);
    p->next = s->prepared;
    s->prepared = p;
    s->npending++;
    forget_memos(x);
    return p->buffer;
}

static struct device_launch *prepared(struct sim *s, u64 buffer) {
    for (struct device_launch **p = &s->prepared; *p; p = &(*p)->next)
        if ((*p)->buffer == buffer) {
            struct device_launch *found = *p;
            *p = found->next;
            found->next = NULL;
            return found;
        }
    return NULL;
}

static void append(struct device_launch **list, struct device_launch *p) {
    while (*list) list = &(*list)->next;
    *list = p;
}

/* cudaError_t cudaLaunchDeviceV2(buffer, stream): the parameters are what the buffer holds now. */
static u64 launch(struct exec *x, const struct call_desc *d, const unsigned char *frame, u32 lane) {
    struct launch *l = x->worker->launch;
    struct device_launch *p = prepared(l->sim, wide(frame, &d->args[0], lane));
    if (!p) return fail(x, INVALID_VALUE);
    p->params = xcalloc(1, p->bytes);
    memcpy(p->params, x->memory->bytes + (p->buffer - SIM_BASE), p->bytes);
    memory_free(x->memory, p->buffer);
    forget_memos(x);
    struct sim_launch request = device_launch_request(p);
    struct err e = {0};
    bool deep = l->sim->depth >= MOST_DEPTH;
    if (deep || l->check(l->sim, &request, &e)) {
        device_launch_free(l->sim, p);
        return fail(x, deep ? DEPTH_EXCEEDED : INVALID_CONFIGURATION);
    }
    append(wide(frame, &d->args[1], lane) == STREAM_TAIL ? &l->sim->tail : &l->sim->pending, p);
    return 0;
}

/* ---- graphs: runtime/graph_device.c runs what is asked for here ---- */

static struct sim_graph_box *graph_box(const struct memory *m) {
    for (unsigned i = 0; i < m->count; i++)
        if (m->allocations[i].state == ALLOCATION_LIVE &&
            !strcmp(m->allocations[i].name, SIM_GRAPH_BOX))
            return (void *)(m->bytes + m->allocations[i].start);
    return NULL;
}

u64 device_launch_graph(const struct memory *m) {
    const struct sim_graph_box *b = graph_box(m);
    return b ? b->current : 0;
}

static bool has(const u64 *list, u32 n, u32 step, u64 v) {
    for (u32 i = 0; i < n; i++)
        if (list[i * step] == v) return true;
    return false;
}

/* cudaError_t cudaGraphLaunch(graph, stream), as an H100 answers: tests/programs/graph_device.cu.
 */
static u64 launch_graph(struct exec *x, const struct call_desc *d, const struct op *o,
                        const unsigned char *frame, u32 lane) {
    struct sim_graph_box *b = graph_box(x->memory);
    u64 graph = wide(frame, &d->args[0], lane), stream = wide(frame, &d->args[1], lane);
    if (!b || !b->open) {
        core_fault(x, SIM_FAULT_BAD_CALL, o, lane, graph,
                   "launches a graph, but belongs to none: only kernels of graphs may");
        return INVALID_VALUE;
    }
    bool known = has(b->ready, b->nready, 1, graph),
         known_stream = stream >> 56 && stream >> 56 <= 3 && !(stream << 8);
    bool again =
        has(b->asked, b->nasked, 2, graph) || (graph == b->current && stream != STREAM_GRAPH_TAIL);
    if (!known || !known_stream || again) return INVALID_VALUE;
    if (b->nasked == sizeof b->asked / sizeof *b->asked / 2) return PENDING_EXCEEDED;
    b->asked[2 * b->nasked] = graph;
    b->asked[2 * b->nasked++ + 1] = stream;
    return 0;
}

/* Streams and events are numbers that nothing asks for again. */
static u64 hand(struct exec *x, const struct op *o, const struct call_desc *d,
                const unsigned char *frame, u32 lane, u64 v, u32 bytes) {
    return call_store(x, o, lane, wide(frame, &d->args[0], lane), v, bytes) ? 0 : INVALID_VALUE;
}

/* ---- names and texts of errors, in memory of the device from the first that is asked for ---- */

static const struct {
    u32 code;
    const char *words[2];
} errors[] = {
#define X(name, code, text) {code, {#name, text}},
#include "grader/server/errors.def"
#undef X
    {UINT32_MAX, {"unrecognized error code", "unrecognized error code"}},
};
enum { NERRORS = sizeof errors / sizeof *errors };

static u64 lay_out(struct exec *x) {
    struct sim *s = x->worker->launch->sim;
    u64 bytes = 0;
    for (u32 i = 0; i < 2 * NERRORS; i++) bytes += strlen(errors[i / 2].words[i % 2]) + 1;
    u64 to = s->error_texts = memory_alloc_internal(x->memory, bytes, "names and texts of errors");
    forget_memos(x);
    if (!to) return 0;
    memory_find_allocation(x->memory, to)->is_module_var = true; /* it stays */
    memory_set_initialized(x->memory, to, bytes, true);
    for (u32 i = 0; i < 2 * NERRORS; i++)
        to +=
            strlen(strcpy((char *)x->memory->bytes + (to - SIM_BASE), errors[i / 2].words[i % 2])) +
            1;
    return s->error_texts;
}

static u64 words_of(struct exec *x, u32 error, u32 which) {
    u64 at = x->worker->launch->sim->error_texts;
    if (!at && !(at = lay_out(x))) return 0;
    for (u32 i = 0; i < 2 * NERRORS; i++) {
        if (i % 2 == which && (errors[i / 2].code == error || i / 2 == NERRORS - 1)) break;
        at += strlen(errors[i / 2].words[i % 2]) + 1;
    }
    return at;
}

/* ---- copies and fills, which wait for the kernel's end like launches ---- */

static bool is_there(struct exec *x, const struct op *o, u32 lane, u64 address, u64 bytes) {
    bool found = memory_find_range(x->memory, address, bytes) >= 0;
    if (!found)
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, address,
                   "has %llu bytes copied or filled at 0x%llx, where not all are global memory",
                   (unsigned long long)bytes, (unsigned long long)address);
    return found;
}

/* cudaMemcpyAsync(to, from, length, kind, stream) · cudaMemsetAsync(to, value, length, stream) */
static u64 move(struct exec *x, const struct op *o, const struct call_desc *d,
                const unsigned char *frame, u32 lane) {
    struct sim *s = x->worker->launch->sim;
    bool copies = d->builtin == BUILTIN_MEMCPY_ASYNC;
    u64 to = wide(frame, &d->args[0], lane), second = wide(frame, &d->args[1], lane),
        length = wide(frame, &d->args[2], lane);
    if (!length) return 0;
    if (!is_there(x, o, lane, to, length) || (copies && !is_there(x, o, lane, second, length)))
        return INVALID_VALUE;
    if (s->npending >= MOST_PENDING) return fail(x, PENDING_EXCEEDED);
    struct device_launch *p = xcalloc(1, sizeof *p);
    *p = (struct device_launch){
        .to = to, .from = copies ? second : 0, .length = length, .value = (u8)second};
    s->npending++;
    append(wide(frame, &d->args[d->nargs - 1], lane) == STREAM_TAIL ? &s->tail : &s->pending, p);
    return 0;
}

void device_launch_call(struct exec *x, const struct call_desc *d, const struct op *o, u32 lane,
                        unsigned char *frame) {
    struct sim *s = x->worker->launch->sim;
    u32 error = s->device_error;
    switch ((enum builtin)d->builtin) {
    case BUILTIN_GET_PARAM_BUFFER: put(frame, d, lane, take_buffer(x, d, frame, lane)); break;
    case BUILTIN_LAUNCH: put(frame, d, lane, launch(x, d, frame, lane)); break;
    case BUILTIN_GRAPH_LAUNCH: put(frame, d, lane, launch_graph(x, d, o, frame, lane)); break;
    case BUILTIN_GET_LAST_ERROR: s->device_error = 0, put(frame, d, lane, error); break;
    case BUILTIN_PEEK_ERROR: put(frame, d, lane, error); break;
    case BUILTIN_ERROR_NAME:
        put(frame, d, lane, words_of(x, word(frame, &d->args[0], 0, lane), 0));
        break;
    case BUILTIN_ERROR_STRING:
        put(frame, d, lane, words_of(x, word(frame, &d->args[0], 0, lane), 1));
        break;
    case BUILTIN_CREATE_HANDLE: put(frame, d, lane, hand(x, o, d, frame, lane, 0x100, 8)); break;
    case BUILTIN_GET_DEVICE: put(frame, d, lane, hand(x, o, d, frame, lane, 0, 4)); break;
    case BUILTIN_DEVICE_COUNT: put(frame, d, lane, hand(x, o, d, frame, lane, 1, 4)); break;
    case BUILTIN_MEMCPY_ASYNC:
    case BUILTIN_MEMSET_ASYNC: put(frame, d, lane, move(x, o, d, frame, lane)); break;
    default: put(frame, d, lane, 0);
    }
}

/* ---- afterwards ---- */

struct sim_launch device_launch_request(const struct device_launch *p) {
    struct sim_launch l = {.kernel = p->kernel,
                           .dynamic_shared = p->shared,
                           .params = p->params,
                           .param_bytes = p->bytes};
    memcpy(l.grid, p->grid, sizeof l.grid);
    memcpy(l.block, p->block, sizeof l.block);
    return l;
}

void device_launch_free(struct sim *s, struct device_launch *p) {
    s->npending--;
    free(p->params);
    free(p);
}

static void drop(struct sim *s, struct device_launch **list, bool buffers) {
    for (struct device_launch *p = *list, *next; p; p = next) {
        next = p->next;
        if (buffers) memory_free(&s->memory, p->buffer);
        device_launch_free(s, p);
    }
    *list = NULL;
}

void device_launch_drop(struct sim *s) {
    drop(s, &s->prepared, true);
    drop(s, &s->pending, false);
    drop(s, &s->tail, false);
}
