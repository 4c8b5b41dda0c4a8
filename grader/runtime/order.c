/* order.c — which commands of the host's streams come after which, for the simulator to find races
 * between streams.
 *
 * A clock says of each stream how many of its commands are meant. Each stream has one, of what its
 * next command comes after: all that it was given before; what events stand for that it waits for;
 * what the host knew to be done when it gave the command; and between the legacy default stream and
 * the blocking ones, each other's. Nothing is told before a program makes a stream of its own, nor
 * once a second thread gives commands: what lies between order and command could then be another's.
 */
#include "grader/runtime/runtime.h"

enum { LEGACY, PER_THREAD, FIRST };

static struct {
    bool used, apart; /* apart: does not wait for the legacy default stream */
    struct wb_clock after;
} lanes[WB_MAX_STREAMS] = {[LEGACY] = {.used = true}, [PER_THREAD] = {.used = true}};

static struct wb_clock host, current;
static unsigned current_lane;
static bool watching, counting, several_threads; /* counting: clocks are kept, but not told */
static pthread_t thread;

static void join(struct wb_clock *to, const struct wb_clock *from) {
    for (unsigned i = 0; i < WB_MAX_STREAMS; i++)
        if (from->of[i] > to->of[i]) to->of[i] = from->of[i];
}

static void watch(void) {
    if (!watching && !counting) thread = pthread_self();
    watching = true;
}

void wb_order_count(void) {
    wb_lock();
    if (!watching && !counting) thread = pthread_self();
    counting = true;
    wb_unlock();
}

unsigned wb_order_open(bool apart) {
    wb_lock();
    watch();
    unsigned i = FIRST;
    while (i < WB_MAX_STREAMS - 1 && lanes[i].used)
        i++; /* the last is shared by those that are too many */
    lanes[i].used = true;
    lanes[i].apart = apart;
    wb_unlock();
    return i;
}

/* Its clock stays, for the next stream that has this place. */
void wb_order_close(unsigned lane) {
    wb_lock();
    if (lane < WB_MAX_STREAMS - 1) lanes[lane].used = false;
    wb_unlock();
}

static unsigned lane_of(cudaStream_t s) {
    return !s || s == cudaStreamLegacy ? LEGACY
           : s == cudaStreamPerThread  ? PER_THREAD
                                       : wb_stream_lane(s);
}

static void tell(void) {
    struct wb_req_order q = {.stream = current_lane,
                             .number = several_threads ? 0 : current.of[current_lane]};
    struct wb_clock both[2] = {current, host};
    wb_post_tail(order, &q, both, sizeof both);
}

/* Where data come from the host's memory, a single stream is of interest, too: the host may wait
 * for it. */
void wb_order_command(cudaStream_t s) {
    bool told = watching || wb_lends();
    if (!told && !counting) return;
    wb_lock();
    if (told) watch();
    unsigned lane = lane_of(s);
    struct wb_clock *own = &lanes[lane].after;
    several_threads |= !pthread_equal(thread, pthread_self());
    if (several_threads) wb_flights_forget();
    join(own, &host);
    for (unsigned i = FIRST; lane == LEGACY && i < WB_MAX_STREAMS; i++)
        if (!lanes[i].apart) join(own, &lanes[i].after);
    if (lane == LEGACY) join(own, &lanes[PER_THREAD].after);
    else if (!lanes[lane].apart) join(own, &lanes[LEGACY].after);
    own->of[lane]++;
    current = *own;
    current_lane = lane;
    if (told) tell();
    wb_unlock();
}

void wb_order_current(struct wb_clock *out) { *out = current; }

bool wb_order_last(unsigned *lane, uint32_t *number) {
    *lane = current_lane;
    *number = current.of[current_lane];
    return !several_threads;
}

void wb_order_wait(cudaStream_t s, const struct wb_clock *c) {
    wb_lock();
    join(&lanes[lane_of(s)].after, c);
    wb_unlock();
}

void wb_order_wait_now(const struct wb_clock *c) {
    wb_lock();
    join(&lanes[current_lane].after, c);
    join(&current, c);
    if (watching) tell();
    wb_unlock();
}

void wb_order_host(const struct wb_clock *c) {
    wb_lock();
    join(&host, c);
    wb_flights_known(&host);
    wb_unlock();
}

/* Who waits for the legacy stream waits for what that would. */
void wb_order_host_stream(cudaStream_t s) {
    wb_lock();
    unsigned lane = lane_of(s);
    join(&host, &lanes[lane].after);
    for (unsigned i = PER_THREAD; lane == LEGACY && i < WB_MAX_STREAMS; i++)
        if (!lanes[i].apart) join(&host, &lanes[i].after);
    wb_flights_known(&host);
    wb_unlock();
}

void wb_order_host_all(void) {
    wb_lock();
    for (unsigned i = 0; (watching || counting) && i < WB_MAX_STREAMS; i++)
        join(&host, &lanes[i].after);
    wb_flights_known(&host);
    wb_unlock();
}
