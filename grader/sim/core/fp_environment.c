/* fp_environment.c — runs one lane function with another rounding mode or flush-to-zero, set in the
 * CPU's control register. aarch64 flushes before rounding, x86-64 after it; insn/exec_host_float.h
 * compensates. */
#include "grader/sim/core/core.h"

#if defined __x86_64__
#include <xmmintrin.h>

enum { MXCSR_DEFAULT = 0x1f80, MXCSR_FTZ = 0x8000, MXCSR_DAZ = 0x0040, MXCSR_ROUNDING = 13 };

static u64 set_fp_environment(u8 env) {
    u32 mode = MXCSR_DEFAULT | (env & 3u) << MXCSR_ROUNDING; /* ENV_RN… have the CPU's values */
    if (env & ENV_FTZ) mode |= MXCSR_FTZ | MXCSR_DAZ;
    u32 saved = _mm_getcsr();
    _mm_setcsr(mode);
    return saved;
}
static void restore_fp_environment(u64 saved) { _mm_setcsr((u32)saved); }

#elif defined __aarch64__

enum { FPCR_FZ = 1 << 24, FPCR_ROUNDING = 22 }; /* Arm ARM, "FPCR" */

static u64 set_fp_environment(u8 env) {
    static const u8 rounding[] = {[ENV_RN] = 0, [ENV_RP] = 1, [ENV_RM] = 2, [ENV_RZ] = 3};
    u64 mode = (u64)rounding[env & 3] << FPCR_ROUNDING, saved;
    if (env & ENV_FTZ) mode |= FPCR_FZ;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory");
    return saved;
}
static void restore_fp_environment(u64 saved) {
    __asm__ volatile("msr fpcr, %0" ::"r"(saved) : "memory");
}
#endif

void core_run_with_fp_env(struct exec *x, const struct op *o, u32 mask) {
    u64 saved = set_fp_environment(o->env);
    x->worker->launch->op_fns[o->opcode](x, o, mask);
    restore_fp_environment(saved);
}
