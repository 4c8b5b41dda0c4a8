/* sass_lowering.c — the number of machine instructions of a PTX instruction, and their pipe, from
 * the table in lowering.def. region.c and schedule.c call it. */
#include "grader/sim/timing/internal.h"

#include <string.h>

static const struct {
    const char *prefix;
    struct lowering lowering;
} lowering_rows[] = {
#define LOWER(prefix, pipe, count, xu_count) {prefix, {pipe, count, xu_count}},
#include "grader/sim/timing/lowering.def"
#undef LOWER
};

/* By the pipe of an opcode's row: the pipe of its machine instruction. */
static const u8 machine_pipe[PIPE_COUNT] = {
    [PIPE_ALU] = PIPE_ALU,    [PIPE_FMA] = PIPE_FMA,   [PIPE_FP64] = PIPE_FP64,
    [PIPE_XU] = PIPE_XU,      [PIPE_CVT] = PIPE_ALU,   [PIPE_LSU] = PIPE_LSU,
    [PIPE_TENSOR] = PIPE_FMA, [PIPE_CTRL] = PIPE_CTRL, [PIPE_SYNC] = PIPE_CTRL,
    [PIPE_NONE] = PIPE_NONE,
};

struct lowering time_lower_insn(const char *name, u8 pipe) {
    for (unsigned i = 0; i < sizeof lowering_rows / sizeof *lowering_rows; i++)
        if (!strncmp(name, lowering_rows[i].prefix, strlen(lowering_rows[i].prefix)))
            return lowering_rows[i].lowering;
    return (struct lowering){machine_pipe[pipe], machine_pipe[pipe] != PIPE_NONE, 0};
}
