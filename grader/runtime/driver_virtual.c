/* driver_virtual.c — the driver API's virtual memory: ranges of addresses, memory, and what of it
 * lies where.
 *
 * A reserved range is device memory from the start, and mapping gives it to a handle. Memory that
 * is mapped nowhere but kept by its handle lies in an allocation of its own meanwhile, so that it
 * can move to another range, as a growing array's does. Memory at two addresses at once is refused.
 * Access to what is reserved and not mapped, or mapped without access, is not found. */
#include "grader/runtime/driver.h"

#include <stdlib.h>

enum { GRANULARITY = 2 << 20 };

struct range {
    struct range *next;
    uint64_t start, bytes;
    void *memory; /* that the range lies in */
};

struct physical {
    uint64_t bytes;
    unsigned references;
    bool mapped;
    void *kept; /* its bytes while it is mapped nowhere; NULL before it ever was */
    CUmemAllocationProp prop;
};

struct mapping {
    struct mapping *next;
    uint64_t start, bytes;
    struct physical *what;
    CUmemAccess_flags access;
};

static struct range *ranges;
static struct mapping *mappings;

static bool is_whole(uint64_t bytes) { return bytes && bytes % GRANULARITY == 0; }
static bool is_of_device(CUmemLocation l) {
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE && l.id == 0;
}

/* ---- ranges ---- */

static int reserve(CUdeviceptr *out, size_t bytes, size_t align, unsigned long long flags) {
    if (!out || !is_whole(bytes) || (align & (align - 1)) || flags) return cudaErrorInvalidValue;
    if (align < GRANULARITY) align = GRANULARITY;
    struct range *r = calloc(1, sizeof *r);
    int error = r ? wb_allocate(&r->memory, bytes + align) : cudaErrorMemoryAllocation;
    if (error) return free(r), error;
    *r = (struct range){ranges, ((uint64_t)r->memory + align - 1) & ~(uint64_t)(align - 1), bytes,
                        r->memory};
    ranges = r;
    *out = r->start;
    return 0;
}

/* The first mapping that has bytes of the range. */
static struct mapping **mapping_in(uint64_t start, uint64_t bytes) {
    struct mapping **m = &mappings;
    while (*m && ((*m)->start >= start + bytes || (*m)->start + (*m)->bytes <= start))
        m = &(*m)->next;
    return m;
}

static int give_back(uint64_t start, uint64_t bytes) {
    struct range **r = &ranges;
    while (*r && (*r)->start != start) r = &(*r)->next;
    if (!*r || (*r)->bytes != bytes || *mapping_in(start, bytes)) return cudaErrorInvalidValue;
    struct range *gone = *r;
    int error = wb_free(gone->memory);
    *r = gone->next;
    free(gone);
    return error;
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    (void)option;
    if (!out || !prop || !is_of_device(prop->location)) return CUDA_ERROR_INVALID_VALUE;
    *out = GRANULARITY;
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr wish,
                             unsigned long long flags) {
    (void)wish; /* which a driver need not grant, either */
    return WITH_CONTEXT(reserve(out, bytes, align, flags));
}
CUresult cuMemAddressFree(CUdeviceptr start, size_t bytes) {
    return WITH_CONTEXT(give_back(start, bytes));
}

/* ---- memory ---- */

static void let_go(struct physical *p) {
    if (p->references || p->mapped) return;
    wb_free(p->kept);
    free(p);
}

static int create(CUmemGenericAllocationHandle *out, size_t bytes, const CUmemAllocationProp *prop,
                  unsigned long long flags) {
    if (!out || !prop || !is_whole(bytes) || flags || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return cudaErrorInvalidValue;
    if (!is_of_device(prop->location))
        return wb_unsupported("cuMemCreate of memory that is not the device's");
    struct physical *p = calloc(1, sizeof *p);
    if (!p) return cudaErrorMemoryAllocation;
    *p = (struct physical){.bytes = bytes, .references = 1, .prop = *prop};
    *out = (uint64_t)p;
    return 0;
}

static int release(struct physical *p) {
    if (!p || !p->references) return cudaErrorInvalidValue;
    p->references--;
    let_go(p);
    return 0;
}

static int retain(CUmemGenericAllocationHandle *out, uint64_t address) {
    struct mapping *m = *mapping_in(address, 1);
    if (!out || !m) return cudaErrorInvalidValue;
    m->what->references++;
    *out = (uint64_t)m->what;
    return 0;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    return WITH_CONTEXT(create(out, bytes, prop, flags));
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
    return WITH_CONTEXT(release((struct physical *)h));
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
    return WITH_CONTEXT(retain(out, (uint64_t)address));
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle h) {
    if (!out || !h) return CUDA_ERROR_INVALID_VALUE;
    *out = ((struct physical *)h)->prop;
    return CUDA_SUCCESS;
}

/* ---- memory in ranges ---- */

static bool is_reserved(uint64_t start, uint64_t bytes) {
    for (const struct range *r = ranges; r; r = r->next)
        if (start >= r->start && start - r->start <= r->bytes &&
            bytes <= r->bytes - (start - r->start))
            return true;
    return false;
}

static int map(uint64_t start, uint64_t bytes, size_t offset, struct physical *p,
               unsigned long long flags) {
    if (!p || offset || flags || !is_whole(bytes) || start % GRANULARITY || bytes > p->bytes)
        return cudaErrorInvalidValue;
    if (!is_reserved(start, bytes) || *mapping_in(start, bytes)) return cudaErrorInvalidValue;
    if (p->mapped) return wb_unsupported("cuMemMap of memory that is mapped already");
    struct mapping *m = calloc(1, sizeof *m);
    if (!m) return cudaErrorMemoryAllocation;
    *m = (struct mapping){mappings, start, bytes, p, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    mappings = m;
    p->mapped = true;
    int error =
        p->kept ? (int)cudaMemcpy((void *)start, p->kept, bytes, cudaMemcpyDeviceToDevice) : 0;
    wb_free(p->kept);
    p->kept = NULL;
    return error;
}

static int unmap_one(struct mapping **at) {
    struct mapping *m = *at;
    struct physical *p = m->what;
    int error = p->references ? wb_allocate(&p->kept, p->bytes) : 0;
    if (!error && p->kept)
        error = cudaMemcpy(p->kept, (void *)m->start, m->bytes, cudaMemcpyDeviceToDevice);
    p->mapped = false;
    let_go(p);
    *at = m->next;
    free(m);
    return error;
}

/* Whole mappings, and no gap. */
static bool covers(uint64_t start, uint64_t bytes) {
    uint64_t found = 0;
    for (const struct mapping *m = mappings; m; m = m->next)
        if (m->start >= start && m->start + m->bytes <= start + bytes) found += m->bytes;
    return found == bytes;
}

static int unmap(uint64_t start, uint64_t bytes) {
    if (!bytes || !covers(start, bytes)) return cudaErrorInvalidValue;
    int error = wb_settle(); /* as freeing does */
    while (!error && *mapping_in(start, bytes)) error = unmap_one(mapping_in(start, bytes));
    return error;
}

static int set_access(uint64_t start, uint64_t bytes, const CUmemAccessDesc *desc, size_t n) {
    if (!desc || !n || !bytes || !covers(start, bytes)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++)
        if (!is_of_device(desc[i].location)) return cudaErrorInvalidDevice;
    for (struct mapping *m = mappings; m; m = m->next)
        if (m->start >= start && m->start < start + bytes) m->access = desc[n - 1].flags;
    return 0;
}

CUresult cuMemMap(CUdeviceptr start, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags) {
    return WITH_CONTEXT(map(start, bytes, offset, (struct physical *)h, flags));
}
CUresult cuMemUnmap(CUdeviceptr start, size_t bytes) { return WITH_CONTEXT(unmap(start, bytes)); }
CUresult cuMemSetAccess(CUdeviceptr start, size_t bytes, const CUmemAccessDesc *desc, size_t n) {
    return WITH_CONTEXT(set_access(start, bytes, desc, n));
}
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p) {
    const struct mapping *m = *mapping_in(p, 1);
    if (!flags || !location || !m || !is_of_device(*location)) return CUDA_ERROR_INVALID_VALUE;
    *flags = m->access;
    return CUDA_SUCCESS;
}
