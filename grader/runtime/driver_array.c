/* driver_array.c — the driver API's arrays, and its texture and surface objects. */
#include "grader/runtime/array.h"
#include "grader/runtime/driver.h"

#include <string.h>

/* ---- formats ---- */

static const struct {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

/* Returns false if we don't have the format. */
static bool to_channels(CUarray_format format, unsigned n, struct cudaChannelFormatDesc *out) {
    for (unsigned i = 0; i < FORMAT_COUNT && n && n <= 4; i++) {
        int bits = formats[i].bits;
        if (formats[i].format != format) continue;
        *out = (struct cudaChannelFormatDesc){bits, n > 1 ? bits : 0, n > 2 ? bits : 0,
                                              n > 3 ? bits : 0, formats[i].kind};
        return true;
    }
    return false;
}

static void from_channels(const struct cudaChannelFormatDesc *d, CUarray_format *format,
                          unsigned *n) {
    for (unsigned i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].bits == d->x && formats[i].kind == d->f) *format = formats[i].format;
    *n = 1 + (d->y != 0) + (d->z != 0) + (d->w != 0);
}

/* ---- arrays ---- */

static int create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct cudaChannelFormatDesc channels;
    if (!out || !d) return cudaErrorInvalidValue;
    if (!to_channels(d->Format, d->NumChannels, &channels))
        return wb_unsupported("an array of this format");
    /* Both interfaces number the flags alike. */
    return cudaMalloc3DArray((cudaArray_t *)out, &channels,
                             (struct cudaExtent){d->Width, d->Height, d->Depth}, d->Flags);
}

static int get_descriptor(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array) {
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent;
    unsigned flags;
    int error = out ? (int)cudaArrayGetInfo(&channels, &extent, &flags, (cudaArray_t)array)
                    : cudaErrorInvalidValue;
    if (error) return error;
    *out = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    from_channels(&channels, &out->Format, &out->NumChannels);
    return 0;
}

CUresult cuArray3DCreate(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    return WITH_CONTEXT(create_array(out, d));
}
CUresult cuArrayCreate(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d) {
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR p = {
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
    return WITH_CONTEXT(create_array(out, &p));
}
CUresult cuArrayDestroy(CUarray array) {
    return array ? WITH_DRIVER(cudaFreeArray((cudaArray_t)array)) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array) {
    return WITH_DRIVER(get_descriptor(out, array));
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *out, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult error = WITH_DRIVER(get_descriptor(&d, array));
    if (error || !out) return error ? error : CUDA_ERROR_INVALID_VALUE;
    *out = (CUDA_ARRAY_DESCRIPTOR){
        .Width = d.Width, .Height = d.Height, .Format = d.Format, .NumChannels = d.NumChannels};
    return CUDA_SUCCESS;
}

/* ---- texture and surface objects ---- */

/* Mipmapped arrays have no format here, and are refused by the runtime. */
static int to_runtime_resource(const CUDA_RESOURCE_DESC *d, struct cudaResourceDesc *r) {
    bool is_known = true;
    *r = (struct cudaResourceDesc){.resType = (enum cudaResourceType)d->resType};
    if (d->resType == CU_RESOURCE_TYPE_ARRAY) r->res.array.array = (cudaArray_t)d->res.array.hArray;
    if (d->resType == CU_RESOURCE_TYPE_LINEAR) {
        r->res.linear.devPtr = (void *)d->res.linear.devPtr;
        r->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        is_known =
            to_channels(d->res.linear.format, d->res.linear.numChannels, &r->res.linear.desc);
    }
    if (d->resType == CU_RESOURCE_TYPE_PITCH2D) {
        r->res.pitch2D.devPtr = (void *)d->res.pitch2D.devPtr;
        r->res.pitch2D.width = d->res.pitch2D.width;
        r->res.pitch2D.height = d->res.pitch2D.height;
        r->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        is_known =
            to_channels(d->res.pitch2D.format, d->res.pitch2D.numChannels, &r->res.pitch2D.desc);
    }
    return is_known ? 0 : wb_unsupported("a texture of this format");
}

/* Returns true if reads give fractions: of 8- and 16-bit integers, unless a flag forbids it. */
static bool reads_fractions(const struct cudaResourceDesc *r, unsigned flags) {
    struct cudaChannelFormatDesc d = r->resType == cudaResourceTypeLinear    ? r->res.linear.desc
                                     : r->resType == cudaResourceTypePitch2D ? r->res.pitch2D.desc
                                     : r->resType == cudaResourceTypeArray && r->res.array.array
                                         ? r->res.array.array->desc
                                         : (struct cudaChannelFormatDesc){0};
    return !(flags & CU_TRSF_READ_AS_INTEGER) && d.x < 32 && d.f != cudaChannelFormatKindFloat;
}

static int create_texture(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *view) {
    struct cudaResourceDesc r;
    cudaTextureObject_t handle;
    if (!out || !resource || !t) return cudaErrorInvalidValue;
    if (view) return wb_unsupported("cuTexObjectCreate with a resource view");
    int error = to_runtime_resource(resource, &r);
    if (error) return error;
    struct cudaTextureDesc d = {
        .filterMode = (enum cudaTextureFilterMode)t->filterMode,
        .readMode =
            reads_fractions(&r, t->flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = (t->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0};
    for (unsigned i = 0; i < 3; i++)
        d.addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
    memcpy(d.borderColor, t->borderColor, sizeof d.borderColor);
    error = cudaCreateTextureObject(&handle, &r, &d, NULL);
    if (!error) *out = handle;
    return error;
}

static int create_surface(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    struct cudaResourceDesc r;
    cudaSurfaceObject_t handle;
    if (!out || !resource) return cudaErrorInvalidValue;
    int error = to_runtime_resource(resource, &r);
    if (!error) error = cudaCreateSurfaceObject(&handle, &r);
    if (!error) *out = handle;
    return error;
}

CUresult cuTexObjectCreate(CUtexObject *out, const CUDA_RESOURCE_DESC *r,
                           const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *view) {
    return WITH_CONTEXT(create_texture(out, r, t, view));
}
CUresult cuTexObjectDestroy(CUtexObject t) { return WITH_DRIVER(cudaDestroyTextureObject(t)); }
CUresult cuSurfObjectCreate(CUsurfObject *out, const CUDA_RESOURCE_DESC *r) {
    return WITH_CONTEXT(create_surface(out, r));
}
CUresult cuSurfObjectDestroy(CUsurfObject s) { return WITH_DRIVER(cudaDestroySurfaceObject(s)); }
