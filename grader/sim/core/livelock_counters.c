/* livelock_counters.c — finds counters of a polling loop: registers that the loop changes but that
 * decide nothing in it, such as the number of polls so far, which is only used after the loop.
 *
 * Theory of operation. Of the ops that ran, all but plain arithmetic use their registers for an
 * effect: a branch, an address, a stored or exchanged value. Those registers matter, and so do the
 * operands of an op that writes a register that matters. The other registers that plain arithmetic
 * writes are counters. Code with calls, or with instructions that this file doesn't know, has
 * none. */
#include "grader/sim/core/livelock.h"
#include "grader/sim/code/decode.h"
#include "grader/sim/code/operands.h"

#include <stdlib.h>
#include <string.h>

enum { MARK_BYTES = 4 /* bytes of a warp's registers that share an element of `marks` */ };
enum { MATTERS = 2 };

static bool has_opcode(const struct op *o, const char *name) {
    return strcmp(insn_opcodes[o->opcode].name, name) == 0;
}

static bool is_memory_op(const struct op *o) {
    return has_opcode(o, "ld") || has_opcode(o, "st") || has_opcode(o, "atom");
}

static bool is_known(const struct op *o) {
    static const char *const names[] = {"ld",         "st",       "atom",   "cvta", "nop",
                                        "activemask", "isspacep", "membar", "fence"};
    if (o->kind == OP_CALL || o->kind == OP_RET || o->kind == OP_BRX) return false;
    if (o->kind != OP_LANEWISE || insn_opcodes[o->opcode].form != FORM_CUSTOM) return true;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (has_opcode(o, names[i])) return true;
    return false;
}

/* ---- registers that matter ---- */

struct counter_ctx {
    const struct sim_module *m;
    u8 *marks;
    bool has_changed;
};

static void mark(struct counter_ctx *c, ref r) {
    if (r == REF_NONE || ref_base(r) != BASE_FRAME ||
        c->marks[ref_offset(r) / MARK_BYTES] & MATTERS)
        return;
    c->marks[ref_offset(r) / MARK_BYTES] |= MATTERS, c->has_changed = true;
}

static void mark_memory_operands(struct counter_ctx *c, const struct mem_desc *d) {
    for (u32 i = 0; i < d->count && i < 8; i++) mark(c, d->reg[i]);
    mark(c, d->operand[0]), mark(c, d->operand[1]), mark(c, d->result);
}

static void mark_control_operands(struct counter_ctx *c, const struct op *o) {
    if (o->kind == OP_WARP_SYNC) mark(c, c->m->warp_syncs[o->aux].member_mask);
    if (o->kind == OP_WARP_SYNC) mark(c, c->m->warp_syncs[o->aux].pred_dst);
    if (o->kind != OP_BAR) return;
    const struct bar_desc *b = &c->m->bars[o->aux];
    mark(c, b->id), mark(c, b->count), mark(c, b->pred_source);
}

static void mark_operands(struct counter_ctx *c, const struct op *o) {
    bool is_counter =
        code_is_arithmetic(o) && !(c->marks[ref_offset(o->dst) / MARK_BYTES] & MATTERS);
    if (is_counter) return;
    mark(c, o->guard);
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++) mark(c, o->src[i]);
    if (code_is_arithmetic(o)) return;
    mark(c, o->dst);
    if (is_memory_op(o)) mark_memory_operands(c, &c->m->mems[o->aux]);
    mark_control_operands(c, o);
}

/* ---- the ops that ran ---- */

/* Returns the first op after the segment that begins at `at`. */
static u32 segment_end(const struct sim_module *m, u32 at) {
    while (m->ops[at].kind == OP_LANEWISE) at++;
    return at + 1;
}

static bool visit_executed_ops(struct counter_ctx *c, const struct worker *k,
                               const u64 *segment_runs,
                               bool (*each)(struct counter_ctx *, const struct op *)) {
    const struct sim_module *m = c->m;
    for (u32 at = 0, end; at < m->nops; at = end) {
        end = segment_end(m, at);
        if (!livelock_has_run(k, segment_runs, m->segment_of[at])) continue;
        for (u32 i = at; i < end; i++)
            if (!each(c, &m->ops[i])) return false;
    }
    return true;
}

static bool check_known(struct counter_ctx *c, const struct op *o) {
    (void)c;
    return is_known(o);
}

static bool mark_op(struct counter_ctx *c, const struct op *o) { return mark_operands(c, o), true; }

static bool mark_counter(struct counter_ctx *c, const struct op *o) {
    if (!code_is_arithmetic(o) || c->marks[ref_offset(o->dst) / MARK_BYTES] & MATTERS) return true;
    u32 bytes = 32 * decode_reg_bytes((enum ptx_type)insn_opcodes[o->opcode].dst);
    memset(c->marks + ref_offset(o->dst) / MARK_BYTES, 1, bytes / MARK_BYTES);
    return c->has_changed = true;
}

bool livelock_find_counters(const struct worker *k, const u64 *segment_runs, u8 *counters) {
    struct counter_ctx c = {.m = k->launch->module, .marks = counters};
    memset(counters, 0, k->launch->warp_frame_bytes / MARK_BYTES);
    if (!visit_executed_ops(&c, k, segment_runs, check_known)) return false;
    do c.has_changed = false, visit_executed_ops(&c, k, segment_runs, mark_op);
    while (c.has_changed);
    visit_executed_ops(&c, k, segment_runs, mark_counter);
    for (u32 i = 0; i < k->launch->warp_frame_bytes / MARK_BYTES; i++) counters[i] &= 1;
    return c.has_changed;
}
