/* code.h — decoded code: what the decoder makes of a PTX module and the core executes. */
#pragma once
#include "grader/sim/code/insn.h"
#include "grader/sim/mem/mem.h"

/* The windows in the generic address space, which holds all state spaces (PTX ISA, "State
 * Spaces"). */
#define SHARED_WINDOW 0x200000000000ull
#define LOCAL_WINDOW  0x210000000000ull
#define PARAM_WINDOW  0x220000000000ull
/* A texture's or surface's handle is TEXTURE_WINDOW + 64 × (1 + its index). */
#define TEXTURE_WINDOW 0x240000000000ull
#define WINDOW_BYTES   0x000100000000ull
/* A function pointer holds FUNC_WINDOW + the function's index. */
#define FUNC_WINDOW 0x230000000000ull

/* Runs the lane instructions of a segment; returns the op at which the interpreter proceeds. */
typedef const struct op *native_fn(struct exec *x, const struct op *ops);
/* Runs a loop from its header on, for a warp all of whose lanes run together, and counts the
 * segments that it completes; it ends at a branch backwards once it has run about `max_insns`
 * instructions. Sets f->pc to the segment in which the interpreter proceeds, and returns the op;
 * NULL, with nothing done, where native code can't run the loop. */
struct warp_split;
typedef const struct op *native_loop_fn(struct exec *x, const struct op *ops, struct warp_split *f,
                                        u64 max_insns);
/* Native code of the segment, and of the loop whose header it is; NULL = none. */
struct native_code {
    native_fn *segment;
    native_loop_fn *loop;
};

/* Straight-line code that the core runs and counts as a unit. */
struct segment {
    u32 first, last; /* ops, both included; the last is the control op */
    u32 insn_count;  /* PTX instructions in it */
    /* A block may get its work here: an atomic addition in global memory whose old value is
     * used. */
    bool fetches_ticket;
    bool is_exit_path; /* It does nothing but lead to the thread's exit. */
};

/* A kernel parameter, which the launch copies to a slot behind BASE_BLOCK, the same for all
 * lanes. */
struct param_slot {
    u32 offset; /* its place in the parameter space, in bytes */
    u32 at;     /* byte offset behind BASE_BLOCK */
    u8 bytes, reg_bytes, is_signed;
};

/* The words (4 bytes × 32 lanes) of a frame that hold a .param variable of a function. */
struct param_area {
    const struct ptx_var *var;
    u32 offset, bytes; /* frame offset of word 0 */
};

/* Bytes of a frame that are zeroed when its function is entered. */
struct frame_range {
    u32 offset, bytes;
};

/* The offset of a variable in its state space. */
struct var_offset {
    const struct ptx_var *var;
    u32 offset;
};

struct sim_func {
    const struct ptx_func *func;
    const char *name;
    u32 first_op, end_op;             /* in module->ops */
    u32 frame_bytes;                  /* registers, all lanes together */
    u32 local_bytes;                  /* per lane, of this function's .local variables */
    u32 static_shared, dynamic_align; /* dynamic_align: of dynamic shared memory; 0 = 16 */
    u32 max_frame, max_local;         /* with the deepest chain of calls */
    u32 block_slot_bytes;             /* slots behind BASE_BLOCK; entries only */
    /* Blocks may see each other's writes: one worker runs them in order. */
    bool interblock_dependent;
    /* A lane may wait for another one's write: the function has atomics with results, volatile
     * loads, fences or mbarriers. */
    bool may_spin;
    /* A block may wait here for a value in global memory from another block (global_polls.c). */
    bool polls_global;
    /* It may wait for the host's writes or tell the host of its own: it has polls, volatile
     * accesses, or fences or atomics of system scope. */
    bool may_sync_with_host;
    /* Other blocks may poll what this function writes, by atomics or strong stores. */
    bool updates_global;
    /* For entries: the sets of objects that the address of a store or an atomic is computed from,
     * OBJ_… (underlying_object.c); each set once. */
    u64 *mod_sets;
    u32 nmod_sets;
    /* A store reached memory that these sets don't lead to: race/writable_allocations.c. */
    bool has_unproven_stores;
    u8 plain_accesses; /* enum plain_accesses of race/idempotence.c */
    /* Accesses of that memory may be narrower than a word. */
    bool has_subword_global, has_subword_shared;
    bool recursive, cooperative;
    bool is_native; /* native code was requested before the launch, in vain or not */
    u8 native_step; /* native/background.c */
    u64 warp_insns; /* that its launches as a kernel have executed so far */
    bool reads_textures, writes_surfaces;
    bool has_wgmma;
    bool has_async_proxy_reads; /* The async proxy reads shared memory: wgmma or bulk copies. */
    /* Reads the block's rank or addresses other blocks of the cluster; waits for them. */
    bool uses_clusters, uses_cluster_barrier;
    /* The function, or one that it calls, uses alloca: ALLOCA_BYTES follow each thread's local
     * memory. */
    bool uses_alloca;
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

/* Bits of sim_func.mod_sets: a kernel parameter's number, or one of these. */
enum { OBJ_MODULE_VARS = 62 /* the module's variables */, OBJ_UNKNOWN = 63 /* anything */ };

enum { ALLOCA_BYTES = 16 << 10 };

enum builtin {
    BUILTIN_NONE,
    BUILTIN_VPRINTF,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    BUILTIN_ASSERTFAIL,
    BUILTIN_GRAPH_SET_CONDITIONAL,
    BUILTIN_CUDA_MALLOC, /* in device code; the heap is that of malloc */
    BUILTIN_CUDA_FREE,
    BUILTIN_GET_PARAM_BUFFER, /* from here on the device runtime (core/device_launch.c) */
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
    BUILTIN_MEMCPY_2D_ASYNC,
    BUILTIN_MEMSET_2D_ASYNC,
    BUILTIN_CREATE_HANDLE,  /* a stream or an event */
    BUILTIN_RETURN_SUCCESS, /* calls that order streams, which run in order anyway */
};

struct call_desc {
    u32 callee; /* index of sim_module.funcs; UINT32_MAX = through a register */
    u8 builtin;
    ref target; /* register of an indirect call */
    u32 nargs, nrets;
    struct param_area *args; /* in the caller's frame: arguments, then return values */
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
    u8 kind, mode, type, wide; /* mode: its meaning depends on kind; wide: 64-bit source */
    ref member_mask;           /* a 32-bit register or constant */
    ref pred_dst;              /* the predicate behind '|', or REF_NONE */
    bool is_unordered;         /* of a barrier: lanes wait, but their accesses aren't ordered */
};

enum { BARRIERS_PER_BLOCK = 16 };
struct bar_desc {
    ref id, count;   /* REF_NONE: barrier 0; all threads */
    u8 is_arrive;    /* bar.arrive: does not wait */
    u8 reduction;    /* 0 none, 1 popc, 2 and, 3 or */
    ref pred_source; /* the predicate to reduce */
    u8 source_negated;
    bool aligned;    /* all lanes of a warp must execute the same instruction */
    bool is_cluster; /* barrier.cluster.wait (core/cluster.c); the other fields are unused */
    /* number in the module, from 1, if all threads must arrive (barrier_divergence.c); else 0 */
    u32 barrier_number;
};

/* A branch by which some threads may bypass a barrier: for each side, the numbers of the barriers
 * that lie on the other side only. */
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
    const struct sim_options *options; /* of `sim` */
    struct memory *memory;             /* of `sim`; holds the module's variables */
    struct arena arena;
    struct ptx_module *ptx;
    struct op *ops;
    u32 nops, ops_capacity;
    u32 *op_lines; /* [nops]: line of the PTX text; 0 where the decoder added the op */
    u32 op_lines_capacity;
    u32 *segment_of; /* op index -> segment, for the op that begins one */
    struct segment *segments;
    u32 nsegments;
    unsigned char *consts; /* behind BASE_CONST: immediate operands, as slots */
    u32 const_bytes, const_capacity;
    struct mem_desc *mems;
    u32 nmems, mems_capacity, nstats;
    struct stat_entry *stat_entries; /* [nstats] */
    struct call_desc *calls;
    struct warp_sync_desc *warp_syncs;
    /* ops, mems and warp_syncs with a slot for each register, before slot_sharing.c: for the time
     * model, which follows values by register. */
    const struct op *unshared_ops;
    const struct mem_desc *unshared_mems;
    const struct warp_sync_desc *unshared_warp_syncs;
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
    u32 nnumbered_barriers; /* barriers with a bar_desc.barrier_number */
    struct sim_func *funcs;
    u32 nfuncs;
    struct sim_kernel *kernels;
    u32 nkernels;
    struct module_var *vars;
    u32 nvars;
    unsigned device; /* that owns its variables */
    /* An earlier load of the same text for another device, whose __managed__ variables it shares;
     * or NULL. */
    const struct sim_module *twin;
    u64 text_hash;
    const struct sass_insn *sass; /* the machine code, owned by the caller; NULL = unknown */
    u32 nsass;
    /* By segment, NULL = none; read atomically, since compile.c may set it during a launch. */
    struct native_code *native;
    struct native_object *native_objects;
    struct sim_module *next;
};

/* The instruction and memory that a statistics slot counts. A generic instruction has a slot for
 * each space that it may reach. */
struct stat_entry {
    u32 op;
    u8 space, verb; /* enum mem_space (never generic), enum mem_verb */
    bool is_bulk;   /* STAT_LANES counts bytes */
    bool is_texture;
    bool is_mbarrier_wait; /* STAT_REQUESTS counts waits that found the phase complete */
};

struct module_var {
    const struct ptx_var *var;
    uint64_t address;
    bool is_shared; /* it belongs to the module's twin */
};

struct sim_kernel {
    struct sim_module *module;
    u32 func_index;
    u32 param_bytes;
    u32 registers, spill_bytes; /* from ptxas; 0 = unknown */
};

/* Returns the shared memory of a block, in bytes. The dynamic part follows the static one, aligned
 * to 16 bytes or to what its declaration requires. */
static inline u32 shared_bytes_of(const struct sim_func *c, u32 dynamic) {
    u32 max_align = 1024, requested = dynamic ? c->dynamic_align : 0,
        align = requested < 16          ? 16
                : requested > max_align ? max_align
                                        : requested;
    return ((c->static_shared + align - 1) & ~(align - 1)) + dynamic;
}

/* Registers of a thread where ptxas reports none: the most with which 2048 threads fit into the
 * 65536 registers of an SM. */
enum { DEFAULT_THREAD_REGISTERS = 32 };
static inline u32 kernel_registers(const struct sim_kernel *k) {
    return k->registers ? k->registers : DEFAULT_THREAD_REGISTERS;
}

/* Decodes m->ptx into m and places its variables in device memory; their contents are written when
 * the module is reset. Returns false with the error set. */
bool code_decode(struct sim_module *m, struct err *e);
/* stat_index.c: fills m->stat_entries. */
void code_index_stats(struct sim_module *m);
/* barrier_divergence.c: numbers the barriers that all threads of a block must reach and finds the
 * branches that may bypass them. */
void code_find_barrier_divergence(struct sim_module *m, const struct sim_func *c);
/* The core defines this one: it runs an op's lane function with the op's rounding and flushing in
 * force (core/fp_environment.c). */
op_fn core_run_with_fp_env;
