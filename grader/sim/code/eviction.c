/* eviction.c — the order in which L2 evicts lines, by the cache hints of the instruction that
 * brings them.
 *
 * PTX has three kinds of hints ("Cache Operators", "Cache Eviction Priority Hints" and
 * "createpolicy" in the manual):
 *
 *   ld.cs, ld.lu, st.cs           the line is evicted first; .lu does on global memory what .cs
 * does .L2::evict_first, …_last      the same by name .L2::cache_hint with a policy what
 * createpolicy names, or cuda::access_property puts together
 *
 * A policy is a value of 64 bits. createpolicy returns those of whole arrays that CUTLASS and
 * libcu++ spell out: 0x12f0000000000000 evicts first, 0x14f0000000000000 last, 0x16f0000000000000
 * neither. The class of an access is a property of the instruction here, so the policy must be
 * known when the code is decoded: a createpolicy, a constant, or what OR and selp make of these
 * (libcu++ selects the bits of the fraction at run time). Any other one is normal. The
 * time model takes a policy for a fraction of the lines as one for all. */
#include "grader/sim/code/decode.h"

#include <string.h>

#define POLICY_CLASS(policy) ((policy) >> 56)
enum { POLICY_FIRST = 0x12, POLICY_LAST = 0x14, POLICY_NORMAL = 0x16 };
static const u64 whole_fraction = 0xf0ull << 48;

enum { MAX_COPIES = 6 }; /* how far a policy's register is followed through copies */

static bool is_opcode(const struct ptx_insn *in, const char *name) {
    size_t n = strlen(name);
    return strncmp(in->opcode, name, n) == 0 && (in->opcode[n] == '.' || !in->opcode[n]);
}

u64 decode_policy_value(const struct ptx_insn *in) {
    char part[32];
    u64 class = POLICY_NORMAL;
    for (unsigned i = 1; decode_opcode_part(in->opcode, i, part, sizeof part); i++) {
        bool first = !strcmp(part, "L2::evict_first"), last = !strcmp(part, "L2::evict_last");
        if (!first && !last && strncmp(part, "L2::", 4) != 0) continue;
        class = first ? POLICY_FIRST : last ? POLICY_LAST : POLICY_NORMAL;
        break; /* a second one is for what the first one leaves */
    }
    return class << 56 | whole_fraction;
}

static u64 known_bits(const struct decoder *d, const struct ptx_operand *p, unsigned depth);

/* Returns the bits that the instruction's result is known to have. */
static u64 known_result_bits(const struct decoder *d, const struct ptx_insn *in, unsigned depth) {
    if (is_opcode(in, "createpolicy")) return decode_policy_value(in);
    if (is_opcode(in, "selp") && in->noperands > 2)
        return known_bits(d, &in->operands[1], depth) & known_bits(d, &in->operands[2], depth);
    u64 bits = 0;
    unsigned sources = is_opcode(in, "mov") ? 1 : is_opcode(in, "or") ? 2 : 0;
    for (unsigned i = 1; i <= sources && i < in->noperands; i++)
        bits |= known_bits(d, &in->operands[i], depth);
    return bits;
}

/* Returns the bits that an operand is known to have; none if several instructions write it. */
static u64 known_bits(const struct decoder *d, const struct ptx_operand *p, unsigned depth) {
    const struct ptx_insn *writer = NULL;
    if (p->kind == PTX_OP_IMM) return p->value;
    if (p->kind != PTX_OP_REG || p->reg < 0 || !depth) return 0;
    for (unsigned i = 0; i < d->f->ninsns; i++) {
        const struct ptx_insn *in = &d->f->insns[i];
        if (!in->noperands || in->operands[0].kind != PTX_OP_REG || in->operands[0].reg != p->reg)
            continue;
        if (writer) return 0;
        writer = in;
    }
    return writer ? known_result_bits(d, writer, depth - 1) : 0;
}

void decode_set_eviction(const struct decoder *d, struct mem_desc *m) {
    const struct ptx_insn *in = d->insn;
    if (m->cache_op == 's' || m->cache_op == 'l') m->l2_eviction = L2_EVICT_FIRST;
    if (!decode_opcode_has(in->opcode, "L2::cache_hint") || !in->noperands) return;
    u64 class = POLICY_CLASS(known_bits(d, &in->operands[in->noperands - 1], MAX_COPIES));
    m->l2_eviction = class == POLICY_FIRST  ? L2_EVICT_FIRST
                     : class == POLICY_LAST ? L2_EVICT_LAST
                                            : L2_EVICT_NORMAL;
}
