/* undef_memory.c — undefined values on their way between registers and memory. See undef.h.
 *
 * A load is judged by the element: some bytes of an element are often padding, which does not make
 * the element undefined. Structures are also copied with their padding, in vectors of any type: if
 * the values of a vector are only stored, the whole vector counts; for bytes and halves, the 8
 * bytes around them. Marks, however, count by the byte. */
#include "grader/sim/core/cluster.h"
#include "grader/sim/core/undef.h"

#include <string.h>

static u64 low_byte_mask(u32 bytes) { return bytes >= 8 ? ~0ull : (1ull << 8 * bytes) - 1; }

/* Returns true if any of the bytes that decide about an element is initialized. */
static bool is_any_written(const struct mem_desc *d, u32 element, u64 address,
                           const unsigned char *shadow) {
    u32 at = element * d->width, n = d->width;
    s32 begin = (s32)at;
    unsigned char any = 0;
    if (d->copy_only_mask >> element & 1) {
        if (d->width >= 4) begin = 0, n = (u32)d->width * d->count;
        else begin = (s32)at - (s32)((address + at) & 7), n = 8;
    }
    for (u32 i = 0; i < n; i++) any |= shadow[begin + (s32)i];
    return any;
}

/* Returns the undefined bits of an element; *mark is one of their marks. */
static u64 marked_bits(const unsigned char *shadow, u32 width, u8 *mark) {
    u64 bits = 0;
    for (u32 i = 0; i < width; i++)
        if (undef_is_mark(shadow[i])) bits |= 0xffull << 8 * i, *mark = shadow[i];
    return bits;
}

static void mark_register(struct exec *x, const struct mem_desc *d, u32 element, u32 lane, u64 bits,
                          u8 origin) {
    u64 undefined[32];
    bool extended = d->is_signed && bits >> (8 * d->width - 1) & 1;
    undefined[lane] = extended ? bits | ~low_byte_mask(d->width) : bits;
    undef_set_operand(x, d->reg[element], d->reg_bytes, 1u << lane, undefined, origin);
}

/* Returns UNDEF_PADDING for a byte load within 8 bytes some of which are initialized. */
static u8 padding_flag(const struct mem_desc *d, u64 at, const unsigned char *shadow) {
    unsigned char any = 0;
    for (s32 i = 0; d->width == 1 && i < 8; i++) any |= shadow[i - (s32)(at & 7)];
    return any ? UNDEF_PADDING : 0;
}

static void check_atomic_update(struct exec *x, const struct op *o, const struct mem_desc *d,
                                u32 lane, u64 address, u8 mark, enum mem_space space) {
    /* an exchange without a result only writes */
    if (d->atom == ATOM_EXCH && d->result == REF_NONE) return;
    if (mark) undef_report_use(x, mark / 2, o, 1u << lane, "updates it atomically");
    else undef_report_access(x, o, lane, address, d->width, space);
}

/* Returns true if a copy in flight will write some of the bytes. */
static bool has_pending_bytes(const struct mem_desc *d, const unsigned char *shadow) {
    bool has_pending = false;
    for (u32 i = 0; i < (u32)d->width * d->count; i++) has_pending |= shadow[i] == UNDEF_PENDING;
    return has_pending;
}

void undef_access(struct exec *x, const struct op *o, const struct mem_desc *d, u32 lane,
                  u64 address, const unsigned char *shadow, enum mem_space space) {
    if (space == SPACE_SHARED && has_pending_bytes(d, shadow)) {
        const char *verb = d->verb == MEM_LOAD ? "reads" : "updates";
        struct block *b = cluster_block_containing(x, shadow);
        x->worker->launch->race_callbacks->on_pending_copy_access(x, b, o, lane, address,
                                                                  (u32)d->width * d->count, verb);
        return;
    }
    for (u32 e = 0; e < d->count; e++) {
        u8 mark = 0;
        u64 at = address + e * d->width, bits = marked_bits(shadow + e * d->width, d->width, &mark);
        bool is_unwritten = !is_any_written(d, e, address, shadow);
        if (!bits && !is_unwritten) continue;
        if (d->verb != MEM_LOAD) return check_atomic_update(x, o, d, lane, at, mark, space);
        u8 origin = mark / 2;
        if (is_unwritten)
            origin = undef_load_origin(x, o, lane, at, d->width, space) |
                     padding_flag(d, at, shadow + e * d->width);
        mark_register(x, d, e, lane, is_unwritten ? low_byte_mask(d->width) : bits, origin);
    }
    x->undef_load = o;
    x->fast_mask = 0;
}

/* ---- stores ---- */

/* Returns the shadow of an address in the shared memory of any block of the cluster. */
static unsigned char *cluster_shadow_of(struct exec *x, u64 at, u32 span) {
    u32 field = cluster_rank_field(at), offset = cluster_offset(at),
        rank = field ? field - 1 : x->block->cluster_rank;
    bool is_mapped =
        rank < x->cluster->nblocks && offset < x->shared_bytes && span <= x->shared_bytes - offset;
    return is_mapped ? x->cluster->blocks[rank].shared_written + offset : NULL;
}

/* Returns the shadow of a lane's access; *local says whether it is laid out as local memory. NULL
 * if out of bounds. */
static unsigned char *access_shadow_of(struct exec *x, u8 space, u64 at, u32 span, u32 lane,
                                       bool *local) {
    if (space == SPACE_GENERIC)
        space = at - SHARED_WINDOW < WINDOW_BYTES  ? (at -= SHARED_WINDOW, SPACE_SHARED)
                : at - LOCAL_WINDOW < WINDOW_BYTES ? (at -= LOCAL_WINDOW, SPACE_LOCAL)
                                                   : SPACE_GLOBAL;
    *local = space == SPACE_LOCAL;
    if (x->cluster && (space == SPACE_SHARED || space == SPACE_CLUSTER))
        return cluster_shadow_of(x, at, span);
    if (*local)
        return at < x->local_bytes && span <= x->local_bytes - at
                   ? x->warp->local_written + at / 4 * 128 + lane * 4 + at % 4
                   : NULL;
    if (space == SPACE_SHARED || space == SPACE_CLUSTER)
        return at < x->shared_bytes && span <= x->shared_bytes - at ? x->shared_written + at : NULL;
    int i = memory_find_range(x->memory, at, span);
    if (i < 0 || x->memory->allocations[i].region == MEM_HOST_SHARED)
        return NULL; /* the simulator can't see the host's writes */
    memory_forget_initialized(&x->memory->allocations[i]);
    x->memory->has_undef_marks = true;
    return x->memory->init_shadow + (at - SIM_BASE);
}

struct stored_undef {
    u64 bits[8][32];
    u8 origin[8];
    u32 lanes; /* that store something undefined */
};

static void mark_lane(const struct mem_desc *d, const struct stored_undef *s, unsigned char *w,
                      bool local, u32 lane) {
    u32 word_offset = local ? (u32)(uintptr_t)w % 4 : 0; /* words of one lane are 128 bytes apart */
    for (u32 i = 0; i < (u32)d->width * d->count; i++) {
        u32 e = i / d->width,
            at = local ? (word_offset + i) / 4 * 128 + (word_offset + i) % 4 - word_offset : i;
        bool undefined = s->bits[e][lane] >> 8 * (i % d->width) & 0xff;
        if (!undefined && w[at] == UNDEF_PENDING) continue;
        w[at] = undefined ? (unsigned char)(2 * s->origin[e]) : 1;
    }
}

void undef_store(struct exec *x, const struct op *o, u32 mask) {
    const struct mem_desc *d = &x->mems[o->aux];
    struct stored_undef s = {.lanes = 0};
    for (u32 e = 0; e < d->count; e++) {
        s.lanes |= undef_operand_bits(x, d->reg[e], d->reg_bytes, s.bits[e]);
        s.origin[e] = undef_operand_origin(x, d->reg[e]);
    }
    const void *base = o->src[0] == REF_NONE ? NULL : operand_at(x, o->src[0]);
    for (u32 m = s.lanes & mask ? mask : 0; m;
         m &= m - 1) { /* all lanes: a later lane may store a defined value there */
        u32 l = (u32)__builtin_ctz(m);
        u64 at = !base          ? (u64)o->imm
                 : d->address32 ? ((const u32 *)base)[l] + (u32)o->imm
                                : ((const u64 *)base)[l] + (u64)o->imm;
        bool local;
        unsigned char *w = access_shadow_of(x, d->space, at, (u32)d->width * d->count, l, &local);
        if (w) mark_lane(d, &s, w, local, l);
    }
}
