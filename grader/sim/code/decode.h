/* decode.h — decoding, from parsed PTX to what the core executes: what the files below share.
 * code_decode in decode.c is the way in.
 *
 *   decode.c               a module: variables, functions, call graph
 *   segments.c             ops between branches, and what schedulers need to know of them
 *   decode_op.c            operands, opcode look-up, instructions that are an expression
 *   decode_mem.c           loads, stores, atomics, address conversions
 *   decode_lower.c         instructions made of other opcodes
 *   eviction.c             cache hints: the order in which L2 evicts
 *   decode_async.c         cp.async, mbarrier, bulk copies
 *   decode_tensor.c        bulk copies by tensor maps
 *   decode_tensormap.c     tensor maps that kernels change
 *   decode_cluster.c       barriers and shared memory of clusters
 *   decode_tex.c           textures and surfaces
 *   decode_matrix.c        mma, wmma, ldmatrix
 *   decode_warpgroup.c     wgmma
 *   decode_control.c       branches, calls, barriers, warp syncs
 *   dataflow.c             what holds of registers on all paths
 *   definite_assignment.c  registers that may be read before they are written
 *   underlying_object.c    what addresses are computed from
 *   reg_analysis.c         known low bits, and uniform registers
 *   access_merging.c       accesses that ptxas merges into one
 *   fma_contraction.c      products and sums that ptxas fuses
 *   address_reuse.c        accesses that repeat an earlier one's addresses
 *   cas_retry.c            loads that an atomic then verifies
 *   global_polls.c         accesses by which a block waits for another block
 *   slot_sharing.c         registers of a kernel that share a slot
 *   operands.c             what an op reads and writes
 *   barrier_divergence.c   branches that may bypass a barrier
 *   wgmma_fence_check.c    where wgmma.fence may be missing
 *   stat_index.c           what each statistics slot counts */
#pragma once
#include "grader/sim/code/code.h"
#include "grader/sim/device.h"

/* Limits in bytes. Parameters, local and shared memory: those of the PTX manual (the last is more
 * than any device has); a frame: ours. */
enum {
    MAX_PARAM_BYTES = 32764,
    MAX_LOCAL_BYTES = 512 << 10,
    MAX_SHARED_BYTES = 1 << 20,
    MAX_FRAME_BYTES = 64 << 20
};

/* A slot of a frame: 64 to 512 bytes, or 4 for a predicate. */
struct frame_slot {
    u32 offset, bytes;
};
/* The slots of a function, in decoder.slots. */
struct slot_list {
    u32 first, n;
};

struct decoder {
    struct sim_module *m;
    const struct ptx_func *f;
    struct sim_func *c;
    const struct ptx_insn *insn; /* the one being decoded */
    u32 loc;          /* the last known source location; instructions without one belong to it */
    ref *regs;        /* by PTX register */
    u32 *read_counts; /* how often each register is read */
    u32 *store_use_counts;    /* how often a store writes it to memory */
    u32 frame_bytes;          /* allocated so far */
    struct frame_slot *slots; /* of all functions decoded so far */
    u32 nslots, slots_capacity;
    struct slot_list *slot_lists;   /* by function */
    struct param_area *param_areas; /* of this function: formals and call sequences */
    u32 nparam_areas;
    /* The alloca stack in use when the function began; REF_NONE if it doesn't allocate. */
    ref saved_stack;
    ref carry_flag; /* mask of the carry flag; REF_NONE until an instruction needs it */
    struct var_offset *local_vars, *shared_vars;
    u32 nlocal_vars, nshared_vars;
    /* By register of an entry: the objects that it is computed from, OBJ_… bits; NULL = unknown. */
    u64 *reg_objects;
    /* By register: the arrays in shared memory that it is computed from; NULL = unknown. */
    u64 *reg_arrays;
    u64 *fence_checked; /* a bit for each register to check (wgmma_fence_check.c); NULL = none */
    struct contraction *contractions; /* by instruction (fma_contraction.c); NULL = none */
    struct const_map *consts;
    struct err *e;
    bool module_polls_global;   /* some instruction of the module polls global memory */
    bool module_uses_grid_sync; /* the module uses the workspace of the grid barrier */
};

/* Each decodes the current instruction, and returns false with the error set if it can't. */
bool decode_regular(struct decoder *d);
bool decode_set(struct decoder *d); /* decode_lower.c */
bool decode_cp(struct decoder *d);  /* decode_async.c */
bool decode_tensor(struct decoder *d);
bool decode_tensormap(struct decoder *d);
bool decode_fence(struct decoder *d);
bool decode_mbarrier(struct decoder *d);
bool decode_video(struct decoder *d); /* decode_lower.c */
bool decode_createpolicy(struct decoder *d);
/* eviction.c: sets the class of lines that the instruction's cache hints give them in L2. */
void decode_set_eviction(const struct decoder *d, struct mem_desc *m);
/* Returns the value of the policy that a createpolicy makes. */
u64 decode_policy_value(const struct ptx_insn *in);
bool decode_alloca(struct decoder *d); /* alloca, stacksave, stackrestore */
/* Emit the begin and end of a function that calls alloca; the end frees what it allocated. */
void decode_emit_stack_prologue(struct decoder *d);
void decode_emit_stack_epilogue(struct decoder *d);
bool decode_matrix(struct decoder *d); /* decode_matrix.c */
bool decode_warpgroup(struct decoder *d);
/* Decodes n registers of 4 or 8 bytes, one or a vector. If they are written, `_` becomes a slot
 * that nothing reads. */
bool decode_register_list(struct decoder *d, const struct ptx_operand *p, bool written, unsigned n,
                          unsigned bytes, ref *out);
/* Appends operands that fit a matrix opcode, as PTX text. Returns false if the opcode is none. */
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
bool decode_barrier(struct decoder *d);   /* bar, barrier; bar.warp.sync */
bool decode_warp_sync(struct decoder *d); /* shfl, vote, match, redux */
/* Instructions whose operands have no effect here: fences, hints, activemask, nanosleep. */
bool decode_no_operands(struct decoder *d);

/* Sets an error about the current instruction, with the source line, the kernel and the PTX line.
 * Returns false. */
bool decode_unsupported(struct decoder *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends an op with that opcode, and with the instruction's guard and source location. */
struct op *decode_emit_named(struct decoder *d, const char *mnemonic);

/* New slots. `bytes` is the size of one lane's register (1 = predicate). */
ref decode_slot_new(struct decoder *d, unsigned bytes);
static inline u32 decode_slot_bytes(unsigned bytes) { return bytes == 1 ? 4 : bytes * 32; }
ref decode_slot_const(struct decoder *d, u64 value, unsigned bytes);
unsigned decode_reg_bytes(enum ptx_type t);

/* Decodes an operand as a source of type t: register, immediate, special register or address of a
 * variable. Emits the narrowing of a wider register. Returns false with the error set. */
bool decode_source(struct decoder *d, const struct ptx_operand *p, enum ptx_type t, ref *out);
/* Decodes a predicate source; sets *flip to ~0 for !%p. */
bool decode_predicate(struct decoder *d, const struct ptx_operand *p, ref *out, u32 *flip);
bool decode_destination(struct decoder *d, const struct ptx_operand *p, ref *out, unsigned *bytes);
/* A decoded [base + offset], to become src[0] and imm of an op. */
struct address {
    ref base;
    s64 offset;
    bool address32;
    const struct ptx_var *var;
};
/* Decodes an address operand. Returns false, with the error set, if it is not simulated. */
bool decode_address(struct decoder *d, const struct ptx_operand *p, struct address *out);

/* Emits a load or store as described, at the operand's address. */
bool decode_emit_access(struct decoder *d, struct mem_desc *m, const struct ptx_operand *p);
void decode_emit_access_at(struct decoder *d, const struct mem_desc *m, ref address, s64 offset);
/* Emits a warp barrier of all lanes, which is not counted. `.sync.aligned` alone only makes lanes
 * wait for each other; `orders_memory` also orders their accesses, as bar.warp.sync does. */
void decode_emit_warp_barrier(struct decoder *d, bool orders_memory);
/* Adds the description to the module, with a statistics slot of its own; returns its index. */
u32 decode_add_desc(struct decoder *d, const struct mem_desc *desc);
/* Adds the description under which a tile copy or a tensor map's change is counted. */
u32 decode_add_bulk_desc(struct decoder *d);
/* Decodes [base + offset] into one slot that holds the 64-bit address. */
bool decode_address64(struct decoder *d, const struct ptx_operand *p, ref *out);
/* Lets the op write its result of type t to the operand's register, which may be wider. */
bool decode_put_result(struct decoder *d, u32 at_op, const struct ptx_operand *p, enum ptx_type t);
/* Returns the index of the opcode without its modifiers, which go to *dropped; -1 if unknown. */
int decode_find_opcode(const char *opcode, unsigned *dropped);
/* fma_contraction.c: finds the products that ptxas fuses into later sums, before a function is laid
 * out; decode_contracted_insn then replaces decode_insn. */
void decode_find_contractions(struct decoder *d);
bool decode_contracted_insn(struct decoder *d, u32 i);
bool decode_insn(struct decoder *d);
bool decode_async_store(struct decoder *d); /* decode_async.c: st.async, red.async */
/* Emits an op with three float operands. `dropped`: the modifiers of its opcode (rounding,
 * flushing, clamping). */
bool decode_emit_float(struct decoder *d, int opc, const char *opcode, unsigned dropped,
                       const ref src[3], const struct ptx_operand *to);
/* access_merging.c: marks what ptxas merges and aggregates in the function just decoded. */
void decode_merge_accesses(struct decoder *d);
/* cas_retry.c: marks its loads that a later atomic verifies. */
void decode_find_cas_retries(struct decoder *d);
/* poll_loads.c: returns true if the value of the strong load d->insn decides whether a loop ends.
 */
bool decode_is_poll(struct decoder *d);
/* address_reuse.c: marks its accesses that repeat the addresses of an earlier one. */
void decode_find_address_reuse(struct decoder *d);
/* underlying_object.c: sets sim_func.mod_sets of the entry just decoded. */
void decode_find_mod_sets(struct decoder *d);
/* underlying_object.c: returns decoder.reg_objects, which the caller frees; and the objects that an
 * address is computed from. */
u64 *decode_param_objects(const struct decoder *d);
u64 decode_underlying_objects(const struct decoder *d, const struct ptx_operand *p);
/* underlying_object.c: returns decoder.reg_arrays, which the caller frees; and the only array that
 * an address can point into, or NULL. */
u64 *decode_array_objects(const struct decoder *d);
const struct var_offset *decode_underlying_array(const struct decoder *d,
                                                 const struct ptx_operand *p);
/* Marks an instruction that is decoded into other opcodes (an RD row) as executed. */
void decode_mark_lowered(const char *mnemonic);
/* Returns where a call's parameter lies, or NULL if `v` is none. */
struct param_area *decode_find_param_area(struct decoder *d, const struct ptx_var *v);
/* Finds the address of a variable that has been placed in memory. */
bool decode_var_address(struct decoder *d, const struct ptx_var *v, u64 *out);
/* Copies the opcode's n-th dotted part; decode_opcode_has says whether it has a certain part. */
bool decode_opcode_part(const char *opcode, unsigned n, char *out, size_t size);
bool decode_opcode_has(const char *opcode, const char *part);
enum ptx_type decode_opcode_type(const char *opcode); /* the last part that is a type */
/* dataflow.c: a bit for each register that holds at a point if it holds on all paths there.
 * `transfer` changes the bits as an instruction does. Once the solution is known, it is called
 * again for each instruction, with `known` set. Returns false if the function is too large. */
struct dataflow_problem {
    void (*transfer)(void *user, const struct ptx_insn *in, u64 *bits, bool known);
    void *user;
    bool all_set_at_entry; /* all bits are set at the entry, or none */
};
bool decode_run_dataflow(const struct ptx_func *f, const struct dataflow_problem *flow);

/* call_graph.c: gives a function the properties of all that it may call; indirect calls may reach
 * every function. `state` has a byte for each function of the module, at first 0; functions with
 * another value are done. */
void decode_call_closure(struct sim_module *m, struct sim_func *c, unsigned char *state);
static inline void decode_set_bit(u64 *bits, int reg) { bits[reg / 64] |= 1ull << (reg % 64); }
static inline bool decode_has_bit(const u64 *bits, int reg) {
    return bits[reg / 64] >> (reg % 64) & 1;
}
/* wgmma_fence_check.c: finds the registers to check; then emits, after each instruction, the ops
 * that check them. */
void decode_find_missing_fences(struct decoder *d);
void decode_emit_fence_notes(struct decoder *d);
/* definite_assignment.c: lists the registers that the function must zero when it is entered. */
void decode_find_unassigned(struct decoder *d);
/* slot_sharing.c: lets registers share slots if many blocks of the kernel may be resident at once.
 * `slots`: the slots of its frame, one for each register. */
void decode_share_slots(struct sim_module *m, struct sim_func *c, const struct frame_slot *slots,
                        u32 nslots);
/* Begins a new segment. */
void decode_emit_fallthrough(struct decoder *d);
static inline bool decode_ends_segment(const struct op *o) { return o->kind != OP_LANEWISE; }
/* segments.c: finds the module's segments, after all of its functions are decoded. */
void decode_build_segments(struct sim_module *m);
/* Returns true if the module reads the special registers that hold the address of a cooperative
 * launch's workspace (decode_op.c). */
bool decode_uses_grid_workspace(const struct ptx_module *m);
/* global_polls.c: returns whether an instruction, or one of the module, may poll global memory for
 * other blocks' writes. */
bool decode_is_global_poll(const struct ptx_insn *in);
/* Returns true if the instruction can order the kernel's accesses with the host's. */
bool decode_may_sync_with_host(const struct ptx_insn *in);
bool decode_has_global_polls(const struct ptx_module *m);
/* Called before and after an access is emitted: if blocks may synchronize by it, it begins a
 * segment and its op is marked. */
void decode_begin_interblock_sync(struct decoder *d, const struct mem_desc *m);
void decode_mark_interblock_sync(struct decoder *d, const struct mem_desc *m, struct op *o);
/* Sets leader[i], of [ninsns + 1], where instruction i is a branch target. */
void decode_mark_leaders(const struct ptx_func *f, unsigned char *leader);
bool decode_writes_first_operand(const struct ptx_insn *in);
