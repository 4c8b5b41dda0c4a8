/* register.c — memory that the program has already, registered. Its pages are moved into the memory
 * that host and device share: the program sees them where they were, the device at an address of
 * its own. On a GPU kernels may use the host's address as well, so what of a launch's parameters
 * points into such memory is replaced by the device's address; pointers that lie in memory
 * themselves are not found. While grading nothing is shared, and a registered range is only
 * remembered. */
#include "grader/runtime/runtime.h"

#include <string.h>
#include <sys/mman.h>

static unsigned registered; /* ranges that the device sees */

struct pages {
    uint64_t start, bytes;
};

static struct pages pages_of(uint64_t start, uint64_t bytes) {
    uint64_t page = wb_page(), first = start & ~(page - 1),
             end = (start + bytes + page - 1) & ~(page - 1);
    return (struct pages){first, end - first};
}

/* Puts other pages with the same bytes in place of some. Whoever writes meanwhile waits in the
 * fault handler. */
static bool replace(struct pages p, void *copy, int flags, int fd, uint64_t offset) {
    if (mprotect((void *)p.start, p.bytes, PROT_READ)) return false;
    wb_moving(p.start, p.bytes);
    if (copy) memcpy(copy, (void *)p.start, p.bytes);
    void *fresh = mmap(NULL, p.bytes, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
    bool ok = fresh != MAP_FAILED;
    if (ok && !copy) memcpy(fresh, (void *)p.start, p.bytes);
    ok = ok && mremap(fresh, p.bytes, p.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)p.start) !=
                   MAP_FAILED;
    if (!ok) mprotect((void *)p.start, p.bytes, PROT_READ | PROT_WRITE);
    wb_moving(0, 0);
    return ok;
}

static bool is_own_stack(struct pages p) {
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    return here + (1 << 20) > p.start && here < p.start + p.bytes;
}

static int share(const struct wb_session *s, void *start, size_t bytes, uint64_t *device) {
    struct pages p = pages_of((uint64_t)start, bytes);
    void *there;
    if (is_own_stack(p)) return wb_unsupported("cudaHostRegister of the stack");
    if (wb_range_any(p.start, p.bytes))
        return wb_unsupported("cudaHostRegister of memory that shares a page with other such");
    int error = wb_shared_alloc(&there, p.bytes, WB_MEMORY_PINNED, 0);
    if (error) return error;
    uint64_t offset = s->shared_offset + ((uint64_t)there - s->base);
    if (!replace(p, there, MAP_SHARED, s->shared_fd, offset))
        return wb_shared_free(there), cudaErrorInvalidValue;
    *device = (uint64_t)there + ((uint64_t)start - p.start);
    return 0;
}

static int enter(void *p, size_t bytes, unsigned flags) {
    const unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterReadOnly;
    const struct wb_session *s;
    struct wb_range r;
    uint64_t device = 0;
    int error;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error;
    if (flags & cudaHostRegisterIoMemory)
        return wb_unsupported("cudaHostRegister of a device's registers");
    if (!p || !bytes || flags & ~known || wb_is_device(p)) return cudaErrorInvalidValue;
    if (wb_range_find(p, &r)) return cudaErrorHostMemoryAlreadyRegistered;
    if (s->grading && flags & cudaHostRegisterMapped) return cudaErrorNotPermitted;
    if (!s->grading) error = share(s, p, bytes, &device);
    if (error) return error;
    if (!wb_range_add((uint64_t)p, bytes, WB_MEMORY_REGISTERED, flags))
        return cudaErrorMemoryAllocation;
    wb_range_device((uint64_t)p, device);
    registered += device != 0;
    return 0;
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    return wb_return(enter(p, bytes, flags));
}

static int leave(void *p) {
    struct wb_range r;
    if (!p) return cudaErrorInvalidValue;
    if (!wb_range_find(p, &r) || r.start != (uint64_t)p || r.kind != WB_MEMORY_REGISTERED)
        return cudaErrorHostMemoryNotRegistered;
    int error = wb_sync();
    struct pages at = pages_of(r.start, r.bytes);
    wb_range_remove(r.start);
    if (!r.device) return error;
    registered--;
    replace(at, NULL, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wb_shared_free((void *)(r.device & ~(wb_page() - 1)));
    return error;
}

cudaError_t cudaHostUnregister(void *p) { return wb_return(leave(p)); }

void wb_unregister_all(void) {
    struct wb_range r;
    while (registered && wb_range_next(WB_MEMORY_REGISTERED, &r)) leave((void *)r.start);
}

bool wb_translate(uint8_t *params, uint32_t bytes) {
    bool any = false;
    for (uint32_t at = 0; registered && at + 8 <= bytes; at += 8) {
        struct wb_range r;
        uint64_t value;
        memcpy(&value, params + at, 8);
        if (!wb_range_find((void *)value, &r) || r.kind != WB_MEMORY_REGISTERED || !r.device)
            continue;
        value = r.device + (value - r.start);
        memcpy(params + at, &value, 8);
        any = true;
    }
    return any;
}

bool wb_translates(void) { return registered; }
