/* sass_lowering.c — the number of machine instructions of a PTX instruction, and their pipe, from
 * the table in lowering.def. region.c and schedule.c call it. */
#include "grader/sim/timing/internal.h"

#include <string.h>

static const struct {
    const char *prefix;
    struct lowering lowering;
} lowering_rows[] = {
#define LOWER(prefix, unit, count, special) {prefix, {unit, count, special}},
#include "grader/sim/timing/lowering.def"
#undef LOWER
};

static const u8 unit_of_pipe[PIPE_COUNT] = {
    [PIPE_ALU] = UNIT_ALU,    [PIPE_FMA] = UNIT_FMA,   [PIPE_FP64] = UNIT_FP64,
    [PIPE_XU] = UNIT_XU,      [PIPE_CVT] = UNIT_ALU,   [PIPE_LSU] = UNIT_LSU,
    [PIPE_TENSOR] = UNIT_FMA, [PIPE_CTRL] = UNIT_CTRL, [PIPE_SYNC] = UNIT_CTRL,
    [PIPE_NONE] = UNIT_NONE,
};

struct lowering time_lower_insn(const char *name, u8 pipe) {
    for (unsigned i = 0; i < sizeof lowering_rows / sizeof *lowering_rows; i++)
        if (!strncmp(name, lowering_rows[i].prefix, strlen(lowering_rows[i].prefix)))
            return lowering_rows[i].lowering;
    return (struct lowering){unit_of_pipe[pipe], unit_of_pipe[pipe] != UNIT_NONE, 0};
}
