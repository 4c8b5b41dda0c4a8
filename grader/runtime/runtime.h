/* runtime.h — what the parts of the remote runtime share. The runtime is linked into the student's program in place
 * of NVIDIA's libcudart; it includes the toolkit's own headers, so that every signature and layout is theirs. */
#pragma once
#include "grader/runtime/client.h"

#include <cuda_runtime_api.h>

#include <stdbool.h>

/* ---- errors (error.c) ---- */

/* Remembers an error for cudaGetLastError, and returns it. */
cudaError_t wb_return(int error);

/* ---- modules (modules.c) ---- */

struct wb_module;

struct wb_function {
    struct wb_function *next;
    const void *host; /* the stub whose address stands for the kernel */
    const char *name; /* mangled */
    struct wb_module *module;
    uint64_t kernel;  /* 0 = not looked up yet */
    int error;        /* why it cannot be */
    struct wb_rep_kernel_find info;
    struct wb_param *params;
    int carveout;
};

/* By host stub or by handle; looks the kernel up on the device at first use. NULL with `*error`. */
struct wb_function *wb_function(const void *stub_or_handle, int *error);
/* Address and size of a __device__ or __constant__ variable on the device. */
int wb_symbol(const void *host, uint64_t *address, uint64_t *bytes);

/* ---- memory (memory.c, managed.c, host_memory.c) ---- */

bool wb_is_device(const void *p);
/* Device memory that is mapped at the same address in this process. */
int wb_managed_add(uint64_t address, uint64_t bytes);
bool wb_managed_remove(uint64_t address);
bool wb_is_managed(const void *p);
void wb_managed_to_device(void); /* before the device looks at memory */
/* Kinds: of host memory that this runtime gave out. */
enum wb_host_kind { WB_HOST_UNKNOWN, WB_HOST_PINNED, WB_HOST_REGISTERED };
enum wb_host_kind wb_host_kind(const void *p);
int wb_write(uint64_t to, uint64_t pitch, const void *from, size_t from_pitch, size_t width, size_t rows);
int wb_read(void *to, size_t to_pitch, uint64_t from, uint64_t pitch, size_t width, size_t rows);
int wb_copy_any(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
                enum cudaMemcpyKind kind);
int wb_fill(void *to, size_t pitch, int value, size_t width, size_t rows);

/* ---- streams (stream.c) ---- */

int wb_check_stream(cudaStream_t s);
/* Prints what device printf has written. */
void wb_flush_output(void);
/* A synchronisation point: the sticky error if there is one. */
int wb_sync(void);

/* ---- device (device.c) ---- */

/* NULL with `*error` where there is no device. */
const struct wb_rep_device_info *wb_device(int *error);

/* Says once that a call is not supported. */
cudaError_t wb_unsupported(const char *call);
/* Reserves the device's addresses and catches host code that touches them (managed.c). */
void wb_reserve(uint64_t start, uint64_t bytes);
