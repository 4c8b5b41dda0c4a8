/* undef_ops.c — computes which bits of a result are undefined, for instructions that are a function
 * of their operands. See undef.h.
 *
 * Each kind of instruction has a rule, found by the opcode's name. With RULE_ANY, the default, all
 * bits of a lane's result are undefined if any bit of any operand is. */
#include "grader/sim/code/decode.h"
#include "grader/sim/core/undef.h"

#include <string.h>

enum undef_rule {
    RULE_ANY,
    RULE_MOVE,    /* moves bits: run on the shadow */
    RULE_BITWISE, /* bit by bit, whatever the values: not, xor */
    RULE_AND,     /* a defined 0 decides */
    RULE_OR,      /* a defined 1 decides */
    RULE_SELECT,  /* selp */
    RULE_SLCT,    /* slct */
    RULE_COMPARE,
    RULE_CARRY,
    RULE_F16X2, /* two halves side by side */
    RULE_PACK,  /* one of each operand, the first one high */
};

static const struct {
    const char *prefix;
    u8 rule, data; /* data: of RULE_MOVE, the operands whose bits move; the others say how */
} rules[] = {
    {"and.", RULE_AND, 0},     {"or.", RULE_OR, 0},       {"xor.", RULE_BITWISE, 0},
    {"not.", RULE_BITWISE, 0}, {"lop3", RULE_BITWISE, 0}, {"mov.pred", RULE_BITWISE, 0},
    {"mov.", RULE_MOVE, 1},    {"pack.", RULE_MOVE, 3},   {"unpack.", RULE_MOVE, 1},
    {"prmt.", RULE_MOVE, 3},   {"shf.", RULE_MOVE, 3},    {"shl.", RULE_MOVE, 1},
    {"shr.", RULE_MOVE, 1},    {"bfe.", RULE_MOVE, 1},    {"bfi.", RULE_MOVE, 3},
    {"brev.", RULE_MOVE, 1},   {"selp.", RULE_SELECT, 0}, {"slct.", RULE_SLCT, 0},
};

static bool is_integer(u8 type) {
    return type == PTX_U8 || type == PTX_S8 || type == PTX_U16 || type == PTX_S16 ||
           type == PTX_U32 || type == PTX_S32 || type == PTX_U64 || type == PTX_S64;
}

static bool has_prefix(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Returns true for cvt.u64.u32 and the like: two types and nothing else. Formats held as integers
 * have other names. */
static bool is_resize(const struct opcode_desc *r) {
    const char *n = r->name;
    size_t first = has_prefix(n, "cvt.") ? strcspn(n + 4, ".") : 0;
    return first && strchr("us", n[4]) && strchr("us", n[5 + first]) &&
           !strchr(n + 5 + first, '.') && is_integer(r->dst) && is_integer(r->src[0]);
}

static enum undef_rule rule_of(const struct opcode_desc *r, u8 *data) {
    *data = 1;
    if (r->form == FORM_SETP) return RULE_COMPARE;
    if (r->form == FORM_CARRY) return RULE_CARRY;
    if (r->form == FORM_CUSTOM) return RULE_ANY;
    if (is_resize(r)) return RULE_MOVE;
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (has_prefix(r->name, rules[i].prefix))
            return *data = rules[i].data, (enum undef_rule)rules[i].rule;
    size_t n = strlen(r->name);
    if (has_prefix(r->name, "cvt.") && n > 6 && !strcmp(r->name + n - 6, "x2.f32") &&
        r->dst == PTX_U32)
        return RULE_PACK;
    bool pair = strstr(r->name, "f16x2") && r->dst == PTX_U32 && r->src[0] == PTX_U32;
    return pair ? RULE_F16X2 : RULE_ANY;
}

/* ---- operands ---- */

struct operand {
    u64 undefined[32], value[32];
    u32 lanes; /* with undefined bits */
    u32 bytes;
};

/* Returns the bytes of operand `i` (-1: of the result) of opcodes that have no types. */
static u32 untyped_operand_bytes(const struct op *o, int i) {
    static const struct {
        const char *name;
        u8 dst, src[3];
    } widths[] = {{"cvta", 8, {8, 0, 0}},       {"isspacep", 1, {8, 0, 0}},
                  {"activemask", 4, {0, 0, 0}}, {"localaddr", 8, {0, 0, 0}},
                  {"video", 4, {4, 4, 4}},      {"matrix.address", 8, {8, 4, 0}},
                  {"alloca", 8, {4, 0, 0}}};
    const char *name = insn_opcodes[o->opcode].name;
    if (!strcmp(name, "clock")) return i < 0 ? (u32)o->imm : 0;
    for (unsigned k = 0; k < sizeof widths / sizeof *widths; k++)
        if (!strcmp(widths[k].name, name))
            return i < 0 ? widths[k].dst : i < 3 ? widths[k].src[i] : 0;
    return 0;
}

static u32 bytes_of(const struct op *o, int i) {
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    u8 type = i < 0 ? r->dst : r->src[i];
    if (r->form == FORM_CUSTOM) return untyped_operand_bytes(o, i);
    if (r->form == FORM_CARRY && i == 3) return 1;
    if (r->form == FORM_SETP && i >= 2) return 1;
    return type == PTX_NO_TYPE ? 0 : decode_reg_bytes((enum ptx_type)type);
}

/* Returns the mask to xor onto a predicate operand. */
static u32 flip_of(const struct op *o, int i) {
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    if (r->form == FORM_SETP) return (u32)o->imm;
    return r->dst == PTX_PRED && i == 1 ? (u32)((u64)o->imm >> 32) : (u32)o->imm;
}

static void fetch(const struct exec *x, const struct op *o, int i, struct operand *out) {
    out->bytes = o->src[i] == REF_NONE ? 0 : bytes_of(o, i);
    out->lanes = out->bytes ? undef_operand_bits(x, o->src[i], out->bytes, out->undefined) : 0;
    if (!out->lanes) memset(out->undefined, 0, sizeof out->undefined);
    memset(out->value, 0, sizeof out->value);
    const unsigned char *p = out->bytes ? operand_at(x, o->src[i]) : NULL;
    for (u32 l = 0; p && l < 32; l++)
        if (out->bytes == 1) out->value[l] = (*(const u32 *)p ^ flip_of(o, i)) >> l & 1;
        else memcpy(&out->value[l], p + l * out->bytes, out->bytes);
}

/* ---- the rules: fill `out` ---- */

static void propagate_any(const struct operand a[MAX_SRC_OPERANDS], u64 out[32]) {
    u32 lanes = a[0].lanes | a[1].lanes | a[2].lanes | a[3].lanes;
    for (u32 l = 0; l < 32; l++) out[l] = lanes >> l & 1 ? ~0ull : 0;
}

static void propagate_bitwise(enum undef_rule rule, const struct operand a[MAX_SRC_OPERANDS],
                              u64 out[32]) {
    for (u32 l = 0; l < 32; l++) {
        u64 p = a[0].undefined[l], q = a[1].undefined[l], v = a[0].value[l], w = a[1].value[l];
        out[l] = rule == RULE_AND  ? (p & (q | w)) | (q & (p | v))
                 : rule == RULE_OR ? (p & (q | ~w)) | (q & (p | ~v))
                                   : p | q | a[2].undefined[l];
    }
}

static void propagate_halves(const struct operand a[MAX_SRC_OPERANDS], u64 out[32]) {
    for (u32 l = 0; l < 32; l++) {
        u64 u = a[0].undefined[l] | a[1].undefined[l] | a[2].undefined[l] | a[3].undefined[l];
        out[l] = (u & 0xffff ? 0xffff : 0) | (u >> 16 ? 0xffff0000 : 0);
    }
}

static void propagate_pack(const struct operand a[MAX_SRC_OPERANDS], u64 out[32]) {
    for (u32 l = 0; l < 32; l++)
        out[l] = (a[1].lanes >> l & 1 ? 0xffff : 0) | (a[0].lanes >> l & 1 ? 0xffff0000 : 0);
}

/* Takes the bits of the selected operand. If the condition is undefined, the result is undefined
 * only where the operands differ. */
static void propagate_select(const struct operand a[MAX_SRC_OPERANDS], u32 first, u64 out[32]) {
    for (u32 l = 0; l < 32; l++) {
        const struct operand *chosen = first >> l & 1 ? &a[0] : &a[1];
        bool same = a[0].value[l] == a[1].value[l] && !a[0].undefined[l] && !a[1].undefined[l];
        out[l] = a[2].lanes >> l & 1 ? (same ? 0 : ~0ull) : chosen->undefined[l];
    }
}

static u32 selected_first_lanes(enum undef_rule rule, const struct op *o, const struct operand *c) {
    const char *name = insn_opcodes[o->opcode].name;
    bool is_float = strcmp(name + strlen(name) - 3, "f32") == 0;
    u32 first = 0;
    for (u32 l = 0; l < 32; l++) {
        u32 bits = (u32)c->value[l];
        float f;
        memcpy(&f, &bits, 4);
        bool is_first = rule == RULE_SELECT ? bits & 1 : is_float ? f >= 0.0f : (s32)bits >= 0;
        first |= (u32)is_first << l;
    }
    return first;
}

/* Runs the op itself on the shadow of the operands that it moves. */
static void propagate_move(struct exec *x, const struct op *o, u8 data,
                           const struct operand a[MAX_SRC_OPERANDS], u64 out[32]) {
    _Alignas(64) unsigned char operand_values[MAX_SRC_OPERANDS][256], result[256] = {0};
    struct op shadow_op = *o;
    u32 bytes = bytes_of(o, -1), undef_lanes = 0;
    for (u32 i = 0; i < MAX_SRC_OPERANDS; i++) {
        if (!a[i].bytes) continue;
        shadow_op.src[i] = data >> i & 1 ? undef_source_ref(o->src[i]) : REF(BASE_BLOCK, i * 256);
        memcpy(operand_values[i], operand_at(x, o->src[i]), a[i].bytes * 32);
        undef_lanes |= data >> i & 1 ? 0 : a[i].lanes;
    }
    shadow_op.dst = REF(BASE_WARP, 0);
    struct undef_saved_bases saved = undef_enter_shadow(x);
    x->base[BASE_BLOCK] = operand_values[0];
    x->base[BASE_WARP] = result;
    shadow_op.run(x, &shadow_op, ~0u);
    undef_leave_shadow(x, &saved);
    memset(out, 0, 32 * sizeof *out);
    for (u32 l = 0; l < 32; l++)
        if (undef_lanes >> l & 1) out[l] = ~0ull;
        else memcpy(&out[l], result + l * bytes, bytes);
}

/* Returns setp's comparison, before it is combined with a predicate. */
static u32 run_comparison(struct exec *x, const struct op *o) {
    struct op bare_op = *o;
    u32 *dst = operand_at(x, o->dst), saved = *dst;
    bare_op.aux = 0;
    bare_op.src[3] = REF_NONE;
    bare_op.run(x, &bare_op, ~0u);
    u32 result = *dst;
    *dst = saved;
    return result;
}

/* Computes which lanes of `predicate operation c` are undefined; t: the lanes with an undefined
 * predicate. */
static void combine_predicates(u32 operation, u32 predicate, u32 t, const struct operand *c,
                               u64 out[32]) {
    for (u32 l = 0; l < 32; l++) {
        bool u = t >> l & 1, v = c->lanes >> l & 1, a = predicate >> l & 1, b = c->value[l] & 1;
        out[l] = operation == 1   ? (u && (v || b)) || (v && (u || a))
                 : operation == 2 ? (u && (v || !b)) || (v && (u || !a))
                                  : u || (operation && v);
    }
}

static void propagate_compare(struct exec *x, const struct op *o,
                              const struct operand a[MAX_SRC_OPERANDS], u64 p[32], u64 q[32]) {
    u32 t = a[0].lanes | a[1].lanes, predicate = o->aux && a[2].lanes ? run_comparison(x, o) : 0;
    combine_predicates(o->aux, predicate, t, &a[2], p);
    combine_predicates(o->aux, ~predicate, t, &a[2], q);
}

/* ---- */

static void propagate_carry(const struct op *o, struct operand a[MAX_SRC_OPERANDS], u64 out[32]) {
    const char *name = insn_opcodes[o->opcode].name;
    if (strncmp(name + 3, "c.", 2) != 0) a[3].lanes = 0; /* addc, subc, madc take it */
    propagate_any(a, out);
}

struct undef_result {
    u64 undefined[32], second_undef[32]; /* second: q of setp, the carry flag */
};

/* Computes the result's undefined bits; returns true if the op only moves bits. */
static bool propagate_undef(struct exec *x, const struct op *o, struct undef_result *out) {
    struct operand a[MAX_SRC_OPERANDS];
    u8 data;
    enum undef_rule rule = rule_of(&insn_opcodes[o->opcode], &data);
    for (int i = 0; i < MAX_SRC_OPERANDS; i++) fetch(x, o, i, &a[i]);
    switch (rule) {
    case RULE_ANY: propagate_any(a, out->undefined); break;
    case RULE_MOVE: propagate_move(x, o, data, a, out->undefined); break;
    case RULE_BITWISE:
    case RULE_AND:
    case RULE_OR: propagate_bitwise(rule, a, out->undefined); break;
    case RULE_SELECT:
    case RULE_SLCT:
        propagate_select(a, selected_first_lanes(rule, o, &a[2]), out->undefined);
        break;
    case RULE_COMPARE: propagate_compare(x, o, a, out->undefined, out->second_undef); break;
    case RULE_CARRY:
        propagate_carry(o, a, out->undefined);
        memcpy(out->second_undef, out->undefined, sizeof out->second_undef);
        break;
    case RULE_F16X2: propagate_halves(a, out->undefined); break;
    case RULE_PACK: propagate_pack(a, out->undefined); break;
    }
    return rule == RULE_MOVE || rule == RULE_SELECT || rule == RULE_BITWISE || rule == RULE_AND ||
           rule == RULE_OR;
}

static bool writes_second(const struct op *o) {
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    if (r->form == FORM_SETP) return o->src[3] != REF_NONE;
    return r->form == FORM_CARRY && strstr(r->name, ".cc");
}

static void store_undef(struct exec *x, const struct op *o, u32 mask, const struct undef_result *r,
                        u8 origin) {
    u32 bytes = bytes_of(o, -1);
    if (bytes) undef_set_operand(x, o->dst, bytes, mask, r ? r->undefined : NULL, origin);
    if (writes_second(o))
        undef_set_operand(x, o->src[3], 1, mask, r ? r->second_undef : NULL, origin);
}

/* Returns the origin of the first operand that is undefined in one of the lanes. In other lanes,
 * its slot may still hold an undefined value of another register (code/slot_sharing.c). */
static u8 first_origin(const struct exec *x, const struct op *o, u32 lanes) {
    bool has_second_dst = insn_opcodes[o->opcode].form == FORM_SETP;
    for (u32 i = 0; i < (has_second_dst ? 3u : MAX_SRC_OPERANDS); i++) {
        u32 bytes = bytes_of(o, (int)i);
        if (bytes && undef_operand_lanes(x, o->src[i], bytes) & lanes)
            return undef_operand_origin(x, o->src[i]);
    }
    return 0;
}

void undef_run_lane_op(struct exec *x, const struct op *o, u32 mask, u32 undef_guard_lanes) {
    struct undef_result r;
    u8 origin = first_origin(x, o, mask);
    if (origin && mask && !propagate_undef(x, o, &r)) origin &= UNDEF_MAX_ORIGINS;
    u8 guard = undef_operand_origin(x, o->guard);
    if (mask) o->run(x, o, mask);
    store_undef(x, o, mask, origin && mask ? &r : NULL, origin);
    if (!undef_guard_lanes) return;
    memset(&r, 0xff, sizeof r);
    store_undef(x, o, undef_guard_lanes, &r, guard);
}
