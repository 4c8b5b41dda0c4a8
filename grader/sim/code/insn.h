/* insn.h — the instruction table, and the decoded form that the core executes.
 *
 * Theory of operation. A register of a warp is 32 lanes side by side (a *slot*): 64 bytes for
 * 16-bit types, 128 for 32-bit, 256 for 64-bit; a predicate is one 32-bit mask, bit = lane. An
 * operand is a `ref`: one of four bases and a byte offset from it, so that registers, immediates,
 * special registers and kernel parameters are all read the same way. One row of insn/opcodes*.def
 * defines an instruction: its name, its modifiers, its pipe, its operand types, and its semantics
 * as a C expression over one lane. From the row follow the decoder's entry, the lane function (a
 * loop over 32 lanes that the compiler turns into vector code, built once per level of vector
 * instructions), the disassembly, `simgpu coverage` and docs/ptx-coverage.md. */
#pragma once
#include "grader/sim/ptx/ptx.h"

#include <stdint.h>

typedef int8_t s8;
typedef uint8_t u8;
typedef int16_t s16;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

/* ---- operands ---- */

enum { BASE_FRAME, BASE_CONST, BASE_WARP, BASE_BLOCK, BASE_COUNT };
typedef u32 ref; /* made by REF() */
enum { REF_BASE_BIT = 30 };
#define REF(base, offset) ((ref)(base) << REF_BASE_BIT | (ref)(offset))
#define REF_NONE          UINT32_MAX
static inline u32 ref_base(ref r) { return r >> REF_BASE_BIT; } /* BASE_… */
static inline u32 ref_offset(ref r) { return r & ((1u << REF_BASE_BIT) - 1); }

/* The fixed slots, of 128 bytes: behind BASE_WARP, set once per warp and launch, and behind
 * BASE_BLOCK, set per block. */
/* clang-format off */
#define WARP_SLOTS(X)                                                                              \
    X(W_TID_X, "%tid.x") X(W_TID_Y, "%tid.y") X(W_TID_Z, "%tid.z") X(W_LANEID, "%laneid")          \
    X(W_WARPID, "%warpid") X(W_LT, "%lanemask_lt") X(W_LE, "%lanemask_le") X(W_GT, "%lanemask_gt") \
    X(W_GE, "%lanemask_ge") X(W_EQ, "%lanemask_eq")                                                \
    X(W_STACK_BYTES, "") /* bytes of the alloca stack in use */
/* clang-format on */
/* clang-format off */
#define BLOCK_SLOTS(X)                                                                                        \
    X(B_CTAID_X, "%ctaid.x") X(B_CTAID_Y, "%ctaid.y") X(B_CTAID_Z, "%ctaid.z") X(B_NTID_X, "%ntid.x")         \
    X(B_NTID_Y, "%ntid.y") X(B_NTID_Z, "%ntid.z") X(B_NCTAID_X, "%nctaid.x") X(B_NCTAID_Y, "%nctaid.y")       \
    X(B_NCTAID_Z, "%nctaid.z") X(B_NWARPID, "%nwarpid") X(B_SMID, "%smid") X(B_NSMID, "%nsmid")               \
    X(B_GRIDID, "%gridid") X(B_DYN_SHARED, "%dynamic_smem_size") X(B_TOTAL_SHARED, "%total_smem_size")        \
    X(B_CLUSTER_SIZE, "%cluster_nctarank") X(B_CLUSTER_RANK, "%cluster_ctarank")                              \
    X(B_CLUSTER_CTAID_X, "%cluster_ctaid.x") X(B_CLUSTER_CTAID_Y, "%cluster_ctaid.y")                         \
    X(B_CLUSTER_CTAID_Z, "%cluster_ctaid.z") X(B_CLUSTER_NCTAID_X, "%cluster_nctaid.x")                       \
    X(B_CLUSTER_NCTAID_Y, "%cluster_nctaid.y") X(B_CLUSTER_NCTAID_Z, "%cluster_nctaid.z")                     \
    X(B_CLUSTERID_X, "%clusterid.x") X(B_CLUSTERID_Y, "%clusterid.y") X(B_CLUSTERID_Z, "%clusterid.z")        \
    X(B_NCLUSTERID_X, "%nclusterid.x") X(B_NCLUSTERID_Y, "%nclusterid.y")                                     \
    X(B_NCLUSTERID_Z, "%nclusterid.z") X(B_EXPLICIT_CLUSTER, "") X(B_ENVREG1, "") X(B_ENVREG2, "")            \
    /* where dynamic shared memory begins */                                                                  \
    X(B_DYN_SHARED_BASE32, "") X(B_DYN_SHARED_BASE64, "") X(B_DYN_SHARED_BASE64_CONT, "")                     \
    /* the graph that the kernel belongs to */                                                                \
    X(B_GRAPH_EXEC, "") X(B_GRAPH_EXEC_CONT, "")
/* clang-format on */
enum {
#define X(id, name) id,
    WARP_SLOTS(X) W_SLOT_COUNT
};
enum {
    BLOCK_SLOTS(X) B_SLOT_COUNT
#undef X
};
enum { SLOT_BYTES = 128 };
#define SLOT_NAME(id, name) name,
#define WARP_SLOT_NAMES     WARP_SLOTS(SLOT_NAME)
#define BLOCK_SLOT_NAMES    BLOCK_SLOTS(SLOT_NAME)

/* ---- opcodes ---- */

/* The modifiers that an opcode may accept, beyond those in its name. */
enum {
    MOD_RND = 1, /* .rn .rz .rm .rp */
    MOD_FTZ = 2,
    MOD_SAT = 4, /* clamp to [0, 1] */
    MOD_RN = 8,  /* .rn alone, which is the default */
};

/* X(id, name): the pipes. The table's rows use CVT (conversions) and SYNC, which the time model
 * charges to ALU and CTRL. Only machine instructions use IADD (additions of 32 bits, which ptxas
 * distributes over ALU and IMAD) and IMAD. CTRL: control, and all that has no pipe of its own. */
/* clang-format off */
#define PIPES(X)                                                                               \
    X(PIPE_NONE, "none") X(PIPE_ALU, "alu") X(PIPE_IADD, "iadd") X(PIPE_IMAD, "imad")          \
    X(PIPE_FMA, "fma") X(PIPE_FP64, "fp64") X(PIPE_XU, "xu") X(PIPE_CVT, "cvt")                \
    X(PIPE_LSU, "lsu") X(PIPE_TENSOR, "tensor") X(PIPE_CTRL, "control") X(PIPE_SYNC, "sync")
/* clang-format on */
enum pipe {
#define X(id, name) id,
    PIPES(X)
#undef X
        PIPE_COUNT
};

/* How the core treats an instruction. */
enum op_kind {
    OP_LANEWISE,    /* has a lane function; straight-line code */
    OP_FALLTHROUGH, /* synthetic: the next instruction is a branch target */
    OP_BRA,
    OP_BRX,
    OP_CALL,
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_BAR,       /* block barrier */
    OP_WARP_SYNC, /* waits for the lanes of a member mask: shuffle, vote, match, warp barrier */
    OP_YIELD,     /* nanosleep: other warps run first */
};

enum insn_form {
    FORM_REGULAR, /* d, a, b, c: registers and immediates of the row's types */
    FORM_SETP,    /* p|q, a, b (, c) */
    FORM_CARRY,   /* d, a, b (, c), and the carry flag */
    FORM_CUSTOM,  /* a function of decode_*.c decodes it, found by the first word of its name */
};

enum { MAX_SRC_OPERANDS = 4 };

struct opcode_desc {
    const char *name;
    u8 mods, pipe, flops, form;
    u8 kind;
    u8 dst; /* enum ptx_type; PTX_NO_TYPE = none */
    u8 src[MAX_SRC_OPERANDS];
    const char *semantics; /* as written in the row, for the documentation */
};

extern const struct opcode_desc insn_opcodes[];
extern const unsigned insn_opcode_count;
/* Returns the index of the opcode with exactly that name, without modifiers, or -1. */
int insn_find_opcode(const char *name);

/* [insn_opcode_count]: 1 where this process has executed the opcode; for `simgpu coverage` and the
 * tests. */
extern unsigned char *insn_executed;

/* ---- decoded instructions ---- */

struct exec;
struct op;
typedef void op_fn(struct exec *x, const struct op *o, u32 mask);

struct op {
    op_fn *run;
    ref dst, src[MAX_SRC_OPERANDS];
    ref guard;       /* predicate mask; a constant of all ones where there is no guard */
    u32 guard_xor;   /* ~0 inverts the guard (@!p), else 0 */
    u8 kind, weight; /* weight: 1 for a PTX instruction, 0 for an op that the decoder adds */
    u8 env;          /* rounding and flush to zero, ENV_…; 0 = default */
    u8 flags;
    u16 opcode;
    u32 loc;    /* index into the module's locs */
    u32 target; /* branch target, callee or other data; depends on kind */
    u32 aux;    /* index of the mem_desc, warp_sync_desc, call_desc …; depends on kind */
    s64 imm;
};
_Static_assert(sizeof(struct op) == 64, "an op fills one cache line");

/* The bits of op.flags. */
enum {
    OPF_SAT = 1,
    /* A branch backwards; the core checks the instruction budget here. */
    OPF_BACKWARD = 2,
    /* A branch that may bypass a barrier; aux: index of its barrier_bypass. */
    OPF_BARRIER_BYPASS = 4,
    /* A load that may poll the grid barrier (core/grid_barrier.c); it begins its segment. */
    OPF_GRID_POLL = 8,
    /* An access by which blocks synchronize (core/clock_scheduler.c); it begins its segment. */
    OPF_INTERBLOCK_SYNC = 16,
};

enum mem_space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_CLUSTER /* shared memory of the cluster's blocks (code/cluster.h) */
};
enum mem_verb { MEM_LOAD, MEM_STORE, MEM_ATOM, MEM_RED };
enum atom_op {
#define ATOM(id, name) ATOM_##id,
#include "grader/sim/code/atoms.def"
#undef ATOM
};

enum { MERGED_INTO_OTHER = 1 };
/* The order in which L2 evicts lines; see code/eviction.c. */
enum l2_eviction { L2_EVICT_NORMAL, L2_EVICT_FIRST, L2_EVICT_LAST };
enum { AGGREGATE_NEVER, AGGREGATE_ALWAYS, AGGREGATE_FULL_WARPS };

/* A memory instruction. Its address is src[0] (a 32- or 64-bit register, or REF_NONE) + imm. */
struct mem_desc {
    u8 verb, space;
    u8 width;            /* bytes of one element */
    u8 count;            /* elements: 1, 2, 4, 8 */
    u8 reg_bytes;        /* size of the register that holds one element */
    u8 is_signed;        /* sign-extend a narrow load into its register */
    u8 address32;        /* the address register has 32 bits */
    u8 strong;           /* volatile, relaxed, acquire, release: may communicate between blocks */
    u8 is_release;       /* .release, .acq_rel */
    u8 is_acquire;       /* .acquire, .acq_rel */
    u8 is_poll;          /* a strong load whose value decides whether a loop ends (poll_loads.c) */
    u8 is_cluster_scope; /* strong or release, but for threads of the block or cluster only */
    u8 is_block_scope;   /* of these, for threads of the block only */
    u8 atom;             /* enum atom_op */
    u8 type;             /* enum ptx_type of the element */
    u8 nc;               /* non-coherent (read-only) path */
    u8 cache_op;         /* 0 default, 'g' .cg, 'a' .ca, 's' .cs, … */
    u8 l2_eviction;      /* enum l2_eviction: the class that a hint gives its lines */
    /* Index of its statistics slot. Generic accesses have three: + 0 global, + 1 shared, + 2
     * local. */
    u32 stat;
    ref reg[8];      /* destinations of a load, sources of a store; REF_NONE = sink */
    ref operand[2];  /* of an atomic: b, c */
    ref result;      /* of an atomic; REF_NONE for RED */
    u8 vector_bytes; /* of a vector atomic, in its first element: multiples of it are aligned */
    /* Bytes of the merged access that this one stands for (access_merging.c). 0: not merged;
     * MERGED_INTO_OTHER: another access stands for it. */
    u32 merged_bytes;
    u8 is_increment; /* adds the constant 1 to shared memory, which hardware merges within a warp */
    /* Offsets of the array in shared memory from which the address is computed; 0, 0 = unknown. */
    u32 array_begin, array_end;
    /* For global memory, in an entry: what the address is computed from, OBJ_… bits. */
    u64 underlying_objects;
    /* For a load of several elements, a bit each: the value is only stored again, or unused. */
    u8 copy_only_mask;
    u8 warp_aggregation;   /* AGGREGATE_…: one lane does the warp's atomic (access_merging.c) */
    u8 has_lane_address;   /* constant memory: the address may differ between lanes */
    u8 verified_by_atomic; /* a later atomic verifies the loaded value (cas_retry.c) */
    u8 is_cp_async;        /* the store of a cp.async; its load is op.target ops earlier */
    u8 is_texture;         /* a texture fetch or surface access (code/tex.h) */
    u8 is_bulk;            /* a bulk copy: no registers, and a statistics slot for each memory */
    /* 1 + the statistics slot of an earlier access that has the same addresses, moved by
     * address_delta bytes; 0 = none (address_reuse.c). */
    u32 same_address_as;
    s64 address_delta;
};

/* ---- lane functions, per level of vector instructions ---- */

/* Returns the lane functions, by opcode, for the best level that this machine has; NULL where the
 * core executes the opcode itself. */
op_fn *const *lanes_default_table(void);
/* Returns the same for one level (isa_levels.def; 1 is the lowest), so that tests can compare
 * levels; NULL if the level doesn't exist or the machine lacks it. */
enum { LANES_MAX_LEVELS = 3 };
op_fn *const *lanes_level_table(unsigned level);
/* Functions of the level that follow the opcodes in the table, for native code. */
enum { LANE_RACE_GLOBAL, LANE_RACE_SHARED, LANE_RACE_SHARED_READS, LANE_REMEMBER_LOADS };
const char *lanes_level_name(unsigned level); /* "none" if there is no such level */
/* Makes later loads and launches use that level, which the machine must have; 0 = the best. For
 * tests. */
void lanes_force_level(unsigned level);

/* ---- saturation, environments ---- */

/* op.env: bits 0-1 rounding, bit 2 flush to zero; core/fp_environment.c sets up the processor. */
enum { ENV_RN, ENV_RM, ENV_RP, ENV_RZ, ENV_FTZ };
