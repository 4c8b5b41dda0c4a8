/* case_memory.c — see case_memory.h. */
#include "grader/grade/case_memory.h"
#include "grader/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Frees pages that are no longer needed. */
static void release(struct case_memory *m, uint64_t at, uint64_t bytes) {
    if (bytes)
        fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}

void case_memory_close(struct case_memory *m) {
    if (m->fd >= 0 && m->size >= LARGE_BUFFER_BYTES) release(m, 0, m->size);
    if (m->bytes) munmap(m->bytes, m->size);
    if (m->fd >= 0) close(m->fd);
    *m = (struct case_memory){.fd = -1};
}

void case_memory_set_dontfork(const struct case_memory *m) {
    if (m->bytes) madvise(m->bytes, m->size, MADV_DONTFORK);
}

bool case_memory_open(struct case_memory *m, const struct problem *p, struct err *e) {
    const uint64_t page = 65536; /* a multiple of every machine's page size */
    *m = (struct case_memory){.fd = -1, .size = CONTROL_RESULT_BYTES};
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        if (!problem_owns_buffer(p, i)) continue;
        m->offset[i] = m->size;
        m->size += (p->arg[i].bytes + page - 1) / page * page;
    }
    m->fd = server_shared_memory("case", m->size, e);
    if (m->fd < 0) return false;
    void *at = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (at == MAP_FAILED)
        return err_set(e, ERR_SYSTEM, "cannot map %llu bytes", (unsigned long long)m->size);
    m->bytes = at;
    return true;
}

/* Writes by a call instead of through the mapping, which would clear each page, and map it. */
static void write_bytes(struct case_memory *m, uint64_t at, const void *bytes, uint64_t size) {
    for (uint64_t done = 0; done < size;) {
        ssize_t n = pwrite(m->fd, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) die("the case's memory file: %s", strerror(errno));
        done += (uint64_t)n;
    }
}

enum { PIECE_BYTES = 1 << 20 };

static void write_random_bits(struct case_memory *m, const struct argument *o, uint64_t at) {
    struct ex_rng r = o->output_rng;
    uint64_t capacity = o->bytes < PIECE_BYTES ? o->bytes : PIECE_BYTES;
    char *piece = xcalloc(capacity, 1);
    for (uint64_t done = 0, n; done < o->bytes; done += n) {
        n = o->bytes - done < capacity ? o->bytes - done : capacity;
        problem_fill_random_bits(&r, piece, n);
        write_bytes(m, at + done, piece, n);
    }
    free(piece);
}

static void write_operand(struct case_memory *m, const struct problem *p, unsigned argument) {
    const struct argument *o = &p->arg[argument];
    uint64_t at = m->offset[o->owner] + o->offset;
    if (o->are_random_bits_deferred) write_random_bits(m, o, at);
    else write_bytes(m, at, o->initial, o->bytes);
}

/* Maps pages that will be read, all at once: a page fault for each would take longer than the
 * comparison. Older kernels lack MADV_POPULATE_READ. */
static void prefault(const void *bytes, uint64_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)bytes & ~(page - 1);
#ifdef MADV_POPULATE_READ
    if (size >= 1 << 20) madvise((void *)at, (uintptr_t)bytes + size - at, MADV_POPULATE_READ);
#endif
    (void)at, (void)size;
}

/* Copies a buffer out of the memory file. Of a large buffer, each piece is freed once it is copied,
 * so that the buffer never exists twice. */
static void copy_out(struct case_memory *m, uint64_t at, void *to, uint64_t bytes, bool keep) {
    const uint64_t piece_bytes = 4 << 20;
    bool large = bytes >= LARGE_BUFFER_BYTES && !keep;
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = large && bytes - done > piece_bytes ? piece_bytes : bytes - done;
        memcpy((char *)to + done, m->bytes + at + done, n);
        if (large) release(m, at + done, n);
    }
}

/* The grader compares copies, because the device process may still write, and the contents of an
 * input may be used as an index. An unchanged input needs no copy: `actual` points to `initial`,
 * also for its aliases. An output without aliases is compared in place: each element is read once,
 * and decides nothing but whether this submission is correct. */
void case_memory_read_back(struct case_memory *m, struct problem *p, bool keep) {
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        struct argument *o = &p->arg[i];
        uint8_t *device_bytes = m->bytes + m->offset[i];
        if (!problem_owns_buffer(p, i) || !o->bytes) continue;
        prefault(device_bytes, o->bytes);
        if (o->are_random_bits_deferred) {
            o->actual = device_bytes;
            continue;
        }
        bool unchanged = !o->is_writable && !memcmp(device_bytes, o->initial, o->bytes);
        o->actual = unchanged ? o->initial : o->actual_storage;
        if (!unchanged) copy_out(m, m->offset[i], o->actual, o->bytes, keep);
        else if (o->bytes >= LARGE_BUFFER_BYTES && !keep) release(m, m->offset[i], o->bytes);
    }
    problem_resolve_aliases(p);
}

static void add_range(const struct problem *p, unsigned argument, enum server_content content,
                      struct control_replay *r) {
    const struct argument *o = &p->arg[argument];
    unsigned buffer = 0;
    for (int k = 0; k < o->owner; k++) buffer += problem_owns_buffer(p, (unsigned)k);
    r->range[r->nranges++] = (struct control_range){
        .buffer = buffer, .content = content, .offset = o->offset, .bytes = o->bytes};
}

void case_memory_fill(struct case_memory *m, const struct problem *p, bool outputs, bool is_filled,
                      struct control_replay *r) {
    const struct ex_arg *args = p->ex->args;
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        bool output = args[i].role == EX_OUT;
        if (!problem_owns_buffer(p, i) || !p->arg[i].bytes || (output && !outputs)) continue;
        if (!is_filled) write_operand(m, p, i);
        add_range(p, i, output ? SERVER_UNINITIALIZED : SERVER_INITIALIZED, r);
    }
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        const struct argument *o = &p->arg[i];
        if (args[i].role == EX_SCALAR || o->owner == (int)i || !o->bytes) continue;
        if (args[o->owner].role != EX_OUT || args[i].role == EX_OUT) continue;
        if (!is_filled) write_operand(m, p, i);
        add_range(p, i, SERVER_INITIALIZED, r);
    }
}
