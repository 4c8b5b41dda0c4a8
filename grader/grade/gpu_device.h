/* gpu_device.h — the GPU of this machine as a device to grade on. */
#pragma once
#include "grader/server/backend_gpu.h"

/* Returns this machine's GPU: the nearest row of the device table, updated with what the driver
 * reports. NULL, with the reason, if there is none. A child process queries it, because a CUDA
 * context does not survive a fork. */
const struct gpu_device *gpu_device_present(struct err *e);
/* Returns the CUDA version of the driver: 13000 = 13.0; 0 before gpu_device_present(). */
int gpu_device_driver_version(void);
/* Returns the nearest row of the device table, whose modelled times are compared with the measured
 * ones. */
const struct gpu_device *gpu_device_nearest(void);
/* Returns backend options if `d` is that device, NULL if it is a simulated one. */
const struct gpu_options *gpu_options_of(const struct gpu_device *d);
