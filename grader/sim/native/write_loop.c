/* write_loop.c — writes a loop's function: what it checks and reads at its entry, its chunks and
 * branches, and what it leaves behind. See native.h.
 *
 * Names, by the loop's var: S a scalar or a predicate's mask, R the lanes of a vector, O the
 * offsets of a root; by chunk: runs, how often its counts are to be added; ran, whether it has
 * written its registers; by segment: times, how often it ran. */
#include "grader/sim/native/generate.h"

static const char *type_of(const struct loop_var *v) { return native_type_name(v->bytes); }
static u32 bits_of_var(const struct loop_var *v) { return v->bytes * 8u; }

static void write_frame(struct buf *out, const struct loop_var *v) {
    buf_printf(out, "(x->base[%u] + %u)", ref_base(v->r), ref_offset(v->r));
}

void loop_write_store(const struct loop *l, struct buf *out, u32 var) {
    const struct loop_var *v = &l->vars[var];
    if (v->bytes == 1) buf_puts(out, "    *(u32 *)");
    else if (v->class == LOOP_AFFINE) buf_printf(out, "    store_affine%u", bits_of_var(v));
    else
        buf_printf(out, "    store_%s%u", v->class == LOOP_VECTOR ? "lanes" : "uniform",
                   bits_of_var(v));
    if (v->bytes != 1) buf_puts(out, "(");
    write_frame(out, v);
    if (v->bytes == 1) buf_printf(out, " = S%u;\n", var);
    else if (v->class == LOOP_AFFINE) buf_printf(out, ", O%u, S%u);\n", v->root, var);
    else buf_printf(out, ", %s%u);\n", v->class == LOOP_VECTOR ? "R" : "S", var);
}

void loop_write_reload(const struct loop *l, struct buf *out, u32 var) {
    const struct loop_var *v = &l->vars[var];
    if (v->bytes != 1 && v->class == LOOP_VECTOR)
        buf_printf(out, "    store_lanes%u(R%u, ", bits_of_var(v), var);
    else buf_printf(out, "    S%u = *(const %s *)", var, type_of(v));
    write_frame(out, v);
    buf_puts(out, v->bytes != 1 && v->class == LOOP_VECTOR ? ");\n" : ";\n");
}

/* ---- entry ---- */

static bool has_lanes(const struct loop_var *v) {
    return v->bytes != 1 && v->class == LOOP_VECTOR && v->is_written;
}

static void declare_var(const struct loop *l, struct buf *out, u32 i) {
    const struct loop_var *v = &l->vars[i];
    if (has_lanes(v))
        buf_printf(out, "    %s R%u[32] __attribute__((aligned(64)));\n", type_of(v), i);
    else buf_printf(out, "    %s S%u;\n", type_of(v), i);
    if (v->has_offsets)
        buf_printf(out, "    %s O%u[32] __attribute__((aligned(64)));\n", type_of(v), i);
}

/* What is the same in all lanes must be so. */
static void enter_var(const struct loop *l, struct buf *out, u32 i) {
    const struct loop_var *v = &l->vars[i];
    if (!v->is_live_in || (v->class == LOOP_VECTOR && v->bytes != 1 && !v->is_written)) return;
    loop_write_reload(l, out, i);
    if (v->class == LOOP_UNIFORM) {
        if (v->bytes == 1) buf_printf(out, "    if (S%u + 1 > 1) return 0;\n", i);
        else {
            buf_printf(out, "    if (fails(is_uniform%u((const %s *)", bits_of_var(v), type_of(v));
            write_frame(out, v);
            buf_printf(out, ", ~0u, S%u))) return 0;\n", i);
        }
    }
    if (!v->has_offsets) return;
    buf_printf(out, "    take_offsets%u(O%u, ", bits_of_var(v), i);
    write_frame(out, v);
    buf_puts(out, ");\n");
}

static void write_entry(const struct loop *l, struct buf *out) {
    buf_printf(
        out,
        "const struct op *loop_%u(struct exec *x, const struct op *ops, struct warp_split *f, "
        "u64 max_insns) {\n"
        "    const u32 mask = ~0u, first = 0;\n"
        "    struct load_state loads[%u];\n"
        "    struct access_pattern *const patterns = x->pattern_cache;\n"
        "    u64 insns = 0, runtime = 0;\n    u32 at, pc;\n    (void)first;\n",
        l->header, l->nloads + 1);
    for (u32 i = 0; i < l->nvars; i++) declare_var(l, out, i);
    for (u32 i = 0; i < l->nvars; i++) enter_var(l, out, i);
    if (l->nloads && !l->is_region) buf_printf(out, "    forget_loads(loads, %u);\n", l->nloads);
    for (u32 i = 0; i < l->nchunks; i++)
        buf_printf(out, "    static int failures_%u;\n    u32 runs_%u = 0;\n    u8 ran_%u = 0;\n",
                   i, i, i);
    for (u32 i = 0; i < l->nsegments; i++)
        buf_printf(out,
                   "    u32 times_%u = 0, diverged_%u = 0, mask_%u = 0;\n"
                   "    u64 lanes_%u = 0, runtime_%u = 0;\n",
                   l->segments[i], l->segments[i], l->segments[i], l->segments[i], l->segments[i]);
}

/* ---- segments ---- */

static u32 insns_of(const struct loop *l, u32 segment) {
    return l->m->segments[segment].insn_count;
}

/* Counts a run by the whole warp. */
static void write_count(const struct loop *l, struct buf *out, u32 segment) {
    buf_printf(out, "times_%u++, lanes_%u += 32, insns += %u, runtime += %u; ", segment, segment,
               insns_of(l, segment), insns_of(l, segment));
}

/* Goes to a segment, or leaves the loop's function, so that the core does the branch. */
static void write_goto(const struct loop *l, struct buf *out, u32 from, u32 to) {
    if (loop_position(l, to) < 0 || (l->is_region && to <= from)) {
        buf_puts(out, "LEAVE(last);\n");
        return;
    }
    buf_puts(out, "{ ");
    write_count(l, out, from);
    buf_printf(out, "goto segment_%u; }\n", to);
}

/* The segment that follows in the code. */
static u32 segment_after(const struct loop *l, u32 segment) {
    u32 after = l->m->segments[segment].last + 1;
    return after < l->m->nops ? l->m->segment_of[after] : UINT32_MAX;
}

/* Declares the lanes that take the branch at the segment's end; returns false if what decides it is
 * no register. */
static bool write_taken(const struct loop *l, struct buf *out, const struct op *o) {
    for (u32 i = 0; i < l->nvars; i++)
        if (l->vars[i].r == o->guard) {
            buf_printf(out, "    const u32 taken = (S%u ^ %uu) & mask;\n", i, o->guard_xor);
            return true;
        }
    return false;
}

/* Lanes that part wait at their segments: as splits of the core do, with the lowest runtime of
 * those that meet there. */
static void write_parting(const struct loop *l, struct buf *out, u32 segment) {
    const struct op *o = &l->m->ops[l->m->segments[segment].last];
    u32 after = segment_after(l, segment);
    if (o->kind == OP_FALLTHROUGH || !chunk_is_guarded(l->m, o)) {
        u32 to = o->kind == OP_FALLTHROUGH ? after : l->m->segment_of[o->target];
        buf_printf(out, "    meet(&mask_%u, &runtime_%u, mask, runtime);\n", to, to);
        return;
    }
    u32 to = l->m->segment_of[o->target];
    buf_printf(out,
               "    diverged_%u += taken && taken != mask;\n"
               "    meet(&mask_%u, &runtime_%u, taken, runtime);\n"
               "    meet(&mask_%u, &runtime_%u, mask & ~taken, runtime);\n",
               segment, to, to, after, after);
}

/* The instructions that lanes may run apart after the segment. */
static u32 insns_apart(const struct loop *l, u32 position) {
    u32 n = 0;
    for (u32 i = position; i < l->reconvergence[position]; i++) n += insns_of(l, l->segments[i]);
    return n;
}

/* A branch after which lanes may run apart. If the core might let one of them run ahead, it does
 * the branch. */
static void write_divergence(const struct loop *l, struct buf *out, u32 position) {
    u32 segment = l->segments[position];
    const struct op *o = &l->m->ops[l->m->segments[segment].last];
    if (!write_taken(l, out, o)) {
        buf_puts(out, "    LEAVE(last);\n");
        return;
    }
    buf_printf(out,
               "    if (taken && taken != mask) {\n"
               "        if (fails(is_same_timeslice(x, f->vruntime + runtime, %u))) LEAVE(last);\n"
               "        f->reconverged = 0;\n    }\n    ",
               insns_apart(l, position));
    write_count(l, out, segment);
    buf_puts(out, "\n");
    write_parting(l, out, segment);
}

/* At a branch backwards the core may let other warps run, or end the launch. */
static void write_control(const struct loop *l, struct buf *out, u32 segment) {
    const struct op *o = &l->m->ops[l->m->segments[segment].last];
    bool is_branch = o->kind == OP_BRA || o->kind == OP_FALLTHROUGH;
    if (!is_branch || o->flags & OPF_BARRIER_BYPASS) {
        bool ends_all = o->kind == OP_EXIT && !chunk_is_guarded(l->m, o);
        buf_puts(out, ends_all ? "    LEAVE_AT_EXIT;\n" : "    LEAVE(last);\n");
        return;
    }
    u32 after = segment_after(l, segment), target = l->m->segment_of[o->target];
    if (o->kind == OP_BRA && o->flags & OPF_BACKWARD)
        buf_printf(out, "    if (fails(insns + %u < max_insns)) LEAVE(last);\n",
                   insns_of(l, segment));
    if (o->kind == OP_FALLTHROUGH || !chunk_is_guarded(l->m, o))
        return write_goto(l, out, segment, o->kind == OP_FALLTHROUGH ? after : target);
    if (write_taken(l, out, o)) {
        buf_puts(out, "    if (taken == ~0u) ");
        write_goto(l, out, segment, target);
        buf_puts(out, "    if (taken == 0) ");
        write_goto(l, out, segment, after);
    }
    buf_puts(out, "    LEAVE(last);\n");
}

static void write_chunks(const struct loop *l, struct buf *out, const struct segment *s) {
    for (u32 i = 0; i < l->nchunks; i++)
        if (l->chunks[i]->first >= s->first && l->chunks[i]->first < s->last)
            chunk_write_in_loop(l->chunks[i], out);
}

/* A segment that runs for the lanes that wait at it. */
static void write_masked_segment(const struct loop *l, struct buf *out, u32 segment) {
    const struct segment *s = &l->m->segments[segment];
    const struct op *o = &l->m->ops[s->last];
    buf_printf(out,
               "    if (mask_%u) {\n    const u32 mask = mask_%u;\n    mask_%u = 0;\n"
               "    runtime = runtime_%u;\n",
               segment, segment, segment, segment);
    write_chunks(l, out, s);
    buf_printf(out,
               "    times_%u++, lanes_%u += (u32)__builtin_popcount(mask), insns += %u, "
               "runtime += %u;\n",
               segment, segment, s->insn_count, s->insn_count);
    if (o->kind == OP_BRA && chunk_is_guarded(l->m, o)) write_taken(l, out, o);
    write_parting(l, out, segment);
    buf_puts(out, "    }\n");
}

static void write_whole_segment(const struct loop *l, struct buf *out, u32 position) {
    u32 segment = l->segments[position], end = l->reconvergence[position];
    const struct segment *s = &l->m->segments[segment];
    buf_printf(out, "segment_%u: {\n    enum { begin = %u, last = %u };\n", segment, s->first,
               s->last);
    write_chunks(l, out, s);
    if (end) write_divergence(l, out, position);
    else write_control(l, out, segment);
    buf_puts(out, "}\n");
    for (u32 i = position + 1; i < end; i++) write_masked_segment(l, out, l->segments[i]);
    if (end)
        buf_printf(out, "    mask_%u = 0, runtime = runtime_%u;\n    goto segment_%u;\n",
                   l->segments[end], l->segments[end], l->segments[end]);
}

/* ---- exit ---- */

static bool chunk_writes(const struct chunk *c, u32 var) {
    for (u32 i = 0; i < c->nvars; i++)
        if (c->vars[i].is_written && c->vars[i].loop_var == var) return true;
    return false;
}

/* A register that no chunk has written yet is in the frame already. */
static void leave_var(const struct loop *l, struct buf *out, u32 var) {
    if (!l->vars[var].is_written) return;
    buf_puts(out, "    if (0");
    for (u32 i = 0; i < l->nchunks; i++)
        if (chunk_writes(l->chunks[i], var)) buf_printf(out, " | ran_%u", i);
    buf_puts(out, ")\n    ");
    loop_write_store(l, out, var);
}

static void write_counts(const struct loop *l, struct buf *out) {
    for (u32 i = 0; i < l->nsegments; i++) {
        u32 s = l->segments[i];
        const struct op *o = &l->m->ops[l->m->segments[s].last];
        buf_printf(out, "    count_runs(x->worker, %u, times_%u, lanes_%u, %d, diverged_%u);\n", s,
                   s, s, o->kind == OP_BRA && ref_base(o->guard) == BASE_FRAME, s);
    }
    buf_puts(out, "    x->warp->warp_insns += insns, x->block->warp_insns += insns;\n"
                  "    f->vruntime += runtime, f->pc = pc;\n"
                  "    return ops + at;\n");
}

/* Adds what a chunk's loads have counted. */
static void write_flush(const struct loop *l, struct buf *out, const struct chunk *c) {
    u32 load = c->first_load;
    if (!c->nloads) return;
    buf_printf(out,
               "static __attribute__((noinline)) void flush_%u_%u(struct exec *x, "
               "struct load_state *t, u32 runs, int *failures) {\n"
               "    count_successes(failures, runs);\n",
               l->header, c->number);
    for (u32 j = 0; j < c->nops; j++) {
        if (c->ops[j].row->kind != ROW_CALL) continue;
        const struct mem_desc *d = &l->m->mems[c->ops[j].o->aux];
        buf_printf(out, "    flush_load(x->stats[%u], &x->pattern_cache[%u], &t[%u], runs, %d);\n",
                   d->stat, d->stat, load++, chunk_is_counted_load(d));
    }
    buf_puts(out, "}\n");
}

void loop_write(const struct loop *l, struct buf *out) {
    for (u32 i = 0; i < l->nchunks && !l->is_region; i++) write_flush(l, out, l->chunks[i]);
    write_entry(l, out);
    for (u32 i = 0; i < l->nsegments; i++)
        if (!l->is_masked[i]) write_whole_segment(l, out, i);
    buf_puts(out, "leave:\n");
    for (u32 i = 0; i < l->nchunks && !l->is_region; i++)
        if (l->chunks[i]->nloads)
            buf_printf(out, "    if (runs_%u) flush_%u_%u(x, loads, runs_%u, &failures_%u);\n", i,
                       l->header, i, i, i);
    for (u32 i = 0; i < l->nvars; i++) leave_var(l, out, i);
    buf_puts(out, "count:\n");
    write_counts(l, out);
    buf_puts(out, "}\n");
}
