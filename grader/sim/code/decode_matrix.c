/* decode_matrix.c — mma, wmma, ldmatrix, stmatrix, movmatrix. See matrix.h for where elements lie.
 *
 * Loads and stores become plain ones, of each lane's part, so that they are checked and counted
 * like any other. All lanes meet before a matrix instruction, since it needs them all: a warp
 * barrier comes first. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/matrix.h"

#include <stdio.h>
#include <string.h>

const struct matrix_type_info decode_matrix_types[] = {
#define X(id, name, bits, is_float) {name, bits, is_float},
    MATRIX_TYPES(X)
#undef X
};

/* ---- opcodes ---- */

struct matrix_opcode {
    unsigned m, n, k, ntypes, nlayouts;
    u8 types[4], row_major[2], combine, saturate;
    u8 space; /* enum mem_space */
    u8 which; /* of wmma.load and wmma.store */
};

static u8 type_named(const char *part) {
    for (u8 i = 0; i < MATRIX_TYPE_COUNT; i++)
        if (strcmp(decode_matrix_types[i].name, part) == 0) return i;
    return MATRIX_TYPE_COUNT;
}

static bool take_part(struct matrix_opcode *o, const char *part) {
    static const char *const known[] = {"sync", "aligned", "rn", "popc", "mma", "load", "store"};
    u8 type = type_named(part);
    if (type < MATRIX_TYPE_COUNT) return o->ntypes < 4 && (o->types[o->ntypes++] = type, true);
    if (sscanf(part, "m%un%uk%u", &o->m, &o->n, &o->k) == 3) return true;
    if (strcmp(part, "row") == 0 || strcmp(part, "col") == 0)
        return o->nlayouts < 2 && (o->row_major[o->nlayouts++] = part[0] == 'r', true);
    if (strcmp(part, "xor") == 0 || strcmp(part, "and") == 0)
        return o->combine = part[0] == 'x' ? MATRIX_XOR : MATRIX_AND, true;
    if (strcmp(part, "satfinite") == 0) return o->saturate = 1, true;
    if (strcmp(part, "global") == 0) return o->space = SPACE_GLOBAL, true;
    if (strcmp(part, "shared") == 0 || strcmp(part, "shared::cta") == 0)
        return o->space = SPACE_SHARED, true;
    if (strlen(part) == 1 && strchr("abcd", part[0])) return o->which = (u8)(part[0] - 'a'), true;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], part) == 0) return true;
    return false;
}

static bool split_opcode(const char *opcode, struct matrix_opcode *o) {
    *o = (struct matrix_opcode){.space = SPACE_GENERIC};
    char part[64];
    for (unsigned i = 1; decode_opcode_part(opcode, i, part, sizeof part); i++)
        if (!take_part(o, part)) return false;
    return o->m && o->n && o->k && o->ntypes;
}

/* Rows × columns and how many registers hold it. */
static void size_of(const struct matrix_opcode *o, unsigned which, unsigned *rows,
                    unsigned *columns) {
    *rows = which == MATRIX_B ? o->k : o->m;
    *columns = which == MATRIX_A ? o->k : o->n;
}

static unsigned registers_of(const struct matrix_opcode *o, unsigned which, u8 type, bool direct) {
    unsigned rows, columns, bits = decode_matrix_types[type].bits;
    size_of(o, which, &rows, &columns);
    if (!direct && which < MATRIX_C && type == MATRIX_F16) return 8; /* with room to spare */
    unsigned n = rows * columns * bits / 32 / (bits == 64 ? 64 : 32);
    return n ? n : 1;
}

/* Shapes that exist, by the type of a. */
static bool shape_exists(const struct matrix_opcode *o, u8 type, bool direct) {
    static const struct {
        u8 type, direct, m, n;
        u16 k;
    } shapes[] = {
        {MATRIX_F16, 0, 16, 16, 16}, {MATRIX_F16, 0, 32, 8, 16},  {MATRIX_F16, 0, 8, 32, 16},
        {MATRIX_TF32, 0, 16, 16, 8}, {MATRIX_F64, 0, 8, 8, 4},    {MATRIX_S4, 0, 8, 8, 32},
        {MATRIX_B1, 0, 8, 8, 128},   {MATRIX_F16, 1, 16, 8, 8},   {MATRIX_F16, 1, 16, 8, 16},
        {MATRIX_TF32, 1, 16, 8, 4},  {MATRIX_TF32, 1, 16, 8, 8},  {MATRIX_F64, 1, 8, 8, 4},
        {MATRIX_F64, 1, 16, 8, 4},   {MATRIX_F64, 1, 16, 8, 8},   {MATRIX_F64, 1, 16, 8, 16},
        {MATRIX_S8, 1, 8, 8, 16},    {MATRIX_S8, 1, 16, 8, 16},   {MATRIX_S8, 1, 16, 8, 32},
        {MATRIX_S4, 1, 8, 8, 32},    {MATRIX_S4, 1, 16, 8, 32},   {MATRIX_S4, 1, 16, 8, 64},
        {MATRIX_B1, 1, 8, 8, 128},   {MATRIX_B1, 1, 16, 8, 128},  {MATRIX_B1, 1, 16, 8, 256},
        {MATRIX_E4M3, 1, 16, 8, 16}, {MATRIX_E4M3, 1, 16, 8, 32},
    };
    u8 like = type == MATRIX_BF16 || (!direct && (type == MATRIX_S8 || type == MATRIX_U8))
                  ? MATRIX_F16
              : type == MATRIX_U8   ? MATRIX_S8
              : type == MATRIX_U4   ? MATRIX_S4
              : type == MATRIX_E5M2 ? MATRIX_E4M3
                                    : type;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].type == like && shapes[i].direct == direct && shapes[i].m == o->m &&
            shapes[i].n == o->n && shapes[i].k == o->k)
            return true;
    return false;
}

/* ---- operands ---- */

bool decode_registers(struct decoder *d, const struct ptx_operand *p, bool written, unsigned n,
                      unsigned bytes, ref *out) {
    const struct ptx_operand *items = p->kind == PTX_OP_VECTOR ? p->items : p;
    unsigned have = p->kind == PTX_OP_VECTOR ? p->nitems : 1, got;
    if (have != n) return decode_refuse(d, "%u registers where %u are needed in", have, n);
    for (unsigned i = 0; i < n; i++) {
        if (written && !decode_destination(d, &items[i], &out[i], &got)) return false;
        if (!written && !decode_source(d, &items[i], bytes == 8 ? PTX_B64 : PTX_B32, &out[i]))
            return false;
        if (written && out[i] == REF_NONE) out[i] = decode_slot_new(d, bytes), got = bytes;
        if (written && got != bytes) return decode_refuse(d, "registers of the wrong size in");
    }
    return true;
}

/* ---- where elements lie ---- */

/* Row and column of element `e` of register `reg` of a lane. */
static void place_of(const struct matrix_desc *m, u32 which, u32 lane, u32 reg, u32 e, u32 *row,
                     u32 *column) {
    const struct matrix_operand *p = &m->of[which];
    u32 per = matrix_elements_of_word(p->type), group = lane / 4, in = lane % 4, i = reg * per + e;
    if (!m->direct) {
        u32 rows = which == MATRIX_B ? m->k : m->m, columns = which == MATRIX_A ? m->k : m->n,
            unit = which < MATRIX_C ? per : 2, lines = p->row_major ? rows : columns;
        struct matrix_grid g = matrix_grid_of(lines, rows * columns / lines / unit);
        u32 line = matrix_line(g, lane, i / unit % g.each),
            minor = matrix_unit(g, lane, i / unit % g.each) * unit + i % unit;
        *row = p->row_major ? line : minor;
        *column = p->row_major ? minor : line;
    } else if (which == MATRIX_A) {
        u32 block = m->m == 16 ? reg >> 1 : reg;
        *row = group + (m->m == 16 ? 8 * (reg & 1) : 0);
        *column = in * per + e + 4 * per * block;
    } else if (which == MATRIX_B) {
        *row = in * per + e + 4 * per * reg;
        *column = group;
    } else {
        *row = group + 8 * (i >> 1);
        *column = in * 2 + (i & 1);
    }
}

static void fill_places(const struct matrix_desc *m, u32 which, u32 per, u16 *place, u16 *from) {
    u32 columns = which == MATRIX_A ? m->k : m->n, row, column;
    for (u32 reg = m->of[which].count; reg--;)
        for (u32 e = 0; e < per; e++)
            for (u32 lane = 0; lane < 32; lane++) {
                place_of(m, which, lane, reg, e, &row, &column);
                u32 at = row * columns + column;
                place[(reg * per + e) * 32 + lane] = (u16)at;
                from[at] = (u16)((reg * 32 + lane) * per + e);
            }
}

/* All that place_of() looks at. There are so few shapes that they can be searched one by one. */
static u64 key_of(const struct matrix_desc *m, u32 which) {
    const struct matrix_operand *p = &m->of[which];
    return (u64)m->m << 48 | (u64)m->n << 36 | (u64)m->k << 20 | (u64)p->count << 12 |
           (u64)p->type << 4 | (u64)p->row_major << 3 | (u64)m->direct << 2 | which;
}

static struct matrix_places places(struct decoder *d, const struct matrix_desc *m, u32 which) {
    u64 key = key_of(m, which);
    for (u32 i = 0; i < d->m->nplaces; i++)
        if (d->m->places[i].key == key) return d->m->places[i];
    u32 per = matrix_elements_of_word(m->of[which].type);
    size_t most = (size_t)m->of[which].count * per * 32;
    struct matrix_places new = {key, arena_array(&d->m->arena, u16, most),
                                arena_array(&d->m->arena, u16, most)};
    fill_places(m, which, per, new.place, new.from);
    ARENA_PUSH(&d->m->arena, d->m->places, d->m->nplaces, new);
    return new;
}

static u32 add_matrix(struct decoder *d, const struct matrix_desc *desc) {
    return ARENA_PUSH(&d->m->arena, d->m->matrices, d->m->nmatrices, *desc);
}

/* ---- mma and wmma.mma: d, a, b, c ---- */

/* Types are listed d, a, b, c; wmma on halves leaves a and b out. */
static bool spread_types(const struct matrix_opcode *o, u8 *type) {
    if (o->ntypes == 2)
        type[MATRIX_D] = o->types[0], type[MATRIX_A] = type[MATRIX_B] = MATRIX_F16,
        type[MATRIX_C] = o->types[1];
    else if (o->ntypes == 4)
        type[MATRIX_D] = o->types[0], type[MATRIX_A] = o->types[1], type[MATRIX_B] = o->types[2],
        type[MATRIX_C] = o->types[3];
    return (o->ntypes == 2 || o->ntypes == 4) &&
           decode_matrix_types[type[MATRIX_A]].bits == decode_matrix_types[type[MATRIX_B]].bits &&
           decode_matrix_types[type[MATRIX_A]].is_float ==
               decode_matrix_types[type[MATRIX_B]].is_float;
}

static bool types_fit(const struct matrix_opcode *o, const u8 *type) {
    bool is_float = decode_matrix_types[type[MATRIX_A]].is_float;
    for (unsigned w = MATRIX_C; w <= MATRIX_D; w++) {
        bool ok = !is_float ? type[w] == MATRIX_S32
                  : type[MATRIX_A] == MATRIX_F64
                      ? type[w] == MATRIX_F64
                      : type[w] == MATRIX_F32 || (type[w] == MATRIX_F16 &&
                                                  (type[MATRIX_A] == MATRIX_F16 ||
                                                   decode_matrix_types[type[MATRIX_A]].bits == 8));
        if (!ok) return false;
    }
    return (type[MATRIX_A] == MATRIX_B1) == (o->combine != MATRIX_MULTIPLY);
}

/* Of a compute capability: bytes of a factor that are added at once, and fraction bits kept. 9.0 as
 * measured on an H100, to the last bit (docs/simgpu.md, Tensor cores); the others: Xie et al.,
 * "MMA-Sim", arXiv 2511.10909. */
static struct matrix_sum sum_of(const struct gpu_device *device, u8 type) {
    u32 cc = device->cc_major * 10 + device->cc_minor, bits = decode_matrix_types[type].bits;
    u32 bytes = cc >= 90 ? 32 : cc >= 75 ? 16 : 8;
    struct matrix_sum s = {.group = (u8)(bytes * 8 / bits),
                           .fraction = cc >= 90   ? 25
                                       : cc >= 75 ? 24
                                                  : 23};
    if (bits == 8 && cc >= 90) s.by_halves = 1, s.group = 16;
    if (bits == 8 && cc < 90) s.fraction = 13, s.dropped = 10;
    return s;
}

static bool decode_multiply(struct decoder *d, bool direct) {
    const struct ptx_insn *in = d->in;
    struct matrix_opcode o;
    u8 type[MATRICES];
    static const u8 order[] = {MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C};
    if (!split_opcode(in->opcode, &o) || o.nlayouts != 2 || in->noperands != 4 ||
        !spread_types(&o, type) || !types_fit(&o, type) ||
        !shape_exists(&o, type[MATRIX_A], direct) ||
        (direct && (!o.row_major[0] || o.row_major[1])))
        return decode_refuse(d, "not implemented: instruction");
    struct matrix_desc m = {.m = (u16)o.m,
                            .n = (u16)o.n,
                            .k = (u16)o.k,
                            .direct = direct,
                            .combine = o.combine,
                            .saturate = o.saturate};
    m.sum = sum_of(d->m->options->device, type[MATRIX_A]);
    decode_emit_warp_barrier(d);
    for (unsigned i = 0; i < 4; i++) {
        unsigned w = order[i], n = registers_of(&o, w, type[w], direct);
        m.of[w] = (struct matrix_operand){
            .count = (u8)n, .type = type[w], .row_major = w < MATRIX_C ? o.row_major[w] : 1};
        if (n > 8 || !decode_registers(d, &in->operands[i], i == 0, n,
                                       type[w] == MATRIX_F64 ? 8 : 4, m.of[w].reg))
            return false;
    }
    for (unsigned w = 0; w < MATRICES; w++) {
        struct matrix_places p = places(d, &m, w);
        m.of[w].place = p.place, m.of[w].from = p.from;
    }
    u32 aux = add_matrix(d, &m);
    decode_emit_named(d, "mma")->aux = aux;
    return true;
}

/* ---- ldmatrix, stmatrix: rows of matrices of 8 × 8 halves, exchanged between lanes ---- */

/* Lanes below `count`: those that bring an address. */
static ref lanes_below(struct decoder *d, unsigned count) {
    ref limit = decode_slot_const(d, count, 4), out = decode_slot_new(d, 1);
    struct op *o = decode_emit_named(d, "setp.lt.u32");
    o->src[0] = REF(BASE_WARP, W_LANEID * SLOT_BYTES);
    o->src[1] = limit;
    o->dst = out;
    return out;
}

/* Lane 8 i + r reads or writes row r of matrix i, 16 bytes, at an operand's address or else at
 * `address`; what a lane holds of each of the n matrices is exchanged. */
static bool move_rows(struct decoder *d, bool load, bool trans, unsigned n, const ref *reg,
                      const struct ptx_operand *operand, ref address) {
    struct matrix_desc desc = {.m = 8, .n = 8, .k = (u16)n};
    struct mem_desc m = {.verb = load ? MEM_LOAD : MEM_STORE,
                         .space = SPACE_SHARED,
                         .width = 4,
                         .count = 4,
                         .reg_bytes = 4,
                         .type = PTX_B32};
    for (unsigned i = 0; i < 4; i++) desc.of[MATRIX_A].reg[i] = m.reg[i] = decode_slot_new(d, 4);
    desc.of[MATRIX_A].count = 4, desc.of[MATRIX_A].row_major = 1;
    desc.of[MATRIX_D].count = (u8)n, desc.of[MATRIX_D].row_major = !trans;
    memcpy(desc.of[MATRIX_D].reg, reg, n * sizeof *reg);
    u32 aux = add_matrix(d, &desc);
    ref bring = lanes_below(d, 8 * n);
    if (!load) decode_emit_named(d, "matrix.rows")->aux = aux;
    if (!operand) decode_emit_access_at(d, &m, address, 0);
    else if (!decode_emit_access(d, &m, operand)) return false;
    d->m->ops[d->m->nops - 1].guard = bring;
    d->m->ops[d->m->nops - 1].flip = 0;
    if (load) decode_emit_named(d, "matrix.fragments")->aux = aux;
    return true;
}

/* Of ops that are one instruction, from `first` on, the first counts. */
static void weigh_as_one(struct decoder *d, u32 first) {
    for (u32 i = first; i < d->m->nops; i++) d->m->ops[i].weight = i == first;
}

static bool decode_rows(struct decoder *d, bool load) {
    const struct ptx_insn *in = d->in;
    const char *opcode = in->opcode;
    unsigned n = decode_opcode_has(opcode, "x4")   ? 4
                 : decode_opcode_has(opcode, "x2") ? 2
                 : decode_opcode_has(opcode, "x1") ? 1
                                                   : 0;
    ref reg[4];
    if (!n || !decode_opcode_has(opcode, "m8n8") || !decode_opcode_has(opcode, "b16") ||
        in->noperands < 2)
        return decode_refuse(d, "not implemented: instruction");
    decode_emit_warp_barrier(d);
    u32 first = d->m->nops;
    if (!decode_registers(d, &in->operands[load ? 0 : 1], load, n, 4, reg) ||
        !move_rows(d, load, decode_opcode_has(opcode, "trans"), n, reg, &in->operands[load ? 1 : 0],
                   REF_NONE))
        return false;
    weigh_as_one(d, first);
    decode_mark_lowered(load ? "ldmatrix" : "stmatrix");
    return true;
}

/* ---- wmma.load and wmma.store ---- */

struct place {
    ref base, stride;
    struct matrix_grid grid;
    u8 unit, bits; /* bytes of a unit, bits of an element */
    u8 space;
    bool load, accumulator,
        transposed; /* transposed: a lane's elements follow rows, memory columns */
};

static ref emit_address(struct decoder *d, const struct place *p, unsigned block, unsigned half,
                        bool whole) {
    struct matrix_address a = {(u8)block, (u8)half, p->grid.wide, p->grid.down,
                               p->unit,   p->bits,  whole,        0};
    ref out = decode_slot_new(d, 8);
    struct op *o = decode_emit_named(d, "matrix.address");
    o->src[0] = p->base;
    o->src[1] = p->stride;
    o->target = p->transposed;
    memcpy(&o->imm, &a, sizeof a);
    o->dst = out;
    return out;
}

/* An access of each lane: `count` registers of `width` bytes each, to or from half `half` of its
 * unit of a block. */
static void move_unit(struct decoder *d, const struct place *p, const ref *reg, unsigned count,
                      unsigned width, unsigned block, unsigned half) {
    struct mem_desc m = {.verb = p->load ? MEM_LOAD : MEM_STORE,
                         .space = p->space,
                         .width = (u8)width,
                         .count = (u8)count,
                         .reg_bytes = (u8)width,
                         .type = width == 8   ? PTX_B64
                                 : width == 4 ? PTX_B32
                                              : PTX_B16};
    memcpy(m.reg, reg, count * sizeof *reg);
    decode_emit_access_at(d, &m, emit_address(d, p, block, half, false), 0);
}

static void one_word(struct decoder *d, const char *row, ref dst, ref a, ref b) {
    struct op *o = decode_emit_named(d, row);
    o->dst = dst;
    o->src[0] = a;
    o->src[1] = b;
}

/* Two halves of an accumulator, which lie apart in memory and side by side in a register. */
static void move_halves(struct decoder *d, const struct place *p, ref reg, unsigned block) {
    ref half[2] = {decode_slot_new(d, 2), decode_slot_new(d, 2)};
    if (!p->load)
        one_word(d, "unpack.lo.b32", half[0], reg, REF_NONE),
            one_word(d, "unpack.hi.b32", half[1], reg, REF_NONE);
    for (unsigned h = 0; h < 2; h++) move_unit(d, p, &half[h], 1, 2, block, h);
    if (p->load) one_word(d, "pack.b32.b16", reg, half[0], half[1]);
}

static void move_accumulator(struct decoder *d, const struct place *p, const ref *reg) {
    unsigned each = p->bits == 16 ? 1 : 2, bytes = p->bits == 64 ? 8 : 4;
    for (unsigned block = 0; block < p->grid.each; block++, reg += each) {
        if (!p->transposed) move_unit(d, p, reg, each, bytes, block, 0);
        else if (p->bits == 16) move_halves(d, p, *reg, block);
        else
            for (unsigned h = 0; h < 2; h++) move_unit(d, p, reg + h, 1, bytes, block, h);
    }
}

/* Halves come from shared memory as ldmatrix brings them, four blocks at a time; else each lane
 * loads its units. */
static bool load_factor(struct decoder *d, const struct place *p, const ref *reg, unsigned n) {
    unsigned each = p->grid.each, most = p->bits == 16 && p->space == SPACE_SHARED ? 4 : 0;
    for (unsigned block = 0, some; block < each; block += some) {
        some = !most ? 1 : each - block < most ? each - block : most;
        if (!most) move_unit(d, p, reg + block, 1, p->unit, block, 0);
        else if (!move_rows(d, true, false, some, reg + block, NULL,
                            emit_address(d, p, block, 0, true)))
            return false;
    }
    for (unsigned i = each; i < n; i++) one_word(d, "mov.b32", reg[i], reg[i % each], REF_NONE);
    return true;
}

/* False: no matrix of this shape is cut into whole blocks. */
static bool lay_out(const struct matrix_opcode *o, struct place *p) {
    enum { LONGEST = 256 };
    unsigned rows, columns;
    size_of(o, o->which, &rows, &columns);
    p->bits = decode_matrix_types[o->types[0]].bits;
    p->accumulator = o->which >= MATRIX_C;
    p->transposed = p->accumulator && !o->row_major[0];
    p->unit = p->accumulator ? p->bits / 4 : p->bits == 64 ? 8 : 4;
    if (rows > LONGEST || columns > LONGEST || (p->accumulator && p->bits < 16)) return false;
    unsigned line = p->accumulator || o->row_major[0] ? columns : rows,
             lines = rows * columns / line, units = line * p->bits / 8 / p->unit;
    if (!units || lines * units % 32) return false;
    p->grid = matrix_grid_of(lines, units);
    return units % p->grid.wide == 0 && 32 % p->grid.wide == 0 &&
           p->grid.down * 32u == lines * p->grid.wide;
}

static bool decode_transfer(struct decoder *d, bool load) {
    const struct ptx_insn *in = d->in;
    struct matrix_opcode o;
    ref reg[8];
    if (in->noperands < 2 || !split_opcode(in->opcode, &o) || o.nlayouts != 1 || o.ntypes != 1)
        return decode_refuse(d, "not implemented: instruction");
    unsigned rows, columns, n = registers_of(&o, o.which, o.types[0], false),
                            bytes = o.types[0] == MATRIX_F64 ? 8 : 4;
    if (n > 8) return decode_refuse(d, "not implemented: instruction");
    struct place p = {.space = o.space, .load = load};
    size_of(&o, o.which, &rows, &columns);
    if (!lay_out(&o, &p)) return decode_refuse(d, "not implemented: instruction");
    decode_emit_warp_barrier(d);
    u32 first = d->m->nops;
    if (!decode_registers(d, &in->operands[load ? 0 : 1], load, n, bytes, reg)) return false;
    if (!decode_whole_address(d, &in->operands[load ? 1 : 0], &p.base)) return false;
    p.stride = decode_slot_const(d, o.row_major[0] ? columns : rows, 4);
    if (in->noperands > 2 && !decode_source(d, &in->operands[2], PTX_U32, &p.stride)) return false;
    if (p.accumulator) move_accumulator(d, &p, reg);
    else if (!load_factor(d, &p, reg, n)) return false;
    weigh_as_one(d, first);
    decode_mark_lowered(load ? "wmma.load" : "wmma.store");
    return true;
}

/* ---- movmatrix ---- */

static bool decode_transpose(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    struct matrix_desc desc = {
        .m = 8, .n = 8, .k = 1, .of = {[MATRIX_A] = {.count = 1}, [MATRIX_D] = {.count = 1}}};
    if (in->noperands != 2 || !decode_opcode_has(in->opcode, "trans"))
        return decode_refuse(d, "not implemented: instruction");
    decode_emit_warp_barrier(d);
    if (!decode_registers(d, &in->operands[0], true, 1, 4, desc.of[MATRIX_D].reg) ||
        !decode_registers(d, &in->operands[1], false, 1, 4, desc.of[MATRIX_A].reg))
        return false;
    u32 aux = add_matrix(d, &desc);
    decode_emit_named(d, "movmatrix")->aux = aux;
    return true;
}

bool decode_matrix(struct decoder *d) {
    const char *opcode = d->in->opcode;
    if (strncmp(opcode, "wmma.load.", 10) == 0 || strncmp(opcode, "wmma.store.", 11) == 0)
        return decode_transfer(d, opcode[5] == 'l');
    if (strncmp(opcode, "ldmatrix.", 9) == 0 || strncmp(opcode, "stmatrix.", 9) == 0)
        return decode_rows(d, opcode[0] == 'l');
    if (strncmp(opcode, "movmatrix.", 10) == 0) return decode_transpose(d);
    return decode_multiply(d, opcode[0] == 'm');
}

/* ---- for coverage.c: operands that fit an opcode ---- */

static void add_list(struct buf *b, unsigned n, char letter) {
    for (unsigned i = 0; i < n; i++) buf_printf(b, "%s%%%c%u", i ? ", " : "{", letter, i % 8);
    buf_puts(b, "}");
}

bool decode_matrix_operands(const char *opcode, struct buf *b) {
    struct matrix_opcode o;
    u8 type[MATRICES];
    static const u8 order[] = {MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C};
    bool transfer =
        strncmp(opcode, "wmma.load.", 10) == 0 || strncmp(opcode, "wmma.store.", 11) == 0;
    if (!split_opcode(opcode, &o)) return false;
    if (transfer) {
        unsigned n = registers_of(&o, o.which, o.types[0], false);
        if (opcode[5] == 's') buf_puts(b, "[%q0], ");
        add_list(b, n, o.types[0] == MATRIX_F64 ? 'q' : 'r');
        if (opcode[5] == 'l') buf_puts(b, ", [%q0]");
        return true;
    }
    if (!spread_types(&o, type)) return false;
    for (unsigned i = 0; i < 4; i++) {
        if (i) buf_puts(b, ", ");
        add_list(b, registers_of(&o, order[i], type[order[i]], opcode[0] == 'm'),
                 type[order[i]] == MATRIX_F64 ? 'q' : 'r');
    }
    return true;
}
