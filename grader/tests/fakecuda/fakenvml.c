/* fakenvml.c — the fake NVML: a GPU at its full clock, throttled or shared when a test sets it
 * so. */
#include "grader/tests/fakecuda/fakecuda.h"

enum { OK, INVALID_VALUE };
static unsigned other_processes;
static unsigned long long throttle;

EXPORT void fakecuda_set_throttle(unsigned long long reasons, unsigned others) {
    throttle = reasons, other_processes = others;
}

EXPORT int nvmlInit_v2(void) { return OK; }
EXPORT int nvmlShutdown(void) { return OK; }
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {
    *d = &throttle;
    return i ? INVALID_VALUE : OK;
}
EXPORT int nvmlDeviceGetClockInfo(void *d, int which, unsigned *mhz) {
    (void)d, (void)which;
    return *mhz = 1980, OK;
}
EXPORT int nvmlDeviceGetTemperature(void *d, int which, unsigned *t) {
    (void)d, (void)which;
    return *t = 50, OK;
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *r) {
    (void)d;
    return *r = throttle, OK;
}
EXPORT int nvmlDeviceGetUtilizationRates(void *d, unsigned *r) {
    (void)d;
    return r[0] = r[1] = 0, OK;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *list) {
    (void)d;
    struct {
        unsigned pid;
        unsigned long long memory;
        unsigned a, b;
    } *p = list;
    *n = other_processes;
    for (unsigned i = 0; i < *n; i++) p[i].pid = 1;
    return OK;
}
