/* livelock_report.c — reports a livelock: what the lowest block waits for, the value there, and who
 * would have to write it. The launch ends afterwards, so what runs here to find out has no effect.
 */
#include "grader/sim/core/livelock.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROBE_INSNS = 4096,     /* of the waiting warp, to see which code it repeats */
    MAX_PROBED_BLOCKS = 64, /* blocks that have not started, to see which one would write */
    MAX_LINES = 3
};

static bool has_opcode(const struct op *o, const char *name) {
    return strcmp(insn_opcodes[o->opcode].name, name) == 0;
}

/* ---- the waiting warp ---- */

struct wait_site {
    struct block *block;
    struct warp *warp;
    struct warp_split *split;
    const struct op *op; /* the load or atomic that polls; NULL: the loop reads no memory */
    u32 lane;
    u64 address; /* offset of shared memory, or device address */
    bool is_shared;
    u32 bytes;
};

static bool is_ready(const struct warp_split *f) { return f->state == SPLIT_READY; }

/* Finds the first split that can run, in the lowest block that has one. */
static bool find_waiting_split(struct worker *k, struct wait_site *s) {
    for (u32 i = 0; i < k->nblocks; i++) {
        struct block *b = &k->blocks[i];
        if (b->done || (s->block && b->linear > s->block->linear)) continue;
        bool is_found = false;
        for (u32 w = 0; w < b->nwarps && !is_found; w++)
            for (u32 n = 0; n < b->warps[w].nsplits && !is_found; n++)
                if (is_ready(&b->warps[w].splits[n]) && !b->warps[w].at_grid_barrier)
                    is_found = true, s->block = b, s->warp = &b->warps[w],
                    s->split = &b->warps[w].splits[n];
    }
    return s->block != NULL;
}

/* Runs the warp for some of its loop's iterations. It may split or merge meanwhile. */
static void repeat_loop(struct worker *k, struct wait_site *s, u64 *segment_runs) {
    size_t bytes = k->launch->module->nsegments * sizeof *segment_runs;
    block_run(k, s->block, 0); /* binds the block */
    memcpy(segment_runs, k->segment_runs, bytes);
    for (u64 end = s->warp->warp_insns + PROBE_INSNS; s->warp->warp_insns < end;)
        if (warp_run(&k->exec, s->warp, PROBE_INSNS) != WARP_YIELDED) break;
    for (u32 n = 0; n < s->warp->nsplits; n++)
        if (is_ready(&s->warp->splits[n])) s->split = &s->warp->splits[n];
    k->exec.warp = s->warp;
    k->exec.active_mask = s->split->mask;
    k->exec.base[BASE_WARP] = s->warp->special_regs;
    k->exec.base[BASE_FRAME] = s->warp->frames + k->contexts[s->split->context].frame;
}

/* ---- the polled address ---- */

static bool reads_memory(const struct exec *x, const struct op *o) {
    u8 space = has_opcode(o, "ld") ? x->mems[o->aux].space : SPACE_PARAM;
    return has_opcode(o, "atom")
               ? x->mems[o->aux].verb == MEM_ATOM
               : space == SPACE_GLOBAL || space == SPACE_SHARED || space == SPACE_GENERIC;
}

static const unsigned char *find_bytes(const struct exec *x, struct wait_site *s, u64 address) {
    const struct mem_desc *d = &x->mems[s->op->aux];
    s->bytes = d->width < 8 ? d->width : 8;
    s->is_shared = d->space == SPACE_SHARED ||
                   (d->space == SPACE_GENERIC && address - SHARED_WINDOW < WINDOW_BYTES);
    s->address = s->is_shared && d->space == SPACE_GENERIC ? address - SHARED_WINDOW : address;
    if (s->is_shared)
        return s->address + s->bytes <= x->shared_bytes ? x->shared + s->address : NULL;
    return memory_find_range(x->memory, s->address, s->bytes) < 0
               ? NULL
               : x->memory->bytes + (s->address - SIM_BASE);
}

static u64 read_value(const struct exec *x, const struct wait_site *s) {
    u64 v = 0;
    memcpy(&v, s->is_shared ? x->shared + s->address : x->memory->bytes + (s->address - SIM_BASE),
           s->bytes);
    return v;
}

/* Chooses the lane to report: a zero is most likely what it waits for to change. */
static bool choose_lane(const struct exec *x, struct wait_site *s) {
    struct wait_site first = {0};
    for (u32 lanes = x->active_mask; lanes; lanes &= lanes - 1) {
        const unsigned char *reg = s->op->src[0] == REF_NONE ? NULL : operand_at(x, s->op->src[0]);
        s->lane = (u32)__builtin_ctz(lanes);
        u64 address = (u64)s->op->imm;
        if (reg)
            address += x->mems[s->op->aux].address32 ? ((const u32 *)reg)[s->lane]
                                                     : ((const u64 *)reg)[s->lane];
        if (!find_bytes(x, s, address)) continue;
        if (!read_value(x, s)) return true;
        if (!first.op) first = *s;
    }
    if (first.op) *s = first;
    return first.op != NULL;
}

/* Finds what polls among the ops that the warp repeats: an access that may communicate, else any
 * read. */
static void find_poll(struct worker *k, struct wait_site *s, const u64 *segment_runs) {
    const struct sim_module *m = k->launch->module;
    for (u32 pass = 0; pass < 2; pass++)
        for (u32 at = 0, begin = 0; at < m->nops; at++) {
            const struct op *o = &m->ops[at];
            bool has_run = livelock_has_run(k, segment_runs, m->segment_of[begin]);
            if (o->kind != OP_LANEWISE) begin = at + 1;
            if (!has_run || !reads_memory(&k->exec, o)) continue;
            if (!pass && has_opcode(o, "ld") && !k->exec.mems[o->aux].strong) continue;
            s->op = o;
            if (choose_lane(&k->exec, s)) return;
        }
    s->op = NULL;
}

/* Reports a wait for an mbarrier's phase, if the warp repeats one. */
static bool report_mbarrier(struct worker *k, const u64 *segment_runs) {
    const struct sim_module *m = k->launch->module;
    char text[320];
    for (u32 at = 0, begin = 0; at < m->nops; at++) {
        const struct op *o = &m->ops[at];
        bool has_run = livelock_has_run(k, segment_runs, m->segment_of[begin]);
        if (o->kind != OP_LANEWISE) begin = at + 1;
        if (!has_run || !describe_mbarrier_wait(&k->exec, o, text, sizeof text)) continue;
        core_fault(&k->exec, SIM_FAULT_DEADLOCK, o, (u32)__builtin_ctz(k->exec.active_mask), 0,
                   "waits forever.%s", text);
        return true;
    }
    return false;
}

/* ---- who writes it ---- */

static bool is_writer(const struct worker *k, const struct wait_site *s, u32 stat) {
    const struct stat_entry *e = &k->launch->module->stat_entries[stat];
    return e->space == SPACE_GLOBAL && e->verb != MEM_LOAD && &k->launch->ops[e->op] != s->op &&
           k->stats[stat][STAT_REQUESTS] > 0;
}

static bool pattern_covers(const struct access_pattern *p, u64 address) {
    for (u32 l = 0; l < 32; l++)
        if (p->last_mask >> l & 1 && p->base + (u64)(s64)p->lane_offset[l] == address) return true;
    return false;
}

/* Returns the line of the last execution that wrote the address; 0 = unknown. */
static u32 find_writing_line(const struct worker *k, const struct wait_site *s) {
    for (u32 i = 0; i < k->launch->module->nstats; i++)
        if (is_writer(k, s, i) && pattern_covers(&k->pattern_cache[i], s->address))
            return source_location_line(k->launch, k->launch->module->stat_entries[i].op);
    return 0;
}

/* Runs blocks beyond those that the device holds, until one changes the value. Returns false if
 * none does. */
static void probe_waiting_blocks(struct worker *k, const struct wait_site *s, char *out,
                                 size_t size) {
    u64 before = read_value(&k->exec, s);
    u32 first = k->nblocks;
    for (u32 i = 0; i < MAX_PROBED_BLOCKS && launch_add_resident(k, first + i + 1); i++) {
        struct block *b = &k->blocks[first + i];
        if (!launch_start_next_block(k, b)) return;
        enum warp_state state = block_run(k, b, LAUNCH_TIMESLICE);
        if (state == WARP_FAULTED) return;
        if (read_value(&k->exec, s) == before) continue;
        u32 line = find_writing_line(k, s);
        int n = snprintf(out, size, " Block (%u,%u,%u), which has not started, would write it",
                         b->index[0], b->index[1], b->index[2]);
        if (line) snprintf(out + n, size - (size_t)n, " in line %u", line);
        strncat(out, ".", size - strlen(out) - 1);
        return;
    }
}

static void add_line(u32 *lines, u32 *n, u32 line) {
    for (u32 i = 0; i < *n; i++)
        if (lines[i] == line) return;
    if (line && *n < MAX_LINES) lines[(*n)++] = line;
}

/* Lists the lines that wrote to the same allocation so far. */
static void describe_writers(const struct worker *k, const struct wait_site *s, char *out,
                             size_t size) {
    u32 lines[MAX_LINES], n = 0;
    int allocation = memory_find_range(k->exec.memory, s->address, s->bytes);
    for (u32 i = 0; i < k->launch->module->nstats; i++)
        if (is_writer(k, s, i) && k->pattern_cache[i].allocation == allocation)
            add_line(lines, &n,
                     source_location_line(k->launch, k->launch->module->stat_entries[i].op));
    if (!n)
        snprintf(out, size,
                 " No line that ran writes there. If the loop isn't meant to wait, see why its "
                 "condition doesn't change.");
    int at = n ? snprintf(out, size, " What ran writes this memory in line %u", lines[0]) : 0;
    for (u32 i = 1; i < n; i++)
        at += snprintf(out + at, size - (size_t)at, "%s%u", i + 1 < n ? ", " : " and ", lines[i]);
    if (n) snprintf(out + at, size - (size_t)at, ", but not this element any more.");
}

static void describe_blocks(const struct worker *k, char *out, size_t size) {
    const struct launch *l = k->launch;
    u64 next = atomic_load(&l->next_block), live = 0;
    *out = 0;
    if (!l->code->interblock_dependent) return;
    for (u32 i = 0; i < k->nblocks; i++) live += !k->blocks[i].done;
    if (next < l->nblocks)
        snprintf(
            out, size,
            " The %llu blocks that the device holds all wait; %llu more can't start before one "
            "of them ends.",
            (unsigned long long)live, (unsigned long long)(l->nblocks - next));
    else if (live > 1)
        snprintf(out, size, " All %llu blocks that have not ended wait.", (unsigned long long)live);
}

/* ---- the report ---- */

static void report_poll(struct worker *k, struct wait_site *s) {
    struct exec *x = &k->exec;
    struct sim_report r;
    char location[160], blocks[160], writer[160] = "";
    u64 value = read_value(x, s);
    if (s->is_shared)
        describe_shared_element(k->launch, s->address, s->bytes, location, sizeof location);
    else memory_describe_element(x->memory, s->address, s->bytes, location, sizeof location);
    describe_blocks(k, blocks, sizeof blocks);
    core_format_report(x, &r, SIM_FAULT_DEADLOCK, s->op, s->lane, s->address,
                       "waits forever: it keeps reading %s, which holds %llu, and no thread that "
                       "could change it makes progress.%s",
                       location, (unsigned long long)value, blocks);
    r.is_shared_memory = s->is_shared;
    u64 reported = (u64)(s->block - k->blocks);
    if (!s->is_shared) describe_writers(k, s, writer, sizeof writer);
    if (!s->is_shared) probe_waiting_blocks(k, s, writer, sizeof writer);
    strncat(r.text, writer, sizeof r.text - strlen(r.text) - 1);
    x->block = s->block = &k->blocks[reported]; /* the array may have moved */
    x->faulted = true, k->fault = SIM_FAULT_DEADLOCK;
    core_report(x, &r);
}

void livelock_report(struct worker *k) {
    struct wait_site s = {0};
    u64 *segment_runs = xcalloc(k->launch->module->nsegments, sizeof *segment_runs);
    k->launch->insn_budget = 0, k->launch->time_budget = 0;
    if (find_waiting_split(k, &s)) {
        repeat_loop(k, &s, segment_runs);
        find_poll(k, &s, segment_runs);
        if (s.op) report_poll(k, &s);
        else if (!report_mbarrier(k, segment_runs))
            core_fault(&k->exec, SIM_FAULT_DEADLOCK, &k->launch->ops[s.split->pc],
                       (u32)__builtin_ctz(s.split->mask), 0,
                       "runs an endless loop that reads no memory: a flag that another thread sets "
                       "must be volatile or atomic");
        launch_record_fault(k, s.block->linear);
    }
    free(segment_runs);
}
