/* decode_warpgroup.c — decodes wgmma. See warpgroup.h.
 *
 * The parts of an opcode have a fixed order: wgmma.mma_async{.sp}.sync.aligned.SHAPE.D.A.B, then
 * optional ones. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/warpgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static u8 type_at(const char *opcode, unsigned i) {
    char part[64];
    if (!decode_opcode_part(opcode, i, part, sizeof part)) return MATRIX_TYPE_COUNT;
    for (u8 t = 0; t < MATRIX_TYPE_COUNT; t++)
        if (!strcmp(decode_matrix_types[t].name, part)) return t;
    return MATRIX_TYPE_COUNT;
}

/* Returns true if the shape exists. n is a multiple of 16 from 32 on for integers, of 8 for other
 * types. */
static bool shape_exists(const struct warpgroup_desc *w, u32 m) {
    u32 bits = decode_matrix_types[w->type[MATRIX_A]].bits, n = w->n;
    bool coarse = w->type[MATRIX_D] == MATRIX_S32;
    if (m != 64 || n < 8 || n > WARPGROUP_MAX_N || n % 8 || (coarse && n > 24 && n % 16))
        return false;
    return bits == 1 ? w->k == 256 && !w->sparse : w->k * bits == (w->sparse ? 512 : 256);
}

static bool are_types_valid(const struct warpgroup_desc *w) {
    u8 a = w->type[MATRIX_A], b = w->type[MATRIX_B], d = w->type[MATRIX_D];
    switch ((enum matrix_type)a) {
    case MATRIX_F16: return b == a && (d == MATRIX_F32 || d == MATRIX_F16);
    case MATRIX_BF16:
    case MATRIX_TF32: return b == a && d == MATRIX_F32;
    case MATRIX_E4M3:
    case MATRIX_E5M2:
        return (b == MATRIX_E4M3 || b == MATRIX_E5M2) && (d == MATRIX_F32 || d == MATRIX_F16);
    case MATRIX_S8:
    case MATRIX_U8: return (b == MATRIX_S8 || b == MATRIX_U8) && d == MATRIX_S32;
    case MATRIX_B1: return b == a && d == MATRIX_S32 && w->combine == MATRIX_AND;
    default: return false;
    }
}

/* How an H100 adds (docs/simgpu.md, Tensor cores): all of k at once; for 8-bit types it keeps 13
 * fraction bits, and as many in the sum. */
static struct dot_accumulation accumulation_of(const struct warpgroup_desc *w) {
    bool bytes = decode_matrix_types[w->type[MATRIX_A]].bits == 8;
    return (struct dot_accumulation){.terms_per_step = (u8)warpgroup_stored_k(w),
                                     .fraction_bits = bytes ? 13 : 25,
                                     .dropped_bits = bytes ? 10 : 0};
}

static bool parse_opcode(const char *opcode, struct warpgroup_desc *w) {
    char shape[64];
    u32 m, n, k, sparse = decode_opcode_has(opcode, "sp");
    if (!decode_opcode_part(opcode, 4 + sparse, shape, sizeof shape) ||
        sscanf(shape, "m%un%uk%u", &m, &n, &k) != 3)
        return false;
    *w = (struct warpgroup_desc){.n = (u16)n, .k = (u16)k, .sparse = (u8)sparse, .scale = REF_NONE};
    w->type[MATRIX_D] = w->type[MATRIX_C] = type_at(opcode, 5 + sparse);
    w->type[MATRIX_A] = type_at(opcode, 6 + sparse),
    w->type[MATRIX_B] = type_at(opcode, 7 + sparse);
    if (w->type[MATRIX_D] >= MATRIX_TYPE_COUNT || w->type[MATRIX_A] >= MATRIX_TYPE_COUNT ||
        w->type[MATRIX_B] >= MATRIX_TYPE_COUNT)
        return false;
    w->saturate = decode_opcode_has(opcode, "satfinite");
    w->combine = decode_opcode_has(opcode, "and") ? MATRIX_AND : MATRIX_MULTIPLY;
    w->count = (u16)(n * decode_matrix_types[w->type[MATRIX_D]].bits / 64);
    w->accumulation = accumulation_of(w);
    return are_types_valid(w) && shape_exists(w, m);
}

/* ---- operands ----
 *
 * d, a, b, {metadata, selector,} scale-d {, scale-a, scale-b {, trans-a}, trans-b} */

static u32 scale_operand(const struct warpgroup_desc *w) { return w->sparse ? 5 : 3; }

static bool decode_scale(struct decoder *d, const struct ptx_operand *p, struct warpgroup_desc *w) {
    if (p->kind == PTX_OP_IMM) return w->starts_from_zero = !p->value, true;
    return decode_predicate(d, p, &w->scale, &w->scale_xor);
}

/* Decodes the immediates behind scale-d: for floats two signs, for halves also whether a and b are
 * transposed. */
static bool decode_immediates(const struct ptx_insn *in, struct warpgroup_desc *w) {
    bool floats = w->type[MATRIX_D] != MATRIX_S32,
         halves = decode_matrix_types[w->type[MATRIX_A]].bits == 16;
    u32 first = scale_operand(w) + 1,
        n = first + 2 * floats + (halves ? 1u + !w->a_in_registers : 0);
    if (in->noperands != n) return false;
    for (u32 i = first; i < n; i++)
        if (in->operands[i].kind != PTX_OP_IMM) return false;
    if (floats)
        w->is_negated =
            ((s64)in->operands[first].value < 0) != ((s64)in->operands[first + 1].value < 0);
    if (halves) w->transposed[MATRIX_B] = in->operands[n - 1].value != 0;
    if (halves && !w->a_in_registers) w->transposed[MATRIX_A] = in->operands[n - 2].value != 0;
    return true;
}

/* Decodes the metadata of a sparse product. The selector says which two of four threads hold it;
 * for 8-bit types all four do. */
static bool decode_metadata(struct decoder *d, struct warpgroup_desc *w) {
    const struct ptx_operand *selector = &d->insn->operands[4];
    u32 max_selector = decode_matrix_types[w->type[MATRIX_A]].bits == 8 ? 0 : 1;
    if (!w->sparse) return true;
    if (selector->kind != PTX_OP_IMM || selector->value > max_selector)
        return decode_unsupported(d, "not implemented: selector of");
    w->selector = (u8)selector->value;
    return decode_source(d, &d->insn->operands[3], PTX_B32, &w->metadata);
}

static bool decode_operands(struct decoder *d, struct warpgroup_desc *w) {
    const struct ptx_insn *in = d->insn;
    if (in->noperands <= scale_operand(w)) return decode_unsupported(d, "missing operand in");
    w->a_in_registers = in->operands[1].kind == PTX_OP_VECTOR;
    w->d = arena_array(&d->m->arena, ref, w->count);
    if (!decode_immediates(in, w)) return decode_unsupported(d, "not implemented: operands of");
    if (!decode_register_list(d, &in->operands[0], true, w->count, 4, w->d) ||
        !decode_source(d, &in->operands[2], PTX_B64, &w->smem_desc[MATRIX_B]) ||
        !decode_metadata(d, w) || !decode_scale(d, &in->operands[scale_operand(w)], w))
        return false;
    if (w->a_in_registers) return decode_register_list(d, &in->operands[1], false, 4, 4, w->a);
    return decode_source(d, &in->operands[1], PTX_B64, &w->smem_desc[MATRIX_A]);
}

static bool decode_wgmma(struct decoder *d) {
    struct warpgroup_desc w;
    if (!parse_opcode(d->insn->opcode, &w))
        return decode_unsupported(d, "not implemented: instruction");
    decode_emit_warp_barrier(d, false);
    d->c->has_async_proxy_reads = d->c->has_wgmma = true;
    if (!decode_operands(d, &w)) return false;
    u32 target = ARENA_PUSH(&d->m->arena, d->m->warpgroups, d->m->nwarpgroups, w);
    struct mem_desc m = {.verb = MEM_LOAD,
                         .space = SPACE_SHARED,
                         .width = 2,
                         .count = 1,
                         .type = PTX_B16,
                         .is_bulk = true};
    u32 aux = decode_add_desc(d, &m);
    struct op *o = decode_emit_named(d, "wgmma");
    o->aux = aux;
    o->target = target;
    return true;
}

bool decode_warpgroup(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char part[64];
    if (!decode_opcode_part(in->opcode, 1, part, sizeof part))
        return decode_unsupported(d, "not implemented: instruction");
    if (!strcmp(part, "mma_async")) return decode_wgmma(d);
    if (!strcmp(part, "fence")) return decode_emit_named(d, "wgmma.fence"), true;
    bool commit = !strcmp(part, "commit_group"), wait = !strcmp(part, "wait_group");
    if (!commit && (!wait || in->noperands != 1 || in->operands[0].kind != PTX_OP_IMM))
        return decode_unsupported(d, "not implemented: instruction");
    struct op *o = decode_emit_named(d, "wgmma.group");
    o->imm = commit ? GROUP_WGMMA_COMMIT : GROUP_WGMMA_WAIT;
    o->target = commit ? 0 : (u32)in->operands[0].value;
    return true;
}
