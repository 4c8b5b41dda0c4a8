/* collect.c — sums the counts of a launch's workers (segments, memory instructions) into counters
 * by source line and in total. Every count belongs to one instruction, and so to one line. Rules:
 * docs/counters.md. */
#include "grader/sim/core/source_location.h"
#include "grader/sim/code/matrix.h"
#include "grader/sim/code/warpgroup.h"
#include "grader/sim/count/count.h"
#include "grader/sim/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines: one entry for each (file, line) that the module names ---- */

struct line_table {
    const struct sim_module *m;
    struct sim_line *line;
    u32 n;
    u32 *index_by_loc; /* loc -> index + 1; 0 = none yet */
};

static u32 line_of(struct line_table *t, u32 loc) {
    if (t->index_by_loc[loc]) return t->index_by_loc[loc] - 1;
    const struct ptx_loc *l = source_location_of(t->m->ptx, loc);
    const char *file =
        l->file < t->m->ptx->nfiles && t->m->ptx->files[l->file] ? t->m->ptx->files[l->file] : "";
    u32 i = 0;
    while (i < t->n && (t->line[i].line != l->line || strcmp(t->line[i].file, file) != 0)) i++;
    if (i == t->n) t->line[t->n++] = (struct sim_line){.file = file, .line = l->line};
    t->index_by_loc[loc] = i + 1;
    return i;
}

static struct sim_counters *counters_of(struct line_table *t, const struct op *o) {
    return &t->line[line_of(t, o->loc)].counters;
}

/* ---- segments ---- */

static u64 multiply_adds(const struct sim_module *m, const struct op *o) {
    if (!strcmp(insn_opcodes[o->opcode].name, "wgmma"))
        return (u64)WARPGROUP_ROWS_PER_WARP * m->warpgroups[o->target].n *
               warpgroup_stored_k(&m->warpgroups[o->target]);
    const struct matrix_desc *x = &m->matrices[o->aux];
    return (u64)x->m * x->n * x->k;
}

static void count_op(struct sim_counters *c, const struct sim_module *m, const struct op *o,
                     u64 executions, u64 lanes) {
    const struct opcode_desc *row = &insn_opcodes[o->opcode];
    c->inst_executed += executions * o->weight;
    c->thread_inst_executed += lanes * o->weight;
    if (row->flops && row->pipe == PIPE_FP64) c->flops_f64 += lanes * row->flops;
    else if (row->flops) c->flops_f32 += lanes * row->flops;
    if (o->kind == OP_BAR) c->barriers += executions;
    if (o->kind == OP_WARP_SYNC) c->shuffles += executions;
    if (row->pipe == PIPE_TENSOR) c->flops_matrix += 2 * executions * multiply_adds(m, o);
}

static void count_segments(const struct launch *l, struct line_table *t) {
    const struct sim_module *m = l->module;
    for (u32 s = 0; s < m->nsegments; s++) {
        u64 executions = 0, lanes = 0, branches = 0, divergent = 0;
        for (u32 i = 0; i < l->nworkers; i++) {
            executions += l->workers[i].segment_runs[s];
            lanes += l->workers[i].segment_lanes[s];
            branches += l->workers[i].branch_runs[s];
            divergent += l->workers[i].branch_diverged[s];
        }
        if (!executions) continue;
        for (u32 i = m->segments[s].first; i <= m->segments[s].last; i++) {
            count_op(counters_of(t, &m->ops[i]), m, &m->ops[i], executions, lanes);
            insn_executed[m->ops[i].opcode] = 1;
        }
        struct sim_counters *c = counters_of(t, &m->ops[m->segments[s].last]);
        c->branches += branches;
        c->divergent_branches += divergent;
    }
}

/* ---- memory ---- */

static void count_global(struct sim_counters *c, u8 verb, const u64 *s) {
    bool load = verb == MEM_LOAD;
    *(load ? &c->global_load_requests : &c->global_store_requests) += s[STAT_REQUESTS];
    *(load ? &c->global_load_sectors : &c->global_store_sectors) += s[STAT_SECTORS];
    *(load ? &c->global_load_sectors_ideal : &c->global_store_sectors_ideal) +=
        s[STAT_IDEAL_SECTORS];
    *(load ? &c->global_load_threads : &c->global_store_threads) += s[STAT_LANES];
    c->async_copy_byte_distance += s[STAT_INFLIGHT];
    c->global_sectors_ideal += s[STAT_IDEAL_SECTORS];
    c->global_sectors_excessive += s[STAT_SECTORS] - s[STAT_IDEAL_SECTORS];
}

static void count_atomic(struct sim_counters *c, u8 verb, u8 space, const u64 *s) {
    if (space == SPACE_SHARED) {
        c->shared_atomic_requests += s[STAT_REQUESTS];
        c->shared_atomic_operations += s[STAT_OPS];
        c->shared_atomic_serialized += s[STAT_SERIALIZED];
        c->shared_atomic_wavefronts += s[STAT_WAVEFRONTS];
        c->shared_atomic_bank_conflicts += s[STAT_WAVEFRONTS] - s[STAT_MIN_WAVEFRONTS];
        return;
    }
    bool returns_value = verb == MEM_ATOM;
    *(returns_value ? &c->atomic_requests : &c->reduction_requests) += s[STAT_REQUESTS];
    *(returns_value ? &c->atomic_threads : &c->reduction_threads) += s[STAT_LANES];
    c->atomic_sectors += s[STAT_SECTORS];
    c->atomic_result_sectors += returns_value ? s[STAT_SECTORS] : 0;
    c->atomic_sectors_ideal += s[STAT_IDEAL_SECTORS];
    c->atomic_result_sectors_ideal += returns_value ? s[STAT_IDEAL_SECTORS] : 0;
    c->atomic_operations += s[STAT_OPS];
    if (s[STAT_MAX_MULTIPLICITY] > c->atomic_max_multiplicity)
        c->atomic_max_multiplicity = s[STAT_MAX_MULTIPLICITY];
}

static void count_shared(struct sim_counters *c, u8 verb, const u64 *s) {
    bool load = verb == MEM_LOAD;
    *(load ? &c->shared_load_requests : &c->shared_store_requests) += s[STAT_REQUESTS];
    *(load ? &c->shared_load_wavefronts : &c->shared_store_wavefronts) += s[STAT_WAVEFRONTS];
    *(load ? &c->shared_load_bank_conflicts : &c->shared_store_bank_conflicts) +=
        s[STAT_WAVEFRONTS] - s[STAT_MIN_WAVEFRONTS];
}

static void count_bulk(struct sim_counters *c, const struct stat_entry *o, const u64 *s) {
    bool load = o->verb == MEM_LOAD;
    if (o->space == SPACE_SHARED) {
        *(load ? &c->bulk_shared_load_bytes : &c->bulk_shared_store_bytes) += s[STAT_LANES];
        return;
    }
    *(load ? &c->bulk_load_requests : &c->bulk_store_requests) += s[STAT_REQUESTS];
    *(load ? &c->bulk_load_sectors : &c->bulk_store_sectors) += s[STAT_SECTORS];
    *(load ? &c->bulk_load_bytes : &c->bulk_store_bytes) += s[STAT_LANES];
    c->async_copy_byte_distance += s[STAT_INFLIGHT];
}

static void count_cluster(struct sim_counters *c, const struct stat_entry *o, const u64 *s) {
    if (o->is_bulk) {
        c->cluster_bulk_bytes += s[STAT_LANES];
        return;
    }
    *(o->verb == MEM_LOAD    ? &c->cluster_load_requests
      : o->verb == MEM_STORE ? &c->cluster_store_requests
                             : &c->cluster_atomic_requests) += s[STAT_REQUESTS];
    *(o->verb == MEM_LOAD    ? &c->shared_load_bank_conflicts
      : o->verb == MEM_STORE ? &c->shared_store_bank_conflicts
                             : &c->shared_atomic_bank_conflicts) +=
        s[STAT_WAVEFRONTS] - s[STAT_MIN_WAVEFRONTS];
    if (o->verb == MEM_ATOM || o->verb == MEM_RED) {
        c->shared_atomic_operations += s[STAT_OPS];
        c->shared_atomic_serialized += s[STAT_SERIALIZED];
    }
    c->cluster_sectors += s[STAT_SECTORS];
    c->cluster_sectors_ideal += s[STAT_IDEAL_SECTORS];
}

static void count_texture(struct sim_counters *c, const struct stat_entry *o, const u64 *s) {
    if (o->verb == MEM_STORE) {
        c->surface_store_requests += s[STAT_REQUESTS];
        c->surface_store_sectors += s[STAT_SECTORS];
        c->surface_store_threads += s[STAT_LANES];
        return;
    }
    c->texture_requests += s[STAT_REQUESTS];
    c->texture_sectors += s[STAT_SECTORS];
    c->texture_sectors_ideal += s[STAT_IDEAL_SECTORS];
    c->texture_load_threads += s[STAT_LANES];
}

/* A constant at a fixed address is an operand of the instruction that uses it (c[bank][offset] in
 * machine code): no lane loads it, and it is the same for the whole launch. */
static void count_const(struct sim_counters *c, bool indexed, const u64 *s) {
    c->const_requests += s[STAT_REQUESTS];
    c->const_sectors += s[STAT_SECTORS];
    c->const_sectors_ideal += s[STAT_IDEAL_SECTORS];
    c->const_load_threads += indexed ? s[STAT_LANES] : 0;
    c->const_serialized_accesses += s[STAT_WAVEFRONTS] - s[STAT_MIN_WAVEFRONTS];
}

static void count_memory(struct sim_counters *c, const struct stat_entry *o, bool indexed,
                         const u64 *s) {
    if (o->is_mbarrier_wait) {
        c->barriers += s[STAT_REQUESTS];
        return;
    }
    if (o->space == SPACE_CLUSTER) return count_cluster(c, o, s);
    if (o->is_texture) return count_texture(c, o, s);
    if (o->is_bulk) {
        count_bulk(c, o, s);
    } else if (o->verb == MEM_ATOM || o->verb == MEM_RED) {
        count_atomic(c, o->verb, o->space, s);
    } else if (o->space == SPACE_GLOBAL) {
        count_global(c, o->verb, s);
    } else if (o->space == SPACE_SHARED) {
        count_shared(c, o->verb, s);
    } else if (o->space == SPACE_LOCAL) {
        c->local_requests += s[STAT_REQUESTS];
        c->local_sectors += s[STAT_SECTORS];
    } else if (o->space == SPACE_CONST) {
        count_const(c, indexed, s);
    }
}

static bool is_indexed(const struct op *o) {
    return o->src[0] != REF_NONE && ref_base(o->src[0]) != BASE_CONST;
}

/* Counts what cache hints mark. */
static void count_hints(struct sim_counters *c, const struct sim_module *m,
                        const struct stat_entry *s, u64 sectors, u64 reloads) {
    bool load = s->verb == MEM_LOAD;
    if (s->is_texture || s->space != SPACE_GLOBAL || s->verb == MEM_ATOM || s->verb == MEM_RED ||
        m->mems[m->ops[s->op].aux].l2_eviction != L2_EVICT_FIRST)
        return;
    *(load ? &c->evict_first_load_sectors : &c->evict_first_store_sectors) += sectors;
    c->evict_first_reload_sectors += reloads;
}

static void count_stats(const struct launch *l, struct line_table *t) {
    const struct sim_module *m = l->module;
    u64 *reloads = xcalloc(m->nstats + 1ul, sizeof *reloads);
    count_reloads(l, reloads);
    for (u32 i = 0; i < m->nstats; i++) {
        u64 sum[STAT_COUNT] = {0};
        for (u32 k = 0; k < l->nworkers; k++)
            for (u32 j = 0; j < STAT_COUNT; j++) {
                u64 v = l->workers[k].stats[i][j];
                sum[j] = j == STAT_MAX_MULTIPLICITY ? (v > sum[j] ? v : sum[j]) : sum[j] + v;
            }
        const struct op *o = &m->ops[m->stat_entries[i].op];
        if (!sum[STAT_REQUESTS]) continue;
        count_memory(counters_of(t, o), &m->stat_entries[i], is_indexed(o), sum);
        count_hints(counters_of(t, o), m, &m->stat_entries[i], sum[STAT_SECTORS], reloads[i]);
    }
    free(reloads);
}

static int by_location(const void *a, const void *b) {
    const struct sim_line *p = a, *q = b;
    int files = strcmp(p->file, q->file);
    return files ? files : p->line < q->line ? -1 : p->line > q->line;
}

static bool is_empty(const struct sim_line *l) {
    static const struct sim_counters zero;
    return memcmp(&l->counters, &zero, sizeof zero) == 0;
}

/* Scales counts of sampled blocks to the full grid. */
static void scale_to_full_grid(const struct launch *l, struct sim_result *out) {
    u64 count = launch_block_count(l);
    if (count == l->nblocks) return;
    out->is_sampled = true;
    sim_counters_scale(&out->counters, l->nblocks, count);
    for (unsigned i = 0; i < out->nlines; i++)
        sim_counters_scale(&out->lines[i].counters, l->nblocks, count);
}

void count_collect(struct launch *l, struct sim_result *out) {
    const struct sim_module *m = l->module;
    struct line_table t = {m, xcalloc(m->ptx->nlocs + 1, sizeof *t.line), 0,
                           xcalloc(m->ptx->nlocs + 1, sizeof *t.index_by_loc)};
    count_segments(l, &t);
    count_stats(l, &t);
    free(t.index_by_loc);
    for (u32 i = 0; i < t.n; i++) {
        if (is_empty(&t.line[i])) continue;
        sim_counters_add(&out->counters, &t.line[i].counters);
        t.line[out->nlines++] = t.line[i];
    }
    qsort(t.line, out->nlines, sizeof *t.line, by_location);
    out->lines = t.line;
    const struct gpu_device *d = l->sim->options.device;
    u32 blocks = device_blocks_per_sm(d, l->nthreads, kernel_registers(l->code->kernel),
                                      l->shared_bytes, NULL);
    out->theoretical_occupancy = (double)blocks * l->nwarps / d->warps_per_sm;
    scale_to_full_grid(l, out);
}

void sim_result_free(struct sim_result *r) {
    free(r->lines);
    free(r->accesses);
    r->lines = NULL, r->accesses = NULL;
    r->nlines = r->naccesses = 0;
}
