/* region.c — builds regions, the code that a warp executes between two branches or barriers, from
 * PTX as ptxas would compile it. replay.c uses them where there is no machine code.
 *
 * PTX is not scheduled: a load stands next to its first use. ptxas moves independent loads to the
 * front of a basic block, which decides how many are in flight. Here instructions are sorted by the
 * time at which each could start if the warp had the SM to itself (by operands, and by the order of
 * memory accesses that may overlap). */
#include "grader/sim/code/async.h"
#include "grader/sim/code/matrix.h"
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- register numbers ---- */

static u32 register_number(struct region_table *r, ref x) {
    if (r->nregisters * 2 >= r->register_slots) {
        u32 slots = r->register_slots ? 2 * r->register_slots : 1024;
        free(r->register_hash);
        r->register_hash = xcalloc(slots, sizeof *r->register_hash);
        r->register_ref = xrealloc(r->register_ref, slots * sizeof *r->register_ref);
        r->register_slots = slots;
        for (u32 i = 0; i < r->nregisters; i++) {
            u32 h = (r->register_ref[i] * 0x9e3779b1u >> 12) & (slots - 1);
            while (r->register_hash[h]) h = (h + 1) & (slots - 1);
            r->register_hash[h] = i + 1;
        }
    }
    u32 h = (x * 0x9e3779b1u >> 12) & (r->register_slots - 1);
    while (r->register_hash[h] && r->register_ref[r->register_hash[h] - 1] != x)
        h = (h + 1) & (r->register_slots - 1);
    if (r->register_hash[h]) return r->register_hash[h] - 1;
    r->register_ref[r->nregisters] = x;
    r->register_hash[h] = ++r->nregisters;
    return r->nregisters - 1;
}

static bool in_frame(ref x) { return ref_base(x) == BASE_FRAME; }

static void add_source(struct region_table *r, struct sched_insn *s, ref x) {
    if (in_frame(x) && s->nsrc < SCHED_MAX_REFS) s->src[s->nsrc++] = register_number(r, x);
}
static void add_destination(struct region_table *r, struct sched_insn *s, ref x) {
    if (in_frame(x) && s->ndst < SCHED_MAX_REFS) s->dst[s->ndst++] = register_number(r, x);
}

bool time_is_memory_op(const struct op *o) {
    const char *name = insn_opcodes[o->opcode].name;
    return o->kind == OP_LANEWISE && insn_opcodes[o->opcode].pipe == PIPE_LSU &&
           (!strcmp(name, "ld") || !strcmp(name, "ldu") || !strcmp(name, "st") ||
            !strcmp(name, "atom") || !strcmp(name, "red") || !strcmp(name, "cp.async.bulk") ||
            !strcmp(name, "cp.async.bulk.tensor") || !strcmp(name, "tex") ||
            !strcmp(name, "tld4") || !strcmp(name, "suld") || !strcmp(name, "sust") ||
            !strcmp(name, "mbarrier"));
}

static void add_memory_refs(struct region_table *r, struct sched_insn *s,
                            const struct mem_desc *d) {
    s->kind = SCHED_MEMORY;
    if (d->verb == MEM_LOAD)
        for (u32 i = 0; i < d->count; i++) add_destination(r, s, d->reg[i]);
    else if (d->verb == MEM_STORE)
        for (u32 i = 0; i < d->count; i++) add_source(r, s, d->reg[i]);
    else {
        add_source(r, s, d->operand[0]);
        add_source(r, s, d->operand[1]);
        add_destination(r, s, d->result);
    }
}

/* Returns true if the op is the load of a cp.async, whose store follows a few ops later
 * (code/decode_async.c). */
static bool is_cp_async_load(const struct sim_module *m, u32 op) {
    enum { MAX_DISTANCE = 4 };
    for (u32 i = op + 1; i < m->nops && i <= op + MAX_DISTANCE; i++)
        if (!strcmp(insn_opcodes[m->unshared_ops[i].opcode].name, "st") &&
            m->unshared_mems[m->unshared_ops[i].aux].is_cp_async)
            return m->unshared_ops[i].target == i - op;
    return false;
}

/* Returns true if the op makes an access of its own, such as each of wmma's and ldmatrix's. The
 * store of a cp.async does not: it belongs to its load. */
static bool has_access(const struct sim_module *m, const struct op *o) {
    return time_is_memory_op(o) && !m->unshared_mems[o->aux].is_cp_async;
}

/* Marks ops that start copies, commit or wait for a group, or arrive at the cluster's barrier. */
static void mark_async_op(const struct sim_module *m, struct sched_insn *s) {
    const char *name = insn_opcodes[m->unshared_ops[s->op].opcode].name;
    if (!strcmp(name, "cluster.arrive")) s->kind = SCHED_CLUSTER_ARRIVE;
    if (!strcmp(name, "cp.async.group") || !strcmp(name, "wgmma.group"))
        s->kind = SCHED_ASYNC_GROUP, s->ordered = true;
    s->is_bulk_copy = !strcmp(name, "cp.async.bulk") || !strcmp(name, "cp.async.bulk.tensor");
    if (s->is_bulk_copy || !strcmp(name, "mbarrier")) s->ordered = true;
}

/* Marks fences that reach other SMs, and accesses that release, which ptxas makes of a fence and a
 * plain access. Behind such a fence or an acquire, ptxas has L1 emptied (CCTL.IVALL). */
static void mark_fence(const struct sim_module *m, struct sched_insn *s) {
    const struct op *o = &m->unshared_ops[s->op];
    const char *name = insn_opcodes[o->opcode].name;
    bool is_fence = !strcmp(name, "membar") || !strcmp(name, "fence");
    const struct mem_desc *d = s->kind == SCHED_MEMORY ? &m->unshared_mems[o->aux] : NULL;
    if (is_fence && o->imm == FENCE_GPU_SCOPE)
        s->kind = SCHED_FENCE, s->ordered = s->empties_l1 = true;
    if (d && d->is_acquire && !d->is_cluster_scope && d->space != SPACE_SHARED)
        s->empties_l1 = true;
    if (d && d->is_release && !d->is_cluster_scope && d->space != SPACE_SHARED)
        s->is_release = s->ordered = true;
}

u16 time_fixed_latency(const struct gpu_device *d, u8 pipe) {
    switch ((enum pipe)pipe) {
    case PIPE_NONE: return 0;
    case PIPE_IMAD: return (u16)(d->lat_alu + 1);
    case PIPE_FP64: return (u16)(d->fp64_lanes >= 32 ? 2 * d->lat_alu : 10 * d->lat_alu);
    case PIPE_XU: return 20;
    case PIPE_LSU: return (u16)d->lat_shared;
    default: return (u16)d->lat_alu;
    }
}

/* ---- products of matrices: mma, wmma ---- */

/* Adds the operands, the sums first: of wmma's 24 registers an instruction has places for 12, and
 * chains of products depend on the sums. */
static void add_matrix_refs(struct region_table *r, struct sched_insn *s,
                            const struct matrix_desc *x) {
    static const u8 order[] = {MATRIX_C, MATRIX_A, MATRIX_B};
    for (u32 i = 0; i < sizeof order; i++)
        for (u32 k = 0; k < x->operands[order[i]].count; k++)
            add_source(r, s, x->operands[order[i]].reg[k]);
    for (u32 k = 0; k < x->operands[MATRIX_D].count; k++)
        add_destination(r, s, x->operands[MATRIX_D].reg[k]);
}

/* A product of 16 x 8 x 16 halves, or of as many bits, is one instruction; wmma's are two. Products
 * in double precision have twice the rate of the FP64 pipe where it has 32 lanes or more. Latency:
 * a chain on an H100, 23.8 and 16.8 cycles. */
static void lower_mma(const struct region_table *r, struct sched_insn *s,
                      const struct matrix_desc *x) {
    u32 bits = decode_matrix_types[x->operands[MATRIX_A].type].bits,
        multiplies = (u32)x->m * x->n * x->k;
    if (bits == 64) {
        s->pipe = PIPE_FP64, s->latency = time_fixed_latency(r->device, PIPE_FP64);
        s->count = (u8)(multiplies / (r->device->fp64_lanes >= 32 ? 64 : 32));
        return;
    }
    u32 work = multiplies * bits * MMA_FULL_WORK / (16 * 8 * 16 * 16);
    s->pipe = PIPE_TENSOR, s->mma_work = (u16)(work ? work : 1);
    s->count = (u8)((s->mma_work + MMA_FULL_WORK - 1) / MMA_FULL_WORK);
    s->latency = s->mma_work < MMA_FULL_WORK ? 17 : 24;
}

/* wgmma: k covers 32 bytes of matrix a for all types. An SM's four tensor cores take half a cycle
 * for each column, at least 13 cycles, sparse ones 16 (measured on an H100: N of 8 to 256, a from
 * registers). With a in shared memory, they take at least as long as the bytes of both matrices at
 * 128 a cycle: 16 cycles and a quarter for each column; half for sparse ones, whose b has 64 bytes
 * of k. Only wgmma.wait_group waits for the result: docs/time-model.md. */
static void lower_wgmma(struct region_table *r, struct sched_insn *s,
                        const struct warpgroup_desc *w) {
    double cycles = w->n / 2.0, bytes = w->n / (w->sparse ? 2.0 : 4.0);
    double min_cycles = !w->a_in_registers ? 16 + bytes : w->sparse ? 16 : 13;
    if (cycles < min_cycles) cycles = min_cycles;
    for (u32 i = 0; i < 4 && w->a_in_registers; i++) add_source(r, s, w->a[i]);
    if (w->sparse) add_source(r, s, w->metadata);
    s->pipe = PIPE_TENSOR, s->is_wgmma = true, s->count = 1, s->latency = 0;
    s->mma_work = (u16)(cycles * MMA_FULL_WORK / device_mma_cycles(r->device) + 0.5);
}

static void lower_matrix_op(struct region_table *r, struct sched_insn *s) {
    const struct op *o = &r->module->unshared_ops[s->op];
    const char *name = insn_opcodes[o->opcode].name;
    bool product = !strcmp(name, "mma");
    if (!strcmp(name, "wgmma") && !(r->disabled_terms & TERM_BIT(LOWERING)))
        lower_wgmma(r, s, &r->module->warpgroups[o->target]);
    if (!product && strcmp(name, "matrix.fragments") && strcmp(name, "matrix.rows") &&
        strcmp(name, "movmatrix"))
        return;
    add_matrix_refs(r, s, &r->module->matrices[o->aux]);
    if (product && !(r->disabled_terms & TERM_BIT(LOWERING)))
        lower_mma(r, s, &r->module->matrices[o->aux]);
}

/* Returns the nanoseconds that nanosleep takes: the next power of two, at least 55. H100: 58 for 0
 * and 20 with the loop around it, 64 for 50, 1024 for 1000, 8192 for 5000 (terms-h100.tsv,
 * sleep-…).
 */
static u32 sleep_duration(s64 ns) {
    static const u32 min_duration = 55, max_duration = 1 << 20;
    u32 duration = min_duration < ns ? 64 : min_duration;
    while (duration < ns && duration < max_duration) duration *= 2;
    return duration;
}

/* Returns true for divisions, square roots and reciprocals with full rounding. ptxas branches
 * around their slow path, for operands near the ends of the exponent's range, or calls a function
 * (64-bit integers, doubles). So each ends a basic block, although PTX has no branch there: an H100
 * takes as long for four independent divisions as for a chain of four (terms.cu, divisions4-32). */
static bool has_slow_path(const char *name) {
    static const char *const names[] = {"div.f32", "sqrt.f32", "rcp.f32", "div.f64", "sqrt.f64",
                                        "rcp.f64", "div.u64",  "div.s64", "rem.u64", "rem.s64"};
    for (u32 i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(name, names[i], strlen(names[i]))) return true;
    return false;
}

/* Returns true if the device converts an integer to float in the ALU: ptxas writes I2FP for compute
 * capability 8.6 and later, I2F before. H200: 2.2 cycles of a scheduler (control-h200.tsv,
 * function-i2f-4-w64). */
static bool converts_in_alu(const struct gpu_device *d, const char *name) {
    return d->cc_major * 10 + d->cc_minor >= 86 &&
           (!strcmp(name, "cvt.f32.s32") || !strcmp(name, "cvt.f32.u32"));
}

/* A load of a constant at one address for all lanes is an operand of another instruction, or the
 * uniform datapath's; the LSU pipe has no part in it (H100: convolution's step 4 has an instruction
 * in that pipe for each load from shared memory, and none for those of the taps; ncu.tsv). */
static bool is_uniform_constant_load(const struct sim_module *m, const struct op *o) {
    if (!time_is_memory_op(o)) return false;
    const struct mem_desc *d = &m->unshared_mems[o->aux];
    return d->space == SPACE_CONST && !d->has_lane_address;
}

static void make_sched_insn(struct region_table *r, u32 op, struct sched_insn *s) {
    const struct sim_module *m = r->module;
    const struct op *o = &m->unshared_ops[op];
    const struct opcode_desc *row = &insn_opcodes[o->opcode];
    struct lowering to = time_lower_insn(row->name, row->pipe);
    if (r->disabled_terms & TERM_BIT(LOWERING) && row->pipe != PIPE_NONE)
        to.count = 1, to.xu_count = 0, to.pipe = to.pipe == PIPE_NONE ? PIPE_ALU : to.pipe;
    if (converts_in_alu(r->device, row->name)) to.pipe = PIPE_ALU;
    bool copy = !strcmp(row->name, "ld") && is_cp_async_load(m, op);
    if (is_uniform_constant_load(m, o)) to.pipe = PIPE_CTRL;
    if (!o->weight && !copy && !has_access(m, o)) to = (struct lowering){PIPE_NONE, 0, 0};
    *s = (struct sched_insn){.op = op,
                             .pipe = to.pipe,
                             .count = to.count,
                             .xu_count = to.xu_count,
                             .is_cp_async = copy,
                             .is_cp_async_store =
                                 time_is_memory_op(o) && m->unshared_mems[o->aux].is_cp_async,
                             .ends_block = has_slow_path(row->name),
                             .latency = time_fixed_latency(r->device, to.pipe)};
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++) add_source(r, s, o->src[i]);
    add_source(r, s, o->guard);
    add_destination(r, s, o->dst);
    if (time_is_memory_op(o)) add_memory_refs(r, s, &m->unshared_mems[o->aux]);
    mark_async_op(m, s);
    mark_fence(m, s);
    if (!strcmp(row->name, "nanosleep") && o->weight) s->sleep_ns = sleep_duration(o->imm);
    if (o->kind == OP_BAR) s->kind = SCHED_BARRIER;
    if (o->kind == OP_WARP_SYNC) {
        add_source(r, s, m->unshared_warp_syncs[o->aux].member_mask);
        add_destination(r, s, m->unshared_warp_syncs[o->aux].pred_dst);
        bool data = m->unshared_warp_syncs[o->aux].kind == WARP_SYNC_SHFL ||
                    m->unshared_warp_syncs[o->aux].kind == WARP_SYNC_MATCH;
        s->pipe = data ? PIPE_LSU : PIPE_ALU;
        s->latency = time_fixed_latency(r->device, s->pipe);
    }
    lower_matrix_op(r, s);
    if (s->pipe == PIPE_FMA && s->count > 2)
        s->latency = (u16)(s->latency * s->count); /* a chain, such as division, square root */
    if (s->pipe == PIPE_FP64 && s->ends_block)     /* H200: a division takes 125 cycles */
        s->latency = (u16)(s->latency * s->count);
    if (s->pipe == PIPE_ALU && s->count > 4) s->latency = (u16)(s->latency * s->count);
}

/* ---- folding: ptxas merges address arithmetic into other instructions ---- */

static bool name_starts_with(const struct region_table *r, u32 op, const char *prefix) {
    return !strncmp(insn_opcodes[r->module->unshared_ops[op].opcode].name, prefix, strlen(prefix));
}

/* Folds 64-bit additions: base + index × size is one IMAD.WIDE, and register + constant becomes the
 * offset of the access. */
static void fold_addresses(struct region_table *r, struct sched_insn *insns, u32 n, u32 *last_def) {
    memset(last_def, 0xff, r->nregisters * sizeof *last_def);
    for (u32 i = 0; i < n; i++) {
        struct sched_insn *s = &insns[i];
        const struct op *o = &r->module->unshared_ops[s->op];
        bool add64 = name_starts_with(r, s->op, "add.s64") || name_starts_with(r, s->op, "add.u64");
        if (add64) {
            bool constant = ref_base(o->src[0]) == BASE_CONST || ref_base(o->src[1]) == BASE_CONST;
            bool is_self_update = o->src[0] == o->dst || o->src[1] == o->dst, wide = false;
            for (u32 k = 0; k < s->nsrc; k++)
                wide |= last_def[s->src[k]] != UINT32_MAX &&
                        name_starts_with(r, insns[last_def[s->src[k]]].op, "mul.wide");
            if ((constant && !is_self_update) || wide)
                s->count = 0, s->pipe = PIPE_NONE, s->latency = 0;
        }
        for (u32 k = 0; k < s->ndst; k++) last_def[s->dst[k]] = i;
    }
}

static bool is_comparison(const struct region_table *r, const struct sched_insn *s) {
    return name_starts_with(r, s->op, "setp.") && s->count == 1;
}

/* A comparison combines its result with another predicate, which ptxas uses for `a < b && c < d`:
 * ISETP.LT.AND. So it folds a logical operation on predicates into the later comparison. */
static void fold_predicates(struct region_table *r, struct sched_insn *insns, u32 n,
                            u32 *last_def) {
    memset(last_def, 0xff, r->nregisters * sizeof *last_def);
    for (u32 i = 0; i < n; i++) {
        struct sched_insn *s = &insns[i];
        bool logical = name_starts_with(r, s->op, "and.pred") ||
                       name_starts_with(r, s->op, "or.pred") ||
                       name_starts_with(r, s->op, "xor.pred"),
             folds = false;
        for (u32 k = 0; logical && k < s->nsrc; k++)
            folds |=
                last_def[s->src[k]] != UINT32_MAX && is_comparison(r, &insns[last_def[s->src[k]]]);
        if (folds) s->count = 0, s->pipe = PIPE_NONE, s->latency = 0;
        for (u32 k = 0; k < s->ndst; k++) last_def[s->dst[k]] = i;
    }
}

/* ---- access merging of shared memory (code/access_merging.c has marked the accesses) ---- */

static const struct mem_desc *shared_access(const struct region_table *r,
                                            const struct sched_insn *s) {
    if (s->kind != SCHED_MEMORY) return NULL;
    const struct mem_desc *d = &r->module->unshared_mems[r->module->unshared_ops[s->op].aux];
    return d->space == SPACE_SHARED && (d->verb == MEM_LOAD || d->verb == MEM_STORE) ? d : NULL;
}

/* Returns the earlier access into which the one at `i` is merged: same base, within 16 bytes. NULL
 * if there is none. */
static struct sched_insn *leader_of(const struct region_table *r, struct sched_insn *insns, u32 i) {
    const struct op *o = &r->module->unshared_ops[insns[i].op];
    const struct mem_desc *d = &r->module->unshared_mems[o->aux];
    while (i-- > 0) {
        const struct mem_desc *l = shared_access(r, &insns[i]);
        const struct op *p = &r->module->unshared_ops[insns[i].op];
        s64 distance = p->imm - o->imm;
        if (l && l->merged_bytes > MERGED_INTO_OTHER && l->verb == d->verb &&
            p->src[0] == o->src[0] && distance < 16 && distance > -16)
            return &insns[i];
    }
    return NULL;
}

/* Makes the wide access wait for all operands and write all results. */
static void merge_accesses(const struct region_table *r, struct sched_insn *insns, u32 n) {
    for (u32 i = 0; i < n; i++) {
        const struct mem_desc *d = shared_access(r, &insns[i]);
        struct sched_insn *to =
            d && d->merged_bytes == MERGED_INTO_OTHER ? leader_of(r, insns, i) : NULL;
        if (!to) continue;
        for (u32 k = 0; k < insns[i].ndst && to->ndst < SCHED_MAX_REFS; k++)
            to->dst[to->ndst++] = insns[i].dst[k];
        for (u32 k = 0; k < insns[i].nsrc && to->nsrc < SCHED_MAX_REFS; k++)
            to->src[to->nsrc++] = insns[i].src[k];
        insns[i].count = insns[i].ndst = 0, insns[i].pipe = PIPE_NONE, insns[i].latency = 0;
    }
}

/* ---- the order of issue ---- */

struct access_range {
    ref base;
    u32 version; /* of the base register */
    s64 low, high;
};

static bool may_overlap(const struct access_range *a, const struct access_range *b) {
    return a->base != b->base || a->version != b->version || (a->low < b->high && b->low < a->high);
}

struct dependence_tracker {
    /* By register: when its value is ready; when it was last read; number of its definitions. */
    u32 *ready, *last_use, *version;
    struct {
        struct access_range range;
        u32 time;
        u8 space;
        bool load, readonly;
    } * accesses;
    u32 naccesses;
};

static u8 memory_class(u8 space) { return space == SPACE_GENERIC ? SPACE_GLOBAL : space; }

static u32 earliest_after_accesses(const struct dependence_tracker *w, const struct mem_desc *d,
                                   const struct access_range *at, bool readonly) {
    u32 t = 0;
    for (u32 i = 0; i < w->naccesses; i++) {
        bool both_load = w->accesses[i].load && d->verb == MEM_LOAD;
        if (both_load || readonly || w->accesses[i].readonly ||
            w->accesses[i].space != memory_class(d->space))
            continue;
        if (may_overlap(&w->accesses[i].range, at) && w->accesses[i].time + 1 > t)
            t = w->accesses[i].time + 1;
    }
    return t;
}

static u32 compute_start(struct region_table *r, struct dependence_tracker *w,
                         const struct sched_insn *s, u32 latency) {
    u32 t = 0;
    for (u32 k = 0; k < s->nsrc; k++)
        if (w->ready[s->src[k]] > t) t = w->ready[s->src[k]];
    for (u32 k = 0; k < s->ndst; k++)
        if (w->last_use[s->dst[k]] > t) t = w->last_use[s->dst[k]];
    if (s->kind == SCHED_MEMORY) {
        const struct op *o = &r->module->unshared_ops[s->op];
        const struct mem_desc *d = &r->module->unshared_mems[o->aux];
        struct access_range at = {
            o->src[0], in_frame(o->src[0]) ? w->version[register_number(r, o->src[0])] : 0, o->imm,
            o->imm + d->width * d->count};
        bool readonly = d->nc || d->space == SPACE_CONST || d->space == SPACE_PARAM;
        u32 memory_start = earliest_after_accesses(w, d, &at, readonly);
        if (memory_start > t) t = memory_start;
        w->accesses[w->naccesses].range = at, w->accesses[w->naccesses].time = t,
        w->accesses[w->naccesses].space = memory_class(d->space);
        w->accesses[w->naccesses].load = d->verb == MEM_LOAD,
        w->accesses[w->naccesses++].readonly = readonly;
    }
    for (u32 k = 0; k < s->nsrc; k++)
        if (t > w->last_use[s->src[k]]) w->last_use[s->src[k]] = t;
    for (u32 k = 0; k < s->ndst; k++) w->ready[s->dst[k]] = t + latency, w->version[s->dst[k]]++;
    return t;
}

struct start_key {
    u32 start, index;
};
static int by_start(const void *a, const void *b) {
    const struct start_key *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Keeps accesses to memory on their side of `ordered` instructions. */
struct memory_fence {
    u32 min_start, last_start; /* least start of accesses from here on; latest start so far */
};

static u32 apply_fence(struct memory_fence *f, const struct sched_insn *s, u32 start) {
    if (s->kind != SCHED_MEMORY && s->kind != SCHED_ASYNC_GROUP && s->kind != SCHED_FENCE)
        return start;
    if (start < f->min_start) start = f->min_start;
    if (s->ordered && start < f->last_start) start = f->last_start;
    if (s->ordered) f->min_start = start;
    if (start > f->last_start) f->last_start = start;
    return start;
}

static void schedule_insns(struct region_table *r, struct sched_insn *insns, u32 n) {
    u32 *tables = xcalloc(3ul * r->nregisters + 3, sizeof *tables);
    struct dependence_tracker w = {
        .ready = tables, .last_use = tables + r->nregisters, .version = tables + 2 * r->nregisters};
    struct start_key *key = xcalloc(n + 1, sizeof *key);
    struct sched_insn *copy = xcalloc(n + 1, sizeof *copy);
    w.accesses = xcalloc(n + 1, sizeof *w.accesses);
    memcpy(copy, insns, n * sizeof *copy);
    struct memory_fence fence = {0, 0};
    u32 last = 0, block_start = 0;
    for (u32 i = 0; i < n; i++) {
        bool is_terminator =
            insns[i].ends_block ||
            (i + 1 == n && r->module->unshared_ops[insns[i].op].kind != OP_LANEWISE);
        u32 latency = insns[i].kind == SCHED_MEMORY ? r->device->lat_l1 : insns[i].latency;
        key[i] = (struct start_key){
            apply_fence(&fence, &insns[i], compute_start(r, &w, &insns[i], latency)), i};
        if (key[i].start < block_start) key[i].start = block_start;
        if (is_terminator && last > key[i].start) key[i].start = last;
        if (insns[i].ends_block) block_start = key[i].start;
        if (key[i].start > last) last = key[i].start;
    }
    if (!(r->disabled_terms & TERM_BIT(SCHEDULING))) qsort(key, n, sizeof *key, by_start);
    for (u32 i = 0; i < n; i++) insns[i] = copy[key[i].index];
    free(key), free(copy), free(w.accesses), free(tables);
}

/* ---- regions ---- */

void time_lower_ops(struct region_table *r, u32 first, u32 n, struct sched_insn *insns) {
    for (u32 i = 0; i < n; i++) make_sched_insn(r, first + i, &insns[i]);
    u32 *def = xcalloc(r->nregisters + 1, sizeof *def);
    if (!(r->disabled_terms & TERM_BIT(LOWERING)))
        fold_addresses(r, insns, n, def), fold_predicates(r, insns, n, def);
    free(def);
}

u32 time_register_number(struct region_table *r, ref x) { return register_number(r, x); }

static struct region *build_region(struct region_table *r, u32 segment, u32 n) {
    const struct sim_module *m = r->module;
    struct region *g = arena_new(&r->arena, struct region);
    g->first_segment = segment, g->nsegments = n;
    g->first_op = m->segments[segment].first;
    g->end_op = m->segments[segment + n - 1].last + 1;
    g->ninsns = g->end_op - g->first_op;
    g->insns = arena_array(&r->arena, struct sched_insn, g->ninsns);
    g->insn_index = arena_array(&r->arena, u32, g->ninsns);
    time_lower_ops(r, g->first_op, g->ninsns, g->insns);
    if (!(r->disabled_terms & TERM_BIT(MERGING))) merge_accesses(r, g->insns, g->ninsns);
    time_convert_branches(r, g);
    schedule_insns(r, g->insns, g->ninsns);
    for (u32 i = 0; i < g->ninsns; i++) g->insn_index[g->insns[i].op - g->first_op] = i;
    if (g->ninsns > r->max_insns) r->max_insns = g->ninsns;
    return g;
}

static struct region *find(struct region_table *r, u32 segment, u32 n) {
    struct region **slot = &r->table[(segment * 31 + n) % REGION_SLOTS];
    for (struct region *g = *slot; g; g = g->next)
        if (g->first_segment == segment && g->nsegments == n) return g;
    struct region *g = build_region(r, segment, n);
    g->next = *slot;
    return *slot = g;
}

/* Returns true if the segment ends in a shuffle or vote, which does not end a basic block. */
static bool continues_basic_block(const struct sim_module *m, u32 segment) {
    const struct op *o = &m->unshared_ops[m->segments[segment].last];
    return o->kind == OP_WARP_SYNC && !in_frame(o->guard);
}

bool time_region_continues(struct region_table *r, u32 first, u32 n, u32 position, u32 next) {
    if (next >= n || next == position) return false;
    if (next > position) return true;
    enum { MAX_IF_SEGMENTS = 3 };
    for (u32 back = 1; back < MAX_IF_SEGMENTS && back <= next; back++)
        if (position <= next - back + time_if_segments(r, first + next - back)) return true;
    return false;
}

struct region *time_region_at(struct region_table *r, const struct trace_warp *w, u32 at) {
    u32 segment = trace_op_or_segment(w->words[at]), n = 1, position = 0;
    for (u32 i = at + 1; i < w->nwords; i++) {
        u32 selected = position + 1 == n ? time_if_segments(r, segment + position) : 0;
        if (position + 1 == n && !selected && !continues_basic_block(r->module, segment + position))
            break;
        u32 next = trace_op_or_segment(w->words[i]) - segment;
        if (trace_is_access(w->words[i])) {
            i += trace_entries(w->words[i]);
            continue;
        }
        bool extends = position + 1 == n && next >= n && next <= n + selected;
        if (extends) n += 1 + selected;
        else if (!time_region_continues(r, segment, n, position, next)) break;
        position = next;
    }
    return find(r, segment, n);
}

void time_regions_open(struct region_table *r, const struct sim_module *m,
                       const struct gpu_device *d, unsigned disabled_terms,
                       const struct sim_trace *t) {
    *r = (struct region_table){.module = m, .device = d, .disabled_terms = disabled_terms};
    r->if_conversion = arena_array(&r->arena, u8, m->nsegments);
    /* Build all regions now, so that registers are numbered before the replay allocates tables. */
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++) {
            const struct trace_warp *s = &t->blocks[b].warps[w];
            for (u32 i = 0; i < s->nwords; i++) {
                if (trace_is_access(s->words[i])) i += trace_entries(s->words[i]);
                else time_region_at(r, s, i);
            }
        }
}

void time_regions_close(struct region_table *r) {
    arena_free(&r->arena);
    free(r->register_hash);
    free(r->register_ref);
}
