/* rows.c — the rows of the instruction table for which the generator writes code. */
#include "grader/sim/native/generate.h"

#include <string.h>

static const struct {
    u8 kind, source_count;
    const char *id;
    u8 takes_carry, gives_carry;
} table[] = {
#define CALL                    {ROW_CALL, 0, "", 0, 0},
#define R1(id, ...)             {ROW_VALUE, 1, #id, 0, 0},
#define R2(id, ...)             {ROW_VALUE, 2, #id, 0, 0},
#define R3(id, ...)             {ROW_VALUE, 3, #id, 0, 0},
#define R4(id, ...)             {ROW_VALUE, 4, #id, 0, 0},
#define RP(id, ...)             {ROW_COMPARE, 2, #id, 0, 0},
#define RT(id, ...)             {ROW_TEST, 1, #id, 0, 0},
#define RM(id, name, nsrc, ...) {ROW_LOGIC, nsrc, #id, 0, 0},
#define RS(id, ...)             {ROW_SELECT, 2, #id, 0, 0},
/* Sums of 64 bits and a carry would take vectors of 128-bit integers. */
#define RC(id, name, pipe, takes, gives, T, W, bits, expr) \
    {bits == 32 ? ROW_CARRY : ROW_CALL, 3, #id, takes, gives},
#define RP2(id, ...) CALL
#define RL(id, ...)  CALL
#define RX(id, ...)  CALL
#define RD(id, ...)  CALL
#include "grader/sim/insn/opcodes.def"
};

/* cvta has a lane function of its own, which adds the window's begin: a constant. */
static bool is_address_conversion(const struct op *o) {
    return !strcmp(insn_opcodes[o->opcode].name, "cvta");
}

/* Parts of the names of rows that gcc 12 doesn't compile to vector code; one of them would make the
 * whole loop over lanes scalar. */
static const char *const scalar_rows[] = {
#define SCALAR_ROW(part) part,
#include "grader/sim/native/scalar_rows.def"
#undef SCALAR_ROW
};

static bool is_scalar(const char *id) {
    for (u32 i = 0; i < sizeof scalar_rows / sizeof *scalar_rows; i++)
        if (strstr(id, scalar_rows[i])) return true;
    return false;
}

static bool is_word_or_double(const char *type) {
    return !strcmp(type, "s32") || !strcmp(type, "u32") || !strcmp(type, "s64") ||
           !strcmp(type, "u64");
}

/* Returns true for sums and products of f32. */
static bool has_raw_value(const char *id) {
    return !strcmp(id, "add_f32") || !strcmp(id, "sub_f32") || !strcmp(id, "mul_f32") ||
           !strcmp(id, "fma_f32");
}

static struct native_row rows[sizeof table / sizeof *table];

static void fill_row(u32 i) {
    const char *id = table[i].id;
    rows[i] = (struct native_row){.kind = is_scalar(id) ? ROW_CALL : table[i].kind,
                                  .source_count = table[i].source_count,
                                  .id = id,
                                  .takes_carry = table[i].takes_carry,
                                  .gives_carry = table[i].gives_carry,
                                  .is_move = !strncmp(id, "mov_", 4),
                                  .has_raw = has_raw_value(id)};
    if (!strncmp(id, "add_", 4) && is_word_or_double(id + 4)) rows[i].add_kind = ADD_SUM;
    if (!strncmp(id, "sub_", 4) && is_word_or_double(id + 4)) rows[i].add_kind = ADD_DIFFERENCE;
}

const struct native_row *native_row(const struct op *o) {
    static const struct native_row call = {.kind = ROW_CALL};
    static const struct native_row conversion = {
        .kind = ROW_VALUE, .source_count = 1, .id = "cvta", .is_move = true};
    if (is_address_conversion(o)) return &conversion;
    if (!rows[o->opcode].id) fill_row(o->opcode);
    return o->kind != OP_LANEWISE || o->env ? &call : &rows[o->opcode];
}

u32 native_result_bytes(const struct op *o) {
    return is_address_conversion(o) ? 8 : native_type_bytes(insn_opcodes[o->opcode].dst);
}
u32 native_source_bytes(const struct op *o, u32 i) {
    return is_address_conversion(o) ? 8 : native_type_bytes(insn_opcodes[o->opcode].src[i]);
}

u32 native_type_bytes(u8 type) {
    switch (type) {
    case PTX_PRED: return 1;
    case PTX_U8:
    case PTX_S8:
    case PTX_U16:
    case PTX_S16: return 2;
    case PTX_U64:
    case PTX_S64:
    case PTX_F64: return 8;
    default: return 4;
    }
}
