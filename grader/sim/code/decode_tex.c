/* decode_tex.c — decodes accesses to textures and surfaces. See decode.h and tex.h.
 *
 * tex{.base,.level,.grad}.GEOMETRY.v4.dtype.ctype {d…}, [t, {c…}]{, lod | {dx…}, {dy…}}
 * tld4.{r,g,b,a}.2d.v4.dtype.f32 {d…}, [t, {x, y}]
 * suld.b.GEOMETRY{.cop}{.vec}.btype.{trap,clamp,zero} {d…}, [s, {x in bytes…}]
 * sust.b… [s, {…}], {…}
 * Handles are 64-bit numbers ("unified mode"). A layer comes before the coordinates. */
#include "grader/sim/code/tex.h"
#include "grader/sim/code/decode.h"

#include <string.h>

static const struct geometry {
    const char *name;
    u8 shape, ncoords;
    bool layered;
} geometries[] = {
    {"1d", SIM_TEX_1D, 1, false},     {"2d", SIM_TEX_2D, 2, false},
    {"3d", SIM_TEX_3D, 3, false},     {"a1d", SIM_TEX_1D, 1, true},
    {"a2d", SIM_TEX_2D, 2, true},     {"cube", SIM_TEX_CUBE, 3, false},
    {"acube", SIM_TEX_CUBE, 3, true},
};

static const struct geometry *geometry_of(const char *opcode) {
    for (unsigned i = 0; i < sizeof geometries / sizeof *geometries; i++)
        if (decode_opcode_has(opcode, geometries[i].name)) return &geometries[i];
    return NULL;
}

/* [handle, {layer, x, y, z}] */
static bool decode_coordinates(struct decoder *d, const struct ptx_operand *p, struct tex_desc *t,
                               const struct geometry *g) {
    enum ptx_type type = t->has_integer_coords ? PTX_S32 : PTX_F32;
    unsigned at = g->layered;
    t->shape = g->shape;
    t->layered = g->layered;
    t->ncoords = g->ncoords;
    if (p->kind != PTX_OP_ADDRESS || p->reg < 0 || p->offset ||
        decode_reg_bytes(d->f->regs[p->reg].type) != 8)
        return decode_unsupported(d, "not implemented: a texture other than a 64-bit handle in");
    if (p->nitems < at + g->ncoords)
        return decode_unsupported(d, "not implemented: these coordinates of");
    t->handle = d->regs[p->reg];
    if (at && !decode_source(d, &p->items[0], PTX_U32, &t->layer)) return false;
    for (unsigned i = 0; i < g->ncoords; i++)
        if (!decode_source(d, &p->items[at + i], type, &t->coord[i])) return false;
    return true;
}

static struct tex_desc init_desc(u8 verb) {
    struct tex_desc t = {.verb = verb, .handle = REF_NONE, .layer = REF_NONE, .lod = REF_NONE};
    for (unsigned i = 0; i < 3; i++) t.coord[i] = REF_NONE;
    for (unsigned i = 0; i < 4; i++) t.dst[i] = REF_NONE;
    for (unsigned i = 0; i < 6; i++) t.grad[i] = REF_NONE;
    return t;
}

static bool decode_results(struct decoder *d, const struct ptx_operand *p, struct tex_desc *t) {
    unsigned bytes, n = p->kind == PTX_OP_VECTOR ? p->nitems : 1;
    if (n > 4 || p->second_reg >= 0)
        return decode_unsupported(d, "not implemented: these results of");
    t->ndst = (u8)n;
    for (unsigned i = 0; i < n; i++) {
        if (!decode_destination(d, p->kind == PTX_OP_VECTOR ? &p->items[i] : p, &t->dst[i], &bytes))
            return false;
        if (bytes) t->reg_bytes = (u8)bytes;
    }
    return true;
}

/* Adds the description to the module and appends the op; `width`: bytes that a lane requests. */
static bool emit_op(struct decoder *d, const struct tex_desc *t, const char *row, u8 width) {
    u32 target = ARENA_PUSH(&d->m->arena, d->m->texs, d->m->ntexs, *t);
    struct mem_desc m = {.verb = t->verb == SURF_STORE ? MEM_STORE : MEM_LOAD,
                         .space = SPACE_GLOBAL,
                         .width = width,
                         .count = 1,
                         .reg_bytes = 8,
                         .type = PTX_B32,
                         .is_texture = 1};
    for (unsigned i = 0; i < 8; i++) m.reg[i] = i < t->ndst ? t->dst[i] : REF_NONE;
    u32 aux = decode_add_desc(d, &m);
    struct op *o = decode_emit_named(d, row);
    o->aux = aux;
    o->target = target;
    o->src[0] = t->handle;
    for (unsigned i = 0; i < t->ncoords; i++) o->src[1 + i] = t->coord[i];
    return true;
}

/* Decodes what follows the coordinates: gradients or a level of detail. Textures have one level
 * here. */
static bool decode_lod(struct decoder *d, struct tex_desc *t, unsigned *operands) {
    const struct ptx_insn *in = d->insn;
    if (decode_opcode_has(in->opcode, "level"))
        return *operands = 3, in->noperands == 3 &&
                                  decode_source(d, &in->operands[2],
                                                t->has_integer_coords ? PTX_S32 : PTX_F32, &t->lod);
    if (!decode_opcode_has(in->opcode, "grad")) return true;
    *operands = 4;
    for (unsigned k = 0; k < 2 && in->noperands == 4; k++) {
        const struct ptx_operand *g = &in->operands[2 + k];
        for (unsigned i = 0; i < t->ncoords; i++) {
            const struct ptx_operand *p =
                g->kind == PTX_OP_VECTOR ? (i < g->nitems ? &g->items[i] : NULL) : g;
            if (!p || !decode_source(d, p, PTX_F32, &t->grad[k * 3 + i])) return false;
        }
    }
    return in->noperands == 4;
}

bool decode_texture(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    static const char *const components[] = {"r", "g", "b", "a"};
    char part[16];
    bool gather = in->opcode[1] == 'l';
    struct tex_desc t = init_desc(gather ? TEX_GATHER : TEX_FETCH);
    const struct geometry *g = geometry_of(in->opcode);
    unsigned n = 0, operands = 2;
    while (decode_opcode_part(in->opcode, n, part, sizeof part)) n++;
    if (!g || n < 4 || in->noperands < 2 || !decode_opcode_has(in->opcode, "v4"))
        return decode_unsupported(d, "not implemented: instruction");
    t.has_integer_coords =
        decode_opcode_part(in->opcode, n - 1, part, sizeof part) && part[0] == 's';
    decode_opcode_part(in->opcode, n - 2, part, sizeof part);
    t.type = (u8)ptx_type_of(part, strlen(part));
    for (u8 i = 0; gather && i < 4; i++)
        if (decode_opcode_has(in->opcode, components[i])) t.component = i;
    if (t.type != PTX_U32 && t.type != PTX_S32 && t.type != PTX_F32)
        return decode_unsupported(d, "not implemented: this result type of");
    if (gather && (g->shape != SIM_TEX_2D || t.has_integer_coords))
        return decode_unsupported(d, "not implemented: instruction");
    if (!decode_results(d, &in->operands[0], &t) || !decode_coordinates(d, &in->operands[1], &t, g))
        return false;
    if (t.ndst != 4 || (t.reg_bytes && t.reg_bytes != 4))
        return decode_unsupported(d, "registers of the wrong size in");
    if (!decode_lod(d, &t, &operands))
        return decode_unsupported(d, "not implemented: these operands of");
    if (in->noperands != operands)
        return decode_unsupported(d,
                                  "not implemented: offsets, comparisons or separate samplers in");
    d->c->reads_textures = true;
    return emit_op(d, &t, gather ? "tld4" : "tex", 4);
}

bool decode_surface(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    bool store = in->opcode[2] == 's';
    struct tex_desc t = init_desc(store ? SURF_STORE : SURF_LOAD);
    const struct geometry *g = geometry_of(in->opcode);
    enum ptx_type type = decode_opcode_type(in->opcode);
    unsigned bytes = ptx_type_bytes(type), count = decode_opcode_has(in->opcode, "v2")   ? 2
                                                   : decode_opcode_has(in->opcode, "v4") ? 4
                                                                                         : 1;
    if (!g || g->shape == SIM_TEX_CUBE || in->noperands != 2 ||
        !decode_opcode_has(in->opcode, "b") || !bytes || bytes > 8 || bytes * count > 16)
        return decode_unsupported(d, "not implemented: instruction");
    t.has_integer_coords = true;
    t.type = (u8)type;
    t.clamp = decode_opcode_has(in->opcode, "clamp")  ? SURF_CLAMP
              : decode_opcode_has(in->opcode, "zero") ? SURF_ZERO
                                                      : SURF_TRAP;
    const struct ptx_operand *value = &in->operands[store];
    if (!decode_coordinates(d, &in->operands[!store], &t, g)) return false;
    if (!store && !decode_results(d, value, &t)) return false;
    if (store) t.ndst = (u8)(value->kind == PTX_OP_VECTOR ? value->nitems : 1);
    if (t.ndst != count) return decode_unsupported(d, "wrong number of elements in");
    for (unsigned i = 0; store && i < count; i++) {
        const struct ptx_operand *q = value->kind == PTX_OP_VECTOR ? &value->items[i] : value;
        enum ptx_type reg_type = q->kind == PTX_OP_REG ? d->f->regs[q->reg].type : type;
        if (!decode_source(d, q, reg_type, &t.dst[i])) return false;
        t.reg_bytes = (u8)decode_reg_bytes(reg_type);
    }
    if (t.reg_bytes && (t.reg_bytes < bytes || t.reg_bytes > 8))
        return decode_unsupported(d, "registers of the wrong size in");
    if (store) d->c->writes_surfaces = true;
    else d->c->reads_textures = true;
    return emit_op(d, &t, store ? "sust" : "suld", (u8)(bytes * count));
}

/* txq.width.b32 d, [t] · suq.… */
bool decode_texture_query(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    static const char *const names[] = {"width", "height", "depth"};
    char part[32];
    if (in->noperands != 2 || !decode_opcode_part(in->opcode, 1, part, sizeof part) ||
        in->operands[1].kind != PTX_OP_ADDRESS || in->operands[1].reg < 0)
        return decode_unsupported(d, "not implemented: instruction");
    for (u32 i = 0; i < 3; i++) {
        if (strcmp(names[i], part) != 0) continue;
        u32 at_op = d->m->nops;
        struct op *o = decode_emit_named(d, "txq");
        o->src[0] = d->regs[in->operands[1].reg];
        o->aux = i;
        return decode_put_result(d, at_op, &in->operands[0], PTX_U32);
    }
    return decode_unsupported(d, "not implemented: instruction");
}
