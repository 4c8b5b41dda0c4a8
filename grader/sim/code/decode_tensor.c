/* decode_tensor.c — decodes bulk copies by tensor maps. See decode.h and tensor.h.
 *
 * cp.async.bulk.tensor.Nd.shared::{cta,cluster}.global{.tile}.mbarrier::complete_tx::bytes
 *     {.multicast::cluster} [d], [map, {c…}], [mbarrier]{, ranks}{, policy}
 * cp.async.bulk.tensor.Nd.global.shared::cta{.tile}.bulk_group [map, {c…}], [s]{, policy}
 * cp.reduce.async.bulk.tensor.Nd.global.shared::cta.OP{.tile}.bulk_group [map, {c…}], [s]{, policy}
 * cp.async.bulk.prefetch.tensor.Nd.L2.global{.tile} [map, {c…}]{, policy}
 * The last changes nothing, but its coordinates must be valid for a load. */
#include "grader/sim/code/tensor.h"
#include "grader/sim/code/async.h"
#include "grader/sim/code/decode.h"

#include <string.h>

/* Returns true if all parts of the opcode from `nd` on are supported; modes other than tiles,
 * groups of blocks and others are not. */
static bool are_parts_supported(const struct ptx_insn *in, unsigned nd, bool is_reduction) {
    static const char *const supported[] = {"shared::cluster",
                                            "shared::cta",
                                            "global",
                                            "tile",
                                            "mbarrier::complete_tx::bytes",
                                            "bulk_group",
                                            "multicast::cluster",
                                            "L2::cache_hint",
                                            "L2"};
    char part[64];
    for (unsigned i = nd + 1; decode_opcode_part(in->opcode, i, part, sizeof part); i++) {
        bool is = is_reduction && i == nd + 3;
        for (unsigned k = 0; k < sizeof supported / sizeof *supported; k++)
            is |= !strcmp(part, supported[k]);
        if (!is) return false;
    }
    return true;
}

static bool parse_reduction(const char *name, u8 *atom) {
    static const char *const names[] = {
#define ATOM(id, name) name,
#include "grader/sim/code/atoms.def"
#undef ATOM
    };
    for (u8 i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return *atom = i, i != ATOM_CAS && i != ATOM_EXCH;
    return false;
}

/* [map, {c…}] */
static bool decode_map_operand(struct decoder *d, const struct ptx_operand *p,
                               struct tensor_desc *t, ref *map) {
    struct ptx_operand address = *p;
    if (p->kind != PTX_OP_ADDRESS || p->nitems != t->rank)
        return decode_unsupported(d, "not implemented: these coordinates of");
    address.nitems = 0;
    for (unsigned i = 0; i < t->rank; i++)
        if (!decode_source(d, &p->items[i], PTX_S32, &t->coord[i])) return false;
    return decode_address64(d, &address, map);
}

static bool emit_op(struct decoder *d, const struct tensor_desc *t, u32 first, const ref src[4],
                    s64 direction) {
    u32 target = ARENA_PUSH(&d->m->arena, d->m->tensors, d->m->ntensors, *t);
    u32 aux = decode_add_bulk_desc(d);
    struct op *o = decode_emit_named(d, "cp.async.bulk.tensor");
    memcpy(o->src, src, sizeof o->src);
    o->aux = aux;
    o->target = target;
    o->imm = direction;
    for (u32 i = first; i + 1 < d->m->nops; i++) d->m->ops[i].weight = 0;
    return true;
}

static bool decode_load(struct decoder *d, struct tensor_desc *t) {
    const struct ptx_insn *in = d->insn;
    bool multicast = decode_opcode_has(in->opcode, "multicast::cluster");
    ref src[4] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE};
    u32 first = d->m->nops;
    if (in->noperands < 3u + multicast ||
        !decode_opcode_has(in->opcode, "mbarrier::complete_tx::bytes"))
        return decode_unsupported(d, "missing operand in");
    if (!decode_address64(d, &in->operands[0], &src[0]) ||
        !decode_map_operand(d, &in->operands[1], t, &src[1]) ||
        !decode_address64(d, &in->operands[2], &src[3]))
        return false;
    if (multicast && !decode_source(d, &in->operands[3], PTX_U16, &t->cta_mask)) return false;
    d->c->may_spin = true;
    d->c->uses_clusters |= multicast;
    return emit_op(d, t, first, src, BULK_GLOBAL_TO_SHARED);
}

static bool decode_store(struct decoder *d, struct tensor_desc *t) {
    const struct ptx_insn *in = d->insn;
    ref src[4] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE};
    u32 first = d->m->nops;
    if (in->noperands < 2) return decode_unsupported(d, "missing operand in");
    if (!decode_map_operand(d, &in->operands[0], t, &src[1]) ||
        !decode_address64(d, &in->operands[1], &src[0]))
        return false;
    if (t->is_reduction)
        d->c->interblock_dependent = true; /* the map says whether it adds floats */
    if (t->is_reduction) d->c->updates_global = true;
    d->c->has_async_proxy_reads = true;
    return emit_op(d, t, first, src, BULK_SHARED_TO_GLOBAL);
}

static bool decode_prefetch(struct decoder *d, struct tensor_desc *t) {
    ref src[4] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE};
    u32 first = d->m->nops;
    if (d->insn->noperands < 1) return decode_unsupported(d, "missing operand in");
    return decode_map_operand(d, &d->insn->operands[0], t, &src[1]) &&
           emit_op(d, t, first, src, BULK_PREFETCH);
}

bool decode_tensor(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char part[64], to[64], from[64];
    struct tensor_desc t = {.cta_mask = REF_NONE,
                            .is_reduction = !strncmp(in->opcode, "cp.reduce.", 10)};
    bool is_prefetch = !strncmp(in->opcode, "cp.async.bulk.prefetch.", 23);
    unsigned nd = t.is_reduction || is_prefetch ? 5 : 4;
    if (!decode_opcode_part(in->opcode, nd, part, sizeof part) || part[0] < '1' || part[0] > '5' ||
        strcmp(part + 1, "d") || !decode_opcode_part(in->opcode, nd + 1, to, sizeof to) ||
        !decode_opcode_part(in->opcode, nd + 2, from, sizeof from) ||
        !are_parts_supported(in, nd, t.is_reduction))
        return decode_unsupported(d, "not implemented: instruction");
    t.rank = (u8)(part[0] - '0');
    if (t.is_reduction && (!decode_opcode_part(in->opcode, nd + 3, part, sizeof part) ||
                           !parse_reduction(part, &t.atom)))
        return decode_unsupported(d, "not implemented: instruction");
    if (is_prefetch) return decode_prefetch(d, &t);
    if (!t.is_reduction && !strncmp(to, "shared", 6) && !strcmp(from, "global"))
        return decode_load(d, &t);
    if (!strcmp(to, "global") && !strncmp(from, "shared", 6)) return decode_store(d, &t);
    return decode_unsupported(d, "not implemented: instruction");
}
