/* exec_mem_move.c — moves data between the registers of 32 lanes and memory. exec_mem_*.c call
 * lane_move. */
#include "grader/sim/insn/exec_mem.h"

/* Loads one element of each lane, from p + rel[l] into D. W: type in memory; R: type of the
 * register. */
#define LOAD_AS(W, R)                                              \
    do {                                                           \
        R *D = reg;                                                \
        if (shape == PATTERN_UNIT_STRIDE && stride == sizeof(W)) { \
            FOR_LANES D[l] = (R)((const W *)p)[l];                 \
        } else if (shape == PATTERN_UNIFORM) {                     \
            R v = (R) * (const W *)p;                              \
            STORE_LANES(D, mask, v);                               \
        } else {                                                   \
            STORE_LANES(D, mask, (R) * (const W *)(p + rel[l]));   \
        }                                                          \
    } while (0)

/* A case for each size in memory, size of the register, and sign extension. */
#define LOAD(width, reg_bytes, is_signed) ((width) << 8 | (reg_bytes) << 1 | (is_signed))

static void load_element(void *reg, const struct mem_desc *d, const unsigned char *p,
                         const s32 *rel, u32 mask, u8 shape, u32 stride) {
    switch (LOAD(d->width, d->reg_bytes, d->is_signed)) {
    case LOAD(4, 4, 0):
    case LOAD(4, 4, 1): LOAD_AS(u32, u32); break;
    case LOAD(8, 8, 0):
    case LOAD(8, 8, 1): LOAD_AS(u64, u64); break;
    case LOAD(4, 8, 0): LOAD_AS(u32, u64); break;
    case LOAD(4, 8, 1): LOAD_AS(s32, s64); break;
    case LOAD(2, 2, 0):
    case LOAD(2, 2, 1): LOAD_AS(u16, u16); break;
    case LOAD(2, 4, 0): LOAD_AS(u16, u32); break;
    case LOAD(2, 4, 1): LOAD_AS(s16, s32); break;
    case LOAD(2, 8, 0): LOAD_AS(u16, u64); break;
    case LOAD(2, 8, 1): LOAD_AS(s16, s64); break;
    case LOAD(1, 2, 0): LOAD_AS(u8, u16); break;
    case LOAD(1, 2, 1): LOAD_AS(s8, s16); break;
    case LOAD(1, 4, 0): LOAD_AS(u8, u32); break;
    case LOAD(1, 4, 1): LOAD_AS(s8, s32); break;
    case LOAD(1, 8, 0): LOAD_AS(u8, u64); break;
    case LOAD(1, 8, 1): LOAD_AS(s8, s64); break;
    default: die("load of %u bytes into a register of %u", d->width, d->reg_bytes);
    }
}

/* Lanes store in order: if several write one address, the highest lane's value stays. R: register
 * type. */
#define STORE_AS(W, R)                                             \
    do {                                                           \
        const R *S = reg;                                          \
        if (shape == PATTERN_UNIT_STRIDE && stride == sizeof(W)) { \
            FOR_LANES((W *)p)[l] = (W)S[l];                        \
        } else {                                                   \
            FOR_ACTIVE_LANES(mask) * (W *)(p + rel[l]) = (W)S[l];  \
        }                                                          \
    } while (0)

#define STORE(width, reg_bytes) ((width) << 8 | (reg_bytes))

static void store_element(const void *reg, const struct mem_desc *d, unsigned char *p,
                          const s32 *rel, u32 mask, u8 shape, u32 stride) {
    switch (STORE(d->width, d->reg_bytes)) {
    case STORE(4, 4): STORE_AS(u32, u32); break;
    case STORE(8, 8): STORE_AS(u64, u64); break;
    case STORE(4, 8): STORE_AS(u32, u64); break;
    case STORE(2, 2): STORE_AS(u16, u16); break;
    case STORE(2, 4): STORE_AS(u16, u32); break;
    case STORE(2, 8): STORE_AS(u16, u64); break;
    case STORE(1, 2): STORE_AS(u8, u16); break;
    case STORE(1, 4): STORE_AS(u8, u32); break;
    case STORE(1, 8): STORE_AS(u8, u64); break;
    default: die("store of %u bytes from a register of %u", d->width, d->reg_bytes);
    }
}

void ISAFN(lane_move)(const struct exec *x, const struct mem_desc *d, unsigned char *p,
                      const s32 *rel, u32 mask, u8 shape) {
    u32 span = access_span(d);
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        void *reg = operand_at(x, d->reg[e]);
        if (d->verb == MEM_LOAD) load_element(reg, d, p + e * d->width, rel, mask, shape, span);
        else store_element(reg, d, p + e * d->width, rel, mask, shape, span);
    }
}
