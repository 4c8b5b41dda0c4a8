/* stream.c — streams, events and host callbacks. The device runs commands one after
 * another in the order of the calls, which is valid for any use of streams. So a stream is a handle
 * and the number of the last message sent for it; an event is such a number and the device's time
 * when it was reached. That time is modelled (see docs/architecture.md) and excludes host time. */
#include "grader/runtime/runtime.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WB_ATTRIBUTE_COUNT = 5 };
struct wb_attribute {
    bool is_set;
    cudaStreamAttrValue value;
};

struct CUstream_st {
    struct CUstream_st *next;
    unsigned flags, device;
    int priority;
    unsigned long long id;
    uint32_t last_seq; /* the last message for it */
    unsigned slot;     /* stream_order.c */
    struct wb_attribute attributes[WB_ATTRIBUTE_COUNT];
    struct wb_capture capture;
};

struct CUevent_st {
    struct CUevent_st *next;
    unsigned flags, device;
    bool recorded;
    uint32_t event_id;            /* the number under which the server keeps its time */
    uint32_t record_seq;          /* the message that records it */
    struct wb_capture capture;    /* recorded during a capture: the nodes that it stands for */
    struct wb_vector_clock after; /* else: the commands */
};

static struct CUstream_st *streams;
static struct CUevent_st *events,
    *destroyed_events; /* dead: destroyed; the numbers can be reused */
static unsigned long long last_id =
    2; /* 1 and 2 are the legacy and the per-thread default stream */

static bool is_default(cudaStream_t s) {
    return !s || s == cudaStreamLegacy || s == cudaStreamPerThread;
}

int wb_check_stream(cudaStream_t s) {
    if (is_default(s)) return 0;
    wb_lock();
    struct CUstream_st *found = streams;
    while (found && found != s) found = found->next;
    wb_unlock();
    return found ? 0
                 : wb_refuse(cudaErrorInvalidResourceHandle,
                             "the stream was destroyed, or cudaStreamCreate never returned it");
}

unsigned wb_stream_slot(cudaStream_t s) { return s->slot; }
unsigned wb_stream_device(cudaStream_t s) {
    return is_default(s) ? wb_current_device() : s->device;
}

struct wb_capture *wb_stream_capture(cudaStream_t s) {
    return is_default(s) ? NULL : &s->capture;
}

bool wb_capture_is_joined(const struct wb_capture *origin) {
    bool is_joined = true;
    wb_lock();
    wb_graph_mark_ancestors(origin->graph, origin->deps, origin->ndeps);
    for (struct CUstream_st *s = streams; s; s = s->next)
        for (size_t i = 0; s->capture.graph == origin->graph && i < s->capture.ndeps; i++)
            is_joined &= wb_graph_is_marked(s->capture.deps[i]);
    wb_unlock();
    return is_joined;
}

void wb_capture_end(cudaGraph_t g) {
    wb_lock();
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->capture.graph == g) s->capture = (struct wb_capture){0};
    for (struct CUevent_st *e = events; e; e = e->next)
        if (e->capture.graph == g) e->capture = (struct wb_capture){0};
    wb_unlock();
}

/* ---- calls that a capture forbids ---- */

static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;
enum cudaStreamCaptureMode wb_exchange_capture_mode(enum cudaStreamCaptureMode mode) {
    enum cudaStreamCaptureMode old = thread_mode;
    thread_mode = mode;
    return old;
}

/* Returns true if a capture forbids this thread unsafe calls: a global one of any thread, or its
 * own unless relaxed. */
static bool forbids_unsafe_calls(const struct wb_capture *c) {
    bool same_thread = pthread_equal(c->thread, pthread_self());
    return c->is_origin && (c->mode == cudaStreamCaptureModeGlobal
                                ? same_thread || thread_mode == cudaStreamCaptureModeGlobal
                                : c->mode == cudaStreamCaptureModeThreadLocal && same_thread);
}

static int invalidate_captures(bool (*predicate)(const struct CUstream_st *), int error) {
    bool any = false;
    if (!streams) return 0;
    wb_lock();
    for (struct CUstream_st *s = streams; s; s = s->next)
        if (s->capture.graph && predicate(s)) any = s->capture.invalidated = true;
    wb_unlock();
    return any ? error : 0;
}

static bool breaks_on_unsafe_call(const struct CUstream_st *s) {
    return thread_mode != cudaStreamCaptureModeRelaxed && forbids_unsafe_calls(&s->capture);
}
static bool is_blocking(const struct CUstream_st *s) { return !(s->flags & cudaStreamNonBlocking); }

int wb_check_unsafe_call(void) {
    int error = invalidate_captures(breaks_on_unsafe_call, cudaErrorStreamCaptureUnsupported);
    return error ? wb_refuse(error, "this call may wait for the device, and a stream is captured: "
                                    "call it before the capture begins")
                 : 0;
}
int wb_check_implicit_sync(cudaStream_t s) {
    if (s && s != cudaStreamLegacy) return 0;
    int error = invalidate_captures(is_blocking, cudaErrorStreamCaptureImplicit);
    return error ? wb_refuse(error, "this call names the default stream, or none, while another "
                                    "stream is captured: name the captured stream")
                 : 0;
}

static bool is_capturing(cudaStream_t s) { return !is_default(s) && s->capture.graph; }

static int check_event(cudaEvent_t e) {
    wb_lock();
    struct CUevent_st *found = events;
    while (found && found != e) found = found->next;
    wb_unlock();
    return found ? 0
                 : wb_refuse(cudaErrorInvalidResourceHandle,
                             "the event was destroyed, or cudaEventCreate never returned it");
}

void wb_flush_output(void) {
    while (wb_output_pending()) {
        char text[WB_FRAME_BYTES];
        struct wb_rep_output p;
        struct wb_call c = {.op = WB_OP_output,
                            .reply = &p,
                            .reply_size = sizeof p,
                            .out = text,
                            .out_capacity = sizeof text};
        if (wb_exchange(&c) || !c.out_size) return;
        fwrite(text, 1, c.out_size, p.to_stderr ? stderr : stdout);
    }
}

static _Atomic bool launches_pending; /* since the last synchronisation */
void wb_mark_launch_pending(void) { launches_pending = true; }

static int sync_device(bool is_wait) {
    struct wb_req_sync q = {.is_wait = is_wait};
    launches_pending = false;
    int error = wb_request(sync, &q, NULL);
    wb_flush_output();
    return error;
}

int wb_sync(void) { return sync_device(false); }

int wb_sync_launches(void) { return launches_pending ? wb_sync() : 0; }

static uint32_t last_seq_of(cudaStream_t s) { return is_default(s) ? wb_last_seq() : s->last_seq; }

void wb_stream_update_seq(cudaStream_t s) {
    if (!is_default(s)) s->last_seq = wb_last_seq();
}

static void backoff_sleep(unsigned attempt) {
    nanosleep(&(struct timespec){.tv_nsec = attempt < 8 ? 1000l << attempt : 200000}, NULL);
}

static bool is_grading(void) {
    int error;
    const struct wb_session *s = wb_session(&error);
    return s && s->grading;
}

/* Waits for a message of the current device, but not for later ones, which may wait for the host.
 */
static int wait_seq(uint32_t seq) {
    if (seq == wb_last_seq()) return sync_device(true);
    if (!wb_wait_done(seq, backoff_sleep)) return cudaErrorDevicesUnavailable;
    if (is_grading()) wb_post(host_wait, NULL); /* the server sees no wait for the page */
    return wb_sticky_error();
}

/* While grading nothing runs, so a query that waits always succeeds. Otherwise the number of
 * queries in a loop would depend on the machine. */
static int query_seq(uint32_t seq) {
    if (is_grading()) return wait_seq(seq);
    if (wb_is_done(seq)) return seq == wb_last_seq() ? wb_sync() : wb_sticky_error();
    sched_yield();
    return cudaErrorNotReady;
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (!out || flags & ~(unsigned)cudaStreamNonBlocking) return wb_return(cudaErrorInvalidValue);
    struct CUstream_st *s = calloc(1, sizeof *s);
    if (!s) return wb_return(cudaErrorMemoryAllocation);
    s->flags = flags;
    s->device = wb_current_device();
    s->slot = wb_order_add_stream(flags & cudaStreamNonBlocking);
    s->priority = priority < -5  ? -5
                  : priority > 0 ? 0
                                 : priority; /* clamped, as the manual says */
    wb_lock();
    s->id = ++last_id;
    s->next = streams;
    streams = s;
    wb_unlock();
    *out = s;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return wb_forward(cudaStreamCreateWithPriority(out, flags, 0));
}
cudaError_t cudaStreamCreate(cudaStream_t *out) {
    return wb_forward(cudaStreamCreateWithPriority(out, 0, 0));
}

cudaError_t cudaStreamDestroy(cudaStream_t s) {
    int error = is_default(s) ? cudaErrorInvalidResourceHandle : wb_check_stream(s);
    if (error) return wb_return(error);
    wb_lock();
    struct CUstream_st **at = &streams;
    while (*at && *at != s) at = &(*at)->next;
    if (*at) *at = s->next;
    wb_unlock();
    wb_order_remove_stream(s->slot);
    free(s);
    return cudaSuccess;
}

static int check_sync_allowed(cudaStream_t s) {
    int error = wb_check_stream(s);
    if (error || !is_capturing(s)) return error;
    s->capture.invalidated = true;
    return wb_refuse(cudaErrorStreamCaptureUnsupported,
                     "the stream is captured, so nothing runs that the host could wait for");
}

/* Waits for a stream by `wait`, wait_seq or query_seq. */
static int wait_stream(cudaStream_t s, int (*wait)(uint32_t seq)) {
    int error = check_sync_allowed(s);
    if (error) return error;
    unsigned device = wb_exchange_device(wb_stream_device(s));
    error = wait(last_seq_of(s));
    if (!error) wb_order_host_wait_stream(s);
    wb_exchange_device(device);
    return error;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) { return wb_return(wait_stream(s, wait_seq)); }
cudaError_t cudaStreamQuery(cudaStream_t s) { return wb_return(wait_stream(s, query_seq)); }

/* A wait for an event of a capture makes the stream join the capture. */
static int join_capture(struct wb_capture *c, const struct wb_capture *at) {
    if (c->graph && c->graph != at->graph) return cudaErrorStreamCaptureMerge;
    c->graph = at->graph;
    for (size_t i = 0; i < at->ndeps; i++) {
        if (c->ndeps == WB_CAPTURE_DEPS) return cudaErrorNotSupported;
        c->deps[c->ndeps++] = at->deps[i];
    }
    return 0;
}

/* From now on, a wait for the stream includes the event. */
static void order_after_event(cudaStream_t s, cudaEvent_t e) {
    wb_order_stream_wait(s, &e->after);
    if (!is_default(s) && e->recorded && (int32_t)(e->record_seq - s->last_seq) > 0)
        s->last_seq = e->record_seq;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) {
    (void)flags;
    int error = wb_check_stream(s);
    if (!error) error = check_event(e);
    if (!error && e->capture.graph)
        error =
            is_default(s) ? cudaErrorStreamCaptureImplicit : join_capture(&s->capture, &e->capture);
    else if (!error && is_capturing(s)) error = cudaErrorStreamCaptureIsolation;
    else if (!error) order_after_event(s, e);
    return wb_return(error);
}

cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned *flags) {
    int error = wb_check_stream(s);
    if (!error) *flags = is_default(s) ? 0 : s->flags;
    return wb_return(error);
}

cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) {
    int error = wb_check_stream(s);
    if (!error) *priority = is_default(s) ? 0 : s->priority;
    return wb_return(error);
}

cudaError_t cudaStreamGetId(cudaStream_t s, unsigned long long *id) {
    int error = wb_check_stream(s);
    if (!error) *id = is_default(s) ? (s == cudaStreamPerThread ? 2 : 1) : s->id;
    return wb_return(error);
}

#if CUDART_VERSION >= 12080
cudaError_t cudaStreamGetDevice(cudaStream_t s, int *device) {
    int error = wb_check_stream(s);
    if (!error) *device = (int)wb_stream_device(s);
    return wb_return(error);
}
#endif

/* Attributes are hints on caches, priorities and waiting: stored for queries only. */
static struct wb_attribute *find_attribute(cudaStream_t s, cudaStreamAttrID id, int *error) {
    static struct wb_attribute default_attributes[WB_ATTRIBUTE_COUNT];
    static const cudaStreamAttrID ids[WB_ATTRIBUTE_COUNT] = {
        cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeSynchronizationPolicy,
        cudaLaunchAttributePriority, cudaLaunchAttributeMemSyncDomainMap,
        cudaLaunchAttributeMemSyncDomain};
    *error = wb_check_stream(s);
    for (int i = 0; !*error && i < WB_ATTRIBUTE_COUNT; i++)
        if (ids[i] == id) return is_default(s) ? &default_attributes[i] : &s->attributes[i];
    if (!*error) *error = cudaErrorInvalidValue;
    return NULL;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t s, cudaStreamAttrID id,
                                   const cudaStreamAttrValue *value) {
    int error;
    struct wb_attribute *a = find_attribute(s, id, &error);
    if (a && !value) return wb_return(cudaErrorInvalidValue);
    if (a) *a = (struct wb_attribute){true, *value};
    return wb_return(error);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t s, cudaStreamAttrID id,
                                   cudaStreamAttrValue *value) {
    int error;
    const struct wb_attribute *a = find_attribute(s, id, &error);
    if (a && !value) return wb_return(cudaErrorInvalidValue);
    if (!a) return wb_return(error);
    *value = a->value;
    if (id == cudaLaunchAttributePriority && !a->is_set && !is_default(s))
        value->priority = s->priority;
    return cudaSuccess;
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    int error = wb_check_stream(to);
    if (!error) error = wb_check_stream(from);
    if (!error && !is_default(to) && !is_default(from))
        memcpy(to->attributes, from->attributes, sizeof to->attributes);
    return wb_return(error);
}

/* All streams see all memory. */
cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *p, size_t length, unsigned flags) {
    (void)length;
    int error = wb_check_stream(s);
    bool is_valid =
        flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
    return wb_return(error ? error : wb_is_managed(p) && is_valid ? 0 : cudaErrorInvalidValue);
}

/* Earlier work is done, so callbacks run at once, on the calling thread. */
cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t callback, void *data,
                                  unsigned flags) {
    (void)flags;
    int error = wb_check_stream(s);
    if (!error && is_capturing(s)) error = cudaErrorStreamCaptureUnsupported;
    if (!error && !callback) error = cudaErrorInvalidValue;
    if (error) return wb_return(error);
    unsigned device = wb_exchange_device(wb_stream_device(s));
    error = wb_sync();
    wb_exchange_device(device);
    wb_inflight_clear();
    callback(s, (cudaError_t)error, data);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t function, void *data) {
    if (!function) return wb_return(cudaErrorInvalidValue);
    struct wb_command c = {.kind = WB_HOST, .host = {function, data}};
    return wb_return(wb_issue_command(s, &c));
}

/* ---- events ---- */

/* Returns the lowest unused number. If there are more events than the server keeps, two share
 * one. */
static uint32_t allocate_event_id(void) {
    static uint8_t *used_ids;
    static uint32_t lowest_free;
    if (!used_ids && !(used_ids = calloc(WB_MAX_EVENTS, 1))) return 0;
    for (struct CUevent_st *e = destroyed_events; e; e = destroyed_events)
        destroyed_events = e->next, used_ids[e->event_id] = 0, lowest_free = 0, free(e);
    while (lowest_free + 1 < WB_MAX_EVENTS && used_ids[lowest_free]) lowest_free++;
    used_ids[lowest_free] = 1;
    return lowest_free;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    unsigned valid_flags = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!out || flags & ~valid_flags) return wb_return(cudaErrorInvalidValue);
    if (flags & cudaEventInterprocess && !(flags & cudaEventDisableTiming))
        return wb_return(wb_refuse(cudaErrorInvalidValue,
                                   "an interprocess event keeps no time: add "
                                   "cudaEventDisableTiming"));
    struct CUevent_st *e = calloc(1, sizeof *e);
    if (!e) return wb_return(cudaErrorMemoryAllocation);
    e->flags = flags;
    e->device = wb_current_device();
    wb_lock();
    e->event_id = allocate_event_id();
    e->next = events;
    events = e;
    wb_unlock();
    *out = e;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *out) {
    return wb_forward(cudaEventCreateWithFlags(out, 0));
}

cudaError_t cudaEventDestroy(cudaEvent_t e) {
    int error = check_event(e);
    if (error) return wb_return(error);
    wb_lock();
    struct CUevent_st **at = &events;
    while (*at && *at != e) at = &(*at)->next;
    if (*at) *at = e->next;
    e->next = destroyed_events;
    destroyed_events = e;
    wb_unlock();
    return cudaSuccess;
}

int wb_check_event_flags(cudaEvent_t e, unsigned flags) {
    int error = check_event(e);
    if (error || (e->flags & flags) == flags) return error;
    return wb_refuse(cudaErrorInvalidResourceHandle,
                     "the event was created without cudaEventInterprocess");
}

void wb_event_record_now(cudaEvent_t e) {
    if (check_event(e)) return; /* a graph may outlive its events */
    e->recorded = true;
    e->capture = (struct wb_capture){0};
    wb_order_get_clock(&e->after);
    wb_post(event, &((struct wb_req_event){.event = e->event_id}));
    e->record_seq = wb_last_seq();
}

void wb_event_wait_now(cudaEvent_t e) {
    if (!check_event(e)) wb_order_current_wait(&e->after);
}

static int check_event_stream(cudaEvent_t e, cudaStream_t s) {
    int error = check_event(e);
    if (!error) error = wb_check_stream(s);
    if (error || e->device == wb_stream_device(s)) return error;
    return wb_refuse(cudaErrorInvalidResourceHandle,
                     "the event belongs to device %u, the stream to device %u: create an event "
                     "while the stream's device is current",
                     e->device, wb_stream_device(s));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags) {
    (void)flags;
    int error = check_event_stream(e, s);
    if (error) return wb_return(error);
    unsigned device = wb_exchange_device(e->device);
    if (is_capturing(s)) e->capture = s->capture;
    else wb_order_command(s), wb_event_record_now(e);
    if (e->flags & cudaEventInterprocess && !is_capturing(s)) { /* see ipc.c */
        error = wb_sync();
        wb_order_host_wait(&e->after);
    }
    wb_exchange_device(device);
    return wb_return(error);
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    return wb_forward(cudaEventRecordWithFlags(e, s, 0));
}

/* Waits for an event by `wait`, wait_seq or query_seq. */
static int wait_event(cudaEvent_t e, int (*wait)(uint32_t seq)) {
    int error = check_event(e);
    if (!error && e->capture.graph) error = cudaErrorCapturedEvent;
    if (error) return error;
    unsigned device = wb_exchange_device(e->device);
    if (e->recorded) error = wait(e->record_seq);
    if (!error) wb_order_host_wait(&e->after);
    wb_exchange_device(device);
    return error;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) { return wb_return(wait_event(e, wait_seq)); }
cudaError_t cudaEventQuery(cudaEvent_t e) { return wb_return(wait_event(e, query_seq)); }

static int get_event_time(cudaEvent_t e, uint64_t *ns) {
    struct wb_rep_event_time p;
    int error = wb_request(event_time, &((struct wb_req_event_time){.event = e->event_id}), &p);
    *ns = p.time_ns;
    return error;
}

static int check_timed(cudaEvent_t e, const char *name) {
    if (!e->recorded)
        return wb_refuse(cudaErrorInvalidResourceHandle,
                         "the %s event was never recorded: call cudaEventRecord first", name);
    if (e->flags & cudaEventDisableTiming)
        return wb_refuse(cudaErrorInvalidResourceHandle,
                         "the %s event keeps no time: create it without cudaEventDisableTiming",
                         name);
    return 0;
}

static int check_reached(cudaEvent_t e, const char *name) {
    if (wb_is_done(e->record_seq)) return 0;
    return wb_refuse(cudaErrorNotReady,
                     "the device has not reached the %s event: call cudaEventSynchronize first",
                     name);
}

static int get_elapsed_ms(float *ms, cudaEvent_t start, cudaEvent_t end) {
    int error = check_event(start);
    if (!error) error = check_event(end);
    if (!error && !ms) error = cudaErrorInvalidValue;
    if (!error) error = check_timed(start, "start");
    if (!error) error = check_timed(end, "end");
    if (!error && start->device != end->device)
        error =
            wb_refuse(cudaErrorInvalidResourceHandle,
                      "the events belong to devices %u and %u: the time between them is not known",
                      start->device, end->device);
    if (!error) error = check_reached(start, "start");
    if (!error) error = check_reached(end, "end");
    if (error) return error;
    uint64_t from = 0, to = 0;
    error = get_event_time(start, &from);
    if (!error) error = get_event_time(end, &to);
    if (!error) *ms = (float)((double)(int64_t)(to - from) * 1e-6);
    return error;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    return wb_return(get_elapsed_ms(ms, start, end));
}

/* Toolkits from 12.8 on rename it in the header. */
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end) {
    return wb_return_from(get_elapsed_ms(ms, start, end), "cudaEventElapsedTime");
}

cudaError_t cudaDeviceSynchronize(void) {
    int error = wb_check_unsafe_call();
    if (!error) error = sync_device(true);
    if (!error) wb_order_host_wait_all();
    return wb_return(error);
}
