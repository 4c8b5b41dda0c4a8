/* launch_stats.h — totals over the launches of one replay: counters, source lines, reports,
 * modelled time. */
#pragma once
#include "grader/server/server.h"
#include "grader/sim/timing/timing.h"

/* Overhead of a fill as a fraction of a launch's; a copy's equals a launch's. Measured on an H100
 * with 200 small commands in a row: kernel 1.8 us, copy 2.0 us (2.6 us for a column of 1024 rows),
 * fill 0.76 us. */
static const double server_fill_launch_fraction = 0.26;

enum {
    LAUNCH_STATS_MAX_REPORTS = 8,
    LAUNCH_STATS_MAX_KERNELS = 16,
    LAUNCH_STATS_MAX_ACCESSES = 256,
    LAUNCH_STATS_FILE_BYTES = 64
};

struct launch_stats_line {
    char *file; /* base name */
    uint32_t line;
    struct sim_counters counters;
    double stall_seconds[SIM_STALL_COUNT]; /* seconds of the modelled time */
};

/* The launches of one kernel. The last entry holds all further kernels if there are too many. */
struct launch_stats_kernel {
    char name[64];
    /* The limit of blocks per SM. This and the fields up to occupancy are the first launch's. */
    char occupancy_limit[24];
    uint32_t launches, grid[3], block[3], registers, spill_bytes, shared_bytes;
    double occupancy;
    double seconds, components[TIME_MAX_COMPONENTS], stall_seconds[SIM_STALL_COUNT]; /* summed */
};

/* The costliest access of a line: struct sim_access. */
struct launch_stats_access {
    char file[LAUNCH_STATS_FILE_BYTES], kernel[64];
    uint32_t line, mask, kind, bytes, shared, cost;
    uint32_t offset[32];
};

struct launch_stats {
    unsigned launches;
    bool has_other_writes; /* memory was written by other commands than launches: copies, fills */
    /* By copies from device memory to device memory, and by fills: see struct server_transfers. */
    double copied_bytes, copied_sectors_read, copied_sectors_written, filled_bytes, filled_sectors;
    /* Over the bus: see struct server_transfers. */
    double bus_bytes_in, bus_bytes_out, bus_critical_path_bytes;
    double synchronizing_calls, max_temporary_bytes; /* of the entry: struct server_transfers */
    double host_commands, instantiated_nodes;        /* as well */
    struct server_peer_traffic peer;                 /* several devices */
    bool scheduled; /* the seconds are those of a schedule, in which commands overlap
      (launch_stats_apply_schedule) */
    double bus_in_seconds, bus_out_seconds,
        kernel_seconds; /* of it, seconds with copies in each direction, and with kernels */
    struct server_launch_time
        *launch_times; /* of each launch, until launch_stats_apply_schedule; not sent */
    unsigned nlaunch_times, time_capacity;
    double blocks, threads;        /* summed over the launches */
    double shared_bytes;           /* of a block, static and dynamic: most of the launches */
    double registers, spill_bytes; /* of a thread, as ptxas said: most of the launches */
    struct sim_counters counters;
    struct launch_stats_line *lines; /* sorted by launch_stats_sort */
    unsigned nlines, capacity;       /* capacity: a power of two */
    uint32_t *slots;                 /* of lines, while they are added: index + 1 */
    struct sim_report reports[LAUNCH_STATS_MAX_REPORTS]; /* the first ones */
    unsigned nreports;
    enum sim_fault fault;
    double occupancy;          /* lowest of the launches */
    double seconds, low, high; /* modelled, summed */
    bool from_ptx;      /* A launch was timed from its PTX: machine code missing or no match. */
    bool blocks_depend; /* blocks of a launch wait for each other: not modelled */
    struct launch_stats_kernel
        kernels[LAUNCH_STATS_MAX_KERNELS]; /* in the order of their first launches */
    unsigned nkernels;
    struct launch_stats_access
        *accesses; /* by file and line, once sorted; LAUNCH_STATS_MAX_ACCESSES at most */
    unsigned naccesses;
    struct server_span spans[SERVER_MAX_SPANS]; /* of the schedule, if `scheduled` */
    unsigned nspans;
};

/* The kernel whose launches take longest; NULL where there is none. */
const struct launch_stats_kernel *launch_stats_longest_kernel(const struct launch_stats *t);

/* The account of a time, which every report reads: its components, what limits it, the same in
 * words ("DRAM bandwidth, 87 % (next: …)"). */
struct launch_stats_account {
    double seconds, components[TIME_MAX_COMPONENTS];
    struct time_limiter limits[TIME_LIMIT_COUNT];
    char text[192];
};
void launch_stats_kernel_account(const struct launch_stats_kernel *k,
                                 struct launch_stats_account *out);
/* Sets the account of the longest kernel, over all its launches; if data cross the bus, that of the
 * timeline's engines. Returns false if no kernel ran. */
bool launch_stats_account(const struct launch_stats *t, struct launch_stats_account *out);

/* Adds a launch's counters and times to its kernel's. */
void launch_stats_add_launch(struct launch_stats *t, const struct gpu_device *d,
                             const struct server_launch *l);
/* Returns the fraction of the device that a launch occupies: of its block slots or, if `e` says so,
 * of the SMs' shared resources; at most 1. */
double launch_stats_device_share(const struct gpu_device *d, const struct server_launch *l,
                                 const struct time_estimate *e);
void launch_stats_add_report(struct launch_stats *t,
                             const struct sim_report *r); /* found when no launch ran */
/* Adds copies and fills, after the launches. Each copy costs the overhead of a launch that follows
 * another one, each fill a part of that; those within device memory also cost their sectors at the
 * DRAM's rate. */
void launch_stats_add_transfers(struct launch_stats *t, const struct gpu_device *d,
                                const struct server_transfers *m);
/* If the recording has several streams or copies over the bus, replaces the sum of the launches'
 * times by the duration of the schedule of all commands. */
void launch_stats_apply_schedule(struct launch_stats *t, const struct server *s,
                                 const struct recording *r);
void launch_stats_sort(struct launch_stats *t); /* by file, then line */
void launch_stats_free(struct launch_stats *t);

/* Packs the statistics for another process (launch_stats_wire.c). `box` has room for
 * launch_stats_wire_bytes(). Returns the bytes written. */
size_t launch_stats_wire_bytes(void);
size_t launch_stats_pack(const struct launch_stats *t, void *buffer);
/* Returns false, with nothing to free, if the bytes are malformed. */
bool launch_stats_unpack(struct launch_stats *t, const void *buffer, size_t size);
