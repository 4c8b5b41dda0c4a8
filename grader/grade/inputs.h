/* inputs.h — draws a case's random numbers from seed, case and round; and prefetches a case:
 * another process draws its inputs and computes the expected outputs while nvcc runs, since at the
 * timed size that takes as long as all other steps after the build. It also compares. */
#pragma once
#include "grader/grade/case_memory.h"

/* Draws the scalars, once for a case, since the recording contains them. `index` is the case's. */
void inputs_draw_scalars(struct problem *p, const char *seed, unsigned index);
/* Draws the buffers of a round; `outputs`: see problem_draw_buffers(). */
void inputs_draw_round(struct problem *p, const char *seed, unsigned index, unsigned round,
                       bool outputs);
/* Gives the memory of drawn inputs back if that is a large part of the available memory: they are
 * in the memory file, too, while the device process runs. Returns true if inputs_draw_round() must
 * draw them again before they are read. */
bool inputs_release(struct problem *p);

struct input_prefetch;
/* Starts a process that draws scalars and the first round's buffers into a memory file and computes
 * the expected outputs. Returns NULL if the machine has one core or too little memory (less than
 * four times the data), or if the process can't start; the session then draws the case itself.
 * `seed` must outlive it. */
struct input_prefetch *input_prefetch_start(const struct exercise *ex, const struct ex_case *c,
                                            const char *seed, unsigned index);
/* Waits until the inputs are drawn. Returns true if `p` is open with scalars, and without other
 * data, and `m` is filled; the caller owns both. Returns false if it was for another case or the
 * process died. */
bool input_prefetch_take(struct input_prefetch *a, const struct ex_case *c, const char *seed,
                         unsigned index, struct problem *p, struct case_memory *m);
/* Once after input_prefetch_take(): compares what the memory file holds now, as problem_compare().
 * Returns false if the process died. */
bool input_prefetch_compare(struct input_prefetch *a, bool *is_correct, struct buf *message);
/* Ends the process and frees everything not taken. `a` may be NULL. */
void input_prefetch_free(struct input_prefetch *a);
