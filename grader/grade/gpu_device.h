/* gpu_device.h — the real GPU as a device that exercises are graded on. */
#pragma once
#include "grader/server/backend_gpu.h"

/* The machine's GPU: the nearest row of the device table with what the driver says put over it.
 * NULL with a sentence that says what is missing. Looked at in a process of its own: a CUDA context
 * does not survive a fork. */
const struct gpu_device *gpu_device_present(struct err *e);
/* 13000 = CUDA 13.0; 0 before gpu_device_present(). */
int gpu_device_driver_version(void);
/* The row of the device table that is nearest to it: whose modelled times stand beside the measured
 * ones. */
const struct gpu_device *gpu_device_nearest(void);
/* Options for a backend if `d` is that device, NULL if it is a simulated one. */
const struct gpu_options *gpu_options_of(const struct gpu_device *d);
