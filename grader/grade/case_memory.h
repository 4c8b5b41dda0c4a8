/* case_memory.h — the memory file of a case, mapped by the grader and the device process: the
 * result area, then each buffer on its own pages. */
#pragma once
#include "grader/book/problem.h"
#include "grader/server/control.h"

struct case_memory {
    int fd; /* -1 = none */
    uint8_t *bytes;
    uint64_t size, offset[EX_ARGS];
};

enum { LARGE_BUFFER_BYTES = 16 << 20 }; /* larger buffers are freed as early as possible */

/* Creates the file for the buffers of an open problem. Call case_memory_close() even if it returns
 * false. */
bool case_memory_open(struct case_memory *m, const struct problem *p, struct err *e);
void case_memory_close(struct case_memory *m);
/* Keeps the mapping from processes forked later, as sandboxes begin. */
void case_memory_set_dontfork(const struct case_memory *m);
/* Writes the drawn data into the buffers and lists their ranges in `r`. With `outputs`, outputs get
 * random bits, which count as uninitialized; else their content is undefined. Inputs inside an
 * output come last. With `is_filled`, the buffers hold the data already. */
void case_memory_fill(struct case_memory *m, const struct problem *p, bool outputs, bool is_filled,
                      struct control_replay *r);
/* Reads the buffers back into the problem (`actual`). Large ones are freed meanwhile, unless
 * `keep`: a device process that still maps them reads zeros. */
void case_memory_read_back(struct case_memory *m, struct problem *p, bool keep);
