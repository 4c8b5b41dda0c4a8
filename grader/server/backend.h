/* backend.h — what the device server asks of a device: the simulated GPU, or a real one through the
 * driver.
 *
 * A backend belongs to one thread. Addresses are 64-bit numbers that mean something on the device
 * only. Allocation is deterministic: after `reset`, the same calls give the same addresses. */
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
    int error;      /* a cudaError_t that poisons the context, or 0 */
    double seconds; /* device time */
    bool measured;  /* by a clock, not by a model */
    struct time_estimate
        estimate; /* simulated GPU, where timing was asked for: seconds > 0, else all zero */
    struct sim_result sim; /* counters, lines, reports: simulated GPU only; else zero */
};

struct backend {
    const struct backend_ops *ops;
    const struct gpu_device *device;
    uint64_t base, span;   /* where device addresses lie */
    uint64_t memory_bytes; /* device memory in all */
};

struct backend_ops {
    void (*close)(struct backend *);
    /* Frees all allocations, puts module variables back to their initial values; modules stay. */
    void (*reset)(struct backend *);
    /* Frees all allocations; module variables stay as they are. */
    void (*free_all)(struct backend *);

    /* A fat binary as nvcc embeds it. 0, or a cudaError_t with the reason in `e`. */
    int (*load)(struct backend *, const void *image, size_t size, void **module, struct err *e);
    void (*unload)(struct backend *, void *module);
    bool (*find_kernel)(struct backend *, void *module, const char *name,
                        struct backend_kernel *out);
    bool (*find_symbol)(struct backend *, void *module, const char *name, uint64_t *address,
                        uint64_t *bytes);

    uint64_t (*alloc)(struct backend *, uint64_t bytes, const char *name); /* 0 = out of memory */
    /* For a problem's buffers, which another process fills and looks at. alloc_pages as alloc, in
     * pages of its own; share makes these the pages of a memory file, until unshare; NULL where a
     * device cannot, then data is copied. mark says that a range was written there, or that what it
     * holds counts as never written. */
    uint64_t (*alloc_pages)(struct backend *, uint64_t bytes, const char *name);
    /* The same for a buffer in pinned memory of the host: an address of the device's range stands
     * for it, which copies know and kernels must not use. */
    uint64_t (*alloc_host)(struct backend *, uint64_t bytes, const char *name);
    /* Memory that host and device share: the pages of a file, from `offset` on; `base` is the
     * address of the first. How many bytes, 0 = there can be none. NULL where a device cannot. */
    uint64_t (*map_shared)(struct backend *, int fd, uint64_t offset);
    uint64_t (*alloc_shared)(struct backend *, uint64_t bytes, const char *name);
    bool (*share_pages)(struct backend *, uint64_t address, int fd, uint64_t offset);
    void (*unshare_pages)(struct backend *);
    bool (*mark_contents)(struct backend *, uint64_t address, uint64_t bytes, bool written);
    bool (*free)(struct backend *, uint64_t address);
    bool (*find_allocation)(struct backend *, uint64_t address, uint64_t *start, uint64_t *bytes);
    uint64_t (*memory_used)(struct backend *);
    /* False: the range does not lie in one allocation. */
    bool (*write)(struct backend *, uint64_t to, const void *data, uint64_t bytes);
    bool (*read)(struct backend *, uint64_t from, void *data, uint64_t bytes);
    bool (*fill)(struct backend *, uint64_t to, uint8_t value, uint64_t bytes);
    bool (*copy)(struct backend *, uint64_t to, uint64_t from, uint64_t bytes);

    /* Whether a range holds values that came from reads of what nothing wrote; told once. NULL
     * where a device cannot say. */
    bool (*check_initialized)(struct backend *, uint64_t from, uint64_t bytes,
                              struct sim_report *out);

    /* Races between streams, of the commands that follow (sim.h). NULL where a device cannot look
     * for them. */
    void (*set_stream_clock)(struct backend *, const struct sim_stream_clock *);
    bool (*check_host_access)(struct backend *, const char *description,
                              const struct sim_strided_range *, struct sim_report *out);

    /* Textures and surfaces: a handle, or 0. NULL where a device has none for us. */
    uint64_t (*texture_create)(struct backend *, const struct sim_texture *);
    bool (*texture_destroy)(struct backend *, uint64_t handle);

    /* 0, or what a launch of that configuration would return, with the reason in `e`. */
    int (*check_launch)(struct backend *, const struct backend_launch *, struct err *e);
    /* Runs to the end. `out->sim` is the caller's to free with sim_result_free. */
    void (*launch)(struct backend *, const struct backend_launch *, struct backend_result *out);
    unsigned (*occupancy)(struct backend *, const void *kernel, unsigned threads,
                          unsigned dynamic_shared);
    /* Wall-clock seconds that a launch may take from now on, a backstop; 0 = the backend's own
     * limit. */
    void (*set_time_limit)(struct backend *, double seconds);
    void (*drain_output)(struct backend *, struct buf *out, struct buf *errors);
    /* Bytes of device malloc's heap; false: too many. NULL where a device has its own. */
    bool (*set_heap_size)(struct backend *, uint64_t bytes);
};

/* NULL with the reason in `e`. `instructions` is the budget of a launch in warp instructions, 0 =
 * none. */
/* Where ptxas is, which tells registers before a kernel is found, and where its answers are kept;
 * `failed`: what it said against the code. Not for foreign PTX: it runs unprotected. */
struct backend_ptxas {
    const char *path, *cache;
    void *user;
    void (*on_failure)(void *user, const char *text);
};
void backend_sim_set_ptxas(struct backend *b, const struct backend_ptxas *p);
struct backend *backend_sim_open(const struct sim_options *o, struct err *e);
/* The simulator behind it, for callers that ask more of it than a server does. */
struct sim *backend_sim(struct backend *b);
/* Whether later launches are timed by the replay model (grader/sim/timing), which takes its share
 * of host time, or roughly, from their counters. Launches that are sampled (sim_set_sample) are
 * timed in any case. */
void backend_sim_set_timing(struct backend *b, bool on);
void backend_sim_set_cold_l2(struct backend *b,
                             bool on); /* no launch finds in L2 what others left there */
/* The budget that later launches share, in warp instructions, whole again at each call; 0 = none.
 */
void backend_sim_set_instruction_budget(struct backend *b, uint64_t budget);
