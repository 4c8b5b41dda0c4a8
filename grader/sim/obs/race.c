/* race.c — races between blocks in global memory: see insn/lanes_race.c for what is noted.
 *
 * Each worker's notes say exactly what its own blocks did; they are joined where both touched a range. The report
 * names the lowest address, and the instructions that touched it, so that it does not depend on the schedule. */
#include "grader/sim/obs/place.h"
#include "grader/sim/mem/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static size_t plane_bytes(const struct launch *l) { return (SIM_SPAN >> l->global_shift) * sizeof(u16); }

static u16 *plane(const struct launch *l) {
    void *p = mmap(NULL, plane_bytes(l), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) madvise(p, plane_bytes(l), MADV_HUGEPAGE); /* they are walked through, not sampled */
    return p == MAP_FAILED ? NULL : p;
}

bool race_open(struct launch *l) {
    if (!l->races_global) return true;
    for (u32 i = 0; i < l->nworkers; i++) {
        struct race_plane *p = &l->workers[i].plane;
        p->write = plane(l);
        p->read = plane(l);
        p->value = plane(l);
        p->touched = xcalloc(l->module->nstats, sizeof *p->touched);
        for (u32 s = 0; s < l->module->nstats; s++) p->touched[s].low = UINT64_MAX;
        if (!p->write || !p->read || !p->value) return false;
    }
    return true;
}

void race_close(struct launch *l) {
    for (u32 i = 0; l->races_global && i < l->nworkers; i++) {
        struct race_plane *p = &l->workers[i].plane;
        if (p->write) munmap(p->write, plane_bytes(l));
        if (p->read) munmap(p->read, plane_bytes(l));
        if (p->value) munmap(p->value, plane_bytes(l));
        free(p->touched);
    }
}

static u16 join(u16 a, u16 b) { return !a || a == b ? b : !b ? a : RACE_MANY_BLOCKS; }

/* Who wrote the granule, over all workers. */
static u16 writers(const struct launch *l, u64 granule) {
    u16 all = 0, value = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        u16 w = l->workers[i].plane.write[granule], v = l->workers[i].plane.value[granule];
        if (!w) continue;
        bool same = v == value && all != RACE_MANY_BLOCKS && w != RACE_MANY_BLOCKS;
        all = !all ? w : same ? RACE_SAME_VALUE : RACE_MANY_BLOCKS;
        value = v;
    }
    return all;
}

static u16 readers(const struct launch *l, u64 granule) {
    u16 all = 0;
    for (u32 i = 0; i < l->nworkers; i++) all = join(all, l->workers[i].plane.read[granule]);
    return all;
}

/* Whether the granule was written by one block and touched by another. */
static bool raced(const struct launch *l, u64 granule) {
    u16 w = writers(l, granule), r = w ? readers(l, granule) : 0;
    return w && (w == RACE_MANY_BLOCKS || (r && r != w));
}

/* Whether any of `n` granules may have raced: a quick look at many at once. */
enum { CHUNK = 512 };
static bool suspicious(const struct launch *l, u64 granule, u32 n) {
    u16 written[CHUNK] = {0}, read[CHUNK] = {0};
    u32 bad = 0;
    for (u32 i = 0; i < l->nworkers; i++) {
        const u16 *w = l->workers[i].plane.write + granule, *r = l->workers[i].plane.read + granule;
        for (u32 k = 0; k < n; k++) {
            u32 wrote = w[k] != 0, looked = r[k] != 0;
            bad |= (wrote & (u32)((written[k] | read[k]) != 0)) | (looked & (u32)(written[k] != 0));
            bad |= (wrote & looked & (u32)(w[k] != r[k])) | (u32)(w[k] == RACE_MANY_BLOCKS);
            written[k] |= w[k];
            read[k] |= r[k];
        }
    }
    return bad;
}

static bool touches(const struct launch *l, u32 stat, u64 offset) {
    for (u32 i = 0; i < l->nworkers; i++)
        if (l->workers[i].plane.touched[stat].low <= offset && offset < l->workers[i].plane.touched[stat].high) return true;
    return false;
}

/* The range that stores touched, over all workers: a race has a write. */
static struct race_range stored_range(const struct launch *l) {
    struct race_range all = {UINT64_MAX, 0};
    for (u32 s = 0; s < l->module->nstats; s++) {
        if (l->module->stat_owners[s].verb != MEM_STORE) continue;
        for (u32 i = 0; i < l->nworkers; i++) {
            const struct race_range *t = &l->workers[i].plane.touched[s];
            if (t->low < all.low) all.low = t->low;
            if (t->high > all.high) all.high = t->high;
        }
    }
    return all;
}

static const struct ptx_loc *place_of(const struct launch *l, u64 offset, u8 verb) {
    for (u32 s = 0; s < l->module->nstats; s++)
        if (l->module->stat_owners[s].verb == verb && touches(l, s, offset))
            return source_place(l->module->ptx, l->module->ops[l->module->stat_owners[s].op].loc);
    return NULL;
}

/* "block (1,0,0)", where the number in a note still says which. */
static void block_name(const struct launch *l, u16 note, char *out, size_t size) {
    const u32 *grid = l->request->grid;
    u64 i = note - 1u;
    if (note >= RACE_SAME_VALUE || l->nblocks >= RACE_SAME_VALUE) snprintf(out, size, note >= RACE_SAME_VALUE ? "several blocks" : "one block");
    else snprintf(out, size, "block (%u,%u,%u)", (u32)(i % grid[0]), (u32)(i / grid[0] % grid[1]), (u32)(i / grid[0] / grid[1]));
}

static void set_line(const struct launch *l, const struct ptx_loc *at, struct sim_report *r) {
    const struct ptx_module *p = l->module->ptx;
    if (!at) return;
    r->line = at->line;
    if (at->file < p->nfiles && p->files[at->file]) r->file = p->files[at->file];
}

static void write_report(const struct launch *l, u64 offset, u64 count, struct sim_report *r) {
    const struct ptx_loc *load = place_of(l, offset, MEM_LOAD);
    u64 granule = offset >> l->global_shift;
    u16 w = writers(l, granule), rd = readers(l, granule);
    char where[256], line[160] = "", writer[64], reader[64], also[128] = "";
    *r = (struct sim_report){.fault = SIM_FAULT_GLOBAL_RACE, .count = count, .kernel = l->code->name, .file = "", .address = SIM_BASE + offset};
    set_line(l, place_of(l, offset, MEM_STORE), r);
    memory_describe(&l->sim->memory, SIM_BASE + offset, 1, where, sizeof where);
    block_name(l, w, writer, sizeof writer);
    block_name(l, rd, reader, sizeof reader);
    const char *slash = strrchr(r->file, '/');
    if (r->line) snprintf(line, sizeof line, "%.120s:%u: ", slash ? slash + 1 : r->file, r->line);
    if (rd && load) snprintf(also, sizeof also, " and read by %s in line %u", reader, load->line);
    else if (rd) snprintf(also, sizeof also, " and updated by atomics of %s", reader);
    snprintf(r->text, sizeof r->text, "%skernel `%.120s`: memory %s is written by %s%s, in no order", line, r->kernel, where, writer, also);
}

void race_report(struct launch *l, struct sim_result *out) {
    bool within = false;
    if (!l->races_global || out->fault != SIM_FAULT_NONE) return;
    for (u32 i = 0; i < l->nworkers; i++) within |= l->workers[i].plane.raced != 0;
    if (!within && l->nworkers < 2) return;
    struct race_range range = stored_range(l);
    u64 first = UINT64_MAX, count = 0;
    if (range.low >= range.high) return;
    u64 end = ((range.high - 1) >> l->global_shift) + 1;
    for (u64 g = range.low >> l->global_shift; g < end; g += CHUNK) {
        u32 n = end - g < CHUNK ? (u32)(end - g) : CHUNK;
        if (!suspicious(l, g, n)) continue;
        for (u32 k = 0; k < n; k++)
            if (raced(l, g + k) && !count++) first = (g + k) << l->global_shift;
    }
    if (count) write_report(l, first, count, &out->reports[out->nreports++]);
}
