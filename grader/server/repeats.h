/* repeats.h — skips repeated work: programs time a kernel by a loop of equal commands, of which all
 * but the first change nothing. The device server (server.c, memory.c, launch.c) calls it.
 *
 * A cycle is a sequence of commands that a program issues again and again: launches with equal
 * parameters, fills, copies, writes of equal data. If a cycle has left all device memory as it was
 * before it, another one does so too, since the simulator is deterministic: the same commands on
 * the same memory have the same effects. From then on its commands aren't executed. A launch that
 * reads no memory that it writes needs no hash: an equal one right after it isn't executed
 * (sim/race/idempotence.c). A client that looks at memory in the middle of a cycle, or issues
 * another command, first makes those commands of the cycle run that were skipped since the cycle's
 * beginning. */
#pragma once
#include "grader/server/internal.h"

struct repeats;
struct repeats *repeats_new(void);
void repeats_free(struct repeats *r);

/* Call it with each message before its handler. Messages that read or change the device other than
 * by a command of a cycle end the cycle, or make its skipped commands run. */
void repeats_before_message(struct server *s, enum wb_op op);
/* Forgets all commands so far, for instance because a command reported a finding. */
void repeats_forget(struct server *s);

/* Execute the command, or skip it. They return its cudaError_t. */
int repeats_write(struct server *s, const struct wb_req_write *q, struct message_tail data);
int repeats_fill(struct server *s, const struct wb_req_fill *q);
int repeats_copy(struct server *s, const struct wb_req_copy *q);
/* Returns the result of an equal launch if this one may be skipped, otherwise NULL. The caller then
 * executes the launch and passes its result to repeats_end_launch, which owns it from there on. */
const struct backend_result *repeats_begin_launch(struct server *s, const struct pending_launch *l);
void repeats_end_launch(struct server *s, struct backend_result *result, bool has_output);
