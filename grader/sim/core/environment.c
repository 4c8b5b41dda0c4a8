/* environment.c — rounding and flush-to-zero by the processor's own control register, around one lane function. */
#include "grader/sim/core/core.h"

#include <xmmintrin.h>

enum { MXCSR_DEFAULT = 0x1f80, MXCSR_FTZ = 0x8000, MXCSR_DAZ = 0x0040, MXCSR_ROUNDING = 13 };

void core_run_in_environment(struct exec *x, const struct op *o, u32 mask) {
    u32 mode = MXCSR_DEFAULT | (o->env & 3u) << MXCSR_ROUNDING;
    if (o->env & ENV_FTZ) mode |= MXCSR_FTZ | MXCSR_DAZ;
    u32 saved = _mm_getcsr();
    _mm_setcsr(mode);
    x->worker->launch->lanes[o->row](x, o, mask);
    _mm_setcsr(saved);
}
