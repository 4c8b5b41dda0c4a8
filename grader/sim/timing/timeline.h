/* timeline.h — how long commands of several streams take together: kernels, copies over the bus
 * both ways, a host that waits.
 *
 * Theory of operation. There are three engines: one for copies to the device, one for copies to the
 * host, and the multiprocessors. A command begins when those before it in its stream are done, and
 * those of other streams that it comes after (its clock), and its engine has room. A copy has its
 * engine for itself; while both directions move bytes, they share what the bus gives. A kernel
 * takes a share of the device, the largest of what it takes of the multiprocessors, DRAM and L2;
 * kernels run beside each other as long as their shares add up to one, and none overtakes one that
 * was issued before it and waits for room. The host issues the commands one behind another, and
 * where it has waited for some, only when these are done and the news has come to it. What happens
 * next is found from one event to the next, so that rates may change while a copy runs. */
#pragma once
#include "grader/sim/device.h"

#include <stdint.h>

enum { TIMELINE_MAX_STREAMS = 64 };
enum timeline_engine {
    TIMELINE_H2D,
    TIMELINE_D2H,
    TIMELINE_KERNEL,
    TIMELINE_NONE /* a mark, which takes no time */
};

struct timeline_command {
    enum timeline_engine engine;
    uint32_t stream, number; /* the number-th of that stream; of one stream ascending, the same for
                                what belongs together */
    const uint32_t *after, *host_done; /* TIMELINE_MAX_STREAMS numbers each: up to which of each
                                        * stream's it comes after, and which the host has waited
                                        * for; NULL: it comes after those of its own stream alone */
    double bytes;                      /* of a copy */
    double seconds, device_share;      /* of a kernel; share: of the device, 0 ... 1 */
    double begin, end;                 /* found */
};

struct timeline_rates {
    double h2d, d2h, bidirectional; /* bytes a second: of a direction alone, of both together */
    double copy_overhead, engine_switch; /* seconds: what a copy needs beside its bytes; from an
                          engine to a command that waits for it on another */
    double host_call, host_wakeup; /* the host's, for a call; and from the end of what it waits for
                                      to its next call */
    double overlap; /* of a kernel's time, what is over before the kernel before it in its stream
                      ends */
};
struct timeline_rates time_timeline_rates(const struct gpu_device *d);
/* As many bytes over the bus take as long as so many from or to pageable memory, which go through a
 * pinned buffer of the driver's. */
double time_pageable_bytes(const struct gpu_device *d, double bytes);

struct timeline_total {
    double seconds;
    double engine_busy[TIMELINE_NONE]; /* of each engine: something runs there */
};
/* Fills in `begin` and `end`. Clocks that refer to what is not in the list count as met. */
struct timeline_total time_timeline_run(struct timeline_command *c, unsigned n,
                                        const struct timeline_rates *r);
