/* decode_lower.c — instructions that the decoder makes of other rows. See decode.h.
 *
 * The first op carries the instruction's weight, the others none, so that counts stay one a PTX
 * instruction. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/video.h"

#include <stdio.h>
#include <string.h>

void decode_mark_lowered(const char *row_name) {
    int row = insn_find(row_name);
    if (row < 0) die("no row `%s`", row_name);
    insn_executed_rows[row] = 1;
}

/* ---- set.cmp{.op}{.ftz}.dtype.stype d, a, b{, c} ---- */

static const struct set_kind {
    const char *name;
    u32 yes;
    u8 bytes, pair;
} set_kinds[] = {
    {"u32", ~0u, 4, 0},     {"s32", ~0u, 4, 0},      {"f32", 0x3f800000, 4, 0},
    {"u16", 0xffff, 2, 0},  {"s16", 0xffff, 2, 0},   {"f16", 0x3c00, 2, 0},
    {"bf16", 0x3f80, 2, 0}, {"f16x2", 0x3c00, 4, 1}, {"bf16x2", 0x3f80, 4, 1},
};

/* The opcode of the setp inside, and what a true comparison gives. */
static const struct set_kind *split_set(const char *opcode, char *setp, size_t size) {
    const struct set_kind *kind = NULL;
    char part[32];
    unsigned parts = 0;
    while (decode_opcode_part(opcode, parts, part, sizeof part)) parts++;
    size_t n = (size_t)snprintf(setp, size, "setp");
    for (unsigned i = 1; i < parts && n < size; i++) {
        decode_opcode_part(opcode, i, part, sizeof part);
        if (i + 2 != parts) n += (size_t)snprintf(setp + n, size - n, ".%s", part);
        for (unsigned k = 0; i + 2 == parts && k < sizeof set_kinds / sizeof *set_kinds; k++)
            if (strcmp(set_kinds[k].name, part) == 0) kind = &set_kinds[k];
    }
    return kind;
}

static ref choose(struct decoder *d, const struct set_kind *k, ref predicate) {
    u32 bytes = k->pair ? 2 : k->bytes;
    ref yes = decode_slot_const(d, k->yes, bytes), no = decode_slot_const(d, 0, bytes),
        out = decode_slot_new(d, bytes);
    struct op *o = decode_emit_named(d, bytes == 2 ? "selp.b16" : "selp.b32");
    o->weight = 0;
    o->src[0] = yes;
    o->src[1] = no;
    o->src[2] = predicate;
    o->dst = out;
    return out;
}

bool decode_set(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    char opcode[96];
    struct ptx_operand operands[4];
    const struct set_kind *k = split_set(in->opcode, opcode, sizeof opcode);
    size_t n = strlen(opcode);
    if (!k || in->noperands < 3 || in->noperands > 4 ||
        k->pair != (strcmp(opcode + n - 2, "x2") == 0))
        return decode_refuse(d, "not implemented: instruction");
    memcpy(operands, in->operands, in->noperands * sizeof *operands);
    operands[0] = (struct ptx_operand){.kind = PTX_OP_SINK, .reg = -1, .second = -1};
    struct ptx_insn compare = *in;
    compare.opcode = opcode;
    compare.operands = operands;
    d->in = &compare;
    bool ok = decode_plain(d);
    d->in = in;
    if (!ok) return false;
    u32 setp = d->m->nops - 1;
    if (k->pair) d->m->ops[setp].src[3] = decode_slot_new(d, 1);
    ref p = d->m->ops[setp].dst, q = d->m->ops[setp].src[3], low = choose(d, k, p);
    if (k->pair) {
        ref high = choose(d, k, q);
        struct op *o = decode_emit_named(d, "pack.b32.b16");
        o->weight = 0;
        o->src[0] = low;
        o->src[1] = high;
    }
    decode_mark_lowered("set");
    return decode_put_result(d, d->m->nops - 1, &in->operands[0],
                             k->bytes == 2 ? PTX_B16 : PTX_B32);
}

/* ---- destinations that are known: no cache policy ---- */

bool decode_into_zero(struct decoder *d) {
    unsigned bytes;
    ref dst;
    if (d->in->noperands < 1 || !decode_destination(d, &d->in->operands[0], &dst, &bytes))
        return false;
    if (bytes != 4 && bytes != 8) return decode_refuse(d, "registers of the wrong size in");
    if (dst == REF_NONE) dst = decode_slot_new(d, bytes);
    ref zero = decode_slot_const(d, 0, bytes);
    struct op *o = decode_emit_named(d, bytes == 8 ? "mov.b64" : "mov.b32");
    o->src[0] = zero;
    o->dst = dst;
    return true;
}

/* ---- video instructions: vop{2,4}.dtype.atype.btype{.sat}{.add} d, a, b, c ---- */

enum { VIDEO_NONE = 255 };

static u8 index_of(const char *s, const char *const *names, u8 n) {
    for (u8 i = 0; i < n; i++)
        if (strcmp(names[i], s) == 0) return i;
    return VIDEO_NONE;
}

static bool is_word(const char *part, bool *is_signed) {
    *is_signed = part[0] == 's';
    return strcmp(part, "u32") == 0 || strcmp(part, "s32") == 0;
}

bool decode_video(struct decoder *d) {
    static const char *const verbs[] = {VIDEO_VERBS}, *const comparisons[] = {VIDEO_COMPARISONS};
    const struct ptx_insn *in = d->in;
    char part[32];
    decode_opcode_part(in->opcode, 0, part, sizeof part);
    size_t n = strlen(part);
    struct video v = {.parts = (u8)(part[n - 1] - '0')};
    part[n - 1] = 0;
    v.verb = index_of(part + 1, verbs, sizeof verbs / sizeof *verbs);
    bool types[3] = {0}, ok = v.verb != VIDEO_NONE;
    unsigned ntypes = v.verb == VIDEO_SET ? 2 : 3, at = 1;
    for (unsigned i = 3 - ntypes; i < 3; i++, at++)
        ok =
            ok && decode_opcode_part(in->opcode, at, part, sizeof part) && is_word(part, &types[i]);
    for (; ok && decode_opcode_part(in->opcode, at, part, sizeof part); at++) {
        u8 c = index_of(part, comparisons, sizeof comparisons / sizeof *comparisons);
        if (v.verb == VIDEO_SET && c != VIDEO_NONE) v.comparison = c;
        else if (strcmp(part, "sat") == 0) v.saturate = 1;
        else if (strcmp(part, "add") == 0) v.sum = 1;
        else ok = false;
    }
    ref src[3];
    if (!ok || in->noperands < 4) return decode_refuse(d, "not implemented: instruction");
    for (unsigned i = 0; i < 3; i++)
        if (!decode_source(d, &in->operands[i + 1], PTX_U32, &src[i])) return false;
    v.signed_d = types[0], v.signed_a = types[1], v.signed_b = types[2];
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, "video");
    memcpy(o->src, src, sizeof src);
    memcpy(&o->imm, &v, sizeof v);
    return decode_put_result(d, at_op, &in->operands[0], PTX_U32);
}

/* ---- alloca: each thread has a stack behind its local memory; a slot of the warp says how much of
 * it is in use ---- */

static const ref in_use = REF(BASE_WARP, W_STACK *SLOT_BYTES);

static struct op *move_word(struct decoder *d, const char *row, ref from, ref to) {
    struct op *o = decode_emit_named(d, row);
    o->weight = 0;
    o->src[0] = from;
    o->dst = to;
    return o;
}

void decode_begin_stack(struct decoder *d) {
    d->stack = REF_NONE;
    for (unsigned i = 0; i < d->f->ninsns; i++)
        if (strncmp(d->f->insns[i].opcode, "alloca", 6) == 0) d->c->allocates = true;
    if (!d->c->allocates) return;
    const struct ptx_insn *in = d->in;
    d->in = NULL;
    d->stack = decode_slot_new(d, 4);
    move_word(d, "mov.b32", in_use, d->stack);
    d->in = in;
}

void decode_end_stack(struct decoder *d) {
    if (d->stack != REF_NONE) move_word(d, "mov.b32", d->stack, in_use);
}

bool decode_stack(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    enum ptx_type t = decode_opcode_type(in->opcode);
    ref value = REF_NONE;
    bool take = in->opcode[0] == 'a', save = strncmp(in->opcode, "stacksave", 9) == 0;
    if ((t != PTX_U32 && t != PTX_U64) || in->noperands < 1u + take)
        return decode_refuse(d, "not implemented: instruction");
    if (!save && !decode_source(d, &in->operands[take], PTX_U32, &value)) return false;
    if (!save && !take) {
        move_word(d, "mov.b32", value, in_use)->weight = 1;
        decode_mark_lowered("stackrestore");
        return true;
    }
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, take ? "alloca" : "cvt.u64.u32");
    o->src[0] = take ? value : in_use;
    if (take) o->imm = in->noperands > 2 ? (s64)in->operands[2].value : 8;
    if (take && (o->imm <= 0 || o->imm > ALLOCA_BYTES || (o->imm & (o->imm - 1))))
        return decode_refuse(d, "alignment must be a power of two in");
    if (save) decode_mark_lowered("stacksave");
    return decode_put_result(d, at_op, &in->operands[0], PTX_U64);
}
