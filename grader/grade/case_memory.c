/* case_memory.c — see case_memory.h. */
#include "grader/grade/case_memory.h"
#include "grader/server/server.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void case_memory_release(struct case_memory *m, uint64_t at, uint64_t bytes) {
    if (bytes)
        fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at, (off_t)bytes);
}

void case_memory_close(struct case_memory *m) {
    if (m->fd >= 0 && m->size >= LARGE_BUFFER_BYTES) case_memory_release(m, 0, m->size);
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

/* Maps many pages at once: a page fault for each would take longer than the writes. Older kernels
 * lack MADV_POPULATE_WRITE. */
static void prefault_for_write(uint8_t *page, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (bytes >= 1 << 20) madvise(page, bytes, MADV_POPULATE_WRITE);
#endif
    (void)page, (void)bytes;
}

void case_memory_prefault(const void *bytes, uint64_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)bytes & ~(page - 1);
#ifdef MADV_POPULATE_READ
    if (size >= 1 << 20) madvise((void *)at, (uintptr_t)bytes + size - at, MADV_POPULATE_READ);
#endif
    (void)at, (void)size;
}

static void write_operand(struct case_memory *m, const struct problem *p, unsigned argument) {
    const struct argument *o = &p->arg[argument];
    uint8_t *to = m->bytes + m->offset[o->owner] + o->offset;
    if (o->offset == 0) prefault_for_write(to, o->bytes);
    if (o->are_random_bits_deferred) problem_write_random_bits(p, argument, to);
    else memcpy(to, o->initial, o->bytes);
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
