/* register.c — cudaHostRegister of existing memory. Its pages move into memory that host and device
 * share: the host keeps its address, the device uses another one. On a GPU kernels may use the
 * host's address too, so we replace such pointers among a launch's parameters; pointers stored in
 * memory are not found. While grading nothing is shared, and a registered range is only
 * remembered. */
#include "grader/runtime/runtime.h"

#include <string.h>
#include <sys/mman.h>

static unsigned nregistered; /* ranges that the device sees */

struct page_range {
    uint64_t start, bytes;
};

static struct page_range enclosing_pages(uint64_t start, uint64_t bytes) {
    uint64_t page = wb_page_size(), first = start & ~(page - 1),
             end = (start + bytes + page - 1) & ~(page - 1);
    return (struct page_range){first, end - first};
}

/* What is called while pages are read-only. They may hold the table that the first call of a
 * function writes, so these addresses are set when the program starts. */
static const volatile struct {
    void *(*memcpy)(void *, const void *, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*mprotect)(void *, size_t, int);
} bound = {memcpy, mmap, mremap, mprotect};

/* Replaces pages by others with the same bytes. A thread that writes meanwhile waits in the fault
 * handler. */
static bool remap_pages(struct page_range p, void *copy, int flags, int fd, uint64_t offset) {
    if (bound.mprotect((void *)p.start, p.bytes, PROT_READ)) return false;
    wb_set_moving_range(p.start, p.bytes);
    if (copy) bound.memcpy(copy, (void *)p.start, p.bytes);
    void *new_pages = bound.mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    bool ok = new_pages != MAP_FAILED;
    if (ok && !copy) bound.memcpy(new_pages, (void *)p.start, p.bytes);
    ok = ok && bound.mremap(new_pages, p.bytes, p.bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                            (void *)p.start) != MAP_FAILED;
    if (!ok) bound.mprotect((void *)p.start, p.bytes, PROT_READ | PROT_WRITE);
    wb_set_moving_range(0, 0);
    return ok;
}

static bool is_own_stack(struct page_range p) {
    uint64_t frame_address = (uint64_t)__builtin_frame_address(0);
    return frame_address + (1 << 20) > p.start && frame_address < p.start + p.bytes;
}

static int share_pages(const struct wb_session *s, void *start, size_t bytes, uint64_t *device) {
    struct page_range p = enclosing_pages((uint64_t)start, bytes);
    void *shared_copy;
    if (is_own_stack(p)) return wb_unsupported("cudaHostRegister of the stack");
    if (wb_range_overlaps(p.start, p.bytes))
        return wb_unsupported(
            "cudaHostRegister of memory that shares a page with another registered range");
    int error = wb_shared_alloc(&shared_copy, p.bytes, WB_MEMORY_PINNED, 0);
    if (error) return error;
    uint64_t offset = s->shared_offset + ((uint64_t)shared_copy - s->base);
    if (!remap_pages(p, shared_copy, MAP_SHARED, s->shared_fd, offset))
        return wb_shared_free(shared_copy), cudaErrorInvalidValue;
    *device = (uint64_t)shared_copy + ((uint64_t)start - p.start);
    return 0;
}

static int register_range(void *p, size_t bytes, unsigned flags) {
    const unsigned valid_flags =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    const struct wb_session *s;
    struct wb_range r;
    uint64_t device = 0;
    int error;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error;
    if (flags & cudaHostRegisterIoMemory) return wb_unsupported("cudaHostRegister of I/O memory");
    if (!p || !bytes || flags & ~valid_flags || wb_is_device(p)) return cudaErrorInvalidValue;
    if (wb_range_find(p, &r)) return cudaErrorHostMemoryAlreadyRegistered;
    if (s->grading && flags & cudaHostRegisterMapped) return cudaErrorNotPermitted;
    if (!s->grading) error = share_pages(s, p, bytes, &device);
    if (error) return error;
    if (!wb_range_add((uint64_t)p, bytes, WB_MEMORY_REGISTERED, flags))
        return cudaErrorMemoryAllocation;
    wb_range_set_device((uint64_t)p, device);
    nregistered += device != 0;
    return 0;
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    return wb_return(register_range(p, bytes, flags));
}

static int unregister_range(void *p) {
    struct wb_range r;
    if (!p) return cudaErrorInvalidValue;
    if (!wb_range_find(p, &r) || r.start != (uint64_t)p || r.kind != WB_MEMORY_REGISTERED)
        return cudaErrorHostMemoryNotRegistered;
    int error = wb_sync();
    struct page_range at = enclosing_pages(r.start, r.bytes);
    wb_range_remove(r.start);
    if (!r.device_start) return error;
    nregistered--;
    remap_pages(at, NULL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wb_shared_free((void *)(r.device_start & ~(wb_page_size() - 1)));
    return error;
}

cudaError_t cudaHostUnregister(void *p) { return wb_return(unregister_range(p)); }

void wb_unregister_all(void) {
    struct wb_range r;
    while (nregistered && wb_range_find_kind(WB_MEMORY_REGISTERED, &r))
        unregister_range((void *)r.start);
}

bool wb_translate_pointers(uint8_t *params, uint32_t bytes) {
    bool any = false;
    for (uint32_t at = 0; nregistered && at + 8 <= bytes; at += 8) {
        struct wb_range r;
        uint64_t value;
        memcpy(&value, params + at, 8);
        if (!wb_range_find((void *)value, &r) || r.kind != WB_MEMORY_REGISTERED || !r.device_start)
            continue;
        value = r.device_start + (value - r.start);
        memcpy(params + at, &value, 8);
        any = true;
    }
    return any;
}

bool wb_needs_translation(void) { return nregistered; }
