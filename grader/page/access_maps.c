/* access_maps.c — draws the access pattern of one warp: its lanes and the 32-byte sectors of global
 * memory, or the banks of shared memory, that they touch. */
#include "grader/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, BANKS = 32, SECTOR = 32, WIDTH = 360, CELL = 11, MARGIN = 4 };

static bool is_active(const struct sim_access *a, unsigned lane) {
    return a->mask >> lane & 1 && a->offset[lane] != UINT32_MAX;
}

/* ---- sectors ---- */

enum { MAX_SECTORS = LANES * 3 };
struct sector_set {
    uint32_t sector[MAX_SECTORS]; /* ascending */
    unsigned n;
};

static void sector_set_add(struct sector_set *t, uint32_t sector) {
    unsigned i = t->n;
    for (unsigned k = 0; k < t->n; k++)
        if (t->sector[k] == sector) return;
    if (t->n == MAX_SECTORS) return;
    for (; i && t->sector[i - 1] > sector; i--) t->sector[i] = t->sector[i - 1];
    t->sector[i] = sector, t->n++;
}

static void sector_set_fill(const struct sim_access *a, struct sector_set *t) {
    t->n = 0;
    for (unsigned l = 0; l < LANES; l++)
        for (uint32_t s = a->offset[l] / SECTOR;
             is_active(a, l) && s <= (a->offset[l] + a->lane_bytes - 1) / SECTOR; s++)
            sector_set_add(t, s);
}

unsigned page_ideal_sectors(const struct sim_access *a, unsigned *bytes) {
    struct sector_set t;
    *bytes = 0;
    sector_set_fill(a, &t);
    for (unsigned i = 0; i < t.n; i++) {
        uint32_t byte_mask = 0;
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned b = 0; is_active(a, l) && b < a->lane_bytes; b++)
                if ((a->offset[l] + b) / SECTOR == t.sector[i])
                    byte_mask |= 1u << (a->offset[l] + b) % SECTOR;
        *bytes += (unsigned)__builtin_popcount(byte_mask);
    }
    return (*bytes + SECTOR - 1) / SECTOR;
}

/* Places sectors next to each other if they are adjacent in memory, else with a gap. Returns their
 * width. */
static double layout_sectors(const struct sector_set *t, double x[MAX_SECTORS]) {
    double gaps = 0, at = MARGIN;
    for (unsigned i = 1; i < t->n; i++) gaps += t->sector[i] != t->sector[i - 1] + 1;
    double gap = gaps ? (gaps > 20 ? 1.5 : 5) : 0,
           width = (WIDTH - 2 * MARGIN - gaps * gap) / (t->n ? t->n : 1);
    if (width > 8 * CELL) width = 8 * CELL;
    for (unsigned i = 0; i < t->n; i++) {
        if (i && t->sector[i] != t->sector[i - 1] + 1) at += gap;
        x[i] = at, at += width;
    }
    return width;
}

static void draw_lanes(const struct sim_access *a, double y, struct buf *out) {
    for (unsigned l = 0; l < LANES; l++) {
        char name[8];
        snprintf(name, sizeof name, "%u", l);
        page_svg_translucent_bar(MARGIN + l * CELL, y, CELL - 1, 12,
                                 a->mask >> l & 1 ? "lane" : "bank", 0.3 + 0.7 * l / LANES, out);
        if (l % 4 == 0)
            page_svg_small_text(MARGIN + l * CELL + CELL / 2.0, y - 3, "middle", name, out);
    }
}

/* Draws the bytes that a lane accesses in each sector, and a line from the lane to the first. */
static void draw_lane(const struct sim_access *a, unsigned l, const struct sector_set *t,
                      const double x[MAX_SECTORS], double width, double y, struct buf *out) {
    double byte = width / SECTOR;
    bool first = true;
    for (unsigned i = 0; i < t->n; i++) {
        uint32_t from = t->sector[i] * SECTOR, low = a->offset[l] > from ? a->offset[l] : from,
                 high = a->offset[l] + a->lane_bytes < from + SECTOR ? a->offset[l] + a->lane_bytes
                                                                     : from + SECTOR;
        if (low >= high) continue;
        page_svg_translucent_bar(x[i] + (low - from) * byte, y, (high - low) * byte, 26, "used",
                                 0.3 + 0.7 * l / LANES, out);
        if (first)
            page_svg_line(MARGIN + l * CELL + CELL / 2.0, y - 44,
                          x[i] + ((low + high) / 2.0 - from) * byte, y, "thread", out);
        first = false;
    }
}

static double draw_sectors(const struct sim_access *a, struct buf *title, struct buf *out) {
    struct sector_set t;
    double x[MAX_SECTORS], y = 72, width;
    char text[96];
    sector_set_fill(a, &t);
    width = layout_sectors(&t, x);
    buf_printf(title, "%d lanes of a warp and the %u sector%s of 32 bytes that they touch",
               __builtin_popcount(a->mask), t.n, t.n == 1 ? "" : "s");
    draw_lanes(a, 16, out);
    for (unsigned i = 0; i < t.n; i++) page_svg_bar(x[i], y, width - 0.6, 26, "box", out);
    for (unsigned l = 0; l < LANES; l++)
        if (is_active(a, l)) draw_lane(a, l, &t, x, width, y, out);
    snprintf(text, sizeof text, "%u sector%s of 32 bytes", t.n, t.n == 1 ? "" : "s");
    page_svg_text(MARGIN, 112, "start", text, out);
    return 118;
}

/* ---- banks ---- */

enum { MAX_WAVEFRONTS = 40 };
struct bank_usage {
    int lane[MAX_WAVEFRONTS][BANKS]; /* first lane that accesses the word, -1 = none */
    unsigned lane_count[MAX_WAVEFRONTS][BANKS];
    unsigned nwavefronts;
};

/* Returns how many lanes shared memory serves together: 32 for up to 4 bytes each, 16 for 8, 8 for
 * 16. */
static unsigned phase_lanes(const struct sim_access *a) {
    return a->lane_bytes <= 4 ? 32 : a->lane_bytes <= 8 ? 16 : 8;
}

static void add_phase(const struct sim_access *a, unsigned first, unsigned n,
                      struct bank_usage *b) {
    uint32_t word[MAX_WAVEFRONTS][BANKS];
    unsigned depth[BANKS] = {0}, max_depth = 0, base = b->nwavefronts;
    for (unsigned l = first; l < first + n; l++) {
        if (!is_active(a, l)) continue;
        for (uint32_t w = a->offset[l] / 4; w <= (a->offset[l] + a->lane_bytes - 1) / 4; w++) {
            unsigned bank = w % BANKS, k = 0;
            while (k < depth[bank] && (word[base + k][bank] != w || a->kind == SIM_ACCESS_ATOMIC))
                k++;
            if (base + k >= MAX_WAVEFRONTS) continue;
            if (k == depth[bank]) {
                word[base + k][bank] = w, b->lane[base + k][bank] = (int)l;
                depth[bank]++;
            }
            b->lane_count[base + k][bank]++;
            if (depth[bank] > max_depth) max_depth = depth[bank];
        }
    }
    b->nwavefronts += max_depth;
}

static void bank_cell(const struct bank_usage *b, unsigned wavefront, unsigned bank, double y,
                      struct buf *out) {
    double x = MARGIN + bank * CELL;
    int lane = b->lane[wavefront][bank];
    if (lane < 0) {
        page_svg_bar(x, y, CELL - 1, CELL - 1, "bank", out);
        return;
    }
    page_svg_translucent_bar(x, y, CELL - 1, CELL - 1, wavefront ? "again" : "used",
                             0.3 + 0.7 * lane / LANES, out);
}

static double draw_banks(const struct sim_access *a, struct buf *title, struct buf *out) {
    struct bank_usage *b = xcalloc(1, sizeof *b);
    char text[96];
    memset(b->lane, -1, sizeof b->lane);
    for (unsigned first = 0; first < LANES; first += phase_lanes(a))
        add_phase(a, first, phase_lanes(a), b);
    buf_printf(title, "32 banks of shared memory, %u wavefront%s for %d lanes", a->cost,
               a->cost == 1 ? "" : "s", __builtin_popcount(a->mask));
    for (unsigned bank = 0; bank < BANKS; bank += 4) {
        snprintf(text, sizeof text, "%u", bank);
        page_svg_small_text(MARGIN + bank * CELL + CELL / 2.0, 9, "middle", text, out);
    }
    for (unsigned wavefront = 0; wavefront < b->nwavefronts; wavefront++)
        for (unsigned bank = 0; bank < BANKS; bank++)
            bank_cell(b, wavefront, bank, 13 + wavefront * CELL, out);
    if (b->nwavefronts <= a->cost)
        snprintf(text, sizeof text, "banks 0 to 31; each row is a wavefront");
    else
        snprintf(text, sizeof text,
                 "banks 0 to 31; rows with the same words are merged: %u wavefronts", a->cost);
    page_svg_small_text(MARGIN, 24 + b->nwavefronts * CELL, "start", text, out);
    double height = 30 + b->nwavefronts * CELL;
    free(b);
    return height;
}

/* ---- pictures ---- */

static void draw_map(const struct sim_access *a, struct buf *out) {
    struct buf title = {0}, body = {0};
    double height = (a->is_shared ? draw_banks : draw_sectors)(a, &title, &body);
    page_svg_open(WIDTH, height, buf_str(&title), out);
    buf_add(out, body.data, body.size);
    page_svg_close(out);
    buf_free(&title), buf_free(&body);
}

void page_map_sectors(const struct sim_access *a, struct buf *out) {
    struct sim_access global = *a;
    global.is_shared = false;
    draw_map(&global, out);
}

void page_map_banks(const struct sim_access *a, struct buf *out) {
    struct sim_access shared = *a;
    shared.is_shared = true;
    draw_map(&shared, out);
}

static const char *cost_name(const struct sim_access *a) {
    if (a->kind == SIM_ACCESS_ATOMIC) return "serialized";
    if (a->is_shared) return a->cost == 1 ? "wavefront" : "wavefronts";
    return a->cost == 1 ? "sector" : "sectors";
}

static void draw_panel(const struct page_panel *p, double y, const struct buf *body,
                       struct buf *out) {
    static const char *const verbs[] = {"load", "store", "atomic"};
    const struct sim_access *a = p->access;
    char text[160];
    snprintf(text, sizeof text, "%.60s: %s memory, %s of %u byte%s per lane, %d lane%s: %u %s",
             p->name, a->is_shared ? "shared" : "global", verbs[a->kind % 3], a->lane_bytes,
             a->lane_bytes == 1 ? "" : "s", __builtin_popcount(a->mask),
             a->mask & (a->mask - 1) ? "s" : "", a->cost, cost_name(a));
    page_svg_code(MARGIN, y + 9, p->line, out);
    page_svg_small_text(MARGIN, y + 20, "start", text, out);
    buf_printf(out, "<g transform=\"translate(0,%g)\">\n", y + 26);
    buf_add(out, body->data, body->size);
    buf_puts(out, "</g>\n");
}

void page_picture(const struct page_panel *panels, unsigned n, struct buf *out) {
    struct buf title = {0}, body_all = {0};
    double y = 4;
    for (unsigned i = 0; i < n; i++) {
        struct buf body = {0};
        if (i) buf_puts(&title, "; ");
        double height = (panels[i].access->is_shared ? draw_banks : draw_sectors)(panels[i].access,
                                                                                  &title, &body);
        draw_panel(&panels[i], y, &body, &body_all);
        y += 26 + height + 10;
        buf_free(&body);
    }
    page_svg_open_file(WIDTH, y, buf_str(&title), out);
    buf_add(out, body_all.data, body_all.size);
    page_svg_close(out);
    buf_free(&title), buf_free(&body_all);
}
