/* driver_peer.c — the driver API's peer access and copies between contexts, and attributes of
 * pointers. */
#include "grader/runtime/driver.h"

#include <string.h>

CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice d, CUdevice peer) {
    CUresult error = wb_driver_check_device(d);
    if (!error) error = wb_driver_check_device(peer);
    return error ? error : wb_driver_result(cudaDeviceCanAccessPeer(can_access, d, peer));
}
CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute a, CUdevice from, CUdevice to) {
    CUresult error = wb_driver_check_device(from);
    return error ? error
                 : wb_driver_result(
                       cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)a, from, to));
}

/* The handles of both APIs are the same bytes. */
CUresult cuIpcGetMemHandle(CUipcMemHandle *h, CUdeviceptr p) {
    return WITH_CONTEXT(cudaIpcGetMemHandle((cudaIpcMemHandle_t *)h, (void *)p));
}
CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle h, unsigned flags) {
    cudaIpcMemHandle_t same;
    memcpy(&same, &h, sizeof same);
    return WITH_CONTEXT(cudaIpcOpenMemHandle((void **)p, same, flags));
}
CUresult cuIpcCloseMemHandle(CUdeviceptr p) {
    return WITH_CONTEXT(cudaIpcCloseMemHandle((void *)p));
}
CUresult cuIpcGetEventHandle(CUipcEventHandle *h, CUevent e) {
    return WITH_CONTEXT(cudaIpcGetEventHandle((cudaIpcEventHandle_t *)h, e));
}
CUresult cuIpcOpenEventHandle(CUevent *e, CUipcEventHandle h) {
    cudaIpcEventHandle_t same;
    memcpy(&same, &h, sizeof same);
    return WITH_CONTEXT(cudaIpcOpenEventHandle(e, same));
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
    int device = wb_driver_context_device(peer);
    if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    return WITH_CONTEXT(cudaDeviceEnablePeerAccess(device, flags));
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    int device = wb_driver_context_device(peer);
    if (device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    return WITH_CONTEXT(cudaDeviceDisablePeerAccess(device));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t n, CUstream s) {
    int to_device = wb_driver_context_device(to_context),
        from_device = wb_driver_context_device(from_context);
    if (to_device < 0 || from_device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    return WITH_CONTEXT(
        cudaMemcpyPeerAsync((void *)to, to_device, (void *)from, from_device, n, s));
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t n) {
    return cuMemcpyPeerAsync(to, to_context, from, from_context, n, 0);
}

CUresult cuStreamGetCtx(CUstream s, CUcontext *out) {
    CUresult error = WITH_CONTEXT(wb_check_stream(s));
    if (!error) *out = wb_driver_context_of(wb_stream_device(s));
    return error;
}

static int get_range_attribute(void *out, CUpointer_attribute a, CUdeviceptr p) {
    struct wb_range r;
    if (!wb_range_find((void *)p, &r)) return cudaErrorInvalidValue;
    switch ((int)a) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)out = r.start; return 0;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)out = r.bytes; return 0;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)out = r.pool; return 0;
    }
    return wb_unsupported("cuPointerGetAttribute of this attribute");
}

static int get_pointer_attribute(void *out, CUpointer_attribute a, CUdeviceptr p) {
    struct cudaPointerAttributes attributes;
    int error = cudaPointerGetAttributes(&attributes, (void *)p);
    if (error) return error;
    if (attributes.type == cudaMemoryTypeUnregistered || !out) return cudaErrorInvalidValue;
    switch ((int)a) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)out = wb_driver_context_of((unsigned)attributes.device);
        return 0;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)out =
            attributes.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)out = (CUdeviceptr)attributes.devicePointer;
        return 0;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)out = attributes.hostPointer;
        return attributes.hostPointer ? 0 : cudaErrorInvalidValue;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = attributes.type == cudaMemoryTypeManaged;
        return 0;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)out = attributes.device; return 0;
    case CU_POINTER_ATTRIBUTE_MAPPED: *(unsigned *)out = attributes.devicePointer != NULL; return 0;
    }
    return get_range_attribute(out, a, p);
}
CUresult cuPointerGetAttribute(void *out, CUpointer_attribute a, CUdeviceptr p) {
    return WITH_CONTEXT(get_pointer_attribute(out, a, p));
}

/* Sets the value of an attribute that a pointer doesn't have. */
static void set_absent_attribute(void *out, CUpointer_attribute a) {
    if (a == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) *(int *)out = CU_DEVICE_INVALID;
    else if (a == CU_POINTER_ATTRIBUTE_MEMORY_TYPE || a == CU_POINTER_ATTRIBUTE_IS_MANAGED ||
             a == CU_POINTER_ATTRIBUTE_MAPPED)
        *(unsigned *)out = 0;
    else *(uint64_t *)out = 0;
}

/* Memory that is not CUDA's, or lacks an attribute, is no error here. */
static int get_pointer_attributes(unsigned n, const CUpointer_attribute *a, void **out,
                                  CUdeviceptr p) {
    if (!a || !out) return cudaErrorInvalidValue;
    for (unsigned i = 0; i < n; i++) {
        int error = get_pointer_attribute(out[i], a[i], p);
        if (error == cudaErrorInvalidValue && out[i]) set_absent_attribute(out[i], a[i]);
        else if (error) return error;
    }
    return 0;
}
CUresult cuPointerGetAttributes(unsigned n, CUpointer_attribute *a, void **out, CUdeviceptr p) {
    return WITH_CONTEXT(get_pointer_attributes(n, a, out, p));
}
