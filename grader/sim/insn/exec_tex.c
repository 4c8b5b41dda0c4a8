/* exec_tex.c — executes texture fetches and surface accesses, a lane at a time.
 *
 * The rules are those of the CUDA C++ Programming Guide, "Texture Fetching". Linear filtering
 * weighs texels by fractions of 8 bits, to which coordinates are rounded (nearest, halves up:
 * measured on an H100). Texels lie row by row in device memory; the counts assume tiles as the
 * hardware has them for arrays: 512 bytes hold 8 rows of 64 bytes, in sectors of 2 rows of 16 bytes
 * (Tegra X1 Technical Reference Manual, "block linear"). */
#include "grader/sim/code/tex.h"
#include "grader/sim/core/undef.h"
#include "grader/sim/insn/exec.h"
#include "grader/sim/insn/exec_half.h"
#include "grader/sim/race/exec_race.h"

#include <math.h>
#include <string.h>

enum {
    MAX_SECTORS = 32 * 8 * 2,
    TEX_LANES_PER_CYCLE = 4 /* served by a texture unit */
};

struct fetch {
    struct exec *x;
    const struct op *o;
    const struct tex_desc *d;
    const struct sim_texture *t;
    u32 lane;
    u64 *sectors;                   /* touched by the request so far */
    u32 *nsectors, *reported_lanes; /* reported_lanes: lanes with a report */
};

/* ---- texels ---- */

static const struct sim_texture *texture_at(struct exec *x, const struct op *o, u32 lane,
                                            u64 handle) {
    const struct sim *s = x->worker->launch->sim;
    u64 i = (handle - TEXTURE_WINDOW) / 64 - 1;
    if (handle % 64 == 0 && i < s->ntextures && s->textures[i].channels) return &s->textures[i];
    core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, handle,
               "uses 0x%llx, which is not a texture or surface object", (unsigned long long)handle);
    return NULL;
}

static u32 texel_bytes(const struct sim_texture *t) { return t->channels * t->channel_bits / 8u; }

/* Returns the number of the sector of bytes [x, x + n) of row y of plane z. */
static u64 sector_of(const struct sim_texture *t, u64 x, u64 y, u64 z) {
    u64 row = t->pitch;
    if (!t->is_tiled || t->height < 2) return (t->address + z * t->slice_pitch + y * row + x) / 32;
    u64 tiles = (row + 63) / 64, rows = (t->height + 7) / 8,
        tile = (z * rows + y / 8) * tiles + x / 64;
    u64 sector_offset = x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32;
    return t->address / 32 + tile * 16 + sector_offset / 32;
}

static void add_sectors(const struct fetch *f, u64 x, u64 y, u64 z, u32 bytes) {
    for (u64 at = x & ~15ull; at < x + bytes; at += 16) {
        u64 sector = sector_of(f->t, at, y, z);
        u32 i = *f->nsectors;
        while (i && f->sectors[i - 1] != sector) i--;
        if (!i && *f->nsectors < MAX_SECTORS) f->sectors[(*f->nsectors)++] = sector;
    }
}

/* Records a read for races with other streams, whose commands may change a texture's memory. Texels
 * narrower than a shadow cell, and stores to surfaces, are left out. */
static void record_stream_read(const struct fetch *f, u64 address, u32 bytes) {
    struct exec *x = f->x;
    const struct mem_desc *d = &x->mems[f->o->aux];
    if (d->verb == MEM_STORE || bytes % (1u << x->worker->launch->global_shift)) return;
    ISAFN(race_global_lane_access)(x, f->o, d->stat, f->lane, address, bytes, RACE_READ);
}

/* Returns the bytes at x of row y of plane z, checked and counted; NULL after a report. */
static unsigned char *texel_pointer(const struct fetch *f, u64 x, u64 y, u64 z, u32 bytes) {
    struct exec *e = f->x;
    u64 address = f->t->address + z * f->t->slice_pitch + y * f->t->pitch + x;
    char location[256];
    add_sectors(f, x, y, z, bytes);
    if (memory_find_range(e->memory, address, bytes) >= 0) {
        if (e->tracks_global_races && e->worker->launch->sim->streams)
            record_stream_read(f, address, bytes);
        return e->memory->bytes + (address - SIM_BASE);
    }
    memory_describe(e->memory, address, bytes, location, sizeof location);
    core_fault(e, SIM_FAULT_USE_AFTER_FREE, f->o, f->lane, address,
               "uses a texture or surface whose memory no longer exists: %s", location);
    return NULL;
}

static void check_texel_initialized(const struct fetch *f, const unsigned char *p, u32 bytes) {
    struct exec *e = f->x;
    const unsigned char *w = e->memory->init_shadow + (p - e->memory->bytes);
    bool all = true;
    for (u32 i = 0; i < bytes; i++) all &= w[i] != 0;
    if (all || !e->sanitize || *f->reported_lanes >> f->lane & 1) return;
    *f->reported_lanes |= 1u << f->lane;
    undef_report_access(e, f->o, f->lane, SIM_BASE + (u64)(p - e->memory->bytes), bytes,
                        SPACE_GLOBAL);
}

/* Returns a channel of a texel as 32 bits, integers extended. */
static u32 channel_bits(const struct sim_texture *t, const unsigned char *p, u32 c) {
    u32 v = 0;
    memcpy(&v, p + c * t->channel_bits / 8, t->channel_bits / 8);
    if (t->texel_kind == SIM_TEX_FLOAT)
        return t->channel_bits == 16 ? bits_of(f32_of_f16((u16)v)) : v;
    if (t->texel_kind == SIM_TEX_SIGNED && t->channel_bits < 32)
        v = (u32)((s32)(v << (32 - t->channel_bits)) >> (32 - t->channel_bits));
    return v;
}

/* Returns the value as a fraction of the largest number; the smallest signed one counts as -1,
 * too. */
static f32 normalize_channel(const struct sim_texture *t, u32 v, u32 channel) {
    f32 max_value = t->texel_kind == SIM_TEX_SIGNED ? (f32)((1u << (t->channel_bits - 1)) - 1)
                                                    : (f32)((1u << t->channel_bits) - 1);
    f32 r = (t->texel_kind == SIM_TEX_SIGNED ? (f32)(s32)v : (f32)v) / max_value;
    if (r < -1) r = -1;
    if (!t->is_srgb || channel == 3) return r;
    return r <= 0.04045f ? r / 12.92f : powf((r + 0.055f) / 1.055f, 2.4f);
}

static bool returns_float(const struct sim_texture *t) {
    return t->texel_kind == SIM_TEX_FLOAT || t->read_normalized_float;
}

/* Reads the channel values of one texel as bits; missing channels are 0. */
static void read_texel(const struct fetch *f, const s64 at[3], u32 plane, u32 out[4]) {
    const struct sim_texture *t = f->t;
    memset(out, 0, 4 * sizeof *out);
    u64 z = t->shape == SIM_TEX_3D ? (u64)at[2] : plane;
    const unsigned char *p =
        texel_pointer(f, (u64)at[0] * texel_bytes(t), (u64)at[1], z, texel_bytes(t));
    if (!p) return;
    check_texel_initialized(f, p, texel_bytes(t));
    for (u32 c = 0; c < t->channels; c++) {
        u32 v = channel_bits(t, p, c);
        out[c] = t->texel_kind != SIM_TEX_FLOAT && t->read_normalized_float
                     ? bits_of(normalize_channel(t, v, c))
                     : v;
    }
}

/* ---- addressing ---- */

static u32 extent(const struct sim_texture *t, u32 i) {
    return i == 0 ? t->width : i == 1 ? t->height : t->depth;
}

/* Modes that repeat need normalized coordinates; else they clamp. */
static u8 address_mode(const struct sim_texture *t, u32 i) {
    u8 m = t->address_modes[i];
    return !t->normalized_coords && (m == SIM_TEX_WRAP || m == SIM_TEX_MIRROR) ? SIM_TEX_CLAMP : m;
}

/* Computes the texel that index i addresses; returns false for the border. */
static bool apply_address_mode(const struct sim_texture *t, u32 i, s64 *at) {
    s64 n = extent(t, i), v = *at;
    switch (t->shape == SIM_TEX_CUBE ? SIM_TEX_CLAMP : address_mode(t, i)) {
    case SIM_TEX_WRAP: v = v % n < 0 ? v % n + n : v % n; break;
    case SIM_TEX_MIRROR:
        v = v % (2 * n) < 0 ? v % (2 * n) + 2 * n : v % (2 * n);
        if (v >= n) v = 2 * n - 1 - v;
        break;
    case SIM_TEX_BORDER: return v >= 0 && v < n;
    default: v = v < 0 ? 0 : v >= n ? n - 1 : v;
    }
    *at = v;
    return true;
}

static void fetch_texel(const struct fetch *f, const s64 index[3], u32 plane, u32 out[4]) {
    s64 at[3] = {index[0], index[1], index[2]};
    bool in = true;
    for (u32 i = 0; i < (f->t->shape == SIM_TEX_CUBE ? 2u : f->d->ncoords); i++)
        in &= apply_address_mode(f->t, i, &at[i]);
    if (in) return read_texel(f, at, plane, out);
    for (u32 c = 0; c < 4; c++) {
        u32 bits = bits_of(f->t->border_color[c]);
        out[c] = c >= f->t->channels   ? 0
                 : returns_float(f->t) ? bits
                                       : (u32)(s32)f->t->border_color[c];
    }
}

/* Clamps a coordinate to a finite range; far outside is as good as just outside. */
static f64 clamp_coordinate(f32 v) {
    return v != v ? 0 : v > 0x1p40f ? 0x1p40 : v < -0x1p40f ? -0x1p40 : (f64)v;
}

/* ---- filters ---- */

static void filter_point(const struct fetch *f, const f32 *c, u32 n, u32 plane, u32 out[4]) {
    s64 at[3] = {0, 0, 0};
    for (u32 i = 0; i < n; i++) at[i] = (s64)floor(clamp_coordinate(c[i]));
    fetch_texel(f, at, plane, out);
}

/* Returns the coordinate in texels less one half, with 8 bits of fraction. */
static s64 fixed_point(f32 c) { return (s64)floor((clamp_coordinate(c) - 0.5) * 256 + 0.5); }

static void filter_linear(const struct fetch *f, const f32 *c, u32 n, u32 plane, u32 out[4]) {
    s64 base[3] = {0, 0, 0};
    f32 weight[3] = {0, 0, 0}, sum[4] = {0, 0, 0, 0};
    for (u32 i = 0; i < n; i++) {
        s64 v = fixed_point(c[i]);
        base[i] = v >> 8;
        weight[i] = (f32)(v & 255) / 256;
    }
    for (u32 corner = 0; corner < 1u << n; corner++) {
        s64 at[3];
        u32 v[4];
        f32 w = 1;
        for (u32 i = 0; i < 3; i++) {
            u32 up = corner >> i & 1;
            at[i] = base[i] + up;
            if (i < n) w *= up ? weight[i] : 1 - weight[i];
        }
        if (w == 0) continue;
        fetch_texel(f, at, plane, v);
        for (u32 k = 0; k < 4; k++) sum[k] += w * f32_of(v[k]);
    }
    for (u32 k = 0; k < 4; k++) out[k] = bits_of(sum[k]);
}

/* Gathers counter-clockwise from (0, 1), as tld4 requires. */
static void gather(const struct fetch *f, const f32 *c, u32 plane, u32 out[4]) {
    static const u8 dx[] = {0, 1, 1, 0}, dy[] = {1, 1, 0, 0};
    s64 x = fixed_point(c[0]) >> 8, y = fixed_point(c[1]) >> 8;
    for (u32 k = 0; k < 4; k++) {
        u32 v[4];
        fetch_texel(f, (s64[3]){x + dx[k], y + dy[k], 0}, plane, v);
        out[k] = v[f->d->component];
    }
}

/* ---- cube maps: the guide's table of faces ---- */

static u32 face_of(const f32 c[3], f32 st[2]) {
    f32 ax = fabsf(c[0]), ay = fabsf(c[1]), az = fabsf(c[2]), m, s, t;
    u32 face;
    if (ax >= ay && ax >= az) {
        face = c[0] >= 0 ? 0 : 1;
        m = ax, s = face ? c[2] : -c[2], t = -c[1];
    } else if (ay >= az) {
        face = c[1] >= 0 ? 2 : 3;
        m = ay, s = c[0], t = face == 2 ? c[2] : -c[2];
    } else {
        face = c[2] >= 0 ? 4 : 5;
        m = az, s = face == 4 ? c[0] : -c[0], t = -c[1];
    }
    st[0] = (s / m + 1) / 2;
    st[1] = (t / m + 1) / 2;
    return face;
}

/* ---- a fetch ---- */

static u32 lane_register(const struct exec *x, ref r, u32 lane) {
    return r == REF_NONE ? 0 : ((const u32 *)operand_at(x, r))[lane];
}

static u32 layer_of(const struct fetch *f) {
    s64 layer = (s32)lane_register(f->x, f->d->layer, f->lane), n = f->t->layers;
    return f->d->layer == REF_NONE || !n || layer < 0 ? 0 : (u32)(layer >= n ? n - 1 : layer);
}

/* tex1Dfetch: fetches from linear memory; 0 outside of it. */
static void fetch_buffer(const struct fetch *f, u32 out[4]) {
    s64 at[3] = {(s32)lane_register(f->x, f->d->coord[0], f->lane), 0, 0};
    memset(out, 0, 4 * sizeof *out);
    if (at[0] >= 0 && at[0] < f->t->width) read_texel(f, at, 0, out);
}

static void coordinates(const struct fetch *f, f32 c[3]) {
    for (u32 i = 0; i < f->d->ncoords; i++) {
        u32 v = lane_register(f->x, f->d->coord[i], f->lane);
        c[i] = f->d->has_integer_coords ? (f32)(s32)v : f32_of(v);
    }
}

static void fetch(const struct fetch *f, u32 out[4]) {
    const struct sim_texture *t = f->t;
    f32 c[3] = {0, 0, 0}, st[2];
    u32 plane = layer_of(f), n = f->d->ncoords;
    if (t->shape == SIM_TEX_BUFFER) return fetch_buffer(f, out);
    coordinates(f, c);
    if (t->shape == SIM_TEX_CUBE) {
        plane = plane * 6 + face_of(c, st);
        n = 2, c[0] = st[0], c[1] = st[1];
    }
    for (u32 i = 0; i < n && !f->d->has_integer_coords; i++)
        if (t->normalized_coords || t->shape == SIM_TEX_CUBE) c[i] *= (f32)extent(t, i);
    if (f->d->verb == TEX_GATHER) gather(f, c, plane, out);
    else if (t->is_linear_filter && !f->d->has_integer_coords && returns_float(t))
        filter_linear(f, c, n, plane, out);
    else filter_point(f, c, n, plane, out);
}

/* Returns true if the texture has the instruction's shape and result type; else reports it. */
static bool check_texture_type(const struct fetch *f) {
    static const char *const shapes[] = {"linear memory", "1D", "2D", "3D", "a cube map"};
    const struct sim_texture *t = f->t;
    bool is_buffer =
        t->shape == SIM_TEX_BUFFER && f->d->shape == SIM_TEX_1D && f->d->has_integer_coords;
    bool shape_matches = is_buffer || t->shape == f->d->shape,
         layers_match = f->d->layered == (t->layers != 0);
    bool type_matches = f->d->verb > TEX_GATHER || (f->d->type == PTX_F32) == returns_float(t);
    if (shape_matches && layers_match && type_matches &&
        (f->d->verb <= TEX_GATHER || t->is_surface))
        return true;
    core_fault(f->x, SIM_FAULT_OUT_OF_BOUNDS, f->o, f->lane, 0,
               "fetches %s%s %s from an object that is %s%s%s of %s: the value is undefined",
               f->d->layered ? "layered " : "", shapes[f->d->shape],
               f->d->type == PTX_F32 ? "floats" : "integers", t->layers ? "layered " : "",
               shapes[t->shape], t->is_surface ? " surface" : "",
               returns_float(t) ? "floats" : "integers");
    return false;
}

static void count_request(struct exec *x, const struct op *o, const u64 *sectors, u32 n, u32 mask,
                          u32 bytes) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 *s = x->stats[d->stat];
    u32 lanes = (u32)__builtin_popcount(mask), ideal = (lanes * bytes + 31) / 32;
    s[STAT_REQUESTS]++;
    s[STAT_LANES] += lanes;
    s[STAT_SECTORS] += n;
    s[STAT_IDEAL_SECTORS] += n < ideal ? n : ideal;
    if (x->trace)
        trace_texture(x, o, d->verb, sectors, n,
                      (lanes + TEX_LANES_PER_CYCLE - 1) / TEX_LANES_PER_CYCLE);
}

static void fetch_lanes(struct exec *x, const struct op *o, u32 mask) {
    const struct tex_desc *d = &x->worker->launch->module->texs[o->target];
    const u64 *handle = operand_at(x, d->handle);
    u64 sectors[MAX_SECTORS];
    u32 nsectors = 0, reported_lanes = 0, bytes = 4;
    FOR_ACTIVE_LANES(mask) {
        struct fetch f = {x, o,       d,         texture_at(x, o, l, handle[l]),
                          l, sectors, &nsectors, &reported_lanes};
        u32 out[4];
        if (!f.t || !check_texture_type(&f)) continue;
        bytes = texel_bytes(f.t);
        fetch(&f, out);
        for (u32 k = 0; k < d->ndst; k++)
            if (d->dst[k] != REF_NONE) ((u32 *)operand_at(x, d->dst[k]))[l] = out[k];
    }
    count_request(x, o, sectors, nsectors, mask, bytes);
}

void ISAFN(op_tex)(struct exec *x, const struct op *o, u32 mask) { fetch_lanes(x, o, mask); }
void ISAFN(op_tld4)(struct exec *x, const struct op *o, u32 mask) { fetch_lanes(x, o, mask); }

void ISAFN(op_txq)(struct exec *x, const struct op *o, u32 mask) {
    const u64 *handle = operand_at(x, o->src[0]);
    u32 *D = operand_at(x, o->dst);
    FOR_ACTIVE_LANES(mask) {
        const struct sim_texture *t = texture_at(x, o, l, handle[l]);
        if (t) D[l] = o->aux == 2 && t->layers ? t->layers : extent(t, o->aux);
    }
}

/* ---- surfaces ---- */

/* Returns where the element lies; NULL if it is outside, which is then handled. */
static unsigned char *surface_pointer(const struct fetch *f, u32 bytes) {
    const struct sim_texture *t = f->t;
    s64 at[3] = {0, 0, 0},
        max_coord[3] = {(s64)t->width * texel_bytes(t) - bytes, t->height - 1, t->depth - 1};
    bool out = false;
    s64 layer = (s32)lane_register(f->x, f->d->layer, f->lane);
    for (u32 i = 0; i < f->d->ncoords; i++) {
        at[i] = (s32)lane_register(f->x, f->d->coord[i], f->lane);
        out |= at[i] < 0 || at[i] > max_coord[i];
        if (f->d->clamp == SURF_CLAMP)
            at[i] = at[i] < 0 ? 0 : at[i] > max_coord[i] ? max_coord[i] : at[i];
    }
    out |= f->d->layered && (layer < 0 || layer >= t->layers);
    if (at[0] % bytes) {
        core_fault(f->x, SIM_FAULT_MISALIGNED, f->o, f->lane, (u64)at[0],
                   "accesses %u bytes at byte %lld of a row of a surface, which is not a multiple "
                   "of %u (x counts bytes)",
                   bytes, (long long)at[0], bytes);
        return NULL;
    }
    if (out && f->d->clamp == SURF_TRAP) {
        core_fault(f->x, SIM_FAULT_OUT_OF_BOUNDS, f->o, f->lane, 0,
                   "accesses %u bytes at (%lld,%lld,%lld) of a surface of %u x %u x %u elements of "
                   "%u bytes (x counts bytes)",
                   bytes, (long long)at[0], (long long)at[1], (long long)at[2], t->width, t->height,
                   t->depth, texel_bytes(t));
        return NULL;
    }
    if (out && f->d->clamp == SURF_ZERO) return NULL;
    return texel_pointer(f, (u64)at[0], (u64)at[1],
                         t->shape == SIM_TEX_3D ? (u64)at[2] : layer_of(f), bytes);
}

static void move_surface_elements(const struct fetch *f, unsigned char *p, u32 width) {
    const struct tex_desc *d = f->d;
    for (u32 e = 0; e < d->ndst; e++) {
        if (d->dst[e] == REF_NONE) continue;
        unsigned char *reg = (unsigned char *)operand_at(f->x, d->dst[e]) + f->lane * d->reg_bytes;
        u64 v = 0;
        if (d->verb == SURF_STORE) memcpy(&v, reg, d->reg_bytes), memcpy(p + e * width, &v, width);
        else {
            if (p) memcpy(&v, p + e * width, width);
            memcpy(reg, &v, d->reg_bytes);
        }
    }
}

static void access_surface(struct exec *x, const struct op *o, u32 mask) {
    const struct tex_desc *d = &x->worker->launch->module->texs[o->target];
    const u64 *handle = operand_at(x, d->handle);
    u32 width = ptx_type_bytes((enum ptx_type)d->type), bytes = width * d->ndst, nsectors = 0,
        reported_lanes = 0;
    u64 sectors[MAX_SECTORS];
    FOR_ACTIVE_LANES(mask) {
        struct fetch f = {x, o,       d,         texture_at(x, o, l, handle[l]),
                          l, sectors, &nsectors, &reported_lanes};
        if (!f.t || !check_texture_type(&f)) continue;
        unsigned char *p = surface_pointer(&f, bytes);
        if (p && d->verb == SURF_LOAD) check_texel_initialized(&f, p, bytes);
        if (p && d->verb == SURF_STORE)
            memset(x->memory->init_shadow + (p - x->memory->bytes), 1, bytes);
        if (p || d->verb == SURF_LOAD) move_surface_elements(&f, p, width);
    }
    count_request(x, o, sectors, nsectors, mask, bytes);
}

void ISAFN(op_suld)(struct exec *x, const struct op *o, u32 mask) { access_surface(x, o, mask); }
void ISAFN(op_sust)(struct exec *x, const struct op *o, u32 mask) { access_surface(x, o, mask); }
