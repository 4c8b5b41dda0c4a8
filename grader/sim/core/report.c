/* report.c — records faults and findings: the first report of each kind (the lowest block's), and
 * the number of occurrences. At the end of a launch it merges those of all workers. */
#include "grader/sim/core/core.h"
#include "grader/sim/core/source_location.h"
#include "grader/sim/core/undef.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *error;
} fault_kinds[] = {
#define X(id, name, error) [id] = {name, #error},
    SIM_FAULTS(X)
#undef X
};

/* Returns true if the fault ends the launch. A device would not notice the others: they are
 * findings, and the launch continues. */
static bool is_fatal(enum sim_fault f) { return strcmp(fault_kinds[f].error, "cudaSuccess") != 0; }

const char *sim_stall_text(enum sim_stall_reason w) {
    static const char *const texts[] = {
#define X(id, text) text,
        SIM_STALL_REASONS(X)
#undef X
    };
    return texts[w];
}

const char *sim_fault_name(enum sim_fault f) { return fault_kinds[f].name; }

static void set_location(struct sim_report *r, const struct exec *x, const struct op *o,
                         unsigned lane) {
    const struct sim_module *m = x->worker->launch->module;
    const struct ptx_loc *loc = source_location_of(m->ptx, o->loc);
    const u32 *id = (const u32 *)x->warp->special_regs;
    r->kernel = x->worker->launch->code->name;
    r->file =
        loc->file < m->ptx->nfiles && m->ptx->files[loc->file] ? m->ptx->files[loc->file] : "";
    r->line = loc->line;
    memcpy(r->block, x->block->index, sizeof r->block);
    for (u32 i = 0; i < 3; i++) r->thread[i] = id[i * 32 + lane];
}

static const char *file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_text(struct sim_report *r, const char *description) {
    char line[160] = "";
    if (r->line) snprintf(line, sizeof line, "%.120s:%u: ", file_name(r->file), r->line);
    snprintf(r->text, sizeof r->text, "%skernel `%.120s`, block (%u,%u,%u), thread (%u,%u,%u) %s",
             line, r->kernel, r->block[0], r->block[1], r->block[2], r->thread[0], r->thread[1],
             r->thread[2], description);
}

static void describe(const struct exec *x, struct sim_report *r, enum sim_fault fault,
                     const struct op *o, unsigned lane, u64 address, const char *format,
                     va_list ap) {
    char description[448];
    vsnprintf(description, sizeof description, format, ap);
    *r = (struct sim_report){.fault = fault, .address = address};
    set_location(r, x, o, lane);
    write_text(r, description);
}

void core_format_report(const struct exec *x, struct sim_report *r, enum sim_fault fault,
                        const struct op *o, unsigned lane, u64 address, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    describe(x, r, fault, o, lane, address, format, ap);
    va_end(ap);
}

/* Counts an occurrence; returns true if its report is the one to keep. */
static bool count_fault(struct exec *x, enum sim_fault fault) {
    struct worker *k = x->worker;
    k->reports[fault].count++;
    if (x->block->launch_order >= k->report_order[fault]) return false;
    k->report_order[fault] = x->block->launch_order;
    return true;
}

static void store_report(struct worker *k, const struct sim_report *r) {
    u64 count = k->reports[r->fault].count;
    k->reports[r->fault] = *r;
    k->reports[r->fault].count = count;
}

void core_report(struct exec *x, const struct sim_report *r) {
    if (count_fault(x, r->fault)) store_report(x->worker, r);
}

void core_fault(struct exec *x, enum sim_fault fault, const struct op *o, unsigned lane,
                u64 address, const char *format, ...) {
    struct sim_report r;
    va_list ap;
    if (is_fatal(fault) && !x->faulted) {
        x->faulted = true;
        x->worker->fault = fault;
    }
    if (!count_fault(x, fault)) return;
    va_start(ap, format);
    describe(x, &r, fault, o, lane, address, format, ap);
    va_end(ap);
    store_report(x->worker, &r);
}

/* ---- of all workers ---- */

static void merge_kind(const struct launch *l, u32 kind, struct sim_result *out) {
    const struct worker *first = NULL;
    u64 count = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        const struct worker *k = &l->workers[i];
        count += k->reports[kind].count;
        if (k->reports[kind].count && (!first || k->report_order[kind] < first->report_order[kind]))
            first = k;
    }
    if (!first) return;
    out->reports[out->nreports] = first->reports[kind];
    out->reports[out->nreports++].count = count;
}

struct busiest_line {
    u64 max, total; /* warp instructions: of the busiest segment; of all */
    u64 in_line;    /* of those in the given line */
    u32 op;         /* the first one of the busiest segment */
};

/* Sums up what the launch has executed so far, of all workers. */
static struct busiest_line find_busiest_line(const struct launch *l, u32 line) {
    const struct sim_module *m = l->module;
    struct busiest_line b = {0};
    for (u32 at = 0, begin = 0; at < m->nops; at++) {
        if (m->ops[at].kind == OP_LANEWISE) continue;
        u32 s = m->segment_of[begin];
        u64 n = 0;
        for (u32 w = 0; w < l->nworkers; w++)
            if (l->workers[w].segment_runs) n += l->workers[w].segment_runs[s];
        n *= m->segments[s].insn_count;
        if (n > b.max) b.max = n, b.op = begin;
        if (n && line && source_location_line(l, begin) == line) b.in_line += n;
        b.total += n;
        begin = at + 1;
    }
    return b;
}

/* Writes ", most of them in line 7". Several workers don't stop at the same place every time, but a
 * line with most of the instructions has them each time. */
static void describe_busiest_line(const struct launch *l, char *out, size_t size) {
    *out = 0;
    u32 line = source_location_line(l, find_busiest_line(l, 0).op);
    struct busiest_line b = find_busiest_line(l, line);
    if (b.max && line && (l->code->interblock_dependent || b.in_line > b.total / 2))
        snprintf(out, size, ", most of them in line %u", line);
}

static void report_abort(const struct launch *l, enum sim_fault fault, struct sim_result *out) {
    char busiest[48];
    struct sim_report *r = &out->reports[out->nreports++];
    *r = (struct sim_report){.fault = fault, .count = 1, .kernel = l->code->name, .file = ""};
    u64 budget = l->sim->options.instruction_budget;
    bool is_cost = fault == SIM_FAULT_INSN_BUDGET && l->simulation_cost > budget;
    describe_busiest_line(l, busiest, sizeof busiest);
    snprintf(r->text, sizeof r->text, "kernel `%.120s`: %s%s", l->code->name,
             is_cost ? "its atomics, polls, matrix products, copies or block starts use up the "
                       "launch's budget"
             : fault == SIM_FAULT_INSN_BUDGET
                 ? "its blocks together executed more warp instructions than the launch's budget"
             : fault == SIM_FAULT_TIMEOUT
                 ? "the launch exceeded its time budget"
                 : "this machine has no memory left for the blocks' registers and shared memory",
             fault == SIM_FAULT_INSN_BUDGET ? busiest : "");
}

/* Drops uninitialized reads of shared memory if there is a race in it: without a barrier a read may
 * run before the store, so the race is the cause. */
static void drop_consequent_reports(struct sim_result *out) {
    u32 nkept = 0;
    for (u32 i = 0; i < out->nreports; i++)
        if (out->reports[i].fault != SIM_FAULT_UNINITIALIZED || !out->reports[i].is_shared_memory)
            out->reports[nkept++] = out->reports[i];
    out->nreports = nkept;
}

void core_collect_reports(struct launch *l, struct sim_result *out) {
    u64 lowest_block = UINT64_MAX;
    enum sim_fault abort_fault = (enum sim_fault)atomic_load(&l->abort_fault);
    for (u32 i = 0; i < l->nworkers; i++) {
        if (l->workers[i].fault == SIM_FAULT_NONE || l->workers[i].fault_block >= lowest_block)
            continue;
        lowest_block = l->workers[i].fault_block;
        out->fault = l->workers[i].fault;
    }
    for (u32 kind = 1; kind < SIM_FAULT_COUNT; kind++) merge_kind(l, kind, out);
    if (atomic_load(&l->has_shared_race))
        drop_consequent_reports(out), undef_mark_explained(l->sim, l->launch_id);
    if (abort_fault == SIM_FAULT_NONE || out->fault != SIM_FAULT_NONE) return;
    out->fault = abort_fault;
    report_abort(l, abort_fault, out);
}
