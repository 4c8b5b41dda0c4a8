/* undef.h — values that came from a read of what nothing wrote: followed through registers and
 * memory, and told where they decide something.
 *
 * Theory of operation. Compilers load what they then do not use: both sides of a condition, the
 * elements of a vector, a structure's padding. So a load of bytes that nothing wrote is no fault;
 * its value is *undefined*, and that is told where it decides: an address, a branch, what an atomic
 * leaves, a member mask, text that is printed, memory that is read back.
 *
 * Registers have a shadow of the frames' layout (`warp.taint`): a bit that is set is an undefined
 * bit of the register in that place. A byte for each 4 of a frame (`warp.origin`) says where the
 * undefined bits of the slot that begins there come from, 0 = all are defined. A warp without any
 * runs as if this were not here. A load that finds undefined bytes marks its registers and ends the
 * fast loop over the segment (`exec.running`); from there on segments go through undef_run_segment
 * (undef_run.c), until no slot of the warp has such a bit left. There, each op's result is
 * undefined where what it is made from is (undef_ops.c): bit by bit for what moves bits, lane by
 * lane for arithmetic, and not at all where the defined operands decide alone (selp, and, or). What
 * moves bits is its own rule: it is run once more, on the shadow.
 *
 * Memory's shadow holds, by byte: 0 nothing wrote it, 1 written, else a *mark*: an undefined value
 * was stored, 2 × its origin. Marks are even, so that whoever asks by `&` for written bytes does
 * not get them. An origin is a load; the device keeps what is to be said of each
 * (`undef_origin_table`): the lowest block's first such read.
 *
 * Structures are copied byte by byte, too, with their padding, by loads, selections and stores. A
 * byte that nothing wrote beside others that were is therefore not told where it is read back; once
 * arithmetic has had it, it is. */
#pragma once
#include "grader/sim/core/core.h"

enum {
    UNDEF_MAX_ORIGINS = 63, /* from 1; the last stands for all that come later */
    UNDEF_PADDING =
        64, /* or-ed onto one: a byte beside others that were written, moved about and no more */
    UNDEF_PENDING = 128 /* in the shadow: the target of a copy that was not waited for
                           (race/async.c); no mark is that */
};

static inline bool undef_is_mark(unsigned char shadow) { return shadow > 1; }

/* ---- memory (undef_memory.c) ---- */

/* A lane accesses bytes of which not all are written. `shadow`: of the access, with 8 bytes
 * readable on both sides. A load's registers are marked; an atomic is reported, since it decides at
 * once. */
void undef_access(struct exec *x, const struct op *o, const struct mem_desc *d, u32 lane,
                  u64 address, const unsigned char *shadow, enum mem_space space);
/* A store has run: its undefined bytes are marked in memory. */
void undef_store(struct exec *x, const struct op *o, u32 mask);

/* ---- registers (undef.c); slots are named by where they lie in the warp's frames ---- */

static inline unsigned char *undef_shadow_of(const struct warp *w, const void *slot) {
    return w->undef + ((const unsigned char *)slot - w->frames);
}
static inline u8 *undef_origin_of(const struct warp *w, const void *slot) {
    return &w->undef_origin[((const unsigned char *)slot - w->frames) / 4];
}
/* The origin of what is undefined in an operand's slot, 0 = nothing. */
static inline u8 undef_operand_origin(const struct exec *x, ref r) {
    return r == REF_NONE || ref_base(r) != BASE_FRAME ? 0
                                                      : *undef_origin_of(x->warp, operand_at(x, r));
}
/* The undefined bits by lane of a slot of `bytes` a lane (1: a predicate); returns the lanes that
 * have some. */
u32 undef_get(const struct warp *w, const void *slot, u32 bytes, u64 out[32]);
/* The same of an operand, which may be no register. */
u32 undef_operand_bits(const struct exec *x, ref r, u32 bytes, u64 out[32]);
u32 undef_operand_lanes(const struct exec *x, ref r, u32 bytes);
/* Sets them for the lanes of the mask; NULL: all defined. */
void undef_put(struct warp *w, void *slot, u32 bytes, u32 mask, const u64 *undefined, u8 origin);
static inline void undef_set_operand(const struct exec *x, ref r, u32 bytes, u32 mask,
                                     const u64 *undefined, u8 origin) {
    if (r != REF_NONE && ref_base(r) == BASE_FRAME)
        undef_put(x->warp, operand_at(x, r), bytes, mask, undefined, origin);
}
/* After the shadow was written to by other means. */
void undef_refresh(struct warp *w, void *slot, u32 bytes, u8 origin);
void undef_copy(struct warp *w, void *to, const void *from, u32 bytes, u32 mask);
void undef_clear(struct warp *w); /* a block starts */

/* Runs `with` as if the shadow were the registers: sources that are none are 0. Those of an op are
 * renamed by undef_source_ref. */
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
u8 undef_load_origin(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                     enum mem_space space);
/* The same for a shuffle of a lane that takes no part in it. */
u8 undef_shuffle_origin(struct exec *x, const struct op *o, u32 lane, u32 from);
/* …of the results of wgmma, until somebody waits. */
u8 undef_wgmma_origin(struct exec *x, const struct op *o);
/* Told at `o`, which `does` ("uses it as an address"): once for each of the lanes. */
void undef_report_use(struct exec *x, u8 origin, const struct op *o, u32 lanes,
                      const char *use_text);
/* An operand decides for the lanes of the mask: where it is undefined it is told, and counts as
 * defined from then on. */
void undef_check_use(struct exec *x, const struct op *o, ref r, u32 bytes, u32 mask,
                     const char *use_text);
/* An access that decides at once, of what nothing wrote. */
void undef_report_access(struct exec *x, const struct op *o, u32 lane, u64 address, u32 width,
                         enum mem_space space);
/* What that launch read of shared memory before it was written has been told as a race. */
void undef_mark_explained(struct sim *s, u64 launch);
void undef_close(struct sim *s);
void undef_unload(struct sim *s, const struct sim_module *m); /* its ops go */

/* ---- a tainted warp (undef_run.c, undef_ops.c) ---- */

/* Runs the segment on from after x->undef_load, and looks at what its control op decides by;
 * returns that. */
const struct op *undef_run_segment(struct exec *x, u32 active);
/* The result of an op that is a function of its operands, by lane. */
void undef_run_lane_op(struct exec *x, const struct op *o, u32 mask, u32 undef_guard_lanes);
