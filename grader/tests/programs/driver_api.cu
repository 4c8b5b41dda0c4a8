// The driver API: a module of PTX text, its kernel and variable, both forms of launches, memory, events, refused calls.
// nvcc: -lcuda
// stderr: only machine code
#include <cstdio>
#include <cstring>
#include <cuda.h>

static const char module_text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 calls = 40;
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [data]; ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;
  setp.ge.u32 %p, %r2, %r1; @%p bra done;
  mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; ld.global.f32 %f2, [%d1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%d1], %f2;
  setp.ne.u32 %p, %r2, 0; @%p bra done; mov.u64 %d3, calls; atom.global.add.u32 %r5, [%d3], 1;
done: ret;
}
)";

#define CHECK(call)                                                                              \
    do {                                                                                         \
        CUresult r_ = (call);                                                                    \
        if (r_) return printf("line %d: %s: %d\n", __LINE__, #call, r_), 1;                      \
    } while (0)

int main() {
    CUdevice device;
    CUcontext context;
    CUmodule module, none;
    CUfunction scale, missing;
    printf("before cuInit: %d\n", cuDeviceGet(&device, 0));
    CHECK(cuInit(0));
    int n = 0, major = 0;
    CHECK(cuDeviceGetCount(&n));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    printf("%d device, compute capability %d; without a context: %d\n", n, major, cuCtxSynchronize());
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, module_text));
    CHECK(cuModuleGetFunction(&scale, module, "scale"));
    printf("no such kernel: %d\n", cuModuleGetFunction(&missing, module, "stretch"));
    printf("no PTX: %d\n", cuModuleLoadData(&none, "\177ELF........................................................"));

    enum { N = 1000 };
    float host[N], factor = 3;
    for (int i = 0; i < N; i++) host[i] = (float)i;
    CUdeviceptr data, calls;
    size_t bytes;
    CHECK(cuMemAlloc(&data, sizeof host));
    CHECK(cuMemcpyHtoD(data, host, sizeof host));
    unsigned count = N;
    void *params[] = {&data, &factor, &count};
    CUevent begin, end;
    CHECK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(begin, 0));
    CHECK(cuLaunchKernel(scale, (N + 255) / 256, 1, 1, 256, 1, 1, 0, 0, params, nullptr));
    struct {
        CUdeviceptr data;
        float factor;
        unsigned n;
    } packed = {data, 0.5f, N};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(scale, (N + 255) / 256, 1, 1, 256, 1, 1, 0, 0, nullptr, extra));
    CHECK(cuEventRecord(end, 0));
    CHECK(cuMemcpyDtoH(host, data, sizeof host));
    float ms;
    CHECK(cuEventElapsedTime(&ms, begin, end));
    printf("%g %g %g, time %s\n", host[0], host[1], host[999], ms > 0 ? "positive" : "none");
    CHECK(cuModuleGetGlobal(&calls, &bytes, module, "calls"));
    unsigned value;
    CHECK(cuMemcpyDtoH(&value, calls, 4));
    printf("calls %u, %zu bytes\n", value, bytes);
    CHECK(cuMemsetD32(data, 7, 10));
    CHECK(cuMemcpyDtoH(&value, data + 36, 4));
    printf("cuMemsetD32 %u\n", value);
    int threads;
    CHECK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
    printf("%d threads; too many: %d\n", threads, cuLaunchKernel(scale, 1, 1, 1, 2048, 1, 1, 0, 0, params, nullptr));
    CHECK(cuMemFree(data));
    printf("freed twice: %d\n", cuMemFree(data));
    const char *name;
    CHECK(cuFuncGetName(&name, scale));
    printf("kernel %s\n", name);
    CHECK(cuModuleUnload(module));
    unsigned flags, managed, type;
    int active, ordinal = -1;
    CUdeviceptr block, seen = 0;
    CUmemoryPool pool;
    CUstreamAttrValue attribute = {}, read;
    CUstream stream;
    CUmemPoolProps properties = {};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    printf("flags %u, active %d\n", flags, active);
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    attribute.syncPolicy = CU_SYNC_POLICY_SPIN;
    CHECK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &attribute));
    CHECK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &read));
    CUdeviceptr shared;
    CHECK(cuMemAllocManaged(&shared, 64, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuStreamAttachMemAsync(stream, shared, 0, CU_MEM_ATTACH_SINGLE));
    CHECK(cuMemFree(shared));
    CUstream copy;
    CHECK(cuStreamCreate(&copy, CU_STREAM_DEFAULT));
    CHECK(cuStreamCopyAttributes(copy, stream));
    CHECK(cuStreamGetAttribute(copy, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &read));
    printf("policy %d\n", read.syncPolicy == CU_SYNC_POLICY_SPIN);
    CHECK(cuMemPoolCreate(&pool, &properties));
    CHECK(cuMemAllocFromPoolAsync(&block, 64, pool, stream));
    CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block));
    CHECK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block));
    CHECK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block));
    CHECK(cuPointerGetAttribute(&seen, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, block));
    printf("type %u, managed %u, device %d, the same %d; of the host: %d\n", type, managed, ordinal, seen == block,
           cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&type));
    CUdeviceptr plain;
    CHECK(cuMemAlloc(&plain, 64));
    CHECK(cuCtxSetCurrent(nullptr)); // the memory and the stream know their context
    CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    CUdeviceptr another;
    CHECK(cuMemAllocFromPoolAsync(&another, 64, pool, stream));
    CHECK(cuMemFreeAsync(another, stream));
    CUdevice found = -1;
    CHECK(cuDeviceGetByPCIBusId(&found, "0:1:0.0")); // the numbers are hexadecimal, of any width
    printf("device %d; on another bus: %d\n", found, cuDeviceGetByPCIBusId(&found, "0:2:0.0"));
    printf("without a context: %d, %d, %d\n", cuMemFreeAsync(block, stream), cuMemFree(plain), cuMemAlloc(&plain, 64));
    CHECK(cuEventElapsedTime(&ms, begin, end));
    CHECK(cuEventQuery(end));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemPoolDestroy(pool));
    CHECK(cuDevicePrimaryCtxRelease(device));
    return 0;
}
