/* device_launch.h — launches by kernels, stored until they run: core/device_launch.c. */
#pragma once
#include "grader/sim/core/core.h"

/* `rows` rows of `width` bytes, at distances of the pitches; a fill if `src` is 0. */
struct device_copy {
    u64 dst, src, dst_pitch, src_pitch, width, rows;
    u8 fill_value;
};
struct device_launch {
    struct device_launch *next;
    const struct sim_kernel *kernel; /* NULL: a copy or a fill */
    struct device_copy copy;
    u32 grid[3], block[3], dynamic_shared, param_bytes;
    u64 param_buffer;      /* device address of the parameters, until the launch */
    unsigned char *params; /* the parameters, after the launch */
};

/* Stores a call's result through a pointer: a generic address of the lane. Returns false, with a
 * fault, if the address is invalid. */
bool call_store_result(struct exec *x, const struct op *o, u32 lane, u64 address, u64 v, u32 bytes);
/* Executes a lane's call of the device runtime. */
void device_launch_builtin(struct exec *x, const struct call_desc *d, const struct op *o, u32 lane,
                           unsigned char *frame);
/* Returns the running executable graph if it was instantiated for device launch, else 0. */
u64 device_launch_current_graph(const struct memory *m);
struct sim_launch device_launch_request(const struct device_launch *p);
void device_launch_free(struct sim *s, struct device_launch *p);
/* Drops the launches that have not run. */
void device_launch_drop(struct sim *s);
