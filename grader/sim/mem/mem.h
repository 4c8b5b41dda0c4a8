/* mem.h — device memory: allocations with redzones in one reserved range of host addresses, and
 * their initialization shadow. sim.c and core use it.
 *
 * Device address SIM_BASE + n is byte n of `bytes`, for n from memory_start() to memory_end().
 * Reserving the range costs no memory: the host adds a page when it is first touched. It has three
 * regions: MEM_HOST_SHARED, pages of a memfd (see memfd_create(2)) that host and device share;
 * MEM_INTERNAL, what the device takes for itself, such as its heap; MEM_DEVICE, all other memory,
 * from SIM_DEVICE_BASE on. Only the allocation table decides which addresses are valid. The
 * initialization shadow says of each byte, in a byte, whether it is initialized (core/undef.h):
 * with bits, two threads that write the same shadow byte could lose an update. */
#pragma once
#include "grader/sim/sim.h"

enum {
    MEM_ALIGN = 512,
    MEM_REDZONE = 512,
    MEM_MIN_PAGE = 4096, /* the host's pages may be larger: memory_page_size() */
    MEM_MAX_MAPPED_RANGES = 32
};

/* Freed ranges wait in a region's quarantine, so that a use after free is found. They are reused
 * only while it holds at least MEM_QUARANTINE_COUNT allocations or MEM_QUARANTINE_BYTES, or if
 * there is no other space. */
enum { MEM_QUARANTINE_COUNT = 1024 };
#define MEM_QUARANTINE_BYTES (256ull << 20)

enum memory_region { MEM_HOST_SHARED, MEM_INTERNAL, MEM_DEVICE, MEM_REGION_COUNT };

/* HIDDEN: while a kernel runs, an allocation that it can't access: it has is_pinned_host, or
 * belongs to another device. An access is reported as an invalid address. */
enum allocation_state { ALLOCATION_LIVE, ALLOCATION_FREED, ALLOCATION_HIDDEN };

struct allocation {
    uint64_t start, size; /* start: offset from SIM_BASE */
    uint8_t state;        /* enum allocation_state */
    bool is_constant;     /* kernels may not write */
    /* A `__device__` or `__constant__` variable: sim_reset keeps it and restores its initial value.
     */
    bool is_module_var;
    /* The running launch may write it, so its accesses are checked for races
     * (race/writable_allocations.c). */
    bool is_race_checked;
    uint8_t region; /* enum memory_region; only MEM_DEVICE counts toward the limit */
    uint8_t device; /* the device that was selected; kernels of others may not access MEM_DEVICE */
    /* In MEM_DEVICE; stands for a pinned buffer of the host: copies may access it, kernels not. */
    bool is_pinned_host;
    bool is_page_aligned; /* begins at a page and shares no page: another process may map it */
    bool is_initialized;  /* every byte is known to be initialized: no need to read the shadow */
    /* Length of the leading part that is known to be initialized; not used once is_initialized is
     * set. */
    uint64_t initialized_prefix;
    uint32_t serial;      /* order of allocation, for reports */
    uint32_t free_serial; /* order of freeing */
    char name[48];
};

/* Whole pages. */
struct memory_page_range {
    uint64_t start, bytes; /* start: offset from SIM_BASE */
};

struct memory {
    unsigned char *bytes;
    unsigned char *init_shadow; /* indexed as `bytes`; values: core/undef.h */
    /* Sorted by start; freed ones stay until their range is reused. */
    struct allocation *allocations;
    unsigned count, capacity;
    uint64_t limit, used;              /* bytes of MEM_DEVICE: allowed a device, allocated in all */
    uint64_t spare_host_bytes;         /* sim_options.spare_host_bytes */
    unsigned ndevices, device;         /* device: the selected one, which owns new allocations */
    uint64_t used_by[SIM_MAX_DEVICES]; /* bytes of MEM_DEVICE, by device */
    /* The pages above it are zero: the highest end of an allocation that has lived since
     * memory_release_pages. */
    uint64_t dirty_end;
    struct {
        uint64_t low, high;     /* offsets */
        uint64_t ever_used_end; /* end of all that was ever allocated */
        uint64_t search_start;  /* where the search for a gap continues */
        uint64_t quarantine_bytes;
        unsigned quarantine_count; /* freed allocations in the table */
    } regions[MEM_REGION_COUNT];
    uint32_t next_serial, next_free_serial;
    bool has_host_shared; /* a memfd backs the region MEM_HOST_SHARED */
    /* Device memory that a given memfd backs; that the export file backs, at equal offsets. */
    struct memory_page_range mapped_ranges[MEM_MAX_MAPPED_RANGES], *exported_ranges;
    unsigned nmapped_ranges, nexported_ranges, exported_capacity;
    bool has_export_file;
    int export_file;
    bool has_undef_marks; /* the shadow may hold marks of undefined values (core/undef.h) */
};

/* Creates a memfd whose bytes all mean "initialized". The shadow of a large input maps its pages
 * repeatedly instead of taking memory. If that fails, shadows take ordinary memory. Call it once,
 * before the process enters its sandbox. */
void memory_create_shadow_file(void);
/* Reserves the range of addresses; `limit`: bytes of device memory. */
bool memory_open(struct memory *m, uint64_t limit, struct err *e);
/* Divides the limit among several devices. Call it before any allocation. */
void memory_set_devices(struct memory *m, unsigned ndevices);
void memory_close(struct memory *m);
/* Maps SIM_HOST_SHARED_BYTES of a memfd, from `offset` on, as the region MEM_HOST_SHARED. */
bool memory_map_host_shared(struct memory *m, int fd, uint64_t offset);
/* Returns the address, or 0 if it does not fit. */
uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name);
/* Allocates whole pages. */
uint64_t memory_alloc_pages(struct memory *m, uint64_t bytes, const char *name);
/* Allocates memory that the device takes for itself, such as the device heap. It has a region of
 * its own, so it never changes the addresses, or the space, of the host's allocations. */
uint64_t memory_alloc_internal(struct memory *m, uint64_t bytes, const char *name);
/* Allocates in MEM_HOST_SHARED; every byte counts as initialized. Returns 0 if
 * memory_map_host_shared has not been called. */
uint64_t memory_alloc_host_shared(struct memory *m, uint64_t bytes, const char *name);
/* Hides pinned host memory from a kernel while it runs, and memory of devices that are not in
 * `accessible`, a bit for each. memory_show_all ends that. */
void memory_hide_from_kernel(struct memory *m, uint32_t accessible);
void memory_show_all(struct memory *m);
/* Backs an allocation of memory_alloc_pages with pages of a memfd, until it is freed or
 * memory_unmap_file_pages, which gives all such allocations fresh pages of zeroes. */
bool memory_map_file_pages(struct memory *m, uint64_t address, int fd, uint64_t offset);
void memory_unmap_file_pages(struct memory *m);
void memory_unmap_freed(struct memory *m, const struct allocation *a);
/* Moves the pages of an allocation to the device's memfd, which keeps its bytes. Another device may
 * map it there, from `*offset` on. */
bool memory_export_pages(struct memory *m, uint64_t address, int *fd, uint64_t *offset);
void memory_close_export(struct memory *m);
/* Releases every page: all bytes become zero, except in mapped_ranges. Allocations stay. */
void memory_release_pages(struct memory *m);
/* Frees the allocation that starts at the address; returns SIM_BAD_ADDRESS if there is none. */
enum sim_status memory_free(struct memory *m, uint64_t address);
/* Frees everything but module variables, and removes freed allocations from the table. */
void memory_free_all(struct memory *m);
/* Zeroes bytes; releases pages where that is faster. */
void memory_zero(struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the live allocation that holds the whole range [address, address + bytes), else -1. */
int memory_find_range(const struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the last allocation (of any state) that starts at or before the address, else -1. */
int memory_find_preceding(const struct memory *m, uint64_t address);
/* Returns the live allocation that holds the address, or is empty and starts there; else NULL. */
struct allocation *memory_find_allocation(struct memory *m, uint64_t address);
uint64_t memory_page_size(void);
/* Bounds of the reserved range, as offsets from SIM_BASE. */
uint64_t memory_start(const struct memory *m);
uint64_t memory_end(const struct memory *m);
/* Bounds of all allocations that have lived since memory_release_pages, as offsets from SIM_BASE.
 * They are rounded outwards, so that they seldom change: the shadow of races (race/shadow.c)
 * begins anew when they do. */
uint64_t memory_used_start(const struct memory *m);
uint64_t memory_used_end(const struct memory *m);
/* Returns true if a limit of address space (`ulimit -v`) made memory_open() reserve less. */
bool memory_is_address_limited(const struct memory *m);
/* Marks a range as initialized, or as uninitialized. */
void memory_set_initialized(struct memory *m, uint64_t address, uint64_t bytes,
                            bool is_initialized);
bool memory_is_initialized(const struct memory *m, uint64_t address, uint64_t bytes);
/* Clears what is known of the allocation's initialization. Memory that host and device share always
 * counts as initialized. */
static inline void memory_forget_initialized(struct allocation *a) {
    a->is_initialized = a->region == MEM_HOST_SHARED;
    a->initialized_prefix = 0;
}
/* Marks all live allocations as initialized. */
void memory_set_all_initialized(struct memory *m);
/* Sets is_initialized for each allocation whose shadow says that every byte is initialized. Call it
 * after a launch with the sanitizer. It continues at initialized_prefix, so no byte is checked
 * twice. */
void memory_update_initialized(struct memory *m);
/* Writes a phrase that locates an address: "4 bytes past the end of `out` (4096 bytes)". */
void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out,
                     size_t size);
/* The same relative to allocation `i` of the table, the one that the access was meant for. */
void memory_describe_relative(const struct memory *m, int i, uint64_t address, unsigned width,
                              char *out, size_t size);
/* The same in elements of `width` bytes: "element 3 of `out` (4096 bytes)". If the address is in no
 * allocation, or not where an element begins, writes "memory " and the phrase of memory_describe.
 */
void memory_describe_element(const struct memory *m, uint64_t address, unsigned width, char *out,
                             size_t size);
/* Sets a hash of the live allocations: addresses, sizes, bytes, initialization shadow. */
void memory_state_hash(const struct memory *m, uint64_t out[SIM_HASH_WORDS]);
