// Mistakes with host calls: `mistakes NAME` makes one. The comment behind each lists the fragments
// that standard error then has, separated by " | ", in a line (or two) with this file's line before
// the first; the suite host_calls reads them here.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__constant__ float taps[8];
__device__ int counter;
__global__ void fill(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 1.0f;
}
__global__ void shared_fill(float *p) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1.0f;
    p[threadIdx.x] = s[threadIdx.x];
}
static float *device, *other, host[64];
static cudaStream_t stream;
static cudaEvent_t start, stop;
static float ms;

#define MISTAKE(name, ...) if (!strcmp(argv[1], #name)) { __VA_ARGS__; }

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    cudaMalloc(&device, 256);
    cudaMalloc(&other, 256);
    cudaStreamCreate(&stream);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    MISTAKE(symbol_from_device, cudaMemcpyToSymbol(taps, device, 32))
    // cudaMemcpyToSymbol failed: cudaErrorInvalidValue (invalid argument): | source is 256 bytes of device memory; the kind that fits them is cudaMemcpyDeviceToDevice
    MISTAKE(symbol_too_large, cudaMemcpyToSymbol(taps, host, 64))
    // cudaMemcpyToSymbol failed: cudaErrorInvalidValue | the variable has 32 bytes
    MISTAKE(symbol_offset, cudaMemcpyToSymbol(taps, host, 32, 4))
    // cudaMemcpyToSymbol failed: | bytes 4 to 36, but the variable has 32 bytes
    MISTAKE(symbol_direction, cudaMemcpyToSymbol(taps, host, 32, 0, cudaMemcpyDeviceToHost))
    // cudaMemcpyToSymbol failed: cudaErrorInvalidMemcpyDirection | needs cudaMemcpyHostToDevice
    MISTAKE(symbol_not_one, cudaMemcpyToSymbol(host, host, 32))
    // cudaMemcpyToSymbol failed: cudaErrorInvalidSymbol | pass the __device__ or __constant__ variable itself
    MISTAKE(symbol_as_destination, cudaMemcpy(taps, host, 32, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: cudaErrorInvalidValue | the host's stand-in for `taps`
    MISTAKE(from_symbol_to_device, cudaMemcpyFromSymbol(device, taps, 32))
    // cudaMemcpyFromSymbol failed: cudaErrorInvalidValue | cudaMemcpyDeviceToDevice
    MISTAKE(swapped, cudaMemcpy(host, device, 256, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: cudaErrorInvalidValue | the destination comes first: swap the pointers, or use cudaMemcpyDeviceToHost
    MISTAKE(host_as_device, cudaMemcpy(host, host + 32, 128, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: cudaErrorInvalidValue | the kind that fits them is cudaMemcpyHostToHost
    MISTAKE(device_to_host, cudaMemcpy(device, other, 256, cudaMemcpyDeviceToHost))
    // cudaMemcpy failed: cudaErrorInvalidValue | the kind that fits them is cudaMemcpyDeviceToDevice
    MISTAKE(null_destination, cudaMemcpy(nullptr, host, 256, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: | the destination is a null pointer
    MISTAKE(too_many_bytes, cudaMemcpy(device, host, 260, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: | 260 bytes; the destination is 256 bytes of device memory
    MISTAKE(too_many_bytes_back, cudaMemcpy(host, device + 60, 64, cudaMemcpyDeviceToHost))
    // cudaMemcpy failed: | 64 bytes; | the source is byte 240 of 256 bytes of device memory
    MISTAKE(too_many_between, cudaMemcpy(other, device, 512, cudaMemcpyDeviceToDevice))
    // cudaMemcpy failed: | 512 bytes; the destination is 256 bytes of device memory
    MISTAKE(bad_kind, cudaMemcpy(device, host, 256, (cudaMemcpyKind)9))
    // cudaMemcpy failed: cudaErrorInvalidMemcpyDirection | 9 is no kind of copy
    MISTAKE(pitch_in_elements, cudaMemcpy2D(device, 8, host, 32, 32, 8, cudaMemcpyHostToDevice))
    // cudaMemcpy2D failed: cudaErrorInvalidPitchValue | in bytes, not in elements
    MISTAKE(memset_host, cudaMemset(host, 0, 256))
    // cudaMemset failed: | the pointer leads to ordinary host memory
    MISTAKE(memset_too_long, cudaMemset(device, 0, 257))
    // cudaMemset failed: | 257 bytes; the pointer leads to 256 bytes of device memory
    MISTAKE(block_too_large, fill<<<1, 2048>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | 2048 threads; the device allows 1024
    MISTAKE(block_dimensions, fill<<<1, dim3(32, 64)>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | a block of (32,64,1) = 2048 threads
    MISTAKE(block_depth, fill<<<1, dim3(1, 1, 128)>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | at most (1024,1024,64)
    MISTAKE(zero_block, fill<<<1, 0>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | an empty launch: grid (1,1,1), block (0,1,1)
    MISTAKE(zero_grid, fill<<<0, 32>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | an empty launch: grid (0,1,1)
    MISTAKE(grid_too_tall, fill<<<dim3(1, 70000), 32>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidConfiguration | the device allows (2147483647,65535,65535)
    MISTAKE(shared_without_attribute, shared_fill<<<1, 32, 64 << 10>>>(device))
    // kernel launch failed: cudaErrorInvalidValue | without cudaFuncSetAttribute
    MISTAKE(shared_too_large, shared_fill<<<1, 32, 256 << 10>>>(device))
    // kernel launch failed: cudaErrorInvalidValue | the device allows 232448
    MISTAKE(attribute_too_large, cudaFuncSetAttribute(shared_fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 256 << 10))
    // cudaFuncSetAttribute failed: cudaErrorInvalidValue | a block has at most 232448
    MISTAKE(attribute_of_no_kernel, cudaFuncSetAttribute((const void *)host, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024))
    // cudaFuncSetAttribute failed: cudaErrorInvalidDeviceFunction | the name of a __global__ function
    MISTAKE(stream_destroyed, cudaStreamDestroy(stream); fill<<<1, 32, 0, stream>>>(device, 64))
    // kernel launch failed: cudaErrorInvalidResourceHandle | the stream was destroyed
    MISTAKE(stream_destroyed_twice, cudaStreamDestroy(stream); cudaStreamDestroy(stream))
    // cudaStreamDestroy failed: cudaErrorInvalidResourceHandle | the stream was destroyed
    MISTAKE(stream_invalid, cudaMemcpyAsync(device, host, 256, cudaMemcpyHostToDevice, (cudaStream_t)host))
    // cudaMemcpyAsync failed: cudaErrorInvalidResourceHandle | cudaStreamCreate never returned it
    MISTAKE(stream_uninitialized, cudaStreamSynchronize((cudaStream_t)0x1234))
    // cudaStreamSynchronize failed: cudaErrorInvalidResourceHandle | cudaStreamCreate never returned it
    MISTAKE(copy_after_free, cudaFree(device); cudaMemcpy(device, host, 256, cudaMemcpyHostToDevice))
    // cudaMemcpy failed: | the destination is device memory that was freed
    MISTAKE(read_after_free, cudaFree(device); cudaMemcpy(host, device, 256, cudaMemcpyDeviceToHost))
    // cudaMemcpy failed: | the source is device memory that was freed
    MISTAKE(memset_after_free, cudaFree(device); cudaMemset(device, 0, 256))
    // cudaMemset failed: | device memory that was freed
    MISTAKE(launch_after_free, cudaFree(device); fill<<<1, 32>>>(device, 64); cudaDeviceSynchronize())
    // *use-after-free: | which was freed
    MISTAKE(double_free, cudaFree(device); cudaFree(device))
    // cudaFree failed: | device memory that was freed; free an allocation once
    MISTAKE(free_inside, cudaFree(device + 4))
    // cudaFree failed: | byte 16 of 256 bytes of device memory; free an allocation once, by its first address
    MISTAKE(free_host, cudaFree(host))
    // cudaFree failed: | ordinary host memory; cudaFree frees what cudaMalloc
    MISTAKE(free_malloc, void *p = malloc(16); cudaFree(p))
    // cudaFree failed: | ordinary host memory; cudaFree frees what cudaMalloc
    MISTAKE(free_host_of_device, cudaFreeHost(device))
    // cudaFreeHost failed: | 256 bytes of device memory; cudaFreeHost frees what cudaMallocHost
    MISTAKE(free_of_pinned, void *p; cudaMallocHost(&p, 64); cudaFree(p))
    // cudaFree failed: | 64 bytes of pinned host memory
    MISTAKE(free_async_twice, cudaFreeAsync(device, stream); cudaFreeAsync(device, stream))
    // cudaFreeAsync failed: | device memory that was freed
    MISTAKE(event_never_recorded, cudaEventRecord(start); cudaEventElapsedTime(&ms, start, stop))
    // cudaEventElapsedTime failed: cudaErrorInvalidResourceHandle | the end event was never recorded: call cudaEventRecord first
    MISTAKE(event_not_reached, cudaEventRecord(start); fill<<<1 << 16, 1024>>>(device, 64); cudaEventRecord(stop); cudaEventElapsedTime(&ms, start, stop))
    // cudaEventElapsedTime failed: cudaErrorNotReady | call cudaEventSynchronize first
    MISTAKE(event_without_timing, cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventDisableTiming); cudaEventRecord(e); cudaEventRecord(stop); cudaDeviceSynchronize(); cudaEventElapsedTime(&ms, e, stop))
    // cudaEventElapsedTime failed: cudaErrorInvalidResourceHandle | the start event keeps no time
    MISTAKE(event_destroyed, cudaEventDestroy(start); cudaEventRecord(start))
    // cudaEventRecord failed: cudaErrorInvalidResourceHandle | the event was destroyed
    MISTAKE(event_null, cudaEventRecord(nullptr))
    // cudaEventRecord failed: cudaErrorInvalidResourceHandle | cudaEventCreate never returned it
    MISTAKE(wait_for_nothing, cudaStreamWaitEvent(stream, nullptr, 0))
    // cudaStreamWaitEvent failed: cudaErrorInvalidResourceHandle | cudaEventCreate never returned it
    MISTAKE(out_of_memory, cudaMalloc(&other, (size_t)1 << 50))
    // cudaMalloc failed: cudaErrorMemoryAllocation | 1125899906842624 bytes requested
    MISTAKE(malloc_null, cudaMalloc((void **)nullptr, 16))
    // cudaMalloc failed: cudaErrorInvalidValue | pass the address of a pointer
    MISTAKE(no_such_device, cudaSetDevice(1))
    // cudaSetDevice failed: cudaErrorInvalidDevice | the only device is number 0
    MISTAKE(managed_zero, cudaMallocManaged(&other, 0))
    // cudaMallocManaged failed: cudaErrorInvalidValue
    MISTAKE(host_reads_device, host[0] = device[1])
    // host code dereferenced device address | copy the data with cudaMemcpy
    MISTAKE(register_twice, cudaHostRegister(host, 256, 0); cudaHostRegister(host, 256, 0))
    // cudaHostRegister failed: cudaErrorHostMemoryAlreadyRegistered
    MISTAKE(unregister_never, cudaHostUnregister(host))
    // cudaHostUnregister failed: cudaErrorHostMemoryNotRegistered
    MISTAKE(null_kernel, cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), nullptr, 0, nullptr))
    // kernel launch failed: cudaErrorInvalidDeviceFunction | the name of a __global__ function
    MISTAKE(graph_instantiate_null, cudaGraphExec_t x; cudaGraphInstantiate(&x, nullptr, 0))
    // cudaGraphInstantiate failed: cudaErrorInvalidValue
    MISTAKE(end_capture_never, cudaGraph_t g; cudaStreamEndCapture(stream, &g))
    // cudaStreamEndCapture failed: cudaErrorIllegalState
    MISTAKE(sync_in_capture, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal); cudaDeviceSynchronize())
    // cudaDeviceSynchronize failed: cudaErrorStreamCaptureUnsupported
    MISTAKE(cooperative_too_many, int n = 64; void *a[] = {&device, &n}; cudaLaunchCooperativeKernel(fill, dim3(100000), dim3(256), a))
    // cudaLaunchCooperativeKernel failed: cudaErrorCooperativeLaunchTooLarge | the device holds 1056 at once
    MISTAKE(occupancy_zero, int n; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, fill, 0, 0))
    // cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags failed: cudaErrorInvalidValue
    MISTAKE(peer_self, cudaDeviceEnablePeerAccess(0, 0))
    // cudaDeviceEnablePeerAccess failed: cudaErrorPeerAccessUnsupported
    return 0;
}
