/* sim.h — the interface of the simulated GPU: memory, modules, launches, counters. It knows nothing
 * of grading or processes. The device server (grader/server) calls it.
 *
 *   struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200")}, &err);
 *   uint64_t in = sim_alloc(s, bytes, "in");
 *   struct sim_module *m = sim_load(s, ptx, length, &err);
 *   sim_launch(s, &(struct sim_launch){.kernel = sim_find_kernel(m, "k"), ...}, &result);
 *
 * One thread calls the functions of a sim; a launch itself may use several worker threads. The same
 * calls with the same inputs give the same outputs and counters, for any number of workers. Nothing
 * that a kernel does ends the process: it becomes a `sim_fault` in the result. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- counters: docs/counters.md defines each, counters.def lists them ---- */

struct sim_counters {
#define COUNTER(name, merge, text) uint64_t name;
#include "grader/sim/count/counters.def"
#undef COUNTER
};

/* Counters are numbered in the order of counters.def. */
unsigned sim_counter_count(void);
const char *sim_counter_name(unsigned i);
/* Returns the counter's key under schema 1 of our JSON, or NULL if it has not changed since. */
const char *sim_counter_name_v1(unsigned i);
uint64_t sim_counter_get(const struct sim_counters *c, unsigned i);
/* Adds each counter, or keeps the larger one, as counters.def says. */
void sim_counters_add(struct sim_counters *to, const struct sim_counters *from);
/* Scales counters of `sampled_blocks` blocks up to `total_blocks`. */
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
    X(BARRIER, "barrier")                             \
    X(MEMBAR, "membar")
/* clang-format on */
enum sim_stall_reason {
#define X(id, text) SIM_STALL_##id,
    SIM_STALL_REASONS(X)
#undef X
        SIM_STALL_COUNT
};
/* Returns a stall reason in words, for reports. */
const char *sim_stall_text(enum sim_stall_reason w);

/* Counters of one source line of one kernel; lines add up to the launch's totals. */
struct sim_line {
    const char *file; /* as nvcc wrote it; "" = unknown */
    uint32_t line;    /* 0 = unknown */
    struct sim_counters counters;
    /* Seconds of a traced launch's modelled time that warps spend on the line, by stall reason. */
    double stall_seconds[SIM_STALL_COUNT];
};

/* The costliest request that one instruction made in a traced block. */
enum sim_access_kind { SIM_ACCESS_LOAD, SIM_ACCESS_STORE, SIM_ACCESS_ATOMIC };
struct sim_access {
    const char *file;
    uint32_t line, mask;      /* mask: the active lanes */
    uint8_t kind, lane_bytes; /* enum sim_access_kind; bytes of one lane */
    bool is_shared;           /* else global */
    uint16_t cost;            /* global: sectors; shared: wavefronts; atomics: multiplicity */
    /* By lane: bytes from the cache line of the lowest address; UINT32_MAX if out of range. */
    uint32_t offset[32];
};

/* ---- the device ---- */

struct gpu_device; /* device.h */

enum { SIM_MAX_DEVICES = 8 };
/* When kernels are compiled to native code (docs/simgpu.md): never; while the interpreter runs
 * them, if their work makes that worth it; each before its first launch. */
enum sim_native { SIM_NATIVE_NEVER, SIM_NATIVE_IN_BACKGROUND, SIM_NATIVE_BEFORE_LAUNCH };
struct sim_options {
    const struct gpu_device *device;
    unsigned devices;          /* equal devices in one address space; 0 = 1 */
    unsigned workers;          /* threads for a launch; 0 = one for each core */
    bool sanitize;             /* check initialization and races; bounds are always checked */
    bool adversarial_schedule; /* split warps after divergence as hardware may */
    bool reverse_block_order;  /* see sim_set_reverse_block_order */
    bool split_active_masks;   /* __activemask() in divergent code finds half of the lanes */
    bool hardware_order; /* accept orders that GPUs keep but PTX does not promise: docs/simgpu.md */
    bool ptx_counters;   /* count what PTX says, not what ptxas merges: docs/counters.md */
    uint64_t memory_limit;       /* device memory in bytes; 0 = the device's own size */
    uint64_t spare_host_bytes;   /* host memory that may be used to be faster; 0 = none */
    uint64_t heap_bytes;         /* for device malloc; 0 = 8 MiB, as on a GPU */
    uint64_t instruction_budget; /* warp instructions a launch may execute; 0 = no limit */
    double time_budget;          /* see sim_set_budget; 0 = no limit */
    uint64_t sample_warps;       /* see sim_set_sample */
    uint64_t sample_key;         /* see sim_set_sample */
    enum sim_native native;
    bool compiles_at_once; /* for tests: in the background, however little work there is */
    bool watch;            /* see sim_set_watch */
    uint64_t watch_key;    /* see sim_set_watch */
};

/* Does the part of sim_open that a sandboxed process may not do. Call it before entering the
 * sandbox; without it, large inputs cost more memory. Afterwards there is no native code, except
 * with SIMGPU_NATIVE: a process that has it must not enter a sandbox. */
void sim_init_before_sandbox(void);
struct sim *sim_open(const struct sim_options *o, struct err *e);
void sim_close(struct sim *s);
/* Frees and zeroes every allocation, and resets module variables to their initial values. Modules
 * stay loaded. */
void sim_reset(struct sim *s);
/* Does the same, but keeps the values of module variables. */
void sim_free_all(struct sim *s);

/* ---- several devices ---- */

/* Selects the device of the calls that follow, at first 0: it owns what they allocate and load, and
 * runs their launches. Kernels may access memory of the devices in `accessible`, a bit for each;
 * their own is always among them. Copies and fills may access all. */
void sim_select_device(struct sim *s, unsigned device, uint32_t accessible);
/* Returns the device that owns a live allocation; 0 if there is none. */
unsigned sim_device_of(struct sim *s, uint64_t address);
/* Does what sim_reset does, for the selected device alone. */
void sim_reset_device(struct sim *s);

/* ---- memory ---- */

/* Device addresses lie in [SIM_BASE, SIM_BASE + SIM_SPAN). Host allocations never lie there, so the
 * address of a host fault shows that the host dereferenced a device pointer. */
#define SIM_BASE              0x2ff800000000ull
#define SIM_SPAN              (1ull << 40)
#define SIM_HOST_SHARED_BYTES (48ull << 29) /* from SIM_BASE on: shared by host and device */
/* Limit of the device heap. The gap before device memory holds twice as much. */
#define SIM_MAX_HEAP_BYTES (4ull << 30)
#define SIM_DEVICE_BASE    (SIM_BASE + (64ull << 29)) /* device memory proper */

enum sim_status { SIM_OK, SIM_BAD_ADDRESS };

/* Returns the address of new, uninitialized memory; 0 = out of memory. Zero bytes are allowed and
 * give a unique address. Reports use the name (copied, may be NULL). Addresses are 512-byte
 * aligned, with a redzone between allocations. */
uint64_t sim_alloc(struct sim *s, uint64_t bytes, const char *name);
/* The name of an allocation that kernels may write by cudaGraphSetConditional. */
#define SIM_GRAPH_CONDITION_NAME "condition of a graph"
/* The name of the allocation that holds the struct sim_graph_mailbox of device graph launches. */
#define SIM_GRAPH_MAILBOX_NAME "graphs that kernels launch"
struct sim_graph_mailbox {
#define FIELD(type, name)    type name;
#define ARRAY(type, name, n) type name[n];
#include "grader/sim/graph_mailbox.def"
};
/* Allocates whole pages, at least one byte. sim_map_shared_pages can then map a memory file there,
 * so that another process writes device memory directly. The mapping outlives sim_reset; it ends
 * with sim_unmap_shared_pages. */
uint64_t sim_alloc_pages(struct sim *s, uint64_t bytes, const char *name);
/* Allocates pages that stand for pinned host memory: copies may access them, kernels may not. */
uint64_t sim_alloc_pinned(struct sim *s, uint64_t bytes, const char *name);
bool sim_map_shared_pages(struct sim *s, uint64_t address, int fd, uint64_t offset);
/* Moves the pages of an allocation to a memory file, which belongs to the simulator; they begin at
 * `*offset`, with the page that holds the allocation's first byte. Another simulator can map them
 * by sim_map_shared_pages. Ends with sim_unmap_shared_pages. */
bool sim_export_pages(struct sim *s, uint64_t address, int *fd, uint64_t *offset);
void sim_unmap_shared_pages(struct sim *s);
/* Maps SIM_HOST_SHARED_BYTES of a memory file, from `offset` on, as memory of host and device; the
 * host process maps it at the same addresses. The simulator can't see the host's writes, so all of
 * this memory counts as initialized. */
bool sim_map_host_shared(struct sim *s, int fd, uint64_t offset);
uint64_t sim_alloc_host_shared(struct sim *s, uint64_t bytes, const char *name);
/* Marks a range as initialized: a process that shares it has written it. */
enum sim_status sim_mark_initialized(struct sim *s, uint64_t address, uint64_t bytes);
enum sim_status sim_free(struct sim *s, uint64_t address); /* 0: no effect */
/* Finds the live allocation that holds `address`; returns false if there is none. */
bool sim_find_allocation(struct sim *s, uint64_t address, uint64_t *start, uint64_t *bytes);
/* The whole range must lie in one live allocation. sim_write and sim_fill mark it as initialized;
 * sim_copy copies the shadow memory, too. */
enum sim_status sim_write(struct sim *s, uint64_t address, const void *data, uint64_t bytes);
enum sim_status sim_read(struct sim *s, uint64_t address, void *data, uint64_t bytes);
enum sim_status sim_fill(struct sim *s, uint64_t address, uint8_t value, uint64_t bytes);
enum sim_status sim_copy(struct sim *s, uint64_t to, uint64_t from, uint64_t bytes);
struct sim_report;
/* Returns true, with a report, if a range holds values computed from uninitialized reads, and marks
 * them as initialized. Call it on memory that is copied to the host or compared. */
bool sim_check_undefined(struct sim *s, uint64_t address, uint64_t bytes, struct sim_report *out);
/* Marks a range as uninitialized; its bytes stay. */
enum sim_status sim_mark_uninitialized(struct sim *s, uint64_t address, uint64_t bytes);
uint64_t sim_memory_used(const struct sim *s); /* of the selected device */
/* Sets a hash of all live allocations: where they lie, their bytes, and which of these are
 * initialized. Each changed word changes it, but for one case in 2^64. */
enum { SIM_HASH_WORDS = 8 };
void sim_memory_state_hash(const struct sim *s, uint64_t out[SIM_HASH_WORDS]);

/* ---- textures and surfaces ---- */

enum { SIM_TEX_SIGNED, SIM_TEX_UNSIGNED, SIM_TEX_FLOAT }; /* kinds of texels */
/* Address modes, in CUDA's order. */
enum { SIM_TEX_WRAP, SIM_TEX_CLAMP, SIM_TEX_MIRROR, SIM_TEX_BORDER };
/* Shapes. SIM_TEX_BUFFER is linear memory, read by whole texels. */
enum { SIM_TEX_BUFFER, SIM_TEX_1D, SIM_TEX_2D, SIM_TEX_3D, SIM_TEX_CUBE };

/* A texture or surface object: texels in device memory, row by row. */
struct sim_texture {
    /* Bytes from one row to the next; from one slice, layer or face to the next. */
    uint64_t address, pitch, slice_pitch;
    uint32_t width, height, depth; /* texels; 1 where there is no such dimension */
    uint32_t layers;               /* 0 = not layered; for cube maps, the number of cubes */
    uint8_t shape, channels, channel_bits, texel_kind;
    uint8_t address_modes[3];
    bool is_tiled;              /* a CUDA array, whose texels lie in tiles; affects counters only */
    bool is_linear_filter;      /* else the nearest texel */
    bool normalized_coords;     /* coordinates run from 0 to 1 */
    bool read_normalized_float; /* integers are read as fractions of the largest value */
    bool is_srgb, is_surface;
    float border_color[4];
};
/* Returns a handle, or 0 if there are too many. Handles of destroyed objects are reused. */
uint64_t sim_texture_create(struct sim *s, const struct sim_texture *t);
bool sim_texture_destroy(struct sim *s, uint64_t handle);

/* ---- modules ---- */

/* Parses, decodes and loads a PTX module, and allocates its variables in device memory. Returns
 * NULL with an error that names what is not implemented: instruction, source line, kernel. */
struct sim_module *sim_load(struct sim *s, const char *ptx, size_t n, struct err *e);
/* Loads several texts as one module, linked. */
struct sim_ptx_text {
    const char *ptx;
    size_t length;
};
struct sim_module *sim_load_linked(struct sim *s, const struct sim_ptx_text *texts, unsigned n,
                                   struct err *e);
/* Frees a module and its variables. */
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
    uint32_t registers;         /* an estimate until sim_set_registers */
    uint32_t max_threads;       /* of a block, from .maxntid or the device */
    bool cooperative;           /* uses the grid barrier */
    uint32_t spill_bytes;       /* from ptxas; 0 until sim_set_registers */
    uint32_t cluster_dims[3];   /* blocks, from __cluster_dims__; 0 = not specified */
    bool requires_cluster_dims; /* __cluster_dims__ without a size: the launch must set one */
    bool may_sync_with_host;    /* may wait for the host's writes, or tell it of its own */
};
/* Returns a kernel's properties, as of the last sim_set_registers. */
void sim_kernel_info(const struct sim_kernel *k, struct sim_kernel_info *out);
/* Sets what `ptxas -v` reported for the kernel; occupancy depends on it. */
void sim_set_registers(const struct sim_kernel *k, uint32_t registers, uint32_t spill_bytes);
/* Sets the machine code of the kernel's whole module, as ptxas compiled it, for the time model. It
 * must outlive the module. */
struct sass_insn; /* grader/sim/sass/sass.h */
void sim_set_machine_code(const struct sim_kernel *k, const struct sass_insn *code, uint32_t n);

/* ---- launches ---- */

/* Faults and findings, in order of precedence: an earlier one hides a later one. X(id, name in
 * reports, the cudaError_t that a CUDA runtime would return). */
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
    /* Sanitizer findings: the launch continues; a real device would not fault. */       \
    X(SIM_FAULT_DIVERGENT_THREADS, "barrier error", cudaSuccess)                          \
    X(SIM_FAULT_MEMBER_MASK, "invalid member mask", cudaSuccess)                          \
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
    X(SIM_FAULT_READ_ONLY_LOAD, "read-only load of changed memory", cudaSuccess) \
    /* Notes: no faults, but they may explain a wrong result. */                         \
    X(SIM_NOTE_REVALIDATED_READ, "note", cudaSuccess)                                                \
    X(SIM_NOTE_EARLY_EXIT, "note", cudaSuccess)                                          \
    X(SIM_NOTE_ACTIVE_MASK, "note", cudaSuccess) \
    X(SIM_NOTE_READ_ONLY_LOAD, "note", cudaSuccess)
/* clang-format on */

enum sim_fault {
#define X(id, name, error) id,
    SIM_FAULTS(X)
#undef X
        SIM_FAULT_COUNT
};

/* Returns a fault in words, such as "missing wait". */
const char *sim_fault_name(enum sim_fault f);
/* Returns true if the finding has two ends: two accesses, or an access and a copy. */
static inline bool sim_fault_is_hazard(enum sim_fault f) {
    return f == SIM_FAULT_SHARED_RACE || f == SIM_FAULT_INTERBLOCK_RACE ||
           f == SIM_FAULT_INTRABLOCK_RACE || f == SIM_FAULT_ASYNC_HAZARD ||
           f == SIM_FAULT_DSMEM_RACE || f == SIM_FAULT_STREAM_RACE ||
           f == SIM_FAULT_MISSING_FENCE || f == SIM_FAULT_READ_ONLY_LOAD;
}
static inline bool sim_fault_is_note(enum sim_fault f) { return f >= SIM_NOTE_REVALIDATED_READ; }

/* The first occurrence of one kind of fault in a launch (in its lowest block), and the number of
 * occurrences. */
struct sim_report {
    enum sim_fault fault;
    uint64_t count;
    const char *kernel, *file; /* belong to the module */
    uint32_t line;
    uint32_t block[3], thread[3];
    uint64_t address;
    bool is_shared_memory; /* `address` is an offset in shared memory */
    char text[768];        /* one sentence with all of the above */
};

struct sim_launch {
    const struct sim_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *params; /* laid out as the kernel's parameter space */
    uint32_t param_bytes;
    bool cooperative;
    uint32_t cluster_dims[3];         /* blocks; 0 = as the kernel was compiled, or none */
    bool allows_nonportable_clusters; /* clusters of more than 8 blocks, which some devices lack */
};

/* Work that keeps an SM busy: warp instructions; sectors beyond L1 of global and local memory and
 * textures; wavefronts of shared memory, plus the multiplicity of global atomics; instructions of
 * the warp that executes most of a block. Only traced launches count the last three. */
struct sim_block_work {
    uint64_t warp_insns, sectors, wavefronts, longest_warp_insns;
};

struct sim_result {
    enum sim_fault fault; /* the fault that ended the launch; findings are in reports only */
    struct sim_report reports[SIM_FAULT_COUNT];
    unsigned nreports;
    struct sim_counters counters;
    struct sim_line *lines; /* owned: sim_result_free */
    unsigned nlines;
    struct sim_access *accesses; /* of a launch whose time was modelled; owned, too */
    unsigned naccesses;
    double theoretical_occupancy; /* 0..1 */
    /* An equal launch right after this one changes nothing; only set with the sanitizer, and right
     * only if there are no reports. */
    bool is_idempotent;
    bool is_sampled; /* only part of the blocks ran, and the counters are scaled to the grid */
    /* Traffic with memory of other devices; 0 if commands have no stream clock. */
    uint64_t peer_bytes;
    /* Set by traced launches: */
    bool blocks_depend; /* blocks wait for each other, or one runs for very long */
    bool clock_ordered; /* blocks poll each other, so the clock scheduler ran them:
                           core/clock_scheduler.c */
    /* The work of the blocks that ran: the total, and the maximum of one block, for each member
     * separately. With grid barriers, a phase lasts as long as its slowest block: the maximum is
     * then the sum of each phase's maximum. */
    struct sim_block_work total_work, max_block_work;
    double
        busy_seconds; /* processor time of the thread that took the longest; see sim_set_budget */
};

/* Checks the configuration as the CUDA runtime would. Returns NULL if it is valid, else the name of
 * a cudaError_t with a reason in `e`, such as "cudaErrorInvalidConfiguration" for 2048 threads. */
const char *sim_check_launch(struct sim *s, const struct sim_launch *l, struct err *e);
/* Runs the launch to its end. The configuration must have passed sim_check_launch. */
void sim_launch(struct sim *s, const struct sim_launch *l, struct sim_result *out);
void sim_result_free(struct sim_result *r);

/* ---- traces of some blocks of a launch, for the time model ---- */

struct sim_sample {
    const uint64_t *blocks; /* linear indices, ascending */
    unsigned nblocks;
    uint64_t words_per_block; /* limit of a block's trace */
    bool sampled_only; /* run only these blocks: outputs are incomplete, counters are scaled up */
};
struct sim_trace; /* grader/sim/core/trace.h */
/* Does what sim_launch does, and returns a trace of the sampled blocks. */
struct sim_trace *sim_launch_traced(struct sim *s, const struct sim_launch *l,
                                    const struct sim_sample *sample, struct sim_result *out);
void sim_trace_free(struct sim_trace *t);
/* Returns true if the kernel's blocks may read each other's writes: a few of them alone may then
 * wait forever. */
bool sim_kernel_has_interblock_deps(const struct sim_kernel *k);
uint64_t sim_get_sample_warps(const struct sim *s); /* set by sim_set_sample */

/* Appends what device printf wrote since the last call, and the assertions that failed. At most 1
 * MiB of each is kept, as in the device's buffer. */
void sim_drain_output(struct sim *s, struct buf *out, struct buf *errors);
/* Sets the size of the device heap; returns false if it exceeds SIM_MAX_HEAP_BYTES. */
bool sim_set_heap(struct sim *s, uint64_t bytes);
/* Returns how many blocks of the current launch have ended, and how many it runs. Any thread may
 * call it. */
struct sim_progress {
    uint64_t blocks_done, blocks_total;
};
struct sim_progress sim_get_progress(const struct sim *s);
/* Changes sim_options.sanitize for the launches that follow. */
void sim_set_sanitize(struct sim *s, bool on);
/* If on, launches without `sanitize` check a sample of their blocks for races and the like, which
 * the key selects, and commands of several streams for races. All global memory then counts as
 * initialized. */
void sim_set_watch(struct sim *s, bool on, uint64_t key);

/* ---- the order of commands: races between streams (race/streams.c) ---- */

enum { SIM_MAX_STREAMS = 64 };
/* The place of the next commands in the order of all commands. Streams 0 and 1 are the default
 * streams; sequence numbers begin with 1. */
struct sim_stream_clock {
    uint32_t stream, sequence; /* the command is number `sequence` of its stream */
    /* By stream: the last command that this one is ordered after… */
    uint32_t ordered_after[SIM_MAX_STREAMS];
    /* …and the last one that all later commands are ordered after, too. */
    uint32_t all_later_ordered_after[SIM_MAX_STREAMS];
    bool is_graph_node; /* `stream` then stands for a chain of the graph's nodes */
    uint32_t host_line; /* of the call, if the command is a copy or a fill; 0 = unknown */
    /* Another stream's command, or the host, waits for this one (server/record.c). */
    bool has_dependent;
};
/* Sets the clock for launches and sim_check_host_access, which then look for stream races. NULL
 * turns that off, and so does the lack of both `sanitize` and `watch`. */
void sim_set_stream_clock(struct sim *s, const struct sim_stream_clock *o);
/* The rows that a copy, a fill or a free of the host accesses. */
struct sim_strided_range {
    uint64_t address, pitch, width, rows; /* pitch, width: bytes */
    bool is_write;
    const char *verb; /* "frees", "allocates", which count as writes; NULL: accesses */
};
/* Returns true, with a report, if the access races with another command. `description` names the
 * access and must outlive the report. */
bool sim_check_host_access(struct sim *s, const char *description,
                           const struct sim_strided_range *r, struct sim_report *out);
/* Consecutive rows of SIM_ACCESS_ROW_BYTES, in each of which the same bytes were accessed. */
enum { SIM_ACCESS_ROW_BYTES = 32 };
struct sim_access_run {
    uint64_t address, rows;
    uint32_t read_mask, write_mask; /* a bit for each byte of a row */
    char description[224];          /* of the command, and where it has such an access */
};
/* Lists what the current command of sim_set_stream_clock accessed from `low` to `high`, at most
 * `max` runs, and returns their number. */
unsigned sim_list_accesses(const struct sim *s, uint64_t low, uint64_t high,
                           struct sim_access_run *out, unsigned max);
/* Affects kernels whose blocks may read each other's writes. If on, several blocks start at once
 * and later ones run first. If off, each block runs to its end, unless it waits, before the next
 * starts; kernels that rely on that order then give right results. */
void sim_set_reverse_block_order(struct sim *s, bool on);
/* See sim_options.split_active_masks. */
void sim_set_split_active_masks(struct sim *s, bool on);
/* Limits each launch; 0 = no limit. The seconds, a backstop, are processor time of one of the
 * threads that execute the launch, so a busy machine does not change the result. */
void sim_set_budget(struct sim *s, uint64_t warp_instructions, double seconds);
/* From this call on, launches (also those by kernels) share one budget of warp instructions. Each
 * call restores the full budget. */
void sim_begin_shared_budget(struct sim *s);
/* Launches of more than `warps` warps run only a sample of their blocks, spread evenly over the
 * grid: counters are scaled up to the full grid, outputs are incomplete. Launches whose blocks may
 * read each other's writes always run in full. 0 = no sampling. The key decides which blocks run,
 * and which ones the time model samples. */
void sim_set_sample(struct sim *s, uint64_t warps, uint64_t key);
