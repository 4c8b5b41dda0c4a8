/* case_memory.h — the memory file of a case, which the grader and the device process map: the box of
 * messages, then each buffer, from a page of its own on. */
#pragma once
#include "grader/book/problem.h"
#include "grader/server/control.h"

struct case_memory {
    int fd; /* -1 = none */
    uint8_t *bytes;
    uint64_t size, offset[EX_ARGS];
};

enum {
    LARGE_BUFFER_BYTES = 16 << 20
}; /* buffers from here on are given back as soon as they can be */

/* Makes it for the buffers of an open problem. False: what was made has to be closed all the same.
 */
bool case_memory_open(struct case_memory *m, const struct problem *p, struct err *e);
void case_memory_close(struct case_memory *m);
/* Processes that are forked from now on do not get the mapping: jails begin as such. */
void case_memory_set_dontfork(const struct case_memory *m);
/* Puts what was drawn into the buffers, and says in `r` which bytes those are. `outputs`: what was
 * drawn for them, too; without, they hold anything. Random bits stand in an output, and reading
 * them counts as reading what was never written; inputs inside an output come last. `there`: they
 * hold it already. */
void case_memory_fill(struct case_memory *m, const struct problem *p, bool outputs, bool is_filled,
                      struct control_replay *r);
/* Pages that will be read, all at once. */
void case_memory_prefault(const void *bytes, uint64_t size);
/* Pages that nobody will read again. A device process that still maps them finds zeros. */
void case_memory_release(struct case_memory *m, uint64_t at, uint64_t bytes);
