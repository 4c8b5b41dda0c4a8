/* sim.h — the simulated GPU: memory, modules, launches, counters. Knows nothing of grading or
 * processes.
 *
 *   struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200")}, &err);
 *   uint64_t in = sim_alloc(s, bytes, "in");
 *   struct sim_module *m = sim_load(s, ptx, length, &err);
 *   sim_launch(s, &(struct sim_launch){.kernel = sim_find_kernel(m, "k"), ...}, &result);
 *
 * One thread drives a sim; a launch itself may use several worker threads. Same calls, same inputs:
 * same outputs and counters, whatever the number of workers. Nothing a kernel does ends the
 * process: it ends as a `sim_fault` in the result. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- counters: docs/counters.md defines each; counters.def is the one list ---- */

struct sim_counters {
#define COUNTER(name, merge, text) uint64_t name;
#include "grader/sim/count/counters.def"
#undef COUNTER
};

/* In the order of counters.def. */
unsigned sim_counter_count(void);
const char *sim_counter_name(unsigned i);
/* The counter's key under schema 1 of our JSON, or NULL where it has not changed. */
const char *sim_counter_name_v1(unsigned i);
uint64_t sim_counter_get(const struct sim_counters *c, unsigned i);
/* Adds, or keeps the larger, as counters.def says of each. */
void sim_counters_add(struct sim_counters *to, const struct sim_counters *from);
/* Makes sums over `part` blocks sums over `whole` of them. */
void sim_counters_scale(struct sim_counters *c, uint64_t total_blocks, uint64_t sampled_blocks);

/* Stall reasons of the time model, by Nsight Compute's names. X(id, text). Nsight has one long
 * scoreboard; the model splits it by the level that answers. */
/* clang-format off */
#define SIM_STALL_REASONS(X)                          \
    X(SELECTED, "selected")                           \
    X(NOT_SELECTED, "not selected")                   \
    X(MATH_PIPE_THROTTLE, "math pipe throttle")       \
    X(LG_MIO_THROTTLE, "LG/MIO throttle")             \
    X(WAIT, "wait")                                   \
    X(SHORT_SCOREBOARD, "short scoreboard")           \
    X(LONG_SCOREBOARD_L1, "long scoreboard L1")       \
    X(LONG_SCOREBOARD_L2, "long scoreboard L2")       \
    X(LONG_SCOREBOARD_DRAM, "long scoreboard DRAM")   \
    X(LONG_SCOREBOARD_ATOMIC, "long scoreboard atom") \
    X(BARRIER, "barrier")
/* clang-format on */
enum sim_stall_reason {
#define X(id, text) SIM_STALL_##id,
    SIM_STALL_REASONS(X)
#undef X
        SIM_STALL_COUNT
};
const char *sim_stall_text(enum sim_stall_reason w);

/* Counters of one source line of one kernel; lines add up to the launch's totals. */
struct sim_line {
    const char *file; /* as nvcc wrote it; "" = unknown */
    uint32_t line;    /* 0 = unknown */
    struct sim_counters counters;
    double stall_seconds[SIM_STALL_COUNT]; /* of a traced launch: seconds of its modelled time that
                                     warps spend there, and on what */
};

/* What the lanes of one warp asked for by one instruction, in a traced block: of all the costliest.
 */
enum sim_access_kind { SIM_ACCESS_LOAD, SIM_ACCESS_STORE, SIM_ACCESS_ATOMIC };
struct sim_access {
    const char *file;
    uint32_t line, mask;      /* mask: the active lanes */
    uint8_t kind, lane_bytes; /* enum sim_access_kind; of a lane */
    bool is_shared;           /* else global */
    uint16_t cost; /* global: 32-byte sectors; shared: passes over the banks; atomics: most lanes on
                      one address */
    uint32_t offset[32]; /* by lane, in bytes, from the 128-byte line of the lowest address;
                            UINT32_MAX: further */
};

/* ---- the device ---- */

struct gpu_device; /* device.h */

struct sim_options {
    const struct gpu_device *device;
    unsigned workers;          /* threads for a launch; 0 = one for each core */
    bool sanitize;             /* memory initialisation, races; bounds are always checked */
    bool adversarial_schedule; /* split warps after divergence as hardware may */
    bool reverse_block_order;  /* see sim_set_reverse_block_order */
    bool strict_order; /* blocks are ordered by what they hand over only if a fence stands before it
                        */
    bool ptx_counters; /* count what PTX says, not what ptxas merges: docs/counters.md */
    uint64_t memory_limit;       /* device memory in bytes; 0 = what the device has */
    uint64_t heap_bytes;         /* of device malloc; 0 = 8 MiB, a GPU's own */
    uint64_t instruction_budget; /* warp instructions a launch may execute; 0 = no limit */
    double time_budget;          /* seconds of wall clock for a launch, a backstop; 0 = no limit */
    uint64_t sample_warps;       /* see sim_set_sample */
    uint64_t sample_key;         /* likewise */
};

/* In a process that will lock itself in: what opening could not do then. Without it, large inputs
 * cost more memory. */
void sim_init_before_sandbox(void);
struct sim *sim_open(const struct sim_options *o, struct err *e);
void sim_close(struct sim *s);
/* Frees every allocation, zeroes what they held, and resets module variables to their initial
 * values; modules stay loaded. */
void sim_reset(struct sim *s);
/* The same, but module variables stay as kernels left them. */
void sim_free_all(struct sim *s);

/* ---- memory ---- */

/* Device addresses lie in [SIM_BASE, SIM_BASE + SIM_SPAN); no host allocation may be placed there,
 * so that a host dereference of a device pointer faults at an address that tells what it was. */
#define SIM_BASE              0x2ff800000000ull
#define SIM_SPAN              (1ull << 40)
#define SIM_HOST_SHARED_BYTES (48ull << 29) /* from SIM_BASE on: what host and device share */
#define SIM_MAX_HEAP_BYTES \
    (4ull << 30) /* bytes of the device heap; what lies before device memory holds it twice */
#define SIM_DEVICE_BASE (SIM_BASE + (64ull << 29)) /* device memory proper */

enum sim_status { SIM_OK, SIM_BAD_ADDRESS };

/* Zero bytes are allowed and give a unique address. 0 = out of memory. The name (copied, may be
 * NULL) is used in reports. Addresses are 512-byte aligned with a redzone between allocations.
 * Memory counts as uninitialised. */
uint64_t sim_alloc(struct sim *s, uint64_t bytes, const char *name);
/* The name of an allocation that kernels may set by cudaGraphSetConditional. */
#define SIM_GRAPH_CONDITION_NAME "condition of a graph"
/* …of graphs that kernels launch: a struct sim_graph_mailbox. */
#define SIM_GRAPH_MAILBOX_NAME "graphs that kernels launch"
struct sim_graph_mailbox {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/graph_mailbox.def"
};
/* In pages of its own, which may then be those of a memory file: what another process writes there
 * is in device memory. They stay shared, also across sim_reset, until sim_unmap_shared_pages; not 0
 * bytes. */
uint64_t sim_alloc_pages(struct sim *s, uint64_t bytes, const char *name);
/* The same, standing for pinned memory of the host: copies reach it, a kernel that does is told
 * that it must not. */
uint64_t sim_alloc_pinned(struct sim *s, uint64_t bytes, const char *name);
bool sim_map_shared_pages(struct sim *s, uint64_t address, int fd, uint64_t offset);
void sim_unmap_shared_pages(struct sim *s);
/* Memory for host and device: the pages of a memory file, SIM_HOST_SHARED_BYTES from `offset` on,
 * which the host may map at the same addresses. What a host writes there is not seen, so all of it
 * counts as written. */
bool sim_map_host_shared(struct sim *s, int fd, uint64_t offset);
uint64_t sim_alloc_host_shared(struct sim *s, uint64_t bytes, const char *name);
/* Says that a range has been written, by whoever shares it. */
enum sim_status sim_mark_initialized(struct sim *s, uint64_t address, uint64_t bytes);
enum sim_status sim_free(struct sim *s, uint64_t address); /* 0 is fine */
/* Start and size of the live allocation that holds `address`; false if none. */
bool sim_find_allocation(struct sim *s, uint64_t address, uint64_t *start, uint64_t *bytes);
/* The whole range must lie in one live allocation. Writing and filling count as initialising. */
enum sim_status sim_write(struct sim *s, uint64_t address, const void *data, uint64_t bytes);
enum sim_status sim_read(struct sim *s, uint64_t address, void *data, uint64_t bytes);
enum sim_status sim_fill(struct sim *s, uint64_t address, uint8_t value, uint64_t bytes);
enum sim_status sim_copy(struct sim *s, uint64_t to, uint64_t from, uint64_t bytes);
struct sim_report;
/* Whether a range holds values that came from reads of what nothing wrote: says so, and counts it
 * as written from then on. For memory that is looked at from outside. */
bool sim_check_undefined(struct sim *s, uint64_t address, uint64_t bytes, struct sim_report *out);
/* Marks a range as uninitialised again (its bytes stay). */
enum sim_status sim_mark_uninitialized(struct sim *s, uint64_t address, uint64_t bytes);
uint64_t sim_memory_used(const struct sim *s);

/* ---- textures and surfaces ---- */

enum { SIM_TEX_SIGNED, SIM_TEX_UNSIGNED, SIM_TEX_FLOAT }; /* kinds of texels */
enum {
    SIM_TEX_WRAP,
    SIM_TEX_CLAMP,
    SIM_TEX_MIRROR,
    SIM_TEX_BORDER
}; /* address modes, in CUDA's order */
enum {
    SIM_TEX_BUFFER,
    SIM_TEX_1D,
    SIM_TEX_2D,
    SIM_TEX_3D,
    SIM_TEX_CUBE
}; /* SHAPE_BUFFER: linear memory, whole texels */

/* A texture or surface object: texels in device memory, row by row. */
struct sim_texture {
    uint64_t address, pitch,
        slice_pitch; /* bytes from one row, from one slice, layer or face to the next */
    uint32_t width, height, depth; /* texels; 1 where there is no such dimension */
    uint32_t layers;               /* 0 = not layered; of cube maps: cubes */
    uint8_t shape, channels, channel_bits, texel_kind;
    uint8_t address_modes[3];
    bool is_tiled;              /* an array, whose texels lie in tiles: for what is counted */
    bool is_linear_filter;      /* filter, else the nearest texel */
    bool normalized_coords;     /* coordinates */
    bool read_normalized_float; /* integers are read as fractions of the largest */
    bool is_srgb, is_surface;
    float border_color[4];
};
/* A handle, or 0. Handles of destroyed objects are given out again. */
uint64_t sim_texture_create(struct sim *s, const struct sim_texture *t);
bool sim_texture_destroy(struct sim *s, uint64_t handle);

/* ---- modules ---- */

/* Parses, decodes and places a PTX module; its variables get device memory. NULL with an error that
 * names what is not implemented: instruction, source line, kernel. */
struct sim_module *sim_load(struct sim *s, const char *ptx, size_t n, struct err *e);
/* The same of several texts, which are linked. */
struct sim_ptx_text {
    const char *ptx;
    size_t length;
};
struct sim_module *sim_load_linked(struct sim *s, const struct sim_ptx_text *texts, unsigned n,
                                   struct err *e);
void sim_unload(struct sim *s, struct sim_module *m);

struct sim_kernel; /* belongs to its module */
const struct sim_kernel *sim_find_kernel(const struct sim_module *m, const char *mangled_name);
bool sim_find_symbol(const struct sim_module *m, const char *name, uint64_t *address,
                     uint64_t *bytes);

struct sim_kernel_info {
    const char *name; /* as in PTX */
    uint32_t param_bytes;
    uint32_t nparams;
    struct {
        uint32_t offset, bytes;
    } params[256];
    uint32_t static_shared, local_bytes, const_bytes;
    uint32_t registers;         /* a guess until ptxas has told: sim_set_registers */
    uint32_t max_threads;       /* a block, from .maxntid or the device */
    bool cooperative;           /* uses a grid-wide barrier */
    uint32_t spill_bytes;       /* as ptxas said; 0 until then */
    uint32_t cluster_dims[3];   /* blocks that __cluster_dims__ asks for; 0 = not said */
    bool requires_cluster_dims; /* __cluster_dims__ without a size: the launch has to say it */
};
void sim_kernel_info(const struct sim_kernel *k, struct sim_kernel_info *out);
/* What `ptxas -v` reported for the kernel; used for occupancy. */
void sim_set_registers(const struct sim_kernel *k, uint32_t registers, uint32_t spill_bytes);
/* The machine code that ptxas made of the kernel's module, all of it, for the time model; it must
 * outlive the module. */
struct sass_insn; /* grader/sim/sass/sass.h */
void sim_set_machine_code(const struct sim_kernel *k, const struct sass_insn *code, uint32_t n);

/* ---- launches ---- */

/* The order is the order of precedence in which one fault hides another. X(id, short name, what a
 * CUDA runtime would return: the name of a cudaError_t) */
/* clang-format off */
#define SIM_FAULTS(X)                                                                    \
    X(SIM_FAULT_NONE, "none", cudaSuccess)                                               \
    X(SIM_FAULT_OUT_OF_BOUNDS, "out-of-bounds", cudaErrorIllegalAddress)                 \
    X(SIM_FAULT_USE_AFTER_FREE, "use-after-free", cudaErrorIllegalAddress)               \
    X(SIM_FAULT_MISALIGNED, "misaligned", cudaErrorMisalignedAddress)                    \
    X(SIM_FAULT_READ_ONLY, "write to constant memory", cudaErrorIllegalAddress)          \
    X(SIM_FAULT_TRAP, "trap", cudaErrorLaunchFailure)                                    \
    X(SIM_FAULT_ASSERT, "assert", cudaErrorAssert)                                       \
    X(SIM_FAULT_STACK_OVERFLOW, "stack overflow", cudaErrorLaunchFailure)                         \
    X(SIM_FAULT_BAD_CALL, "invalid call", cudaErrorIllegalInstruction)                       \
    X(SIM_FAULT_BAD_SYNC, "invalid synchronization", cudaErrorLaunchFailure)            \
    X(SIM_FAULT_DIVERGENT_BARRIER, "barrier divergence", cudaErrorLaunchFailure)          \
    X(SIM_FAULT_DEADLOCK, "deadlock", cudaErrorLaunchTimeout)                            \
    X(SIM_FAULT_INSN_BUDGET, "instruction budget exceeded", cudaErrorLaunchTimeout)                    \
    X(SIM_FAULT_TIMEOUT, "time budget exceeded", cudaErrorLaunchTimeout)                             \
    X(SIM_FAULT_DSMEM, "invalid distributed shared memory access", cudaErrorLaunchFailure)       \
    X(SIM_FAULT_OUT_OF_HOST_MEMORY, "out of host memory", cudaErrorLaunchOutOfResources) \
    X(SIM_FAULT_DEVICE_HEAP, "invalid free", cudaErrorLaunchFailure)                      \
    X(SIM_FAULT_TENSOR_MAP, "invalid tensor map", cudaErrorIllegalInstruction)                   \
    /* sanitizer findings: the launch goes on, nothing faults on a real device */        \
    X(SIM_FAULT_UNINITIALIZED, "uninitialized read", cudaSuccess)                        \
    X(SIM_FAULT_SHARED_RACE, "data race in shared memory", cudaSuccess)                          \
    X(SIM_FAULT_INTERBLOCK_RACE, "data race between blocks", cudaSuccess)                         \
    X(SIM_FAULT_INTRABLOCK_RACE, "data race within a block", cudaSuccess)                          \
    X(SIM_FAULT_ASYNC_HAZARD, "missing wait", cudaSuccess)                               \
    X(SIM_FAULT_DSMEM_RACE, "data race in distributed shared memory", cudaSuccess)          \
    X(SIM_FAULT_DSMEM_LIFETIME, "distributed shared memory lifetime", cudaSuccess)  \
    X(SIM_FAULT_SHARED_ARRAY_BOUNDS, "shared array out of bounds", cudaSuccess)                     \
    X(SIM_FAULT_INACTIVE_LANE_SHUFFLE, "shuffle from an inactive lane", cudaSuccess)                   \
    X(SIM_FAULT_STREAM_RACE, "stream race", cudaSuccess)                        \
    X(SIM_FAULT_MISSING_FENCE, "missing fence", cudaSuccess)                                     \
    /* notes: no fault, said where they may explain one */                               \
    X(SIM_NOTE_REVALIDATED_READ, "note", cudaSuccess)                                                \
    X(SIM_NOTE_EARLY_EXIT, "note", cudaSuccess)
/* clang-format on */

enum sim_fault {
#define X(id, name, error) id,
    SIM_FAULTS(X)
#undef X
        SIM_FAULT_COUNT
};

const char *sim_fault_name(enum sim_fault f);
/* One that tells of two accesses. */
static inline bool sim_fault_is_hazard(enum sim_fault f) {
    return f == SIM_FAULT_SHARED_RACE || f == SIM_FAULT_INTERBLOCK_RACE ||
           f == SIM_FAULT_INTRABLOCK_RACE || f == SIM_FAULT_ASYNC_HAZARD ||
           f == SIM_FAULT_DSMEM_RACE || f == SIM_FAULT_STREAM_RACE || f == SIM_FAULT_MISSING_FENCE;
}
static inline bool sim_fault_is_note(enum sim_fault f) { return f >= SIM_NOTE_REVALIDATED_READ; }

/* The first occurrence of one kind of fault in a launch, and how often it occurred. */
struct sim_report {
    enum sim_fault fault;
    uint64_t count;
    const char *kernel, *file; /* belong to the module */
    uint32_t line;
    uint32_t block[3], thread[3];
    uint64_t address;
    bool is_shared_memory; /* of shared memory */
    char text[768]; /* one sentence with all of the above: "4 bytes past the end of `out` (4096
                       bytes)…" */
};

struct sim_launch {
    const struct sim_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *params; /* laid out as the kernel's parameter space */
    uint32_t param_bytes;
    bool cooperative;
    uint32_t cluster_dims[3];         /* blocks; 0 = what the kernel was compiled for, or none */
    bool allows_nonportable_clusters; /* of more than 8 blocks, which not every device has */
};

/* What keeps an SM busy: warp instructions; sectors beyond L1 of global and local memory and of
 * textures; passes over the banks, and of global atomics over the word that most lanes want. The
 * last two are counted in traced launches only. */
struct sim_block_work {
    uint64_t warp_insns, sectors, wavefronts;
};

struct sim_result {
    enum sim_fault fault; /* what ended the launch; sanitizer findings are in reports only */
    struct sim_report reports[SIM_FAULT_COUNT];
    unsigned nreports;
    struct sim_counters counters;
    struct sim_line *lines; /* owned: sim_result_free */
    unsigned nlines;
    struct sim_access *accesses; /* of a launch whose time was modelled; owned likewise */
    unsigned naccesses;
    double theoretical_occupancy; /* 0..1 */
    bool blocks_depend; /* of a traced launch: blocks wait for each other, or one runs for very long
                         */
    bool clock_ordered; /* …blocks got on as by a clock, since they look at what others leave:
                           core/clock_scheduler.c */
    /* Of the blocks that ran: in all, and the most that one did, each of the three for itself.
     * Where blocks meet at a barrier of the grid, a phase lasts as long as its slowest block: the
     * most that one did from one barrier to the next, summed. */
    struct sim_block_work total_work, max_block_work;
};

/* Checks the configuration as the runtime would: NULL, or the name of a cudaError_t with a reason
 * in `e`
 * ("cudaErrorInvalidConfiguration": 2048 threads a block, an empty grid, too much shared memory).
 */
const char *sim_check_launch(struct sim *s, const struct sim_launch *l, struct err *e);
/* Runs to the end. The configuration must have passed sim_check_launch. */
void sim_launch(struct sim *s, const struct sim_launch *l, struct sim_result *out);
void sim_result_free(struct sim_result *r);

/* ---- traces of some blocks of a launch, for the time model ---- */

struct sim_sample {
    const uint64_t *blocks; /* linear indices, ascending */
    unsigned nblocks;
    uint64_t words_per_block; /* of trace, that are kept of a block */
    bool sampled_only; /* run no others: memory is changed by the sample alone, counters are scaled
                          up */
};
struct sim_trace; /* grader/sim/core/trace.h */
/* sim_launch that also records what the sampled blocks did. */
struct sim_trace *sim_launch_traced(struct sim *s, const struct sim_launch *l,
                                    const struct sim_sample *sample, struct sim_result *out);
void sim_trace_free(struct sim_trace *t);
/* Its blocks may see each other's writes, so that a few of them alone may wait for ever. */
bool sim_kernel_has_interblock_deps(const struct sim_kernel *k);
uint64_t sim_get_sample_warps(const struct sim *s); /* what sim_set_sample set */

/* What device printf wrote since the last call, and which assertions failed; appended, at most 1
 * MiB of each kept (as the device's buffer). */
void sim_drain_output(struct sim *s, struct buf *out, struct buf *errors);
/* False: more than there can be. */
bool sim_set_heap(struct sim *s, uint64_t bytes);
void sim_set_sanitize(struct sim *s, bool on);

/* ---- the order of commands: races between streams (race/streams.c) ---- */

enum { SIM_MAX_STREAMS = 64 };
/* Of the commands that follow. 0 and 1 are the default streams; numbers begin with 1. */
struct sim_stream_clock {
    uint32_t stream, sequence;               /* the number-th of that stream */
    uint32_t ordered_after[SIM_MAX_STREAMS]; /* which of each stream's commands they come after */
    uint32_t permanently_after[SIM_MAX_STREAMS]; /* …and all commands that will ever follow */
    bool has_dependent; /* a command of another stream, or the host, waits for this one
                           (server/record.c) */
};
/* Launches and sim_check_host_access are then held against commands that nothing orders them with.
 * NULL: nothing is looked for. */
void sim_set_stream_clock(struct sim *s, const struct sim_stream_clock *o);
/* Rows of a copy or a fill that the host asked for; `what` names it, and stays. True with a report
 * where it races. */
struct sim_strided_range {
    uint64_t address, pitch, width, rows;
    bool is_write;
};
bool sim_check_host_access(struct sim *s, const char *description,
                           const struct sim_strided_range *r, struct sim_report *out);
/* Of kernels whose blocks may see each other's writes: several blocks are begun at once, and the
 * later ones get on first. Else each runs to its end before the next begins, unless it waits, so
 * that what relies on their order comes out right. */
void sim_set_reverse_block_order(struct sim *s, bool on);
void sim_set_budget(struct sim *s, uint64_t warp_instructions, double seconds);
/* From here on launches, those by kernels among them, share the budget of warp instructions, whole
 * again at each call. */
void sim_begin_shared_budget(struct sim *s);
/* Launches of more warps than this run a sample of their blocks, spread evenly over the grid;
 * counters are scaled up to the whole, outputs are incomplete. Launches whose blocks may see each
 * other always run whole. 0 = no sampling. Which blocks run, and which ones the time model looks
 * at, follows from the key. */
void sim_set_sample(struct sim *s, uint64_t warps, uint64_t key);
