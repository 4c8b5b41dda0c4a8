/* undef.c — the shadow of a warp's registers. See undef.h. */
#include "grader/sim/core/undef.h"

#include <string.h>

static u32 slot_bytes(u32 bytes) { return bytes == 1 ? 4 : bytes * 32; }

static u64 lane_bits(const unsigned char *p, u32 bytes, u32 lane) {
    u64 v = 0;
    if (bytes == 1) return *(const u32 *)p >> lane & 1;
    memcpy(&v, p + lane * bytes, bytes);
    return v;
}

u32 undef_get(const struct warp *w, const void *slot, u32 bytes, u64 out[32]) {
    const unsigned char *p = undef_shadow_of(w, slot);
    u32 lanes = 0;
    memset(out, 0, 32 * sizeof *out);
    if (!*undef_origin_of(w, slot)) return 0;
    for (u32 l = 0; l < 32; l++) {
        out[l] = lane_bits(p, bytes, l);
        lanes |= out[l] ? 1u << l : 0;
    }
    return lanes;
}

u32 undef_operand_bits(const struct exec *x, ref r, u32 bytes, u64 out[32]) {
    if (undef_operand_origin(x, r)) return undef_get(x->warp, operand_at(x, r), bytes, out);
    memset(out, 0, 32 * sizeof *out);
    return 0;
}

u32 undef_operand_lanes(const struct exec *x, ref r, u32 bytes) {
    u64 bits[32];
    return undef_operand_origin(x, r) ? undef_operand_bits(x, r, bytes, bits) : 0;
}

void undef_refresh(struct warp *w, void *slot, u32 bytes, u8 origin) {
    const unsigned char *p = undef_shadow_of(w, slot);
    u8 *from = undef_origin_of(w, slot), before = *from;
    u32 end = (u32)(p - w->undef) + slot_bytes(bytes);
    bool any = false;
    for (u32 i = 0; i < slot_bytes(bytes); i += 4) any |= *(const u32 *)(p + i) != 0;
    if (any && end > w->undef_end) w->undef_end = end;
    *from = !any ? 0 : origin ? origin : before;
    w->nundef += (*from != 0) - (before != 0);
}

void undef_put(struct warp *w, void *slot, u32 bytes, u32 mask, const u64 *undefined, u8 origin) {
    unsigned char *p = undef_shadow_of(w, slot);
    u64 any = 0;
    if (!undefined && !*undef_origin_of(w, slot)) return;
    for (u32 l = 0; l < 32; l++) {
        u64 v = undefined ? undefined[l] : 0;
        if (!(mask >> l & 1)) continue;
        if (bytes == 1) *(u32 *)p = (*(u32 *)p & ~(1u << l)) | (u32)(v & 1) << l;
        else memcpy(p + l * bytes, &v, bytes);
        any |= v;
    }
    undef_refresh(w, slot, bytes, any ? origin : 0);
}

/* Copies the undefined bits of parameters, which consist of words. */
void undef_copy(struct warp *w, void *to, const void *from, u32 bytes, u32 mask) {
    u64 bits[32];
    for (u32 i = 0; w->nundef && i < bytes / 4; i++) {
        const unsigned char *source = (const unsigned char *)from + i * 128;
        undef_get(w, source, 4, bits);
        undef_put(w, (unsigned char *)to + i * 128, 4, mask, bits, *undef_origin_of(w, source));
    }
}

void undef_clear(struct warp *w) {
    if (!w->undef_end) return;
    memset(w->undef, 0, w->undef_end);
    memset(w->undef_origin, 0, w->undef_end / 4);
    w->nundef = w->undef_end = 0;
}

struct undef_saved_bases undef_enter_shadow(struct exec *x) {
    static _Alignas(64) unsigned char zeroes[1024];
    struct undef_saved_bases saved;
    memcpy(saved.base, x->base, sizeof saved.base);
    x->base[BASE_FRAME] = undef_shadow_of(x->warp, x->base[BASE_FRAME]);
    x->base[BASE_CONST] = zeroes;
    return saved;
}

void undef_leave_shadow(struct exec *x, const struct undef_saved_bases *saved) {
    memcpy(x->base, saved->base, sizeof saved->base);
}
