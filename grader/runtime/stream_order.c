/* stream_order.c — tracks the order of commands in the host's streams, so that the simulator can
 * find races between streams.
 *
 * A vector clock holds one count of commands per stream. Each stream's clock covers what its next
 * command comes after: its earlier commands; those before the events that it waits for; those that
 * the host knew to be done when it issued the command; and, for the legacy default stream and
 * blocking streams, each other's. No clocks are sent before a program creates a stream, nor
 * once a second thread issues commands, whose commands could come between a clock and its command.
 */
#include "grader/runtime/runtime.h"

enum { SLOT_LEGACY, SLOT_PER_THREAD, SLOT_FIRST };

static struct {
    bool used, nonblocking; /* apart: does not wait for the legacy default stream */
    struct wb_vector_clock clock;
} slots[WB_MAX_STREAMS] = {[SLOT_LEGACY] = {.used = true}, [SLOT_PER_THREAD] = {.used = true}};

static struct wb_vector_clock host_clock, current_clock;
static unsigned current_slot;
static bool reporting, tracking, multithreaded; /* counting: clocks are kept, but not told */
static pthread_t owner_thread;

static void clock_join(struct wb_vector_clock *to, const struct wb_vector_clock *from) {
    for (unsigned i = 0; i < WB_MAX_STREAMS; i++)
        if (from->counts[i] > to->counts[i]) to->counts[i] = from->counts[i];
}

static void start_reporting(void) {
    if (!reporting && !tracking) owner_thread = pthread_self();
    reporting = true;
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
    unsigned i = SLOT_FIRST;
    while (i < WB_MAX_STREAMS - 1 && slots[i].used)
        i++; /* the last is shared by those that are too many */
    slots[i].used = true;
    slots[i].nonblocking = nonblocking;
    wb_unlock();
    return i;
}

/* Its clock stays, for the next stream that has this place. */
void wb_order_remove_stream(unsigned slot) {
    wb_lock();
    if (slot < WB_MAX_STREAMS - 1) slots[slot].used = false;
    wb_unlock();
}

static unsigned stream_slot_of(cudaStream_t s) {
    return !s || s == cudaStreamLegacy ? SLOT_LEGACY
           : s == cudaStreamPerThread  ? SLOT_PER_THREAD
                                       : wb_stream_slot(s);
}

static void report_order(void) {
    struct wb_req_order q = {.stream = current_slot,
                             .number = multithreaded ? 0 : current_clock.counts[current_slot]};
    struct wb_vector_clock clocks[2] = {current_clock, host_clock};
    wb_post_tail(order, &q, clocks, sizeof clocks);
}

/* Where data come from the host's memory, a single stream is of interest, too: the host may wait
 * for it. */
void wb_order_command(cudaStream_t s) {
    bool should_report = reporting || wb_has_host_buffers();
    if (!should_report && !tracking) return;
    wb_lock();
    if (should_report) start_reporting();
    unsigned slot = stream_slot_of(s);
    struct wb_vector_clock *slot_clock = &slots[slot].clock;
    multithreaded |= !pthread_equal(owner_thread, pthread_self());
    if (multithreaded) wb_inflight_clear();
    clock_join(slot_clock, &host_clock);
    for (unsigned i = SLOT_FIRST; slot == SLOT_LEGACY && i < WB_MAX_STREAMS; i++)
        if (!slots[i].nonblocking) clock_join(slot_clock, &slots[i].clock);
    if (slot == SLOT_LEGACY) clock_join(slot_clock, &slots[SLOT_PER_THREAD].clock);
    else if (!slots[slot].nonblocking) clock_join(slot_clock, &slots[SLOT_LEGACY].clock);
    slot_clock->counts[slot]++;
    current_clock = *slot_clock;
    current_slot = slot;
    if (should_report) report_order();
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

/* Who waits for the legacy stream waits for what that would. */
void wb_order_host_wait_stream(cudaStream_t s) {
    wb_lock();
    unsigned slot = stream_slot_of(s);
    clock_join(&host_clock, &slots[slot].clock);
    for (unsigned i = SLOT_PER_THREAD; slot == SLOT_LEGACY && i < WB_MAX_STREAMS; i++)
        if (!slots[i].nonblocking) clock_join(&host_clock, &slots[i].clock);
    wb_inflight_retire(&host_clock);
    wb_unlock();
}

void wb_order_host_wait_all(void) {
    wb_lock();
    for (unsigned i = 0; (reporting || tracking) && i < WB_MAX_STREAMS; i++)
        clock_join(&host_clock, &slots[i].clock);
    wb_inflight_retire(&host_clock);
    wb_unlock();
}
