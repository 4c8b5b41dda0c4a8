/* timeline.h — models how long commands of several streams take together: kernels, copies over the
 * bus in both directions, and a host that waits. The server calls it.
 *
 * Theory of operation. Each device has four engines: copies to it, copies to the host, copies to
 * other devices, and the SMs. All but the host are separate for each device. A command starts when
 * earlier commands of its stream are done, and those of other streams that it comes after (its
 * clock), and its engine is free. A copy occupies its engine alone; copies from several devices
 * into one share the rate of the link into it; while both directions transfer
 * bytes, they share the bus's bidirectional rate. A kernel takes a share of the device, the largest
 * of its shares of SMs, DRAM and L2. Kernels run concurrently as long as their shares add up to at
 * most one; none overtakes an earlier kernel that waits for capacity. The host issues commands one
 * after another; where it waits for some, it goes on when they are done and it has woken up. The
 * model advances from event to event, so that rates can change while a copy runs. */
#pragma once
#include "grader/sim/device.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIMELINE_MAX_STREAMS = 64, TIMELINE_MAX_DEVICES = 8 };
enum timeline_engine {
    TIMELINE_H2D,
    TIMELINE_D2H,
    TIMELINE_KERNEL,
    TIMELINE_PEER, /* copies to other devices */
    TIMELINE_NONE  /* a command that takes no time, such as an event */
};

struct timeline_command {
    enum timeline_engine engine;
    uint32_t stream, number; /* number: ascending in a stream; parts of one call share it */
    /* TIMELINE_MAX_STREAMS numbers each: for each stream, the last command that it comes after, and
     * the last that the host has waited for. NULL: it comes after those of its own stream only. */
    const uint32_t *after, *host_done;
    uint32_t device;    /* the source of a copy between devices */
    uint32_t to_device; /* its destination */
    bool in_same_call;  /* a graph's node behind another: the host issues it with that one */
    double bytes;       /* of a copy */
    /* Of a kernel: its time and its share of the device, 0..1. Of a copy between devices: what it
     * takes besides the usual overhead. */
    double seconds, device_share;
    double begin, end; /* results, in seconds */
};

struct timeline_rates {
    double h2d, d2h, bidirectional;      /* bytes/s: of one direction alone, of both together */
    double peer;                         /* bytes/s from one device to another */
    double copy_overhead, peer_overhead; /* seconds of a copy besides its transfer */
    double engine_switch;          /* seconds from the end of a command to one on another engine */
    double device_switch;          /* the same to one on another device that waited for it */
    double host_call, host_wakeup; /* seconds of a call; from the end of a wait to the next call */
    double overlap;      /* seconds by which a kernel overlaps the one before it in its stream */
    double node_overlap; /* the same where both are nodes of one graph */
};
struct timeline_rates time_timeline_rates(const struct gpu_device *d);
/* Returns the bytes of pinned memory whose copy takes as long as that of so many pageable bytes,
 * which go through a pinned buffer of the driver. */
double time_pageable_bytes(const struct gpu_device *d, double bytes);
/* Sets the size and the additional time of a copy between devices. Direct: with peer access; else
 * it passes through a buffer of the host. Pulled: issued in a stream of the destination's device.
 */
void time_peer_copy(const struct gpu_device *d, double bytes, bool is_direct, bool is_pulled,
                    struct timeline_command *c);

/* Returns the time of a kernel that does little more than move so many bytes from or to the memory
 * of another device. */
double time_peer_kernel_seconds(const struct gpu_device *d, double bytes);

struct timeline_total {
    double seconds;
    double
        engine_busy[TIMELINE_NONE]; /* by engine, of all devices: seconds in which it is in use */
};
/* Fills in `begin` and `end`. Clocks that refer to commands not in the list count as reached. */
struct timeline_total time_timeline_run(struct timeline_command *c, unsigned n,
                                        const struct timeline_rates *r);
