/* decode_matrix.c — decodes mma, wmma, ldmatrix, stmatrix and movmatrix. matrix.h says where
 * elements lie.
 *
 * Loads and stores become plain ones of each lane's part, so that they are checked and counted like
 * any other. A matrix instruction needs all lanes, so a warp barrier comes first. */
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
    u8 space;   /* enum mem_space */
    u8 operand; /* MATRIX_…, for wmma.load and wmma.store */
};

static u8 find_matrix_type(const char *part) {
    for (u8 i = 0; i < MATRIX_TYPE_COUNT; i++)
        if (strcmp(decode_matrix_types[i].name, part) == 0) return i;
    return MATRIX_TYPE_COUNT;
}

static bool parse_part(struct matrix_opcode *o, const char *part) {
    static const char *const ignored_parts[] = {"sync", "aligned", "rn",   "popc",
                                                "mma",  "load",    "store"};
    u8 type = find_matrix_type(part);
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
    if (strlen(part) == 1 && strchr("abcd", part[0])) return o->operand = (u8)(part[0] - 'a'), true;
    for (unsigned i = 0; i < sizeof ignored_parts / sizeof *ignored_parts; i++)
        if (strcmp(ignored_parts[i], part) == 0) return true;
    return false;
}

static bool parse_opcode(const char *opcode, struct matrix_opcode *o) {
    *o = (struct matrix_opcode){.space = SPACE_GENERIC};
    char part[64];
    for (unsigned i = 1; decode_opcode_part(opcode, i, part, sizeof part); i++)
        if (!parse_part(o, part)) return false;
    return o->m && o->n && o->k && o->ntypes;
}

/* Sets rows and columns of an operand. */
static void operand_size(const struct matrix_opcode *o, unsigned operand_id, unsigned *rows,
                         unsigned *columns) {
    *rows = operand_id == MATRIX_B ? o->k : o->m;
    *columns = operand_id == MATRIX_A ? o->k : o->n;
}

static unsigned operand_registers(const struct matrix_opcode *o, unsigned operand_id, u8 type,
                                  bool is_mma) {
    unsigned rows, columns, bits = decode_matrix_types[type].bits;
    operand_size(o, operand_id, &rows, &columns);
    /* more than the elements need */
    if (!is_mma && operand_id < MATRIX_C && type == MATRIX_F16) return 8;
    unsigned n = rows * columns * bits / 32 / (bits == 64 ? 64 : 32);
    return n ? n : 1;
}

/* Returns true if the shape exists, by the type of a. */
static bool shape_exists(const struct matrix_opcode *o, u8 type, bool is_mma) {
    static const struct {
        u8 type, is_mma, m, n;
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
    u8 canonical_type = type == MATRIX_BF16 || (!is_mma && (type == MATRIX_S8 || type == MATRIX_U8))
                            ? MATRIX_F16
                        : type == MATRIX_U8   ? MATRIX_S8
                        : type == MATRIX_U4   ? MATRIX_S4
                        : type == MATRIX_E5M2 ? MATRIX_E4M3
                                              : type;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].type == canonical_type && shapes[i].is_mma == is_mma && shapes[i].m == o->m &&
            shapes[i].n == o->n && shapes[i].k == o->k)
            return true;
    return false;
}

/* ---- operands ---- */

bool decode_register_list(struct decoder *d, const struct ptx_operand *p, bool written, unsigned n,
                          unsigned bytes, ref *out) {
    const struct ptx_operand *items = p->kind == PTX_OP_VECTOR ? p->items : p;
    unsigned actual = p->kind == PTX_OP_VECTOR ? p->nitems : 1, dst_bytes;
    if (actual != n) return decode_unsupported(d, "%u registers instead of %u in", actual, n);
    for (unsigned i = 0; i < n; i++) {
        if (written && !decode_destination(d, &items[i], &out[i], &dst_bytes)) return false;
        if (!written && !decode_source(d, &items[i], bytes == 8 ? PTX_B64 : PTX_B32, &out[i]))
            return false;
        if (written && out[i] == REF_NONE) out[i] = decode_slot_new(d, bytes), dst_bytes = bytes;
        if (written && dst_bytes != bytes)
            return decode_unsupported(d, "registers of the wrong size in");
    }
    return true;
}

/* ---- where elements lie ---- */

/* Sets row and column of element `e` of register `reg` of a lane. */
static void element_position(const struct matrix_desc *m, u32 operand_id, u32 lane, u32 reg, u32 e,
                             u32 *row, u32 *column) {
    const struct matrix_operand *p = &m->operands[operand_id];
    u32 per_word = matrix_elements_of_word(p->type), group = lane / 4, in = lane % 4,
        i = reg * per_word + e;
    if (!m->is_mma) {
        u32 rows = operand_id == MATRIX_B ? m->k : m->m,
            columns = operand_id == MATRIX_A ? m->k : m->n,
            unit = operand_id < MATRIX_C ? per_word : 2, lines = p->row_major ? rows : columns;
        struct matrix_tiling g = matrix_tiling_of(lines, rows * columns / lines / unit);
        u32 line = matrix_line(g, lane, i / unit % g.block_count),
            minor = matrix_unit(g, lane, i / unit % g.block_count) * unit + i % unit;
        *row = p->row_major ? line : minor;
        *column = p->row_major ? minor : line;
    } else if (operand_id == MATRIX_A) {
        u32 block = m->m == 16 ? reg >> 1 : reg;
        *row = group + (m->m == 16 ? 8 * (reg & 1) : 0);
        *column = in * per_word + e + 4 * per_word * block;
    } else if (operand_id == MATRIX_B) {
        *row = in * per_word + e + 4 * per_word * reg;
        *column = group;
    } else {
        *row = group + 8 * (i >> 1);
        *column = in * 2 + (i & 1);
    }
}

static void fill_layout(const struct matrix_desc *m, u32 operand_id, u32 per, u16 *elem_of_reg,
                        u16 *reg_of_elem) {
    u32 columns = operand_id == MATRIX_A ? m->k : m->n, row, column;
    for (u32 reg = m->operands[operand_id].count; reg--;)
        for (u32 e = 0; e < per; e++)
            for (u32 lane = 0; lane < 32; lane++) {
                element_position(m, operand_id, lane, reg, e, &row, &column);
                u32 at = row * columns + column;
                elem_of_reg[(reg * per + e) * 32 + lane] = (u16)at;
                reg_of_elem[at] = (u16)((reg * 32 + lane) * per + e);
            }
}

/* The key holds all that element_position() depends on. There are so few shapes that a linear
 * search is enough. */
static u64 layout_key(const struct matrix_desc *m, u32 operand_id) {
    const struct matrix_operand *p = &m->operands[operand_id];
    return (u64)m->m << 48 | (u64)m->n << 36 | (u64)m->k << 20 | (u64)p->count << 12 |
           (u64)p->type << 4 | (u64)p->row_major << 3 | (u64)m->is_mma << 2 | operand_id;
}

static struct matrix_layout find_layout(struct decoder *d, const struct matrix_desc *m,
                                        u32 operand_id) {
    u64 key = layout_key(m, operand_id);
    for (u32 i = 0; i < d->m->nmatrix_layouts; i++)
        if (d->m->matrix_layouts[i].key == key) return d->m->matrix_layouts[i];
    u32 per = matrix_elements_of_word(m->operands[operand_id].type);
    size_t nelements = (size_t)m->operands[operand_id].count * per * 32;
    struct matrix_layout new = {key, arena_array(&d->m->arena, u16, nelements),
                                arena_array(&d->m->arena, u16, nelements)};
    fill_layout(m, operand_id, per, new.elem_of_reg, new.reg_of_elem);
    ARENA_PUSH(&d->m->arena, d->m->matrix_layouts, d->m->nmatrix_layouts, new);
    return new;
}

static u32 add_matrix(struct decoder *d, const struct matrix_desc *desc) {
    return ARENA_PUSH(&d->m->arena, d->m->matrices, d->m->nmatrices, *desc);
}

/* ---- mma and wmma.mma: d, a, b, c ---- */

/* Assigns the types of the operands. They are listed as d, a, b, c; wmma on halves omits a and
 * b. */
static bool assign_types(const struct matrix_opcode *o, u8 *type) {
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

static bool are_types_valid(const struct matrix_opcode *o, const u8 *type) {
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

/* How tensor cores add, by compute capability: bytes of a factor that are added at once, and
 * fraction bits kept. 9.0 as measured on an H100, to the last bit (docs/simgpu.md, Tensor cores);
 * the others: Xie et al., "MMA-Sim", arXiv 2511.10909. */
static struct dot_accumulation accumulation_of(const struct gpu_device *device, u8 type) {
    u32 cc = device->cc_major * 10 + device->cc_minor, bits = decode_matrix_types[type].bits;
    u32 bytes = cc >= 90 ? 32 : cc >= 75 ? 16 : 8;
    struct dot_accumulation s = {.terms_per_step = (u8)(bytes * 8 / bits),
                                 .fraction_bits = cc >= 90   ? 25
                                                  : cc >= 75 ? 24
                                                             : 23};
    if (bits == 8 && cc >= 90) s.in_two_steps = 1, s.terms_per_step = 16;
    if (bits == 8 && cc < 90) s.fraction_bits = 13, s.dropped_bits = 10;
    return s;
}

static bool decode_mma(struct decoder *d, bool is_mma) {
    const struct ptx_insn *in = d->insn;
    struct matrix_opcode o;
    u8 type[MATRIX_OPERANDS];
    static const u8 operand_order[] = {MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C};
    if (!parse_opcode(in->opcode, &o) || o.nlayouts != 2 || in->noperands != 4 ||
        !assign_types(&o, type) || !are_types_valid(&o, type) ||
        !shape_exists(&o, type[MATRIX_A], is_mma) ||
        (is_mma && (!o.row_major[0] || o.row_major[1])))
        return decode_unsupported(d, "not implemented: instruction");
    struct matrix_desc m = {.m = (u16)o.m,
                            .n = (u16)o.n,
                            .k = (u16)o.k,
                            .is_mma = is_mma,
                            .combine = o.combine,
                            .saturate = o.saturate};
    m.accumulation = accumulation_of(d->m->options->device, type[MATRIX_A]);
    decode_emit_warp_barrier(d, false);
    for (unsigned i = 0; i < 4; i++) {
        unsigned w = operand_order[i], n = operand_registers(&o, w, type[w], is_mma);
        m.operands[w] = (struct matrix_operand){
            .count = (u8)n, .type = type[w], .row_major = w < MATRIX_C ? o.row_major[w] : 1};
        if (n > 8 || !decode_register_list(d, &in->operands[i], i == 0, n,
                                           type[w] == MATRIX_F64 ? 8 : 4, m.operands[w].reg))
            return false;
    }
    for (unsigned w = 0; w < MATRIX_OPERANDS; w++) {
        struct matrix_layout p = find_layout(d, &m, w);
        m.operands[w].elem_of_reg = p.elem_of_reg, m.operands[w].reg_of_elem = p.reg_of_elem;
    }
    u32 aux = add_matrix(d, &m);
    decode_emit_named(d, "mma")->aux = aux;
    return true;
}

/* ---- ldmatrix, stmatrix: rows of matrices of 8 × 8 halves, exchanged between lanes ---- */

/* Returns a predicate for the lanes below `count`, which provide the addresses. */
static ref lanes_below(struct decoder *d, unsigned count) {
    ref limit = decode_slot_const(d, count, 4), out = decode_slot_new(d, 1);
    struct op *o = decode_emit_named(d, "setp.lt.u32");
    o->src[0] = REF(BASE_WARP, W_LANEID * SLOT_BYTES);
    o->src[1] = limit;
    o->dst = out;
    return out;
}

/* Lane 8 i + r reads or writes row r of matrix i, 16 bytes, at an operand's address or else at
 * `address`; a further op exchanges the parts of the n matrices between lanes. */
static bool emit_row_transfer(struct decoder *d, bool load, bool trans, unsigned n, const ref *reg,
                              const struct ptx_operand *operand, ref address) {
    struct matrix_desc desc = {.m = 8, .n = 8, .k = (u16)n};
    struct mem_desc m = {.verb = load ? MEM_LOAD : MEM_STORE,
                         .space = SPACE_SHARED,
                         .width = 4,
                         .count = 4,
                         .reg_bytes = 4,
                         .type = PTX_B32};
    for (unsigned i = 0; i < 4; i++)
        desc.operands[MATRIX_A].reg[i] = m.reg[i] = decode_slot_new(d, 4);
    desc.operands[MATRIX_A].count = 4, desc.operands[MATRIX_A].row_major = 1;
    desc.operands[MATRIX_D].count = (u8)n, desc.operands[MATRIX_D].row_major = !trans;
    memcpy(desc.operands[MATRIX_D].reg, reg, n * sizeof *reg);
    u32 aux = add_matrix(d, &desc);
    ref address_lanes = lanes_below(d, 8 * n);
    if (!load) decode_emit_named(d, "matrix.rows")->aux = aux;
    if (!operand) decode_emit_access_at(d, &m, address, 0);
    else if (!decode_emit_access(d, &m, operand)) return false;
    d->m->ops[d->m->nops - 1].guard = address_lanes;
    d->m->ops[d->m->nops - 1].guard_xor = 0;
    if (load) decode_emit_named(d, "matrix.fragments")->aux = aux;
    return true;
}

/* Lets only the first op count, of those from `first` on, since they are one instruction. */
static void count_as_one_insn(struct decoder *d, u32 first) {
    for (u32 i = first; i < d->m->nops; i++) d->m->ops[i].weight = i == first;
}

static bool decode_ldst_matrix(struct decoder *d, bool load) {
    const struct ptx_insn *in = d->insn;
    const char *opcode = in->opcode;
    unsigned n = decode_opcode_has(opcode, "x4")   ? 4
                 : decode_opcode_has(opcode, "x2") ? 2
                 : decode_opcode_has(opcode, "x1") ? 1
                                                   : 0;
    ref reg[4];
    if (!n || !decode_opcode_has(opcode, "m8n8") || !decode_opcode_has(opcode, "b16") ||
        in->noperands < 2)
        return decode_unsupported(d, "not implemented: instruction");
    decode_emit_warp_barrier(d, false);
    u32 first = d->m->nops;
    if (!decode_register_list(d, &in->operands[load ? 0 : 1], load, n, 4, reg) ||
        !emit_row_transfer(d, load, decode_opcode_has(opcode, "trans"), n, reg,
                           &in->operands[load ? 1 : 0], REF_NONE))
        return false;
    count_as_one_insn(d, first);
    decode_mark_lowered(load ? "ldmatrix" : "stmatrix");
    return true;
}

/* ---- wmma.load and wmma.store ---- */

struct wmma_access {
    ref base, stride;
    struct matrix_tiling tiling;
    u8 unit_bytes, element_bits;
    u8 alignment; /* bytes */
    u8 space;
    bool load, accumulator,
        transposed; /* transposed: a lane's elements follow rows, memory columns */
};

static ref emit_address(struct decoder *d, const struct wmma_access *p, unsigned block,
                        unsigned half, bool is_row) {
    struct matrix_address a = {
        (u8)block,       (u8)half, p->tiling.block_width, p->tiling.blocks_down, p->unit_bytes,
        p->element_bits, is_row,   p->alignment};
    ref out = decode_slot_new(d, 8);
    struct op *o = decode_emit_named(d, "matrix.address");
    o->src[0] = p->base;
    o->src[1] = p->stride;
    o->target = p->transposed;
    memcpy(&o->imm, &a, sizeof a);
    o->dst = out;
    return out;
}

/* Emits an access of each lane: `count` registers of `width` bytes each, to or from half `half` of
 * its unit of a block. */
static void emit_unit_access(struct decoder *d, const struct wmma_access *p, const ref *reg,
                             unsigned count, unsigned width, unsigned block, unsigned half) {
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

static void emit_word_op(struct decoder *d, const char *mnemonic, ref dst, ref a, ref b) {
    struct op *o = decode_emit_named(d, mnemonic);
    o->dst = dst;
    o->src[0] = a;
    o->src[1] = b;
}

/* Emits the accesses to two halves of an accumulator, which lie apart in memory and side by side in
 * a register. */
static void emit_half_accesses(struct decoder *d, const struct wmma_access *p, ref reg,
                               unsigned block) {
    ref half[2] = {decode_slot_new(d, 2), decode_slot_new(d, 2)};
    if (!p->load)
        emit_word_op(d, "unpack.lo.b32", half[0], reg, REF_NONE),
            emit_word_op(d, "unpack.hi.b32", half[1], reg, REF_NONE);
    for (unsigned h = 0; h < 2; h++) emit_unit_access(d, p, &half[h], 1, 2, block, h);
    if (p->load) emit_word_op(d, "pack.b32.b16", reg, half[0], half[1]);
}

static void emit_accumulator_accesses(struct decoder *d, const struct wmma_access *p,
                                      const ref *reg) {
    unsigned each = p->element_bits == 16 ? 1 : 2, bytes = p->element_bits == 64 ? 8 : 4;
    for (unsigned block = 0; block < p->tiling.block_count; block++, reg += each) {
        if (!p->transposed) emit_unit_access(d, p, reg, each, bytes, block, 0);
        else if (p->element_bits == 16) emit_half_accesses(d, p, *reg, block);
        else
            for (unsigned h = 0; h < 2; h++) emit_unit_access(d, p, reg + h, 1, bytes, block, h);
    }
}

/* Emits loads of a or b: halves in shared memory like ldmatrix, four blocks at a time; otherwise
 * each lane loads its units. */
static bool emit_factor_loads(struct decoder *d, const struct wmma_access *p, const ref *reg,
                              unsigned n) {
    unsigned nunits = p->tiling.block_count,
             max_blocks = p->element_bits == 16 && p->space == SPACE_SHARED ? 4 : 0;
    for (unsigned block = 0, nblocks; block < nunits; block += nblocks) {
        nblocks = !max_blocks ? 1 : nunits - block < max_blocks ? nunits - block : max_blocks;
        if (!max_blocks) emit_unit_access(d, p, reg + block, 1, p->unit_bytes, block, 0);
        else if (!emit_row_transfer(d, true, false, nblocks, reg + block, NULL,
                                    emit_address(d, p, block, 0, true)))
            return false;
    }
    for (unsigned i = nunits; i < n; i++)
        emit_word_op(d, "mov.b32", reg[i], reg[i % nunits], REF_NONE);
    return true;
}

/* Computes the tiling; returns false if this shape can't be cut into whole blocks. */
static bool compute_tiling(const struct matrix_opcode *o, struct wmma_access *p) {
    enum { MAX_EXTENT = 256 };
    unsigned rows, columns;
    operand_size(o, o->operand, &rows, &columns);
    p->element_bits = decode_matrix_types[o->types[0]].bits;
    p->accumulator = o->operand >= MATRIX_C;
    p->transposed = p->accumulator && !o->row_major[0];
    p->unit_bytes = p->accumulator ? p->element_bits / 4 : p->element_bits == 64 ? 8 : 4;
    if (rows > MAX_EXTENT || columns > MAX_EXTENT || (p->accumulator && p->element_bits < 16))
        return false;
    unsigned line = p->accumulator || o->row_major[0] ? columns : rows,
             lines = rows * columns / line, units = line * p->element_bits / 8 / p->unit_bytes;
    if (!units || lines * units % 32) return false;
    p->tiling = matrix_tiling_of(lines, units);
    return units % p->tiling.block_width == 0 && 32 % p->tiling.block_width == 0 &&
           p->tiling.blocks_down * 32u == lines * p->tiling.block_width;
}

static bool decode_wmma_ldst(struct decoder *d, bool load) {
    const struct ptx_insn *in = d->insn;
    struct matrix_opcode o;
    ref reg[8];
    if (in->noperands < 2 || !parse_opcode(in->opcode, &o) || o.nlayouts != 1 || o.ntypes != 1)
        return decode_unsupported(d, "not implemented: instruction");
    unsigned rows, columns, n = operand_registers(&o, o.operand, o.types[0], false),
                            bytes = o.types[0] == MATRIX_F64 ? 8 : 4;
    if (n > 8) return decode_unsupported(d, "not implemented: instruction");
    struct wmma_access p = {.space = o.space, .load = load, .alignment = (u8)(n * bytes)};
    operand_size(&o, o.operand, &rows, &columns);
    if (!compute_tiling(&o, &p)) return decode_unsupported(d, "not implemented: instruction");
    decode_emit_warp_barrier(d, false);
    u32 first = d->m->nops;
    if (!decode_register_list(d, &in->operands[load ? 0 : 1], load, n, bytes, reg)) return false;
    if (!decode_address64(d, &in->operands[load ? 1 : 0], &p.base)) return false;
    p.stride = decode_slot_const(d, o.row_major[0] ? columns : rows, 4);
    if (in->noperands > 2 && !decode_source(d, &in->operands[2], PTX_U32, &p.stride)) return false;
    if (p.accumulator) emit_accumulator_accesses(d, &p, reg);
    else if (!emit_factor_loads(d, &p, reg, n)) return false;
    count_as_one_insn(d, first);
    decode_mark_lowered(load ? "wmma.load" : "wmma.store");
    return true;
}

/* ---- movmatrix ---- */

static bool decode_movmatrix(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    struct matrix_desc desc = {
        .m = 8, .n = 8, .k = 1, .operands = {[MATRIX_A] = {.count = 1}, [MATRIX_D] = {.count = 1}}};
    if (in->noperands != 2 || !decode_opcode_has(in->opcode, "trans"))
        return decode_unsupported(d, "not implemented: instruction");
    decode_emit_warp_barrier(d, false);
    if (!decode_register_list(d, &in->operands[0], true, 1, 4, desc.operands[MATRIX_D].reg) ||
        !decode_register_list(d, &in->operands[1], false, 1, 4, desc.operands[MATRIX_A].reg))
        return false;
    u32 aux = add_matrix(d, &desc);
    decode_emit_named(d, "movmatrix")->aux = aux;
    return true;
}

bool decode_matrix(struct decoder *d) {
    const char *opcode = d->insn->opcode;
    if (strncmp(opcode, "wmma.load.", 10) == 0 || strncmp(opcode, "wmma.store.", 11) == 0)
        return decode_wmma_ldst(d, opcode[5] == 'l');
    if (strncmp(opcode, "ldmatrix.", 9) == 0 || strncmp(opcode, "stmatrix.", 9) == 0)
        return decode_ldst_matrix(d, opcode[0] == 'l');
    if (strncmp(opcode, "movmatrix.", 10) == 0) return decode_movmatrix(d);
    return decode_mma(d, opcode[0] == 'm');
}

/* ---- for coverage.c: operands that fit an opcode ---- */

static void print_reg_list(struct buf *b, unsigned n, char letter) {
    for (unsigned i = 0; i < n; i++) buf_printf(b, "%s%%%c%u", i ? ", " : "{", letter, i % 8);
    buf_puts(b, "}");
}

bool decode_matrix_operands(const char *opcode, struct buf *b) {
    struct matrix_opcode o;
    u8 type[MATRIX_OPERANDS];
    static const u8 operand_order[] = {MATRIX_D, MATRIX_A, MATRIX_B, MATRIX_C};
    bool is_ldst =
        strncmp(opcode, "wmma.load.", 10) == 0 || strncmp(opcode, "wmma.store.", 11) == 0;
    if (!parse_opcode(opcode, &o)) return false;
    if (is_ldst) {
        unsigned n = operand_registers(&o, o.operand, o.types[0], false);
        if (opcode[5] == 's') buf_puts(b, "[%q0], ");
        print_reg_list(b, n, o.types[0] == MATRIX_F64 ? 'q' : 'r');
        if (opcode[5] == 'l') buf_puts(b, ", [%q0]");
        return true;
    }
    if (!assign_types(&o, type)) return false;
    for (unsigned i = 0; i < 4; i++) {
        if (i) buf_puts(b, ", ");
        print_reg_list(
            b, operand_registers(&o, operand_order[i], type[operand_order[i]], opcode[0] == 'm'),
            type[operand_order[i]] == MATRIX_F64 ? 'q' : 'r');
    }
    return true;
}
