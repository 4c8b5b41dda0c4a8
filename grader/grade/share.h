/* share.h — the memory file of a case, which the grader and the device process map: the box of
 * messages, then each buffer, from a page of its own on. */
#pragma once
#include "grader/book/problem.h"
#include "grader/server/control.h"

struct share {
    int fd; /* -1 = none */
    uint8_t *bytes;
    uint64_t size, offset[EX_ARGS];
};

enum { SHARE_LARGE = 16 << 20 }; /* buffers from here on are given back as soon as they can be */

/* Makes it for the buffers of an open problem. False: what was made has to be closed all the same.
 */
bool share_open(struct share *m, const struct problem *p, struct err *e);
void share_close(struct share *m);
/* Processes that are forked from now on do not get the mapping: jails begin as such. */
void share_keep(const struct share *m);
/* Puts what was drawn into the buffers, and says in `r` which bytes those are. `outputs`: what was
 * drawn for them, too; without, they hold anything. Random bits stand in an output, and reading
 * them counts as reading what was never written; inputs inside an output come last. `there`: they
 * hold it already. */
void share_fill(struct share *m, const struct problem *p, bool outputs, bool there,
                struct control_replay *r);
/* Pages that will be read, all at once. */
void share_touch(const void *bytes, uint64_t size);
/* Pages that nobody will read again. A device process that still maps them finds zeros. */
void share_give_back(struct share *m, uint64_t at, uint64_t bytes);
