/* texture.c — texture and surface objects: converts CUDA's descriptors to a message to the device
 * server. */
#include "grader/runtime/array.h"

#include <stdlib.h>
#include <string.h>

/* The descriptors by handle, for queries. */
struct texture_object {
    uint64_t handle; /* 0 = free */
    bool is_surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
};
static struct texture_object *objects;
static size_t nobjects;

static struct texture_object *find_object(uint64_t handle, bool is_surface) {
    for (size_t i = 0; i < nobjects; i++)
        if (objects[i].handle == handle && (!handle || objects[i].is_surface == is_surface))
            return &objects[i];
    return NULL;
}

static int save_object(uint64_t handle, bool is_surface, const struct cudaResourceDesc *r,
                       const struct cudaTextureDesc *t) {
    struct texture_object *o = find_object(0, is_surface);
    if (!o) {
        struct texture_object *resized = realloc(objects, (nobjects + 1) * sizeof *resized);
        if (!resized) return cudaErrorMemoryAllocation;
        objects = resized;
        o = &objects[nobjects++];
    }
    *o = (struct texture_object){.handle = handle, .is_surface = is_surface, .resource = *r};
    if (t) o->texture = *t;
    return 0;
}

/* ---- conversion of CUDA's descriptors; shapes as in enum SIM_TEX_…, which the runtime can't
 * include ---- */

enum { SHAPE_BUFFER, SHAPE_1D, SHAPE_2D, SHAPE_3D, SHAPE_CUBE };

static int set_format(struct wb_req_texture_create *q, const struct cudaChannelFormatDesc *d) {
    static const uint32_t channel_kinds[] = {[cudaChannelFormatKindSigned] = 0,
                                             [cudaChannelFormatKindUnsigned] = 1,
                                             [cudaChannelFormatKindFloat] = 2};
    if (!wb_element_bytes(d)) return cudaErrorInvalidChannelDescriptor;
    q->bits = (uint32_t)d->x;
    q->channels = (uint32_t)wb_element_bytes(d) * 8 / q->bits;
    q->kind = channel_kinds[d->f];
    return 0;
}

static int describe_array(struct wb_req_texture_create *q, const struct cudaArray *a) {
    if (!a) return cudaErrorInvalidValue;
    bool layered = a->flags & cudaArrayLayered, cube = a->flags & cudaArrayCubemap;
    uint32_t depth = (uint32_t)a->extent.depth;
    q->address = (uint64_t)a->memory, q->pitch = a->pitch, q->plane = a->plane;
    q->width = (uint32_t)a->extent.width;
    q->height = a->extent.height ? (uint32_t)a->extent.height : 1;
    q->depth = !layered && !cube && depth ? depth : 1;
    q->shape = cube                ? SHAPE_CUBE
               : !a->extent.height ? SHAPE_1D
               : depth && !layered ? SHAPE_3D
                                   : SHAPE_2D;
    if (layered) q->layers = cube ? depth / 6 : depth;
    q->flags |= WB_TEX_TILED;
    return set_format(q, &a->desc);
}

static int describe_linear(struct wb_req_texture_create *q, const struct cudaResourceDesc *r) {
    size_t element_bytes = wb_element_bytes(&r->res.linear.desc);
    int error = set_format(q, &r->res.linear.desc);
    if (error || !element_bytes) return error;
    q->address = (uint64_t)r->res.linear.devPtr;
    q->pitch = r->res.linear.sizeInBytes;
    q->width = (uint32_t)(r->res.linear.sizeInBytes / element_bytes);
    q->height = q->depth = 1;
    q->shape = SHAPE_BUFFER;
    return q->address % 16 ? cudaErrorMisalignedAddress : 0;
}

static int describe_pitched(struct wb_req_texture_create *q, const struct cudaResourceDesc *r) {
    q->address = (uint64_t)r->res.pitch2D.devPtr;
    q->pitch = r->res.pitch2D.pitchInBytes;
    q->width = (uint32_t)r->res.pitch2D.width;
    q->height = (uint32_t)r->res.pitch2D.height;
    q->depth = 1;
    q->shape = SHAPE_2D;
    if (q->address % 32 || q->pitch % 32)
        return cudaErrorInvalidValue; /* textureAlignment, texturePitchAlignment */
    return set_format(q, &r->res.pitch2D.desc);
}

static int describe_resource(struct wb_req_texture_create *q, const struct cudaResourceDesc *r) {
    switch (r->resType) {
    case cudaResourceTypeArray: return describe_array(q, r->res.array.array);
    case cudaResourceTypeLinear: return describe_linear(q, r);
    case cudaResourceTypePitch2D: return describe_pitched(q, r);
    default: return wb_unsupported("a texture of a mipmapped array");
    }
}

static uint32_t float_bits(float v) {
    uint32_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static int set_sampling(struct wb_req_texture_create *q, const struct cudaTextureDesc *t) {
    bool is_normalized = t->readMode == cudaReadModeNormalizedFloat, is_float = q->kind == 2;
    if (is_normalized && !is_float && q->bits == 32) return cudaErrorInvalidNormSetting;
    if (t->filterMode == cudaFilterModeLinear && !is_float && !is_normalized)
        return cudaErrorInvalidFilterSetting;
    for (unsigned i = 0; i < 3; i++) q->modes |= (uint32_t)t->addressMode[i] << 8 * i;
    if (t->filterMode == cudaFilterModeLinear) q->flags |= WB_TEX_LINEAR;
    if (t->normalizedCoords) q->flags |= WB_TEX_NORMALIZED;
    if (is_normalized && !is_float) q->flags |= WB_TEX_FLOAT;
    if (t->sRGB) q->flags |= WB_TEX_SRGB;
    q->border_x = float_bits(t->borderColor[0]), q->border_y = float_bits(t->borderColor[1]);
    q->border_z = float_bits(t->borderColor[2]), q->border_w = float_bits(t->borderColor[3]);
    return 0;
}

static int create_object(uint64_t *out, struct wb_req_texture_create *q, bool is_surface,
                         const struct cudaResourceDesc *r, const struct cudaTextureDesc *t) {
    struct wb_rep_texture_create p;
    int error = wb_request(texture_create, q, &p);
    if (!error) error = save_object(p.handle, is_surface, r, t);
    if (!error) *out = p.handle;
    return error;
}

/* ---- the calls ---- */

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *r,
                                    const struct cudaTextureDesc *t,
                                    const struct cudaResourceViewDesc *view) {
    struct wb_req_texture_create q = {0};
    uint64_t handle;
    if (!out || !r || !t) return wb_return(cudaErrorInvalidValue);
    if (view) return wb_unsupported("cudaCreateTextureObject with a resource view");
    int error = describe_resource(&q, r);
    if (!error) error = set_sampling(&q, t);
    if (!error) error = create_object(&handle, &q, false, r, t);
    if (!error) *out = handle;
    return wb_return(error);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *r) {
    struct wb_req_texture_create q = {.flags = WB_TEX_SURFACE};
    uint64_t handle;
    if (!out || !r || r->resType != cudaResourceTypeArray || !r->res.array.array)
        return wb_return(cudaErrorInvalidValue);
    if (!(r->res.array.array->flags & cudaArraySurfaceLoadStore))
        return wb_return(cudaErrorInvalidValue);
    int error = describe_resource(&q, r);
    if (q.shape == SHAPE_CUBE) q.shape = SHAPE_2D, q.layers = q.layers ? q.layers * 6 : 6;
    if (!error) error = create_object(&handle, &q, true, r, NULL);
    if (!error) *out = handle;
    return wb_return(error);
}

static cudaError_t destroy_object(uint64_t handle, bool is_surface) {
    struct texture_object *o = handle ? find_object(handle, is_surface) : NULL;
    if (!handle) return cudaSuccess;
    if (!o) return cudaErrorInvalidValue;
    o->handle = 0;
    return wb_request(texture_destroy, (&(struct wb_req_texture_destroy){handle}), NULL);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) {
    return wb_return(destroy_object(t, false));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) {
    return wb_return(destroy_object(s, true));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out, cudaTextureObject_t t) {
    const struct texture_object *o = t ? find_object(t, false) : NULL;
    if (o) *out = o->resource;
    return wb_return(o ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out, cudaTextureObject_t t) {
    const struct texture_object *o = t ? find_object(t, false) : NULL;
    if (o) *out = o->texture;
    return wb_return(o ? 0 : cudaErrorInvalidValue);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *out, cudaSurfaceObject_t s) {
    const struct texture_object *o = s ? find_object(s, true) : NULL;
    if (o) *out = o->resource;
    return wb_return(o ? 0 : cudaErrorInvalidValue);
}
