/* repeats.c — implements repeats.h.
 *
 * Finding a cycle costs two hashes of device memory, before and after it. So it is tried only once
 * repeated commands have cost several times as much, twice as much after each failure of the same
 * repetition, and never when failures would cost more than a small share of all commands. */
#include "grader/server/repeats.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PERIOD = 64,                 /* commands of a cycle */
    MAX_CYCLE_BYTES = 64 << 20,      /* of data that its commands write */
    MIN_COST_RATIO = 4,              /* seconds of repeated commands to those of a hash */
    MAX_FAILURES = 20,               /* doublings of that ratio */
    MAX_VAIN_SHARE = 16,             /* one in so many seconds may go into hashes in vain */
    HASH_BYTES_PER_SECOND = 1 << 30, /* a low estimate, until one was taken */
};

/* One command of a cycle, as it was executed. */
struct repeat_command {
    enum wb_op op;
    struct buf request, data;     /* with a launch's parameters as data */
    struct pending_launch launch; /* of a launch */
    struct backend_result result;
};

struct past_command {
    uint64_t key; /* a hash of everything but the data that it writes */
    double seconds;
    bool follows_read;
};

struct repeats {
    struct past_command past[MAX_PERIOD]; /* the last ones, by number modulo MAX_PERIOD */
    uint64_t count;                       /* commands since repeats_forget */
    bool had_read;                        /* since the last command */
    bool is_running;                      /* a command that is observed is being executed */
    double started;                       /* it; seconds of server_now() */

    unsigned period; /* each of the last `matched` commands equals the one `period` before; or 0 */
    uint64_t matched;
    double matched_seconds;

    bool is_storing; /* the commands are stored in `cycle`, whose hash was taken before them */
    struct backend_hash before;
    uint64_t first_matched; /* `matched` at the first command of `cycle` */
    struct repeat_command cycle[MAX_PERIOD];
    unsigned ncycle;
    uint64_t cycle_bytes;

    /* The last command, if it was a launch that changes nothing when it comes again. */
    struct repeat_command last;
    bool is_last_idempotent;

    bool is_skipping;    /* the cycle changes nothing */
    unsigned next;       /* the command of the cycle that comes next: earlier ones were skipped */
    unsigned failures;   /* of the present repetition */
    double hash_seconds; /* of the last one; 0 = none yet */
    double vain_seconds, command_seconds; /* of all failures; of all commands that were executed */
};

struct repeats *repeats_new(void) {
    return xcalloc(1, sizeof(struct repeats));
}

static void free_command(struct repeat_command *c) {
    buf_free(&c->request), buf_free(&c->data);
    sim_result_free(&c->result.sim);
    *c = (struct repeat_command){0};
}

static void clear_cycle(struct repeats *r) {
    for (unsigned i = 0; i < r->ncycle; i++) free_command(&r->cycle[i]);
    r->ncycle = 0, r->cycle_bytes = 0;
    r->is_storing = r->is_skipping = false;
}

static void forget_last(struct repeats *r) {
    r->is_last_idempotent = false;
    free_command(&r->last);
}

void repeats_free(struct repeats *r) {
    if (r) clear_cycle(r), forget_last(r);
    free(r);
}

/* ---- running what was skipped ---- */

static void run_launch(struct server *s, const struct pending_launch *l) {
    struct backend_result result = {0};
    struct backend_launch launch = l->launch;
    launch.params = l->params;
    s->backend->ops->launch(s->backend, &launch, &result);
    if (!s->sticky_error) s->sticky_error = result.error;
    sim_result_free(&result.sim);
}

static void run_skipped_command(struct server *s, const struct repeat_command *c) {
    const void *q = c->request.data;
    switch ((int)c->op) {
    case WB_OP_write: server_exec_write(s, q, (const uint8_t *)c->data.data); break;
    case WB_OP_fill: server_exec_fill(s, q); break;
    case WB_OP_copy: server_exec_copy(s, q); break;
    case WB_OP_launch: run_launch(s, &c->launch); break;
    }
}

void repeats_forget(struct server *s) {
    struct repeats *r = s->repeats;
    if (!r || (!r->count && !r->ncycle)) return;
    unsigned n = r->is_skipping ? r->next : 0;
    if (n) r->vain_seconds += 2 * r->hash_seconds; /* a loop that ends its cycles so gains little */
    r->is_skipping = false;
    for (unsigned i = 0; i < n; i++) run_skipped_command(s, &r->cycle[i]);
    clear_cycle(r), forget_last(r);
    r->count = r->period = 0;
    r->matched = 0, r->matched_seconds = 0;
}

/* The simulator doesn't see the host's writes to shared memory, and skipped commands are missing in
 * the history of streams. */
static bool is_applicable(const struct server *s) {
    return s->repeats && !s->recording && !s->sticky_error && !s->has_stream_order &&
           !s->has_shared_allocations && s->backend->ndevices <= 1;
}

/* Returns true if a message neither changes the device nor shows what its memory holds. */
static bool keeps_device(enum wb_op op) {
    switch ((int)op) {
    case WB_OP_device_info:
    case WB_OP_kernel_find:
    case WB_OP_kernel_limit:
    case WB_OP_symbol_find:
    case WB_OP_range:
    case WB_OP_memory_info:
    case WB_OP_occupancy:
    case WB_OP_sync:
    case WB_OP_event:
    case WB_OP_event_time:
    case WB_OP_api_error:
    case WB_OP_output: return true;
    }
    return false;
}

static bool is_command(enum wb_op op) {
    return op == WB_OP_launch || op == WB_OP_write || op == WB_OP_fill || op == WB_OP_copy;
}

void repeats_before_message(struct server *s, enum wb_op op) {
    struct repeats *r = s->repeats;
    if (!r || keeps_device(op) || is_command(op)) return;
    bool is_read = op == WB_OP_read;
    if (!is_read || (r->is_skipping && r->next)) repeats_forget(s);
    r->had_read |= is_read;
}

/* ---- finding a cycle ---- */

static uint64_t key_bytes(uint64_t h, const void *bytes, size_t n) {
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return h;
}

static struct past_command *past(struct repeats *r, uint64_t distance) {
    return &r->past[(r->count - distance) % MAX_PERIOD];
}

/* Returns how far back the last equal command is; 0 = there is none. */
static unsigned distance_to_equal(struct repeats *r, uint64_t key) {
    for (unsigned d = 1; d <= MAX_PERIOD && d <= r->count; d++)
        if (past(r, d)->key == key) return d;
    return 0;
}

static double seconds_of_last(struct repeats *r, unsigned n) {
    double sum = 0;
    for (unsigned d = 1; d <= n; d++) sum += past(r, d)->seconds;
    return sum;
}

/* Counts how long the commands have repeated themselves, the next one included. */
static void match(struct repeats *r, uint64_t key) {
    if (r->period && past(r, r->period)->key == key) {
        r->matched++;
        return;
    }
    if (r->is_storing) r->vain_seconds += r->hash_seconds;
    clear_cycle(r);
    r->failures = 0;
    r->period = distance_to_equal(r, key);
    r->matched = r->period != 0;
    r->matched_seconds = seconds_of_last(r, r->period);
}

static struct backend_hash take_hash(struct server *s) {
    struct backend_hash d;
    double start = server_now();
    s->backend->ops->memory_state_hash(s->backend, &d);
    s->repeats->hash_seconds = server_now() - start;
    return d;
}

/* If the cycle reads results back, it begins behind that, where all its commands have run. */
static bool may_begin_here(struct repeats *r) {
    bool reads = false;
    for (unsigned d = 1; d <= r->period; d++) reads |= past(r, d)->follows_read;
    return r->had_read || !reads;
}

static bool is_worth_hashing(struct server *s) {
    struct repeats *r = s->repeats;
    double cost = r->hash_seconds
                      ? r->hash_seconds
                      : (double)s->backend->ops->memory_used(s->backend) / HASH_BYTES_PER_SECOND;
    return r->matched_seconds >= MIN_COST_RATIO * cost * (double)(1u << r->failures) &&
           MAX_VAIN_SHARE * (r->vain_seconds + 2 * cost) <= r->command_seconds;
}

static void begin_storing(struct server *s) {
    struct repeats *r = s->repeats;
    clear_cycle(r);
    r->before = take_hash(s);
    r->is_storing = true;
    r->first_matched = r->matched;
}

/* The stored cycle has ended, and its first command comes again. */
static void end_storing(struct server *s) {
    struct repeats *r = s->repeats;
    struct backend_hash after = take_hash(s);
    r->is_storing = false;
    r->next = 0;
    r->is_skipping = memcmp(&after, &r->before, sizeof after) == 0;
    if (r->is_skipping) return;
    r->failures += r->failures < MAX_FAILURES;
    r->vain_seconds += 2 * r->hash_seconds;
    clear_cycle(r);
}

struct request {
    enum wb_op op;
    const void *bytes;
    size_t size;
    struct message_tail data;
};

static bool equals(const struct repeat_command *c, const struct request *q) {
    return c->op == q->op && c->request.size == q->size && c->data.size == q->data.size &&
           memcmp(c->request.data, q->bytes, q->size) == 0 &&
           (!q->data.size || memcmp(c->data.data, q->data.data, q->data.size) == 0);
}

static bool skip_next(struct server *s, const struct request *q) {
    struct repeats *r = s->repeats;
    if (!r->is_skipping) return false;
    if (!equals(&r->cycle[r->next], q)) return repeats_forget(s), false;
    r->next = (r->next + 1) % r->ncycle;
    r->had_read = false;
    return true;
}

static void store_command(struct repeat_command *c, const struct request *q) {
    *c = (struct repeat_command){.op = q->op};
    buf_add(&c->request, q->bytes, q->size);
    if (q->data.size) buf_add(&c->data, q->data.data, q->data.size);
}

static void store(struct repeats *r, const struct request *q) {
    store_command(&r->cycle[r->ncycle++], q);
    r->cycle_bytes += q->data.size;
}

/* Skips a launch that equals the last one, if that one is idempotent. It counts as a command that
 * took no time. */
static bool skip_idempotent(struct repeats *r, const struct request *q, uint64_t key) {
    if (r->is_storing || !r->is_last_idempotent || !equals(&r->last, q)) return false;
    *past(r, 0) = (struct past_command){.key = key, .follows_read = r->had_read};
    r->had_read = false;
    r->count++;
    return true;
}

/* Returns true if the command is to be skipped. */
static bool begin_command(struct server *s, const struct request *q) {
    struct repeats *r = s->repeats;
    if (!is_applicable(s)) return repeats_forget(s), false;
    if (skip_next(s, q)) return true;
    uint64_t key =
        key_bytes(key_bytes(0xcbf29ce484222325ull, &q->op, sizeof q->op), q->bytes, q->size);
    if (q->op == WB_OP_launch) key = key_bytes(key, q->data.data, q->data.size);
    match(r, key);
    if (r->is_storing && r->matched == r->first_matched + r->period) end_storing(s);
    if (skip_next(s, q) || skip_idempotent(r, q, key)) return true;
    forget_last(r);
    if (!r->is_storing && r->period && may_begin_here(r) && is_worth_hashing(s)) begin_storing(s);
    if (r->is_storing) store(r, q);
    if (r->cycle_bytes > MAX_CYCLE_BYTES) clear_cycle(r), r->failures = MAX_FAILURES;
    *past(r, 0) = (struct past_command){.key = key, .follows_read = r->had_read};
    r->had_read = false;
    r->is_running = true;
    r->started = server_now();
    return false;
}

/* `is_silent`: the command had no effect but on memory. */
static void end_command(struct server *s, bool is_silent) {
    struct repeats *r = s->repeats;
    if (!r || !r->is_running) return;
    double seconds = server_now() - r->started;
    r->is_running = false;
    r->command_seconds += seconds;
    if (!is_silent || s->sticky_error) return repeats_forget(s);
    past(r, 0)->seconds = seconds;
    r->count++;
    r->matched_seconds += seconds;
}

/* ---- the commands ---- */

int repeats_write(struct server *s, const struct wb_req_write *q, struct message_tail data) {
    struct wb_req_write request = *q;
    request.window_offset = 0; /* where the client put the data has no effect */
    if (begin_command(s, &(struct request){WB_OP_write, &request, sizeof request, data})) return 0;
    int error = server_exec_write(s, q, data.data);
    end_command(s, !error);
    return error;
}

int repeats_fill(struct server *s, const struct wb_req_fill *q) {
    if (begin_command(s, &(struct request){.op = WB_OP_fill, .bytes = q, .size = sizeof *q}))
        return 0;
    int error = server_exec_fill(s, q);
    end_command(s, !error);
    return error;
}

int repeats_copy(struct server *s, const struct wb_req_copy *q) {
    if (begin_command(s, &(struct request){.op = WB_OP_copy, .bytes = q, .size = sizeof *q}))
        return 0;
    int error = server_exec_copy(s, q);
    end_command(s, !error);
    return error;
}

const struct backend_result *repeats_begin_launch(struct server *s,
                                                  const struct pending_launch *l) {
    struct repeats *r = s->repeats;
    struct request q = {
        WB_OP_launch, &l->request, sizeof l->request, {l->params, l->launch.param_bytes}};
    if (begin_command(s, &q))
        return r->is_skipping ? &r->cycle[(r->next + r->ncycle - 1) % r->ncycle].result
                              : &r->last.result;
    if (r && r->is_storing) r->cycle[r->ncycle - 1].launch = *l;
    else if (r && r->is_running) store_command(&r->last, &q);
    return NULL;
}

/* Returns true if the launch had an effect that skipping it would not repeat: a finding is counted,
 * a modelled time may depend on what L2 holds. */
static bool has_other_effect(const struct backend_result *result, bool has_output) {
    return has_output || result->error || result->sim.nreports || result->estimate.seconds > 0;
}

void repeats_end_launch(struct server *s, struct backend_result *result, bool has_output) {
    struct repeats *r = s->repeats;
    bool is_silent = !has_other_effect(result, has_output);
    if (r && r->is_storing && is_silent) r->cycle[r->ncycle - 1].result = *result;
    else if (r && r->is_running && is_silent && result->sim.is_idempotent)
        r->last.result = *result, r->is_last_idempotent = true;
    else sim_result_free(&result->sim);
    end_command(s, is_silent);
}
