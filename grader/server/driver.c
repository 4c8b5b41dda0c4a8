/* driver.c — loads the CUDA driver and NVML; see driver.h. */
#include "grader/server/driver.h"
#include "common/err.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool load_driver(struct driver *d, struct err *e) {
    /* Kernels loaded at their first launch would make the driver wait for a queue that is held
     * back. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    const char *path = getenv("WARPBOOK_LIBCUDA");
    d->library = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d->library)
        return err_set(
            e, ERR_SYSTEM,
            "no GPU: NVIDIA's driver is not on this machine (%s). `--device sim` needs none.",
            dlerror());
#define CALL(name, arguments)                      \
    *(void **)&d->name = dlsym(d->library, #name); \
    if (!d->name) return err_set(e, ERR_SYSTEM, "the NVIDIA driver is too old: it lacks " #name);
#define OPTIONAL(name, arguments) *(void **)&d->name = dlsym(d->library, #name);
#include "grader/server/driver.def"
#undef CALL
#undef OPTIONAL
    return true;
}

void driver_error(const struct driver *d, int error, char *out, size_t size) {
    const char *name = NULL, *text = NULL;
    d->cuGetErrorName(error, &name);
    d->cuGetErrorString(error, &text);
    snprintf(out, size, "%s: %s", name ? name : "unknown error", text ? text : "no text");
}

static bool init_driver(struct driver *d, struct err *e) {
    char text[256];
    int count = 0, error = d->cuInit(0);
    if (!error) error = d->cuDeviceGetCount(&count);
    if (error) {
        driver_error(d, error, text, sizeof text);
        return err_set(e, ERR_SYSTEM,
                       "no GPU: the driver does not start (%s). `--device sim` needs none.", text);
    }
    return count > 0 ||
           err_set(e, ERR_SYSTEM, "no GPU: the driver finds no device. `--device sim` needs none.");
}

bool driver_open(struct driver *d, struct err *e) {
    *d = (struct driver){0};
    if (load_driver(d, e) && init_driver(d, e)) return true;
    driver_close(d);
    return false;
}

void driver_close(struct driver *d) {
    if (d->library) dlclose(d->library);
    *d = (struct driver){0};
}

/* ---- NVML ---- */

struct nvml {
    void *library, *device;
    int (*shutdown)(void);
    int (*clock)(void *, int, unsigned *);
    int (*temperature)(void *, int, unsigned *);
    int (*throttle_reasons)(void *, unsigned long long *);
    int (*processes)(void *, unsigned *, void *);
    int (*utilization)(void *, unsigned *);
};

static void *find_nvml_symbol(const struct nvml *n, const char *name) {
    return dlsym(n->library, name);
}

struct nvml *nvml_open(void) {
    const char *path = getenv("WARPBOOK_LIBNVML");
    struct nvml *n = xcalloc(1, sizeof *n);
    n->library = dlopen(path ? path : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    int (*init)(void) = NULL, (*by_index)(unsigned, void **) = NULL;
    if (n->library) {
        *(void **)&init = find_nvml_symbol(n, "nvmlInit_v2");
        *(void **)&by_index = find_nvml_symbol(n, "nvmlDeviceGetHandleByIndex_v2");
        *(void **)&n->shutdown = find_nvml_symbol(n, "nvmlShutdown");
        *(void **)&n->clock = find_nvml_symbol(n, "nvmlDeviceGetClockInfo");
        *(void **)&n->temperature = find_nvml_symbol(n, "nvmlDeviceGetTemperature");
        *(void **)&n->throttle_reasons =
            find_nvml_symbol(n, "nvmlDeviceGetCurrentClocksThrottleReasons");
        *(void **)&n->processes = find_nvml_symbol(n, "nvmlDeviceGetComputeRunningProcesses_v3");
        *(void **)&n->utilization = find_nvml_symbol(n, "nvmlDeviceGetUtilizationRates");
    }
    bool ok = init && by_index && n->shutdown && n->clock && n->throttle_reasons && init() == 0;
    if (ok && by_index(0, &n->device) == 0) return n;
    if (n->library) dlclose(n->library);
    free(n);
    return NULL;
}

/* nvmlProcessInfo_t, version 3. */
struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute;
};

static unsigned count_other_processes(struct nvml *n) {
    struct nvml_process list[64];
    unsigned count = 64, other_processes = 0;
    if (!n->processes || n->processes(n->device, &count, list) != 0) return 0;
    for (unsigned i = 0; i < count && i < 64; i++)
        other_processes += list[i].pid != (unsigned)getpid();
    return other_processes;
}

void nvml_read(struct nvml *n, struct gpu_state *out) {
    unsigned long long reasons = 0;
    unsigned rates[2] = {0, 0};
    *out = (struct gpu_state){0};
    if (!n || n->clock(n->device, 1 /* SM */, &out->sm_mhz) != 0) return;
    out->valid = n->throttle_reasons(n->device, &reasons) == 0;
    out->throttle_reasons = reasons;
    if (n->temperature) n->temperature(n->device, 0, &out->temperature);
    if (n->utilization && n->utilization(n->device, rates) == 0)
        out->utilization_percent = rates[0];
    out->other_processes = count_other_processes(n);
}

void nvml_close(struct nvml *n) {
    if (!n) return;
    n->shutdown();
    dlclose(n->library);
    free(n);
}
