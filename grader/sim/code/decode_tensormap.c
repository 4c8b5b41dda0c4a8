/* decode_tensormap.c — decodes changes of tensor maps by kernels. See decode.h and tensor.h.
 *
 * tensormap.replace.tile.FIELD{.global|.shared::cta}.b1024.TYPE [map], {dimension,} value
 * tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.SCOPE.sync.aligned
 *     [to], [from], 128
 * fence.proxy.tensormap::generic.acquire.SCOPE [map], 128
 * fence.proxy.tensormap::generic.release.SCOPE, a fence like any other here: changes take effect at
 * once. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/tensor.h"

#include <string.h>

static bool parse_field(const char *name, struct tensormap_desc *t) {
    static const char *const names[TENSORMAP_FIELD_COUNT] = {
        [TENSORMAP_GLOBAL_ADDRESS] = "global_address",
        [TENSORMAP_RANK] = "rank",
        [TENSORMAP_BOX_DIM] = "box_dim",
        [TENSORMAP_GLOBAL_DIM] = "global_dim",
        [TENSORMAP_GLOBAL_STRIDE] = "global_stride",
        [TENSORMAP_ELEMENT_STRIDE] = "element_stride",
        [TENSORMAP_ELEMTYPE] = "elemtype",
        [TENSORMAP_SWIZZLE] = "swizzle_mode",
        [TENSORMAP_INTERLEAVE] = "interleave_layout",
        [TENSORMAP_FILL] = "fill_mode"};
    for (u8 i = 0; i < TENSORMAP_FIELD_COUNT; i++)
        if (!strcmp(names[i], name)) return t->field = i, true;
    return false;
}

static bool emit_op(struct decoder *d, const struct tensormap_desc *t, const struct ptx_operand *at,
                    ref value, u32 first) {
    ref address;
    if (!decode_address64(d, at, &address)) return false;
    u32 aux = decode_add_bulk_desc(d);
    struct op *o = decode_emit_named(d, "tensormap");
    o->aux = aux;
    o->src[0] = address;
    o->src[1] = value;
    o->imm = BULK_SHARED_TO_GLOBAL;
    memcpy(&o->target, t, sizeof *t);
    for (u32 i = first; i + 1 < d->m->nops; i++) d->m->ops[i].weight = 0;
    return true;
}

/* Decodes a new value, widened to 64 bits whatever its type. */
static bool decode_value64(struct decoder *d, const struct ptx_operand *p, bool wide, ref *out) {
    ref narrow;
    if (wide || p->kind == PTX_OP_IMM) return decode_source(d, p, PTX_B64, out);
    if (!decode_source(d, p, PTX_B32, &narrow)) return false;
    struct op *o = decode_emit_named(d, "cvt.u64.u32");
    o->src[0] = narrow;
    o->dst = *out = decode_slot_new(d, 8);
    return true;
}

static bool decode_replace(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    struct tensormap_desc t = {.verb = TENSORMAP_REPLACE,
                               .in_shared = decode_opcode_has(in->opcode, "shared::cta")};
    char field[64];
    if (!decode_opcode_has(in->opcode, "tile") ||
        !decode_opcode_part(in->opcode, 3, field, sizeof field) || !parse_field(field, &t))
        return decode_unsupported(d, "not implemented: instruction");
    bool has_dimension = t.field >= TENSORMAP_BOX_DIM && t.field <= TENSORMAP_ELEMENT_STRIDE;
    u32 first = d->m->nops, ndims = t.field == TENSORMAP_GLOBAL_STRIDE ? 4 : 5;
    if (in->noperands != 2u + has_dimension) return decode_unsupported(d, "missing operand in");
    if (has_dimension && (in->operands[1].kind != PTX_OP_IMM || in->operands[1].value >= ndims))
        return decode_unsupported(d, "not implemented: dimension of");
    if (has_dimension) t.dimension = (u8)in->operands[1].value;
    ref value;
    return decode_value64(d, &in->operands[1 + has_dimension], decode_opcode_has(in->opcode, "b64"),
                          &value) &&
           emit_op(d, &t, &in->operands[0], value, first);
}

static bool decode_cp_fenceproxy(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    struct tensormap_desc t = {.verb = TENSORMAP_CP_FENCEPROXY};
    ref from;
    if (in->noperands != 3 || in->operands[2].kind != PTX_OP_IMM || in->operands[2].value != 128)
        return decode_unsupported(d, "not implemented: operands of");
    decode_emit_warp_barrier(d, true);
    u32 first = d->m->nops;
    return decode_address64(d, &in->operands[1], &from) &&
           emit_op(d, &t, &in->operands[0], from, first);
}

bool decode_tensormap(struct decoder *d) {
    char verb[32];
    if (!decode_opcode_part(d->insn->opcode, 1, verb, sizeof verb))
        return decode_unsupported(d, "not implemented: instruction");
    if (!strcmp(verb, "replace")) return decode_replace(d);
    if (!strcmp(verb, "cp_fenceproxy")) return decode_cp_fenceproxy(d);
    return decode_unsupported(d, "not implemented: instruction");
}

bool decode_fence(struct decoder *d) {
    struct tensormap_desc t = {.verb = TENSORMAP_ACQUIRE};
    if (!decode_no_operands(d)) return false;
    if (!decode_opcode_has(d->insn->opcode, "tensormap::generic") ||
        !decode_opcode_has(d->insn->opcode, "acquire") || !d->insn->noperands)
        return true;
    u32 first = d->m->nops;
    if (!emit_op(d, &t, &d->insn->operands[0], REF_NONE, first)) return false;
    d->m->ops[d->m->nops - 1].weight = 0; /* only the fence counts */
    return true;
}
