/* memory.c — cudaMalloc, cudaFree and related calls, and copies. */
#include "grader/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- device memory ---- */

enum { PITCH_ALIGN = 512 };

static int allocate(void **out, size_t bytes, bool is_ordered) {
    struct wb_rep_alloc p;
    struct wb_req_alloc q = {.bytes = bytes, .is_ordered = is_ordered};
    if (!out) return wb_refuse(cudaErrorInvalidValue, "pass the address of a pointer: &p");
    *out = NULL;
    int error;
    if (!wb_device(&error) || !bytes) return error; /* zero bytes succeed with a null pointer */
    error = wb_request(alloc, &q, &p);
    if (!error) wb_range_add(p.address, bytes, WB_MEMORY_DEVICE, 0);
    *out = (void *)p.address;
    return error;
}

int wb_allocate(void **out, size_t bytes) { return allocate(out, bytes, false); }
int wb_allocate_ordered(void **out, size_t bytes, cudaStream_t s) {
    unsigned device = wb_exchange_device(wb_stream_device(s));
    wb_order_command(s);
    int error = allocate(out, bytes, true);
    wb_exchange_device(device);
    return error;
}

/* is_ordered: in its stream's order, by cudaFreeAsync. */
static int free_memory(void *p, bool is_ordered) {
    int error;
    if (!wb_device(&error) || !p) return error;
    int graph_result = wb_graph_memory_free(p);
    if (graph_result >= 0) return graph_result;
    if (wb_is_managed(p)) return wb_shared_free(p);
    if (!wb_is_device(p) || wb_is_pinned(p))
        return wb_refuse_pointer(cudaErrorInvalidValue, p,
                                 "cudaFree frees what cudaMalloc and cudaMallocManaged return");
    if (wb_ipc_is_open(p))
        return wb_refuse(cudaErrorInvalidValue, "another process owns this memory: call "
                                                "cudaIpcCloseMemHandle");
    error = wb_sync_launches(); /* freeing waits for the device */
    struct wb_req_free q = {.address = (uint64_t)p, .is_ordered = is_ordered};
    if (error) return error;
    if (wb_range_remove((uint64_t)p)) return wb_post(free, &q);
    error = wb_request(free, &q, NULL); /* Another copy of this runtime may have allocated it. */
    return error ? wb_refuse_pointer(error, p, "free an allocation once, by its first address") : 0;
}

int wb_free(void *p) { return free_memory(p, false); }
int wb_free_ordered(void *p) { return free_memory(p, true); }

cudaError_t cudaMalloc(void **out, size_t bytes) {
    int error = wb_check_unsafe_call();
    return wb_return(error ? error : wb_allocate(out, bytes));
}
/* Freeing waits for the device that owns the memory. */
static void wait_for_owner(const void *p) {
    struct wb_range r;
    unsigned device = wb_current_device();
    if (wb_range_find(p, &r)) wb_exchange_device(r.device);
    wb_order_host_wait_all();
    wb_exchange_device(device);
}

cudaError_t cudaFree(void *p) {
    int error = p ? wb_check_unsafe_call() : 0;
    if (!error && p) wait_for_owner(p);
    wb_activate_context(); /* also for NULL, as many programs begin this way */
    return wb_return(error ? error : free_memory(p, false));
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
    if (!pitch || width > SIZE_MAX - PITCH_ALIGN) return wb_return(cudaErrorInvalidValue);
    size_t bytes;
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return wb_return(cudaErrorMemoryAllocation);
    return wb_return(wb_allocate(out, bytes));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent e) {
    size_t rows, pitch;
    if (__builtin_mul_overflow(e.height, e.depth, &rows))
        return wb_return(cudaErrorMemoryAllocation);
    cudaError_t error = cudaMallocPitch(&out->ptr, &pitch, e.width, rows);
    *out = (struct cudaPitchedPtr){
        .ptr = out->ptr, .pitch = pitch, .xsize = e.width, .ysize = e.height};
    return error;
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags) {
    if (!out || !bytes || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return wb_return(cudaErrorInvalidValue);
    return wb_return(wb_shared_alloc(out, bytes, WB_MEMORY_MANAGED, flags));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    struct wb_rep_memory_info p;
    int error = wb_request(memory_info, NULL, &p);
    if (!error && free_bytes) *free_bytes = p.free;
    if (!error && total) *total = p.total;
    return wb_return(error);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p) {
    static const enum cudaMemoryType types[] = {[WB_MEMORY_DEVICE] = cudaMemoryTypeDevice,
                                                [WB_MEMORY_MANAGED] = cudaMemoryTypeManaged,
                                                [WB_MEMORY_PINNED] = cudaMemoryTypeHost,
                                                [WB_MEMORY_REGISTERED] = cudaMemoryTypeHost};
    int error;
    if (!wb_device(&error)) return wb_return(error);
    if (!out) return wb_return(cudaErrorInvalidValue);
    *out = (struct cudaPointerAttributes){
        .type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = (void *)p};
    struct wb_range r = {.kind = WB_MEMORY_DEVICE, .device = wb_current_device()};
    struct wb_rep_range reply;
    wb_is_device_variable(p, &r.device);
    if (!wb_range_find(p, &r)) {
        if (!wb_is_device(p) || wb_request(range, &((struct wb_req_range){(uint64_t)p}), &reply))
            return cudaSuccess;
        r.device = (unsigned)reply.device;
    }
    uint64_t offset = (uint64_t)p - r.start,
             device_start = r.kind == WB_MEMORY_REGISTERED ? r.device_start : r.start;
    *out = (struct cudaPointerAttributes){
        .type = types[r.kind],
        .devicePointer = r.kind == WB_MEMORY_DEVICE ? (wb_can_access(r.device) ? (void *)p : NULL)
                         : device_start             ? (void *)(device_start + offset)
                                                    : NULL,
        .hostPointer = r.kind == WB_MEMORY_DEVICE ? NULL : (void *)p,
        .device = (int)r.device,
    };
    if (r.kind == WB_MEMORY_PINNED && !wb_is_device(p))
        out->devicePointer = NULL; /* while grading */
    return cudaSuccess;
}

/* ---- filling ---- */

static int issue_fill(void *p, size_t pitch, int value, size_t width, size_t rows, cudaStream_t s) {
    struct wb_command c = {.kind = WB_FILL, .fill = {p, pitch, width, rows, (uint8_t)value, 1}};
    int error = wb_issue_command(s, &c);
    if (error != cudaErrorInvalidValue || wb_has_refusal()) return error;
    char text[128];
    return wb_refuse(error, "%zu bytes; the pointer leads to %s", width * rows,
                     wb_describe_pointer(p, text, sizeof text));
}

/* Of memory that host and device share, the call returns when it is filled. */
static int fill_now(void *p, size_t pitch, int value, size_t width, size_t rows) {
    int error = issue_fill(p, pitch, value, width, rows, 0);
    if (!error && wb_is_shared(p)) wb_order_host_wait_stream(0);
    return error;
}

cudaError_t cudaMemset(void *p, int value, size_t bytes) {
    return wb_return(fill_now(p, bytes, value, bytes, 1));
}
cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height) {
    return wb_return(fill_now(p, pitch, value, width, height));
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t s) {
    return wb_return(issue_fill(p, bytes, value, bytes, 1, s));
}
cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t s) {
    return wb_return(issue_fill(p, pitch, value, width, height, s));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent e,
                              cudaStream_t s) {
    int error = wb_check_stream(s);
    for (size_t z = 0; !error && z < e.depth; z++)
        error = issue_fill((uint8_t *)p.ptr + z * p.pitch * p.ysize, p.pitch, value, e.width,
                           e.height, s);
    return wb_return(error);
}
cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent e) {
    return wb_forward(cudaMemset3DAsync(p, value, e, 0));
}

/* ---- copies ---- */

static int issue_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t rows, enum cudaMemcpyKind kind, cudaStream_t s,
                         bool async) {
    struct wb_command c = {.kind = WB_COPY,
                           .copy = {to, from, to_pitch, from_pitch, width, rows, kind, async}};
    return wb_issue_copy(s, &c);
}

static int issue_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                      cudaStream_t s, bool async) {
    return issue_copy_2d(to, bytes, from, bytes, bytes, 1, kind, s, async);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return wb_return(issue_copy(to, from, bytes, kind, 0, false));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s) {
    return wb_return(issue_copy(to, from, bytes, kind, s, true));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    return wb_return(issue_copy_2d(to, to_pitch, from, from_pitch, width, height, kind, 0, false));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t s) {
    return wb_return(issue_copy_2d(to, to_pitch, from, from_pitch, width, height, kind, s, true));
}

static uint8_t *pitched_address(const struct cudaPitchedPtr *p, struct cudaPos pos) {
    return (uint8_t *)p->ptr + (pos.z * p->ysize + pos.y) * p->pitch + pos.x;
}

int wb_make_copy_command(const struct cudaMemcpy3DParms *p, bool async, struct wb_command *c) {
    if (!p) return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray) return wb_make_array_copy_command(p, async, c);
    *c = (struct wb_command){.kind = WB_COPY,
                             .copy = {.to = pitched_address(&p->dstPtr, p->dstPos),
                                      .from = pitched_address(&p->srcPtr, p->srcPos),
                                      .to_pitch = p->dstPtr.pitch,
                                      .from_pitch = p->srcPtr.pitch,
                                      .width = p->extent.width,
                                      .rows = p->extent.height,
                                      .kind = p->kind,
                                      .async = async,
                                      .depth = p->extent.depth,
                                      .to_slice = p->dstPtr.pitch * p->dstPtr.ysize,
                                      .from_slice = p->srcPtr.pitch * p->srcPtr.ysize}};
    if (!p->extent.depth) c->copy.rows = 0;
    return 0;
}

static int issue_copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t s, bool async) {
    struct wb_command c;
    int error = wb_make_copy_command(p, async, &c);
    return error ? error : wb_issue_copy(s, &c);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return wb_return(issue_copy_3d(p, 0, false));
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t s) {
    return wb_return(issue_copy_3d(p, s, true));
}

/* ---- symbols ---- */

static int symbol_range(const void *symbol, size_t offset, size_t bytes, uint64_t *address) {
    uint64_t size;
    int error = wb_get_symbol(symbol, address, &size);
    if (error) return error;
    if (offset > size || bytes > size - offset)
        return wb_refuse(
            cudaErrorInvalidValue,
            "bytes %zu to %zu, but the variable has %llu bytes; the size counts bytes, "
            "not elements",
            offset, offset + bytes, (unsigned long long)size);
    *address += offset;
    return 0;
}

static int copy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                          enum cudaMemcpyKind kind, cudaStream_t s, bool async) {
    uint64_t address;
    int error = symbol_range(symbol, offset, bytes, &address);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return wb_refuse(cudaErrorInvalidMemcpyDirection,
                         "a copy to a variable on the device needs cudaMemcpyHostToDevice or "
                         "cudaMemcpyDeviceToDevice");
    return error ? error : issue_copy((void *)address, from, bytes, kind, s, async);
}

static int copy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                            enum cudaMemcpyKind kind, cudaStream_t s, bool async) {
    uint64_t address;
    int error = symbol_range(symbol, offset, bytes, &address);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return wb_refuse(cudaErrorInvalidMemcpyDirection,
                         "a copy from a variable on the device needs cudaMemcpyDeviceToHost or "
                         "cudaMemcpyDeviceToDevice");
    return error ? error : issue_copy(to, (void *)address, bytes, kind, s, async);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind) {
    return wb_return(copy_to_symbol(symbol, from, bytes, offset, kind, 0, false));
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_to_symbol(symbol, from, bytes, offset, kind, s, true));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind) {
    return wb_return(copy_from_symbol(to, symbol, bytes, offset, kind, 0, false));
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind, cudaStream_t s) {
    return wb_return(copy_from_symbol(to, symbol, bytes, offset, kind, s, true));
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
    uint64_t device_address = 0, bytes;
    int error = wb_get_symbol(symbol, &device_address, &bytes);
    if (!error) *address = (void *)device_address;
    return wb_return(error);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    uint64_t address, bytes;
    int error = wb_get_symbol(symbol, &address, &bytes);
    if (!error) *size = bytes;
    return wb_return(error);
}
