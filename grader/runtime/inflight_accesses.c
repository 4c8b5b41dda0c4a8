/* inflight_accesses.c — detects host accesses to managed or pinned memory that a kernel or an
 * asynchronous copy in flight reads or writes. On a GPU the host could read old data, or the
 * command could take a new value; here the command is done early, so the result would look right.
 *
 * Theory of operation. The pages that a command writes lose all access, and those that it reads
 * lose write access, until the host's clock (stream_order.c) includes the command. An earlier
 * access faults; the handler (shared_memory.c) reports it, restores the pages and resumes the
 * instruction. So the program's results don't change, and each command is reported at most once. Of
 * reports that differ only in the byte, the first is printed at once, their number at the exit.
 * A copy's bytes are known from the call; pages that also hold other data are not checked. A
 * kernel's bytes come from the device when the kernel is done, so a launch whose parameters lead to
 * such memory waits for that. After a fault beside these bytes, the pages are guarded again when
 * the instruction is done (shared_memory.c), or stay released where a thread can't step. Not
 * checked are kernels that may wait for the host, or tell it of their writes, during their run.
 * Inactive while grading, without the sanitizer, and once a second thread issues commands. */
#include "grader/runtime/line_table.h"
#include "grader/runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct inflight_access {
    uint64_t start, bytes;             /* that the command accesses; */
    uint32_t row_mask;                 /* of each WB_ACCESS_ROW_BYTES, these */
    uint64_t guard_start, guard_bytes; /* the pages and their size in bytes */
    bool writes_host;                  /* the device writes there */
    unsigned stream_slot;              /* the command's stream, */
    uint32_t stream_seq;               /* …and its number among the stream's commands */
    enum wb_memory_kind memory_kind;
    uint64_t counted_from, counted_bytes; /* a report counts bytes in the copy, or the allocation */
    char kernel[224];                     /* name and line; empty: a copy */
};

enum { MAX_INFLIGHT = 128 }; /* if there are more, the oldest are dropped */
static struct inflight_access inflight[MAX_INFLIGHT];
static unsigned ninflight;

/* ---- repeated reports ---- */

enum { MAX_REPORTS = 32 }; /* repetitions of others are printed */
static struct {
    char location[300];
    uint64_t text_hash;
    unsigned count;
} reports[MAX_REPORTS];

static uint64_t message_hash(const char *s) {
    uint64_t h = 0xcbf29ce484222325; /* FNV-1a */
    while (*s) h = (h ^ (unsigned char)*s++) * 0x100000001b3;
    return h;
}

/* Counts a report. Returns true if one with this location and text was counted before. */
static bool is_repeated_report(const char *location, const char *text) {
    uint64_t h = message_hash(text);
    unsigned i = 0;
    for (; i < MAX_REPORTS && reports[i].count; i++)
        if (reports[i].text_hash == h && !strcmp(reports[i].location, location))
            return ++reports[i].count > 1;
    if (i == MAX_REPORTS) return false;
    snprintf(reports[i].location, sizeof reports[i].location, "%s", location);
    reports[i].text_hash = h, reports[i].count = 1;
    return false;
}

static void print_repeated_reports(void) {
    for (unsigned i = 0; i < MAX_REPORTS && reports[i].count; i++)
        if (reports[i].count > 1)
            fprintf(stderr, "warpbook: %sthe host's early access above occurred %u times\n",
                    reports[i].location, reports[i].count);
}

/* ---- commands in flight ---- */

static void protect_pages(const struct inflight_access *a, int access) {
    mprotect((void *)a->guard_start, a->guard_bytes, access);
}

static void guard_pages(const struct inflight_access *a) {
    protect_pages(a, a->writes_host ? PROT_NONE : PROT_READ);
}

static bool overlaps(const struct inflight_access *a, const struct inflight_access *b) {
    return a->guard_start < b->guard_start + b->guard_bytes &&
           b->guard_start < a->guard_start + a->guard_bytes;
}

/* Guards what overlaps these pages, the strictest last. */
static void guard_overlapping(const struct inflight_access *a) {
    for (unsigned writes_host = 0; writes_host < 2; writes_host++)
        for (unsigned k = 0; k < ninflight; k++)
            if (inflight[k].writes_host == (writes_host == 1) && overlaps(&inflight[k], a))
                guard_pages(&inflight[k]);
}

/* Pages that other commands access, too, stay protected. */
static void retire(unsigned i) {
    struct inflight_access a = inflight[i];
    inflight[i] = inflight[--ninflight];
    protect_pages(&a, PROT_READ | PROT_WRITE);
    guard_overlapping(&a);
}

void wb_inflight_retire(const struct wb_vector_clock *host) {
    for (unsigned i = ninflight; i--;)
        if (host->counts[inflight[i].stream_slot] >= inflight[i].stream_seq) retire(i);
}

void wb_inflight_clear(void) {
    wb_lock();
    while (ninflight) retire(ninflight - 1);
    wb_unlock();
}

/* Returns true if an earlier command of the stream has the same bytes; the entry then stands for
 * the later one. */
static bool renew(const struct inflight_access *a) {
    for (unsigned i = 0; i < ninflight; i++) {
        struct inflight_access *old = &inflight[i];
        if (old->start != a->start || old->bytes != a->bytes || old->row_mask != a->row_mask ||
            old->writes_host != a->writes_host || old->stream_slot != a->stream_slot)
            continue;
        *old = *a;
        return true;
    }
    return false;
}

static void track(const struct inflight_access *a) {
    static bool is_registered;
    if (!a->guard_bytes || renew(a)) return;
    if (!is_registered) atexit(print_repeated_reports), is_registered = true;
    if (ninflight == MAX_INFLIGHT) retire(0);
    inflight[ninflight++] = *a;
    guard_overlapping(a);
}

static bool is_checked_session(void) {
    int error;
    const struct wb_session *s = wb_session(&error);
    return s && !s->grading && s->sanitize;
}

/* ---- copies ---- */

static bool is_contiguous(const struct wb_command *c) {
    bool rows_contiguous = c->copy.rows == 1 || (c->copy.to_pitch == c->copy.width &&
                                                 c->copy.from_pitch == c->copy.width);
    return c->copy.depth <= 1 && rows_contiguous;
}

static bool is_tracked_copy(const struct wb_command *c) {
    return c->kind == WB_COPY && c->copy.async && is_contiguous(c) &&
           (wb_is_shared(c->copy.to) || wb_is_shared(c->copy.from)) && is_checked_session();
}

/* Returns the pages that the copy covers completely. Bytes past an allocation's end don't
 * matter. */
static void set_inner_pages(struct inflight_access *a, const struct wb_range *r) {
    uint64_t page = wb_page_size(), end = a->start + a->bytes;
    a->guard_start = (a->start + page - 1) / page * page;
    if (end == r->start + r->bytes) end += page - 1;
    end = end / page * page;
    a->guard_bytes = end > a->guard_start ? end - a->guard_start : 0;
}

static void track_side(const void *at, size_t bytes, bool writes_host, unsigned stream_slot,
                       uint32_t stream_seq) {
    struct wb_range r;
    struct inflight_access a = {.start = (uint64_t)at,
                                .bytes = bytes,
                                .row_mask = ~0u,
                                .writes_host = writes_host,
                                .stream_slot = stream_slot,
                                .stream_seq = stream_seq,
                                .counted_from = (uint64_t)at,
                                .counted_bytes = bytes};
    if (!wb_is_shared(at) || !wb_range_find(at, &r)) return;
    a.memory_kind = r.kind;
    set_inner_pages(&a, &r);
    track(&a);
}

static void track_copy(const struct wb_command *c, unsigned stream_slot, uint32_t stream_seq) {
    size_t bytes = c->copy.width * c->copy.rows;
    track_side(c->copy.to, bytes, true, stream_slot, stream_seq);
    track_side(c->copy.from, bytes, false, stream_slot, stream_seq);
}

/* ---- kernels ---- */

/* A packed structure may hold a pointer at any offset. */
static bool leads_to_shared_memory(const struct wb_function *f, const struct wb_command *c) {
    if (wb_map_managed_variables(f->module)) return true;
    for (uint32_t at = 0; at + sizeof(void *) <= c->launch.param_bytes; at++) {
        void *p;
        memcpy(&p, c->launch.params + at, sizeof p);
        if (wb_is_device(p) && wb_is_shared(p)) return true;
    }
    return false;
}

static bool is_tracked_launch(const struct wb_command *c) {
    int error;
    const struct wb_function *f =
        c->kind == WB_LAUNCH ? wb_get_function(c->launch.func, &error) : NULL;
    return f && !f->info.may_sync_with_host && is_checked_session() && leads_to_shared_memory(f, c);
}

static void track_bytes(struct inflight_access a, uint32_t row_mask, bool writes_host) {
    struct wb_range r;
    uint64_t page = wb_page_size(), end = (a.start + a.bytes + page - 1) / page * page;
    if (!row_mask || !wb_range_find((void *)(a.start + (unsigned)__builtin_ctz(row_mask)), &r))
        return;
    a.row_mask = row_mask, a.writes_host = writes_host;
    a.guard_start = a.start / page * page;
    a.guard_bytes = end - a.guard_start;
    a.memory_kind = r.kind, a.counted_from = r.start, a.counted_bytes = r.bytes;
    track(&a);
}

static void track_launch(unsigned stream_slot, uint32_t stream_seq) {
    int error;
    struct wb_access_run runs[WB_MAX_ACCESS_RUNS];
    struct wb_rep_accesses p = {0};
    const struct wb_session *s = wb_session(&error);
    struct wb_req_accesses q = {.low = s->base, .high = s->base + s->shared_bytes};
    if (wb_request_tail(accesses, &q, &p, NULL, 0, runs, sizeof runs)) return;
    for (uint64_t i = 0; i < p.count; i++) {
        struct inflight_access a = {.start = runs[i].address,
                                    .bytes = runs[i].rows * WB_ACCESS_ROW_BYTES,
                                    .stream_slot = stream_slot,
                                    .stream_seq = stream_seq};
        snprintf(a.kernel, sizeof a.kernel, "%s", runs[i].description);
        track_bytes(a, runs[i].write_mask, true);
        track_bytes(a, runs[i].read_mask & ~runs[i].write_mask, false);
    }
}

/* ---- commands ---- */

void wb_inflight_prepare(const struct wb_command *c) {
    if (is_tracked_launch(c)) wb_order_report();
    else if (is_tracked_copy(c)) wb_order_track();
}

void wb_inflight_track(const struct wb_command *c) {
    uint32_t stream_seq;
    unsigned stream_slot;
    bool is_launch = is_tracked_launch(c);
    if (!is_launch && !is_tracked_copy(c)) return;
    wb_lock(); /* another thread may be waiting */
    if (wb_order_last_command(&stream_slot, &stream_seq)) {
        if (is_launch && wb_order_is_reported()) track_launch(stream_slot, stream_seq);
        if (!is_launch) track_copy(c, stream_slot, stream_seq);
    }
    wb_unlock();
}

/* ---- a touch ---- */

static int describe_copy(const struct inflight_access *a, char *out, size_t size) {
    return snprintf(
        out, size,
        "that an asynchronous copy%s %s %s memory, and has waited for nothing since: on a GPU %s. "
        "Wait for the stream (cudaStreamSynchronize), or for an event after the copy, first\n",
        a->stream_slot ? "" : " (default stream)", a->writes_host ? "writes to" : "reads from",
        a->memory_kind == WB_MEMORY_MANAGED ? "managed" : "pinned",
        a->writes_host ? "the host may read old data" : "the copy may take the new value");
}

static int describe_kernel(const struct inflight_access *a, char *out, size_t size) {
    return snprintf(
        out, size,
        "in %s memory, which %s %s, and has waited for nothing since: on a GPU %s. Wait for the "
        "kernel (cudaDeviceSynchronize, cudaStreamSynchronize) first\n",
        a->memory_kind == WB_MEMORY_MANAGED ? "managed" : "pinned", a->kernel,
        a->writes_host ? "writes" : "reads",
        a->writes_host ? "the host may read old data" : "the kernel may read the new value");
}

static void report_early_access(const struct inflight_access *a, uint64_t address) {
    char line[1200], location[300] = "", rest[700];
    struct line_position at;
    if (wb_find_source_line(NULL, &at))
        snprintf(location, sizeof location, "%s:%u: ", at.file, at.line);
    (a->kernel[0] ? describe_kernel : describe_copy)(a, rest, sizeof rest);
    if (is_repeated_report(location, rest)) return;
    int n = snprintf(line, sizeof line, "warpbook: %sthe host %s byte %llu of %llu %s", location,
                     a->writes_host ? "touches" : "writes",
                     (unsigned long long)(address - a->counted_from),
                     (unsigned long long)a->counted_bytes, rest);
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0) return;
}

static bool guards(const struct inflight_access *a, uint64_t address) {
    return address - a->guard_start < a->guard_bytes;
}

static bool accesses_byte(const struct inflight_access *a, uint64_t address) {
    uint64_t at = address - a->start;
    return at < a->bytes && a->row_mask >> at % WB_ACCESS_ROW_BYTES & 1;
}

static void retire_command(unsigned stream_slot, uint32_t stream_seq) {
    for (unsigned i = ninflight; i--;)
        if (inflight[i].stream_slot == stream_slot && inflight[i].stream_seq == stream_seq)
            retire(i);
}

static bool report_access(uint64_t address, bool writes_host) {
    for (unsigned i = ninflight; i--;) {
        struct inflight_access a = inflight[i];
        if (a.writes_host != writes_host || !guards(&a, address) || !accesses_byte(&a, address))
            continue;
        report_early_access(&a, address);
        retire_command(a.stream_slot, a.stream_seq);
        return true;
    }
    return false;
}

static bool is_guarded_by(uint64_t address, bool writes_host) {
    for (unsigned i = 0; i < ninflight; i++)
        if (inflight[i].writes_host == writes_host && guards(&inflight[i], address)) return true;
    return false;
}

static bool is_read_there(uint64_t address) {
    for (unsigned i = 0; i < ninflight; i++)
        if (!inflight[i].writes_host && accesses_byte(&inflight[i], address)) return true;
    return false;
}

/* The page that the current instruction may access; 0 = none. */
static uint64_t released_page;

static void protect_released_page(int access) {
    mprotect((void *)released_page, wb_page_size(), access);
}

void wb_inflight_guard_again(void) {
    if (is_guarded_by(released_page, true)) protect_released_page(PROT_NONE);
    else if (is_guarded_by(released_page, false)) protect_released_page(PROT_READ);
    released_page = 0;
}

bool wb_inflight_release(uint64_t address) {
    uint64_t page = address / wb_page_size() * wb_page_size();
    bool may_read_only = released_page != page && is_read_there(address);
    if (!is_guarded_by(address, true) && !is_guarded_by(address, false)) return false;
    released_page = page;
    protect_released_page(may_read_only ? PROT_READ : PROT_READ | PROT_WRITE);
    return true;
}

void wb_inflight_retire_page(uint64_t address) {
    for (unsigned i = ninflight; i--;)
        if (guards(&inflight[i], address)) retire(i);
    released_page = 0;
}

/* Where a command writes, any access faults: it may be a read, until it faults again although the
 * page may be read. */
bool wb_inflight_report(uint64_t address) {
    bool is_write =
        !is_guarded_by(address, true) || released_page == address / wb_page_size() * wb_page_size();
    return report_access(address, true) || (is_write && report_access(address, false));
}
