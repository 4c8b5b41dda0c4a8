/* device.c — what the fake driver says of itself, of its one device, and of errors. */
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/fakecuda/internal.h"

#include <stdio.h>
#include <stdlib.h>

EXPORT int cuDriverGetVersion(int *v) {
    called(__func__, false);
    return *v = 13000, OK;
}
EXPORT int cuDeviceGetCount(int *n) {
    called(__func__, false);
    return *n = getenv("FAKECUDA_NO_DEVICE") ? 0 : 1, OK;
}
EXPORT int cuDeviceGet(int *d, int ordinal) {
    called(__func__, false);
    return *d = 0, ordinal ? INVALID_VALUE : OK;
}
EXPORT int cuDeviceGetName(char *name, int n, int d) {
    called(__func__, false);
    snprintf(name, (size_t)n, "Fake GPU");
    return d;
}
EXPORT int cuDeviceTotalMem_v2(size_t *n, int d) {
    called(__func__, false);
    return *n = 1ull << 30, d;
}
EXPORT int cuDeviceGetAttribute(int *v, int which, int d) {
    called(__func__, false);
    *v = which == 1    ? 1024
         : which == 16 ? 132
         : which == 13 ? 1980000
         : which == 38 ? 4 << 20
         : which == 75 ? 9
         : which == 97 ? 232448
                       : 0;
    return d;
}
EXPORT int cuGetErrorName(int e, const char **name) {
    *name = e == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
    return OK;
}
EXPORT int cuGetErrorString(int e, const char **text) {
    (void)e;
    *text = "said by the fake driver";
    return OK;
}
