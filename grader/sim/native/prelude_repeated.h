/* prelude_repeated.h — the part of prelude.h for loads of shared memory whose patterns stay the
 * same (core/repeated_loads.h): checks of a group, and counting of runs. */
#include "grader/sim/core/repeated_loads.h"

/* Returns true if all bytes of the group's accesses are initialized; w: the first lane's byte of
 * the shadow, of the lowest one. */
static __attribute__((noinline)) bool are_group_words_initialized(const unsigned char *w,
                                                                  const struct access_pattern *m,
                                                                  u32 span, const u32 *delta,
                                                                  u32 n) {
    u32 words[32], all = 0x01010101;
    FOR_LANES words[l] = all;
    for (u32 i = 0; i < n; i++)
        for (u32 at = delta[i]; at < delta[i] + span; at += 4) {
            if (m->shape == PATTERN_UNIFORM) all &= *(const u32_loose *)(w + at);
            else if (m->shape == PATTERN_UNIT_STRIDE && span == 4)
                FOR_LANES words[l] &= ((const u32_loose *)(w + at))[l];
            else FOR_LANES words[l] &= *(const u32_loose *)(w + at + m->lane_offset[l]);
        }
    FOR_LANES all &= words[l];
    return all == 0x01010101;
}
INLINE bool is_group_readable(const struct exec *x, const struct access_pattern *m, u64 base,
                              u32 span, const u32 *delta, u32 n, u32 bytes, u32 array_begin,
                              u32 array_end) {
    return is_in_shared(x, m, base, bytes, span, array_begin, array_end) &&
           (!x->sanitize ||
            are_group_words_initialized(x->shared_written + base, m, span, delta, n));
}

static __attribute__((noinline)) u32 sum_serials(const struct exec *x,
                                                 const struct repeated_load *loads, u32 n) {
    u32 sum = 0;
    for (u32 i = 0; i < n; i++) sum += x->pattern_cache[loads[i].stat].pattern_serial;
    return sum;
}
static __attribute__((noinline)) bool have_group_patterns(const struct exec *x,
                                                          const struct repeated_load *loads, u32 n,
                                                          struct access_pattern *const *m) {
    for (u32 i = 0; i < n; i++)
        if (!is_same_pattern(&x->pattern_cache[loads[i].stat], m[loads[i].group])) return false;
    return true;
}
/* Returns what is known of the chunk with these patterns; NULL = some load has another one. */
INLINE struct repeated_loads *find_repeated(struct exec *x, const struct repeated_load *loads,
                                            u32 n, struct access_pattern *const *m, u32 mask,
                                            u32 opcode_count) {
    struct repeated_loads *known = x->pattern_cache[loads[0].stat].repeated_loads;
    u32 serials = sum_serials(x, loads, n);
    if (!is_unlikely(!known || known->loads != loads || known->serials != serials ||
                     known->mask != mask))
        return known;
    if (!have_group_patterns(x, loads, n, m)) return NULL;
    __typeof__(core_remember_loads) *remember = (__typeof__(remember))(void (*)(
        void))x->worker->launch->op_fns[opcode_count + LANE_REMEMBER_LOADS];
    return remember(x, loads, n, serials, mask);
}
/* Counts the loads, and notes where they were. */
INLINE void count_repeated(struct exec *x, struct repeated_loads *known, const u64 *base,
                           u32 mask) {
    known->runs++;
    for (const struct repeated_load *e = known->loads; e < known->loads + known->n; e++) {
        struct access_pattern *m = &x->pattern_cache[e->stat];
        m->base = base[e->group] + e->delta, m->last_mask = mask;
    }
}
INLINE void record_shared_reads(struct exec *x, const struct repeated_load *loads, u32 n,
                                const u64 *base, struct access_pattern *const *m, u32 mask,
                                u32 opcode_count) {
    __typeof__(race_shared_reads_native) *record = (__typeof__(record))(void (*)(
        void))x->worker->launch->op_fns[opcode_count + LANE_RACE_SHARED_READS];
    record(x, loads, n, base, m, mask);
}
