/* tally.h — what the launches of one replay add up to: counters, source lines, reports, modelled time. */
#pragma once
#include "grader/server/server.h"
#include "grader/sim/timing/timing.h"

enum { TALLY_REPORTS = 8 };

struct tally_line {
    char *file; /* base name */
    uint32_t line;
    struct sim_counters counters;
};

struct tally {
    unsigned launches;
    bool other_writes; /* memory was written by other commands than launches: copies, fills */
    /* By copies from device memory to device memory, and by fills: see struct server_moves. */
    double copied_bytes, copied_sectors_read, copied_sectors_written, filled_bytes, filled_sectors;
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
    bool waits;                /* blocks of a launch wait for each other: not modelled */
    double longest;            /* seconds of the longest launch, which names what limits */
    char bound_by[192];        /* "DRAM bandwidth, 87 % (next: …)", of the longest launch */
    char longest_kernel[64];
};

void tally_add(struct tally *t, const struct gpu_device *d, const struct server_launch *l);
void tally_report(struct tally *t, const struct sim_report *r); /* found when no launch ran */
/* Copies and fills, after the launches: counted; each copy is charged a start, as a launch behind another one, each fill a part of
 * that, and those within device memory their sectors at the DRAM's rate. */
void tally_moved(struct tally *t, const struct gpu_device *d, const struct server_moves *m);
void tally_sort(struct tally *t); /* by file, then line */
void tally_free(struct tally *t);

/* As bytes, from one process to another (tally_wire.c): `box` has room for tally_wire_bytes(); returns the bytes written. */
size_t tally_wire_bytes(void);
size_t tally_pack(const struct tally *t, void *box);
/* False, and nothing to free, where the bytes are no tally. */
bool tally_unpack(struct tally *t, const void *box, size_t size);
