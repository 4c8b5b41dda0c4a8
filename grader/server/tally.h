/* tally.h — what the launches of one replay add up to: counters, source lines, reports, modelled
 * time. */
#pragma once
#include "grader/server/server.h"
#include "grader/sim/timing/timing.h"

/* Behind others, on an H100 (200 in a row, small ones): a kernel 1.8 us, a copy 2.0 (2.6 of a
 * column of 1024 rows), a fill 0.76: so a copy's start is a launch's, and a fill's so much of one.
 */
static const double server_fill_launches = 0.26;

enum { TALLY_REPORTS = 8, TALLY_KERNELS = 16, TALLY_ACCESSES = 256, TALLY_FILE = 64 };

struct tally_line {
    char *file; /* base name */
    uint32_t line;
    struct sim_counters counters;
    double waits[SIM_STALL_COUNT]; /* seconds of the modelled time */
};

/* The launches of one kernel; the last one is of all others where there are more. */
struct tally_kernel {
    char name[64], limit[24]; /* limit: what keeps more blocks from an SM, of the first launch, as
                                 all down to occupancy */
    uint32_t launches, grid[3], block[3], registers, spill_bytes, shared_bytes;
    double occupancy;
    double seconds, parts[TIME_PARTS]; /* modelled, summed */
};

/* The costliest access of a line: struct sim_access. */
struct tally_access {
    char file[TALLY_FILE], kernel[64];
    uint32_t line, mask, kind, bytes, shared, cost;
    uint32_t offset[32];
};

struct tally {
    unsigned launches;
    bool other_writes; /* memory was written by other commands than launches: copies, fills */
    /* By copies from device memory to device memory, and by fills: see struct server_moves. */
    double copied_bytes, copied_sectors_read, copied_sectors_written, filled_bytes, filled_sectors;
    /* Over the bus: see struct server_moves. */
    double bus_bytes_in, bus_bytes_out, bus_path_bytes;
    bool scheduled; /* the seconds are those of a schedule, in which commands overlap
                       (tally_schedule) */
    double bus_in, bus_out,
        kernels_busy; /* of it, seconds in which copies go each way, and kernels run */
    struct server_launch_time *times; /* of each launch, until tally_schedule; not sent */
    unsigned ntimes, room;
    double blocks, threads;        /* summed over the launches */
    double shared_bytes;           /* of a block, static and dynamic: most of the launches */
    double registers, spill_bytes; /* of a thread, as ptxas said: most of the launches */
    struct sim_counters counters;
    struct tally_line *lines;                 /* sorted by tally_sort */
    unsigned nlines, capacity;                /* capacity: a power of two */
    uint32_t *slots;                          /* of lines, while they are added: index + 1 */
    struct sim_report reports[TALLY_REPORTS]; /* the first ones */
    unsigned nreports;
    enum sim_fault fault;
    double occupancy;          /* lowest of the launches */
    double seconds, low, high; /* modelled, summed */
    bool from_ptx; /* the time of a launch: its machine code was not at hand or did not fit */
    bool waits;    /* blocks of a launch wait for each other: not modelled */
    struct tally_kernel kernels[TALLY_KERNELS]; /* in the order of their first launches */
    unsigned nkernels;
    struct tally_access *accesses; /* by file and line, once sorted; TALLY_ACCESSES at most */
    unsigned naccesses;
};

/* The kernel whose launches take longest; NULL where there is none. */
const struct tally_kernel *tally_longest(const struct tally *t);
/* "DRAM bandwidth, 87 % (next: …)". */
void tally_bound_text(const struct tally_kernel *k, char *out, size_t size);

void tally_add(struct tally *t, const struct gpu_device *d, const struct server_launch *l);
/* What a launch takes of the device: of the places for blocks, or, where `e` says so, of what the
 * SMs share; at most 1. */
double tally_share(const struct gpu_device *d, const struct server_launch *l,
                   const struct time_estimate *e);
void tally_report(struct tally *t, const struct sim_report *r); /* found when no launch ran */
/* Copies and fills, after the launches: counted; each copy is charged a start, as a launch behind
 * another one, each fill a part of that, and those within device memory their sectors at the DRAM's
 * rate. */
void tally_moved(struct tally *t, const struct gpu_device *d, const struct server_moves *m);
/* In place of the sum of the launches' times, how long they and all other commands take together,
 * where the recording has several streams or copies over the bus; else nothing. */
void tally_schedule(struct tally *t, const struct server *s, const struct recording *r);
void tally_sort(struct tally *t); /* by file, then line */
void tally_free(struct tally *t);

/* As bytes, from one process to another (tally_wire.c): `box` has room for tally_wire_bytes();
 * returns the bytes written. */
size_t tally_wire_bytes(void);
size_t tally_pack(const struct tally *t, void *box);
/* False, and nothing to free, where the bytes are no tally. */
bool tally_unpack(struct tally *t, const void *box, size_t size);
