/* fakecuda.c — see fakecuda.h. */
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/fakecuda/internal.h"
#include "common/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t state_changed = PTHREAD_COND_INITIALIZER;
static struct fakecuda_hooks hooks;
static char violations[8192];
static double launch_seconds = 1e-5, noise, slow_factor = 1;
static unsigned slow_every, launches;
static bool initialised, has_context;
static int retained;

void add_violation(const char *format, ...) {
    size_t n = strlen(violations);
    va_list ap;
    va_start(ap, format);
    if (n + 300 < sizeof violations) {
        vsnprintf(violations + n, 290, format, ap);
        strcat(violations, "\n");
    }
    va_end(ap);
}

/* ---- counting calls ---- */

static struct {
    const char *name;
    unsigned n;
} calls[64];
void record_call(const char *name, bool needs_context) {
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < 63 && calls[i].name && strcmp(calls[i].name, name)) i++;
    calls[i].name = name;
    calls[i].n++;
    if (!initialised && strcmp(name, "cuInit")) add_violation("%s before cuInit", name);
    if (needs_context && !has_context) add_violation("%s without a current context", name);
    pthread_mutex_unlock(&lock);
}

EXPORT unsigned fakecuda_call_count(const char *name) {
    for (unsigned i = 0; i < 64 && calls[i].name; i++)
        if (!strcmp(calls[i].name, name)) return calls[i].n;
    return 0;
}
EXPORT void fakecuda_set_hooks(const struct fakecuda_hooks *h) {
    hooks = h ? *h : (struct fakecuda_hooks){0};
}
EXPORT void fakecuda_set_times(double seconds, double n, unsigned every, double slow) {
    launch_seconds = seconds, noise = n, slow_every = every, slow_factor = slow, launches = 0;
}
EXPORT const char *fakecuda_violations(void) {
    static char copy[sizeof violations];
    pthread_mutex_lock(&lock);
    strcpy(copy, violations);
    violations[0] = 0;
    pthread_mutex_unlock(&lock);
    return copy;
}

/* ---- memory ---- */

static struct {
    uint64_t at;
    size_t bytes;
    bool pinned;
} allocations[256];
static unsigned nallocations;

static int find_allocation(uint64_t at, size_t bytes, bool pinned) {
    for (unsigned i = 0; i < nallocations; i++)
        if (allocations[i].pinned == pinned && at >= allocations[i].at &&
            at + bytes <= allocations[i].at + allocations[i].bytes)
            return (int)i;
    return -1;
}
static void add_allocation(uint64_t at, size_t bytes, bool pinned) {
    if (nallocations == 256) add_violation("more than 256 allocations");
    else
        allocations[nallocations].at = at, allocations[nallocations].bytes = bytes,
        allocations[nallocations++].pinned = pinned;
}
static bool remove_allocation(uint64_t at, bool pinned) {
    for (unsigned i = 0; i < nallocations; i++)
        if (allocations[i].at == at && allocations[i].pinned == pinned)
            return allocations[i] = allocations[--nallocations], true;
    return false;
}
static void check_device(const char *caller, uint64_t at, size_t bytes) {
    if (!hooks.symbol && find_allocation(at, bytes, false) < 0)
        add_violation("%s: 0x%llx + %zu is no device memory", caller, (unsigned long long)at,
                      bytes);
}

static bool write_device(uint64_t to, const void *data, size_t bytes) {
    if (hooks.write) return hooks.write(to, data, bytes);
    memcpy((void *)(uintptr_t)to, data, bytes);
    return true;
}
static bool read_device(uint64_t from, void *data, size_t bytes) {
    if (hooks.read) return hooks.read(from, data, bytes);
    memcpy(data, (void *)(uintptr_t)from, bytes);
    return true;
}

/* ---- the stream ---- */

struct event {
    double time;
    bool recorded, done;
};
struct command {
    enum { HOST, LAUNCH, RECORD, WAIT, WRITE, READ, COPY, FILL, LIBRARY_WORK } kind;
    double seconds; /* of LIBRARY_WORK: a library's */
    void (*function)(void *);
    void *user;
    struct event *event;
    void *kernel;
    unsigned grid[3], block[3], shared;
    _Alignas(16) unsigned char params[4096];
    size_t bytes;
    uint64_t to, from;
    const void *data;
    void *out; /* of READ */
    unsigned char value;
    struct command *next;
};
struct stream {
    pthread_t thread;
    struct command *first, **last;
    bool busy, in_host_callback, stopping;
    double after; /* made up */
    int error;
};

static double noise_factor(void) {
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    launches++;
    double f = 1 + noise * (2.0 * (state >> 8) / (1 << 24) - 1);
    return slow_every && launches % slow_every == 0 ? f * slow_factor : f;
}

static void wait_event(struct stream *s, const struct event *e) {
    pthread_mutex_lock(&lock);
    while (!e->done) pthread_cond_wait(&state_changed, &lock);
    if (e->time > s->after) s->after = e->time;
    pthread_mutex_unlock(&lock);
}

static pthread_mutex_t execute_lock =
    PTHREAD_MUTEX_INITIALIZER; /* the simulator behind it serves one at a time */

static void execute(struct stream *s, struct command *c) {
    double seconds = 1e-6;
    bool is_exclusive = c->kind != HOST && c->kind != WAIT;
    if (c->kind == WAIT) wait_event(s, c->event), seconds = 0;
    if (is_exclusive) pthread_mutex_lock(&execute_lock);
    if (c->kind == READ && !read_device(c->from, c->out, c->bytes)) s->error = INVALID_VALUE;
    if (c->kind == HOST) c->function(c->user), seconds = 0;
    if (c->kind == RECORD) c->event->time = s->after, c->event->done = true, seconds = 0;
    if (c->kind == LIBRARY_WORK) seconds = c->seconds;
    if (c->kind == WRITE && !write_device(c->to, c->data, c->bytes)) s->error = INVALID_VALUE;
    if (c->kind == COPY || c->kind == FILL) {
        void *p = malloc(c->bytes);
        if (c->kind == FILL) memset(p, c->value, c->bytes);
        else if (!read_device(c->from, p, c->bytes)) s->error = INVALID_VALUE;
        if (!write_device(c->to, p, c->bytes)) s->error = INVALID_VALUE;
        free(p);
        seconds = (double)c->bytes / 1e12;
    }
    if (c->kind == LAUNCH) {
        seconds = launch_seconds;
        if (hooks.launch && !s->error)
            s->error = hooks.launch(c->kernel, c->grid, c->block, c->shared, c->params, c->bytes,
                                    &seconds);
        seconds *= noise_factor();
    }
    if (is_exclusive) pthread_mutex_unlock(&execute_lock);
    s->after += seconds;
}

static void *run_stream(void *argument) {
    struct stream *s = argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!s->first && !s->stopping) pthread_cond_wait(&state_changed, &lock);
        struct command *c = s->first;
        if (!c) break;
        s->first = c->next;
        if (!s->first) s->last = &s->first;
        s->busy = true, s->in_host_callback = c->kind == HOST;
        pthread_mutex_unlock(&lock);
        execute(s, c);
        free(c);
        pthread_mutex_lock(&lock);
        s->busy = s->in_host_callback = false;
        pthread_cond_broadcast(&state_changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static struct stream *default_stream; /* the first: the null stream and it are one */

static struct command *new_command(struct stream *s, int kind) {
    struct command *c = calloc(1, sizeof *c);
    c->kind = kind;
    (void)s;
    return c;
}
static int enqueue(struct stream *s, struct command *c) {
    pthread_mutex_lock(&lock);
    *s->last = c;
    s->last = &c->next;
    pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&lock);
    return OK;
}

void fakecuda_enqueue_work(const char *caller, void *stream, double seconds) {
    if (!stream || stream != default_stream)
        add_violation("%s: not on the stream of the caller", caller);
    struct command *c = new_command(stream, LIBRARY_WORK);
    c->seconds = seconds;
    enqueue(stream, c);
}

/* Waits until the stream is empty. A host function that does not return meanwhile is one that the
 * caller holds. */
static int drain(struct stream *s, const char *caller) {
    double start = clock_seconds();
    if (!s) return OK;
    pthread_mutex_lock(&lock);
    while (s->first || s->busy) {
        struct timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_nsec += 50000000;
        if (deadline.tv_nsec >= 1000000000) deadline.tv_sec++, deadline.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&state_changed, &lock, &deadline);
        if (s->in_host_callback && clock_seconds() - start > 1) {
            add_violation("%s waits for a queue that is held back", caller);
            break;
        }
    }
    int error = s->error;
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- a copy from the host that has not arrived ---- */

static struct {
    uint64_t to;
    void *data;
    size_t bytes;
} pending_copy;

static bool flush_pending_copy(void) {
    if (!pending_copy.data) return true;
    bool ok = write_device(pending_copy.to, pending_copy.data, pending_copy.bytes);
    free(pending_copy.data);
    pending_copy.data = NULL;
    return ok;
}

/* ---- context ---- */

EXPORT int cuInit(unsigned flags) {
    initialised = true;
    record_call(__func__, false);
    return flags ? INVALID_VALUE : OK;
}
EXPORT int cuDevicePrimaryCtxRetain(void **c, int d) {
    record_call(__func__, false);
    retained++;
    *c = &retained;
    return d;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int d) {
    record_call(__func__, false);
    if (--retained < 0) add_violation("the context is released more often than it was retained");
    if (!retained && nallocations)
        add_violation("%u allocations are left when the context goes", nallocations);
    if (!retained) has_context = false;
    return d;
}
EXPORT int cuDevicePrimaryCtxReset_v2(int d) {
    record_call(__func__, false);
    return d;
}
EXPORT int cuCtxSetCurrent(void *c) {
    record_call(__func__, false);
    has_context = c == &retained;
    return OK;
}
EXPORT int cuCtxSynchronize(void) {
    RECORD_CALL();
    int error = drain(default_stream, __func__);
    return error ? error : flush_pending_copy() ? OK : INVALID_VALUE;
}
EXPORT int cuCtxResetPersistingL2Cache(void) {
    RECORD_CALL();
    return OK;
}
/* ---- modules ---- */

struct module {
    void *forwarded;
    char *ptx;
    struct function *functions;
};
struct function {
    struct module *module;
    void *forwarded;
    char name[256];
    struct function *next;
};

EXPORT int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options,
                              void **values) {
    RECORD_CALL();
    if (drain(default_stream, __func__)) return INVALID_CONTEXT;
    (void)n, (void)options, (void)values;
    if (!memchr(image, '.', 64)) return INVALID_IMAGE; /* no PTX: a cubin, which it cannot run */
    struct module *m = calloc(1, sizeof *m);
    m->ptx = strdup(image);
    m->forwarded = hooks.load ? hooks.load(m->ptx) : m;
    if (m->forwarded) return *out = m, OK;
    free(m->ptx), free(m);
    return INVALID_IMAGE;
}
EXPORT int cuModuleUnload(void *module) {
    RECORD_CALL();
    struct module *m = module;
    drain(default_stream, __func__);
    if (hooks.unload) hooks.unload(m->forwarded);
    for (struct function *f = m->functions, *next; f; f = next) next = f->next, free(f);
    free(m->ptx), free(m);
    return OK;
}
EXPORT int cuModuleGetFunction(void **out, void *module, const char *name) {
    RECORD_CALL();
    struct module *m = module;
    void *forwarded = hooks.kernel ? hooks.kernel(m->forwarded, name) : strstr(m->ptx, name);
    if (!forwarded) return NOT_FOUND;
    struct function *f = calloc(1, sizeof *f);
    f->module = m, f->forwarded = forwarded, f->next = m->functions;
    snprintf(f->name, sizeof f->name, "%s", name);
    m->functions = f;
    return *out = f, OK;
}
EXPORT int cuModuleGetGlobal_v2(uint64_t *at, size_t *bytes, void *module, const char *name) {
    RECORD_CALL();
    return hooks.symbol && hooks.symbol(((struct module *)module)->forwarded, name, at, bytes)
               ? OK
               : NOT_FOUND;
}
EXPORT int cuFuncGetAttribute(int *v, int attribute, void *f) {
    RECORD_CALL();
    (void)f;
    return *v = attribute == 0 ? 1024 : attribute == 4 ? 32 : 0, OK;
}
EXPORT int cuFuncSetAttribute(void *f, int attribute, int v) {
    RECORD_CALL();
    (void)f;
    return attribute == 8 && v > 232448 ? INVALID_VALUE : OK;
}
EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int threads,
                                                       size_t shared) {
    RECORD_CALL();
    (void)f;
    return *n = threads < 1 || threads > 1024 ? 0 : shared > 116000 ? 1 : 2048 / threads, OK;
}

/* ---- memory calls ---- */

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    RECORD_CALL();
    return *free_bytes = 512u << 20, *total = 1u << 30, OK;
}
EXPORT int cuMemAlloc_v2(uint64_t *at, size_t bytes) {
    RECORD_CALL();
    if (!bytes) return INVALID_VALUE;
    *at = hooks.alloc ? hooks.alloc(bytes) : (uint64_t)(uintptr_t)calloc(1, bytes);
    if (!*at) return OUT_OF_MEMORY;
    return add_allocation(*at, bytes, false), OK;
}
EXPORT int cuMemFree_v2(uint64_t at) {
    RECORD_CALL();
    if (!remove_allocation(at, false))
        return add_violation("cuMemFree of 0x%llx, which is not allocated", (unsigned long long)at),
               INVALID_VALUE;
    if (hooks.free) hooks.free(at);
    else free((void *)(uintptr_t)at);
    return OK;
}
EXPORT int cuMemHostAlloc(void **p, size_t bytes, unsigned flags) {
    RECORD_CALL();
    (void)flags;
    *p = malloc(bytes);
    return add_allocation((uint64_t)(uintptr_t)*p, bytes, true), OK;
}
EXPORT int cuMemFreeHost(void *p) {
    RECORD_CALL();
    if (!remove_allocation((uint64_t)(uintptr_t)p, true))
        add_violation("cuMemFreeHost of what is not allocated");
    free(p);
    return OK;
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    RECORD_CALL();
    check_device(__func__, to, bytes);
    if (find_allocation((uint64_t)(uintptr_t)from, bytes, true) < 0)
        add_violation("an asynchronous copy from pageable memory waits for the queue");
    struct command *c = new_command(stream, WRITE);
    c->to = to, c->data = from, c->bytes = bytes;
    return enqueue(stream, c);
}
/* From pageable memory: the bytes are taken at once, and land when somebody waits for the whole
 * device or asks for memory. */
EXPORT int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    RECORD_CALL();
    check_device(__func__, to, bytes);
    int error = drain(default_stream, __func__);
    if (error || !flush_pending_copy()) return error ? error : INVALID_VALUE;
    pending_copy.to = to, pending_copy.bytes = bytes;
    pending_copy.data = malloc(bytes ? bytes : 1);
    if (bytes) memcpy(pending_copy.data, from, bytes);
    return OK;
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    RECORD_CALL();
    check_device(__func__, from, bytes);
    if (find_allocation((uint64_t)(uintptr_t)to, bytes, true) < 0)
        add_violation("an asynchronous copy to pageable memory");
    struct command *c = new_command(stream, READ);
    c->from = from, c->out = to, c->bytes = bytes;
    return enqueue(stream, c);
}
EXPORT int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    RECORD_CALL();
    check_device(__func__, from, bytes);
    int error = drain(default_stream, __func__);
    return error                                                  ? error
           : flush_pending_copy() && read_device(from, to, bytes) ? OK
                                                                  : INVALID_VALUE;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    RECORD_CALL();
    check_device(__func__, to, bytes), check_device(__func__, from, bytes);
    struct command *c = new_command(stream, COPY);
    c->to = to, c->from = from, c->bytes = bytes;
    return enqueue(stream, c);
}
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
    RECORD_CALL();
    check_device(__func__, to, bytes);
    struct command *c = new_command(stream, FILL);
    c->to = to, c->value = value, c->bytes = bytes;
    return enqueue(stream, c);
}

/* ---- launches, streams, events ---- */

static int enqueue_launch(void *function, const unsigned grid[3], const unsigned block[3],
                          unsigned shared, void *stream, void **params) {
    struct function *f = function;
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || block[0] * block[1] * block[2] > 1024)
        return INVALID_VALUE;
    struct command *c = new_command(stream, LAUNCH);
    c->kernel = f->forwarded, c->shared = shared;
    memcpy(c->grid, grid, sizeof c->grid);
    memcpy(c->block, block, sizeof c->block);
    /* The driver takes them when it is called. */
    if (hooks.copy_params)
        c->bytes = hooks.copy_params(f->forwarded, params, c->params, sizeof c->params);
    return enqueue(stream, c);
}
EXPORT int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void *stream, void **params, void **extra) {
    RECORD_CALL();
    if (extra)
        add_violation("cuLaunchKernel: parameters in a buffer, whose layout PTX doesn't tell");
    return enqueue_launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, stream,
                          params);
}
EXPORT int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned shared, void *stream,
                                     void **params) {
    RECORD_CALL();
    return enqueue_launch(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, stream,
                          params);
}
EXPORT int cuLaunchHostFunc(void *stream, void (*function)(void *), void *user) {
    RECORD_CALL();
    struct command *c = new_command(stream, HOST);
    c->function = function, c->user = user;
    return enqueue(stream, c);
}
EXPORT int cuStreamCreate(void **out, unsigned flags) {
    RECORD_CALL();
    (void)flags;
    struct stream *s = calloc(1, sizeof *s);
    s->last = &s->first;
    if (pthread_create(&s->thread, NULL, run_stream, s)) return OUT_OF_MEMORY;
    if (!default_stream) default_stream = s;
    return *out = s, OK;
}
EXPORT int cuStreamSynchronize(void *stream) {
    RECORD_CALL();
    return drain(stream, __func__);
}
EXPORT int cuStreamDestroy_v2(void *stream) {
    RECORD_CALL();
    struct stream *s = stream;
    drain(s, __func__);
    pthread_mutex_lock(&lock);
    s->stopping = true;
    pthread_cond_broadcast(&state_changed);
    pthread_mutex_unlock(&lock);
    pthread_join(s->thread, NULL);
    if (default_stream == s) default_stream = NULL;
    free(s);
    return OK;
}
EXPORT int cuEventCreate(void **e, unsigned flags) {
    RECORD_CALL();
    (void)flags;
    return *e = calloc(1, sizeof(struct event)), OK;
}
EXPORT int cuEventDestroy_v2(void *e) {
    RECORD_CALL();
    free(e);
    return OK;
}
EXPORT int cuEventRecord(void *event, void *stream) {
    RECORD_CALL();
    struct command *c = new_command(stream, RECORD);
    c->event = event;
    c->event->recorded = true, c->event->done = false;
    return enqueue(stream, c);
}
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    RECORD_CALL();
    (void)flags;
    struct command *c = new_command(stream, WAIT);
    c->event = event;
    if (!c->event->recorded) add_violation("a stream waits for an event that was not recorded");
    return enqueue(stream, c);
}
EXPORT int cuEventSynchronize(void *event) {
    RECORD_CALL();
    struct event *e = event;
    if (!e->recorded) add_violation("the host waits for an event that was not recorded");
    pthread_mutex_lock(&lock);
    while (!e->done) {
        struct timespec deadline;
        clock_gettime(CLOCK_REALTIME, &deadline);
        deadline.tv_sec += 2;
        if (pthread_cond_timedwait(&state_changed, &lock, &deadline)) {
            add_violation("the host waits for an event that does not come to pass");
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return OK;
}
EXPORT int cuEventElapsedTime(float *ms, void *from, void *to) {
    RECORD_CALL();
    struct event *a = from, *b = to;
    if (!a->recorded || !b->recorded)
        return add_violation("the time between events that were not recorded"), INVALID_VALUE;
    if (!a->done || !b->done)
        return add_violation("the time between events that have not come to pass"), NOT_READY;
    *ms = (float)((b->time - a->time) * 1e3);
    return OK;
}
