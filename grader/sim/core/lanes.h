/* lanes.h — loops and operand access for functions over 32 lanes. Only exec_*.c include it; they
 * are compiled once for each level of vector instructions (ISA is its name in code/isa_levels.def).
 */
#pragma once
#include "grader/sim/core/core.h"

#define LANES_CAT2(a, b) a##_##b
#define LANES_CAT(a, b)  LANES_CAT2(a, b)
#define ISAFN(name)      LANES_CAT(name, ISA)

/* Traces an access of a sampled block; call it after counting. */
#define TRACE(x, o, space, stat, ea, mask)               \
    do                                                   \
        if (__builtin_expect((x)->trace != NULL, false)) \
            trace_access(x, o, space, stat, ea, mask);   \
    while (0)

/* Registers never overlap partially, so no lane depends on another. */
#ifdef __clang__
#define FOR_LANES for (int l = 0; l < 32; l++)
#else
#define FOR_LANES _Pragma("GCC ivdep") for (int l = 0; l < 32; l++)
#endif
#define FOR_ACTIVE_LANES(mask) \
    for (u32 m_ = (mask), l; m_ && (l = (u32)__builtin_ctz(m_), 1); m_ &= m_ - 1)

/* All ones if true. Conditions combined as masks compile to vector code. */
#define TRUTH_MASK(condition) ((condition) ? ~0u : 0u)

static inline u32 mask_at(const struct exec *x, ref r) { return *(const u32 *)operand_at(x, r); }

/* dst = mask ? value : dst, over lanes; `value` may use l. */
#define STORE_LANES(D, mask, value)                                 \
    do {                                                            \
        if ((mask) == ~0u) {                                        \
            FOR_LANES(D)[l] = (value);                              \
        } else {                                                    \
            FOR_LANES(D)[l] = ((mask) >> l & 1) ? (value) : (D)[l]; \
        }                                                           \
    } while (0)

/* Notes where the access is. */
static inline void pattern_move(struct access_pattern *m, u64 base) {
    m->step = base - m->base;
    m->base = base;
}
/* Loads into the cache what follows a row at `p`, or in a table by addresses: what the next warp is
 * likely to access, as far from here as this is from the last access. The processor predicts only
 * small distances by itself. */
static inline void prefetch_next_row(const void *p, const struct access_pattern *m, bool is_store) {
    enum { CACHE_LINE = 64 };
    const unsigned char *next = (const unsigned char *)((uintptr_t)p + m->step);
    if (m->shape != PATTERN_UNIT_STRIDE) return;
    if (is_store) __builtin_prefetch(next, 1), __builtin_prefetch(next + CACHE_LINE, 1);
    else __builtin_prefetch(next), __builtin_prefetch(next + CACHE_LINE);
}
