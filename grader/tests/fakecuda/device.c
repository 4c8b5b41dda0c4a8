/* device.c — the fake driver's functions about itself, its one device, and errors. */
#include "grader/tests/fakecuda/fakecuda.h"
#include "grader/tests/fakecuda/internal.h"

#include <stdio.h>
#include <stdlib.h>

EXPORT int cuDriverGetVersion(int *v) {
    record_call(__func__, false);
    return *v = 13000, OK;
}
EXPORT int cuDeviceGetCount(int *n) {
    record_call(__func__, false);
    return *n = getenv("FAKECUDA_NO_DEVICE") ? 0 : 1, OK;
}
EXPORT int cuDeviceGet(int *d, int ordinal) {
    record_call(__func__, false);
    return *d = 0, ordinal ? INVALID_VALUE : OK;
}
EXPORT int cuDeviceGetName(char *name, int n, int d) {
    record_call(__func__, false);
    snprintf(name, (size_t)n, "Fake GPU");
    return d;
}
EXPORT int cuDeviceTotalMem_v2(size_t *n, int d) {
    record_call(__func__, false);
    return *n = 1ull << 30, d;
}
EXPORT int cuDeviceGetAttribute(int *v, int attribute, int d) {
    record_call(__func__, false);
    *v = attribute == 1    ? 1024
         : attribute == 16 ? 132
         : attribute == 13 ? 1980000
         : attribute == 38 ? 4 << 20
         : attribute == 75 ? 9
         : attribute == 97 ? 232448
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
