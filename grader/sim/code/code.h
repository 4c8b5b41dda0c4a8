/* code.h — decoded code: what the decoder makes of a PTX module, and the core executes. */
#pragma once
#include "grader/sim/code/insn.h"
#include "grader/sim/mem/mem.h"

/* Windows of generic addresses. */
#define SHARED_WINDOW 0x200000000000ull
#define LOCAL_WINDOW  0x210000000000ull
#define PARAM_WINDOW  0x220000000000ull
#define TEXTURE_WINDOW                                                         \
    0x240000000000ull /* + 64 × (1 + index): handles of textures and surfaces \
                       */
#define WINDOW_BYTES 0x000100000000ull
#define FUNC_WINDOW \
    0x230000000000ull /* + index of a function's code: what a function pointer holds */

struct segment {
    u32 first, last;     /* ops, both included; the last is the control op */
    u32 insn_count;      /* PTX instructions in it */
    bool fetches_ticket; /* has an atomic sum in global memory whose old value is used, as of a
                   counter of work to be done */
};

/* Slots that a launch fills behind BASE_BLOCK: kernel parameters as broadcast registers. */
struct param_slot {
    u32 offset; /* in the parameter space */
    u32 slot;   /* byte offset behind BASE_BLOCK */
    u8 bytes, reg_bytes, is_signed;
};

/* Words (4 bytes × 32 lanes) in a frame that hold a function's .param variable. */
struct param_area {
    const struct ptx_var *var;
    u32 offset, bytes; /* frame offset of word 0 */
};

/* A stretch of a frame that is zeroed when its function is entered. */
struct frame_range {
    u32 offset, bytes;
};

/* Where a variable lies in its memory. */
struct var_offset {
    const struct ptx_var *var;
    u32 offset;
};

struct sim_func {
    const struct ptx_func *func;
    const char *name;
    u32 first_op, end_op;             /* in module->ops */
    u32 frame_bytes;                  /* of registers */
    u32 local_bytes;                  /* per lane, of this function's .local variables */
    u32 static_shared, dynamic_align; /* dynamic_align: of dynamic shared memory, 0 = as usual */
    u32 max_frame, max_local;         /* with everything that it may call */
    u32 block_slot_bytes;             /* behind BASE_BLOCK, entries only */
    bool interblock_dependent; /* blocks may see each other's writes: run them in order on one
                                  worker */
    bool may_spin; /* a lane may wait for what another one writes: atomics' results, volatile loads,
                    fences, mbarriers */
    bool polls_global; /* at global memory for what other blocks leave there: strong loads, atomics
                   that change nothing */
    bool updates_global; /* by atomics or strong stores */
    u64 mod_set;         /* entries: what its stores and atomics reach, by ROOT_…; see underlying_object.c */
    bool has_subword_global,
        has_subword_shared; /* accesses that memory in less than words, or may */
    bool recursive, cooperative;
    bool reads_textures, writes_surfaces;
    bool has_async_proxy_reads; /* something else than threads reads shared memory: products of
                         warpgroups, bulk copies */
    bool uses_clusters, uses_cluster_barrier; /* asks where a block is in its cluster, or for other
                                                 blocks; meets them */
    bool uses_alloca; /* by alloca, itself or what it calls: ALLOCA_BYTES follow the local memory of
                       each thread */
    struct param_slot *param_slots;
    u32 nparam_slots;
    struct var_offset *shared_vars; /* its variables in shared memory */
    u32 nshared_vars;
    struct frame_range *zero_ranges; /* registers that may be read before they are written */
    u32 nzero_ranges;
    struct param_area *formals; /* parameters, then return values */
    u32 nformals, nrets;
    u32 *callees, ncallees;
    bool has_indirect_calls;
    struct sim_kernel *kernel;
};

/* Bits of code.changes: kernel parameters by number, then these. */
enum { OBJ_MODULE_VARS = 62 /* variables of the module */, OBJ_UNKNOWN = 63 /* anything */ };

enum { ALLOCA_BYTES = 16 << 10 };

enum builtin {
    BUILTIN_NONE,
    BUILTIN_VPRINTF,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    BUILTIN_ASSERTFAIL,
    BUILTIN_GRAPH_SET_CONDITIONAL,
    BUILTIN_CUDA_MALLOC, /* of the device runtime, and of the heap that malloc takes from */
    BUILTIN_CUDA_FREE,
    BUILTIN_GET_PARAM_BUFFER, /* from here on the device runtime: core/device_launch.c */
    BUILTIN_LAUNCH,
    BUILTIN_GRAPH_LAUNCH,
    BUILTIN_GET_LAST_ERROR,
    BUILTIN_PEEK_ERROR,
    BUILTIN_ERROR_NAME,
    BUILTIN_ERROR_STRING,
    BUILTIN_GET_DEVICE,
    BUILTIN_DEVICE_COUNT,
    BUILTIN_MEMCPY_ASYNC,
    BUILTIN_MEMSET_ASYNC,
    BUILTIN_CREATE_HANDLE,  /* a stream or an event */
    BUILTIN_RETURN_SUCCESS, /* what orders streams, which run in order anyway */
};

struct call_desc {
    u32 callee; /* index of code; UINT32_MAX = through a register */
    u8 builtin;
    ref target; /* register of an indirect call */
    u32 nargs, nrets;
    struct param_area *args; /* the caller's areas: arguments, then returns */
};

enum warp_sync_kind {
    WARP_SYNC_SHFL,
    WARP_SYNC_VOTE,
    WARP_SYNC_MATCH,
    WARP_SYNC_BARRIER,
    WARP_SYNC_REDUX,
    WARP_SYNC_ELECT
};
struct warp_sync_desc {
    u8 kind, mode, type, wide; /* mode by kind; wide: 64-bit source */
    ref member_mask;           /* member mask, a 32-bit register or constant */
    ref pred_dst;              /* the predicate after '|', or REF_NONE */
};

enum { BARRIERS_PER_BLOCK = 16 };
struct bar_desc {
    ref id, count;   /* REF_NONE = 0, all */
    u8 is_arrive;    /* bar.arrive: does not wait */
    u8 reduction;    /* 0 none, 1 popc, 2 and, 3 or */
    ref pred_source; /* predicate reduced */
    u8 source_negated;
    bool aligned;       /* all lanes of a warp must execute the same instruction */
    bool is_cluster;    /* barrier.cluster.wait: core/cluster.c; the rest says nothing */
    u32 barrier_number; /* barrier_divergence.c: its number, from 1, where all threads must come to it; else 0 */
};

/* A branch that some threads may take round a barrier: the numbers of those that lie on one way
 * only. */
struct bypass_path {
    u32 *skipped, n;
};
struct barrier_bypass {
    struct bypass_path taken, not_taken;
};

struct branch_table {
    u32 *targets, count;
};

struct sim_module {
    struct sim *sim;
    const struct sim_options *options; /* of that sim */
    struct memory *memory;             /* likewise: where its variables lie */
    struct arena arena;
    struct ptx_module *ptx;
    struct op *ops;
    u32 nops, ops_capacity;
    u32 *op_lines; /* by op: of the PTX text, 0 where the decoder added it */
    u32 op_lines_capacity;
    u32 *segment_of; /* op index -> segment, for the op that begins one */
    struct segment *segments;
    u32 nsegments;
    unsigned char *consts; /* behind BASE_CONST: immediates as slots */
    u32 const_bytes, const_capacity;
    struct mem_desc *mems;
    u32 nmems, mems_capacity, nstats;
    struct stat_entry *stat_entries; /* [nstats] */
    struct call_desc *calls;
    struct warp_sync_desc *warp_syncs;
    struct bar_desc *bars;
    struct branch_table *tables;
    struct matrix_desc *matrices; /* matrix.h */
    struct matrix_layout *matrix_layouts;
    struct tex_desc *texs;             /* tex.h */
    struct tensor_desc *tensors;       /* tensor.h */
    struct warpgroup_desc *warpgroups; /* warpgroup.h */
    struct barrier_bypass *barrier_bypasses;
    u32 ncalls, nwarp_syncs, nbars, ntables, nmatrices, nmatrix_layouts, nbarrier_bypasses, ntexs,
        ntensors, nwarpgroups;
    u32 nnumbered_barriers; /* that have numbers: bar_desc.fork */
    struct sim_func *funcs;
    u32 nfuncs;
    struct sim_kernel *kernels;
    u32 nkernels;
    struct module_var *vars;
    u32 nvars;
    const struct sass_insn
        *sass; /* what ptxas made of it, which the caller keeps; NULL = not told */
    u32 nsass;
    struct sim_module *next;
};

/* What a statistics slot counts: a generic instruction has one for each space that it may reach. */
struct stat_entry {
    u32 op;
    u8 space, verb; /* enum mem_space (never generic), enum mem_verb */
    bool is_bulk;   /* STAT_LANES are bytes */
    bool is_texture;
    bool is_mbarrier_wait; /* STAT_REQUESTS: waits for an mbarrier that ended */
};

struct module_var {
    const struct ptx_var *var;
    uint64_t address;
};

struct sim_kernel {
    struct sim_module *module;
    u32 func_index;
    u32 param_bytes;
    u32 registers, spill_bytes; /* from ptxas; 0 = not told */
};

/* Of a block: dynamic shared memory follows the static, at a multiple of 16, or of what its
 * declaration asks for. */
static inline u32 shared_bytes_of(const struct sim_func *c, u32 dynamic) {
    u32 max_align = 1024, requested = dynamic ? c->dynamic_align : 0,
        align = requested < 16          ? 16
                : requested > max_align ? max_align
                                        : requested;
    return ((c->static_shared + align - 1) & ~(align - 1)) + dynamic;
}

/* What a thread is taken to need where ptxas has not told: the most that leaves room for 2048
 * threads in 65536 registers. */
enum { DEFAULT_THREAD_REGISTERS = 32 };
static inline u32 kernel_registers(const struct sim_kernel *k) {
    return k->registers ? k->registers : DEFAULT_THREAD_REGISTERS;
}

/* Decodes m->ptx into m and places its variables in device memory; their contents are written when
 * the module is reset. */
bool code_decode(struct sim_module *m, struct err *e);
/* stat_index.c: fills the list of what statistics belong to. */
void code_index_stats(struct sim_module *m);
/* barrier_divergence.c: numbers a function's barriers of all threads and finds the branches that lead round
 * them. */
void code_find_barrier_divergence(struct sim_module *m, const struct sim_func *c);
/* The core's part: runs an op's lane function with its rounding and flush-to-zero in force
 * (core/fp_environment.c). */
op_fn core_run_with_fp_env;
