/* mem.h — device memory: allocations with redzones in one reserved host range, and the shadow beside it.
 *
 * Device address SIM_BASE + n is byte n of `bytes`, a range reserved without cost; pages appear when touched.
 * Whether an address may be used is decided by the allocation table alone. The shadow holds a byte for each byte, 1 =
 * written: bits would need a read-modify-write that two workers could lose. */
#pragma once
#include "grader/sim/sim.h"

enum { MEM_ALIGN = 512, MEM_REDZONE = 512 };

enum allocation_state { ALLOCATION_LIVE, ALLOCATION_FREED };

struct allocation {
    uint64_t start, size; /* start: offset from SIM_BASE */
    uint8_t state;
    bool constant;    /* kernels may not write */
    bool module;      /* a module's variable: sim_reset keeps it and restores its value */
    bool watched;     /* the launch at hand may change it: races are looked for (code/roots.c) */
    bool initialised; /* every byte is known to be written: the shadow need not be read */
    uint32_t serial;  /* order of allocation, for reports */
    char name[48];
};

struct memory {
    unsigned char *bytes;
    unsigned char *written;   /* same indexing as bytes */
    struct allocation *table; /* sorted by start; freed ones stay until their place is reused */
    unsigned count, capacity;
    uint64_t limit, used, next_serial;
};

bool memory_open(struct memory *m, uint64_t limit, struct err *e);
void memory_close(struct memory *m);
/* 0 = does not fit. */
uint64_t memory_alloc(struct memory *m, uint64_t bytes, const char *name);
enum sim_status memory_free(struct memory *m, uint64_t address);
/* Index of the live allocation that holds the whole range [address, address + bytes), else -1. */
int memory_find(const struct memory *m, uint64_t address, uint64_t bytes);
/* Index of the last allocation (of any state) that starts at or before the address, else -1. */
int memory_near(const struct memory *m, uint64_t address);
struct allocation *memory_at(struct memory *m, uint64_t address);
/* Bytes of address space behind SIM_BASE that allocations may lie in. */
uint64_t memory_span(const struct memory *m);
void memory_mark(struct memory *m, uint64_t address, uint64_t bytes, bool written);
bool memory_is_written(const struct memory *m, uint64_t address, uint64_t bytes);
/* One phrase that says where an address lies: "4 bytes past the end of `out` (4096 bytes)". */
void memory_describe(const struct memory *m, uint64_t address, unsigned width, char *out, size_t size);
