/* mem.h — device memory: allocations with redzones in one reserved range of host addresses, and
 * their shadow. sim.c and core use it.
 *
 * Device address SIM_BASE + n is byte n of `bytes`. The range is reserved without cost; pages
 * appear when touched. First comes memory that host and device share (the pages of a memory file),
 * then memory that the device takes for itself, then device memory proper, from SIM_DEVICE_BASE on.
 * Only the allocation table decides which addresses are valid. The shadow holds one byte for each
 * byte of memory (core/undef.h): bits would need a read-modify-write, in which two workers could
 * lose an update. */
#pragma once
#include "grader/sim/sim.h"

enum { MEM_ALIGN = 512, MEM_REDZONE = 512, MEM_PAGE = 4096 /* at least */, MEM_MAX_SHARES = 32 };

/* Freed places are not reused, so that a use after free is found, until the quarantine holds this
 * many allocations or bytes. */
enum { MEM_QUARANTINE_COUNT = 1024 };
#define MEM_QUARANTINE_BYTES (256ull << 20)

enum memory_region { MEM_HOST_SHARED, MEM_INTERNAL, MEM_DEVICE, MEM_REGION_COUNT };

/* HIDDEN: host memory while a kernel runs. */
enum allocation_state { ALLOCATION_LIVE, ALLOCATION_FREED, ALLOCATION_HIDDEN };

struct allocation {
    uint64_t start, size; /* start: offset from SIM_BASE */
    uint8_t state;
    bool is_constant;   /* kernels may not write */
    bool is_module_var; /* a module variable: sim_reset keeps it and restores its value */
    /* the running launch may write it, so races are checked (race/writable_allocations.c) */
    bool is_race_checked;
    uint8_t region;       /* enum memory_region; only MEM_DEVICE counts for the limit */
    bool is_host;         /* stands for pinned host memory: copies may access it, kernels may not */
    bool is_page_aligned; /* begins at a page and shares no page: another process may map it */
    bool is_initialized;  /* every byte is known to be initialized: no need to read the shadow */
    /* else: this many bytes from the start are, as far as memory_update_initialized has checked */
    uint64_t initialized_prefix;
    uint32_t serial;      /* order of allocation, for reports */
    uint32_t free_serial; /* order of freeing */
    char name[48];
};

struct memory {
    unsigned char *bytes;
    unsigned char *init_shadow; /* indexed as `bytes`; values: core/undef.h */
    /* Sorted by start; freed ones stay until their place is reused. */
    struct allocation *allocations;
    unsigned count, capacity;
    uint64_t limit, used, next_serial;
    uint64_t top; /* highest end of an allocation since the last scrub */
    struct {
        uint64_t low, high;    /* offsets */
        uint64_t top;          /* end of what was ever allocated */
        uint64_t search_start; /* where the search for a gap continues */
        uint64_t quarantine_bytes;
        unsigned quarantine_count; /* freed allocations in the table */
    } regions[MEM_REGION_COUNT];
    uint32_t next_free_serial;
    bool has_host_shared; /* a memory file backs the region */
    struct {
        uint64_t start, bytes;
    } shared_ranges[MEM_MAX_SHARES]; /* ranges that a memory file backs */
    unsigned nshared_ranges;
    bool has_undef_marks; /* undefined values were stored: the shadow may hold marks */
};

/* Makes a memory file that lets shadows of large inputs cost little memory. Call it once, before
 * the process enters its sandbox. */
void memory_init_before_sandbox(void);
bool memory_open(struct memory *m, uint64_t limit, struct err *e);
void memory_close(struct memory *m);
/* Maps SIM_HOST_SHARED_BYTES of a memory file, from `offset` on, as the shared region. */
bool memory_map_host_shared(struct memory *m, int fd, uint64_t offset);
/* Returns the address, or 0 if it does not fit. */
uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name);
/* Allocates whole pages. */
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name);
/* Allocates memory that the device takes for itself, such as the device heap. It has a region of
 * its own, so it never changes the addresses, or the space, of the host's allocations. */
uint64_t memory_alloc_internal(struct memory *m, uint64_t bytes, const char *name);
/* Allocates memory that host and device share; every byte counts as initialized. Returns 0 without
 * memory_map_host_shared. */
uint64_t memory_alloc_host_shared(struct memory *m, uint64_t bytes, const char *name);
/* Hides host memory while kernels run. */
void memory_set_host_hidden(struct memory *m, bool hidden);
/* Backs an allocation of memory_alloc_pages with pages of a memory file, until
 * memory_unmap_shared_pages. */
bool memory_map_shared_pages(struct memory *m, uint64_t address, int fd, uint64_t offset);
void memory_unmap_shared_pages(struct memory *m);
/* Releases every page: all bytes become zero, except in shared ranges. Allocations stay. */
void memory_release_pages(struct memory *m);
enum sim_status memory_free(struct memory *m, uint64_t address);
/* Frees everything but module variables and clears the table of freed places. */
void memory_free_all(struct memory *m);
/* Zeroes bytes; releases pages where that is faster. */
void memory_zero(struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the live allocation that holds the whole range [address, address + bytes), else -1. */
int memory_find_range(const struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the last allocation (of any state) that starts at or before the address, else -1. */
int memory_find_preceding(const struct memory *m, uint64_t address);
struct allocation *memory_find_allocation(struct memory *m, uint64_t address);
uint64_t memory_page(void); /* bytes */
/* Bytes from SIM_BASE on that allocations may occupy; that present and past allocations do occupy.
 */
uint64_t memory_span(const struct memory *m);
uint64_t memory_used_span(const struct memory *m);
void memory_set_initialized(struct memory *m, uint64_t address, uint64_t bytes,
                            bool is_initialized);
bool memory_is_initialized(const struct memory *m, uint64_t address, uint64_t bytes);
/* Notes that the allocation may have uninitialized bytes now. */
static inline void memory_invalidate_initialized(struct allocation *a) {
    a->is_initialized = a->region == MEM_HOST_SHARED;
    a->initialized_prefix = 0;
}
/* Marks all live allocations as initialized. */
void memory_set_all_initialized(struct memory *m);
/* Finds allocations that are fully initialized, after a launch with the sanitizer. Over time it
 * checks each byte once. */
void memory_update_initialized(struct memory *m);
/* Writes a phrase that locates an address: "4 bytes past the end of `out` (4096 bytes)". */
void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out,
                     size_t size);
/* The same relative to allocation `i` of the table, for which the access was meant. */
void memory_describe_relative(const struct memory *m, int i, uint64_t address, unsigned width,
                              char *out, size_t size);
/* The same in elements, if the address is in an allocation: "element 3 of `out` (4096 bytes)", else
 * "memory at byte 14 of …". */
void memory_describe_element(const struct memory *m, uint64_t address, unsigned width, char *out,
                             size_t size);
