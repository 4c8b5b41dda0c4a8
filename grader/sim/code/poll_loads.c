/* poll_loads.c — finds strong loads that poll: their value decides a branch, perhaps whether a loop
 * around the load goes on. The decoder calls it for each function.
 *
 * A poll may find an old value, since the program looks at it and may look again. Any other strong
 * load of data that another block wrote relies on the order in which that block wrote, so
 * race/happens_before.c requires fences for it. So does a load whose value only decides branches
 * that an earlier load of the same loop decides, too: a flag, then its data, tested together.
 *
 * The search follows a value through registers; if it decides no branch there, but perhaps the end
 * of a loop around the load, also through shared memory as a whole. It ignores where in the
 * function a register has the value, so in doubt a load is a poll. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

struct poll_search {
    const struct ptx_func *f;
    u64 *derived; /* a bit for each register: computed from the loaded value */
    /* Follow values there; some such value was stored there. */
    bool follows_shared_memory, in_shared_memory;
};

static bool is_derived_operand(const struct poll_search *s, const struct ptx_operand *p) {
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0 &&
        decode_has_bit(s->derived, p->reg))
        return true;
    for (unsigned i = 0; i < p->nitems; i++)
        if (is_derived_operand(s, &p->items[i])) return true;
    return false;
}

static bool mark_reg(struct poll_search *s, int reg) {
    if (reg < 0 || decode_has_bit(s->derived, reg)) return false;
    decode_set_bit(s->derived, reg);
    return true;
}

/* Returns true if it marked a register for the first time. */
static bool mark_operand(struct poll_search *s, const struct ptx_operand *p) {
    bool changed = p->kind == PTX_OP_REG && mark_reg(s, p->reg);
    changed |= mark_reg(s, p->second_reg);
    for (unsigned i = 0; i < p->nitems; i++) changed |= mark_operand(s, &p->items[i]);
    return changed;
}

static bool may_be_shared(const struct ptx_insn *in) {
    return !decode_opcode_has(in->opcode, "global") && !decode_opcode_has(in->opcode, "local") &&
           !decode_opcode_has(in->opcode, "param");
}

static bool propagate(struct poll_search *s, const struct ptx_insn *in) {
    bool writes = decode_writes_first_operand(in) && in->noperands,
         is_derived = in->guard >= 0 && decode_has_bit(s->derived, in->guard);
    for (unsigned k = writes; k < in->noperands; k++)
        is_derived |= is_derived_operand(s, &in->operands[k]);
    if (!strncmp(in->opcode, "ld", 2) && may_be_shared(in)) is_derived |= s->in_shared_memory;
    if (!is_derived) return false;
    bool is_store = s->follows_shared_memory && !strncmp(in->opcode, "st", 2) &&
                    may_be_shared(in) && !s->in_shared_memory;
    s->in_shared_memory |= is_store;
    return (writes && mark_operand(s, &in->operands[0])) || is_store;
}

static void mark_derived(struct poll_search *s, u32 load, bool follows_shared_memory) {
    memset(s->derived, 0, (s->f->nregs / 64 + 1) * sizeof *s->derived);
    s->follows_shared_memory = follows_shared_memory, s->in_shared_memory = false;
    mark_operand(s, &s->f->insns[load].operands[0]);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < s->f->ninsns; i++) changed |= propagate(s, &s->f->insns[i]);
    }
}

/* ---- branches and loops ---- */

/* Returns the target of a branch to a label; UINT32_MAX if the instruction is none. */
static u32 branch_target(const struct ptx_insn *in) {
    if (strncmp(in->opcode, "bra", 3) != 0) return UINT32_MAX;
    for (unsigned k = 0; k < in->noperands; k++)
        if (in->operands[k].kind == PTX_OP_LABEL) return in->operands[k].target;
    return UINT32_MAX;
}

static bool is_decided(const struct poll_search *s, u32 branch) {
    const struct ptx_insn *in = &s->f->insns[branch];
    return branch_target(in) != UINT32_MAX && in->guard >= 0 &&
           decode_has_bit(s->derived, in->guard);
}

/* Returns true if a branch out of a loop around the load depends on the value. */
static bool decides_loop(const struct poll_search *s, u32 load) {
    for (u32 last = load; last < s->f->ninsns; last++) {
        u32 first = branch_target(&s->f->insns[last]);
        for (u32 i = first; first <= load && i <= last; i++) {
            u32 target = branch_target(&s->f->insns[i]);
            if (is_decided(s, i) && (i == last || target < first || target > last)) return true;
        }
    }
    return false;
}

/* Returns true if a loop has both loads. */
static bool share_loop(const struct ptx_func *f, u32 earlier, u32 load) {
    for (u32 i = load; i < f->ninsns; i++)
        if (branch_target(&f->insns[i]) <= earlier) return true;
    return false;
}

static bool is_strong_global_load(const struct ptx_insn *in) {
    return decode_is_global_poll(in) && !strncmp(in->opcode, "ld.", 3);
}

static bool have_same_address(const struct ptx_insn *a, const struct ptx_insn *b) {
    const struct ptx_operand *p = &a->operands[1], *q = &b->operands[1];
    return p->reg == q->reg && p->var == q->var && p->offset == q->offset;
}

/* Removes from `decided` (a byte for each instruction) the branches that the earlier load decides.
 */
static void remove_decided(struct poll_search *s, u32 earlier, u8 *decided) {
    mark_derived(s, earlier, false);
    for (u32 i = 0; i < s->f->ninsns; i++)
        if (is_decided(s, i)) decided[i] = 0;
}

static bool is_poll(struct poll_search *s, u32 load, u8 *decided) {
    const struct ptx_func *f = s->f;
    bool any = false;
    mark_derived(s, load, false);
    for (u32 i = 0; i < f->ninsns; i++) any |= decided[i] = is_decided(s, i);
    if (!any) {
        mark_derived(s, load, true);
        return decides_loop(s, load);
    }
    for (u32 i = 0; i < load; i++)
        if (is_strong_global_load(&f->insns[i]) && share_loop(f, i, load) &&
            !have_same_address(&f->insns[i], &f->insns[load]))
            remove_decided(s, i, decided);
    return memchr(decided, 1, f->ninsns) != NULL;
}

bool decode_is_poll(struct decoder *d) {
    /* Each load costs a few scans of the function for itself and for each load before it. */
    enum { MAX_INSNS = 1 << 15, MAX_LOADS = 32 };
    const struct ptx_func *f = d->f;
    u32 nloads = 0;
    for (u32 i = 0; i < f->ninsns; i++) nloads += is_strong_global_load(&f->insns[i]);
    if (!f->is_entry || f->ninsns > MAX_INSNS || nloads > MAX_LOADS)
        return true; /* The loop may be the caller's, or the search too long. */
    struct poll_search s = {.f = f, .derived = xcalloc(f->nregs / 64 + 1, sizeof *s.derived)};
    u8 *decided = xcalloc(f->ninsns + 1, 1);
    bool result = is_poll(&s, (u32)(d->insn - f->insns), decided);
    free(s.derived), free(decided);
    return result;
}
