/* inflight_copies.c — detects host accesses to pinned memory that an asynchronous copy in flight
 * reads or writes. On a GPU the host could read old data, or the copy could take a new value; here
 * the copy is done early, so the result would look right.
 *
 * Theory of operation. The pages that a copy covers completely lose all access, or write access,
 * until the host's clock (stream_order.c) includes the copy. An earlier access faults; the handler
 * (shared_memory.c) reports it, restores the pages and resumes the instruction. So the program's
 * results don't change, each copy is reported at most once, and pages that also hold other data are
 * not checked. Inactive while grading, without the sanitizer, and once a second thread issues
 * commands. */
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct inflight_copy {
    uint64_t start, bytes;             /* of the copy */
    uint64_t guard_start, guard_bytes; /* the pages and their size in bytes; 0 = none */
    bool writes_host;                  /* the device writes there */
    unsigned stream_slot;              /* the copy's stream, */
    uint32_t stream_seq;               /* …and its number among the stream's commands */
};

enum { MAX_INFLIGHT_COPIES = 64 }; /* if there are more, the oldest are dropped */
static struct inflight_copy inflight_copies[MAX_INFLIGHT_COPIES];
static unsigned ninflight;

static void protect_pages(const struct inflight_copy *f, int access) {
    if (f->guard_bytes) mprotect((void *)f->guard_start, f->guard_bytes, access);
}

static void guard_pages(const struct inflight_copy *f) {
    protect_pages(f, f->writes_host ? PROT_NONE : PROT_READ);
}

static bool overlaps(const struct inflight_copy *a, const struct inflight_copy *b) {
    return a->guard_start < b->guard_start + b->guard_bytes &&
           b->guard_start < a->guard_start + a->guard_bytes;
}

/* The copies that overlap the page, the strictest last. */
static void guard_overlapping(const struct inflight_copy *f) {
    for (unsigned writes_host = 0; writes_host < 2; writes_host++)
        for (unsigned k = 0; k < ninflight; k++)
            if (inflight_copies[k].writes_host == (writes_host == 1) &&
                overlaps(&inflight_copies[k], f))
                guard_pages(&inflight_copies[k]);
}

/* Pages that other copies cover, too, stay protected. */
static void retire_copy(unsigned i) {
    struct inflight_copy f = inflight_copies[i];
    inflight_copies[i] = inflight_copies[--ninflight];
    protect_pages(&f, PROT_READ | PROT_WRITE);
    guard_overlapping(&f);
}

void wb_inflight_retire(const struct wb_vector_clock *host) {
    for (unsigned i = ninflight; i--;)
        if (host->counts[inflight_copies[i].stream_slot] >= inflight_copies[i].stream_seq)
            retire_copy(i);
}

void wb_inflight_clear(void) {
    wb_lock();
    while (ninflight) retire_copy(ninflight - 1);
    wb_unlock();
}

/* ---- copies ---- */

static bool is_contiguous(const struct wb_command *c) {
    bool rows_contiguous = c->copy.rows == 1 || (c->copy.to_pitch == c->copy.width &&
                                                 c->copy.from_pitch == c->copy.width);
    return c->copy.depth <= 1 && rows_contiguous;
}

bool wb_is_tracked_copy(const struct wb_command *c) {
    int error;
    const struct wb_session *s;
    if (c->kind != WB_COPY || !c->copy.async || !is_contiguous(c)) return false;
    if (!(s = wb_session(&error)) || s->grading || !s->sanitize) return false;
    return wb_is_pinned(c->copy.to) || wb_is_pinned(c->copy.from);
}

/* Returns the pages that the copy covers completely. Bytes past an allocation's end don't
 * matter. */
static void set_guard_range(struct inflight_copy *f) {
    struct wb_range r;
    uint64_t page = wb_page_size(), end = f->start + f->bytes;
    if (!wb_range_find((void *)f->start, &r)) return;
    f->guard_start = (f->start + page - 1) / page * page;
    if (end == r.start + r.bytes) end += page - 1;
    end = end / page * page;
    f->guard_bytes = end > f->guard_start ? end - f->guard_start : 0;
}

static void track_range(const void *at, size_t bytes, bool writes_host, unsigned stream_slot,
                        uint32_t stream_seq) {
    struct inflight_copy f = {.start = (uint64_t)at,
                              .bytes = bytes,
                              .writes_host = writes_host,
                              .stream_slot = stream_slot,
                              .stream_seq = stream_seq};
    if (!wb_is_pinned(at)) return;
    set_guard_range(&f);
    if (!f.guard_bytes) return;
    if (ninflight == MAX_INFLIGHT_COPIES) retire_copy(0);
    inflight_copies[ninflight++] = f;
    guard_overlapping(&f);
}

void wb_inflight_track(const struct wb_command *c) {
    uint32_t stream_seq;
    unsigned stream_slot;
    size_t bytes = c->copy.width * c->copy.rows;
    wb_lock(); /* another thread may be waiting */
    if (wb_order_last_command(&stream_slot, &stream_seq)) {
        track_range(c->copy.to, bytes, true, stream_slot, stream_seq);
        track_range(c->copy.from, bytes, false, stream_slot, stream_seq);
    }
    wb_unlock();
}

/* ---- a touch ---- */

static void report_early_access(const struct inflight_copy *f, uint64_t address) {
    char line[1024], location[300] = "";
    struct line_position at;
    if (wb_find_source_line(NULL, &at))
        snprintf(location, sizeof location, "%s:%u: ", at.file, at.line);
    int n = snprintf(
        line, sizeof line,
        "warpbook: %sthe host %s byte %llu of %llu that an asynchronous copy%s %s pinned memory, "
        "and "
        "has waited for nothing since: on a GPU %s. Wait for the stream (cudaStreamSynchronize), "
        "or for an event after the copy, first\n",
        location, f->writes_host ? "touches" : "writes", (unsigned long long)(address - f->start),
        (unsigned long long)f->bytes, f->stream_slot ? "" : " (default stream)",
        f->writes_host ? "writes to" : "reads from",
        f->writes_host ? "the host may read old data" : "the copy may take the new value");
    if (n > 0 &&
        write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
        return;
}

/* A guarded page holds only bytes of the copy and unused ones, so an access outside the copy is not
 * reported. */
bool wb_inflight_handle_fault(uint64_t address) {
    for (unsigned i = 0; i < ninflight; i++) {
        if (address - inflight_copies[i].guard_start >= inflight_copies[i].guard_bytes) continue;
        if (address - inflight_copies[i].start < inflight_copies[i].bytes)
            report_early_access(&inflight_copies[i], address);
        retire_copy(i);
        return true;
    }
    return false;
}
