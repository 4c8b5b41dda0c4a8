/* driver.c — the driver API (cu*): devices and their primary contexts, modules, memory, launches,
 * streams and events. It wraps the same runtime and uses the same handles. The current context is
 * that of the runtime's current device, or none. Graded exercises cannot use it. */
#include "grader/runtime/driver.h"

#include <stdio.h>
#include <string.h>

/* Both use the same numbers, except for codes that one of them lacks. */
CUresult wb_driver_result(int error) {
    switch (error) {
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidDevicePointer: return CUDA_ERROR_INVALID_VALUE;
    }
    return (CUresult)error;
}

enum { MAX_CONTEXT_DEPTH = 64 };
static bool initialized;
static struct CUctx_st { unsigned flags, retain_count; } contexts[WB_MAX_DEVICES]; /* by device */
/* The context stack: its depth, and the devices of the entries below the top. */
static _Thread_local unsigned context_depth, lower_devices[MAX_CONTEXT_DEPTH];
static _Thread_local bool has_explicit_context; /* the program has set the current context */

static CUcontext current_context(void) {
    return context_depth ? &contexts[wb_current_device()] : NULL;
}

CUcontext wb_driver_context_of(unsigned device) { return &contexts[device]; }

int wb_driver_context_device(CUcontext c) {
    ptrdiff_t device = c - contexts;
    bool is_context = c >= contexts && c < contexts + WB_MAX_DEVICES;
    return is_context && !wb_check_device_number((int)device) ? (int)device : -1;
}

CUresult cuInit(unsigned flags) {
    int error;
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    initialized = wb_device(&error);
    return wb_driver_result(error);
}

/* A runtime call also initializes the driver and makes the device's primary context current. */
static void adopt_primary_context(void) {
    if (!wb_context_is_active()) return;
    initialized = true;
    if (!has_explicit_context) context_depth = 1;
}

CUresult wb_driver_check_context(void) {
    if (!context_depth) adopt_primary_context();
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    return context_depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDriverGetVersion(int *version) {
    return wb_driver_result(cudaDriverGetVersion(version));
}
CUresult cuGetErrorName(CUresult error, const char **text) {
    switch ((int)error) {
#define DRIVER_ERROR(name, code) \
    case code:                   \
        *text = #name;           \
        return CUDA_SUCCESS;
#include "grader/runtime/driver_errors.def"
#undef DRIVER_ERROR
    }
    *text = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

/* ---- devices and their contexts ---- */

CUresult wb_driver_check_device(CUdevice d) {
    if (!initialized) adopt_primary_context();
    return !initialized                ? CUDA_ERROR_NOT_INITIALIZED
           : wb_check_device_number(d) ? CUDA_ERROR_INVALID_DEVICE
                                       : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *n) {
    *n = 1;
    return initialized ? wb_driver_result(cudaGetDeviceCount(n)) : CUDA_ERROR_NOT_INITIALIZED;
}
CUresult cuDeviceGet(CUdevice *d, int ordinal) {
    CUresult error = wb_driver_check_device(ordinal);
    *d = error ? 0 : ordinal;
    return error;
}
CUresult cuDeviceGetName(char *name, int size, CUdevice d) {
    struct cudaDeviceProp p;
    if (wb_driver_check_device(d)) return wb_driver_check_device(d);
    cudaGetDeviceProperties(&p, d);
    snprintf(name, (size_t)size, "%s", p.name);
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice d) {
    size_t unused;
    return wb_driver_check_device(d) ? wb_driver_check_device(d)
                                     : wb_driver_result(cudaMemGetInfo(&unused, bytes));
}
/* Attributes that the runtime API lacks (driver_virtual_memory.c). Memory compression is a hint
 * without effect. */
static bool get_driver_attribute(int *value, CUdevice_attribute a) {
    bool is_supported = a == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
                        a == CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED;
    if (is_supported) *value = 1;
    return is_supported;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d) {
    CUresult error = wb_driver_check_device(d);
    if (error || get_driver_attribute(value, a)) return error;
    return wb_driver_result(cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)a, d));
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice d) {
    CUresult error = cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d);
    return error ? error
                 : cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d);
}

static CUresult push_context(CUcontext *out, CUdevice d) {
    CUresult error = wb_driver_check_device(d);
    if (error) return error;
    if (context_depth == MAX_CONTEXT_DEPTH) return CUDA_ERROR_OUT_OF_MEMORY;
    if (context_depth) lower_devices[context_depth - 1] = wb_current_device();
    context_depth++;
    has_explicit_context = true;
    cudaSetDevice(d);
    if (out) *out = current_context();
    return CUDA_SUCCESS;
}

static void pop_context(void) {
    context_depth--;
    if (context_depth) cudaSetDevice((int)lower_devices[context_depth - 1]);
}

#if CUDA_VERSION >= 13000
CUresult cuCtxCreate(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice d) {
    (void)params;
    CUresult error = push_context(out, d);
    if (!error) contexts[d].flags = flags;
    return error;
}
#else
CUresult cuCtxCreate(CUcontext *out, unsigned flags, CUdevice d) {
    CUresult error = push_context(out, d);
    if (!error) contexts[d].flags = flags;
    return error;
}
#endif
CUresult cuCtxDestroy(CUcontext c) {
    if (wb_driver_context_device(c) < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (c == current_context()) pop_context();
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice d) {
    CUresult error = wb_driver_check_device(d);
    if (error) return error;
    *out = &contexts[d];
    contexts[d].retain_count++;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice d) {
    CUresult error = wb_driver_check_device(d);
    if (!error && contexts[d].retain_count) contexts[d].retain_count--;
    return error;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *is_active) {
    CUresult error = wb_driver_check_device(d);
    if (error) return error;
    *flags = contexts[d].flags;
    *is_active = contexts[d].retain_count || wb_context_is_active();
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice d, unsigned flags) {
    CUresult error = wb_driver_check_device(d);
    if (!error) contexts[d].flags = flags;
    return error;
}
CUresult cuCtxGetFlags(unsigned *flags) {
    CUresult error = wb_driver_check_context();
    if (!error) *flags = current_context() ? current_context()->flags : 0;
    return error;
}
/* The version of the context's interface, which has been the same since CUDA 3.2. */
CUresult cuCtxGetApiVersion(CUcontext c, unsigned *version) {
    *version = 3020;
    return c && wb_driver_context_device(c) < 0 ? CUDA_ERROR_INVALID_CONTEXT
                                                : wb_driver_check_context();
}
CUresult cuDevicePrimaryCtxReset(CUdevice d) {
    CUresult error = wb_driver_check_device(d);
    if (error) return error;
    unsigned before = wb_exchange_device((unsigned)d);
    error = wb_driver_result(cudaDeviceReset());
    wb_exchange_device(before);
    return error;
}
CUresult cuCtxSetCurrent(CUcontext c) {
    int device = wb_driver_context_device(c);
    if (c && device < 0) return CUDA_ERROR_INVALID_CONTEXT;
    has_explicit_context = true;
    context_depth = c ? (context_depth ? context_depth : 1) : 0;
    return c ? wb_driver_result(cudaSetDevice(device)) : CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *out) {
    wb_driver_check_context();
    *out = current_context();
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext c) {
    int device = wb_driver_context_device(c);
    return device < 0 ? CUDA_ERROR_INVALID_CONTEXT : push_context(NULL, device);
}
CUresult cuCtxPopCurrent(CUcontext *out) {
    if (wb_driver_check_context()) return CUDA_ERROR_INVALID_CONTEXT;
    has_explicit_context = true;
    if (out) *out = current_context();
    pop_context();
    return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice *d) {
    *d = (int)wb_current_device();
    return wb_driver_check_context();
}
CUresult cuCtxSynchronize(void) { return WITH_CONTEXT(cudaDeviceSynchronize()); }

/* ---- modules ---- */

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return WITH_CONTEXT(wb_library_load((struct wb_module **)out, image));
}
CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                            void **values) {
    (void)n, (void)options, (void)values; /* options of a compiler, which this device doesn't
                                           * need */
    return cuModuleLoadData(out, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return cuModuleLoadData(out, image);
}
CUresult cuModuleLoad(CUmodule *out, const char *path) {
    return WITH_CONTEXT(wb_library_load_file((struct wb_module **)out, path));
}
CUresult cuModuleUnload(CUmodule m) {
    return WITH_CONTEXT(wb_library_unload((struct wb_module *)m));
}
CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
    return WITH_CONTEXT(
        wb_library_get_kernel((struct wb_function **)out, (struct wb_module *)m, name));
}
CUresult cuModuleGetGlobal(CUdeviceptr *out, size_t *size, CUmodule m, const char *name) {
    uint64_t address = 0, bytes = 0;
    CUresult error =
        WITH_CONTEXT(wb_library_get_variable((struct wb_module *)m, name, &address, &bytes));
    if (!error && out) *out = address;
    if (!error && size) *size = bytes;
    return error;
}

/* ---- memory ---- */

CUresult cuMemGetInfo(size_t *unused, size_t *total) {
    return WITH_CONTEXT(cudaMemGetInfo(unused, total));
}
CUresult cuMemAlloc(CUdeviceptr *p, size_t n) {
    return n ? WITH_CONTEXT(cudaMalloc((void **)p, n)) : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemFree(CUdeviceptr p) { return WITH_DRIVER(cudaFree((void *)p)); }
CUresult cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
                         unsigned unit) {
    (void)unit;
    return WITH_CONTEXT(cudaMallocPitch((void **)p, pitch, width, height));
}
CUresult cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned flags) {
    return WITH_CONTEXT(cudaMallocManaged((void **)p, n, flags));
}
CUresult cuMemAllocHost(void **p, size_t n) { return WITH_CONTEXT(cudaMallocHost(p, n)); }
CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) {
    return WITH_CONTEXT(cudaHostAlloc(p, n, flags));
}
CUresult cuMemFreeHost(void *p) { return WITH_DRIVER(cudaFreeHost(p)); }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *p, unsigned flags) {
    return WITH_CONTEXT(cudaHostGetDevicePointer((void **)out, p, flags));
}
CUresult cuMemHostRegister(void *p, size_t n, unsigned flags) {
    return WITH_CONTEXT(cudaHostRegister(p, n, flags));
}
CUresult cuMemHostUnregister(void *p) { return WITH_CONTEXT(cudaHostUnregister(p)); }

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n) {
    return WITH_CONTEXT(cudaMemcpy((void *)to, from, n, cudaMemcpyHostToDevice));
}
CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n) {
    return WITH_CONTEXT(cudaMemcpy(to, (void *)from, n, cudaMemcpyDeviceToHost));
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return WITH_CONTEXT(cudaMemcpy((void *)to, (void *)from, n, cudaMemcpyDeviceToDevice));
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return WITH_CONTEXT(cudaMemcpy((void *)to, (void *)from, n, cudaMemcpyDefault));
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    return WITH_CONTEXT(cudaMemcpyAsync((void *)to, from, n, cudaMemcpyHostToDevice, s));
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s) {
    return WITH_CONTEXT(cudaMemcpyAsync(to, (void *)from, n, cudaMemcpyDeviceToHost, s));
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return WITH_CONTEXT(cudaMemcpyAsync((void *)to, (void *)from, n, cudaMemcpyDeviceToDevice, s));
}

/* The fill's elements have 1, 2 or 4 bytes. */
static int issue_fill(CUdeviceptr p, uint32_t value, unsigned unit, size_t n, CUstream s) {
    struct wb_command c = {.kind = WB_FILL, .fill = {(void *)p, n * unit, n, 1, value, unit}};
    return wb_issue_command(s, &c);
}
CUresult cuMemsetD8(CUdeviceptr p, unsigned char value, size_t n) {
    return WITH_CONTEXT(issue_fill(p, value, 1, n, 0));
}
CUresult cuMemsetD16(CUdeviceptr p, unsigned short value, size_t n) {
    return WITH_CONTEXT(issue_fill(p, value, 2, n, 0));
}
CUresult cuMemsetD32(CUdeviceptr p, unsigned value, size_t n) {
    return WITH_CONTEXT(issue_fill(p, value, 4, n, 0));
}
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char value, size_t n, CUstream s) {
    return WITH_CONTEXT(issue_fill(p, value, 1, n, s));
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned value, size_t n, CUstream s) {
    return WITH_CONTEXT(issue_fill(p, value, 4, n, s));
}

/* ---- launches ---- */

/* Parameters that the caller has packed already. */
static int find_packed_params(void **extra, void **p, size_t *n) {
    *p = NULL, *n = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) *p = extra[1];
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) *n = *(size_t *)extra[1];
    }
    return *p ? 0 : cudaErrorInvalidValue;
}

static int issue_launch(CUfunction f, dim3 grid, dim3 block, unsigned shared, CUstream s,
                        void **params, void **extra, bool cooperative) {
    int error;
    void *packed_params;
    size_t n;
    const struct wb_function *k = wb_get_function(f, &error);
    if (!k) return error == cudaErrorInvalidDeviceFunction ? cudaErrorInvalidResourceHandle : error;
    _Alignas(16) uint8_t bytes[WB_PARAM_BYTES];
    error =
        extra ? find_packed_params(extra, &packed_params, &n) : wb_pack_params(k, params, bytes);
    if (!error && extra && n < k->info.param_bytes) error = cudaErrorInvalidValue;
    if (error) return error;
    if (extra) memcpy(bytes, packed_params, k->info.param_bytes);
    struct wb_command c = {.kind = WB_LAUNCH,
                           .launch = {.func = f,
                                      .grid = grid,
                                      .block = block,
                                      .shared = shared,
                                      .stream = s,
                                      .cooperative = cooperative,
                                      .params = bytes,
                                      .param_bytes = k->info.param_bytes}};
    return wb_issue_command(s, &c);
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream s, void **params,
                        void **extra) {
    return WITH_CONTEXT(
        issue_launch(f, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, shared, s, params, extra, false));
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream s,
                                   void **params) {
    return WITH_CONTEXT(
        issue_launch(f, (dim3){gx, gy, gz}, (dim3){bx, by, bz}, shared, s, params, NULL, true));
}

static int get_function_attribute(int *value, CUfunction_attribute a, CUfunction f) {
    struct cudaFuncAttributes attributes;
    int error = cudaFuncGetAttributes(&attributes, f);
    if (error) return error;
    switch ((int)a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = attributes.maxThreadsPerBlock; return 0;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)attributes.sharedSizeBytes; return 0;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)attributes.constSizeBytes; return 0;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)attributes.localSizeBytes; return 0;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = attributes.numRegs; return 0;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = attributes.ptxVersion; return 0;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = attributes.binaryVersion; return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = attributes.maxDynamicSharedSizeBytes;
        return 0;
    }
    return cudaErrorInvalidValue;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction f) {
    return WITH_CONTEXT(get_function_attribute(value, a, f));
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int value) {
    return WITH_CONTEXT(cudaFuncSetAttribute(f, (enum cudaFuncAttribute)a, value));
}
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config) {
    return WITH_CONTEXT(cudaFuncSetCacheConfig(f, (enum cudaFuncCache)config));
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f, int threads,
                                                     size_t shared) {
    return WITH_CONTEXT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared));
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *s, unsigned flags) {
    return WITH_CONTEXT(cudaStreamCreateWithFlags(s, flags));
}
CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority) {
    return WITH_CONTEXT(cudaStreamCreateWithPriority(s, flags, priority));
}
CUresult cuStreamDestroy(CUstream s) { return WITH_STREAM(s, cudaStreamDestroy(s)); }
CUresult cuStreamSynchronize(CUstream s) { return WITH_STREAM(s, cudaStreamSynchronize(s)); }
CUresult cuStreamQuery(CUstream s) { return WITH_STREAM(s, cudaStreamQuery(s)); }
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags) {
    return WITH_CONTEXT(cudaStreamWaitEvent(s, e, flags));
}
CUresult cuEventCreate(CUevent *e, unsigned flags) {
    return WITH_CONTEXT(cudaEventCreateWithFlags(e, flags));
}
CUresult cuEventDestroy(CUevent e) { return WITH_DRIVER(cudaEventDestroy(e)); }
CUresult cuEventRecord(CUevent e, CUstream s) { return WITH_CONTEXT(cudaEventRecord(e, s)); }
CUresult cuEventQuery(CUevent e) { return WITH_DRIVER(cudaEventQuery(e)); }
CUresult cuEventSynchronize(CUevent e) { return WITH_DRIVER(cudaEventSynchronize(e)); }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
    return WITH_DRIVER(cudaEventElapsedTime(ms, a, b));
}
