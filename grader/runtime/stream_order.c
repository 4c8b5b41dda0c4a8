/* stream_order.c — tracks the order of commands in the host's streams, so that the simulator can
 * find races between streams.
 *
 * A vector clock holds one count of commands per stream. Each stream's clock covers what its next
 * command comes after: its earlier commands; those before the events that it waits for; those that
 * the host knew to be done when it issued the command; and, for the legacy default stream and
 * blocking streams, each other's. The nodes of a graph are commands of their own: a chain of them
 * continues the graph's stream, others take unused slots for as long as the graph runs. No clocks
 * are sent before a program creates a stream or a graph with independent nodes, nor once a second
 * thread issues commands, whose commands could come between a clock and its command.
 */
#include "grader/runtime/runtime.h"

#include <stdlib.h>

/* The default streams of device d have the slots 2 * d + SLOT_LEGACY and 2 * d + SLOT_PER_THREAD.
 */
enum { SLOT_LEGACY, SLOT_PER_THREAD, DEFAULT_SLOTS };

static struct {
    bool used, nonblocking; /* non-blocking: does not wait for the legacy default stream */
    unsigned device;
    struct wb_vector_clock clock;
} slots[WB_MAX_STREAMS];

static struct wb_vector_clock host_clock, current_clock;
static unsigned current_slot;
static bool current_is_node;
static unsigned current_line;                   /* of the call of a copy or a fill; 0 = unknown */
static bool reporting, tracking, multithreaded; /* counting: clocks are updated, but not sent */
static pthread_t owner_thread;

/* The first slot that is not a default stream's. */
static unsigned first_slot(void) {
    static unsigned first;
    int error;
    const struct wb_session *s = first ? NULL : wb_session(&error);
    if (s) first = DEFAULT_SLOTS * s->ndevices;
    return first ? first : DEFAULT_SLOTS;
}
static unsigned default_slot(unsigned device, unsigned kind) {
    return DEFAULT_SLOTS * device + kind;
}
static unsigned slot_device(unsigned i) {
    return i < first_slot() ? i / DEFAULT_SLOTS : slots[i].device;
}
static bool is_legacy(unsigned i) { return i < first_slot() && i % DEFAULT_SLOTS == SLOT_LEGACY; }

static void clock_join(struct wb_vector_clock *to, const struct wb_vector_clock *from) {
    for (unsigned i = 0; i < WB_MAX_STREAMS; i++)
        if (from->counts[i] > to->counts[i]) to->counts[i] = from->counts[i];
}

static void start_reporting(void) {
    if (!reporting && !tracking) owner_thread = pthread_self();
    reporting = true;
}

void wb_order_report(void) {
    wb_lock();
    start_reporting();
    wb_unlock();
}

void wb_order_track(void) {
    wb_lock();
    if (!reporting && !tracking) owner_thread = pthread_self();
    tracking = true;
    wb_unlock();
}

unsigned wb_order_add_stream(bool nonblocking) {
    wb_lock();
    start_reporting();
    unsigned i = first_slot();
    while (i < WB_MAX_STREAMS - 1 && slots[i].used)
        i++; /* streams beyond the limit share the last one */
    slots[i].used = true;
    slots[i].nonblocking = nonblocking;
    slots[i].device = wb_current_device();
    wb_unlock();
    return i;
}

/* Its clock remains for the next stream in this slot. */
void wb_order_remove_stream(unsigned slot) {
    wb_lock();
    if (slot < WB_MAX_STREAMS - 1) slots[slot].used = false;
    wb_unlock();
}

static unsigned stream_slot_of(cudaStream_t s) {
    return !s || s == cudaStreamLegacy ? default_slot(wb_current_device(), SLOT_LEGACY)
           : s == cudaStreamPerThread  ? default_slot(wb_current_device(), SLOT_PER_THREAD)
                                       : wb_stream_slot(s);
}

static void report_order(void) {
    struct wb_req_order q = {.stream = current_slot,
                             .is_node = current_is_node,
                             .host_line = current_is_node ? 0 : current_line,
                             .number = multithreaded ? 0 : current_clock.counts[current_slot]};
    struct wb_vector_clock clocks[2] = {current_clock, host_clock};
    wb_post_tail(order, &q, clocks, sizeof clocks);
}

/* Joins what the legacy default stream of a device waits for. */
static void join_blocking(struct wb_vector_clock *to, unsigned device) {
    for (unsigned i = 0; i < WB_MAX_STREAMS; i++)
        if (slot_device(i) == device && !slots[i].nonblocking) clock_join(to, &slots[i].clock);
}

/* With copies from host memory, the order matters even for a single stream, because the host may
 * wait for it. An exercise on several devices has several default streams from the first command
 * on. */
static bool must_report(void) {
    int error;
    const struct wb_session *s = wb_session(&error);
    return reporting || wb_has_host_buffers() || (s && s->grading && s->ndevices > 1);
}

void wb_order_locate(bool is_kernel) {
    current_line = !is_kernel && must_report() ? wb_call_line() : 0;
}

void wb_order_command(cudaStream_t s) {
    bool should_report = must_report();
    if (!should_report && !tracking) return;
    wb_lock();
    if (should_report) start_reporting();
    unsigned slot = stream_slot_of(s);
    struct wb_vector_clock *slot_clock = &slots[slot].clock;
    multithreaded |= !pthread_equal(owner_thread, pthread_self());
    if (multithreaded) wb_inflight_clear();
    clock_join(slot_clock, &host_clock);
    unsigned device = slot_device(slot);
    if (is_legacy(slot)) join_blocking(slot_clock, device);
    else if (!slots[slot].nonblocking)
        clock_join(slot_clock, &slots[default_slot(device, SLOT_LEGACY)].clock);
    slot_clock->counts[slot]++;
    current_clock = *slot_clock;
    current_slot = slot, current_is_node = false;
    if (should_report) report_order();
    current_line = 0;
    wb_unlock();
}

void wb_order_get_clock(struct wb_vector_clock *out) { *out = current_clock; }

bool wb_order_last_command(unsigned *slot, uint32_t *stream_seq) {
    *slot = current_slot;
    *stream_seq = current_clock.counts[current_slot];
    return !multithreaded;
}

void wb_order_stream_wait(cudaStream_t s, const struct wb_vector_clock *c) {
    wb_lock();
    clock_join(&slots[stream_slot_of(s)].clock, c);
    wb_unlock();
}

void wb_order_current_wait(const struct wb_vector_clock *c) {
    wb_lock();
    clock_join(&slots[current_slot].clock, c);
    clock_join(&current_clock, c);
    if (reporting) report_order();
    wb_unlock();
}

void wb_order_host_wait(const struct wb_vector_clock *c) {
    wb_lock();
    clock_join(&host_clock, c);
    wb_inflight_retire(&host_clock);
    wb_unlock();
}

/* A wait for the legacy stream includes its own dependencies. */
void wb_order_host_wait_stream(cudaStream_t s) {
    wb_lock();
    unsigned slot = stream_slot_of(s);
    clock_join(&host_clock, &slots[slot].clock);
    if (is_legacy(slot)) join_blocking(&host_clock, slot_device(slot));
    wb_inflight_retire(&host_clock);
    wb_unlock();
}

void wb_order_host_wait_all(void) {
    wb_lock();
    for (unsigned i = 0; (reporting || tracking) && i < WB_MAX_STREAMS; i++)
        if (slot_device(i) == wb_current_device()) clock_join(&host_clock, &slots[i].clock);
    wb_inflight_retire(&host_clock);
    wb_unlock();
}

void wb_order_peer_begin(unsigned a, unsigned b) {
    wb_lock();
    struct wb_vector_clock *clock = &slots[default_slot(wb_current_device(), SLOT_LEGACY)].clock;
    join_blocking(clock, a), join_blocking(clock, b);
    wb_unlock();
}

void wb_order_peer_end(unsigned a, unsigned b) {
    wb_lock();
    clock_join(&slots[default_slot(a, SLOT_LEGACY)].clock, &current_clock);
    clock_join(&slots[default_slot(b, SLOT_LEGACY)].clock, &current_clock);
    wb_unlock();
}

/* ---- nodes of a graph ---- */

struct wb_order_fork {
    struct wb_vector_clock base; /* what all nodes come after */
    unsigned home_slot; /* clock of the graph's stream, or of the node that contains the graph */
    bool taken[WB_MAX_STREAMS]; /* further slots of the graph */
    struct wb_order_node {
        struct wb_vector_clock clock;
        unsigned slot;
        bool is_continued; /* a later node has its slot */
    } * nodes;
};

bool wb_order_is_reported(void) { return reporting; }

struct wb_order_fork *wb_order_fork_begin(size_t nnodes) {
    struct wb_order_fork *f = calloc(1, sizeof *f);
    if (f) f->nodes = calloc(nnodes + 1, sizeof *f->nodes);
    if (!f || !f->nodes) return free(f), NULL;
    wb_lock();
    f->base = current_clock, f->home_slot = current_slot;
    wb_unlock();
    return f;
}

/* Returns an unused slot, or the graph's own if there is none. The search continues where the last
 * one ended, so that graphs in flight share no slot. */
static unsigned take_free_slot(struct wb_order_fork *f) {
    static unsigned cursor = WB_MAX_STREAMS - 2;
    for (unsigned n = first_slot(); n < WB_MAX_STREAMS - 1; n++) {
        cursor = cursor > first_slot() ? cursor - 1 : WB_MAX_STREAMS - 2;
        if (slots[cursor].used) continue;
        slots[cursor].used = slots[cursor].nonblocking = f->taken[cursor] = true;
        slots[cursor].device = slot_device(f->home_slot);
        return cursor;
    }
    return f->home_slot;
}

/* Returns the slot of a dependency that no other node has continued; a slot of its own if there is
 * none. The first node without dependencies continues the graph's stream. */
static unsigned choose_slot(struct wb_order_fork *f, size_t i, const size_t *deps, size_t ndeps) {
    if (i == 0) return f->home_slot;
    for (size_t k = 0; k < ndeps; k++) {
        struct wb_order_node *d = &f->nodes[deps[k]];
        if (d->is_continued) continue;
        d->is_continued = true;
        return d->slot;
    }
    return take_free_slot(f);
}

void wb_order_fork_node(struct wb_order_fork *f, size_t i, const size_t *deps, size_t ndeps) {
    wb_lock();
    struct wb_order_node *node = &f->nodes[i];
    node->clock = f->base;
    for (size_t k = 0; k < ndeps; k++) clock_join(&node->clock, &f->nodes[deps[k]].clock);
    node->slot = choose_slot(f, i, deps, ndeps);
    node->clock.counts[node->slot] = slots[node->slot].clock.counts[node->slot] + 1;
    slots[node->slot].clock = current_clock = node->clock;
    current_slot = node->slot, current_is_node = true;
    if (reporting) report_order();
    wb_unlock();
}

void wb_order_fork_node_end(struct wb_order_fork *f, size_t i) {
    f->nodes[i].clock = current_clock; /* a wait for an event, or a child graph, adds to it */
}

void wb_order_fork_end(struct wb_order_fork *f, size_t nnodes) {
    wb_lock();
    struct wb_vector_clock *home = &slots[f->home_slot].clock;
    clock_join(home, &f->base);
    for (size_t i = 0; i < nnodes; i++) clock_join(home, &f->nodes[i].clock);
    for (unsigned i = first_slot(); i < WB_MAX_STREAMS; i++)
        if (f->taken[i]) slots[i].used = false;
    current_clock = *home, current_slot = f->home_slot;
    wb_unlock();
    free(f->nodes);
    free(f);
}
