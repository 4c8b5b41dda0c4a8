/* insn.h — the instruction table, and the decoded form that the core executes.
 *
 * Theory of operation. A register of a warp is 32 lanes side by side ("a slot"): 64 bytes for
 * 16-bit types, 128 for 32-bit, 256 for 64-bit; a predicate is one 32-bit mask, bit = lane. An
 * operand is a `ref`: which of four bases, and a byte offset from it, so that registers,
 * immediates, special registers and kernel parameters are all read the same way. One row of
 * insn/rows*.def says everything about an instruction: its name, the modifiers it takes, its pipe,
 * its operand types, and its semantics as a C expression over one lane. From the row come the
 * decoder's entry, the lane function (a loop over 32 lanes that the compiler turns into vector
 * code, built once per level of vector instructions), the disassembly, `simgpu coverage` and
 * docs/ptx-coverage.md. */
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
typedef u32 ref; /* of REF() */
enum { REF_BASE_BIT = 30 };
#define REF(base, offset) ((ref)(base) << REF_BASE_BIT | (ref)(offset))
#define REF_NONE          UINT32_MAX
static inline u32 ref_base(ref r) { return r >> REF_BASE_BIT; } /* BASE_… */
static inline u32 ref_offset(ref r) { return r & ((1u << REF_BASE_BIT) - 1); }

/* Fixed slots behind BASE_WARP (set once per warp and launch) and BASE_BLOCK (per block), 128 bytes
 * each. */
/* clang-format off */
#define WARP_SLOTS(X)                                                                              \
    X(W_TID_X, "%tid.x") X(W_TID_Y, "%tid.y") X(W_TID_Z, "%tid.z") X(W_LANEID, "%laneid")          \
    X(W_WARPID, "%warpid") X(W_LT, "%lanemask_lt") X(W_LE, "%lanemask_le") X(W_GT, "%lanemask_gt") \
    X(W_GE, "%lanemask_ge") X(W_EQ, "%lanemask_eq")                                                \
    X(W_STACK_BYTES, "") /* bytes in use of what alloca gives out */
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
    X(B_DYN_SHARED_BASE32, "") X(B_DYN_SHARED_BASE64, "") X(B_DYN_SHARED_BASE64_CONT, "") /* where dynamic shared memory begins */ \
    X(B_GRAPH_EXEC, "") X(B_GRAPH_EXEC_CONT, "")                                /* the graph that the kernel belongs to */
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

/* ---- rows ---- */

/* Modifiers that a row may take, beyond what its name says. */
enum {
    MOD_RND = 1, /* .rn .rz .rm .rp */
    MOD_FTZ = 2,
    MOD_SAT = 4, /* to [0, 1] */
    MOD_RN = 8,  /* .rn alone, which changes nothing */
};

/* X(id, name): the execution unit, for the time model and the instruction mix. */
/* clang-format off */
#define PIPES(X)                                                                                     \
    X(PIPE_ALU, "alu") X(PIPE_FMA, "fma") X(PIPE_FP64, "fp64") X(PIPE_XU, "sfu") X(PIPE_CVT, "cvt") \
    X(PIPE_LSU, "lsu") X(PIPE_TENSOR, "tensor") X(PIPE_CTRL, "control") X(PIPE_SYNC, "sync") X(PIPE_NONE, "none")
/* clang-format on */
enum pipe {
#define X(id, name) id,
    PIPES(X)
#undef X
        PIPE_COUNT
};

/* How the core treats an instruction. */
enum op_kind {
    OP_LANEWISE,    /* a lane function; straight-line code */
    OP_FALLTHROUGH, /* synthetic: the next instruction is a branch target */
    OP_BRA,
    OP_BRX,
    OP_CALL,
    OP_RET,
    OP_EXIT,
    OP_TRAP,
    OP_BAR,       /* block barrier */
    OP_WARP_SYNC, /* a rendezvous of lanes: shuffles, votes, matches, warp barriers */
    OP_YIELD,     /* nanosleep: lets others go first */
};

enum insn_form {
    FORM_REGULAR, /* d, a, b, c: registers and immediates of the row's types */
    FORM_SETP,    /* p|q, a, b (, c) */
    FORM_CARRY,   /* d, a, b (, c), and the carry flag */
    FORM_CUSTOM,  /* decoded by a function of its own (decode_*.c), found by the row's first name */
};

enum { MAX_SRC_OPERANDS = 4 };

struct opcode_desc {
    const char *name;
    u8 mods, pipe, flops, form;
    u8 kind;
    u8 dst; /* enum ptx_type, PTX_NO_TYPE = none */
    u8 src[MAX_SRC_OPERANDS];
    const char *semantics; /* the semantics as written in the row, for docs */
};

extern const struct opcode_desc insn_opcodes[];
extern const unsigned insn_opcode_count;
/* Row of that exact name (no modifiers), or -1. */
int insn_find_opcode(const char *name);

/* Marks for `simgpu coverage` and the tests: which rows have been executed by this process. */
extern unsigned char *insn_executed;

/* ---- decoded instructions ---- */

struct exec;
struct op;
typedef void op_fn(struct exec *x, const struct op *o, u32 mask);

struct op {
    op_fn *run;
    ref dst, src[MAX_SRC_OPERANDS];
    ref guard;       /* predicate mask; the all-ones constant where there is none */
    u32 guard_xor;   /* xor onto the guard */
    u8 kind, weight; /* weight: 1 for a PTX instruction, 0 for what the decoder adds */
    u8 env; /* index into floating-point environments: rounding, flush to zero; 0 = default */
    u8 flags;
    u16 opcode;
    u32 loc;    /* index into the module's locs */
    u32 target; /* branch target, callee, segment-relative data; by kind */
    u32 aux;    /* index of the mem_desc, warp_sync_desc, call_desc …; by kind */
    s64 imm;
};
_Static_assert(sizeof(struct op) == 64, "an op fills one cache line");

enum { /* op.flags */
       OPF_SAT = 1,
       OPF_BACKWARD = 2,       /* branch to an earlier place: where budgets are checked */
       OPF_BARRIER_BYPASS = 4, /* branch that may lead round a barrier; aux: which (code/barrier_divergence.c) */
       OPF_GRID_POLL = 8, /* load, at the beginning of its segment, that may look at the barrier of
                        the grid: core/grid_barrier.c */
       OPF_INTERBLOCK_SYNC = 16, /* at the beginning of its segment: what blocks hand each other
                          things by (core/clock_scheduler.c) */
};

/* A memory instruction. Addresses are src[0] (32- or 64-bit register, or REF_NONE) + imm. */
enum mem_space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_CLUSTER /* shared memory of the cluster's blocks: code/cluster.h */
};
enum mem_verb { MEM_LOAD, MEM_STORE, MEM_ATOM, MEM_RED };
enum atom_op {
#define ATOM(id, name) ATOM_##id,
#include "grader/sim/code/atoms.def"
#undef ATOM
};

enum { MERGED_INTO_OTHER = 1 };
enum { AGGREGATE_NEVER, AGGREGATE_ALWAYS, AGGREGATE_FULL_WARPS };

struct mem_desc {
    u8 verb, space;
    u8 width;            /* bytes of one element */
    u8 count;            /* elements: 1, 2, 4, 8 */
    u8 reg_bytes;        /* of the register that holds one element */
    u8 is_signed;        /* sign-extend a narrow load into its register */
    u8 address32;        /* the address register has 32 bits */
    u8 strong;           /* volatile, relaxed, acquire, release: may communicate between blocks */
    u8 is_release;       /* .release, .acq_rel */
    u8 is_cluster_scope; /* …for threads of the block or the cluster only */
    u8 atom;             /* enum atom_op */
    u8 type;             /* enum ptx_type of the element */
    u8 nc;               /* non-coherent (read-only) path */
    u8 cache_op;         /* 0 default, 'g' .cg, 'a' .ca, 's' .cs, … */
    u32 stat; /* index into the per-launch statistics; generic: + 0 global, + 1 shared, + 2 local */
    ref reg[8];       /* destinations of a load, sources of a store; REF_NONE = sink */
    ref operand[2];   /* of an atomic: b, c */
    ref result;       /* of an atomic; REF_NONE for RED */
    u32 merged_bytes; /* access_merging.c: bytes of the merged access that this one stands for, 0 = none, or
                  MERGED_INTO_OTHER */
    u8 is_increment;  /* decode_mem.c: of shared memory by the constant 1, which hardware merges
                      within  a warp */
    u32 array_begin, array_end; /* offsets of the array in shared memory that the address is made
                                 from; 0, 0 = not known */
    u64 underlying_objects; /* of an entry's access of global memory: what the address is made from,
                  ROOT_…; underlying_object.c */
    u8 copy_only_mask;   /* of a load of several elements, by element: its value is stored elsewhere
                    or not   used at all */
    u8 warp_aggregation; /* access_merging.c: one lane does the warp's atomics, AGGREGATE_… */
    u8 verified_by_atomic; /* a load of what an atomic then checks again: cas_retry.c */
    u8 is_cp_async; /* the store of a cp.async; op.target: how many ops before it its load is */
    u8 is_texture;  /* of a texture fetch or surface access: code/tex.h */
    u8 is_bulk;     /* of a bulk copy, without registers: a slot of statistics for each memory, as a
                    generic access has */
    u32 same_address_as; /* address_reuse.c: 1 + the stat of the access whose addresses these are, moved
                 by … bytes; 0 = of none */
    s64 address_delta;
};

/* ---- lane functions, per level of vector instructions ---- */

/* The table in row order that fits the machine at hand; NULL where the core executes the row
 * itself. */
op_fn *const *lanes_default_table(void);
/* The same for a level of this processor (isa_levels.def), from 1, the least, on, so that tests can
 * compare them; NULL if there is none of that number, or the machine lacks it. */
enum { LANES_MAX_LEVELS = 3 /* at most */ };
op_fn *const *lanes_level_table(unsigned level);
const char *lanes_level_name(unsigned level); /* "none" where that gives NULL */
/* What is loaded and launched from now on uses that level, which the machine must have; 0 = the
 * best. For tests. */
void lanes_force_level(unsigned level);

/* ---- saturation, environments ---- */

/* op.env: bits 0-1 rounding, bit 2 ftz; core/fp_environment.c tells the processor. */
enum { ENV_RN, ENV_RM, ENV_RP, ENV_RZ, ENV_FTZ };
