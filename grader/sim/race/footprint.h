/* footprint.h — the bytes that one command of a stream accesses: a kernel, a copy, a fill or a
 * free. See streams.c. */
#pragma once
#include "grader/sim/code/insn.h"

#include <stddef.h>

enum { COMMAND_READ, COMMAND_WRITE, COMMAND_UPDATE, COMMAND_ACCESS_KINDS };
enum { FOOTPRINT_ROW_BYTES = 32 };

/* Consecutive rows of which the same bytes were accessed. */
struct row_run {
    u64 first, n;
    u32 byte_mask[COMMAND_ACCESS_KINDS]; /* a bit for each byte of a row */
};
/* An instruction of a kernel: its source line, and the range of addresses that it accessed. */
struct access_site {
    u64 low, high; /* offsets from SIM_BASE */
    u32 line;
    u8 access_kind;
    char file[64];    /* without folders */
    const char *path; /* belongs to the kernel's module: invalid after the launch */
};
struct footprint {
    u32 stream, sequence; /* of the command: its number in its stream, from 1 */
    bool is_graph_node;
    u32 device;       /* of the command */
    u32 host_line;    /* of the call of a copy or a fill; 0 = unknown */
    u64 bytes;        /* that a copy or a fill accesses; 0 = another command */
    const char *verb; /* for reports; NULL: that of the kind of access */
    char description[136];
    struct row_run *runs; /* ascending and disjoint */
    size_t nruns, capacity;
    struct access_site *sites;
    u32 nsites;
};

/* Adds `n` rows from `row` on. Call it in ascending order; it may repeat the last row. */
void race_footprint_add_rows(struct footprint *f, u64 row, u64 n,
                             const u32 byte_mask[COMMAND_ACCESS_KINDS]);
/* Adds the bytes from `low` to `high`, offsets from SIM_BASE; in ascending order, too. */
void race_footprint_add_bytes(struct footprint *f, u64 low, u64 high, u32 access_kind);
/* Sorts the runs of rows that were added by allocation, in any order. */
void race_footprint_sort(struct footprint *f);
/* Removes the rows from `first` to `end`. Allocations don't share a row. */
void race_footprint_remove_rows(struct footprint *f, u64 first, u64 end);
/* Removes what a later command of the same stream makes redundant: whatever conflicts with the
 * removed access also conflicts with the later one. */
void race_footprint_supersede(struct footprint *old, const struct footprint *later);
void race_footprint_free(struct footprint *f);

/* The first byte that two commands access, and how each accesses it. */
struct conflict {
    u64 offset;
    u32 bytes; /* 4 if they conflict in a whole aligned word, else 1 */
    u8 kind, other_kind;
};
/* Finds the first byte that both access and one changes. Updates don't conflict with updates. */
bool race_footprint_find_conflict(const struct footprint *a, const struct footprint *b,
                                  struct conflict *c);
