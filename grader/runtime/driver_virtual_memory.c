/* driver_virtual_memory.c — the driver API's virtual memory: reserved address ranges, physical
 * memory, and its mappings.
 *
 * A reserved range is device memory from the start, and mapping assigns it to a handle. While a
 * handle is unmapped, its data lies in a separate allocation, so that it can move to another range,
 * as growing arrays do. We refuse to map memory at two addresses at once. We don't detect accesses
 * to memory that is reserved but not mapped, or mapped without access. */
#include "grader/runtime/driver.h"

#include <stdlib.h>

enum { GRANULARITY = 2 << 20 };

struct reserved_range {
    struct reserved_range *next;
    uint64_t start, bytes;
    void *allocation; /* that the range lies in */
};

struct physical_allocation {
    uint64_t bytes;
    unsigned references;
    bool mapped;
    void *unmapped_backing; /* its bytes while it is unmapped; NULL before its first mapping */
    CUmemAllocationProp prop;
};

struct mapping {
    struct mapping *next;
    uint64_t start, bytes;
    struct physical_allocation *allocation;
    CUmemAccess_flags access;
};

static struct reserved_range *ranges;
static struct mapping *mappings;

static bool is_granule_multiple(uint64_t bytes) { return bytes && bytes % GRANULARITY == 0; }
static bool is_device_location(CUmemLocation l) {
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE && l.id == 0;
}

/* ---- ranges ---- */

static int reserve_range(CUdeviceptr *out, size_t bytes, size_t align, unsigned long long flags) {
    if (!out || !is_granule_multiple(bytes) || (align & (align - 1)) || flags)
        return cudaErrorInvalidValue;
    if (align < GRANULARITY) align = GRANULARITY;
    struct reserved_range *r = calloc(1, sizeof *r);
    int error = r ? wb_allocate(&r->allocation, bytes + align) : cudaErrorMemoryAllocation;
    if (error) return free(r), error;
    *r = (struct reserved_range){ranges,
                                 ((uint64_t)r->allocation + align - 1) & ~(uint64_t)(align - 1),
                                 bytes, r->allocation};
    ranges = r;
    *out = r->start;
    return 0;
}

/* Returns the first mapping that overlaps the range. */
static struct mapping **find_mapping(uint64_t start, uint64_t bytes) {
    struct mapping **m = &mappings;
    while (*m && ((*m)->start >= start + bytes || (*m)->start + (*m)->bytes <= start))
        m = &(*m)->next;
    return m;
}

static int free_range(uint64_t start, uint64_t bytes) {
    struct reserved_range **r = &ranges;
    while (*r && (*r)->start != start) r = &(*r)->next;
    if (!*r || (*r)->bytes != bytes || *find_mapping(start, bytes)) return cudaErrorInvalidValue;
    struct reserved_range *freed = *r;
    int error = wb_free(freed->allocation);
    *r = freed->next;
    free(freed);
    return error;
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    (void)option;
    if (!out || !prop || !is_device_location(prop->location)) return CUDA_ERROR_INVALID_VALUE;
    *out = GRANULARITY;
    return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t bytes, size_t align, CUdeviceptr hint,
                             unsigned long long flags) {
    (void)hint; /* a driver may refuse this, too */
    return WITH_DRIVER(reserve_range(out, bytes, align, flags));
}
CUresult cuMemAddressFree(CUdeviceptr start, size_t bytes) {
    return WITH_DRIVER(free_range(start, bytes));
}

/* ---- memory ---- */

static void free_if_unused(struct physical_allocation *p) {
    if (p->references || p->mapped) return;
    wb_free(p->unmapped_backing);
    free(p);
}

static int create_allocation(CUmemGenericAllocationHandle *out, size_t bytes,
                             const CUmemAllocationProp *prop, unsigned long long flags) {
    if (!out || !prop || !is_granule_multiple(bytes) || flags ||
        prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return cudaErrorInvalidValue;
    if (!is_device_location(prop->location))
        return wb_unsupported("cuMemCreate of memory that is not the device's");
    struct physical_allocation *p = calloc(1, sizeof *p);
    if (!p) return cudaErrorMemoryAllocation;
    *p = (struct physical_allocation){.bytes = bytes, .references = 1, .prop = *prop};
    *out = (uint64_t)p;
    return 0;
}

static int release_handle(struct physical_allocation *p) {
    if (!p || !p->references) return cudaErrorInvalidValue;
    p->references--;
    free_if_unused(p);
    return 0;
}

static int retain_handle(CUmemGenericAllocationHandle *out, uint64_t address) {
    struct mapping *m = *find_mapping(address, 1);
    if (!out || !m) return cudaErrorInvalidValue;
    m->allocation->references++;
    *out = (uint64_t)m->allocation;
    return 0;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t bytes,
                     const CUmemAllocationProp *prop, unsigned long long flags) {
    return WITH_DRIVER(create_allocation(out, bytes, prop, flags));
}
CUresult cuMemRelease(CUmemGenericAllocationHandle h) {
    return WITH_DRIVER(release_handle((struct physical_allocation *)h));
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
    return WITH_DRIVER(retain_handle(out, (uint64_t)address));
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle h) {
    if (!out || !h) return CUDA_ERROR_INVALID_VALUE;
    *out = ((struct physical_allocation *)h)->prop;
    return CUDA_SUCCESS;
}

/* ---- memory in ranges ---- */

static bool is_reserved(uint64_t start, uint64_t bytes) {
    for (const struct reserved_range *r = ranges; r; r = r->next)
        if (start >= r->start && start - r->start <= r->bytes &&
            bytes <= r->bytes - (start - r->start))
            return true;
    return false;
}

static int map_allocation(uint64_t start, uint64_t bytes, size_t offset,
                          struct physical_allocation *p, unsigned long long flags) {
    if (!p || offset || flags || !is_granule_multiple(bytes) || start % GRANULARITY ||
        bytes > p->bytes)
        return cudaErrorInvalidValue;
    if (!is_reserved(start, bytes) || *find_mapping(start, bytes)) return cudaErrorInvalidValue;
    if (p->mapped) return wb_unsupported("cuMemMap of memory that is mapped already");
    struct mapping *m = calloc(1, sizeof *m);
    if (!m) return cudaErrorMemoryAllocation;
    *m = (struct mapping){mappings, start, bytes, p, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    mappings = m;
    p->mapped = true;
    int error = p->unmapped_backing ? (int)cudaMemcpy((void *)start, p->unmapped_backing, bytes,
                                                      cudaMemcpyDeviceToDevice)
                                    : 0;
    wb_free(p->unmapped_backing);
    p->unmapped_backing = NULL;
    return error;
}

static int remove_mapping(struct mapping **at) {
    struct mapping *m = *at;
    struct physical_allocation *p = m->allocation;
    int error = p->references ? wb_allocate(&p->unmapped_backing, p->bytes) : 0;
    if (!error && p->unmapped_backing)
        error =
            cudaMemcpy(p->unmapped_backing, (void *)m->start, m->bytes, cudaMemcpyDeviceToDevice);
    p->mapped = false;
    free_if_unused(p);
    *at = m->next;
    free(m);
    return error;
}

/* Returns true if the range consists of whole mappings without a gap. */
static bool is_fully_mapped(uint64_t start, uint64_t bytes) {
    uint64_t mapped_bytes = 0;
    for (const struct mapping *m = mappings; m; m = m->next)
        if (m->start >= start && m->start + m->bytes <= start + bytes) mapped_bytes += m->bytes;
    return mapped_bytes == bytes;
}

static int unmap_range(uint64_t start, uint64_t bytes) {
    if (!bytes || !is_fully_mapped(start, bytes)) return cudaErrorInvalidValue;
    int error = wb_sync_launches(); /* as freeing does */
    while (!error && *find_mapping(start, bytes))
        error = remove_mapping(find_mapping(start, bytes));
    return error;
}

static int set_range_access(uint64_t start, uint64_t bytes, const CUmemAccessDesc *desc, size_t n) {
    if (!desc || !n || !bytes || !is_fully_mapped(start, bytes)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < n; i++)
        if (!is_device_location(desc[i].location)) return cudaErrorInvalidDevice;
    for (struct mapping *m = mappings; m; m = m->next)
        if (m->start >= start && m->start < start + bytes) m->access = desc[n - 1].flags;
    return 0;
}

CUresult cuMemMap(CUdeviceptr start, size_t bytes, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags) {
    return WITH_DRIVER(
        map_allocation(start, bytes, offset, (struct physical_allocation *)h, flags));
}
CUresult cuMemUnmap(CUdeviceptr start, size_t bytes) {
    return WITH_DRIVER(unmap_range(start, bytes));
}
CUresult cuMemSetAccess(CUdeviceptr start, size_t bytes, const CUmemAccessDesc *desc, size_t n) {
    return WITH_DRIVER(set_range_access(start, bytes, desc, n));
}
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr p) {
    const struct mapping *m = *find_mapping(p, 1);
    if (!flags || !location || !m || !is_device_location(*location))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = m->access;
    return CUDA_SUCCESS;
}
