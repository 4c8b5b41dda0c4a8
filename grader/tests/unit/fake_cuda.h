/* fake_cuda.h — makes the grader use this build's stand-in for NVIDIA's libraries
 * (grader/tests/fakecuda). */
#pragma once

/* Sets WARPBOOK_LIBCUDA and the named variable to the path of libfakecuda.so; returns the path,
 * which stays valid. */
const char *fake_cuda_use(const char *variable);
