/* exec_mem_local.c — loads and stores of local memory, and of the parameters of device functions,
 * with the same layout: word w of lane l at (w × 32 + l) × 4, as on the hardware. See
 * exec_mem.c. */
#include "grader/sim/insn/exec_mem.h"

#include <string.h>

static unsigned char *local_byte(unsigned char *rows, u64 at, u32 lane) {
    return rows + (at / 4 * 32 + lane) * 4 + at % 4;
}

static void local_bytes(const struct exec *x, const struct mem_desc *d, unsigned char *rows,
                        u64 offset, u32 lane, u32 element) {
    if (d->reg[element] == REF_NONE) return;
    unsigned char *reg = (unsigned char *)operand_at(x, d->reg[element]) + lane * d->reg_bytes;
    u64 value = 0;
    if (d->verb == MEM_STORE) memcpy(&value, reg, d->reg_bytes);
    for (u32 i = 0; i < d->width; i++) {
        unsigned char *p = local_byte(rows, offset + i, lane);
        if (d->verb == MEM_STORE) *p = (unsigned char)(value >> 8 * i);
        else value |= (u64)*p << 8 * i;
    }
    if (d->verb == MEM_STORE) return;
    if (d->is_signed && d->width < 8)
        value = (u64)((s64)(value << (64 - 8 * d->width)) >> (64 - 8 * d->width));
    memcpy(reg, &value, d->reg_bytes);
}

/* Moves whole words at one offset of all lanes, the usual case: rows of 32 words. Returns false for
 * other accesses. */
static bool local_rows(const struct exec *x, const struct mem_desc *d, unsigned char *rows,
                       u64 offset, u32 mask) {
    if (d->width != d->reg_bytes || d->width < 4 || offset % 4) return false;
    for (u32 e = 0; e < d->count; e++) {
        if (d->reg[e] == REF_NONE) continue;
        u32 *reg = operand_at(x, d->reg[e]), words = d->width / 4;
        for (u32 w = 0; w < words; w++) {
            u32 *row = (u32 *)(rows + (offset / 4 + e * words + w) * 128);
            if (d->verb == MEM_LOAD)
                FOR_LANES reg[l * (int)words + (int)w] =
                    (mask >> l & 1) ? row[l] : reg[l * (int)words + (int)w];
            else FOR_LANES row[l] = (mask >> l & 1) ? reg[l * (int)words + (int)w] : row[l];
        }
    }
    return true;
}

/* `around`: the shadow of a lane's access, contiguous, with its surroundings. */
static void check_initialized_local(struct exec *x, const struct op *o, const struct mem_desc *d,
                                    unsigned lane, u64 offset) {
    enum { PADDING = 8 };
    unsigned char padded[PADDING + 64 + PADDING] = {0};
    u32 span = access_span(d);
    for (u64 i = offset < PADDING ? PADDING - offset : 0; i < PADDING + span + PADDING; i++)
        if (offset + i - PADDING < x->local_bytes)
            padded[i] = *local_byte(x->warp->local_written, offset + i - PADDING, lane);
    if (!all_initialized(padded + PADDING, span))
        undef_access(x, o, d, lane, offset, padded + PADDING, SPACE_LOCAL);
}

static void shadow_local(struct exec *x, const struct op *o, const struct mem_desc *d,
                         const u64 *ea, u32 mask) {
    u32 span = access_span(d);
    FOR_ACTIVE_LANES(mask) {
        if (d->verb == MEM_LOAD) check_initialized_local(x, o, d, l, ea[l]);
        else
            for (u32 i = 0; i < span; i++) *local_byte(x->warp->local_written, ea[l] + i, l) = 1;
    }
}

/* The same for whole words at one offset: one row of the shadow for each word. */
static bool shadow_local_rows(const struct exec *x, const struct mem_desc *d, u64 offset,
                              u32 mask) {
    u32 words = (u32)d->width * d->count / 4;
    u32 *row = (u32 *)(x->warp->local_written + offset / 4 * 128), undefined_lanes = 0,
        step = d->width / 4u;
    if (d->width < 4 || offset % 4) return false;
    for (u32 w = 0; w < words && d->verb != MEM_LOAD; w++)
        FOR_LANES row[w * 32 + (u32)l] = (mask >> l & 1) ? 0x01010101 : row[w * 32 + (u32)l];
    for (u32 w = 0; w < words && d->verb == MEM_LOAD; w += step) FOR_LANES {
            u32 element = row[w * 32 + (u32)l] | row[(w + step - 1) * 32 + (u32)l];
            undefined_lanes |= element && !(element & 0xfefefefe) ? 0 : 1u << l;
        }
    return !(undefined_lanes & mask);
}

void ISAFN(lane_access_local)(struct exec *x, const struct op *o, const struct mem_desc *d,
                              u32 stat, const u64 *ea, u32 mask) {
    u32 span = access_span(d);
    struct access_pattern *m = &x->pattern_cache[stat];
    if (update_pattern(m, ea, mask, SPACE_LOCAL, span))
        pattern_count(x->stats[stat], m, (u32)ea[__builtin_ctz(mask)] & 3, SPACE_LOCAL, span);
    TRACE(x, o, SPACE_LOCAL, stat, ea, mask);
    FOR_ACTIVE_LANES(mask) {
        if (ea[l] < x->local_bytes && ea[l] + span <= x->local_bytes && !(ea[l] & (d->width - 1u)))
            continue;
        core_fault(
            x, ea[l] + span <= x->local_bytes ? SIM_FAULT_MISALIGNED : SIM_FAULT_OUT_OF_BOUNDS, o,
            l, ea[l],
            "accesses %u bytes at offset %lld of local memory, of which a thread has %u bytes",
            span, (long long)(s64)ea[l], x->local_bytes);
        mask &= ~(1u << l);
    }
    if (!mask) return;
    unsigned char *rows = x->warp->local;
    bool uniform = m->valid && m->shape == PATTERN_UNIFORM;
    if (x->sanitize && !(uniform && shadow_local_rows(x, d, ea[__builtin_ctz(mask)], mask)))
        shadow_local(x, o, d, ea, mask);
    if (uniform && local_rows(x, d, rows, ea[__builtin_ctz(mask)], mask)) return;
    FOR_ACTIVE_LANES(mask)
    for (u32 e = 0; e < d->count; e++) local_bytes(x, d, rows, ea[l] + e * d->width, l, e);
}

/* Accesses a device function's parameter, which lies in the frame like local memory: target is its
 * frame offset, imm the byte within it. */
static void access_formal_param(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    unsigned char *rows = x->base[BASE_FRAME] + o->target;
    if (local_rows(x, d, rows, (u64)o->imm, mask)) return;
    FOR_ACTIVE_LANES(mask)
    for (u32 e = 0; e < d->count; e++) local_bytes(x, d, rows, (u64)o->imm + e * d->width, l, e);
}
void ISAFN(op_paramld)(struct exec *x, const struct op *o, u32 mask) {
    access_formal_param(x, o, mask);
}
void ISAFN(op_paramst)(struct exec *x, const struct op *o, u32 mask) {
    access_formal_param(x, o, mask);
}
