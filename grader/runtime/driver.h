/* driver.h — what the files of the driver API share. */
#pragma once
#include "grader/runtime/runtime.h"

#include <cuda.h>

/* Converts the runtime's error to the driver's. */
CUresult wb_driver_result(int error);
/* Returns true if this thread has a context. */
CUresult wb_driver_check_context(void);
CUresult wb_driver_check_device(CUdevice d);
/* Returns the context's device, or -1; the context of a device. */
int wb_driver_context_device(CUcontext c);
CUcontext wb_driver_context_of(unsigned device);

/* Converts a copy of rows (driver_copy.c); returns the runtime's error. */
int wb_driver_copy_params(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p);

/* CUDA's headers have it since 12.3. */
CUresult cuFuncGetName(const char **name, CUfunction f);

/* For calls that need no current context, such as those of memory, which know their own. */
#define WITH_DRIVER(call)                                                                 \
    (wb_driver_check_context() == CUDA_ERROR_NOT_INITIALIZED ? CUDA_ERROR_NOT_INITIALIZED \
                                                             : wb_driver_result(call))
/* For calls into a stream: only the default stream is the current context's. */
#define WITH_STREAM(stream, call) ((stream) ? WITH_DRIVER(call) : WITH_CONTEXT(call))
/* For a call that needs a context: `call` is evaluated only if there is one. */
#define WITH_CONTEXT(call) \
    (wb_driver_check_context() ? wb_driver_check_context() : wb_driver_result(call))
