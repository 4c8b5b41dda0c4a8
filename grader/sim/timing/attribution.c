/* attribution.c — assigns the replay's stall times and the traces' accesses to source lines.
 * estimate.c calls it; its results are for reports only, not for grading. */
#include "grader/sim/core/source_location.h"
#include "grader/sim/timing/internal.h"

#include <stdlib.h>
#include <string.h>

static const char *file_of(const struct sim_module *m, const struct ptx_loc *l) {
    return l->file < m->ptx->nfiles && m->ptx->files[l->file] ? m->ptx->files[l->file] : "";
}

/* Returns the result's line of an op; NULL if there is none. */
static struct sim_line *line_of(const struct sim_module *m, u32 op, struct sim_result *r) {
    const struct ptx_loc *l = source_location_of(m->ptx, m->ops[op].loc);
    for (unsigned i = 0; i < r->nlines; i++)
        if (r->lines[i].line == l->line && !strcmp(r->lines[i].file, file_of(m, l)))
            return &r->lines[i];
    return NULL;
}

static double sum_stalls(const double stalls[SIM_STALL_COUNT]) {
    double total = 0;
    for (u32 k = 0; k < SIM_STALL_COUNT; k++) total += stalls[k];
    return total;
}

static double sum_of_ops(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT]) {
    double all = 0;
    for (u32 op = 0; op_stalls && op < m->nops; op++) all += sum_stalls(op_stalls[op]);
    return all;
}

void time_sum_stalls(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT],
                     double seconds, struct time_estimate *t) {
    double all = sum_of_ops(m, op_stalls);
    for (u32 op = 0; all > 0 && op < m->nops; op++)
        for (u32 k = 0; k < SIM_STALL_COUNT; k++)
            t->stall_seconds[k] += op_stalls[op][k] / all * seconds;
}

void time_attribute_stalls(const struct sim_module *m, double (*op_stalls)[SIM_STALL_COUNT],
                           double seconds, struct sim_result *out) {
    double all = sum_of_ops(m, op_stalls);
    for (u32 op = 0; all > 0 && op < m->nops; op++) {
        struct sim_line *l = sum_stalls(op_stalls[op]) > 0 ? line_of(m, op, out) : NULL;
        for (u32 k = 0; l && k < SIM_STALL_COUNT; k++)
            l->stall_seconds[k] += op_stalls[op][k] / all * seconds;
    }
}

static void set_lane_offsets(const struct trace_max_access *l, struct sim_access *a) {
    u64 low = UINT64_MAX;
    for (u32 i = 0; i < 32; i++)
        if (l->mask >> i & 1 && l->ea[i] < low) low = l->ea[i];
    low &= ~127ull;
    for (u32 i = 0; i < 32; i++) {
        u64 d = l->mask >> i & 1 ? l->ea[i] - low : 0;
        a->offset[i] = d < UINT32_MAX ? (u32)d : UINT32_MAX;
    }
}

static struct sim_access *find_or_add_access(struct sim_result *r,
                                             const struct sim_access *sample) {
    for (unsigned i = 0; i < r->naccesses; i++) {
        struct sim_access *a = &r->accesses[i];
        if (a->line == sample->line && a->kind == sample->kind &&
            a->is_shared == sample->is_shared && !strcmp(a->file, sample->file))
            return a;
    }
    r->accesses[r->naccesses] = *sample;
    return &r->accesses[r->naccesses++];
}

static void record_access(const struct sim_module *m, const struct trace_max_access *l,
                          struct sim_result *out) {
    const struct ptx_loc *at = source_location_of(m->ptx, m->ops[l->op].loc);
    struct sim_access a = {.file = file_of(m, at),
                           .line = at->line,
                           .mask = l->mask,
                           .kind = l->verb == MEM_LOAD    ? SIM_ACCESS_LOAD
                                   : l->verb == MEM_STORE ? SIM_ACCESS_STORE
                                                          : SIM_ACCESS_ATOMIC,
                           .lane_bytes = l->span,
                           .is_shared = l->space == SPACE_SHARED,
                           .cost = (uint16_t)l->cost};
    if (l->space != SPACE_SHARED && l->space != SPACE_GLOBAL) return;
    set_lane_offsets(l, &a);
    struct sim_access *costliest = find_or_add_access(out, &a);
    if (a.cost > costliest->cost ||
        (a.cost == costliest->cost &&
         __builtin_popcount(a.mask) > __builtin_popcount(costliest->mask)))
        *costliest = a;
}

void time_collect_accesses(const struct sim_module *m, const struct sim_trace *t,
                           struct sim_result *out) {
    unsigned capacity = 0;
    for (u32 i = 0; i < t->nblocks; i++) capacity += t->blocks[i].nmax_accesses;
    out->accesses = xcalloc(capacity + 1, sizeof *out->accesses);
    for (u32 i = 0; i < t->nblocks; i++)
        for (u32 k = 0; k < t->blocks[i].nmax_accesses; k++)
            record_access(m, &t->blocks[i].max_accesses[k], out);
}
