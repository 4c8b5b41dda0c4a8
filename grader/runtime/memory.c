/* memory.c — cudaMalloc and its kin, and the copies. Asynchronous calls are done when they return. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- device memory ---- */

enum { PITCH = 512 };

static int allocate(void **out, size_t bytes) {
    struct wb_rep_alloc p;
    if (!out) return cudaErrorInvalidValue;
    *out = NULL;
    int error;
    if (!wb_device(&error) || !bytes) return error; /* zero bytes: success and a null pointer */
    error = wb_ask(alloc, &((struct wb_req_alloc){bytes}), &p);
    *out = (void *)p.address;
    return error;
}

static int release(void *p) {
    int error;
    if (!wb_device(&error) || !p) return error;
    if (!wb_is_device(p)) return cudaErrorInvalidValue;
    wb_managed_remove((uint64_t)p);
    error = wb_ask(free, &((struct wb_req_free){(uint64_t)p}), NULL);
    wb_flush_output(); /* freeing waits for the device */
    return error;
}

cudaError_t cudaMalloc(void **out, size_t bytes) { return wb_return(allocate(out, bytes)); }
cudaError_t cudaFree(void *p) { return wb_return(release(p)); }

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t s) {
    int error = wb_check_stream(s);
    return wb_return(error ? error : allocate(out, bytes));
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t s) {
    int error = wb_check_stream(s);
    return wb_return(error ? error : release(p));
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    if (!pitch || width > SIZE_MAX - PITCH) return wb_return(cudaErrorInvalidValue);
    size_t bytes;
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return wb_return(cudaErrorMemoryAllocation);
    return wb_return(allocate(out, bytes));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent e) {
    size_t rows, pitch;
    if (__builtin_mul_overflow(e.height, e.depth, &rows)) return wb_return(cudaErrorMemoryAllocation);
    cudaError_t error = cudaMallocPitch(&out->ptr, &pitch, e.width, rows);
    *out = (struct cudaPitchedPtr){.ptr = out->ptr, .pitch = pitch, .xsize = e.width, .ysize = e.height};
    return error;
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags) {
    if (!out || !bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return wb_return(cudaErrorInvalidValue);
    struct wb_rep_alloc_managed p;
    int error = wb_ask(alloc_managed, &((struct wb_req_alloc_managed){bytes}), &p);
    if (!error) error = wb_managed_add(p.address, bytes);
    *out = error ? NULL : (void *)p.address;
    return wb_return(error);
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *total) {
    struct wb_rep_memory_info p;
    int error = wb_ask(memory_info, NULL, &p);
    if (!error && unused) *unused = p.free;
    if (!error && total) *total = p.total;
    return wb_return(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (!out) return wb_return(cudaErrorInvalidValue);
    *out = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = (void *)p};
    struct wb_rep_range range;
    bool device = wb_is_device(p) && !wb_ask(range, &((struct wb_req_range){(uint64_t)p}), &range);
    bool managed = device && wb_is_managed(p), host = !device && wb_host_kind(p);
    if (!device && !host) return cudaSuccess;
    *out = (struct cudaPointerAttributes){
        .type = managed  ? cudaMemoryTypeManaged
                : device ? cudaMemoryTypeDevice
                         : cudaMemoryTypeHost,
        .devicePointer = device ? (void *)p : NULL,
        .hostPointer = managed || host ? (void *)p : NULL,
    };
    return cudaSuccess;
}

/* ---- filling ---- */

static int fill(void *p, size_t pitch, int value, size_t width, size_t rows, cudaStream_t s) {
    struct wb_command c = {.kind = WB_FILL, .fill = {p, pitch, width, rows, (uint8_t)value, 1}};
    return wb_issue(s, &c);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes) { return wb_return(fill(p, bytes, value, bytes, 1, 0)); }
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    return wb_return(fill(p, pitch, value, width, height, 0));
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t s) {
    return wb_return(fill(p, bytes, value, bytes, 1, s));
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t s) {
    return wb_return(fill(p, pitch, value, width, height, s));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e, cudaStream_t s) {
    int error = wb_check_stream(s);
    for (size_t z = 0; !error && z < e.depth; z++)
        error = fill((uint8_t *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, e.width, e.height, s);
    return wb_return(error);
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e) {
    return cudaMemset3DAsync(p, value, e, 0);
}

/* ---- copies ---- */

static int copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                   enum cudaMemcpyKind kind, cudaStream_t s) {
    struct wb_command c = {.kind = WB_COPY, .copy = {to, from, to_pitch, from_pitch, width, rows, kind}};
    return wb_issue(s, &c);
}

static int copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return copy_2d(to, bytes, from, bytes, bytes, 1, kind, s);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return wb_return(copy(to, from, bytes, kind, 0));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy(to, from, bytes, kind, s));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return wb_return(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, 0));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_2d(to, to_pitch, from, from_pitch, width, height, kind, s));
}
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes) {
    return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, 0);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                cudaStream_t s) {
    if (to_device || from_device) return wb_return(cudaErrorInvalidDevice);
    return wb_return(copy(to, from, bytes, cudaMemcpyDeviceToDevice, s));
}

static uint8_t *at(const struct cudaPitchedPtr *p, struct cudaPos pos) {
    return (uint8_t *)p->ptr + (pos.z * p->ysize + pos.y) * p->pitch + pos.x;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t s) {
    if (p->srcArray || p->dstArray) return wb_return(wb_copy_3d(p, s));
    const uint8_t *from = at(&p->srcPtr, p->srcPos);
    uint8_t *to = at(&p->dstPtr, p->dstPos);
    int error = 0;
    for (size_t z = 0; !error && z < p->extent.depth; z++)
        error = copy_2d(to + z * p->dstPtr.pitch * p->dstPtr.ysize, p->dstPtr.pitch,
                        from + z * p->srcPtr.pitch * p->srcPtr.ysize, p->srcPtr.pitch, p->extent.width,
                        p->extent.height, p->kind, s);
    return wb_return(error);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) { return copy_3d(p, 0); }
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s) { return copy_3d(p, s); }

/* ---- symbols ---- */

static int symbol_part(const void *symbol, size_t offset, size_t bytes, uint64_t *address) {
    uint64_t size;
    int error = wb_symbol(symbol, address, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset) return cudaErrorInvalidValue;
    *address += offset;
    return 0;
}

static int to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                     cudaStream_t s) {
    uint64_t address;
    int error = symbol_part(symbol, offset, bytes, &address);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
    return error ? error : copy((void *)address, from, bytes, kind, s);
}

static int from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
                       cudaStream_t s) {
    uint64_t address;
    int error = symbol_part(symbol, offset, bytes, &address);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost) return cudaErrorInvalidMemcpyDirection;
    return error ? error : copy(to, (void *)address, bytes, kind, s);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    return wb_return(to_symbol(symbol, from, bytes, offset, kind, 0));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                    enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(to_symbol(symbol, from, bytes, offset, kind, s));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    return wb_return(from_symbol(to, symbol, bytes, offset, kind, 0));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(from_symbol(to, symbol, bytes, offset, kind, s));
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    uint64_t at_device = 0, bytes;
    int error = wb_symbol(symbol, &at_device, &bytes);
    if (!error) *address = (void *)at_device;
    return wb_return(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t address, bytes;
    int error = wb_symbol(symbol, &address, &bytes);
    if (!error) *size = bytes;
    return wb_return(error);
}
