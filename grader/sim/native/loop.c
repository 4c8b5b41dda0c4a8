/* loop.c — finds the innermost loops that can be one function, divides them into chunks, and
 * decides what each register holds while the loop runs (enum loop_class in generate.h).
 *
 * The classes of the registers come from an iteration to a fixed point: chunks are made with what
 * is assumed of the registers, then each result lowers what is assumed of its register, until
 * nothing changes. The guess of generate.c, which registers vary with the lane, only decides what
 * registers hold at the loop's entry; the loop's function checks that. */
#include "grader/sim/native/generate.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- the segments of a loop ---- */

int loop_position(const struct loop *l, u32 segment) {
    for (u32 i = 0; i < l->nsegments; i++)
        if (l->segments[i] == segment) return (int)i;
    return -1;
}

static const struct op *control_of(const struct sim_module *m, u32 segment) {
    return &m->ops[m->segments[segment].last];
}

/* Returns the segments to which a segment leads, or 0 if it ends in something else than a branch.
 */
static u32 successors(const struct sim_module *m, const struct sim_func *f, u32 segment,
                      u32 next[2]) {
    const struct op *o = control_of(m, segment);
    u32 n = 0, after = m->segments[segment].last + 1;
    if (o->kind != OP_BRA && o->kind != OP_FALLTHROUGH) return 0;
    if (o->kind == OP_BRA) next[n++] = m->segment_of[o->target];
    if ((o->kind == OP_FALLTHROUGH || chunk_is_guarded(m, o)) && after < f->end_op)
        next[n++] = m->segment_of[after];
    return n;
}

static bool is_back_edge(const struct sim_module *m, u32 segment, u32 header) {
    const struct op *o = control_of(m, segment);
    return o->kind == OP_BRA && o->flags & OPF_BACKWARD && m->segment_of[o->target] == header;
}

/* Adds the segments from which the loop's can be reached without passing the header. A loop is
 * mostly contiguous; what lies elsewhere is not searched. */
static bool collect_segments(struct loop *l, const struct sim_func *f, u32 last) {
    bool in[LOOP_MAX_SEGMENTS] = {true}, changed = true;
    u32 count = last - l->header + 1, next[2];
    if (count > LOOP_MAX_SEGMENTS) return false;
    in[count - 1] = true;
    for (u32 i = 0; i < count; i++) in[i] |= is_back_edge(l->m, l->header + i, l->header);
    while (changed) {
        changed = false;
        for (u32 i = 1; i < count; i++) {
            u32 n = in[i] ? 0 : successors(l->m, f, l->header + i, next);
            for (u32 k = 0; k < n; k++)
                if (next[k] > l->header && next[k] <= last && in[next[k] - l->header])
                    in[i] = changed = true;
        }
    }
    for (u32 i = 0; i < count; i++)
        if (in[i]) l->segments[l->nsegments++] = l->header + i;
    return true;
}

/* Returns true if the loop's function can do what the segment does. Blocks and warps may wait for
 * each other only where the core expects it. */
static bool is_simple_segment(const struct loop *l, u32 segment) {
    const struct segment *s = &l->m->segments[segment];
    const struct op *first = &l->m->ops[s->first], *o = control_of(l->m, segment);
    bool is_inner = o->kind == OP_BRA && o->flags & OPF_BACKWARD &&
                    l->m->segment_of[o->target] != l->header &&
                    loop_position(l, l->m->segment_of[o->target]) >= 0;
    return (o->kind == OP_BRA || o->kind == OP_FALLTHROUGH) && !is_inner &&
           !(o->flags & OPF_BARRIER_BYPASS) && !s->fetches_ticket &&
           !(first->flags & (OPF_GRID_POLL | OPF_INTERBLOCK_SYNC));
}

/* Returns one more than the last segment that leads back to the header; 0 = none does. */
static u32 loop_end(const struct sim_module *m, const struct sim_func *f, u32 header) {
    u32 end = 0;
    for (u32 s = header; s < m->nsegments && m->segments[s].last < f->end_op; s++)
        if (is_back_edge(m, s, header)) end = s + 1;
    return end;
}

/* ---- the segments of a region ---- */

/* Returns true if a region can begin at the segment, or must end before it: at the begin of the
 * function or of a loop, after a loop, and after what only the core does, such as a barrier. */
static bool begins_region(const struct sim_module *m, const struct sim_func *f, u32 segment) {
    const struct op *before = &m->ops[m->segments[segment].first - 1];
    if (m->segments[segment].first == f->first_op || loop_end(m, f, segment)) return true;
    if (before->kind == OP_BRA) return before->flags & OPF_BACKWARD;
    return before->kind != OP_FALLTHROUGH && before->kind != OP_EXIT && before->kind != OP_TRAP;
}

/* In a loop, registers would come and go between the frame and a region's variables each time: the
 * tiled SGEMM loses a tenth by that. */
static bool is_in_loop(const struct sim_module *m, const struct sim_func *f, u32 segment) {
    for (u32 header = segment + 1; header-- && m->segments[header].first >= f->first_op;)
        if (loop_end(m, f, header) > segment) return true;
    return false;
}

static bool may_be_in_region(const struct loop *l, const struct sim_func *f, u32 segment) {
    const struct segment *s = &l->m->segments[segment];
    return s->last < f->end_op && !s->fetches_ticket &&
           !(l->m->ops[s->first].flags & (OPF_GRID_POLL | OPF_INTERBLOCK_SYNC));
}

/* Returns true if the region may lead on from the segment by itself. */
static bool leads_on(const struct loop *l, u32 segment) {
    const struct op *o = control_of(l->m, segment);
    return (o->kind == OP_BRA || o->kind == OP_FALLTHROUGH) && !(o->flags & OPF_BARRIER_BYPASS);
}

/* A region is what can be reached from its header within a run of segments in which no other region
 * and no loop begins. */
static bool find_region(struct loop *l, const struct sim_func *f) {
    bool in[LOOP_MAX_SEGMENTS] = {true};
    u32 next[2];
    if (!begins_region(l->m, f, l->header) || is_in_loop(l->m, f, l->header)) return false;
    l->is_region = true;
    for (u32 i = 0; i < LOOP_MAX_SEGMENTS && l->header + i < l->m->nsegments; i++) {
        u32 segment = l->header + i;
        if (!may_be_in_region(l, f, segment) || (i && begins_region(l->m, f, segment))) break;
        if (!in[i]) continue;
        l->segments[l->nsegments++] = segment;
        u32 n = leads_on(l, segment) ? successors(l->m, f, segment, next) : 0;
        for (u32 k = 0; k < n; k++)
            if (next[k] > segment && next[k] - l->header < LOOP_MAX_SEGMENTS)
                in[next[k] - l->header] = true;
    }
    return l->nsegments > 0;
}

static bool find_segments(struct loop *l, const struct sim_func *f) {
    const struct sim_module *m = l->m;
    u32 last = loop_end(m, f, l->header);
    if (!last || !collect_segments(l, f, last - 1)) return false;
    for (u32 i = 0; i < l->nsegments; i++)
        if (!is_simple_segment(l, l->segments[i])) return false;
    return true;
}

/* ---- registers ---- */

int loop_find_or_add_var(struct loop *l, ref r, u32 bytes) {
    for (u32 i = 0; i < l->nvars; i++)
        if (l->vars[i].r == r) return l->vars[i].bytes == bytes ? (int)i : -1;
    if (l->nvars == LOOP_MAX_VARS) return -1;
    l->vars[l->nvars] = (struct loop_var){.r = r, .bytes = (u8)bytes, .class = LOOP_VECTOR};
    return (int)l->nvars++;
}

static bool may_vary(const struct loop *l, const struct loop_var *v) {
    return ref_base(v->r) == BASE_WARP || l->varying[ref_offset(v->r) / 4];
}

/* What is assumed at first: the strongest class that the register may have. A predicate that is
 * live into the loop may differ between lanes. */
static void assume_classes(struct loop *l) {
    for (u32 i = 0; i < l->nvars; i++) {
        struct loop_var *v = &l->vars[i];
        v->root = i;
        if (!v->is_live_in) v->class = LOOP_UNKNOWN;
        else if (v->bytes == 1) v->class = LOOP_VECTOR;
        else v->class = may_vary(l, v) ? LOOP_AFFINE : LOOP_UNIFORM;
    }
}

/* Lowers what is assumed of a register by a result of a class. Returns true on a change. */
static bool lower(struct loop *l, const struct chunk *c, const struct chunk_var *v, u8 class,
                  u32 root) {
    struct loop_var *lv = &l->vars[v->loop_var];
    struct loop_var before = *lv;
    if (c->is_masked) class = VALUE_VARYING;
    u32 loop_root = class == VALUE_ROOT_PLUS_UNIFORM ? c->vars[root].loop_var : v->loop_var;
    u8 result = class == VALUE_UNIFORM ? LOOP_UNIFORM
                : class == VALUE_ROOT_PLUS_UNIFORM && v->bytes != 1 &&
                        l->vars[loop_root].class == LOOP_AFFINE
                    ? LOOP_AFFINE
                    : LOOP_VECTOR;
    if (lv->class == LOOP_UNKNOWN) lv->class = result, lv->root = loop_root;
    else if (lv->class != result || (result == LOOP_AFFINE && lv->root != loop_root))
        lv->class = LOOP_VECTOR, lv->root = v->loop_var;
    return before.class != lv->class || before.root != lv->root;
}

static bool lower_result(struct loop *l, const struct chunk *c, ref r, u8 class, u32 root) {
    for (u32 i = 0; r != REF_NONE && i < c->nvars; i++)
        if (c->vars[i].r == r && c->vars[i].is_written)
            return lower(l, c, &c->vars[i], class, root);
    return false;
}

static bool lower_by_memory(struct loop *l, const struct chunk *c, const struct chunk_op *item) {
    const struct mem_desc *d = &l->m->mems[item->o->aux];
    u8 class = !c->calls_only && item->class == VALUE_UNIFORM ? VALUE_UNIFORM : VALUE_VARYING;
    bool changed = false;
    for (u32 e = 0; e < d->count && d->verb == MEM_LOAD; e++)
        changed |= lower_result(l, c, d->reg[e], class, 0);
    return (d->verb == MEM_ATOM && lower_result(l, c, d->result, VALUE_VARYING, 0)) | changed;
}

static bool lower_by_op(struct loop *l, const struct chunk *c, const struct chunk_op *item) {
    const struct op *o = item->o;
    const char *name = insn_opcodes[o->opcode].name;
    if (!strcmp(name, "ld") || !strcmp(name, "st") || !strcmp(name, "atom"))
        return lower_by_memory(l, c, item);
    bool changed = lower_result(l, c, o->dst, item->class, item->root);
    bool is_compare = item->row->kind == ROW_COMPARE,
         has_second = is_compare || (item->row->kind == ROW_CARRY && item->row->gives_carry);
    u8 second = is_compare && item->class == VALUE_UNIFORM ? VALUE_UNIFORM : VALUE_VARYING;
    return (has_second && lower_result(l, c, o->src[3], second, 0)) | changed;
}

/* A root must keep its offsets: where the loop's entry doesn't define them, or the root itself has
 * become a vector, what depends on it is a vector, too. */
static bool drop_lost_roots(struct loop *l) {
    bool changed = false;
    for (u32 i = 0; i < l->nvars; i++) {
        struct loop_var *v = &l->vars[i];
        if (v->class != LOOP_AFFINE || l->vars[v->root].class == LOOP_AFFINE) continue;
        v->class = LOOP_VECTOR, v->root = i;
        changed = true;
    }
    return changed;
}

/* ---- chunks ---- */

static void free_chunks(struct loop *l) {
    for (u32 i = 0; i < l->nchunks; i++) free(l->chunks[i]);
    l->nchunks = l->nloads = 0;
}

static struct chunk *new_chunk(struct loop *l, u32 first, bool is_masked) {
    if (l->nchunks == LOOP_MAX_CHUNKS) return NULL;
    struct chunk *c = xcalloc(1, sizeof *c);
    *c = (struct chunk){.m = l->m,
                        .loop = l,
                        .varying = l->varying,
                        .first = first,
                        .is_masked = is_masked,
                        .number = l->nchunks,
                        .first_load = l->nloads};
    return l->chunks[l->nchunks++] = c;
}

static bool is_nop(const struct op *o) { return !strcmp(insn_opcodes[o->opcode].name, "nop"); }

static bool add_single_op(struct chunk *c, const struct op *o) {
    c->nvars = 0;
    if (chunk_add_store(c, o)) return true;
    c->nvars = 0;
    return chunk_add_call(c, o);
}

static bool divide_segment(struct loop *l, u32 position) {
    const struct segment *s = &l->m->segments[l->segments[position]];
    for (u32 at = s->first; at < s->last;) {
        if (is_nop(&l->m->ops[at])) {
            at++;
            continue;
        }
        struct chunk *c = new_chunk(l, at, l->is_masked[position]);
        if (!c) return false;
        while (at < s->last && chunk_add(c, &l->m->ops[at])) at++;
        if (!c->nops && !add_single_op(c, &l->m->ops[at++])) return false;
        l->nloads += c->nloads;
    }
    return l->nloads <= LOOP_MAX_LOADS;
}

static bool divide(struct loop *l) {
    free_chunks(l);
    for (u32 i = 0; i < l->nsegments; i++)
        if (!divide_segment(l, i)) return false;
    return true;
}

/* ---- which registers the loop reads before it writes them ---- */

enum { ASSIGNED = 1 };
typedef u8 assigned_set[LOOP_MAX_VARS]; /* ASSIGNED: on all paths from the entry */

/* Applies a segment to the set of assigned registers, and notes reads of others. */
static void assign(struct loop *l, u32 segment, assigned_set set) {
    const struct segment *s = &l->m->segments[segment];
    for (u32 i = 0; i < l->nchunks; i++) {
        struct chunk *c = l->chunks[i];
        if (c->first < s->first || c->first >= s->last) continue;
        for (u32 k = 0; k < c->nvars; k++)
            if ((c->vars[k].is_live_in || (c->is_masked && c->vars[k].is_written)) &&
                !set[c->vars[k].loop_var])
                l->vars[c->vars[k].loop_var].is_live_in = true;
        for (u32 k = 0; k < c->nvars; k++)
            if (c->vars[k].is_written)
                set[c->vars[k].loop_var] = ASSIGNED, l->vars[c->vars[k].loop_var].is_written = true;
    }
    const struct op *o = control_of(l->m, segment);
    int guard = chunk_is_guarded(l->m, o) && chunk_is_register(o->guard)
                    ? loop_find_or_add_var(l, o->guard, 1)
                    : -1;
    if (guard >= 0 && !set[guard]) l->vars[guard].is_live_in = true;
}

/* What is assigned at each segment's begin, assumed to be all at first; nothing is at the entry.
 * One pass reaches the fixed point, since all inner edges lead forward. */
static void find_live_in(struct loop *l, const struct sim_func *f) {
    assigned_set *at = xcalloc(l->nsegments, sizeof *at), set;
    u32 next[2];
    memset(at, ASSIGNED, l->nsegments * sizeof *at);
    memset(at[0], 0, sizeof at[0]);
    for (u32 i = 0; i < l->nsegments; i++) {
        memcpy(set, at[i], sizeof set);
        assign(l, l->segments[i], set);
        u32 n = successors(l->m, f, l->segments[i], next);
        for (u32 k = 0; k < n; k++) {
            int to = loop_position(l, next[k]);
            for (u32 v = 0; to > 0 && v < LOOP_MAX_VARS; v++) at[to][v] &= set[v];
        }
    }
    free(at);
}

/* ---- branches that part the lanes of a warp ---- */

/* Returns true if the interpreter need not run any op of the segment, or at most ops that read and
 * write registers only. */
static bool has_no_memory_access(const struct loop *l, u32 position) {
    const struct segment *s = &l->m->segments[l->segments[position]];
    for (u32 i = s->first; i < s->last; i++)
        if (insn_opcodes[l->m->ops[i].opcode].form == FORM_CUSTOM && !is_nop(&l->m->ops[i]))
            return false;
    return true;
}

/* Returns the first position at which all lanes meet that the branch at `from` parts: no edge from
 * in between leads past it. Lanes run the code in its order, so in between each segment runs once,
 * for the lanes that came to it. Returns 0 if there is none. */
static u32 find_reconvergence(const struct loop *l, const struct sim_func *f, u32 from) {
    u32 end = from + 1, next[2];
    for (u32 i = from; i < end; i++) {
        if (i >= l->nsegments || !leads_on(l, l->segments[i])) return 0;
        u32 n = successors(l->m, f, l->segments[i], next);
        for (u32 k = 0; k < n; k++) {
            int to = loop_position(l, next[k]);
            if (to <= (int)i) return 0;
            if ((u32)to > end) end = (u32)to;
        }
        if (i > from && !has_no_memory_access(l, i)) return 0;
    }
    return end;
}

/* Returns true if other segments lead to one in between. */
static bool is_entered(const struct loop *l, const struct sim_func *f, u32 from, u32 end) {
    u32 next[2];
    for (u32 i = 0; i < l->nsegments; i++) {
        u32 n = i >= from && i < end ? 0 : successors(l->m, f, l->segments[i], next);
        for (u32 k = 0; k < n; k++) {
            int to = loop_position(l, next[k]);
            if (to > (int)from && to < (int)end) return true;
        }
    }
    return false;
}

static bool may_diverge(const struct loop *l, u32 position) {
    const struct op *o = control_of(l->m, l->segments[position]);
    for (u32 i = 0; i < l->nvars && o->kind == OP_BRA; i++)
        if (l->vars[i].r == o->guard) return l->vars[i].class == LOOP_VECTOR;
    return false;
}

/* Marks the segments that lanes may run apart. Returns true if there are more than before. */
static bool mark_masked(struct loop *l, const struct sim_func *f) {
    bool changed = false;
    for (u32 i = 0; i < l->nsegments; i++) {
        if (l->is_masked[i] || l->reconvergence[i] || !may_diverge(l, i)) continue;
        u32 end = find_reconvergence(l, f, i);
        if (end <= i + 1 || is_entered(l, f, i, end)) continue;
        l->reconvergence[i] = end;
        for (u32 k = i + 1; k < end; k++) l->is_masked[k] = true, l->reconvergence[k] = 0;
        changed = true;
    }
    return changed;
}

/* ---- loops ---- */

static bool lower_all(struct loop *l) {
    bool changed = false;
    for (u32 i = 0; i < l->nchunks; i++)
        for (u32 k = 0; k < l->chunks[i]->nops; k++)
            changed |= lower_by_op(l, l->chunks[i], &l->chunks[i]->ops[k]);
    return drop_lost_roots(l) | changed;
}

static bool find_classes(struct loop *l, const struct sim_func *f) {
    if (!divide(l)) return false;
    find_live_in(l, f);
    assume_classes(l);
    do
        if (!divide(l)) return false;
    while (lower_all(l));
    return true;
}

static bool analyze(struct loop *l, const struct sim_func *f) {
    do
        if (!find_classes(l, f)) return false;
    while (mark_masked(l, f));
    for (u32 i = 0; i < l->nvars; i++)
        if (l->vars[i].class == LOOP_AFFINE) l->vars[l->vars[i].root].has_offsets = true;
    return true;
}

/* An op that the interpreter runs takes its registers through the frame. The histogram, with an
 * atomic among ten ops, loses by that what the others gain. */
static bool has_few_calls(const struct loop *l) {
    enum { MIN_OPS_PER_CALL = 16 };
    u32 calls = 0, ops = 0;
    for (u32 i = 0; i < l->nchunks; i++)
        calls += l->chunks[i]->calls_only, ops += l->chunks[i]->nops;
    return calls * MIN_OPS_PER_CALL <= ops;
}

struct loop *loop_find(const struct sim_module *m, const struct sim_func *f,
                       const unsigned char *varying, u32 header) {
    for (unsigned is_region = 0; is_region < 2; is_region++) {
        struct loop *l = xcalloc(1, sizeof *l);
        l->m = m, l->varying = varying, l->header = header;
        if ((is_region ? find_region(l, f) : find_segments(l, f)) && analyze(l, f) &&
            has_few_calls(l))
            return l;
        loop_free(l);
    }
    return NULL;
}

void loop_free(struct loop *l) {
    free_chunks(l);
    free(l);
}
