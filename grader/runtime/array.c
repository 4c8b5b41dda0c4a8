/* array.c — CUDA arrays, and copies to and from them. */
#include "grader/runtime/array.h"

#include <stdlib.h>
#include <string.h>

enum { ROW = 64, ROWS = 8 };

size_t wb_element_bytes(const struct cudaChannelFormatDesc *d) {
    int bits[] = {d->x, d->y, d->z, d->w};
    unsigned n = 0;
    while (n < 4 && bits[n]) n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? d->x : 0)) return 0;
    bool sound = (d->x == 8 || d->x == 16 || d->x == 32) && n && n != 3 &&
                 d->f <= cudaChannelFormatKindFloat &&
                 (d->f != cudaChannelFormatKindFloat || d->x > 8);
    return sound ? n * (unsigned)d->x / 8 : 0;
}

/* ---- arrays ---- */

static size_t at_least_one(size_t n) { return n ? n : 1; }

static int make(cudaArray_t *out, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
                unsigned flags) {
    size_t element = d ? wb_element_bytes(d) : 0;
    bool cube = flags & cudaArrayCubemap;
    unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (flags & ~known)
        return wb_unsupported("a sparse or deferred CUDA array"), cudaErrorNotSupported;
    if (!out || !element || !e.width || e.width > 131072 || e.height > 65536 || e.depth > 16384)
        return cudaErrorInvalidValue;
    if (cube && (e.width != e.height || !e.depth || e.depth % 6 ||
                 (!(flags & cudaArrayLayered) && e.depth != 6)))
        return cudaErrorInvalidValue;
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a) return cudaErrorMemoryAllocation;
    *a = (struct cudaArray){.desc = *d, .extent = e, .flags = flags, .element = element};
    a->pitch = (e.width * element + ROW - 1) / ROW * ROW;
    a->plane = a->pitch * (e.height > 1 ? (e.height + ROWS - 1) / ROWS * ROWS : 1);
    int error = wb_unsafe();
    if (!error) error = wb_allocate((void **)&a->memory, a->plane * at_least_one(e.depth));
    if (error) return free(a), error;
    return *out = a, 0;
}

cudaError_t cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d,
                              struct cudaExtent e, unsigned flags) {
    return wb_return(make(out, d, e, flags));
}

cudaError_t cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *d, size_t width,
                            size_t height, unsigned flags) {
    return wb_return(make(out, d, (struct cudaExtent){width, height, 0}, flags));
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

struct side {
    uint8_t *p;
    size_t pitch, plane;
};

/* Where and how a copy goes. */
struct way {
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool async;
};
static struct way at_once(enum cudaMemcpyKind kind) { return (struct way){kind, 0, false}; }
static struct way in_stream(enum cudaMemcpyKind kind, cudaStream_t s) {
    return (struct way){kind, s, true};
}

static struct wb_command command(struct side to, struct side from, size_t width, size_t rows,
                                 size_t planes, struct way w) {
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

static int move(struct side to, struct side from, size_t width, size_t rows, struct way w) {
    struct wb_command c = command(to, from, width, rows, 1, w);
    return wb_issue(w.stream, &c);
}

/* `x` in bytes. False: the part leaves the array. */
static bool part(cudaArray_const_t a, size_t x, size_t y, size_t z, size_t width, size_t rows,
                 size_t planes, struct side *out) {
    if (!a) return false;
    size_t row = a->extent.width * a->element, height = at_least_one(a->extent.height),
           depth = at_least_one(a->extent.depth);
    if (x > row || width > row - x || y > height || rows > height - y || z > depth ||
        planes > depth - z)
        return false;
    *out = (struct side){a->memory + z * a->plane + y * a->pitch + x, a->pitch, a->plane};
    return true;
}

static int to_array(cudaArray_t a, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                    size_t rows, struct way w) {
    struct side to;
    if (!part(a, x, y, 0, width, rows, 1, &to)) return cudaErrorInvalidValue;
    return move(to, (struct side){(uint8_t *)from, pitch, 0}, width, rows, w);
}

static int from_array(void *to, size_t pitch, cudaArray_const_t a, size_t x, size_t y, size_t width,
                      size_t rows, struct way w) {
    struct side from;
    if (!part(a, x, y, 0, width, rows, 1, &from)) return cudaErrorInvalidValue;
    return move((struct side){to, pitch, 0}, from, width, rows, w);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t rows, enum cudaMemcpyKind kind) {
    return wb_return(to_array(to, x, y, from, pitch, width, rows, at_once(kind)));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t rows,
                                     enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(to_array(to, x, y, from, pitch, width, rows, in_stream(kind, s)));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t rows, enum cudaMemcpyKind kind) {
    return wb_return(from_array(to, pitch, from, x, y, width, rows, at_once(kind)));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t rows,
                                       enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(from_array(to, pitch, from, x, y, width, rows, in_stream(kind, s)));
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t tx, size_t ty, cudaArray_const_t from,
                                     size_t fx, size_t fy, size_t width, size_t rows,
                                     enum cudaMemcpyKind kind) {
    struct side target, origin;
    if (!part(to, tx, ty, 0, width, rows, 1, &target) ||
        !part(from, fx, fy, 0, width, rows, 1, &origin))
        return wb_return(cudaErrorInvalidValue);
    return wb_return(move(target, origin, width, rows, at_once(kind)));
}

/* Bytes in a row of their own, that go on in the next row of the array. */
static int in_a_row(cudaArray_const_t a, size_t x, size_t y, uint8_t *p, size_t bytes, bool into,
                    struct way w) {
    int error = a ? 0 : cudaErrorInvalidValue;
    for (size_t row = a ? a->extent.width * a->element : 0; !error && bytes; y++, x = 0) {
        size_t n = x > row ? 0 : bytes < row - x ? bytes : row - x;
        if (!n) return cudaErrorInvalidValue;
        error = into ? to_array((cudaArray_t)a, x, y, p, n, n, 1, w)
                     : from_array(p, n, a, x, y, n, 1, w);
        p += n, bytes -= n;
    }
    return error;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    return wb_return(in_a_row(to, x, y, (uint8_t *)from, bytes, true, at_once(kind)));
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(in_a_row(to, x, y, (uint8_t *)from, bytes, true, in_stream(kind, s)));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    return wb_return(in_a_row(from, x, y, to, bytes, false, at_once(kind)));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                     size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(in_a_row(from, x, y, to, bytes, false, in_stream(kind, s)));
}

/* ---- cudaMemcpy3D: extents count an array's elements where there is one, else bytes ---- */

static bool side_of(cudaArray_t a, const struct cudaPitchedPtr *p, struct cudaPos at, size_t width,
                    struct cudaExtent e, struct side *out) {
    if (a) return part(a, at.x * a->element, at.y, at.z, width, e.height, e.depth, out);
    size_t plane = p->pitch * p->ysize;
    *out =
        (struct side){(uint8_t *)p->ptr + at.z * plane + at.y * p->pitch + at.x, p->pitch, plane};
    return p->ptr;
}

int wb_array_command(const struct cudaMemcpy3DParms *p, bool async, struct wb_command *c) {
    struct side to = {0}, from = {0};
    size_t element = p->dstArray ? p->dstArray->element : p->srcArray->element,
           width = p->extent.width * element;
    bool none = !p->extent.width || !p->extent.height || !p->extent.depth;
    if (p->srcArray && p->dstArray && p->srcArray->element != p->dstArray->element)
        return cudaErrorInvalidValue;
    if (!none && (!side_of(p->srcArray, &p->srcPtr, p->srcPos, width, p->extent, &from) ||
                  !side_of(p->dstArray, &p->dstPtr, p->dstPos, width, p->extent, &to)))
        return cudaErrorInvalidValue;
    *c = command(to, from, none ? 0 : width, p->extent.height, p->extent.depth,
                 (struct way){p->kind, 0, async});
    return 0;
}
