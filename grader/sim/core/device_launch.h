/* device_launch.h — launches that kernels ask for, until they run: core/device_launch.c. */
#pragma once
#include "grader/sim/core/core.h"

struct device_launch {
    struct device_launch *next;
    const struct sim_kernel
        *kernel; /* none: `length` bytes are copied, or filled where there is no `from` */
    u64 dst, src, copy_bytes;
    u8 fill_value;
    u32 grid[3], block[3], dynamic_shared, param_bytes;
    u64 param_buffer;      /* of parameters, until it is launched */
    unsigned char *params; /* from then on */
};

/* What a call leaves by a pointer that it was given, at a generic address as the lane sees it;
 * false, and a fault, if there is no memory. */
bool call_store_result(struct exec *x, const struct op *o, u32 lane, u64 address, u64 v, u32 bytes);
/* A call of the device runtime by a lane. */
void device_launch_builtin(struct exec *x, const struct call_desc *d, const struct op *o, u32 lane,
                           unsigned char *frame);
/* The executable graph that runs, where it was made for the device; else 0. */
u64 device_launch_current_graph(const struct memory *m);
struct sim_launch device_launch_request(const struct device_launch *p);
void device_launch_free(struct sim *s, struct device_launch *p);
/* Forgets what was asked for and has not run. */
void device_launch_drop(struct sim *s);
