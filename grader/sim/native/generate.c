/* generate.c — writes the functions of a kernel's segments: which registers may vary with the lane,
 * and the division of segments into chunks and calls. See native.h. */
#include "grader/sim/native/generate.h"
#include "common/grow.h"

#include <stdlib.h>
#include <string.h>

/* ---- registers that may vary with the lane: a guess, which the generated code checks ---- */

struct variance {
    const struct sim_module *m;
    unsigned char *varying;
    bool changed;
};

static bool may_vary(const struct variance *v, ref r) {
    if (r == REF_NONE) return false;
    if (ref_base(r) == BASE_WARP)
        return ref_offset(r) != W_TID_Y * SLOT_BYTES && ref_offset(r) != W_TID_Z * SLOT_BYTES &&
               ref_offset(r) != W_WARPID * SLOT_BYTES;
    return ref_base(r) == BASE_FRAME && v->varying[ref_offset(r) / 4];
}

static void set_varying(struct variance *v, ref r) {
    if (r == REF_NONE || ref_base(r) != BASE_FRAME || v->varying[ref_offset(r) / 4]) return;
    v->varying[ref_offset(r) / 4] = 1;
    v->changed = true;
}

static void vary_memory(struct variance *v, const struct op *o) {
    const struct mem_desc *d = &v->m->mems[o->aux];
    if (d->verb == MEM_STORE) return;
    for (u32 e = 0; e < d->count && d->verb == MEM_LOAD; e++)
        if (may_vary(v, o->src[0]) || may_vary(v, o->guard)) set_varying(v, d->reg[e]);
    if (d->verb == MEM_ATOM) set_varying(v, d->result);
}

static void vary(struct variance *v, const struct op *o) {
    const struct native_row *row = native_row(o);
    const char *name = insn_opcodes[o->opcode].name;
    bool any = row->kind == ROW_CALL || may_vary(v, o->guard);
    if (!strcmp(name, "ld") || !strcmp(name, "atom")) return vary_memory(v, o);
    if (!strcmp(name, "cvta")) any = may_vary(v, o->src[0]);
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++)
        any |= (i < row->source_count || row->kind == ROW_SELECT) && may_vary(v, o->src[i]);
    if (!any) return;
    set_varying(v, o->dst);
    if (row->kind == ROW_COMPARE) set_varying(v, o->src[3]);
}

static unsigned char *find_varying(const struct sim_module *m, const struct sim_func *f) {
    struct variance v = {m, xcalloc(f->frame_bytes / 4 + 64, 1), true};
    while (v.changed) {
        v.changed = false;
        for (u32 i = f->first_op; i < f->end_op; i++) vary(&v, &m->ops[i]);
    }
    return v.varying;
}

/* ---- segments ---- */

enum { MIN_CHUNK_OPS = 2 };

/* Writes the chunk that begins at op `at`; returns its number of ops, or 0 if it isn't worth a
 * function. */
static u32 write_chunk(struct chunk *c, struct buf *out, u32 at, u32 end) {
    c->nops = c->nvars = c->nloads = c->ngroups = c->nrepeated = 0;
    c->first = at;
    while (at < end && chunk_add(c, &c->m->ops[at])) at++;
    if (c->nops < MIN_CHUNK_OPS && !c->nloads) return 0;
    chunk_write(c, out);
    return c->nops;
}

static void call_interpreter(struct buf *body, u32 at, u32 n, u32 control) {
    buf_printf(body, "    if (!interpret(x, ops + %u, %u)) return ops + %u;\n", at, n, control);
}

static void call_chunk(struct buf *body, u32 at, u32 n, u32 control) {
    buf_printf(body,
               "    {\n"
               "        static int failures;\n"
               "        if (failures > MAX_FAILURES || !run_chunk(x, ops, chunk_%u, &failures))\n"
               "            if (!interpret(x, ops + %u, %u)) return ops + %u;\n"
               "    }\n",
               at, at, n, control);
}

static bool write_segment(struct chunk *c, struct buf *out, u32 index) {
    const struct segment *s = &c->m->segments[index];
    struct buf body = {0};
    u32 native_ops = 0;
    for (u32 at = s->first, n; at < s->last; at += n ? n : 1) {
        n = write_chunk(c, out, at, s->last);
        native_ops += n;
        if (n) call_chunk(&body, at, n, s->last);
        else call_interpreter(&body, at, 1, s->last);
    }
    if (native_ops)
        buf_printf(out,
                   "const struct op *native_%u(struct exec *x, const struct op *ops) {\n%s"
                   "    return ops + %u;\n}\n",
                   index, buf_str(&body), s->last);
    buf_free(&body);
    return native_ops > 0;
}

/* Leaves a loop's function at that op of the running segment; nobody reads the registers of a warp
 * whose threads all exit. */
static const char leave_loop[] =
    "#define LEAVE(op) do { at = (op), pc = begin; goto leave; } while (0)\n"
    "#define LEAVE_AT_EXIT do { at = last, pc = begin; goto count; } while (0)\n";

/* The loop that has the segment as its header, if it becomes a function. */
static bool write_loop_of(const struct chunk *c, const struct sim_func *f, struct buf *out,
                          u32 header) {
    struct loop *l = loop_find(c->m, f, c->varying, header);
    if (l) loop_write(l, out), loop_free(l);
    return l;
}

u32 native_generate(const struct sim_module *m, const struct sim_func *f, struct buf *out,
                    u8 *made) {
    struct chunk *c = xcalloc(1, sizeof *c);
    unsigned char *varying = find_varying(m, f);
    u32 count = 0;
    c->m = m, c->varying = varying;
    buf_puts(out, leave_loop);
    for (u32 i = 0; i < m->nsegments; i++) {
        const struct segment *s = &m->segments[i];
        if (s->first < f->first_op || s->last >= f->end_op) continue;
        made[i] = (write_segment(c, out, i) ? NATIVE_SEGMENT : 0) |
                  (write_loop_of(c, f, out, i) ? NATIVE_LOOP : 0);
        count += made[i] != 0;
    }
    free(varying);
    free(c);
    return count;
}
