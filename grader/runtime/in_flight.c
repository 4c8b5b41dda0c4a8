/* in_flight.c — what asynchronous copies have been asked to read or write in pinned memory, and
 * whether the host touches it before it has waited for them. On a GPU it would find what was there
 * before, or give the copy what was not meant; here, where the device is soon done, it comes out
 * right.
 *
 * Theory of operation. The pages that such a copy covers whole lose their access (all of it, or
 * that for writing) until the clock of the host (order.c) stands for the copy. A touch before that
 * is a fault; the handler (shared.c) says what it was, gives the pages back, and lets the
 * instruction go on. So a program does what it did, a word is said at most once a copy, and what
 * shares a page with something else is not looked at. Not while grading, nor without the sanitizer,
 * nor once a second thread gives commands. */
#include "grader/runtime/runtime.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

struct flight {
    uint64_t start, bytes;   /* of the copy */
    uint64_t first, covered; /* the pages, and how many bytes they are; 0 = none */
    bool lands;              /* the device writes there */
    unsigned lane;           /* the stream it was given to, */
    uint32_t number;         /* …and which of its commands it is */
};

enum { MOST_FLIGHTS = 64 }; /* of more the first are forgotten */
static struct flight flights[MOST_FLIGHTS];
static unsigned nflights;

static void set_access(const struct flight *f, int access) {
    if (f->covered) mprotect((void *)f->first, f->covered, access);
}

static void guard(const struct flight *f) { set_access(f, f->lands ? PROT_NONE : PROT_READ); }

static bool meet(const struct flight *a, const struct flight *b) {
    return a->first < b->first + b->covered && b->first < a->first + a->covered;
}

/* Those that have pages of it, the stricter last. */
static void guard_all(const struct flight *f) {
    for (unsigned lands = 0; lands < 2; lands++)
        for (unsigned k = 0; k < nflights; k++)
            if (flights[k].lands == (lands == 1) && meet(&flights[k], f)) guard(&flights[k]);
}

/* What it shares with others stays theirs. */
static void land(unsigned i) {
    struct flight f = flights[i];
    flights[i] = flights[--nflights];
    set_access(&f, PROT_READ | PROT_WRITE);
    guard_all(&f);
}

void wb_flights_known(const struct wb_clock *host) {
    for (unsigned i = nflights; i--;)
        if (host->of[flights[i].lane] >= flights[i].number) land(i);
}

void wb_flights_forget(void) {
    wb_lock();
    while (nflights) land(nflights - 1);
    wb_unlock();
}

/* ---- copies ---- */

static bool is_one_piece(const struct wb_command *c) {
    bool rows = c->copy.rows == 1 ||
                (c->copy.to_pitch == c->copy.width && c->copy.from_pitch == c->copy.width);
    return c->copy.depth <= 1 && rows;
}

bool wb_flies(const struct wb_command *c) {
    int error;
    const struct wb_session *s;
    if (c->kind != WB_COPY || !c->copy.async || !is_one_piece(c)) return false;
    if (!(s = wb_session(&error)) || s->grading || !s->sanitize) return false;
    return wb_is_pinned(c->copy.to) || wb_is_pinned(c->copy.from);
}

/* The pages that are the copy's alone: what lies behind an allocation's end is nobody's. */
static void cover(struct flight *f) {
    struct wb_range r;
    uint64_t page = wb_page(), end = f->start + f->bytes;
    if (!wb_range_find((void *)f->start, &r)) return;
    f->first = (f->start + page - 1) / page * page;
    if (end == r.start + r.bytes) end += page - 1;
    end = end / page * page;
    f->covered = end > f->first ? end - f->first : 0;
}

static void begin(const void *at, size_t bytes, bool lands, unsigned lane, uint32_t number) {
    struct flight f = {
        .start = (uint64_t)at, .bytes = bytes, .lands = lands, .lane = lane, .number = number};
    if (!wb_is_pinned(at)) return;
    cover(&f);
    if (!f.covered) return;
    if (nflights == MOST_FLIGHTS) land(0);
    flights[nflights++] = f;
    guard_all(&f);
}

void wb_flight_begin(const struct wb_command *c) {
    uint32_t number;
    unsigned lane;
    size_t bytes = c->copy.width * c->copy.rows;
    wb_lock(); /* another thread may be the one that waits */
    if (wb_order_last(&lane, &number)) {
        begin(c->copy.to, bytes, true, lane, number);
        begin(c->copy.from, bytes, false, lane, number);
    }
    wb_unlock();
}

/* ---- a touch ---- */

/* Where the program's own code was, as offset in its file. 0 = not found. */
static uint64_t place(char *file, size_t size) {
    void *frames[32];
    Dl_info program, here;
    int n = backtrace(frames, sizeof frames / sizeof *frames), i = 0;
    if (!dladdr((void *)getauxval(AT_ENTRY), &program)) return 0;
    for (; i < n;
         i++) /* ours come first: the handler lies in the program, as all of this runtime does */
        if (dladdr(frames[i], &here) && here.dli_fbase != program.dli_fbase) break;
    for (; i < n; i++)
        if (dladdr(frames[i], &here) && here.dli_fbase == program.dli_fbase) break;
    if (i >= n) return 0;
    snprintf(file, size, "%s", program.dli_fname);
    return (uint64_t)frames[i] - (uint64_t)program.dli_fbase;
}

static void report(const struct flight *f, uint64_t address) {
    char line[768], file[256] = "", where[320] = "";
    uint64_t at = place(file, sizeof file);
    if (at)
        snprintf(where, sizeof where, " (addr2line -e %s 0x%llx)", file, (unsigned long long)at);
    int n = snprintf(
        line, sizeof line,
        "warpbook: the host %s byte %llu of %llu that an asynchronous copy%s %s pinned memory, and "
        "has waited for "
        "nothing "
        "since: on a GPU %s. Wait for the stream (cudaStreamSynchronize), or for an event behind "
        "the copy, first%s\n",
        f->lands ? "touches" : "writes", (unsigned long long)(address - f->start),
        (unsigned long long)f->bytes, f->lane ? "" : " (default stream)",
        f->lands ? "writes to" : "reads from",
        f->lands ? "it may find what was there before" : "the copy may take the new value", where);
    if (n > 0 &&
        write(STDERR_FILENO, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1) < 0)
        return;
}

/* Bytes behind the copy's last share its page at most with nothing. */
bool wb_flight_touched(uint64_t address) {
    for (unsigned i = 0; i < nflights; i++) {
        if (address - flights[i].first >= flights[i].covered) continue;
        if (address - flights[i].start < flights[i].bytes) report(&flights[i], address);
        land(i);
        return true;
    }
    return false;
}
