/* region.c — what a warp executes between two branches or barriers, as machine code would have it.
 *
 * PTX is not scheduled: a load stands beside its first use. ptxas moves independent loads to the
 * front of a basic block, which decides how many are in flight. Here an instruction's place is the
 * time at which it could start if the block had the SM to itself (operands, and the order of memory
 * accesses that may overlap); instructions are then issued in that order. */
#include "grader/sim/code/matrix.h"
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- register numbers ---- */

static u32 register_number(struct regions *r, ref x) {
    if (r->nregisters * 2 >= r->register_slots) {
        u32 slots = r->register_slots ? 2 * r->register_slots : 1024;
        free(r->register_of);
        r->register_of = xcalloc(slots, sizeof *r->register_of);
        r->register_ref = xrealloc(r->register_ref, slots * sizeof *r->register_ref);
        r->register_slots = slots;
        for (u32 i = 0; i < r->nregisters; i++) {
            u32 h = (r->register_ref[i] * 0x9e3779b1u >> 12) & (slots - 1);
            while (r->register_of[h]) h = (h + 1) & (slots - 1);
            r->register_of[h] = i + 1;
        }
    }
    u32 h = (x * 0x9e3779b1u >> 12) & (r->register_slots - 1);
    while (r->register_of[h] && r->register_ref[r->register_of[h] - 1] != x)
        h = (h + 1) & (r->register_slots - 1);
    if (r->register_of[h]) return r->register_of[h] - 1;
    r->register_ref[r->nregisters] = x;
    r->register_of[h] = ++r->nregisters;
    return r->nregisters - 1;
}

static bool in_frame(ref x) { return ref_base(x) == BASE_FRAME; }

static void reads(struct regions *r, struct step *s, ref x) {
    if (in_frame(x) && s->nsrc < STEP_REFS) s->src[s->nsrc++] = register_number(r, x);
}
static void writes(struct regions *r, struct step *s, ref x) {
    if (in_frame(x) && s->ndst < STEP_REFS) s->dst[s->ndst++] = register_number(r, x);
}

bool time_is_memory(const struct op *o) {
    const char *name = insn_opcodes[o->opcode].name;
    return o->kind == OP_LANEWISE && insn_opcodes[o->opcode].pipe == PIPE_LSU &&
           (!strcmp(name, "ld") || !strcmp(name, "ldu") || !strcmp(name, "st") ||
            !strcmp(name, "atom") || !strcmp(name, "red") || !strcmp(name, "cp.async.bulk") ||
            !strcmp(name, "cp.async.bulk.tensor") || !strcmp(name, "tex") ||
            !strcmp(name, "tld4") || !strcmp(name, "suld") || !strcmp(name, "sust") ||
            !strcmp(name, "mbarrier"));
}

static void memory_refs(struct regions *r, struct step *s, const struct mem_desc *d) {
    s->kind = STEP_MEMORY;
    if (d->verb == MEM_LOAD)
        for (u32 i = 0; i < d->count; i++) writes(r, s, d->reg[i]);
    else if (d->verb == MEM_STORE)
        for (u32 i = 0; i < d->count; i++) reads(r, s, d->reg[i]);
    else {
        reads(r, s, d->operand[0]);
        reads(r, s, d->operand[1]);
        writes(r, s, d->result);
    }
}

/* The load of a cp.async, which a store a few ops behind it completes (code/decode_async.c). */
static bool copies(const struct sim_module *m, u32 op) {
    enum { NEAR = 4 };
    for (u32 i = op + 1; i < m->nops && i <= op + NEAR; i++)
        if (!strcmp(insn_opcodes[m->ops[i].opcode].name, "st") &&
            m->mems[m->ops[i].aux].is_cp_async)
            return m->ops[i].target == i - op;
    return false;
}

/* An access of its own within an instruction of many, as of wmma and ldmatrix. The store of a
 * cp.async is its load's. */
static bool has_access(const struct sim_module *m, const struct op *o) {
    return time_is_memory(o) && !m->mems[o->aux].is_cp_async;
}

/* What begins copies, ends a group of them, or waits; what comes to the barrier of the cluster. */
static void note_copies(const struct sim_module *m, struct step *s) {
    const char *name = insn_opcodes[m->ops[s->op].opcode].name;
    if (!strcmp(name, "cluster.arrive")) s->kind = STEP_ARRIVE;
    if (!strcmp(name, "cp.async.group") || !strcmp(name, "wgmma.group"))
        s->kind = STEP_GROUP, s->ordered = true;
    s->bulk = !strcmp(name, "cp.async.bulk") || !strcmp(name, "cp.async.bulk.tensor");
    if (s->bulk || !strcmp(name, "mbarrier")) s->ordered = true;
}

u16 time_plain_latency(const struct gpu_device *d, u8 unit) {
    switch ((enum unit)unit) {
    case UNIT_ALU:
    case UNIT_ADD:
    case UNIT_FMA: return (u16)d->lat_alu;
    case UNIT_IMAD: return (u16)(d->lat_alu + 1);
    case UNIT_FP64: return (u16)(d->fp64_lanes >= 32 ? 2 * d->lat_alu : 10 * d->lat_alu);
    case UNIT_XU: return 20;
    case UNIT_LSU: return (u16)d->lat_shared;
    case UNIT_TENSOR:
    case UNIT_CTRL:
    case UNIT_NONE:
    case UNIT_COUNT: break;
    }
    return unit == UNIT_NONE ? 0 : (u16)d->lat_alu;
}

/* ---- products of matrices: mma, wmma ---- */

/* The sums first: of wmma's 24 registers a step has room for 12, and the sums are what a chain
 * hangs on. */
static void matrix_refs(struct regions *r, struct step *s, const struct matrix_desc *x) {
    static const u8 order[] = {MATRIX_C, MATRIX_A, MATRIX_B};
    for (u32 i = 0; i < sizeof order; i++)
        for (u32 k = 0; k < x->operands[order[i]].count; k++)
            reads(r, s, x->operands[order[i]].reg[k]);
    for (u32 k = 0; k < x->operands[MATRIX_D].count; k++)
        writes(r, s, x->operands[MATRIX_D].reg[k]);
}

/* A product of 16 x 8 x 16 halves is an instruction, and what has as many bits; wmma's are two.
 * Products in double precision go at twice the rate of the FP64 units where those are many.
 * Latency: H100, a chain, 23.8 and 16.8 cycles. */
static void make_product(const struct regions *r, struct step *s, const struct matrix_desc *x) {
    u32 bits = decode_matrix_types[x->operands[MATRIX_A].type].bits,
        products = (u32)x->m * x->n * x->k;
    if (bits == 64) {
        s->unit = UNIT_FP64, s->latency = time_plain_latency(r->device, UNIT_FP64);
        s->count = (u8)(products / (r->device->fp64_lanes >= 32 ? 64 : 32));
        return;
    }
    u32 work = products * bits * WHOLE_PRODUCT / (16 * 8 * 16 * 16);
    s->unit = UNIT_TENSOR, s->work = (u16)(work ? work : 1);
    s->count = (u8)((s->work + WHOLE_PRODUCT - 1) / WHOLE_PRODUCT);
    s->latency = s->work < WHOLE_PRODUCT ? 17 : 24;
}

/* wgmma: of all types 32 bytes of k of a. An SM's four tensor cores take half a cycle a column, and
 * no less than 13, sparse ones 16 (measured on an H100: N of 8 to 256, a from registers); where a
 * lies in shared memory no less than the bytes of both matrices do at 128 a cycle, 16 cycles and a
 * quarter of one a column, half of one of sparse ones, of which b has 64 bytes. Nothing waits for
 * the result but wgmma.wait_group: docs/time-model.md. */
static void make_warpgroup_product(struct regions *r, struct step *s,
                                   const struct warpgroup_desc *w) {
    double cycles = w->n / 2.0, bytes = w->n / (w->sparse ? 2.0 : 4.0);
    double least = !w->a_in_registers ? 16 + bytes : w->sparse ? 16 : 13;
    if (cycles < least) cycles = least;
    for (u32 i = 0; i < 4 && w->a_in_registers; i++) reads(r, s, w->a[i]);
    if (w->sparse) reads(r, s, w->metadata);
    s->unit = UNIT_TENSOR, s->product = true, s->count = 1, s->latency = 0;
    s->work = (u16)(cycles * WHOLE_PRODUCT / device_mma_cycles(r->device) + 0.5);
}

static void note_matrix(struct regions *r, struct step *s) {
    const struct op *o = &r->module->ops[s->op];
    const char *name = insn_opcodes[o->opcode].name;
    bool product = !strcmp(name, "mma");
    if (!strcmp(name, "wgmma") && !(r->without & TERM_BIT(LOWERING)))
        make_warpgroup_product(r, s, &r->module->warpgroups[o->target]);
    if (!product && strcmp(name, "matrix.fragments") && strcmp(name, "matrix.rows") &&
        strcmp(name, "movmatrix"))
        return;
    matrix_refs(r, s, &r->module->matrices[o->aux]);
    if (product && !(r->without & TERM_BIT(LOWERING)))
        make_product(r, s, &r->module->matrices[o->aux]);
}

static void make_step(struct regions *r, u32 op, struct step *s) {
    const struct sim_module *m = r->module;
    const struct op *o = &m->ops[op];
    const struct opcode_desc *row = &insn_opcodes[o->opcode];
    struct lowered to = time_lower(row->name, row->pipe);
    if (r->without & TERM_BIT(LOWERING) && row->pipe != PIPE_NONE)
        to.count = 1, to.special = 0, to.unit = to.unit == UNIT_NONE ? UNIT_ALU : to.unit;
    bool copy = !strcmp(row->name, "ld") && copies(m, op);
    if (!o->weight && !copy && !has_access(m, o)) to = (struct lowered){UNIT_NONE, 0, 0};
    *s = (struct step){.op = op,
                       .unit = to.unit,
                       .count = to.count,
                       .special = to.special,
                       .copies = copy,
                       .latency = time_plain_latency(r->device, to.unit)};
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++) reads(r, s, o->src[i]);
    reads(r, s, o->guard);
    writes(r, s, o->dst);
    if (time_is_memory(o)) memory_refs(r, s, &m->mems[o->aux]);
    note_copies(m, s);
    if (o->kind == OP_BAR) s->kind = STEP_BARRIER;
    if (o->kind == OP_WARP_SYNC) {
        reads(r, s, m->warp_syncs[o->aux].member_mask);
        writes(r, s, m->warp_syncs[o->aux].pred_dst);
        bool data = m->warp_syncs[o->aux].kind == WARP_SYNC_SHFL ||
                    m->warp_syncs[o->aux].kind == WARP_SYNC_MATCH;
        s->unit = data ? UNIT_LSU : UNIT_ALU;
        s->latency = time_plain_latency(r->device, s->unit);
    }
    note_matrix(r, s);
    if (s->unit == UNIT_FMA && s->count > 2)
        s->latency = (u16)(s->latency * s->count); /* a chain: division, square root */
    if (s->unit == UNIT_ALU && s->count > 4) s->latency = (u16)(s->latency * s->count);
}

/* ---- folding: address arithmetic that ptxas makes part of another instruction ---- */

static bool named(const struct regions *r, u32 op, const char *prefix) {
    return !strncmp(insn_opcodes[r->module->ops[op].opcode].name, prefix, strlen(prefix));
}

/* base + index × size is one IMAD.WIDE; register + constant goes into the offset of the access. */
static void fold(struct regions *r, struct step *steps, u32 n, u32 *def) {
    memset(def, 0xff, r->nregisters * sizeof *def);
    for (u32 i = 0; i < n; i++) {
        struct step *s = &steps[i];
        const struct op *o = &r->module->ops[s->op];
        bool add64 = named(r, s->op, "add.s64") || named(r, s->op, "add.u64");
        if (add64) {
            bool constant = ref_base(o->src[0]) == BASE_CONST || ref_base(o->src[1]) == BASE_CONST;
            bool own = o->src[0] == o->dst || o->src[1] == o->dst, wide = false;
            for (u32 k = 0; k < s->nsrc; k++)
                wide |=
                    def[s->src[k]] != UINT32_MAX && named(r, steps[def[s->src[k]]].op, "mul.wide");
            if ((constant && !own) || wide) s->count = 0, s->unit = UNIT_NONE, s->latency = 0;
        }
        for (u32 k = 0; k < s->ndst; k++) def[s->dst[k]] = i;
    }
}

/* ---- accesses to shared memory that ptxas makes one of (code/merge.c marked them) ---- */

static const struct mem_desc *shared_access(const struct regions *r, const struct step *s) {
    if (s->kind != STEP_MEMORY) return NULL;
    const struct mem_desc *d = &r->module->mems[r->module->ops[s->op].aux];
    return d->space == SPACE_SHARED && (d->verb == MEM_LOAD || d->verb == MEM_STORE) ? d : NULL;
}

/* The access that stands for the merged one at `i`: before it, of the same base, within 16 bytes.
 */
static struct step *leader_of(const struct regions *r, struct step *steps, u32 i) {
    const struct op *o = &r->module->ops[steps[i].op];
    const struct mem_desc *d = &r->module->mems[o->aux];
    while (i-- > 0) {
        const struct mem_desc *l = shared_access(r, &steps[i]);
        const struct op *p = &r->module->ops[steps[i].op];
        s64 apart = p->imm - o->imm;
        if (l && l->merged_bytes > MERGED_INTO_OTHER && l->verb == d->verb &&
            p->src[0] == o->src[0] && apart < 16 && apart > -16)
            return &steps[i];
    }
    return NULL;
}

/* The one access waits for all operands and gives all results. */
static void merge_accesses(const struct regions *r, struct step *steps, u32 n) {
    for (u32 i = 0; i < n; i++) {
        const struct mem_desc *d = shared_access(r, &steps[i]);
        struct step *to = d && d->merged_bytes == MERGED_INTO_OTHER ? leader_of(r, steps, i) : NULL;
        if (!to) continue;
        for (u32 k = 0; k < steps[i].ndst && to->ndst < STEP_REFS; k++)
            to->dst[to->ndst++] = steps[i].dst[k];
        for (u32 k = 0; k < steps[i].nsrc && to->nsrc < STEP_REFS; k++)
            to->src[to->nsrc++] = steps[i].src[k];
        steps[i].count = steps[i].ndst = 0, steps[i].unit = UNIT_NONE, steps[i].latency = 0;
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

struct order {
    u32 *ready, *last_use,
        *version; /* by register: when its value is there; when it was last read; redefinitions */
    struct {
        struct access_range at;
        u32 time;
        u8 space;
        bool load, free;
    } * seen;
    u32 nseen;
};

static u8 memory_class(u8 space) { return space == SPACE_GENERIC ? SPACE_GLOBAL : space; }

static u32 after_memory(const struct order *w, const struct mem_desc *d,
                        const struct access_range *at, bool readonly) {
    u32 t = 0;
    for (u32 i = 0; i < w->nseen; i++) {
        bool both_load = w->seen[i].load && d->verb == MEM_LOAD;
        if (both_load || readonly || w->seen[i].free || w->seen[i].space != memory_class(d->space))
            continue;
        if (may_overlap(&w->seen[i].at, at) && w->seen[i].time + 1 > t) t = w->seen[i].time + 1;
    }
    return t;
}

static u32 start_of(struct regions *r, struct order *w, const struct step *s, u32 latency) {
    u32 t = 0;
    for (u32 k = 0; k < s->nsrc; k++)
        if (w->ready[s->src[k]] > t) t = w->ready[s->src[k]];
    for (u32 k = 0; k < s->ndst; k++)
        if (w->last_use[s->dst[k]] > t) t = w->last_use[s->dst[k]];
    if (s->kind == STEP_MEMORY) {
        const struct op *o = &r->module->ops[s->op];
        const struct mem_desc *d = &r->module->mems[o->aux];
        struct access_range at = {
            o->src[0], in_frame(o->src[0]) ? w->version[register_number(r, o->src[0])] : 0, o->imm,
            o->imm + d->width * d->count};
        bool readonly = d->nc || d->space == SPACE_CONST || d->space == SPACE_PARAM;
        u32 order = after_memory(w, d, &at, readonly);
        if (order > t) t = order;
        w->seen[w->nseen].at = at, w->seen[w->nseen].time = t,
        w->seen[w->nseen].space = memory_class(d->space);
        w->seen[w->nseen].load = d->verb == MEM_LOAD, w->seen[w->nseen++].free = readonly;
    }
    for (u32 k = 0; k < s->nsrc; k++)
        if (t > w->last_use[s->src[k]]) w->last_use[s->src[k]] = t;
    for (u32 k = 0; k < s->ndst; k++) w->ready[s->dst[k]] = t + latency, w->version[s->dst[k]]++;
    return t;
}

struct keyed {
    u32 start, index;
};
static int by_start(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Where an access to memory goes that an `ordered` one stands before or behind. */
struct fence {
    u32 least, last; /* of accesses from here on; of those so far */
};

static u32 keep_order(struct fence *f, const struct step *s, u32 start) {
    if (s->kind != STEP_MEMORY && s->kind != STEP_GROUP) return start;
    if (start < f->least) start = f->least;
    if (s->ordered && start < f->last) start = f->last;
    if (s->ordered) f->least = start;
    if (start > f->last) f->last = start;
    return start;
}

static void schedule(struct regions *r, struct step *steps, u32 n) {
    u32 *tables = xcalloc(3ul * r->nregisters + 3, sizeof *tables);
    struct order w = {
        .ready = tables, .last_use = tables + r->nregisters, .version = tables + 2 * r->nregisters};
    struct keyed *key = xcalloc(n + 1, sizeof *key);
    struct step *copy = xcalloc(n + 1, sizeof *copy);
    w.seen = xcalloc(n + 1, sizeof *w.seen);
    memcpy(copy, steps, n * sizeof *copy);
    struct fence fence = {0, 0};
    u32 last = 0;
    for (u32 i = 0; i < n; i++) {
        bool ends = i + 1 == n && r->module->ops[steps[i].op].kind != OP_LANEWISE;
        u32 latency = steps[i].kind == STEP_MEMORY ? r->device->lat_l1 : steps[i].latency;
        key[i] =
            (struct keyed){keep_order(&fence, &steps[i], start_of(r, &w, &steps[i], latency)), i};
        if (ends && last > key[i].start) key[i].start = last;
        if (key[i].start > last) last = key[i].start;
    }
    if (!(r->without & TERM_BIT(SCHEDULING))) qsort(key, n, sizeof *key, by_start);
    for (u32 i = 0; i < n; i++) steps[i] = copy[key[i].index];
    free(key), free(copy), free(w.seen), free(tables);
}

/* ---- branches that ptxas makes predicates of ---- */

/* A branch over at most so many machine instructions; over more if there is a load from global
 * memory among them, which can then be moved up. ptxas 13.0 for sm_90, of generated kernels: 8 and
 * no 9 of fma, mad, st, ld.shared; with a load 20 and no 21 of whatever. */
enum { MOST_PREDICATED = 8, MOST_WITH_LOAD = 20 };

static bool loads_far(const struct regions *r, const struct step *s) {
    const struct mem_desc *d =
        s->kind == STEP_MEMORY ? &r->module->mems[r->module->ops[s->op].aux] : NULL;
    return d && d->verb == MEM_LOAD && (d->space == SPACE_GLOBAL || d->space == SPACE_GENERIC);
}

static bool is_short(struct regions *r, const struct segment *body) {
    struct step steps[4 * MOST_WITH_LOAD];
    u32 n = body->last - body->first, all = 0;
    bool far = false;
    if (n > 4 * MOST_WITH_LOAD) return false;
    for (u32 i = 0; i < n; i++) make_step(r, body->first + i, &steps[i]);
    u32 *def = xcalloc(r->nregisters + 1, sizeof *def);
    fold(r, steps, n, def);
    free(def);
    for (u32 i = 0; i < n; i++) all += steps[i].count, far |= loads_far(r, &steps[i]);
    return all <= (far ? MOST_WITH_LOAD : MOST_PREDICATED);
}

/* Does the segment end in a branch over the next one, which is short? */
static bool becomes_predicate(struct regions *r, u32 segment) {
    const struct sim_module *m = r->module;
    if (r->without & (TERM_BIT(SCHEDULING) | TERM_BIT(LOWERING)) || segment + 1 >= m->nsegments)
        return false;
    const struct segment *body = &m->segments[segment + 1];
    const struct op *branch = &m->ops[m->segments[segment].last];
    if (branch->kind != OP_BRA || !in_frame(branch->guard) ||
        m->ops[body->last].kind != OP_FALLTHROUGH)
        return false;
    if (branch->target != body->last + 1) return false;
    if (!r->predicates[segment]) r->predicates[segment] = is_short(r, body) ? 2 : 1;
    return r->predicates[segment] == 2;
}

static bool has(const u32 *list, u32 n, u32 x) {
    while (n--)
        if (list[n] == x) return true;
    return false;
}

/* Is the register anyone's but the body's? Then what a predicate keeps from it is its old value,
 * which it needs. */
static bool merges(const struct region *g, u32 first, u32 end, u32 x) {
    for (u32 i = 0; i < g->nsteps; i++) {
        const struct step *s = &g->steps[i];
        bool body = i >= first && i < end;
        if (!body && (has(s->src, s->nsrc, x) || has(s->dst, s->ndst, x))) return true;
    }
    return false;
}

static void depend(struct region *g, u32 first, u32 end, u32 i) {
    struct step *s = &g->steps[i];
    for (u32 k = 0; k < s->ndst && s->nsrc < STEP_REFS; k++)
        if (!has(s->src, s->nsrc, s->dst[k]) && merges(g, first, end, s->dst[k]))
            s->src[s->nsrc++] = s->dst[k];
}

/* The branch costs nothing; what it leads over waits for its condition, and for the values that it
 * may leave as they are. */
static void predicate(struct regions *r, struct region *g) {
    const struct sim_module *m = r->module;
    for (u32 s = g->segment; s + 2 < g->segment + g->nsegments; s++) {
        if (!becomes_predicate(r, s)) continue;
        u32 branch = m->segments[s].last - g->first_op,
            end = m->segments[s + 1].last + 1 - g->first_op;
        g->steps[branch].count = 0, g->steps[branch].unit = UNIT_NONE;
        for (u32 i = branch + 1; i < end; i++)
            reads(r, &g->steps[i], m->ops[m->segments[s].last].guard),
                depend(g, branch + 1, end, i);
    }
}

/* ---- regions ---- */

static struct region *build(struct regions *r, u32 segment, u32 n) {
    const struct sim_module *m = r->module;
    struct region *g = arena_new(&r->arena, struct region);
    g->segment = segment, g->nsegments = n;
    g->first_op = m->segments[segment].first;
    g->end_op = m->segments[segment + n - 1].last + 1;
    g->nsteps = g->end_op - g->first_op;
    g->steps = arena_array(&r->arena, struct step, g->nsteps);
    g->step_of = arena_array(&r->arena, u32, g->nsteps);
    for (u32 i = 0; i < g->nsteps; i++) make_step(r, g->first_op + i, &g->steps[i]);
    u32 *def = xcalloc(r->nregisters + 1, sizeof *def);
    if (!(r->without & TERM_BIT(LOWERING))) fold(r, g->steps, g->nsteps, def);
    free(def);
    if (!(r->without & TERM_BIT(MERGING))) merge_accesses(r, g->steps, g->nsteps);
    predicate(r, g);
    schedule(r, g->steps, g->nsteps);
    for (u32 i = 0; i < g->nsteps; i++) g->step_of[g->steps[i].op - g->first_op] = i;
    if (g->nsteps > r->most_steps) r->most_steps = g->nsteps;
    return g;
}

static struct region *find(struct regions *r, u32 segment, u32 n) {
    struct region **slot = &r->table[(segment * 31 + n) % REGION_SLOTS];
    for (struct region *g = *slot; g; g = g->next)
        if (g->segment == segment && g->nsegments == n) return g;
    struct region *g = build(r, segment, n);
    g->next = *slot;
    return *slot = g;
}

/* A shuffle or vote ends a segment, but no basic block. */
static bool goes_on(const struct sim_module *m, u32 segment) {
    const struct op *o = &m->ops[m->segments[segment].last];
    return o->kind == OP_WARP_SYNC && !in_frame(o->guard);
}

struct region *time_region_at(struct regions *r, const struct trace_warp *w, u32 at) {
    u32 segment = trace_op_or_segment(w->strings[at]), n = 1, seen = 0;
    for (u32 i = at + 1; i < w->nwords; i++) {
        bool either = seen + 1 == n && becomes_predicate(r, segment + seen);
        if (seen + 1 == n && !either && !goes_on(r->module, segment + seen)) break;
        u32 next = trace_op_or_segment(w->strings[i]) - segment;
        if (trace_is_access(w->strings[i])) i += trace_entries(w->strings[i]);
        else if (next > seen && next < n) seen = next;
        else if (next == n && seen + 1 == n) seen = n, n += 1 + either;
        else if (next == n + 1 && either) seen = next, n += 2;
        else break;
    }
    return find(r, segment, n);
}

void time_regions_open(struct regions *r, const struct sim_module *m, const struct gpu_device *d,
                       unsigned without, const struct sim_trace *t) {
    *r = (struct regions){.module = m, .device = d, .without = without};
    r->predicates = arena_array(&r->arena, u8, m->nsegments);
    /* All of them now, so that the registers are numbered before the replay makes its tables. */
    for (u32 b = 0; b < t->nblocks; b++)
        for (u32 w = 0; w < t->blocks[b].nwarps; w++) {
            const struct trace_warp *s = &t->blocks[b].warps[w];
            for (u32 i = 0; i < s->nwords; i++) {
                if (trace_is_access(s->strings[i])) i += trace_entries(s->strings[i]);
                else time_region_at(r, s, i);
            }
        }
}

void time_regions_close(struct regions *r) {
    arena_free(&r->arena);
    free(r->register_of);
    free(r->register_ref);
}
