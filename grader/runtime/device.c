/* device.c — the devices, which are all equal: properties, attributes, limits, and the calls that
 * manage devices. */
#include "grader/runtime/graph.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct wb_rep_device_info info;
static int info_error = -1;

static void fetch_info(void) {
    const struct wb_session *s = wb_session(&info_error);
    if (!s) return;
    wb_reserve_addresses(s);
    info_error = wb_request(device_info, NULL, &info);
}

const struct wb_rep_device_info *wb_device(int *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fetch_info);
    *error = info_error;
    return info_error ? NULL : &info;
}

/* ---- properties ---- */

/* The bus width of this kind of memory, and the clock for which the usual formula, 2 * clock *
 * width, gives the device's bandwidth. */
static int memory_bus_bits(void) { return info.dram_rate > 1200000000000ull ? 5120 : 384; }
static int memory_clock_khz(void) {
    return (int)(info.dram_rate / (2 * (uint64_t)memory_bus_bits() / 8) / 1000);
}

static void fill_compute_properties(struct cudaDeviceProp *p) {
    p->major = (int)info.cc_major;
    p->minor = (int)info.cc_minor;
    p->multiProcessorCount = (int)info.sms;
    p->warpSize = 32;
    p->regsPerBlock = p->regsPerMultiprocessor = (int)info.registers_per_sm;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->maxThreadsPerMultiProcessor = (int)info.warps_per_sm * 32;
    p->maxBlocksPerMultiProcessor = (int)info.blocks_per_sm;
    p->clusterLaunch = info.cc_major >= 9;
#if CUDART_VERSION < 13000
    p->clockRate = (int)info.clock_khz;
    p->singleToDoublePrecisionPerfRatio = (int)info.fp32_per_fp64;
#endif
}

static void fill_memory_properties(struct cudaDeviceProp *p) {
    p->totalGlobalMem = info.memory_bytes;
    p->totalConstMem = 64 << 10;
    p->memPitch = 2147483647;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->memoryBusWidth = memory_bus_bits();
    p->l2CacheSize = (int)info.l2_bytes;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = info.shared_per_block;
    p->sharedMemPerMultiprocessor = info.shared_per_sm;
    p->reservedSharedMemPerBlock = info.shared_reserved;
#if CUDART_VERSION < 13000
    p->memoryClockRate = memory_clock_khz();
#endif
}

static void fill_features(struct cudaDeviceProp *p) {
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->asyncEngineCount = 1;
    p->unifiedAddressing = 1;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->cooperativeLaunch = 1;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
}

static void fill_properties(struct cudaDeviceProp *p, int device) {
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s (simulated)", info.name);
    memcpy(p->uuid.bytes, "warpbook-device", 16);
    p->uuid.bytes[15] = (char)device;
    p->pciBusID = device + 1;
    fill_compute_properties(p);
    fill_memory_properties(p);
    fill_features(p);
}

int wb_check_device_number(int device) {
    int error;
    const struct wb_session *session = wb_session(&error);
    unsigned n = session ? session->ndevices : 1;
    if (device >= 0 && (unsigned)device < n) return 0;
    return n == 1 ? wb_refuse(cudaErrorInvalidDevice,
                              "device %d does not exist; the only device is number 0", device)
                  : wb_refuse(cudaErrorInvalidDevice, "device %d does not exist; there are 0 to %u",
                              device, n - 1);
}

static cudaError_t get_properties(struct cudaDeviceProp *p, int device) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    error = p ? wb_check_device_number(device) : cudaErrorInvalidValue;
    if (!error) fill_properties(p, device);
    return wb_return(error);
}

#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    return get_properties(p, device);
}
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device) {
    return get_properties(p, device);
}

static bool get_attribute(enum cudaDeviceAttr a, int *value, int device) {
    struct cudaDeviceProp p;
    fill_properties(&p, device);
    switch ((int)a) {
#define ATTRIBUTE(id, expression)   \
    case cudaDevAttr##id:           \
        *value = (int)(expression); \
        return true;
#include "grader/runtime/attributes.def"
#undef ATTRIBUTE
    }
    *value = 0; /* features that the device lacks: textures, peers… */
    return (int)a > 0 && a < cudaDevAttrMax;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int device) {
    int error;
    if (!wb_device(&error)) return wb_return(error);
    error = wb_check_device_number(device);
    if (!error && (!value || !get_attribute(a, value, device))) error = cudaErrorInvalidValue;
    return wb_return(error);
}

/* ---- choosing ---- */

cudaError_t cudaGetDeviceCount(int *count) {
    int error;
    bool has_device = wb_device(&error);
    if (!count) return wb_return(cudaErrorInvalidValue);
    *count = has_device ? (int)wb_session(&error)->ndevices : 0;
    return wb_return(error);
}

cudaError_t cudaGetDevice(int *device) {
    int error;
    if (wb_device(&error)) *device = (int)wb_current_device();
    return wb_return(error);
}

cudaError_t cudaSetDevice(int device) {
    int error;
    if (wb_device(&error)) error = wb_check_device_number(device);
    if (!error) wb_exchange_device((unsigned)device), wb_activate_context();
    if (!error && device) wb_order_report(); /* two devices run at the same time */
    return wb_return(error);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    (void)device_flags, (void)flags;
    return wb_forward(cudaSetDevice(device));
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    (void)prop;
    return wb_forward(cudaGetDevice(device));
}

cudaError_t cudaSetValidDevices(int *devices, int n) {
    for (int i = 0; i < n; i++)
        if (wb_check_device_number(devices[i])) return wb_return(cudaErrorInvalidDevice);
    return cudaSuccess;
}

static unsigned device_flags;
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    *flags = device_flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device) {
    if (wb_check_device_number(device)) return wb_return(cudaErrorInvalidDevice);
    if (!text || size < 13) return wb_return(cudaErrorInvalidValue);
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    unsigned domain = 0, bus, slot, function;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4 &&
        (domain = 0, sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3))
        return wb_return(cudaErrorInvalidValue);
    if (domain || slot || function || !bus || wb_check_device_number((int)bus - 1))
        return wb_return(cudaErrorInvalidDevice);
    *device = (int)bus - 1;
    return cudaSuccess;
}

/* ---- configuration ---- */

/* Frees memory and resets variables. Handles of streams and events remain, but refer to nothing. */
static int reset_device(void) {
    const struct wb_session *s;
    int error;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error;
    error = wb_sync();
    if (error || s->grading) return error;
    wb_unregister_all();
    error = wb_request(reset, NULL, NULL);
    wb_inflight_clear();
    if (!error) wb_range_clear(), wb_graph_device_reset(), wb_reset_access();
    return error;
}
cudaError_t cudaDeviceReset(void) { return wb_return(reset_device()); }

static size_t limits[cudaLimitPersistingL2CacheSize + 1] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
};

/* Only the heap's size affects the device. Other limits are stored for queries: stack and printf
 * buffer have fixed, larger sizes. */
static int set_limit(enum cudaLimit limit, size_t value) {
    const struct wb_session *s;
    int error;
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize) return cudaErrorUnsupportedLimit;
    if (!wb_device(&error) || !(s = wb_session(&error))) return error;
    if (limit == cudaLimitMallocHeapSize && !s->grading)
        error = wb_request(heap, &((struct wb_req_heap){value}), NULL);
    if (!error) limits[limit] = value;
    return error;
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    return wb_return(set_limit(limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    if ((unsigned)limit > cudaLimitPersistingL2CacheSize)
        return wb_return(cudaErrorUnsupportedLimit);
    *value = limits[limit];
    return cudaSuccess;
}

static enum cudaFuncCache cache_config;
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    cache_config = config;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    *config = cache_config;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    (void)config;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least_priority, int *greatest_priority) {
    if (least_priority) *least_priority = 0;
    if (greatest_priority) *greatest_priority = -5;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* The profiler's calls of cuda_profiler_api.h have no effect. */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t cudaProfilerStop(void) { return cudaSuccess; }

/* Inline functions of the C++ headers call it, although there is nothing to describe. */
struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}
