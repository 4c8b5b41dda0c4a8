/* warp.c — the interpreter: runs the splits of one warp. core/block.c calls it. See core.h for the
 * theory. */
#include "grader/sim/core/core.h"
#include "common/clock.h"
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/grid_barrier.h"
#include "grader/sim/core/clock_scheduler.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"

static inline u32 guard_mask(const struct exec *x, const struct op *o) {
    return *(const u32 *)operand_at(x, o->guard) ^ o->guard_xor;
}

/* Runs straight-line code; returns the control op at the end of the segment. */
static inline const struct op *interpret(struct exec *x, const struct op *o) {
    for (; o->kind == OP_LANEWISE; o++) {
        u32 mask = x->fast_mask & guard_mask(x, o);
        if (mask) o->run(x, o, mask);
    }
    return o;
}

/* Returns how many instructions the warp may run before the next check at a branch backwards. */
static u64 insns_to_check(const struct exec *x, u64 check_at) {
    const struct launch *l = x->worker->launch;
    u64 others = l->code->interblock_dependent ? x->worker->warp_insns : 0,
        used = others + x->block->warp_insns,
        left = !l->insn_budget         ? UINT64_MAX
               : used < l->insn_budget ? l->insn_budget - used + 1
                                       : 0,
        to_check = check_at - x->warp->warp_insns;
    if (check_at < x->warp->warp_insns) return 0;
    return to_check < left ? to_check : left;
}

/* Runs the loop whose header the segment is, if native code can, until the warp's next check at
 * `check_at` instructions. Returns the op of the split's new segment at which it left; NULL if it
 * ran nothing. */
static const struct op *run_native_loop(struct exec *x, const struct native_code *native,
                                        struct warp_split *f, u64 check_at) {
    const struct launch *l = x->worker->launch;
    bool is_whole_warp = f->mask == ~0u && x->warp->nsplits == 1 && !x->warp->awaited_lanes;
    if (!native->loop || !is_whole_warp || l->adversarial_schedule) return NULL;
    return native->loop(x, l->ops, f, insns_to_check(x, check_at));
}

/* Runs the split's segment, and before it those that native code runs as a loop; returns the
 * control op at the end of the segment. */
static inline const struct op *run_segment(struct exec *x, struct warp_split *f, u64 check_at) {
    const struct sim_module *m = x->worker->launch->module;
    const struct op *o = m->ops + f->pc;
    if (!x->native || !x->fast_mask || x->trace) return interpret(x, o);
    const struct native_code *native = &x->native[m->segment_of[f->pc]];
    const struct op *left_at = run_native_loop(x, native, f, check_at);
    if (left_at) o = left_at;
    else if (native->segment) o = native->segment(x, m->ops);
    return interpret(x, o);
}

static void count_segment(struct exec *x, struct warp *w, struct warp_split *f, u32 pc) {
    struct worker *k = x->worker;
    const struct sim_module *m = k->launch->module;
    u32 s = m->segment_of[pc], n = m->segments[s].insn_count;
    if (__builtin_expect(w->awaited_lanes & f->mask, 0) && !m->segments[s].is_exit_path)
        w->diverted_lanes |= w->awaited_lanes & f->mask;
    k->segment_runs[s]++;
    k->segment_lanes[s] += (u32)__builtin_popcount(f->mask);
    x->block->warp_insns += n;
    w->warp_insns += n;
    f->vruntime += n;
}

/* Returns true if the launch has used up its budget. Blocks that may wait for each other run on one
 * worker, so what all of them executed counts; of other blocks only the running one's, and
 * core/launch.c adds the finished ones'. */
static bool exceeds_budget(const struct exec *x) {
    const struct launch *l = x->worker->launch;
    u64 others = l->code->interblock_dependent ? x->worker->warp_insns : 0;
    return l->insn_budget && others + x->block->warp_insns > l->insn_budget;
}

/* Returns true, perhaps with a report, if the launch must end. Called at backward branches and
 * calls: a program without either ends by itself. */
static bool over_budget(struct exec *x, const struct op *o) {
    struct worker *k = x->worker;
    struct launch *l = k->launch;
    char spin_text[320];
    if (exceeds_budget(x)) {
        describe_spin(x, o, spin_text, sizeof spin_text);
        core_fault(x, SIM_FAULT_INSN_BUDGET, o, (u32)__builtin_ctz(x->active_mask), 0,
                   "%s executed %llu warp instructions, the launch's budget: an endless loop?%s",
                   x->block->warp_insns > l->insn_budget ? "has"
                                                         : "runs here after all blocks have",
                   (unsigned long long)l->insn_budget, spin_text);
        return true;
    }
    if ((++k->time_checks & 0x3fff) == 0 && launch_is_out_of_time(k)) {
        describe_spin(x, o, spin_text, sizeof spin_text);
        core_fault(x, SIM_FAULT_TIMEOUT, o, (u32)__builtin_ctz(x->active_mask), 0,
                   "exceeded the launch's time budget: an endless loop?%s", spin_text);
        return true;
    }
    return atomic_load_explicit(&l->abort_fault, memory_order_relaxed) ||
           x->block->launch_order > atomic_load_explicit(&l->fault_block, memory_order_relaxed);
}

static void enter_split(struct exec *x, const struct warp_split *f) {
    const struct call_context *c = &x->worker->contexts[f->context];
    x->active_mask = x->fast_mask = f->mask;
    x->base[BASE_FRAME] = x->warp->frames + c->frame;
    x->local_base = c->local;
}

/* ---- control instructions: each sets the split's pc to where its lanes proceed ---- */

static void branch(struct exec *x, struct warp *w, struct warp_split *f, const struct op *o,
                   u32 pc) {
    u32 taken = f->mask & guard_mask(x, o), s = x->worker->launch->module->segment_of[f->pc];
    if (ref_base(o->guard) == BASE_FRAME) x->worker->branch_runs[s]++;
    if (__builtin_expect(o->flags & OPF_BARRIER_BYPASS, false))
        barrier_record_skips(x, o, f->mask, taken);
    if (taken == 0) {
        f->pc = pc + 1;
    } else if (taken == f->mask) {
        f->pc = o->target;
    } else {
        x->worker->branch_diverged[s]++;
        f->pc = pc + 1;
        split_diverge(w, f, taken, o->target);
    }
}

static void branch_table(struct exec *x, struct warp *w, struct warp_split *f, const struct op *o,
                         u32 pc) {
    const struct branch_table *t = &x->worker->launch->module->tables[o->aux];
    const u32 *index = operand_at(x, o->src[0]);
    u32 remaining = f->mask & guard_mask(x, o);
    f->pc = pc + 1; /* lanes whose guard is false */
    while (remaining) {
        u32 lane = (u32)__builtin_ctz(remaining), target_index = index[lane], same = 0;
        for (u32 l = 0; l < 32; l++) same |= index[l] == target_index ? 1u << l : 0;
        same &= remaining;
        remaining &= ~same;
        if (target_index >= t->count) {
            core_fault(x, SIM_FAULT_BAD_CALL, o, lane, target_index,
                       "branches through a table of %u targets with index %u", t->count,
                       target_index);
            return;
        }
        if (same == f->mask) f->pc = t->targets[target_index];
        else split_diverge(w, f, same, t->targets[target_index]);
    }
}

static void exit_threads(struct exec *x, struct warp *w, struct warp_split *f, const struct op *o,
                         u32 pc) {
    u32 lanes = f->mask & guard_mask(x, o);
    f->pc = pc + 1;
    if (!lanes) return;
    barrier_record_exit(x, o, lanes);
    split_exit(w, f, lanes);
    if (w->nsplits > 1) warp_sync_resolve(x, w); /* other lanes no longer wait for these */
    barrier_try_release(x);
    if (x->cluster) cluster_try_release(x);
}

static void diverge_on_guard(struct exec *x, struct warp *w, struct warp_split **f,
                             const struct op *o, u32 pc) {
    u32 lanes = (*f)->mask & guard_mask(x, o);
    if (lanes == (*f)->mask || !lanes) return;
    split_diverge(w, *f, (*f)->mask & ~lanes, pc + 1);
}

/* Executes the control op at the end of a segment. */
static void run_control(struct exec *x, struct warp *w, struct warp_split *f, const struct op *o,
                        u32 pc) {
    if (o->kind != OP_BRA && o->kind != OP_BRX && o->kind != OP_EXIT && o->kind != OP_FALLTHROUGH) {
        diverge_on_guard(x, w, &f, o, pc);
        if (!(f->mask & guard_mask(x, o))) {
            f->pc = pc + 1;
            return;
        }
    }
    switch ((enum op_kind)o->kind) {
    case OP_BRA: branch(x, w, f, o, pc); break;
    case OP_BRX: branch_table(x, w, f, o, pc); break;
    case OP_EXIT: exit_threads(x, w, f, o, pc); break;
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
        warp_sync_arrive(x, f, o);
        break;
    case OP_TRAP:
        core_fault(x, SIM_FAULT_TRAP, o, (u32)__builtin_ctz(f->mask), 0, "executes a trap");
        break;
    case OP_YIELD:
        f->pc = pc + 1;
        f->vruntime += 1000;
        break;
    case OP_FALLTHROUGH:
    case OP_LANEWISE: f->pc = pc + 1; break;
    }
}

/* Returns true if a block must yield before its next ticket. Blocks that fetch their work from a
 * counter run about equally fast, so in a traced launch each fetches one ticket, then lets the
 * others fetch theirs. Its work on the ticket is a timeslice of its own: that shows when a block
 * waits at a barrier made of a counter. */
static bool refetches_ticket(struct exec *x, struct warp *w, const struct warp_split *f) {
    const struct launch *l = x->worker->launch;
    if (!l->trace || !l->module->segments[l->module->segment_of[f->pc]].fetches_ticket)
        return false;
    w->fetched_ticket = !w->fetched_ticket;
    return x->worker->fetched_ticket |= !w->fetched_ticket, !w->fetched_ticket;
}

/* Detects a warp that spins: if its registers are the same as in an earlier iteration of the loop,
 * it can't make progress until another warp writes memory, so it yields. The first check is after
 * 512 instructions of a timeslice, each later one after twice the distance, so that other loops pay
 * for few checks. */
struct spin_detector {
    u64 check_at, check_distance, hash;
    u32 pc;
    /* `hash` is of all registers, else of two lanes of each, which is cheap and recognizes loops
     * that count */
    bool is_full_hash;
};
enum { WORDS_PER_REGISTER = 32 * sizeof(u32) / sizeof(u64) };
static u64 hash_registers(const struct exec *x, const struct warp *w, bool is_full) {
    const u64 *word = (const u64 *)w->frames;
    u64 h = 0;
    for (u32 i = 0; i < x->worker->launch->warp_frame_bytes / sizeof *word;
         i += is_full ? 1 : WORDS_PER_REGISTER)
        h = (h ^ word[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
    return h;
}
/* If the next check is at another place of the loop, it counts as the first. */
static bool is_spinning(const struct exec *x, const struct warp *w, struct spin_detector *k,
                        u32 pc) {
    if (w->warp_insns < k->check_at) return false;
    u64 hash = hash_registers(x, w, k->is_full_hash), step = k->check_distance;
    bool is_same_pc = k->pc == pc, is_same_hash = is_same_pc && k->hash == hash,
         needs_full_hash = is_same_hash && !k->is_full_hash;
    bool is_full = needs_full_hash || (k->is_full_hash && (is_same_hash || !is_same_pc));
    if (is_full != k->is_full_hash) hash = hash_registers(x, w, is_full);
    *k = (struct spin_detector){w->warp_insns + step, needs_full_hash ? step : 2 * step, hash, pc,
                                is_full};
    return is_same_hash && !needs_full_hash;
}

enum warp_state warp_run(struct exec *x, struct warp *w, u64 quantum) {
    const struct op *ops = x->worker->launch->ops;
    u64 limit = w->warp_insns + quantum;
    struct spin_detector detector = {.check_at = w->warp_insns + 512, .check_distance = 512};
    x->warp = w;
    if (w->at_grid_barrier && grid_barrier_still_waits(x)) return WARP_WAITING;
    x->base[BASE_WARP] = w->special_regs;
    for (struct warp_split *f = split_select(x->worker, w); f;) {
        enter_split(x, f);
        if (__builtin_expect(ops[f->pc].flags & OPF_GRID_POLL, false) &&
            grid_barrier_must_wait(x, f->mask, ops + f->pc))
            return WARP_WAITING;
        if (__builtin_expect(ops[f->pc].flags & OPF_INTERBLOCK_SYNC, false) &&
            clock_sched_yields(x, w, f->mask & guard_mask(x, ops + f->pc), ops + f->pc))
            return WARP_YIELDED;
        if (refetches_ticket(x, w, f)) return WARP_YIELDED;
        if (__builtin_expect(x->trace != NULL, false))
            trace_segment(x->trace, w->index, x->worker->launch->module->segment_of[f->pc],
                          f->mask);
        if (__builtin_expect(w->nundef, false)) x->fast_mask = 0, x->undef_load = ops + f->pc - 1;
        u64 check_at = detector.check_at < limit ? detector.check_at : limit;
        const struct op *o = run_segment(x, f, check_at);
        if (__builtin_expect(!x->fast_mask, false)) o = undef_run_segment(x, f->mask);
        count_segment(x, w, f, f->pc);
        bool may_loop = (o->kind == OP_BRA && o->flags & OPF_BACKWARD) || o->kind == OP_CALL ||
                        o->kind == OP_BRX;
        bool is_over_budget = may_loop && over_budget(x, o);
        run_control(x, w, f, o, (u32)(o - ops));
        if (x->faulted || is_over_budget) return WARP_FAULTED;
        bool is_converged = w->nsplits == 1 && w->splits[0].state == SPLIT_READY;
        f = is_converged ? &w->splits[0] : split_select(x->worker, w);
        if (!f && warp_sync_resolve(x, w)) f = split_select(x->worker, w);
        if (o->kind == OP_YIELD) return WARP_YIELDED;
        if (may_loop && (w->warp_insns >= limit || is_spinning(x, w, &detector, (u32)(o - ops))))
            return WARP_YIELDED;
    }
    return w->nsplits ? WARP_WAITING : WARP_DONE;
}
