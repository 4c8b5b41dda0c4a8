/* driver_peer.c — the driver API's peer access and copies between contexts, and attributes of
 * pointers. */
#include "grader/runtime/driver.h"

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
    return wb_unsupported("cuPointerGetAttribute of this attribute");
}
CUresult cuPointerGetAttribute(void *out, CUpointer_attribute a, CUdeviceptr p) {
    return WITH_CONTEXT(get_pointer_attribute(out, a, p));
}
