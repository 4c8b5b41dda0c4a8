/* driver_copy.c — the driver API's copies and fills of rows: of pitched memory and of arrays. */
#include "grader/runtime/array.h"
#include "grader/runtime/driver.h"

/* One end of a copy: an array, or memory in planes of rows. */
struct copy_end {
    CUmemorytype type;
    void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x_bytes, y, z, pitch, height;
};

/* The runtime counts elements where an array is copied, otherwise bytes. */
static bool convert_end(const struct copy_end *e, const CUDA_MEMCPY3D *c, struct cudaPos *pos,
                        cudaArray_t *array, struct cudaPitchedPtr *memory) {
    *pos = (struct cudaPos){e->x_bytes, e->y, e->z};
    if (e->type == CU_MEMORYTYPE_ARRAY) {
        if (!e->array || e->x_bytes % ((cudaArray_t)e->array)->element_bytes) return false;
        *array = (cudaArray_t)e->array;
        pos->x /= (*array)->element_bytes;
        return true;
    }
    /* Programs don't always set the pitch of a single row. */
    bool has_pitch = e->pitch && (c->Height > 1 || c->Depth > 1);
    size_t pitch = has_pitch ? e->pitch : e->x_bytes + c->WidthInBytes;
    void *p = e->type == CU_MEMORYTYPE_HOST ? e->host : (void *)e->device;
    *memory = (struct cudaPitchedPtr){p, pitch, pitch, e->height ? e->height : c->Height};
    return p;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
    bool from_host = from == CU_MEMORYTYPE_HOST, to_host = to == CU_MEMORYTYPE_HOST;
    if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
    return from_host && to_host ? cudaMemcpyHostToHost
           : from_host          ? cudaMemcpyHostToDevice
           : to_host            ? cudaMemcpyDeviceToHost
                                : cudaMemcpyDeviceToDevice;
}

int wb_driver_copy_params(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p) {
    if (!c || c->srcLOD || c->dstLOD) return cudaErrorInvalidValue;
    struct copy_end from = {c->srcMemoryType, (void *)c->srcHost, c->srcDevice,
                            c->srcArray,      c->srcXInBytes,     c->srcY,
                            c->srcZ,          c->srcPitch,        c->srcHeight},
                    to = {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                          c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight};
    *p = (struct cudaMemcpy3DParms){.extent = {c->WidthInBytes, c->Height, c->Depth},
                                    .kind = kind_of(from.type, to.type)};
    if (!convert_end(&from, c, &p->srcPos, &p->srcArray, &p->srcPtr) ||
        !convert_end(&to, c, &p->dstPos, &p->dstArray, &p->dstPtr))
        return cudaErrorInvalidValue;
    const struct cudaArray *a = p->dstArray ? p->dstArray : p->srcArray;
    if (a && c->WidthInBytes % a->element_bytes) return cudaErrorInvalidValue;
    if (a) p->extent.width /= a->element_bytes;
    return 0;
}

static int copy(const CUDA_MEMCPY3D *c, bool is_async, CUstream s) {
    struct cudaMemcpy3DParms p;
    int error = wb_driver_copy_params(c, &p);
    return error ? error : (int)(is_async ? cudaMemcpy3DAsync(&p, s) : cudaMemcpy3D(&p));
}

static int copy_2d(const CUDA_MEMCPY2D *c, bool is_async, CUstream s) {
    if (!c) return cudaErrorInvalidValue;
    CUDA_MEMCPY3D p = {.srcXInBytes = c->srcXInBytes,
                       .srcY = c->srcY,
                       .srcMemoryType = c->srcMemoryType,
                       .srcHost = c->srcHost,
                       .srcDevice = c->srcDevice,
                       .srcArray = c->srcArray,
                       .srcPitch = c->srcPitch,
                       .dstXInBytes = c->dstXInBytes,
                       .dstY = c->dstY,
                       .dstMemoryType = c->dstMemoryType,
                       .dstHost = c->dstHost,
                       .dstDevice = c->dstDevice,
                       .dstArray = c->dstArray,
                       .dstPitch = c->dstPitch,
                       .WidthInBytes = c->WidthInBytes,
                       .Height = c->Height,
                       .Depth = 1};
    return copy(&p, is_async, s);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *c) { return WITH_CONTEXT(copy_2d(c, false, 0)); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c) { return WITH_CONTEXT(copy_2d(c, false, 0)); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream s) {
    return WITH_STREAM(s, copy_2d(c, true, s));
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *c) { return WITH_CONTEXT(copy(c, false, 0)); }
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream s) {
    return WITH_STREAM(s, copy(c, true, s));
}

/* The structure differs only in two contexts, where CUDA_MEMCPY3D has reserved fields. Addresses
 * tell the devices. */
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *c) {
    return WITH_CONTEXT(copy((const CUDA_MEMCPY3D *)c, false, 0));
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *c, CUstream s) {
    return WITH_STREAM(s, copy((const CUDA_MEMCPY3D *)c, true, s));
}

/* ---- between arrays and linear memory: rows of a one-dimensional copy ---- */

static int copy_array(CUarray array, size_t offset, void *p, size_t n, bool to_array,
                      CUmemorytype type) {
    CUDA_MEMCPY2D c = {.srcMemoryType = to_array ? type : CU_MEMORYTYPE_ARRAY,
                       .srcHost = p,
                       .srcDevice = (CUdeviceptr)p,
                       .srcArray = array,
                       .srcXInBytes = to_array ? 0 : offset,
                       .dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : type,
                       .dstHost = p,
                       .dstDevice = (CUdeviceptr)p,
                       .dstArray = array,
                       .dstXInBytes = to_array ? offset : 0,
                       .WidthInBytes = n,
                       .Height = 1};
    return copy_2d(&c, false, 0);
}
CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t n) {
    return WITH_CONTEXT(copy_array(to, offset, (void *)from, n, true, CU_MEMORYTYPE_HOST));
}
CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t n) {
    return WITH_CONTEXT(copy_array(from, offset, to, n, false, CU_MEMORYTYPE_HOST));
}
CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t n) {
    return WITH_CONTEXT(copy_array(to, offset, (void *)from, n, true, CU_MEMORYTYPE_DEVICE));
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t n) {
    return WITH_CONTEXT(copy_array(from, offset, (void *)to, n, false, CU_MEMORYTYPE_DEVICE));
}

/* ---- fills of rows; elements have 1, 2 or 4 bytes ---- */

static int fill_rows(CUdeviceptr p, size_t pitch, uint32_t value, unsigned unit, size_t width,
                     size_t rows, CUstream s) {
    struct wb_command c = {.kind = WB_FILL, .fill = {(void *)p, pitch, width, rows, value, unit}};
    return wb_issue_command(s, &c);
}
CUresult cuMemsetD2D8(CUdeviceptr p, size_t pitch, unsigned char value, size_t width, size_t rows) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 1, width, rows, 0));
}
CUresult cuMemsetD2D16(CUdeviceptr p, size_t pitch, unsigned short value, size_t width,
                       size_t rows) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 2, width, rows, 0));
}
CUresult cuMemsetD2D32(CUdeviceptr p, size_t pitch, unsigned value, size_t width, size_t rows) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 4, width, rows, 0));
}
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char value, size_t width,
                           size_t rows, CUstream s) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 1, width, rows, s));
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short value, size_t width,
                            size_t rows, CUstream s) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 2, width, rows, s));
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned value, size_t width, size_t rows,
                            CUstream s) {
    return WITH_CONTEXT(fill_rows(p, pitch, value, 4, width, rows, s));
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short value, size_t n, CUstream s) {
    return WITH_CONTEXT(fill_rows(p, 2 * n, value, 2, n, 1, s));
}
