/* texture.c — texture and surface objects: checks the description from the client, then creates
 * the object on the device. */
#include "grader/server/internal.h"

#include <string.h>

static bool is_valid(const struct wb_req_texture_create *q) {
    bool channels = q->channels == 1 || q->channels == 2 || q->channels == 4;
    bool bits = q->bits == 8 || q->bits == 16 || q->bits == 32;
    bool modes = (q->modes & 0xff) <= SIM_TEX_BORDER && (q->modes >> 8 & 0xff) <= SIM_TEX_BORDER &&
                 (q->modes >> 16 & 0xff) <= SIM_TEX_BORDER;
    bool kind = q->kind <= SIM_TEX_FLOAT && (q->kind != SIM_TEX_FLOAT || q->bits > 8);
    bool size = q->width && q->height && q->depth && q->width <= 1u << 28 &&
                q->height <= 1u << 17 && q->depth <= 1u << 14 && q->layers <= 1u << 12;
    return channels && bits && modes && kind && size && q->shape <= SIM_TEX_CUBE;
}

/* Returns the bytes from the first texel to the end of the last; 0 = rows or planes overlap. */
static uint64_t texture_bytes(const struct wb_req_texture_create *q) {
    uint64_t row = (uint64_t)q->width * q->channels * q->bits / 8,
             planes = q->shape == SIM_TEX_3D ? q->depth : 1;
    if (q->shape == SIM_TEX_CUBE) planes = 6;
    if (q->layers) planes *= q->layers;
    if (q->pitch > 1ull << 32 || q->plane > 1ull << 36) return 0;
    if ((q->height > 1 && q->pitch < row) ||
        (planes > 1 && q->plane < (uint64_t)q->height * q->pitch))
        return 0;
    return (planes - 1) * q->plane + (q->height - 1) * q->pitch + row;
}

static struct sim_texture to_sim_texture(const struct wb_req_texture_create *q) {
    struct sim_texture t = {.address = q->address,
                            .pitch = q->pitch,
                            .slice_pitch = q->plane,
                            .width = q->width,
                            .height = q->height,
                            .depth = q->depth,
                            .layers = q->layers,
                            .shape = (uint8_t)q->shape,
                            .channels = (uint8_t)q->channels,
                            .channel_bits = (uint8_t)q->bits,
                            .texel_kind = (uint8_t)q->kind,
                            .is_tiled = q->flags & WB_TEX_TILED,
                            .is_linear_filter = q->flags & WB_TEX_LINEAR,
                            .normalized_coords = q->flags & WB_TEX_NORMALIZED,
                            .read_normalized_float = q->flags & WB_TEX_FLOAT && q->bits < 32,
                            .is_srgb = q->flags & WB_TEX_SRGB,
                            .is_surface = q->flags & WB_TEX_SURFACE};
    for (unsigned i = 0; i < 3; i++) t.address_modes[i] = (uint8_t)(q->modes >> 8 * i);
    const uint32_t border[4] = {q->border_x, q->border_y, q->border_z, q->border_w};
    memcpy(t.border_color, border, sizeof border);
    return t;
}

int server_on_texture_create(struct server *s, const struct wb_req_texture_create *q,
                             struct message_tail tail, struct wb_rep_texture_create *p,
                             struct buf *out) {
    (void)tail, (void)out;
    uint64_t start, bytes, required_bytes = is_valid(q) ? texture_bytes(q) : 0;
    if (s->options.grading)
        return server_refuse(
            s, WB_cudaErrorNotSupported,
            "textures and surfaces are not part of exercises: pass pointers to the kernel");
    if (!s->backend->ops->texture_create)
        return server_refuse(s, WB_cudaErrorNotSupported,
                             "textures and surfaces are not supported on a GPU here");
    if (!required_bytes ||
        !s->backend->ops->find_allocation(s->backend, q->address, &start, &bytes) ||
        required_bytes > bytes - (q->address - start))
        return server_refuse(s, WB_cudaErrorInvalidValue,
                             "a texture or surface does not lie in device memory, or its rows "
                             "overlap: width %u, height %u, pitch %llu",
                             q->width, q->height, (unsigned long long)q->pitch);
    struct sim_texture t = to_sim_texture(q);
    p->handle = s->backend->ops->texture_create(s->backend, &t);
    return p->handle ? 0 : WB_cudaErrorMemoryAllocation;
}

int server_on_texture_destroy(struct server *s, const struct wb_req_texture_destroy *q,
                              struct message_tail tail, struct wb_rep_texture_destroy *p,
                              struct buf *out) {
    (void)tail, (void)p, (void)out;
    bool ok =
        s->backend->ops->texture_destroy && s->backend->ops->texture_destroy(s->backend, q->handle);
    return ok ? 0 : WB_cudaErrorInvalidValue;
}
