/* undef.h — undefined values: values computed from uninitialized memory. They are tracked through
 * registers and memory, and reported where they decide something (as MemorySanitizer does).
 *
 * Theory of operation. Compilers load values that they don't use: both sides of a condition, the
 * elements of a vector, a structure's padding. So a load of uninitialized bytes is no fault. Its
 * value is *undefined*, and a report follows where it decides: an address, a branch, an atomic
 * update, a member mask, printed text, memory that the host reads back.
 *
 * A warp's registers lie in a frame for each function. A register's *slot* there has the 32 lanes'
 * values one after the other; a predicate's has a bit for each lane. `warp.undef` is the registers'
 * shadow, with the same layout: a set bit is an undefined bit of the register. `warp.undef_origin`
 * has a byte for each 4 bytes of a frame; only the one where a slot begins is used. It is the
 * origin of the undefined bits of all lanes, 0 = all are defined.
 *
 * A warp without undefined values runs at full speed. A load that reads undefined bytes marks its
 * registers and clears `exec.fast_mask`, which ends the fast loop over the segment; from there on,
 * undef_run_segment (undef_run.c) runs segments, until no slot of the warp has undefined bits. It
 * makes each op's result undefined where its operands are (undef_ops.c): bit by bit for ops that
 * move bits, lane by lane for arithmetic. A result that the defined operands alone decide (selp,
 * and, or) is defined. For an op that moves bits, the same op, run on the shadow, gives the
 * result's shadow.
 *
 * Memory's shadow holds, for each byte: 0 uninitialized, 1 initialized; any other value is a
 * *mark*, 2 × an origin: an undefined value was stored there. Marks are even, so `&` of several
 * shadow bytes tells whether all are initialized. An *origin* is the instruction that an undefined
 * value came from: a load, a shuffle from an absent lane, a wgmma without a wait. The device keeps
 * one report for each (`undef_origin_table`): the first by the block of the lowest number.
 *
 * Structures are also copied byte by byte, with their padding, by loads, selections and stores. An
 * uninitialized byte next to initialized ones is therefore not reported where it is read back,
 * unless arithmetic has used it. */
#pragma once
#include "grader/sim/core/core.h"

enum {
    UNDEF_INITIALIZED = 1,  /* in the shadow of memory; 0: uninitialized */
    UNDEF_MAX_ORIGINS = 63, /* from 1; the last one stands for all later ones */
    UNDEF_PADDING = 64,     /* flag in an origin: perhaps padding, as it was only moved so far */
    /* In the shadow of shared memory: the target of a copy in flight (race/async.c). As a mark it
     * would have origin 0, which none has; undef_is_mark takes it for one, so test for it first. */
    UNDEF_PENDING = 128
};

static inline bool undef_is_mark(unsigned char shadow) { return shadow > 1; }

/* ---- memory (undef_memory.c) ---- */

/* Handles a lane's load or atomic of bytes that are not all initialized. `shadow` is that of the
 * access; the 8 bytes before and after it are read, too, to recognize padding. A load marks its
 * registers. An atomic uses the value at once, so it is reported here. */
void undef_access(struct exec *x, const struct op *o, const struct mem_desc *d, u32 lane,
                  u64 address, const unsigned char *shadow, enum mem_space space);
/* Marks the undefined bytes that a store has written. */
void undef_store(struct exec *x, const struct op *o, u32 mask);

/* ---- registers (undef.c); slots are host addresses in the warp's frames ---- */

static inline unsigned char *undef_shadow_of(const struct warp *w, const void *slot) {
    return w->undef + ((const unsigned char *)slot - w->frames);
}
static inline u8 *undef_origin_of(const struct warp *w, const void *slot) {
    return &w->undef_origin[((const unsigned char *)slot - w->frames) / 4];
}
/* Returns the origin of the undefined bits in an operand's slot, 0 = none. */
static inline u8 undef_operand_origin(const struct exec *x, ref r) {
    return r == REF_NONE || ref_base(r) != BASE_FRAME ? 0
                                                      : *undef_origin_of(x->warp, operand_at(x, r));
}
/* Gets the undefined bits, by lane, of a slot with `bytes` bytes a lane (1: a predicate). Returns
 * the lanes that have any. */
u32 undef_get(const struct warp *w, const void *slot, u32 bytes, u64 out[32]);
/* The same for an operand, which need not be a register. */
u32 undef_operand_bits(const struct exec *x, ref r, u32 bytes, u64 out[32]);
u32 undef_operand_lanes(const struct exec *x, ref r, u32 bytes);
/* Sets the undefined bits for the lanes of the mask; NULL: all defined. */
void undef_put(struct warp *w, void *slot, u32 bytes, u32 mask, const u64 *undefined, u8 origin);
static inline void undef_set_operand(const struct exec *x, ref r, u32 bytes, u32 mask,
                                     const u64 *undefined, u8 origin) {
    if (r != REF_NONE && ref_base(r) == BASE_FRAME)
        undef_put(x->warp, operand_at(x, r), bytes, mask, undefined, origin);
}
/* To be called after an op has written a slot's shadow directly (undef_enter_shadow): sets the
 * slot's origin, 0 if all bits are defined, and updates the warp's count of undefined slots. */
void undef_refresh(struct warp *w, void *slot, u32 bytes, u8 origin);
/* Copies the undefined bits and origins of a device function's parameters. */
void undef_copy(struct warp *w, void *to, const void *from, u32 bytes, u32 mask);
void undef_clear(struct warp *w); /* when a block starts */

/* Makes ops run on the shadow instead of the registers, until undef_leave_shadow. undef_source_ref
 * gives the operand to use for a source: itself if it is a register, else a zero, since constants
 * are defined. */
struct undef_saved_bases {
    unsigned char *base[BASE_COUNT];
};
struct undef_saved_bases undef_enter_shadow(struct exec *x);
void undef_leave_shadow(struct exec *x, const struct undef_saved_bases *saved);
static inline ref undef_source_ref(ref r) {
    return r == REF_NONE || ref_base(r) == BASE_FRAME ? r : REF(BASE_CONST, 0);
}

/* ---- origins and reports (undef_report.c) ---- */

struct undef_origin_table;
/* Returns the origin for a load of uninitialized memory. */
u8 undef_load_origin(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                     enum mem_space space);
/* Returns the origin for a shuffle from a lane that does not take part. */
u8 undef_shuffle_origin(struct exec *x, const struct op *o, u32 lane, u32 from, u32 members);
/* Returns the origin for registers that the kernel, which begins at `first`, reads before it has
 * set them. */
u8 undef_unset_origin(struct exec *x, const struct op *first);
/* Returns the origin for the results of wgmma before a wait. */
u8 undef_wgmma_origin(struct exec *x, const struct op *o);
/* Reports a use at `o`, such as "uses it as an address"; counts it once for each of the lanes. */
void undef_report_use(struct exec *x, u8 origin, const struct op *o, u32 lanes,
                      const char *use_text);
/* If the operand is undefined in a lane of the mask, reports that it decides there, and marks it as
 * defined, so that it is reported once. */
void undef_check_use(struct exec *x, const struct op *o, ref r, u32 bytes, u32 mask,
                     const char *use_text);
/* Reports an access to uninitialized memory that decides at once. */
void undef_report_access(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                         enum mem_space space);
/* Marks the launch's uninitialized reads of shared memory as explained by a reported race, so that
 * they are not reported, too. */
void undef_mark_explained(struct sim *s, u64 launch);
void undef_close(struct sim *s);
/* Drops origins that refer to the module's ops. Call it before these are freed. */
void undef_unload(struct sim *s, const struct sim_module *m);

/* ---- a warp with undefined values (undef_run.c, undef_ops.c) ---- */

/* Runs the segment from the op after x->undef_load on, checks the operands of the op that ends it
 * (such as a branch, barrier or exit), and returns that op. */
const struct op *undef_run_segment(struct exec *x, u32 active);
/* For an op whose result depends on its operands only: computes the undefined bits of the result.
 * undef_guard_lanes: the lanes whose guard, the op's predicate, is undefined. */
void undef_run_lane_op(struct exec *x, const struct op *o, u32 mask, u32 undef_guard_lanes);
