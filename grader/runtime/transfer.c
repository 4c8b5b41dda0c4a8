/* transfer.c — moves bytes between host and device through the window, within the device and within
 * the host. All copies are `rows` rows of `width` bytes; a plain copy is one row. */
#include "grader/runtime/runtime.h"

#include <sched.h>
#include <string.h>

bool wb_is_device(const void *p) {
    int error;
    const struct wb_session *s = wb_session(&error);
    return s && (((uint64_t)p >= s->base && (uint64_t)p - s->base < s->span) ||
                 wb_is_device_variable(p, NULL));
}

static void pack_rows(uint8_t *to, const uint8_t *from, size_t pitch, size_t width, size_t rows) {
    for (size_t r = 0; r < rows; r++) memcpy(to + r * width, from + r * pitch, width);
}

static void unpack_rows(uint8_t *to, size_t pitch, const uint8_t *from, size_t width, size_t rows) {
    for (size_t r = 0; r < rows; r++) memcpy(to + r * pitch, from + r * width, width);
}

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

enum { MAX_INLINE_BYTES = 32 << 10 /* bytes sent with the message */ };

/* A small copy whose target range is known needs no reply. */
static bool write_inline(uint64_t address, const void *from, size_t bytes) {
    struct wb_req_write q = {.address = address, .pitch = bytes, .width = bytes, .rows = 1};
    return bytes <= MAX_INLINE_BYTES && wb_range_contains((void *)address, bytes, bytes, 1) &&
           !wb_post_tail(write, &q, from, bytes);
}

/* Large copies of one row use the window in parts: one side fills or empties a part while the other
 * works on another one. A part fits in caches. */
enum { CHUNK_COUNT = 4, CHUNK_BYTES = 512 << 10 };

static void backoff_yield(unsigned attempt) {
    (void)attempt;
    sched_yield();
}

/* The next message reports a lost connection. */
static void wait_seq_done(uint32_t seq) { wb_wait_done(seq, backoff_yield); }

/* Called between wb_lock and wb_unlock, for a range that is known to fit. */
static int stream_to_device(const struct wb_session *s, uint64_t to, const uint8_t *from,
                            size_t bytes) {
    uint32_t chunk_seq[CHUNK_COUNT] = {0};
    int error = 0;
    for (size_t at = 0, i = 0; !error && at < bytes; at += CHUNK_BYTES, i++) {
        size_t n = min_size(CHUNK_BYTES, bytes - at), chunk = i % CHUNK_COUNT;
        if (i >= CHUNK_COUNT) wait_seq_done(chunk_seq[chunk]);
        memcpy(s->window + chunk * CHUNK_BYTES, from + at, n);
        struct wb_req_write q = {.address = to + at,
                                 .pitch = n,
                                 .width = n,
                                 .rows = 1,
                                 .window_offset = chunk * CHUNK_BYTES};
        error = wb_post(write, &q);
        chunk_seq[chunk] = wb_last_seq();
    }
    return error ? error : wb_request(sync, &(struct wb_req_sync){0}, NULL);
}

static int request_chunk(uint64_t from, size_t bytes, size_t chunk, uint32_t *seq) {
    struct wb_req_read q = {.address = from,
                            .pitch = bytes,
                            .width = bytes,
                            .rows = 1,
                            .window_offset = chunk * CHUNK_BYTES};
    int error = wb_post(read, &q);
    *seq = wb_last_seq();
    return error;
}

static int stream_to_host(const struct wb_session *s, uint8_t *to, uint64_t from, size_t bytes) {
    uint32_t chunk_seq[CHUNK_COUNT];
    int error = wb_request(sync, &(struct wb_req_sync){0}, NULL);
    size_t next = 0, i = 0;
    for (; !error && i < CHUNK_COUNT && next < bytes; i++, next += CHUNK_BYTES)
        error = request_chunk(from + next, min_size(CHUNK_BYTES, bytes - next), i, &chunk_seq[i]);
    for (size_t at = 0, n = 0; !error && at < bytes; at += CHUNK_BYTES, n++) {
        size_t chunk = n % CHUNK_COUNT;
        wait_seq_done(chunk_seq[chunk]);
        memcpy(to + at, s->window + chunk * CHUNK_BYTES, min_size(CHUNK_BYTES, bytes - at));
        if (next >= bytes) continue;
        error = request_chunk(from + next, min_size(CHUNK_BYTES, bytes - next), chunk,
                              &chunk_seq[chunk]);
        next += CHUNK_BYTES;
    }
    return error ? error : wb_request(sync, &(struct wb_req_sync){0}, NULL);
}

static int stream_copy(const struct wb_session *s, bool to_device, uint64_t address, uint8_t *host,
                       size_t bytes) {
    return to_device ? stream_to_device(s, address, host, bytes)
                     : stream_to_host(s, host, address, bytes);
}

/* Splits a copy into pieces that fit the window, many rows or part of one, each a separate message.
 * Only a read writes to `host`. */
static int transfer(bool to_device, uint64_t address, uint64_t pitch, uint8_t *host,
                    size_t host_pitch, size_t width, size_t rows) {
    int error;
    const struct wb_session *s = wb_session(&error);
    if (!s) return error;
    if (to_device && rows == 1 && write_inline(address, host, width)) return 0;
    wb_lock();
    if (rows == 1 && width > CHUNK_BYTES && s->window_bytes >= CHUNK_COUNT * CHUNK_BYTES &&
        wb_range_contains((void *)address, width, width, 1)) {
        error = stream_copy(s, to_device, address, host, width);
        wb_unlock();
        return error;
    }
    size_t rows_per_message = width < s->window_bytes ? s->window_bytes / width : 1;
    for (size_t r = 0; !error && r < rows; r += rows_per_message)
        for (size_t at = 0; !error && at < width; at += s->window_bytes) {
            size_t n = min_size(rows_per_message, rows - r),
                   w = min_size(width - at, s->window_bytes);
            uint8_t *host_at = host + r * host_pitch + at;
            uint64_t device_at = address + r * pitch + at;
            if (to_device) {
                pack_rows(s->window, host_at, host_pitch, w, n);
                struct wb_req_write q = {
                    .address = device_at, .pitch = pitch, .width = w, .rows = n};
                error = wb_request(write, &q, NULL);
            } else {
                struct wb_req_read q = {
                    .address = device_at, .pitch = pitch, .width = w, .rows = n};
                error = wb_request(read, &q, NULL);
                if (!error) unpack_rows(host_at, host_pitch, s->window, w, n);
            }
        }
    wb_unlock();
    return error;
}

int wb_write(uint64_t to, uint64_t pitch, const void *from, size_t from_pitch, size_t width,
             size_t rows) {
    return transfer(true, to, pitch, (uint8_t *)from, from_pitch, width, rows);
}

int wb_read(void *to, size_t to_pitch, uint64_t from, uint64_t pitch, size_t width, size_t rows) {
    return transfer(false, from, pitch, to, to_pitch, width, rows);
}

static int copy_on_device(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                          size_t width, size_t rows, bool wait) {
    struct wb_req_copy q = {.to = (uint64_t)to,
                            .to_pitch = to_pitch,
                            .from = (uint64_t)from,
                            .from_pitch = from_pitch,
                            .width = width,
                            .rows = rows};
    bool in_range = wb_range_contains(to, to_pitch, width, rows) &&
                    wb_range_contains(from, from_pitch, width, rows);
    return in_range && !wait ? wb_post(copy, &q) : wb_request(copy, &q, NULL);
}

/* Returns true if a pointer is valid for that side of a copy's kind. Shared memory is valid on both
 * sides. */
static bool is_valid_side(const void *p, bool expects_device) {
    return wb_is_shared(p) || wb_is_device(p) == expects_device;
}

static int copy_on_host(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t rows) {
    int error = wb_sync_launches(); /* the device may write there */
    wb_inflight_clear();            /* the device-side copy is itself an ordered command */
    for (size_t r = 0; !error && r < rows; r++)
        memmove((uint8_t *)to + r * to_pitch, (const uint8_t *)from + r * from_pitch, width);
    return error;
}

/* Memory that host and device share: without a wait, it may change until it is copied. */
static bool is_host_visible(const void *p) { return wb_is_shared(p); }

static int copy_memory(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                       size_t rows, enum cudaMemcpyKind kind, bool async) {
    int error;
    if (!wb_device(&error)) return error;
    if ((unsigned)kind > cudaMemcpyDefault)
        return wb_refuse(cudaErrorInvalidMemcpyDirection, "%d is no kind of copy", (int)kind);
    if (!width || !rows) return 0;
    if (!to || !from)
        return wb_refuse(cudaErrorInvalidValue, "the %s is a null pointer",
                         to ? "source" : "destination");
    if (rows > 1 && (to_pitch < width || from_pitch < width))
        return wb_refuse(cudaErrorInvalidPitchValue,
                         "rows of %zu bytes, but a pitch of %zu: a pitch is the distance between "
                         "rows in bytes, not in elements",
                         width, to_pitch < width ? to_pitch : from_pitch);
    if (kind != cudaMemcpyDefault && !wb_is_peer_copy(to, from)) { /* GPUs ignore the kind then */
        bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
        bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
        if (!is_valid_side(to, to_device) || !is_valid_side(from, from_device))
            return wb_refuse_copy_kind(to, from, kind);
    }
    bool to_device = wb_is_device(to), from_device = wb_is_device(from);
    if (to_device && from_device) {
        bool wait = !async && (is_host_visible(to) || is_host_visible(from));
        return copy_on_device(to, to_pitch, from, from_pitch, width, rows, wait);
    }
    if (!wb_session(&error)->grading &&
        ((to_device && is_host_visible(to)) || (from_device && is_host_visible(from))))
        return copy_on_host(to, to_pitch, from, from_pitch, width, rows);
    if (to_device) return wb_write((uint64_t)to, to_pitch, from, from_pitch, width, rows);
    if (from_device) {
        error = wb_read(to, to_pitch, (uint64_t)from, from_pitch, width, rows);
        wb_flush_output();
        return error;
    }
    return copy_on_host(to, to_pitch, from, from_pitch, width, rows);
}

int wb_copy_any(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                size_t rows, enum cudaMemcpyKind kind, bool async) {
    int error = copy_memory(to, to_pitch, from, from_pitch, width, rows, kind, async);
    bool is_explained = wb_has_refusal() || error != cudaErrorInvalidValue;
    return is_explained ? error : wb_refuse_copy(error, to, from, width, rows);
}

/* Fills with wider elements copy a pattern, in pieces. */
static int fill_pattern(uint8_t *to, size_t pitch, uint32_t value, unsigned unit, size_t width,
                        size_t rows) {
    uint8_t pattern[16 << 10];
    int error = 0;
    for (size_t i = 0; i < sizeof pattern; i += unit) memcpy(pattern + i, &value, unit);
    for (size_t r = 0; !error && r < rows; r++)
        for (size_t at = 0; !error && at < width * unit; at += sizeof pattern) {
            size_t n = min_size(width * unit - at, sizeof pattern);
            error = wb_write((uint64_t)(to + r * pitch + at), n, pattern, n, n, 1);
        }
    return error;
}

int wb_fill(void *to, size_t pitch, uint32_t value, unsigned unit, size_t width, size_t rows) {
    if (!width || !rows) return 0;
    int error = wb_check_fill_device(to);
    if (error) return error;
    if (unit != 1) return fill_pattern(to, pitch, value, unit, width, rows);
    struct wb_req_fill q = {.address = (uint64_t)to,
                            .pitch = pitch,
                            .width = width,
                            .rows = rows,
                            .value = (uint8_t)value};
    bool in_range = wb_range_contains(to, pitch, width, rows) && !wb_is_shared(to);
    return in_range ? wb_post(fill, &q) : wb_request(fill, &q, NULL);
}
