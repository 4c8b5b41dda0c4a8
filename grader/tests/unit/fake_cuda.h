/* fake_cuda.h — makes the grader use this build's stand-in for NVIDIA's libraries
 * (grader/tests/fakecuda). */
#pragma once
#include <stddef.h>

/* Sets WARPBOOK_LIBCUDA and the named variable to the path of libfakecuda.so; returns the path,
 * which stays valid. */
const char *fake_cuda_use(const char *variable);
/* fakecuda_hooks.copy_params, for kernels of the simulated GPU. */
size_t fake_cuda_copy_params(void *kernel, void **params, void *out, size_t capacity);
