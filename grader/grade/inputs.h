/* inputs.h — a case's random numbers, from seed, case and round; and a case whose data another
 * process draws and solves ahead, while nvcc is at work: at the timed size that takes as long as
 * all else that follows the build. */
#pragma once
#include "grader/grade/case_memory.h"

/* Scalars are drawn once for a case: they are part of what is recorded. `index`: of the case. */
void inputs_draw_scalars(struct problem *p, const char *seed, unsigned index);
/* Buffers anew for each round; `outputs`: see problem_draw_buffers(). */
void inputs_draw_round(struct problem *p, const char *seed, unsigned index, unsigned round,
                       bool outputs);

struct input_prefetch;
/* Starts the process: scalars, the first round's buffers with its outputs in a memory file, and
 * what must come of them. NULL: one core alone, little memory (a quarter of what there is would not
 * hold it), or it cannot be started; then the case is drawn when its turn comes. The texts are
 * borrowed. */
struct input_prefetch *input_prefetch_start(const struct exercise *ex, const struct ex_case *c,
                                            const char *seed, unsigned index);
/* Waits for it; true: `p` is open, drawn and solved, `m` filled, and both the caller's. False where
 * it is another case's or the process died. */
bool input_prefetch_take(struct input_prefetch *a, const struct ex_case *c, const char *seed,
                         unsigned index, struct problem *p, struct case_memory *m);
/* Ends it, taken or not. */
void input_prefetch_free(struct input_prefetch *a);
