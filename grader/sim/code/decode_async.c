/* decode_async.c — decodes cp.async, mbarrier and bulk copies. See decode.h.
 *
 * A copy happens when it is issued, which is one of the orders that the program must allow for: an
 * mbarrier sees a copy's bytes arrive at once, and waiting for a group changes only what may be
 * accessed (race/async.c). cp.async becomes a load into registers of its own and a store from them,
 * so that both are checked and counted like any other. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/async.h"

#include <stdio.h>
#include <string.h>

/* commit_group, wait_group N, wait_all. */
static bool decode_copy_group(struct decoder *d, const char *part, bool bulk) {
    const struct ptx_insn *in = d->insn;
    bool commit = part[0] == 'c', all = strcmp(part, "wait_all") == 0;
    if (!commit && !all && (in->noperands < 1 || in->operands[0].kind != PTX_OP_IMM))
        return decode_unsupported(d, "missing number of groups in");
    struct op *o = decode_emit_named(d, "cp.async.group");
    o->imm = commit ? (bulk ? GROUP_BULK_COMMIT : GROUP_COMMIT)
             : all  ? GROUP_WAIT_ALL
             : bulk ? GROUP_BULK_WAIT
                    : GROUP_WAIT;
    o->target = commit || all ? 0 : (u32)in->operands[0].value;
    return true;
}

/* Returns how many operands there are, without the cache policy at the end, where the opcode has
 * one. */
static unsigned count_operands(const struct ptx_insn *in) {
    return in->noperands - (decode_opcode_has(in->opcode, "L2::cache_hint") && in->noperands > 2);
}

bool decode_address64(struct decoder *d, const struct ptx_operand *p, ref *out) {
    struct address a;
    if (!decode_address(d, p, &a)) return false;
    if (a.base == REF_NONE) return *out = decode_slot_const(d, (u64)a.offset, 8), true;
    if (a.address32) {
        ref wide = decode_slot_new(d, 8);
        struct op *o = decode_emit_named(d, "cvt.u64.u32");
        o->weight = 0;
        o->src[0] = a.base;
        o->dst = a.base = wide;
    }
    if (!a.offset) return *out = a.base, true;
    ref offset = decode_slot_const(d, (u64)a.offset, 8), sum = decode_slot_new(d, 8);
    struct op *o = decode_emit_named(d, "add.u64");
    o->weight = 0;
    o->src[0] = a.base;
    o->src[1] = offset;
    o->dst = *out = sum;
    return true;
}

/* ---- cp.async.{ca,cg}.shared.global [d], [a], size{, bytes read | skip}{, policy} ---- */

/* Decodes what follows the size: how many bytes are read, or a predicate that means none. */
static bool decode_fill_operands(struct decoder *d, unsigned n, ref *bytes, ref *skip, u32 *flip) {
    const struct ptx_operand *p = &d->insn->operands[3];
    *bytes = *skip = REF_NONE;
    *flip = 0;
    if (n < 4) return true;
    bool is_predicate = p->kind == PTX_OP_REG && d->f->regs[p->reg].type == PTX_PRED;
    return is_predicate ? decode_predicate(d, p, skip, flip) : decode_source(d, p, PTX_U32, bytes);
}

/* Emits, before the load, the op that zeroes the registers and says which lanes copy all of their
 * bytes. The load runs for those. */
static bool emit_zero_fill(struct decoder *d, struct mem_desc *m, const ref operand[2], u32 flip) {
    ref full = decode_slot_new(d, 1);
    struct op *o = decode_emit_named(d, "cp.async");
    u32 fill = d->m->nops - 1;
    o->src[1] = operand[0];
    o->src[2] = operand[1];
    o->imm = flip;
    o->dst = full;
    if (!decode_emit_access(d, m, &d->insn->operands[1])) return false;
    struct op *load = &d->m->ops[d->m->nops - 1];
    load->guard = full;
    load->guard_xor = 0;
    d->m->ops[fill].aux = load->aux;
    /* distance in ops to the load, whose address it shares */
    d->m->ops[fill].target = d->m->nops - 1 - fill;
    return true;
}

static bool decode_cp_async(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    unsigned n = count_operands(in);
    ref operand[2]; /* bytes, skip */
    u32 flip, first = d->m->nops;
    if (n < 3 || in->operands[2].kind != PTX_OP_IMM)
        return decode_unsupported(d, "missing size in");
    u64 size = in->operands[2].value;
    if (size != 4 && size != 8 && size != 16)
        return decode_unsupported(d, "not implemented: %llu bytes in", (unsigned long long)size);
    if (!decode_fill_operands(d, n, &operand[0], &operand[1], &flip)) return false;
    struct mem_desc m = {.verb = MEM_LOAD,
                         .space = SPACE_GLOBAL,
                         .width = 4,
                         .count = (u8)(size / 4),
                         .reg_bytes = 4,
                         .type = PTX_B32,
                         .cache_op = decode_opcode_has(in->opcode, "cg") ? 'g' : 0};
    decode_set_eviction(d, &m);
    for (unsigned i = 0; i < m.count; i++) m.reg[i] = decode_slot_new(d, 4);
    bool is_full_copy = operand[0] == REF_NONE && operand[1] == REF_NONE;
    if (!(is_full_copy ? decode_emit_access(d, &m, &in->operands[1])
                       : emit_zero_fill(d, &m, operand, flip)))
        return false;
    m.verb = MEM_STORE;
    m.space = SPACE_SHARED;
    m.cache_op = 0;
    m.l2_eviction = L2_EVICT_NORMAL;
    m.is_cp_async = true;
    u32 load = d->m->nops - 1;
    if (!decode_emit_access(d, &m, &in->operands[0])) return false;
    d->m->ops[d->m->nops - 1].target = d->m->nops - 1 - load;
    for (u32 i = first + 1; i < d->m->nops; i++) d->m->ops[i].weight = 0;
    return true;
}

/* ---- mbarrier and bulk copies ---- */

/* Adds the statistics of an mbarrier op: a wait counts as a load of shared memory, any other verb
 * as an atomic, whose lanes are merged if they use one word (H100, alternating arrivals and waits:
 * 65 cycles each with one warp, 90 with eight, 3.5 more per further warp). A wait has a third slot,
 * for waits that found the phase complete. */
static u32 add_mbarrier_desc(struct decoder *d, enum mbarrier_verb verb) {
    bool wait = verb == MBAR_WAIT || verb == MBAR_WAIT_PARITY;
    u32 aux = decode_add_desc(d, &(struct mem_desc){.verb = wait ? MEM_LOAD : MEM_ATOM,
                                                    .space = SPACE_CLUSTER,
                                                    .width = 8,
                                                    .count = 1,
                                                    .reg_bytes = 8,
                                                    .type = PTX_B64,
                                                    .strong = true,
                                                    .atom = ATOM_ADD,
                                                    .is_increment = true,
                                                    .reg = {REF_NONE},
                                                    .operand = {REF_NONE, REF_NONE},
                                                    .result = REF_NONE});
    d->m->nstats += wait;
    return aux;
}

static bool emit_mbarrier(struct decoder *d, enum mbarrier_verb verb, const struct ptx_operand *at,
                          ref count, ref token, ref dst) {
    u32 first = d->m->nops, aux = add_mbarrier_desc(d, verb);
    ref address;
    if (!decode_address64(d, at, &address)) return false;
    d->c->may_spin = true;
    struct op *o = decode_emit_named(d, "mbarrier");
    o->aux = aux;
    o->src[0] = address;
    o->src[1] = count;
    o->src[2] = token;
    o->dst = dst;
    o->imm = verb;
    for (u32 i = first; i + 1 < d->m->nops; i++) d->m->ops[i].weight = 0;
    return true;
}

/* Lets other warps run if a lane found the phase incomplete. */
static void emit_wait_yield(struct decoder *d, ref done) {
    struct op *o = decode_emit_named(d, "nanosleep");
    o->weight = 0;
    o->guard = done;
    o->guard_xor = ~0u;
}

static bool decode_mbarrier_wait(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    bool parity = decode_opcode_has(in->opcode, "parity");
    ref done, token;
    unsigned bytes;
    if (in->noperands < 3 || !decode_destination(d, &in->operands[0], &done, &bytes))
        return decode_unsupported(d, "missing operand in");
    if (bytes != 1) return decode_unsupported(d, "the destination must be a predicate in");
    if (!decode_source(d, &in->operands[2], parity ? PTX_U32 : PTX_U64, &token)) return false;
    if (!emit_mbarrier(d, parity ? MBAR_WAIT_PARITY : MBAR_WAIT, &in->operands[1], REF_NONE, token,
                       done))
        return false;
    if (d->insn->guard < 0) emit_wait_yield(d, done);
    return true;
}

/* mbarrier.arrive{_drop}{.expect_tx}{.noComplete} {state,} [a]{, count} */
static bool decode_mbarrier_arrive(struct decoder *d, bool drop) {
    const struct ptx_insn *in = d->insn;
    unsigned at = in->noperands && in->operands[0].kind != PTX_OP_ADDRESS, bytes;
    bool expect = decode_opcode_has(in->opcode, "expect_tx");
    ref dst = REF_NONE, count = decode_slot_const(d, 1, 4);
    if (in->noperands <= at) return decode_unsupported(d, "missing operand in");
    if (at && !decode_destination(d, &in->operands[0], &dst, &bytes)) return false;
    if (at && dst != REF_NONE && bytes != 8)
        return decode_unsupported(d, "registers of the wrong size in");
    if (in->noperands > at + 1 && !decode_source(d, &in->operands[at + 1], PTX_U32, &count))
        return false;
    enum mbarrier_verb verb = expect ? (drop ? MBAR_ARRIVE_DROP_EXPECT_TX : MBAR_ARRIVE_EXPECT_TX)
                              : drop ? MBAR_ARRIVE_DROP
                                     : MBAR_ARRIVE;
    return emit_mbarrier(d, verb, &in->operands[at], count, REF_NONE, dst);
}

/* st.async.….mbarrier::complete_tx::bytes{.v2|.v4}.T [a], b, [m] and red.async.….OP.T [a], b, [m]:
 * an access to another block's shared memory, whose bytes complete at an mbarrier there. Decoded as
 * the plain access and a complete_tx, which adds nothing to counters or time. */
bool decode_async_store(struct decoder *d) {
    static const char completion[] = ".mbarrier::complete_tx::bytes";
    const struct ptx_insn *in = d->insn;
    const char *suffix = strstr(in->opcode, completion);
    char opcode[96];
    if (!suffix || in->noperands != 3) return decode_unsupported(d, "not implemented: form of");
    suffix += sizeof completion - 1;
    snprintf(opcode, sizeof opcode, "%s%.40s",
             in->opcode[0] == 's' ? "st.shared::cluster" : "red.relaxed.cluster.shared::cluster",
             suffix);
    struct ptx_insn access = *in;
    access.opcode = arena_strndup(&d->m->arena, opcode, strlen(opcode));
    access.noperands = 2;
    u32 elements = decode_opcode_has(opcode, "v2")   ? 2
                   : decode_opcode_has(opcode, "v4") ? 4
                                                     : 1,
        bytes = elements * ptx_type_bytes(decode_opcode_type(opcode));
    d->insn = &access;
    bool ok = decode_insn(d);
    d->insn = in;
    if (!ok || !emit_mbarrier(d, MBAR_COMPLETE_TX, &in->operands[2], decode_slot_const(d, bytes, 4),
                              REF_NONE, REF_NONE))
        return false;
    struct op *o = &d->m->ops[d->m->nops - 1];
    o->weight = 0;
    o->target = MBAR_OF_STORE;
    return true;
}

bool decode_mbarrier(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char op_name[32];
    unsigned bytes;
    ref a = REF_NONE, dst;
    if (!decode_opcode_part(in->opcode, 1, op_name, sizeof op_name))
        return decode_unsupported(d, "not implemented: instruction");
    if (strcmp(op_name, "arrive") == 0 || strcmp(op_name, "arrive_drop") == 0)
        return decode_mbarrier_arrive(d, op_name[6] != 0);
    if (strcmp(op_name, "test_wait") == 0 || strcmp(op_name, "try_wait") == 0)
        return decode_mbarrier_wait(d);
    if (strcmp(op_name, "pending_count") == 0) {
        if (in->noperands < 2 || !decode_source(d, &in->operands[1], PTX_U64, &a) ||
            !decode_destination(d, &in->operands[0], &dst, &bytes))
            return false;
        if (bytes != 4) return decode_unsupported(d, "registers of the wrong size in");
        struct op *o = decode_emit_named(d, "mbarrier.pending_count.b64");
        o->src[0] = a;
        o->dst = dst;
        return true;
    }
    static const struct {
        const char *name;
        u8 verb, count;
    } simple_ops[] = {{"init", MBAR_INIT, 1},
                      {"inval", MBAR_INVAL, 0},
                      {"expect_tx", MBAR_EXPECT_TX, 1},
                      {"complete_tx", MBAR_COMPLETE_TX, 1}};
    for (unsigned i = 0; i < sizeof simple_ops / sizeof *simple_ops; i++) {
        if (strcmp(simple_ops[i].name, op_name) != 0) continue;
        if (in->noperands < 1u + simple_ops[i].count ||
            (simple_ops[i].count && !decode_source(d, &in->operands[1], PTX_U32, &a)))
            return decode_unsupported(d, "missing operand in");
        return emit_mbarrier(d, simple_ops[i].verb, &in->operands[0], a, REF_NONE, REF_NONE);
    }
    return decode_unsupported(d, "not implemented: instruction");
}

/* cp.async.bulk.D.S.… [d], [a], size{, [mbarrier]} */
static bool decode_bulk_copy(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char to[32], from[32];
    if (!decode_opcode_part(in->opcode, 3, to, sizeof to))
        return decode_unsupported(d, "not implemented: instruction");
    if (strcmp(to, "commit_group") == 0 || strcmp(to, "wait_group") == 0)
        return decode_copy_group(d, to, true);
    if (strcmp(to, "tensor") == 0) return decode_tensor(d);
    bool prefetch = strcmp(to, "prefetch") == 0;
    if (prefetch && decode_opcode_has(in->opcode, "tensor")) return decode_tensor(d);
    if (prefetch) return decode_emit_named(d, "nop"), true;
    bool barrier = decode_opcode_has(in->opcode, "mbarrier::complete_tx::bytes");
    if (!decode_opcode_part(in->opcode, 4, from, sizeof from) ||
        decode_opcode_has(in->opcode, "multicast::cluster") ||
        decode_opcode_has(in->opcode, "cp_mask") || in->noperands < 3u + barrier)
        return decode_unsupported(d, "not implemented: instruction");
    ref dst, src, size, mbarrier = REF_NONE;
    u32 first = d->m->nops;
    if (!decode_address64(d, &in->operands[0], &dst) ||
        !decode_address64(d, &in->operands[1], &src))
        return false;
    if (!decode_source(d, &in->operands[2], PTX_U32, &size)) return false;
    if (barrier && !decode_address64(d, &in->operands[3], &mbarrier)) return false;
    struct op *o = decode_emit_named(d, "cp.async.bulk");
    o->src[0] = dst;
    o->src[1] = src;
    o->src[2] = size;
    o->src[3] = mbarrier;
    o->aux = decode_add_bulk_desc(d);
    o->imm = strncmp(to, "shared", 6) == 0
                 ? (strncmp(from, "shared", 6) == 0 ? BULK_SHARED_TO_SHARED : BULK_GLOBAL_TO_SHARED)
                 : BULK_SHARED_TO_GLOBAL;
    d->c->has_async_proxy_reads |= o->imm != BULK_GLOBAL_TO_SHARED;
    for (u32 i = first; i + 1 < d->m->nops; i++) d->m->ops[i].weight = 0;
    return true;
}

bool decode_cp(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char part[32];
    if (strncmp(in->opcode, "cp.reduce.async.bulk.tensor.", 28) == 0) return decode_tensor(d);
    if (strncmp(in->opcode, "cp.async.", 9) != 0 ||
        !decode_opcode_part(in->opcode, 2, part, sizeof part))
        return decode_unsupported(d, "not implemented: instruction");
    if (strcmp(part, "bulk") == 0) return decode_bulk_copy(d);
    if (strcmp(part, "commit_group") == 0 || strcmp(part, "wait_group") == 0 ||
        strcmp(part, "wait_all") == 0)
        return decode_copy_group(d, part, false);
    if (strcmp(part, "mbarrier") == 0) {
        /* Without .noinc the phase waits for one more arrival than it expected. */
        if (in->noperands < 1) return decode_unsupported(d, "missing operand in");
        bool is_noinc = decode_opcode_has(in->opcode, "noinc");
        return emit_mbarrier(d, is_noinc ? MBAR_CP_ASYNC_ARRIVE_NOINC : MBAR_CP_ASYNC_ARRIVE,
                             &in->operands[0], decode_slot_const(d, 1, 4), REF_NONE, REF_NONE);
    }
    if (strcmp(part, "ca") == 0 || strcmp(part, "cg") == 0) return decode_cp_async(d);
    return decode_unsupported(d, "not implemented: instruction");
}
