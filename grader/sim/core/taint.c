/* taint.c — the shadow of a warp's registers. See taint.h. */
#include "grader/sim/core/taint.h"

#include <string.h>

static u32 size_of(u32 bytes) { return bytes == 1 ? 4 : bytes * 32; }

static u64 lane_bits(const unsigned char *p, u32 bytes, u32 lane) {
    u64 v = 0;
    if (bytes == 1) return *(const u32 *)p >> lane & 1;
    memcpy(&v, p + lane * bytes, bytes);
    return v;
}

u32 taint_get(const struct warp *w, const void *slot, u32 bytes, u64 out[32]) {
    const unsigned char *p = taint_of(w, slot);
    u32 lanes = 0;
    memset(out, 0, 32 * sizeof *out);
    if (!*taint_origin(w, slot)) return 0;
    for (u32 l = 0; l < 32; l++) {
        out[l] = lane_bits(p, bytes, l);
        lanes |= out[l] ? 1u << l : 0;
    }
    return lanes;
}

u32 taint_bits(const struct exec *x, ref r, u32 bytes, u64 out[32]) {
    if (taint_ref(x, r)) return taint_get(x->warp, operand_at(x, r), bytes, out);
    memset(out, 0, 32 * sizeof *out);
    return 0;
}

u32 taint_lanes(const struct exec *x, ref r, u32 bytes) {
    u64 bits[32];
    return taint_ref(x, r) ? taint_bits(x, r, bytes, bits) : 0;
}

void taint_refresh(struct warp *w, void *slot, u32 bytes, u8 origin) {
    const unsigned char *p = taint_of(w, slot);
    u8 *from = taint_origin(w, slot), before = *from;
    u32 end = (u32)(p - w->taint) + size_of(bytes);
    bool any = false;
    for (u32 i = 0; i < size_of(bytes); i += 4) any |= *(const u32 *)(p + i) != 0;
    if (any && end > w->taint_end) w->taint_end = end;
    *from = !any ? 0 : origin ? origin : before;
    w->ntainted += (*from != 0) - (before != 0);
}

void taint_put(struct warp *w, void *slot, u32 bytes, u32 mask, const u64 *undefined, u8 origin) {
    unsigned char *p = taint_of(w, slot);
    u64 any = 0;
    if (!undefined && !*taint_origin(w, slot)) return;
    for (u32 l = 0; l < 32; l++) {
        u64 v = undefined ? undefined[l] : 0;
        if (!(mask >> l & 1)) continue;
        if (bytes == 1) *(u32 *)p = (*(u32 *)p & ~(1u << l)) | (u32)(v & 1) << l;
        else memcpy(p + l * bytes, &v, bytes);
        any |= v;
    }
    taint_refresh(w, slot, bytes, any ? origin : 0);
}

/* Words of parameters. */
void taint_copy(struct warp *w, void *to, const void *from, u32 bytes, u32 mask) {
    u64 bits[32];
    for (u32 i = 0; w->ntainted && i < bytes / 4; i++) {
        const unsigned char *source = (const unsigned char *)from + i * 128;
        taint_get(w, source, 4, bits);
        taint_put(w, (unsigned char *)to + i * 128, 4, mask, bits, *taint_origin(w, source));
    }
}

void taint_forget(struct warp *w) {
    if (!w->taint_end) return;
    memset(w->taint, 0, w->taint_end);
    memset(w->origin, 0, w->taint_end / 4);
    w->ntainted = w->taint_end = 0;
}

struct taint_bases taint_enter(struct exec *x) {
    static _Alignas(64) unsigned char zeroes[1024];
    struct taint_bases saved;
    memcpy(saved.base, x->base, sizeof saved.base);
    x->base[BASE_FRAME] = taint_of(x->warp, x->base[BASE_FRAME]);
    x->base[BASE_CONST] = zeroes;
    return saved;
}

void taint_leave(struct exec *x, const struct taint_bases *saved) {
    memcpy(x->base, saved->base, sizeof saved->base);
}
