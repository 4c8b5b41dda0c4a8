/* array.c — CUDA arrays, and copies to and from them. */
#include "grader/runtime/array.h"

#include <stdlib.h>
#include <string.h>

enum { PITCH_ALIGN = 64, HEIGHT_ALIGN = 8 };

size_t wb_element_bytes(const struct cudaChannelFormatDesc *d) {
    int bits[] = {d->x, d->y, d->z, d->w};
    unsigned n = 0;
    while (n < 4 && bits[n]) n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d->x : 0)) return 0;
    bool is_valid = (d->x == 8 || d->x == 16 || d->x == 32) && n && n != 3 &&
                    d->f <= cudaChannelFormatKindFloat &&
                    (d->f != cudaChannelFormatKindFloat || d->x > 8);
    return is_valid ? n * (unsigned)d->x / 8 : 0;
}

/* ---- arrays ---- */

static size_t extent_or_1(size_t n) { return n ? n : 1; }

static int create_array(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                        struct cudaExtent e, unsigned flags) {
    size_t element_bytes = d ? wb_element_bytes(d) : 0;
    bool cube = flags & cudaArrayCubemap;
    unsigned supported_flags =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (flags & ~supported_flags)
        return wb_unsupported("a sparse or deferred CUDA array"), cudaErrorNotSupported;
    if (!out || !element_bytes || !e.width || e.width > 131072 || e.height > 65536 ||
        e.depth > 16384)
        return cudaErrorInvalidValue;
    if (cube && (e.width != e.height || !e.depth || e.depth % 6 ||
                 (!(flags & cudaArrayLayered) && e.depth != 6)))
        return cudaErrorInvalidValue;
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a) return cudaErrorMemoryAllocation;
    *a =
        (struct cudaArray){.desc = *d, .extent = e, .flags = flags, .element_bytes = element_bytes};
    a->pitch = (e.width * element_bytes + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    a->plane =
        a->pitch * (e.height > 1 ? (e.height + HEIGHT_ALIGN - 1) / HEIGHT_ALIGN * HEIGHT_ALIGN : 1);
    int error = wb_check_unsafe_call();
    if (!error) error = wb_allocate((void **)&a->memory, a->plane * extent_or_1(e.depth));
    if (error) return free(a), error;
    return *out = a, 0;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                              struct cudaExtent e, unsigned flags) {
    return wb_return(create_array(out, d, e, flags));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d, size_t width,
                            size_t height, unsigned flags) {
    return wb_return(create_array(out, d, (struct cudaExtent){width, height, 0}, flags));
}

cudaError_t cudaFreeArray(cudaArray_t a) {
    if (!a) return cudaSuccess;
    int error = cudaFree(a->memory);
    free(a);
    return wb_return(error);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *d, struct cudaExtent *e, unsigned *flags,
                             cudaArray_t a) {
    if (!a) return wb_return(cudaErrorInvalidValue);
    if (d) *d = a->desc;
    if (e) *e = a->extent;
    if (flags) *flags = a->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *d, cudaArray_const_t a) {
    if (!d || !a) return wb_return(cudaErrorInvalidValue);
    *d = a->desc;
    return cudaSuccess;
}

/* ---- copies: planes of rows ---- */

struct copy_endpoint {
    uint8_t *p;
    size_t pitch, plane;
};

/* Destination, source and shape of a copy. */
struct copy_mode {
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool async;
};
static struct copy_mode sync_mode(enum cudaMemcpyKind kind) {
    return (struct copy_mode){kind, 0, false};
}
static struct copy_mode async_mode(enum cudaMemcpyKind kind, cudaStream_t s) {
    return (struct copy_mode){kind, s, true};
}

static struct wb_command make_copy_command(struct copy_endpoint to, struct copy_endpoint from,
                                           size_t width, size_t rows, size_t planes,
                                           struct copy_mode w) {
    return (struct wb_command){.kind = WB_COPY,
                               .copy = {.to = to.p,
                                        .from = from.p,
                                        .to_pitch = to.pitch,
                                        .from_pitch = from.pitch,
                                        .width = width,
                                        .rows = planes ? rows : 0,
                                        .kind = w.kind,
                                        .async = w.async,
                                        .depth = planes,
                                        .to_slice = to.plane,
                                        .from_slice = from.plane}};
}

static int issue_copy(struct copy_endpoint to, struct copy_endpoint from, size_t width, size_t rows,
                      struct copy_mode w) {
    struct wb_command c = make_copy_command(to, from, width, rows, 1, w);
    return wb_issue_command(w.stream, &c);
}

/* Returns false if the part, whose `x` is in bytes, exceeds the array. */
static bool array_region(cudaArray_const_t a, size_t x, size_t y, size_t z, size_t width,
                         size_t rows, size_t planes, struct copy_endpoint *out) {
    if (!a) return false;
    size_t row_bytes = a->extent.width * a->element_bytes, height = extent_or_1(a->extent.height),
           depth = extent_or_1(a->extent.depth);
    if (x > row_bytes || width > row_bytes - x || y > height || rows > height - y || z > depth ||
        planes > depth - z)
        return false;
    *out = (struct copy_endpoint){a->memory + z * a->plane + y * a->pitch + x, a->pitch, a->plane};
    return true;
}

static int copy_to_array(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch,
                         size_t width, size_t rows, struct copy_mode w) {
    struct copy_endpoint to;
    if (!array_region(a, x, y, 0, width, rows, 1, &to)) return cudaErrorInvalidValue;
    return issue_copy(to, (struct copy_endpoint){(uint8_t *)from, pitch, 0}, width, rows, w);
}

static int copy_from_array(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y,
                           size_t width, size_t rows, struct copy_mode w) {
    struct copy_endpoint from;
    if (!array_region(a, x, y, 0, width, rows, 1, &from)) return cudaErrorInvalidValue;
    return issue_copy((struct copy_endpoint){to, pitch, 0}, from, width, rows, w);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t rows, enum cudaMemcpyKind kind) {
    return wb_return(copy_to_array(to, x, y, from, pitch, width, rows, sync_mode(kind)));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t rows,
                                     enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_to_array(to, x, y, from, pitch, width, rows, async_mode(kind, s)));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t rows, enum cudaMemcpyKind kind) {
    return wb_return(copy_from_array(to, pitch, from, x, y, width, rows, sync_mode(kind)));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t rows,
                                       enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_from_array(to, pitch, from, x, y, width, rows, async_mode(kind, s)));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from,
                                     size_t fx, size_t fy, size_t width, size_t rows,
                                     enum cudaMemcpyKind kind) {
    struct copy_endpoint dst, src;
    if (!array_region(to, tx, ty, 0, width, rows, 1, &dst) ||
        !array_region(from, fx, fy, 0, width, rows, 1, &src))
        return wb_return(cudaErrorInvalidValue);
    return wb_return(issue_copy(dst, src, width, rows, sync_mode(kind)));
}

/* Bytes without rows, which continue in the array's next row. */
static int copy_linear(cudaArray_const_t a, size_t x, size_t y, uint8_t *p, size_t bytes,
                       bool to_array, struct copy_mode w) {
    int error = a ? 0 : cudaErrorInvalidValue;
    for (size_t row_bytes = a ? a->extent.width * a->element_bytes : 0; !error && bytes;
         y++, x = 0) {
        size_t n = x > row_bytes ? 0 : bytes < row_bytes - x ? bytes : row_bytes - x;
        if (!n) return cudaErrorInvalidValue;
        error = to_array ? copy_to_array((cudaArray_t)a, x, y, p, n, n, 1, w)
                         : copy_from_array(p, n, a, x, y, n, 1, w);
        p += n, bytes -= n;
    }
    return error;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    return wb_return(copy_linear(to, x, y, (uint8_t *)from, bytes, true, sync_mode(kind)));
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_linear(to, x, y, (uint8_t *)from, bytes, true, async_mode(kind, s)));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    return wb_return(copy_linear(from, x, y, to, bytes, false, sync_mode(kind)));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_linear(from, x, y, to, bytes, false, async_mode(kind, s)));
}

/* ---- cudaMemcpy3D: extents count elements if an array takes part, otherwise bytes ---- */

static bool make_endpoint(cudaArray_t a, const struct cudaPitchedPtr *p, struct cudaPos at,
                          size_t width, struct cudaExtent e, struct copy_endpoint *out) {
    if (a)
        return array_region(a, at.x * a->element_bytes, at.y, at.z, width, e.height, e.depth, out);
    size_t plane = p->pitch * p->ysize;
    *out = (struct copy_endpoint){(uint8_t *)p->ptr + at.z * plane + at.y * p->pitch + at.x,
                                  p->pitch, plane};
    return p->ptr;
}

int wb_make_array_copy_command(const struct cudaMemcpy3DParms *p, bool async,
                               struct wb_command *c) {
    struct copy_endpoint to = {0}, from = {0};
    size_t element_bytes = p->dstArray ? p->dstArray->element_bytes : p->srcArray->element_bytes,
           width = p->extent.width * element_bytes;
    bool is_empty = !p->extent.width || !p->extent.height || !p->extent.depth;
    if (p->srcArray && p->dstArray && p->srcArray->element_bytes != p->dstArray->element_bytes)
        return cudaErrorInvalidValue;
    if (!is_empty && (!make_endpoint(p->srcArray, &p->srcPtr, p->srcPos, width, p->extent, &from) ||
                      !make_endpoint(p->dstArray, &p->dstPtr, p->dstPos, width, p->extent, &to)))
        return cudaErrorInvalidValue;
    *c = make_copy_command(to, from, is_empty ? 0 : width, p->extent.height, p->extent.depth,
                           (struct copy_mode){p->kind, 0, async});
    return 0;
}
