/* warp.c — the interpreter: runs the fragments of one warp. See core.h for the theory. */
#include "grader/sim/core/core.h"
#include "common/clock.h"
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/grid.h"
#include "grader/sim/core/pace.h"
#include "grader/sim/core/place.h"
#include "grader/sim/core/taint.h"

static inline u32 guard_mask(const struct exec *x, const struct op *o) {
    return *(const u32 *)operand_at(x, o->guard) ^ o->guard_xor;
}

/* Straight-line code up to the control op of the segment, which is returned. */
static inline const struct op *run_segment(struct exec *x, const struct op *o) {
    for (; o->kind == OP_LANEWISE; o++) {
        u32 mask = x->running & guard_mask(x, o);
        if (mask) o->run(x, o, mask);
    }
    return o;
}

static void count_segment(struct exec *x, struct warp *w, struct fragment *f, u32 pc) {
    struct worker *k = x->worker;
    const struct sim_module *m = k->launch->module;
    u32 s = m->segment_of[pc], n = m->segments[s].insn_count;
    k->segment_runs[s]++;
    k->segment_lanes[s] += (u32)__builtin_popcount(f->mask);
    x->block->executed += n;
    w->executed += n;
    f->turn += n;
}

/* At backward branches and calls: a program without either ends by itself. */
static bool over_budget(struct exec *x, const struct op *o) {
    struct worker *k = x->worker;
    struct launch *l = k->launch;
    char waits[320];
    if (l->budget && x->block->executed > l->budget) {
        place_spin(x, o, waits, sizeof waits);
        core_fault(x, SIM_FAULT_BUDGET, o, (u32)__builtin_ctz(x->active), 0,
                   "has executed %llu warp instructions, the launch's budget: an endless loop?%s",
                   (unsigned long long)l->budget, waits);
        return true;
    }
    if ((++k->deadline_checks & 0x3fff) == 0 && l->deadline > 0 && clock_seconds() > l->deadline) {
        place_spin(x, o, waits, sizeof waits);
        core_fault(x, SIM_FAULT_TIME, o, (u32)__builtin_ctz(x->active), 0,
                   "has used up the launch's time: an endless loop?%s", waits);
        return true;
    }
    return atomic_load_explicit(&l->over, memory_order_relaxed) ||
           x->block->order > atomic_load_explicit(&l->fault_block, memory_order_relaxed);
}

static void take_place(struct exec *x, const struct fragment *f) {
    const struct context *c = &x->worker->contexts[f->context];
    x->active = x->running = f->mask;
    x->base[BASE_FRAME] = x->warp->frames + c->frame;
    x->local_base = c->local;
}

/* ---- control instructions: each leaves the fragment's pc where its lanes go on ---- */

static void branch(struct exec *x, struct warp *w, struct fragment *f, const struct op *o, u32 pc) {
    u32 taken = f->mask & guard_mask(x, o), s = x->worker->launch->module->segment_of[f->pc];
    if (ref_base(o->guard) == BASE_FRAME) x->worker->branch_runs[s]++;
    if (__builtin_expect(o->flags & OPF_BARRIER_BYPASS, false)) barrier_fork(x, o, f->mask, taken);
    if (taken == 0) {
        f->pc = pc + 1;
    } else if (taken == f->mask) {
        f->pc = o->target;
    } else {
        x->worker->branch_diverged[s]++;
        f->pc = pc + 1;
        fragment_split(w, f, taken, o->target);
    }
}

static void branch_table(struct exec *x, struct warp *w, struct fragment *f, const struct op *o,
                         u32 pc) {
    const struct branch_table *t = &x->worker->launch->module->tables[o->aux];
    const u32 *index = operand_at(x, o->src[0]);
    u32 left = f->mask & guard_mask(x, o);
    f->pc = pc + 1; /* lanes whose guard is false */
    while (left) {
        u32 lane = (u32)__builtin_ctz(left), to = index[lane], same = 0;
        for (u32 l = 0; l < 32; l++) same |= index[l] == to ? 1u << l : 0;
        same &= left;
        left &= ~same;
        if (to >= t->count) {
            core_fault(x, SIM_FAULT_BAD_CALL, o, lane, to,
                       "branches through a table of %u targets with index %u", t->count, to);
            return;
        }
        if (same == f->mask) f->pc = t->targets[to];
        else fragment_split(w, f, same, t->targets[to]);
    }
}

static void leave(struct exec *x, struct warp *w, struct fragment *f, const struct op *o, u32 pc) {
    u32 lanes = f->mask & guard_mask(x, o);
    f->pc = pc + 1;
    if (!lanes) return;
    barrier_leave(x, o, lanes);
    fragment_end(w, f, lanes);
    if (w->nfrag > 1)
        rendezvous_resolve(x, w); /* those that waited for these lanes do so no longer */
    barrier_check(x);
    if (x->cluster) cluster_check(x);
}

static void guarded(struct exec *x, struct warp *w, struct fragment **f, const struct op *o,
                    u32 pc) {
    u32 lanes = (*f)->mask & guard_mask(x, o);
    if (lanes == (*f)->mask || !lanes) return;
    fragment_split(w, *f, (*f)->mask & ~lanes, pc + 1);
}

/* Executes the control op at the end of a segment. */
static void control(struct exec *x, struct warp *w, struct fragment *f, const struct op *o,
                    u32 pc) {
    if (o->kind != OP_BRA && o->kind != OP_BRX && o->kind != OP_EXIT && o->kind != OP_FALLTHROUGH) {
        guarded(x, w, &f, o, pc);
        if (!(f->mask & guard_mask(x, o))) {
            f->pc = pc + 1;
            return;
        }
    }
    switch ((enum op_kind)o->kind) {
    case OP_BRA: branch(x, w, f, o, pc); break;
    case OP_BRX: branch_table(x, w, f, o, pc); break;
    case OP_EXIT: leave(x, w, f, o, pc); break;
    case OP_CALL:
        f->pc = pc;
        call_enter(x, f, o);
        break;
    case OP_RET: call_return(x, f); break;
    case OP_BAR:
        f->pc = pc;
        barrier_arrive(x, f, o);
        break;
    case OP_WARP_SYNC:
        f->pc = pc;
        rendezvous_arrive(x, f, o);
        break;
    case OP_TRAP:
        core_fault(x, SIM_FAULT_TRAP, o, (u32)__builtin_ctz(f->mask), 0, "executes a trap");
        break;
    case OP_YIELD:
        f->pc = pc + 1;
        f->turn += 1000;
        break;
    case OP_FALLTHROUGH:
    case OP_LANEWISE: f->pc = pc + 1; break;
    }
}

/* Blocks that draw their work from a counter share it by their speed, which is alike: each draws
 * once, and then, in a launch whose time is modelled, lets the others draw before it draws again.
 * What it does with what it drew is its own turn: who comes to a barrier made of a counter and
 * waits there is seen to wait. */
static bool draws_again(struct exec *x, struct warp *w, const struct fragment *f) {
    const struct launch *l = x->worker->launch;
    if (!l->trace || !l->module->segments[l->module->segment_of[f->pc]].fetches_ticket)
        return false;
    w->drew = !w->drew;
    return x->worker->drew |= !w->drew, !w->drew;
}

/* A warp whose registers are what they were at an earlier turn of the same loop goes round until
 * someone else writes memory: it has to let the others run. Looked for after 512 instructions of a
 * turn, then at twice the distance each time, so that loops which get further pay for a few looks
 * in all. */
struct look {
    u64 at, step, seen;
    u32 pc;
    bool whole; /* `seen` is of all registers, else of two lanes of each, which is cheap and tells
                   loops that count */
};
enum { WORDS_OF_A_REGISTER = 32 * sizeof(u32) / sizeof(u64) };
static u64 hash_registers(const struct exec *x, const struct warp *w, bool whole) {
    const u64 *word = (const u64 *)w->frames;
    u64 h = 0;
    for (u32 i = 0; i < x->worker->launch->warp_frame_bytes / sizeof *word;
         i += whole ? 1 : WORDS_OF_A_REGISTER)
        h = (h ^ word[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
}
/* The next look may come at another place of the loop: then it is taken as the first. */
static bool goes_round(const struct exec *x, const struct warp *w, struct look *k, u32 pc) {
    if (w->executed < k->at) return false;
    u64 now = hash_registers(x, w, k->whole), step = k->step;
    bool there = k->pc == pc, same = there && k->seen == now, closer = same && !k->whole;
    bool whole = closer || (k->whole && (same || !there));
    if (whole != k->whole) now = hash_registers(x, w, whole);
    *k = (struct look){w->executed + step, closer ? step : 2 * step, now, pc, whole};
    return same && !closer;
}

enum warp_state warp_run(struct exec *x, struct warp *w, u64 quantum) {
    const struct op *ops = x->worker->launch->ops;
    u64 until = w->executed + quantum;
    struct look look = {.at = w->executed + 512, .step = 512};
    x->warp = w;
    if (w->at_grid && grid_still_holds(x)) return WARP_WAITS;
    x->base[BASE_WARP] = w->specials;
    for (struct fragment *f = fragment_pick(x->worker, w); f;) {
        take_place(x, f);
        if (__builtin_expect(ops[f->pc].flags & OPF_GRID_POLL, false) &&
            grid_holds(x, f->mask, ops + f->pc))
            return WARP_WAITS;
        if (__builtin_expect(ops[f->pc].flags & OPF_INTERBLOCK_SYNC, false) &&
            pace_stops(x, w, f->mask & guard_mask(x, ops + f->pc), ops + f->pc))
            return WARP_YIELDS;
        if (draws_again(x, w, f)) return WARP_YIELDS;
        if (__builtin_expect(x->trace != NULL, false))
            trace_segment(x->trace, w->index, x->worker->launch->module->segment_of[f->pc]);
        const struct op *o = ops + f->pc;
        if (__builtin_expect(w->ntainted, false)) x->running = 0, x->tainted_at = o - 1;
        o = run_segment(x, o);
        if (__builtin_expect(!x->running, false)) o = taint_segment(x, f->mask);
        count_segment(x, w, f, f->pc);
        bool again = (o->kind == OP_BRA && o->flags & OPF_BACKWARD) || o->kind == OP_CALL ||
                     o->kind == OP_BRX;
        bool over = again && over_budget(x, o);
        control(x, w, f, o, (u32)(o - ops));
        if (x->faulted || over) return WARP_FAULTED;
        bool alone = w->nfrag == 1 && w->frag[0].state == FRAG_READY;
        f = alone ? &w->frag[0] : fragment_pick(x->worker, w);
        if (!f && rendezvous_resolve(x, w)) f = fragment_pick(x->worker, w);
        if (o->kind == OP_YIELD) return WARP_YIELDS;
        if (again && (w->executed >= until || goes_round(x, w, &look, (u32)(o - ops))))
            return WARP_YIELDS;
    }
    return w->nfrag ? WARP_WAITS : WARP_DONE;
}
