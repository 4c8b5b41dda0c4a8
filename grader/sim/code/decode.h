/* decode.h — from parsed PTX to what the core executes.
 *
 * decode.c         a module: variables placed, functions in order, segments, call graph
 * decode_op.c      operands, row look-up, instructions that are an expression
 * decode_mem.c     loads, stores, atomics, address conversions
 * decode_lower.c   instructions made of other rows
 * decode_async.c   cp.async, mbarrier, bulk copies
 * decode_tensor.c  bulk copies by tensor maps
 * decode_tensormap.c  tensor maps that kernels change
 * decode_cluster.c barriers and shared memory of clusters
 * decode_tex.c     textures and surfaces
 * decode_matrix.c  mma, wmma, ldmatrix
 * decode_warpgroup.c  wgmma
 * wgmma_fence_check.c         where wgmma.fence may be missing
 * dataflow.c           what holds of registers on all paths
 * underlying_object.c          what addresses are made from
 * access_merging.c          accesses that ptxas makes one of
 * fma_contraction.c       products and sums that ptxas makes one of
 * cas_retry.c        loads of what an atomic then checks again
 * barrier_divergence.c          branches that lead round a barrier
 * stat_index.c         what statistics belong to
 * decode_control.c branches, calls, barriers, rendezvous */
#pragma once
#include "grader/sim/code/code.h"
#include "grader/sim/device.h"

/* Bytes of parameters, local and shared memory: the PTX manual's limits (the last is more than any
 * device has); of a frame: ours. */
enum {
    MAX_PARAM_BYTES = 32764,
    MAX_LOCAL_BYTES = 512 << 10,
    MAX_SHARED_BYTES = 1 << 20,
    MAX_FRAME_BYTES = 64 << 20
};

struct decoder {
    struct sim_module *m;
    const struct ptx_func *f;
    struct sim_func *c;
    const struct ptx_insn *insn;    /* being decoded */
    u32 loc;                        /* the last place with a line: what has none belongs to it */
    ref *regs;                      /* by PTX register */
    u32 *read_counts;               /* how often each register is read */
    u32 *store_use_counts;          /* as what a store puts into memory */
    u32 frame_bytes;                /* bytes given out so far */
    struct param_area *param_areas; /* of this function: formals and call sequences */
    u32 nparam_areas;
    ref saved_stack; /* what was in use of the stack when the function began; REF_NONE if it does
                  not allocate */
    ref carry_flag;  /* the carry flag's mask; REF_NONE until an instruction needs it */
    struct var_offset *local_vars, *shared_vars;
    u32 nlocal_vars, nshared_vars;
    u64 *reg_objects;   /* by register of an entry, the parameters that it is made from; NULL = not
                           known */
    u64 *reg_arrays;    /* by register, the arrays in shared memory that it is made from; NULL = not
                         * known
                         */
    u64 *fence_checked; /* wgmma_fence_check.c: bits by register; NULL = none */
    struct contraction *contractions; /* fma_contraction.c: by instruction; NULL = none */
    struct const_map *consts;
    struct err *e;
    bool module_polls_global;   /* the module has what code.looks says */
    bool module_uses_grid_sync; /* the module names the workspace of cooperative launches */
};

/* Each returns false with the error set. */
bool decode_regular(struct decoder *d);
bool decode_set(struct decoder *d); /* decode_lower.c */
bool decode_cp(struct decoder *d);  /* decode_async.c */
bool decode_tensor(struct decoder *d);
bool decode_tensormap(struct decoder *d);
bool decode_fence(struct decoder *d);
bool decode_mbarrier(struct decoder *d);
bool decode_video(struct decoder *d);        /* decode_lower.c */
bool decode_createpolicy(struct decoder *d); /* createpolicy: a destination that becomes 0 */
bool decode_alloca(struct decoder *d);       /* alloca, stacksave, stackrestore */
/* Around a function that allocates: what it took is given back when it returns. */
void decode_emit_stack_prologue(struct decoder *d);
void decode_emit_stack_epilogue(struct decoder *d);
bool decode_matrix(struct decoder *d); /* decode_matrix.c */
bool decode_warpgroup(struct decoder *d);
/* n registers of 4 or 8 bytes, one or a vector: of results, `_` is a slot that nothing reads. */
bool decode_register_list(struct decoder *d, const struct ptx_operand *p, bool written, unsigned n,
                          unsigned bytes, ref *out);
/* Operands that fit a matrix opcode, as text. */
bool decode_matrix_operands(const char *opcode, struct buf *out);
bool decode_mapa(struct decoder *d);    /* decode_cluster.c */
bool decode_texture(struct decoder *d); /* decode_tex.c */
bool decode_surface(struct decoder *d);
bool decode_texture_query(struct decoder *d);
bool decode_getctarank(struct decoder *d);
bool decode_cluster_barrier(struct decoder *d);
bool decode_memory(struct decoder *d); /* ld, ldu, st */
bool decode_atomic(struct decoder *d); /* atom, red */
bool decode_cvta(struct decoder *d);
bool decode_isspacep(struct decoder *d);
bool decode_branch(struct decoder *d); /* bra, brx */
bool decode_call(struct decoder *d);
bool decode_return(struct decoder *d);    /* ret, exit, trap */
bool decode_barrier(struct decoder *d);   /* bar, barrier: of the block, or of a warp */
bool decode_warp_sync(struct decoder *d); /* shfl, vote, match, redux */
bool decode_no_operands(
    struct decoder *d); /* no operands of interest: fences, hints, activemask, nanosleep */

/* An error about the instruction at hand: "not implemented: …" with kernel, source line and PTX
 * line. */
bool decode_unsupported(struct decoder *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends an op for the row, with the instruction's guard and place. */
struct op *decode_emit_named(struct decoder *d, const char *mnemonic);

/* Slots: `bytes` is the size of one lane's register (1 = predicate). */
ref decode_slot_new(struct decoder *d, unsigned bytes);
ref decode_slot_const(struct decoder *d, u64 value, unsigned bytes);
unsigned decode_reg_bytes(enum ptx_type t);

/* The operand as a source of the given type: register, immediate, special register, address of a
 * variable. Emits what is needed to narrow a wider register. False if it cannot be. */
bool decode_source(struct decoder *d, const struct ptx_operand *p, enum ptx_type t, ref *out);
/* A predicate source: *flip gets ~0 for !%p. */
bool decode_predicate(struct decoder *d, const struct ptx_operand *p, ref *out, u32 *flip);
bool decode_destination(struct decoder *d, const struct ptx_operand *p, ref *out, unsigned *bytes);
/* [base + offset]: sets o->src[0], o->imm and address32; `space` may be refined (generic to shared,
 * …). */
struct address {
    ref base;
    s64 offset;
    bool address32;
    const struct ptx_var *var;
};
bool decode_address(struct decoder *d, const struct ptx_operand *p, struct address *out);

/* A load or store as described, at the address that the operand says. */
bool decode_emit_access(struct decoder *d, struct mem_desc *m, const struct ptx_operand *p);
void decode_emit_access_at(struct decoder *d, const struct mem_desc *m, ref address, s64 offset);
/* All lanes of the warp meet; not counted. */
void decode_emit_warp_barrier(struct decoder *d);
/* The address as a 64-bit value in one slot. */
/* Keeps the description, with statistics of its own; returns its index. */
u32 decode_add_desc(struct decoder *d, const struct mem_desc *desc);
bool decode_address64(struct decoder *d, const struct ptx_operand *p, ref *out);
/* Writes the op's result of type `t` into the operand's register, which may be wider. */
bool decode_put_result(struct decoder *d, u32 at_op, const struct ptx_operand *p, enum ptx_type t);
/* The row that an opcode means, modifiers taken off into *dropped, or -1. */
int decode_find_opcode(const char *opcode, unsigned *dropped);
/* Products that ptxas takes into the sums behind them (fma_contraction.c): found before a function is laid
 * out; then instead of decode_insn. */
void decode_find_contractions(struct decoder *d);
bool decode_contracted_insn(struct decoder *d, u32 i);
bool decode_insn(struct decoder *d);
/* A row of three operands; `dropped` of its opcode: rounding, flushing, clamping. */
bool decode_emit_float(struct decoder *d, int opc, const char *opcode, unsigned dropped,
                       const ref src[3], const struct ptx_operand *to);
/* Marks what ptxas merges and aggregates in the function just decoded (access_merging.c). */
void decode_merge_accesses(struct decoder *d);
/* Marks loads of what an atomic checks again, in the same (cas_retry.c). */
void decode_find_cas_retries(struct decoder *d);
/* Marks accesses whose addresses are an earlier one's (address_reuse.c). */
void decode_find_address_reuse(struct decoder *d);
/* The set of what the entry just decoded may change, ROOT_… (underlying_object.c). */
u64 decode_mod_set(const struct decoder *d);
/* underlying_object.c: decoder.roots, to be freed, and what an address is made from. */
u64 *decode_param_objects(const struct decoder *d);
u64 decode_underlying_objects(const struct decoder *d, const struct ptx_operand *p);
/* underlying_object.c: decoder.arrays, to be freed, and the one array that an address leads to, or NULL. */
u64 *decode_array_objects(const struct decoder *d);
const struct var_offset *decode_underlying_array(const struct decoder *d,
                                                 const struct ptx_operand *p);
/* Notes that an instruction which is decoded into other rows was met (RD rows). */
void decode_mark_lowered(const char *mnemonic);

struct param_area *decode_find_param_area(struct decoder *d, const struct ptx_var *v);
bool decode_var_address(struct decoder *d, const struct ptx_var *v,
                        u64 *out); /* of a placed variable */
/* The opcode's n-th dotted part, and whether it has a part. */
bool decode_opcode_part(const char *opcode, unsigned n, char *out, size_t size);
bool decode_opcode_has(const char *opcode, const char *part);
enum ptx_type decode_opcode_type(const char *opcode); /* the last part that is one */
/* dataflow.c: bits by register that hold at a point because they do on all paths to it. `step` changes
 * them as an instruction does; once it is `known` what holds, it is called for each instruction
 * once more. False: the function is too large. */
struct dataflow_problem {
    void (*transfer)(void *user, const struct ptx_insn *in, u64 *bits, bool known);
    void *user;
    bool all_set_at_entry; /* all hold there, or none does */
};
bool decode_run_dataflow(const struct ptx_func *f, const struct dataflow_problem *flow);
static inline void decode_set_bit(u64 *bits, int reg) { bits[reg / 64] |= 1ull << (reg % 64); }
static inline bool decode_has_bit(const u64 *bits, int reg) {
    return bits[reg / 64] >> (reg % 64) & 1;
}
/* wgmma_fence_check.c: finds out whether the function's registers are to be watched; after each instruction,
 * does so. */
void decode_find_missing_fences(struct decoder *d);
void decode_emit_fence_notes(struct decoder *d);
/* definite_assignment.c: fills the list of registers that a function must find zeroed. */
void decode_find_unassigned(struct decoder *d);
/* What follows begins a segment. */
void decode_emit_fallthrough(struct decoder *d);
/* It reads the registers that hold the address of a cooperative launch's workspace (decode_op.c).
 */
bool decode_uses_grid_workspace(const struct ptx_module *m);
/* code/global_polls.c: whether an instruction, or one of the module, looks at global memory for what
 * others leave there. */
bool decode_is_global_poll(const struct ptx_insn *in);
bool decode_has_global_polls(const struct ptx_module *m);
/* Before an access is emitted, and of it: where blocks hand each other things, so that a segment
 * begins there. */
void decode_begin_interblock_sync(struct decoder *d, const struct mem_desc *m);
void decode_mark_interblock_sync(struct decoder *d, const struct mem_desc *m, struct op *o);
void decode_mark_leaders(const struct ptx_func *f,
                         unsigned char *leader); /* [ninsns + 1]: branch targets */
bool decode_writes_first_operand(const struct ptx_insn *in);
