/* backend.h — the interface between the device server and a device: the simulated GPU, or a real
 * one through the CUDA driver.
 *
 * A backend belongs to one thread. Addresses are 64-bit numbers, valid on the device only.
 * Allocation is deterministic: after `reset`, the same calls give the same addresses. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "grader/sim/sim.h"
#include "grader/sim/timing/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backend_kernel {
    const void *handle; /* belongs to its module */
    struct sim_kernel_info info;
};

struct backend_launch {
    const void *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *params;
    uint32_t param_bytes;
    bool cooperative;
    uint32_t cluster[3]; /* as in struct sim_launch */
    bool large_clusters;
};

struct backend_result {
    int error;                     /* a cudaError_t that poisons the context, or 0 */
    double seconds;                /* device time */
    bool measured;                 /* by a clock, not by a model */
    struct time_estimate estimate; /* simulated GPU with timing: seconds > 0; else all zero */
    struct sim_result sim;         /* counters, lines, reports: simulated GPU only; else zero */
};

/* Of all device memory, and of which bytes count as initialized. */
struct backend_hash {
    uint64_t words[SIM_HASH_WORDS];
};

struct backend {
    const struct backend_ops *ops;
    const struct gpu_device *device;
    uint64_t base, span;   /* range of device addresses */
    uint64_t memory_bytes; /* device memory of each device */
    unsigned ndevices;     /* equal devices in one range of addresses */
};

struct backend_ops {
    void (*close)(struct backend *);
    /* Frees all allocations, puts module variables back to their initial values; modules stay. */
    void (*reset)(struct backend *);
    /* Frees all allocations; module variables stay as they are. */
    void (*free_all)(struct backend *);
    /* Several devices (sim.h): selects one for the calls that follow; returns the owner of an
     * allocation; resets the selected one. NULL if there is one device. */
    void (*select_device)(struct backend *, unsigned device, uint32_t accessible);
    unsigned (*device_of)(struct backend *, uint64_t address);
    void (*reset_device)(struct backend *);

    /* A fat binary as nvcc embeds it. 0, or a cudaError_t with the reason in `e`. */
    int (*load)(struct backend *, const void *image, size_t size, void **module, struct err *e);
    void (*unload)(struct backend *, void *module);
    bool (*find_kernel)(struct backend *, void *module, const char *name,
                        struct backend_kernel *out);
    bool (*find_symbol)(struct backend *, void *module, const char *name, uint64_t *address,
                        uint64_t *bytes);

    uint64_t (*alloc)(struct backend *, uint64_t bytes, const char *name); /* 0 = out of memory */
    /* For a problem's buffers, which another process uses too. alloc_pages is alloc on
     * separate pages. share_pages maps a memory file there until unshare_pages; NULL if a device
     * cannot, then data is copied. mark_contents marks a range as written or as uninitialized. */
    uint64_t (*alloc_pages)(struct backend *, uint64_t bytes, const char *name);
    /* Like alloc_pages, for a buffer in pinned host memory. It gets an address in the device's
     * range that copies accept and kernels must not use. */
    uint64_t (*alloc_host)(struct backend *, uint64_t bytes, const char *name);
    /* Memory that host and device share: maps a file from `offset` on at `base`. Returns its bytes,
     * 0 = none. NULL if a device cannot share memory. */
    uint64_t (*map_shared)(struct backend *, int fd, uint64_t offset);
    uint64_t (*alloc_shared)(struct backend *, uint64_t bytes, const char *name);
    bool (*share_pages)(struct backend *, uint64_t address, int fd, uint64_t offset);
    void (*unshare_pages)(struct backend *);
    /* For processes that share an allocation: moves its pages to a memory file of the device. They
     * begin at `*offset`, with the page of its first byte. NULL if a device cannot. */
    bool (*export_pages)(struct backend *, uint64_t address, int *fd, uint64_t *offset);
    bool (*mark_contents)(struct backend *, uint64_t address, uint64_t bytes, bool written);
    bool (*free)(struct backend *, uint64_t address);
    bool (*find_allocation)(struct backend *, uint64_t address, uint64_t *start, uint64_t *bytes);
    uint64_t (*memory_used)(struct backend *);
    /* Returns false if the range does not lie in one allocation. */
    bool (*write)(struct backend *, uint64_t to, const void *data, uint64_t bytes);
    bool (*read)(struct backend *, uint64_t from, void *data, uint64_t bytes);
    bool (*fill)(struct backend *, uint64_t to, uint8_t value, uint64_t bytes);
    bool (*copy)(struct backend *, uint64_t to, uint64_t from, uint64_t bytes);

    /* Equal hashes mean equal memory. NULL if a device can't tell. */
    void (*memory_state_hash)(struct backend *, struct backend_hash *out);

    /* Returns true with a report if a range holds values from uninitialized reads, each only
     * once. NULL if a device cannot check this. */
    bool (*check_initialized)(struct backend *, uint64_t from, uint64_t bytes,
                              struct sim_report *out);

    /* Sets the stream order of the following commands, to detect stream races (sim.h). NULL if a
     * device cannot check them. */
    void (*set_stream_clock)(struct backend *, const struct sim_stream_clock *);
    bool (*check_host_access)(struct backend *, const char *description,
                              const struct sim_strided_range *, struct sim_report *out);
    unsigned (*list_accesses)(struct backend *, uint64_t low, uint64_t high,
                              struct sim_access_run *out, unsigned max); /* sim_list_accesses */

    /* Textures and surfaces: returns a handle, or 0. NULL if the backend has none. */
    uint64_t (*texture_create)(struct backend *, const struct sim_texture *);
    bool (*texture_destroy)(struct backend *, uint64_t handle);

    /* Returns 0, or the error that such a launch would return, with the reason in `e`. */
    int (*check_launch)(struct backend *, const struct backend_launch *, struct err *e);
    /* Returns when the kernel has ended. The caller frees `out->sim` with sim_result_free. */
    void (*launch)(struct backend *, const struct backend_launch *, struct backend_result *out);
    unsigned (*occupancy)(struct backend *, const void *kernel, unsigned threads,
                          unsigned dynamic_shared);
    /* Sets the wall-clock limit of each launch in seconds, a backstop; 0 = the backend's own
     * limit. */
    void (*set_time_limit)(struct backend *, double seconds);
    void (*drain_output)(struct backend *, struct buf *out, struct buf *errors);
    /* Sets the bytes of device malloc's heap. Returns false if there are too many. NULL if a device
     * has its own heap. */
    bool (*set_heap_size)(struct backend *, uint64_t bytes);
};

/* Paths of ptxas, which reports a kernel's registers, and of the cache of its output. `on_failure`
 * receives its errors. Not for untrusted PTX, because ptxas runs here outside the sandbox. */
struct backend_ptxas {
    const char *path, *cache;
    void *user;
    void (*on_failure)(void *user, const char *text);
};
/* Makes ptxas find each kernel's registers and spills; without it, they are estimated. */
void backend_sim_set_ptxas(struct backend *b, const struct backend_ptxas *p);
/* Returns NULL with the reason in `e` on failure. */
struct backend *backend_sim_open(const struct sim_options *o, struct err *e);
/* Returns the simulator, for callers that need more of it than the server does. */
struct sim *backend_sim(struct backend *b);
/* Selects how later launches are timed: by the slower replay model (grader/sim/timing), or roughly,
 * from their counters. Sampled launches (sim_set_sample) always use the replay model. */
void backend_sim_set_timing(struct backend *b, bool on);
/* If on, every launch starts with an L2 that holds none of its data; with empty caches, nothing
 * that would have to be written back. */
void backend_sim_set_cold_l2(struct backend *b, bool on);
void backend_sim_set_empty_caches(struct backend *b, bool on);
/* Sets the budget in warp instructions that all later launches share; 0 = none. */
void backend_sim_set_instruction_budget(struct backend *b, uint64_t budget);
