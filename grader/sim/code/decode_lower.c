/* decode_lower.c — decodes instructions that are made of other opcodes. See decode.h.
 *
 * The first op carries the instruction's weight, the others none, so that each PTX instruction
 * counts once. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/video.h"

#include <stdio.h>
#include <string.h>

void decode_mark_lowered(const char *mnemonic) {
    int opc = insn_find_opcode(mnemonic);
    if (opc < 0) die("no opcode `%s`", mnemonic);
    insn_executed[opc] = 1;
}

/* ---- set.cmp{.op}{.ftz}.dtype.stype d, a, b{, c} ---- */

static const struct set_type {
    const char *name;
    u32 true_value;
    u8 bytes, is_packed;
} set_types[] = {
    {"u32", ~0u, 4, 0},     {"s32", ~0u, 4, 0},      {"f32", 0x3f800000, 4, 0},
    {"u16", 0xffff, 2, 0},  {"s16", 0xffff, 2, 0},   {"f16", 0x3c00, 2, 0},
    {"bf16", 0x3f80, 2, 0}, {"f16x2", 0x3c00, 4, 1}, {"bf16x2", 0x3f80, 4, 1},
};

/* Writes the opcode of the setp inside; returns what a true comparison yields. */
static const struct set_type *parse_set(const char *opcode, char *setp, size_t size) {
    const struct set_type *kind = NULL;
    char part[32];
    unsigned parts = 0;
    while (decode_opcode_part(opcode, parts, part, sizeof part)) parts++;
    size_t n = (size_t)snprintf(setp, size, "setp");
    for (unsigned i = 1; i < parts && n < size; i++) {
        decode_opcode_part(opcode, i, part, sizeof part);
        if (i + 2 != parts) n += (size_t)snprintf(setp + n, size - n, ".%s", part);
        for (unsigned k = 0; i + 2 == parts && k < sizeof set_types / sizeof *set_types; k++)
            if (strcmp(set_types[k].name, part) == 0) kind = &set_types[k];
    }
    return kind;
}

static ref emit_select(struct decoder *d, const struct set_type *k, ref predicate) {
    u32 bytes = k->is_packed ? 2 : k->bytes;
    ref true_value = decode_slot_const(d, k->true_value, bytes),
        no = decode_slot_const(d, 0, bytes), out = decode_slot_new(d, bytes);
    struct op *o = decode_emit_named(d, bytes == 2 ? "selp.b16" : "selp.b32");
    o->weight = 0;
    o->src[0] = true_value;
    o->src[1] = no;
    o->src[2] = predicate;
    o->dst = out;
    return out;
}

bool decode_set(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    char opcode[96];
    struct ptx_operand operands[4];
    const struct set_type *k = parse_set(in->opcode, opcode, sizeof opcode);
    size_t n = strlen(opcode);
    if (!k || in->noperands < 3 || in->noperands > 4 ||
        k->is_packed != (strcmp(opcode + n - 2, "x2") == 0))
        return decode_unsupported(d, "not implemented: instruction");
    memcpy(operands, in->operands, in->noperands * sizeof *operands);
    operands[0] = (struct ptx_operand){.kind = PTX_OP_SINK, .reg = -1, .second_reg = -1};
    struct ptx_insn compare = *in;
    compare.opcode = opcode;
    compare.operands = operands;
    d->insn = &compare;
    bool ok = decode_regular(d);
    d->insn = in;
    if (!ok) return false;
    u32 setp = d->m->nops - 1;
    if (k->is_packed) d->m->ops[setp].src[3] = decode_slot_new(d, 1);
    ref p = d->m->ops[setp].dst, q = d->m->ops[setp].src[3], low = emit_select(d, k, p);
    if (k->is_packed) {
        ref high = emit_select(d, k, q);
        struct op *o = decode_emit_named(d, "pack.b32.b16");
        o->weight = 0;
        o->src[0] = low;
        o->src[1] = high;
    }
    decode_mark_lowered("set");
    return decode_put_result(d, d->m->nops - 1, &in->operands[0],
                             k->bytes == 2 ? PTX_B16 : PTX_B32);
}

/* ---- createpolicy ---- */

bool decode_createpolicy(struct decoder *d) {
    unsigned bytes;
    ref dst;
    if (d->insn->noperands < 1 || !decode_destination(d, &d->insn->operands[0], &dst, &bytes))
        return false;
    if (bytes != 4 && bytes != 8) return decode_unsupported(d, "registers of the wrong size in");
    if (dst == REF_NONE) dst = decode_slot_new(d, bytes);
    ref policy = decode_slot_const(d, decode_policy_value(d->insn), bytes);
    struct op *o = decode_emit_named(d, bytes == 8 ? "mov.b64" : "mov.b32");
    o->src[0] = policy;
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

static bool parse_word_type(const char *part, bool *is_signed) {
    *is_signed = part[0] == 's';
    return strcmp(part, "u32") == 0 || strcmp(part, "s32") == 0;
}

bool decode_video(struct decoder *d) {
    static const char *const verbs[] = {VIDEO_VERBS}, *const comparisons[] = {VIDEO_COMPARISONS};
    const struct ptx_insn *in = d->insn;
    char part[32];
    decode_opcode_part(in->opcode, 0, part, sizeof part);
    size_t n = strlen(part);
    struct video_op v = {.parts = (u8)(part[n - 1] - '0')};
    part[n - 1] = 0;
    v.verb = index_of(part + 1, verbs, sizeof verbs / sizeof *verbs);
    bool types[3] = {0}, ok = v.verb != VIDEO_NONE;
    unsigned ntypes = v.verb == VIDEO_SET ? 2 : 3, at = 1;
    for (unsigned i = 3 - ntypes; i < 3; i++, at++)
        ok = ok && decode_opcode_part(in->opcode, at, part, sizeof part) &&
             parse_word_type(part, &types[i]);
    for (; ok && decode_opcode_part(in->opcode, at, part, sizeof part); at++) {
        u8 c = index_of(part, comparisons, sizeof comparisons / sizeof *comparisons);
        if (v.verb == VIDEO_SET && c != VIDEO_NONE) v.comparison = c;
        else if (strcmp(part, "sat") == 0) v.saturate = 1;
        else if (strcmp(part, "add") == 0) v.sum = 1;
        else ok = false;
    }
    ref src[3];
    if (!ok || in->noperands < 4) return decode_unsupported(d, "not implemented: instruction");
    for (unsigned i = 0; i < 3; i++)
        if (!decode_source(d, &in->operands[i + 1], PTX_U32, &src[i])) return false;
    v.signed_d = types[0], v.signed_a = types[1], v.signed_b = types[2];
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, "video");
    memcpy(o->src, src, sizeof src);
    memcpy(&o->imm, &v, sizeof v);
    return decode_put_result(d, at_op, &in->operands[0], PTX_U32);
}

/* ---- alloca: a stack behind each thread's local memory; a slot of the warp holds its size ---- */

static const ref stack_bytes = REF(BASE_WARP, W_STACK_BYTES *SLOT_BYTES);

static struct op *emit_mov(struct decoder *d, const char *mnemonic, ref from, ref to) {
    struct op *o = decode_emit_named(d, mnemonic);
    o->weight = 0;
    o->src[0] = from;
    o->dst = to;
    return o;
}

void decode_emit_stack_prologue(struct decoder *d) {
    d->saved_stack = REF_NONE;
    for (unsigned i = 0; i < d->f->ninsns; i++)
        if (strncmp(d->f->insns[i].opcode, "alloca", 6) == 0) d->c->uses_alloca = true;
    if (!d->c->uses_alloca) return;
    const struct ptx_insn *in = d->insn;
    d->insn = NULL;
    d->saved_stack = decode_slot_new(d, 4);
    emit_mov(d, "mov.b32", stack_bytes, d->saved_stack);
    d->insn = in;
}

void decode_emit_stack_epilogue(struct decoder *d) {
    if (d->saved_stack != REF_NONE) emit_mov(d, "mov.b32", d->saved_stack, stack_bytes);
}

bool decode_alloca(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    enum ptx_type t = decode_opcode_type(in->opcode);
    ref value = REF_NONE;
    bool is_alloca = in->opcode[0] == 'a', is_stacksave = strncmp(in->opcode, "stacksave", 9) == 0;
    if ((t != PTX_U32 && t != PTX_U64) || in->noperands < 1u + is_alloca)
        return decode_unsupported(d, "not implemented: instruction");
    if (!is_stacksave && !decode_source(d, &in->operands[is_alloca], PTX_U32, &value)) return false;
    if (!is_stacksave && !is_alloca) {
        emit_mov(d, "mov.b32", value, stack_bytes)->weight = 1;
        decode_mark_lowered("stackrestore");
        return true;
    }
    u32 at_op = d->m->nops;
    struct op *o = decode_emit_named(d, is_alloca ? "alloca" : "cvt.u64.u32");
    o->src[0] = is_alloca ? value : stack_bytes;
    if (is_alloca) o->imm = in->noperands > 2 ? (s64)in->operands[2].value : 8;
    if (is_alloca && (o->imm <= 0 || o->imm > ALLOCA_BYTES || (o->imm & (o->imm - 1))))
        return decode_unsupported(d, "the alignment must be a power of two in");
    if (is_stacksave) decode_mark_lowered("stacksave");
    return decode_put_result(d, at_op, &in->operands[0], PTX_U64);
}
