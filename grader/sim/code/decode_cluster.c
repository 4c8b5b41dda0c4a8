/* decode_cluster.c — decodes mapa, getctarank and barrier.cluster, by which the blocks of a cluster
 * cooperate. See decode.h. */
#include "grader/sim/code/cluster.h"
#include "grader/sim/code/decode.h"

/* Returns true if addresses are offsets in shared memory; else they are generic. */
static bool in_shared_space(const char *opcode) {
    return decode_opcode_has(opcode, "shared::cluster") || decode_opcode_has(opcode, "shared");
}

static bool decode_cluster_source(struct decoder *d, const struct ptx_operand *p, enum ptx_type t,
                                  ref *out) {
    return decode_source(d, p, t, out) && (d->c->uses_clusters = true);
}

/* mapa{.shared::cluster}.{u32,u64} d, a, rank */
bool decode_mapa(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    enum ptx_type t = decode_opcode_type(in->opcode);
    bool shared = in_shared_space(in->opcode);
    ref from, rank;
    if (in->noperands < 3 || (t != PTX_U32 && t != PTX_U64) || (t == PTX_U32 && !shared))
        return decode_unsupported(d, "not implemented: instruction");
    if (!decode_cluster_source(d, &in->operands[1], t, &from) ||
        !decode_source(d, &in->operands[2], PTX_U32, &rank))
        return false;
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, "mapa");
    o->src[0] = from;
    o->src[1] = rank;
    o->aux = t == PTX_U64 ? 8 : 4;
    o->imm = shared ? 0 : (s64)SHARED_WINDOW;
    return decode_put_result(d, at_op, &in->operands[0], t);
}

/* getctarank{.shared::cluster}.{u32,u64} d, a: d has 32 bits */
bool decode_getctarank(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    enum ptx_type t = decode_opcode_type(in->opcode);
    bool shared = in_shared_space(in->opcode);
    ref from;
    if (in->noperands < 2 || (t != PTX_U32 && t != PTX_U64) || (t == PTX_U32 && !shared))
        return decode_unsupported(d, "not implemented: instruction");
    if (!decode_cluster_source(d, &in->operands[1], t, &from)) return false;
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, "getctarank");
    o->src[0] = from;
    o->aux = t == PTX_U64 ? 8 : 4;
    o->imm = shared ? 0 : (s64)SHARED_WINDOW;
    return decode_put_result(d, at_op, &in->operands[0], PTX_U32);
}

/* barrier.cluster.arrive{.release,.relaxed}{.aligned} · barrier.cluster.wait{.acquire}{.aligned} */
bool decode_cluster_barrier(struct decoder *d) {
    const char *opcode = d->insn->opcode;
    d->c->uses_clusters = d->c->uses_cluster_barrier = true;
    decode_mark_lowered("barrier");
    if (decode_opcode_has(opcode, "arrive")) {
        decode_emit_named(d, "cluster.arrive")->imm = decode_opcode_has(opcode, "relaxed");
        return true;
    }
    if (!decode_opcode_has(opcode, "wait"))
        return decode_unsupported(d, "not implemented: instruction");
    struct bar_desc b = {
        .is_cluster = 1, .id = REF_NONE, .count = REF_NONE, .pred_source = REF_NONE};
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->bars, d->m->nbars, b);
    decode_emit_named(d, "bar")->aux = aux;
    return true;
}
