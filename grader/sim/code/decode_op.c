/* decode_op.c — decodes operands to refs, opcode texts to opcodes, and the instructions that are an
 * expression. See decode.h. */
#include "grader/sim/code/decode.h"
#include "common/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool decode_unsupported(struct decoder *d, const char *format, ...) {
    char description[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(description, sizeof description, format, ap);
    va_end(ap);
    const struct ptx_loc *l = &d->m->ptx->locs[d->insn->loc];
    const char *file = l->file < d->m->ptx->nfiles ? d->m->ptx->files[l->file] : NULL;
    char location[300] = "";
    if (file) snprintf(location, sizeof location, "%s:%u: ", file, l->line);
    return err_set(d->e, ERR_UNSUPPORTED, "%s%s `%s` in %s `%s` (PTX line %u)", location,
                   description, d->insn->opcode, d->f->is_entry ? "kernel" : "function", d->f->name,
                   d->insn->ptx_line);
}

/* ---- opcodes ---- */

bool decode_opcode_part(const char *opcode, unsigned n, char *out, size_t size) {
    const char *s = opcode;
    for (; n; n--) {
        s = strchr(s, '.');
        if (!s) return false;
        s++;
    }
    size_t length = strcspn(s, ".");
    if (length >= size) return false;
    memcpy(out, s, length);
    out[length] = 0;
    return true;
}

bool decode_opcode_has(const char *opcode, const char *part) {
    size_t n = strlen(part);
    for (const char *s = strchr(opcode, '.'); s; s = strchr(s, '.')) {
        s++;
        if (strncmp(s, part, n) == 0 && (s[n] == '.' || s[n] == 0)) return true;
    }
    return false;
}

/* The type is usually the last part, but not in atom.v2.f32.add. */
enum ptx_type decode_opcode_type(const char *opcode) {
    enum ptx_type last = PTX_NO_TYPE;
    for (const char *s = strchr(opcode, '.'); s; s = strchr(s, '.')) {
        s++;
        enum ptx_type t = ptx_type_of(s, strcspn(s, "."));
        if (t != PTX_NO_TYPE) last = t;
    }
    return last;
}

static bool is_rounding(const char *part) {
    return strcmp(part, "rn") == 0 || strcmp(part, "rz") == 0 || strcmp(part, "rm") == 0 ||
           strcmp(part, "rp") == 0;
}

/* Copies the opcode without the modifiers in `drop`; returns those dropped. */
static unsigned strip_modifiers(const char *opcode, unsigned drop, char *out, size_t size) {
    unsigned dropped = 0;
    size_t n = 0;
    char part[64];
    for (unsigned i = 0; decode_opcode_part(opcode, i, part, sizeof part); i++) {
        unsigned mod = strcmp(part, "rn") == 0 && drop & MOD_RN ? MOD_RN
                       : is_rounding(part)                      ? MOD_RND
                       : strcmp(part, "ftz") == 0               ? MOD_FTZ
                       : strcmp(part, "sat") == 0               ? MOD_SAT
                                                                : 0;
        bool combiner =
            i == 2 && strncmp(opcode, "setp.", 5) == 0 &&
            (strcmp(part, "and") == 0 || strcmp(part, "or") == 0 || strcmp(part, "xor") == 0);
        if (i && (mod & drop)) dropped |= mod;
        else if (!combiner && n + strlen(part) + 2 < size)
            n += (size_t)snprintf(out + n, size - n, "%s%s", i ? "." : "", part);
    }
    return dropped;
}

/* min.s32.relu may be spelt in either order. */
static const char *canonical_opcode(const char *opcode, char *out, size_t size) {
    size_t n = strlen(opcode), first = strcspn(opcode, ".");
    if (n < 5 || strcmp(opcode + n - 5, ".relu") != 0) return opcode;
    snprintf(out, size, "%.*s.relu%.*s", (int)first, opcode, (int)(n - 5 - first), opcode + first);
    return out;
}

int decode_find_opcode(const char *spelled, unsigned *dropped) {
    static const unsigned modifier_sets[] = {0,
                                             MOD_RN,
                                             MOD_RND,
                                             MOD_FTZ,
                                             MOD_RND | MOD_FTZ,
                                             MOD_SAT,
                                             MOD_RND | MOD_SAT,
                                             MOD_FTZ | MOD_SAT,
                                             MOD_RND | MOD_FTZ | MOD_SAT};
    char name[96], ordered[96];
    const char *opcode = canonical_opcode(spelled, ordered, sizeof ordered);
    for (unsigned i = 0; i < sizeof modifier_sets / sizeof *modifier_sets; i++) {
        *dropped = strip_modifiers(opcode, modifier_sets[i], name, sizeof name);
        int opc = insn_find_opcode(name);
        if (opc >= 0 && (*dropped & ~insn_opcodes[opc].mods) == 0 &&
            insn_opcodes[opc].form != FORM_CUSTOM)
            return opc;
    }
    return -1;
}

static u8 fp_environment(const char *opcode, unsigned dropped) {
    u8 env = 0;
    if (dropped & MOD_RND)
        env = decode_opcode_has(opcode, "rz")   ? ENV_RZ
              : decode_opcode_has(opcode, "rm") ? ENV_RM
              : decode_opcode_has(opcode, "rp") ? ENV_RP
                                                : ENV_RN;
    return dropped & MOD_FTZ ? env | ENV_FTZ : env;
}

/* ---- slots ---- */

unsigned decode_reg_bytes(enum ptx_type t) {
    unsigned b = ptx_type_bytes(t);
    return t == PTX_PRED ? 1 : b < 2 ? 2 : b;
}

ref decode_slot_new(struct decoder *d, unsigned bytes) {
    unsigned size = decode_slot_bytes(bytes), align = size < 64 ? size : 64;
    if (d->frame_bytes > MAX_FRAME_BYTES)
        return REF(BASE_FRAME, 0); /* an error is set once the function is complete */
    d->frame_bytes = (d->frame_bytes + align - 1) & ~(align - 1);
    ref r = REF(BASE_FRAME, d->frame_bytes);
    GROW(d->slots, d->nslots + 1, d->slots_capacity, 1024);
    d->slots[d->nslots++] = (struct frame_slot){d->frame_bytes, size};
    d->frame_bytes += size;
    return r;
}

static struct op *emit_op(struct decoder *d, int opc) {
    struct sim_module *m = d->m;
    ARENA_GROW(&m->arena, m->ops, m->nops, m->nops + 1, m->ops_capacity, 1024);
    ARENA_GROW(&m->arena, m->op_lines, m->nops, m->nops + 1, m->op_lines_capacity, 1024);
    m->op_lines[m->nops] = d->insn ? d->insn->ptx_line : 0;
    struct op *o = &m->ops[m->nops++];
    *o = (struct op){.dst = REF_NONE,
                     .src = {REF_NONE, REF_NONE, REF_NONE, REF_NONE},
                     .opcode = (u16)opc,
                     .kind = insn_opcodes[opc].kind};
    o->weight = 1;
    o->guard =
        d->insn && d->insn->guard >= 0 ? d->regs[d->insn->guard] : decode_slot_const(d, 1, 1);
    o->guard_xor = d->insn && d->insn->guard >= 0 && d->insn->guard_negated ? ~0u : 0;
    if (d->insn && d->m->ptx->locs[d->insn->loc].line) d->loc = d->insn->loc;
    o->loc = d->insn ? d->loc : 0;
    return o;
}

struct op *decode_emit_named(struct decoder *d, const char *mnemonic) {
    int opc = insn_find_opcode(mnemonic);
    if (opc < 0) die("no opcode `%s`", mnemonic);
    return emit_op(d, opc);
}

/* ---- operands ---- */

static u64 immediate(const struct ptx_operand *p, enum ptx_type t) {
    union {
        u64 bits;
        double value;
    } wide = {.bits = p->value};
    union {
        u32 bits;
        float value;
    } narrow = {.bits = (u32)p->value};
    if (t == PTX_F32 && p->type == PTX_F64) return (narrow.value = (float)wide.value, narrow.bits);
    if (t == PTX_F64 && p->type == PTX_F32) return (wide.value = narrow.value, wide.bits);
    return p->value;
}

static const struct {
    const char *name;
    ref slot;
} special_slots[] = {
#define X(id, name) {name, REF(BASE_WARP, id * SLOT_BYTES)},
    WARP_SLOTS(X)
#undef X
#define X(id, name) {name, REF(BASE_BLOCK, id * SLOT_BYTES)},
        BLOCK_SLOTS(X)
#undef X
};

/* Special registers with a constant value. */
static const struct {
    const char *name;
    u64 value;
    u8 bytes;
} constant_specials[] = {
    {"WARP_SZ", 32, 4},
    {"%aggr_smem_size", 0, 4},
    {"%reserved_smem_offset_begin", 0, 4},
    {"%reserved_smem_offset_end", 0, 4},
    {"%reserved_smem_offset_cap", 0, 4},
    {"%reserved_smem_offset_0", 0, 4},
    {"%reserved_smem_offset_1", 0, 4},
};

/* Returns true for %envreg1 and %envreg2, which the driver defines: they hold the address of a
 * cooperative launch's workspace, high word first. Cooperative groups' grid barrier works on it. */
static bool is_workspace(const char *name) {
    return !strcmp(name, "%envreg1") || !strcmp(name, "%envreg2");
}

static bool reads_workspace(const struct ptx_func *f) {
    for (unsigned i = 0; i < f->ninsns; i++)
        for (unsigned k = 0; k < f->insns[i].noperands; k++)
            if (f->insns[i].operands[k].kind == PTX_OP_SREG &&
                is_workspace(f->insns[i].operands[k].name))
                return true;
    return false;
}

bool decode_uses_grid_workspace(const struct ptx_module *m) {
    for (unsigned i = 0; i < m->nfuncs; i++)
        if (reads_workspace(m->funcs[i])) return true;
    return false;
}

static bool decode_special_register(struct decoder *d, const char *name, ref *out,
                                    unsigned *bytes) {
    *bytes = 4;
    d->c->uses_clusters |= strstr(name, "cluster") != NULL;
    for (unsigned i = 0; i < sizeof special_slots / sizeof *special_slots; i++)
        if (*special_slots[i].name && strcmp(special_slots[i].name, name) == 0)
            return *out = special_slots[i].slot, true;
    if (strcmp(name, "%is_explicit_cluster") == 0)
        return *bytes = 1, *out = REF(BASE_BLOCK, B_EXPLICIT_CLUSTER * SLOT_BYTES), true;
    if (strcmp(name, "%current_graph_exec") == 0)
        return *bytes = 8, *out = REF(BASE_BLOCK, B_GRAPH_EXEC * SLOT_BYTES), true;
    if (is_workspace(name)) {
        d->c->cooperative = true;
        return *out = REF(BASE_BLOCK, (name[7] == '1' ? B_ENVREG1 : B_ENVREG2) * SLOT_BYTES), true;
    }
    if (strncmp(name, "%envreg", 7) == 0) return *out = decode_slot_const(d, 0, 4), true;
    for (unsigned i = 0; i < sizeof constant_specials / sizeof *constant_specials; i++)
        if (strcmp(constant_specials[i].name, name) == 0) {
            *bytes = constant_specials[i].bytes;
            return *out = decode_slot_const(d, constant_specials[i].value, *bytes), true;
        }
    bool wide = strcmp(name, "%clock64") == 0 || strcmp(name, "%globaltimer") == 0;
    if (wide || strcmp(name, "%clock") == 0 || strcmp(name, "%clock_hi") == 0 ||
        strcmp(name, "%globaltimer_lo") == 0) {
        struct op *o = decode_emit_named(d, "clock");
        o->weight = 0;
        *bytes = wide ? 8 : 4;
        o->imm = *bytes;
        o->dst = *out = decode_slot_new(d, *bytes);
        return true;
    }
    return decode_unsupported(d, "not implemented: special register %s in", name);
}

/* Emits a conversion between register sizes: takes the low part, or extends with zeros (with the
 * sign if `t` is signed). */
static bool emit_resize(struct decoder *d, ref from, unsigned actual_bytes, enum ptx_type t,
                        ref *out) {
    unsigned required_bytes = decode_reg_bytes(t);
    if (actual_bytes == required_bytes || actual_bytes == 1 || required_bytes == 1)
        return *out = from, actual_bytes == required_bytes;
    static const char *const unsigned_of[] = {[2] = "u16", [4] = "u32", [8] = "u64"};
    char name[32];
    if (actual_bytes > 8 || required_bytes > 8) return false;
    bool is_signed = t == PTX_S8 || t == PTX_S16 || t == PTX_S32 || t == PTX_S64;
    snprintf(name, sizeof name, "cvt.%s.%c%u", unsigned_of[required_bytes],
             is_signed && actual_bytes < required_bytes ? 's' : 'u', actual_bytes * 8);
    ref slot = decode_slot_new(d, required_bytes);
    struct op *o = decode_emit_named(d, name);
    o->weight = 0;
    o->src[0] = from;
    o->dst = slot;
    o->run = NULL;
    return *out = slot, true;
}

static struct var_offset *find_var_offset(struct var_offset *p, u32 n, const struct ptx_var *v) {
    for (u32 i = 0; i < n; i++)
        if (p[i].var == v) return &p[i];
    return NULL;
}

/* Emits the address of a variable as a 64-bit (or 32-bit) value. */
static bool emit_var_address(struct decoder *d, const struct ptx_operand *p, unsigned bytes,
                             ref *out) {
    const struct ptx_var *v = p->var;
    struct var_offset *l = find_var_offset(d->local_vars, d->nlocal_vars, v),
                      *s = find_var_offset(d->shared_vars, d->nshared_vars, v);
    u64 at;
    if (l) {
        ref slot = decode_slot_new(d, 8);
        struct op *o = decode_emit_named(d, "localaddr");
        o->weight = 0;
        o->imm = l->offset + p->offset;
        o->dst = *out = slot;
        return true;
    }
    if (v->space == PTX_SHARED && v->bytes == 0 && v->is_extern) {
        if (v->align > d->c->dynamic_align) d->c->dynamic_align = v->align;
        ref base =
            REF(BASE_BLOCK, (bytes == 8 ? B_DYN_SHARED_BASE64 : B_DYN_SHARED_BASE32) * SLOT_BYTES);
        if (!p->offset) return *out = base, true;
        ref slot = decode_slot_new(d, bytes), offset = decode_slot_const(d, (u64)p->offset, bytes);
        struct op *o = decode_emit_named(d, bytes == 8 ? "add.u64" : "add.u32");
        o->src[0] = base;
        o->src[1] = offset;
        o->dst = *out = slot;
        return true;
    }
    if (s) return *out = decode_slot_const(d, s->offset + (u64)p->offset, bytes), true;
    if (v->space == PTX_PARAM && d->f->is_entry) {
        u64 offset = 0;
        for (unsigned i = 0; i < d->f->nparams; i++) {
            const struct ptx_var *q = &d->f->params[i];
            offset = (offset + q->align - 1) / q->align * q->align;
            if (q == v) return *out = decode_slot_const(d, offset + (u64)p->offset, bytes), true;
            offset += q->bytes;
        }
    }
    if (decode_var_address(d, v, &at))
        return *out = decode_slot_const(d, at + (u64)p->offset, bytes), true;
    return decode_unsupported(d, "not implemented: the address of `%s` in", v->name);
}

bool decode_source(struct decoder *d, const struct ptx_operand *p, enum ptx_type t, ref *out) {
    unsigned bytes = decode_reg_bytes(t), actual_bytes = bytes;
    ref r = REF_NONE;
    switch (p->kind) {
    case PTX_OP_REG:
        if (d->f->regs[p->reg].type == PTX_NO_TYPE) break;
        return emit_resize(d, d->regs[p->reg], decode_reg_bytes(d->f->regs[p->reg].type), t, out) ||
               decode_unsupported(d, "operand of the wrong size in");
    case PTX_OP_IMM: return *out = decode_slot_const(d, immediate(p, t), bytes), true;
    case PTX_OP_SREG:
        return decode_special_register(d, p->name, &r, &actual_bytes) &&
               (emit_resize(d, r, actual_bytes, t, out) ||
                decode_unsupported(d, "operand of the wrong size in"));
    case PTX_OP_VAR: return emit_var_address(d, p, bytes, out);
    case PTX_OP_FUNC:
        for (u32 i = 0; i < d->m->nfuncs; i++)
            if (strcmp(d->m->funcs[i].name, p->name) == 0)
                return *out = decode_slot_const(d, FUNC_WINDOW + i, bytes), true;
        return decode_unsupported(d, "not implemented: the address of function `%s` in", p->name);
    default: break;
    }
    return decode_unsupported(d, "not implemented: this operand form of");
}

bool decode_predicate(struct decoder *d, const struct ptx_operand *p, ref *out, u32 *flip) {
    *flip = p->negated ? ~0u : 0;
    return decode_source(d, p, PTX_PRED, out);
}

bool decode_destination(struct decoder *d, const struct ptx_operand *p, ref *out, unsigned *bytes) {
    if (p->kind == PTX_OP_SINK) return *out = REF_NONE, *bytes = 0, true;
    if (p->kind != PTX_OP_REG)
        return decode_unsupported(d, "the destination must be a register in");
    *bytes = decode_reg_bytes(d->f->regs[p->reg].type);
    return *out = d->regs[p->reg], true;
}

bool decode_address(struct decoder *d, const struct ptx_operand *p, struct address *out) {
    *out = (struct address){.base = REF_NONE, .offset = p->offset, .var = p->var};
    if (p->kind != PTX_OP_ADDRESS) return decode_unsupported(d, "missing address in brackets in");
    if (p->nitems) return decode_unsupported(d, "not implemented: coordinates in the address of");
    if (p->reg >= 0) {
        unsigned bytes = decode_reg_bytes(d->f->regs[p->reg].type);
        if (bytes != 4 && bytes != 8)
            return decode_unsupported(d, "an address register of %u bytes in", bytes);
        out->address32 = bytes == 4;
        return out->base = d->regs[p->reg], true;
    }
    if (!p->var) return out->offset = p->offset + (s64)p->value, true;
    struct ptx_operand value = {.kind = PTX_OP_VAR, .var = p->var, .reg = -1, .second_reg = -1};
    return emit_var_address(d, &value, 8, &out->base);
}

/* ---- instructions that are an expression ---- */

/* Lets the op write its result to the operand's register, which may be wider than the opcode's
 * type. */
bool decode_put_result(struct decoder *d, u32 at_op, const struct ptx_operand *p, enum ptx_type t) {
    unsigned actual_bytes;
    ref dst;
    if (!decode_destination(d, p, &dst, &actual_bytes)) return false;
    unsigned required_bytes = decode_reg_bytes(t);
    if (dst == REF_NONE) dst = decode_slot_new(d, required_bytes), actual_bytes = required_bytes;
    if (actual_bytes == required_bytes) return d->m->ops[at_op].dst = dst, true;
    ref narrow = decode_slot_new(d, required_bytes), wide;
    d->m->ops[at_op].dst = narrow;
    static const enum ptx_type container[2][9] = {{[2] = PTX_U16, [4] = PTX_U32, [8] = PTX_U64},
                                                  {[2] = PTX_S16, [4] = PTX_S32, [8] = PTX_S64}};
    bool is_signed = t == PTX_S8 || t == PTX_S16 || t == PTX_S32;
    if (actual_bytes > 8 ||
        !emit_resize(d, narrow, required_bytes, container[is_signed][actual_bytes], &wide))
        return decode_unsupported(d, "destination of the wrong size in");
    d->m->ops[d->m->nops - 1].dst = dst;
    return true;
}

static bool decode_setp(struct decoder *d, int opc, const ref *src, u8 env) {
    const struct ptx_insn *in = d->insn;
    char part[16];
    ref c = REF_NONE;
    u32 flip = 0, combine_op = 0;
    if (decode_opcode_part(in->opcode, 2, part, sizeof part))
        combine_op = strcmp(part, "and") == 0   ? 1
                     : strcmp(part, "or") == 0  ? 2
                     : strcmp(part, "xor") == 0 ? 3
                                                : 0;
    if (combine_op && (in->noperands < 4 || !decode_predicate(d, &in->operands[3], &c, &flip)))
        return decode_unsupported(d, "missing operand in");
    struct op *o = emit_op(d, opc);
    o->env = env;
    o->src[0] = src[0];
    o->src[1] = src[1];
    o->src[2] = c;
    o->aux = combine_op;
    o->imm = flip;
    unsigned bytes;
    if (in->operands[0].second_reg >= 0) o->src[3] = d->regs[in->operands[0].second_reg];
    if (!decode_destination(d, &in->operands[0], &o->dst, &bytes)) return false;
    if (o->dst == REF_NONE) o->dst = decode_slot_new(d, 1);
    return true;
}

/* mov.b128 %o, {%q, %q} and back, or from register to register: a register of 128 bits is two of 64
 * bits side by side. */
static bool decode_wide_mov(struct decoder *d) {
    const struct ptx_operand *to = &d->insn->operands[0], *from = &d->insn->operands[1];
    ref a[2], b[2];
    unsigned bytes;
    for (unsigned i = 0; i < 2; i++) {
        bool split = from->kind == PTX_OP_VECTOR, join = to->kind == PTX_OP_VECTOR;
        if ((split && from->nitems != 2) || (join && to->nitems != 2))
            return decode_unsupported(d, "not implemented: this vector form of");
        if (!decode_source(d, split ? &from->items[i] : from, split ? PTX_B64 : PTX_B128, &a[i]))
            return false;
        if (!decode_destination(d, join ? &to->items[i] : to, &b[i], &bytes)) return false;
        if (b[i] != REF_NONE && bytes != (join ? 8u : 16u))
            return decode_unsupported(d, "parts of the wrong size in");
        if (!split) a[i] += 256 * i;
        if (!join && b[i] != REF_NONE) b[i] += 256 * i;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (b[i] == REF_NONE) continue;
        struct op *o = decode_emit_named(d, "mov.b64");
        o->src[0] = a[i];
        o->dst = b[i];
        o->weight = i == 0;
    }
    return true;
}

/* mov.b64 {%r1, %r2}, %rd3 and mov.b64 %rd3, {%r1, %r2} */
static bool decode_vector_mov(struct decoder *d) {
    const struct ptx_operand *to = &d->insn->operands[0], *from = &d->insn->operands[1];
    bool unpack = to->kind == PTX_OP_VECTOR;
    const struct ptx_operand *v = unpack ? to : from;
    unsigned total_bytes = ptx_type_bytes(decode_opcode_type(d->insn->opcode));
    enum ptx_type part_type = total_bytes == 8 ? PTX_B32 : PTX_B16,
                  whole_type = total_bytes == 8 ? PTX_B64 : PTX_B32;
    if (total_bytes == 16) return decode_wide_mov(d);
    if (v->nitems != 2 || (total_bytes != 4 && total_bytes != 8))
        return decode_unsupported(d, "not implemented: this vector form of");
    ref a, b;
    unsigned bytes;
    if (!unpack) {
        if (!decode_source(d, &v->items[0], part_type, &a) ||
            !decode_source(d, &v->items[1], part_type, &b))
            return false;
        struct op *o = decode_emit_named(d, total_bytes == 8 ? "pack.b64.b32" : "pack.b32.b16");
        o->src[0] = a;
        o->src[1] = b;
        return decode_destination(d, to, &o->dst, &bytes);
    }
    if (!decode_source(d, from, whole_type, &a)) return false;
    for (unsigned i = 0; i < 2; i++) {
        if (v->items[i].kind == PTX_OP_SINK) continue;
        struct op *o =
            decode_emit_named(d, i ? (total_bytes == 8 ? "unpack.hi.b64" : "unpack.hi.b32")
                                   : (total_bytes == 8 ? "unpack.lo.b64" : "unpack.lo.b32"));
        o->src[0] = a;
        o->weight = i == 0 || v->items[0].kind == PTX_OP_SINK;
        if (!decode_destination(d, &v->items[i], &o->dst, &bytes)) return false;
        if (bytes != total_bytes / 2) return decode_unsupported(d, "parts of the wrong size in");
    }
    return true;
}

/* Decodes the carry flag of a function's lanes: a predicate that only these instructions use. */
static bool decode_carry(struct decoder *d, int opc, ref *src) {
    if (d->carry_flag == REF_NONE) d->carry_flag = decode_slot_new(d, 1);
    src[3] = d->carry_flag;
    u32 at_op = d->m->nops;
    memcpy(emit_op(d, opc)->src, src, MAX_SRC_OPERANDS * sizeof *src);
    return decode_put_result(d, at_op, &d->insn->operands[0], (enum ptx_type)insn_opcodes[opc].dst);
}

bool decode_emit_float(struct decoder *d, int opc, const char *opcode, unsigned dropped,
                       const ref src[3], const struct ptx_operand *to) {
    u32 at_op = d->m->nops;
    struct op *o = emit_op(d, opc);
    memcpy(o->src, src, 3 * sizeof *src);
    o->env = fp_environment(opcode, dropped);
    o->flags = dropped & MOD_SAT ? OPF_SAT : 0;
    return decode_put_result(d, at_op, to, (enum ptx_type)insn_opcodes[opc].dst);
}

bool decode_regular(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    unsigned dropped;
    if (strncmp(in->opcode, "mov.", 4) == 0 && in->noperands == 2 &&
        (in->operands[0].kind == PTX_OP_VECTOR || in->operands[1].kind == PTX_OP_VECTOR))
        return decode_vector_mov(d);
    if (strcmp(in->opcode, "mov.b128") == 0 && in->noperands == 2) return decode_wide_mov(d);
    int opc = decode_find_opcode(in->opcode, &dropped);
    if (opc < 0) return decode_unsupported(d, "not implemented: instruction");
    const struct opcode_desc *r = &insn_opcodes[opc];
    unsigned nsrc = 0;
    while (nsrc < MAX_SRC_OPERANDS && r->src[nsrc]) nsrc++;
    if (r->form == FORM_CARRY && in->opcode[0] != 'm') nsrc = 2;
    if (in->noperands < nsrc + 1) return decode_unsupported(d, "missing operand in");
    ref src[MAX_SRC_OPERANDS] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE};
    u64 negate_masks = 0;
    if (r->form == FORM_CARRY)
        src[2] = decode_slot_const(d, 0, decode_reg_bytes((enum ptx_type)r->dst));
    for (unsigned i = 0; i < nsrc; i++) {
        if (!decode_source(d, &in->operands[i + 1], (enum ptx_type)r->src[i], &src[i]))
            return false;
        if (r->src[i] == PTX_PRED && in->operands[i + 1].negated)
            negate_masks |= 0xffffffffull << (r->dst == PTX_PRED ? 32 * i : 0);
    }
    if (r->form == FORM_CARRY) return decode_carry(d, opc, src);
    u8 env = fp_environment(in->opcode, dropped);
    if (r->form == FORM_SETP) return decode_setp(d, opc, src, env);
    u32 at_op = d->m->nops;
    struct op *o = emit_op(d, opc);
    memcpy(o->src, src, sizeof src);
    o->env = env;
    o->imm = (s64)negate_masks;
    o->flags = dropped & MOD_SAT ? OPF_SAT : 0;
    return decode_put_result(d, at_op, &in->operands[0], (enum ptx_type)r->dst);
}
