/* poll_loads.c — finds strong loads that poll: their value decides a branch, perhaps whether a loop
 * around the load goes on. The decoder calls it for each function.
 *
 * A poll may find an old value, since the program looks at it and may look again. Any other strong
 * load of data that another block wrote relies on the order in which that block wrote, so
 * race/happens_before.c requires fences for it. The search follows the value through registers; to
 * the end of a loop around the load, also through shared memory as a whole. It ignores where in the
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

/* Returns the target of a branch to a label; UINT32_MAX if the instruction is none. */
static u32 branch_target(const struct ptx_insn *in) {
    if (strncmp(in->opcode, "bra", 3) != 0) return UINT32_MAX;
    for (unsigned k = 0; k < in->noperands; k++)
        if (in->operands[k].kind == PTX_OP_LABEL) return (u32)in->operands[k].target;
    return UINT32_MAX;
}

static bool decides_any_branch(const struct poll_search *s) {
    for (u32 i = 0; i < s->f->ninsns; i++)
        if (branch_target(&s->f->insns[i]) != UINT32_MAX && s->f->insns[i].guard >= 0 &&
            decode_has_bit(s->derived, s->f->insns[i].guard))
            return true;
    return false;
}

/* Returns true if a branch out of the loop [first, last] depends on the value. */
static bool decides_loop(const struct poll_search *s, u32 first, u32 last) {
    for (u32 i = first; i <= last; i++) {
        const struct ptx_insn *in = &s->f->insns[i];
        u32 target = branch_target(in);
        bool leaves = i == last || !strncmp(in->opcode, "ret", 3) ||
                      !strncmp(in->opcode, "exit", 4) ||
                      (target != UINT32_MAX && (target < first || target > last));
        if (leaves && in->guard >= 0 && decode_has_bit(s->derived, in->guard)) return true;
    }
    return false;
}

static void mark_derived(struct poll_search *s, u32 load) {
    mark_operand(s, &s->f->insns[load].operands[0]);
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 i = 0; i < s->f->ninsns; i++) changed |= propagate(s, &s->f->insns[i]);
    }
}

static bool is_poll(struct poll_search *s, u32 load) {
    const struct ptx_func *f = s->f;
    mark_derived(s, load);
    if (decides_any_branch(s)) return true;
    s->follows_shared_memory = true;
    mark_derived(s, load);
    for (u32 i = load; i < f->ninsns; i++)
        if (branch_target(&f->insns[i]) <= load &&
            decides_loop(s, branch_target(&f->insns[i]), i))
            return true;
    return false;
}

bool decode_is_poll(struct decoder *d) {
    enum { MAX_INSNS = 1 << 16 }; /* each load costs a few scans of the function */
    struct poll_search s = {.f = d->f};
    if (!d->f->is_entry || d->f->ninsns > MAX_INSNS) return true; /* the caller may have the loop */
    s.derived = xcalloc(d->f->nregs / 64 + 1, sizeof *s.derived);
    bool result = is_poll(&s, (u32)(d->insn - d->f->insns));
    free(s.derived);
    return result;
}
