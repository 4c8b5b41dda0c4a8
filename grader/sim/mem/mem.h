/* mem.h — device memory: allocations with redzones in one reserved host range, and the shadow
 * beside it.
 *
 * Device address SIM_BASE + n is byte n of `bytes`, a range reserved without cost; pages appear
 * when touched. First lies memory that host and device share (the pages of a memory file), then
 * what the device takes for itself, then device memory proper, from SIM_DEVICE_BASE on. Whether an
 * address may be used is decided by the allocation table alone. The shadow holds a byte for each
 * byte, by value (core/undef.h): bits would need a read-modify-write that two workers could lose.
 */
#pragma once
#include "grader/sim/sim.h"

enum { MEM_ALIGN = 512, MEM_REDZONE = 512, MEM_PAGE = 4096 /* at least */, MEM_MAX_SHARES = 32 };

/* Places that were freed are left alone, so that a use after free is found, until so many wait, or
 * so many bytes. */
enum { MEM_QUARANTINE_COUNT = 1024 };
#define MEM_QUARANTINE_BYTES (256ull << 20)

enum memory_region { MEM_HOST_SHARED, MEM_INTERNAL, MEM_DEVICE, MEM_REGION_COUNT };

/* HIDDEN: the host's, while a kernel runs. */
enum allocation_state { ALLOCATION_LIVE, ALLOCATION_FREED, ALLOCATION_HIDDEN };

struct allocation {
    uint64_t start, size; /* start: offset from SIM_BASE */
    uint8_t state;
    bool is_constant;     /* kernels may not write */
    bool is_module_var;   /* a module's variable: sim_reset keeps it and restores its value */
    bool is_race_checked; /* the launch at hand may change it: races are looked for
                             (race/writable_allocations.c) */
    uint8_t region;       /* what is not MEM_DEVICE counts for no limit */
    bool is_host;         /* stands for memory of the host: copies reach it, kernels do not */
    bool is_page_aligned; /* it begins a page and has its last one for itself: may be shared with
                   another process */
    bool is_initialized;  /* every byte is known to be written: the shadow need not be read */
    uint64_t initialized_prefix; /* else: so many from the first on are, as far as
                                    memory_update_initialized() has looked */
    uint32_t serial;             /* order of allocation, for reports */
    uint32_t free_serial;        /* order of freeing */
    char name[48];
};

struct memory {
    unsigned char *bytes;
    unsigned char
        *init_shadow; /* same indexing as bytes: 0 no, 1 yes, else an undefined value was stored */
    struct allocation
        *allocations; /* sorted by start; freed ones stay until their place is reused */
    unsigned count, capacity;
    uint64_t limit, used, next_serial;
    uint64_t top; /* end of what was ever allocated since the last scrub */
    struct {
        uint64_t low, high;    /* offsets */
        uint64_t top;          /* end of what was ever allocated */
        uint64_t search_start; /* where the search for a freed place goes on */
        uint64_t quarantine_bytes;
        unsigned quarantine_count; /* in the table */
    } regions[MEM_REGION_COUNT];
    uint32_t next_free_serial;
    bool has_host_shared; /* the region has a memory file behind it */
    struct {
        uint64_t start, bytes;
    } shared_ranges[MEM_MAX_SHARES]; /* ranges that are pages of a memory file */
    unsigned nshared_ranges;
    bool has_undef_marks; /* undefined values were stored: the shadow may hold marks (core/undef.h)
                           */
};

/* Once, where shadows of large inputs are to cost little; before a process locks itself in, since
 * it makes a memory file. */
void memory_init_before_sandbox(void);
bool memory_open(struct memory *m, uint64_t limit, struct err *e);
void memory_close(struct memory *m);
/* Puts the pages of a memory file, SIM_HOST_SHARED_BYTES from `offset` on, behind the shared
 * region. */
bool memory_map_host_shared(struct memory *m, int fd, uint64_t offset);
/* 0 = does not fit. */
uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name);
/* The same in pages of its own. */
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name);
/* What a device takes for itself while kernels run, such as their heap: it moves no allocation that
 * a host asks for before or after, and takes none of its room. */
uint64_t memory_alloc_internal(struct memory *m, uint64_t bytes, const char *name);
/* Of what host and device both see; every byte counts as written. 0 without memory_map_host_shared.
 */
uint64_t memory_alloc_host_shared(struct memory *m, uint64_t bytes, const char *name);
/* Whether kernels run, which find no memory of the host. */
void memory_set_host_hidden(struct memory *m, bool hidden);
/* Lets pages of a memory file be the memory of such an allocation; it keeps them until
 * memory_unmap_shared_pages. */
bool memory_map_shared_pages(struct memory *m, uint64_t address, int fd, uint64_t offset);
void memory_unmap_shared_pages(struct memory *m);
/* Gives back every page: all bytes are zero, but for what is shared. What is allocated stays so. */
void memory_release_pages(struct memory *m);
enum sim_status memory_free(struct memory *m, uint64_t address);
/* Frees all but modules' variables and forgets where it was. */
void memory_free_all(struct memory *m);
/* Zero bytes; pages are given back where that is less work. */
void memory_zero(struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the live allocation that holds the whole range [address, address + bytes), else -1. */
int memory_find_range(const struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the last allocation (of any state) that starts at or before the address, else -1. */
int memory_find_preceding(const struct memory *m, uint64_t address);
struct allocation *memory_find_allocation(struct memory *m, uint64_t address);
uint64_t memory_page(void); /* bytes */
/* Bytes of address space behind SIM_BASE that allocations may lie in; and what those lie in that
 * there are or were. */
uint64_t memory_span(const struct memory *m);
uint64_t memory_used_span(const struct memory *m);
void memory_set_initialized(struct memory *m, uint64_t address, uint64_t bytes,
                            bool is_initialized);
bool memory_is_initialized(const struct memory *m, uint64_t address, uint64_t bytes);
/* Some of it may no longer be. */
static inline void memory_invalidate_initialized(struct allocation *a) {
    a->is_initialized = a->region == MEM_HOST_SHARED;
    a->initialized_prefix = 0;
}
/* After a launch that kept the shadow: finds allocations that are written as a whole by now. Looks
 * at each byte once, in all. */
void memory_update_initialized(struct memory *m);
/* One phrase that says where an address lies: "4 bytes past the end of `out` (4096 bytes)". */
void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out,
                     size_t size);
/* The same, told from allocation `i` of the table, in which the address was meant to lie. */
void memory_describe_relative(const struct memory *m, int i, uint64_t address, unsigned width,
                              char *out, size_t size);
/* The same by elements where it lies in an allocation: "element 3 of `out` (4096 bytes)", else
 * "memory at byte 14 of …". */
void memory_describe_element(const struct memory *m, uint64_t address, unsigned width, char *out,
                             size_t size);
