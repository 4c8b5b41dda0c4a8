// run: --devices 2
// stderr: cudaDeviceEnablePeerAccess failed: cudaErrorPeerAccessUnsupported
// stderr: cudaDeviceEnablePeerAccess failed: cudaErrorPeerAccessAlreadyEnabled
// nvcc: -lcuda
// driver.cu: the driver API's contexts of two devices.
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

static const char *name(CUresult r) {
    const char *text = nullptr;
    cuGetErrorName(r, &text);
    return text ? text : "?";
}
#undef SHOW
#define SHOW(call) printf("%-64s %s\n", #call, name(call))

static void show_pointer(const char *what, CUdeviceptr p, CUcontext c[2]) {
    int ordinal = -1;
    CUcontext of = nullptr;
    CUresult r = cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p);
    cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, p);
    printf("%-30s %s device %d, context %d\n", what, name(r), ordinal, of == c[0] ? 0 : of == c[1] ? 1 : -1);
}

int main() {
    CUdevice device[2], d;
    CUcontext c[2], current;
    CUdeviceptr p[2];
    CUstream s[2];
    CUevent e[2];
    int n, on, value = 0;
    SHOW(cuInit(0));
    SHOW(cuDeviceGetCount(&n));
    SHOW(cuDeviceGet(&device[0], 0));
    SHOW(cuDeviceGet(&device[1], 1));
    SHOW(cuDeviceGet(&d, n));
    SHOW(cuMemAlloc(&p[0], 1024));
    SHOW(cuDevicePrimaryCtxRetain(&c[0], device[0]));
    SHOW(cuDevicePrimaryCtxRetain(&c[1], device[1]));
    printf("contexts: %s\n", c[0] == c[1] ? "one" : "two");
    SHOW(cuCtxGetCurrent(&current));
    printf("current: %d\n", current == c[0] ? 0 : current == c[1] ? 1 : -1);
    for (int i = 0; i < 2; i++) {
        SHOW(cuCtxSetCurrent(c[i]));
        SHOW(cuCtxGetDevice(&d));
        printf("device: %d\n", (int)d);
        SHOW(cuMemAlloc(&p[i], 1024));
        SHOW(cuMemsetD32(p[i], 100 + i, 256));
        SHOW(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
        SHOW(cuEventCreate(&e[i], CU_EVENT_DEFAULT));
        SHOW(cuCtxSynchronize());
    }
    show_pointer("memory of device 0", p[0], c);
    show_pointer("memory of device 1", p[1], c);
    SHOW(cuDeviceCanAccessPeer(&on, device[0], device[1]));
    printf("0 to 1: %d\n", on);
    SHOW(cuCtxEnablePeerAccess(c[1], 0));
    SHOW(cuCtxEnablePeerAccess(c[0], 1));
    SHOW(cuCtxDisablePeerAccess(c[0]));
    SHOW(cuCtxEnablePeerAccess(c[0], 0));
    SHOW(cuCtxEnablePeerAccess(c[0], 0));
    SHOW(cuCtxDisablePeerAccess(c[0]));
    SHOW(cuMemcpyPeer(p[1], c[1], p[0], c[0], 1024));
    SHOW(cuMemcpyDtoH(&value, p[1], 4));
    printf("copied: %d\n", value);
    SHOW(cuMemcpyPeerAsync(p[0], c[0], p[1], c[1], 1024, s[1]));
    SHOW(cuStreamSynchronize(s[1]));
    SHOW(cuEventRecord(e[0], s[1]));
    SHOW(cuEventRecord(e[1], s[1]));
    SHOW(cuStreamWaitEvent(s[0], e[1], 0));
    SHOW(cuStreamGetCtx(s[0], &current));
    printf("context of the stream: %d\n", current == c[0] ? 0 : current == c[1] ? 1 : -1);
    SHOW(cuCtxPushCurrent(c[0]));
    SHOW(cuCtxGetDevice(&d));
    printf("device: %d\n", (int)d);
    int runtime_device = -1;
    cudaGetDevice(&runtime_device);
    printf("the runtime's device: %d\n", runtime_device);
    SHOW(cuCtxPopCurrent(&current));
    printf("popped: %d\n", current == c[0] ? 0 : current == c[1] ? 1 : -1);
    cudaGetDevice(&runtime_device);
    printf("the runtime's device: %d\n", runtime_device);
    cudaSetDevice(0);
    SHOW(cuCtxGetCurrent(&current));
    printf("current: %d\n", current == c[0] ? 0 : current == c[1] ? 1 : -1);
    SHOW(cuDevicePrimaryCtxRelease(device[1]));
    return 0;
}
