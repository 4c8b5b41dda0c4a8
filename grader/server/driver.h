/* driver.h — the CUDA driver and, if installed, NVML. Both are loaded only on request, so that the
 * grader also runs on machines without them. */
#pragma once
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct driver {
    void *library;
#define CALL(name, arguments) int(*name) arguments;
#define OPTIONAL              CALL
#include "grader/server/driver.def"
#undef CALL
#undef OPTIONAL
};

/* Opens libcuda.so.1, or the library that WARPBOOK_LIBCUDA names (tests put a fake there). Returns
 * false with a sentence for the user: no driver, no device, too old. */
bool driver_open(struct driver *d, struct err *e);
void driver_close(struct driver *d);
/* Writes "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered". */
void driver_error(const struct driver *d, int error, char *out, size_t size);

/* Numbers of cuda.h that we use; test_driver_numbers.c compares each with the toolkit's. */
enum {
    ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    ATTRIBUTE_MAX_SHARED_PER_BLOCK = 8,
    ATTRIBUTE_WARP_SIZE = 10,
    ATTRIBUTE_CLOCK_KHZ = 13,
    ATTRIBUTE_SMS = 16,
    ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
    ATTRIBUTE_L2_BYTES = 38,
    ATTRIBUTE_CC_MAJOR = 75,
    ATTRIBUTE_CC_MINOR = 76,
    ATTRIBUTE_SHARED_OPTIN = 97,

    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED = 1,
    FUNCTION_CONST = 2,
    FUNCTION_LOCAL = 3,
    FUNCTION_REGISTERS = 4,
    FUNCTION_MAX_DYNAMIC_SHARED = 8,

    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_BYTES = 6,
    JIT_LINE_INFO = 13,

    STREAM_NON_BLOCKING = 1, /* not ordered with the null stream */
    EVENT_DISABLE_TIMING = 2,

    DRIVER_OUT_OF_MEMORY = 2,
};

/* ---- NVML: clocks, throttling, other users of the GPU ---- */

struct gpu_state {
    bool valid;
    unsigned sm_mhz, temperature;
    uint64_t throttle_reasons;    /* reasons, NVML's bits; 0 = none */
    unsigned other_processes;     /* other processes that use the device */
    unsigned utilization_percent; /* percent of the last sample period */
};
struct nvml;
/* Returns NULL if the library is missing or fails; then throttling is unknown. */
struct nvml *nvml_open(void);
void nvml_read(struct nvml *n, struct gpu_state *out);
void nvml_close(struct nvml *n);
/* Throttle reasons that invalidate a measurement: power, heat, hardware slowdown. Not idle or
 * application clocks. */
#define NVML_THROTTLE_MASK 0x00000000000000ecull
