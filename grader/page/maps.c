/* maps.c — what the lanes of one warp ask of memory, drawn: 32-byte sectors of global memory, banks
 * of shared memory. */
#include "grader/page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, BANKS = 32, SECTOR = 32, WIDTH = 360, CELL = 11, LEFT = 4 };

static bool active(const struct sim_access *a, unsigned lane) {
    return a->mask >> lane & 1 && a->offset[lane] != UINT32_MAX;
}

/* ---- sectors ---- */

enum { MOST = LANES * 3 };
struct touched {
    uint32_t number[MOST]; /* ascending */
    unsigned n;
};

static void touch(struct touched *t, uint32_t number) {
    unsigned i = t->n;
    for (unsigned k = 0; k < t->n; k++)
        if (t->number[k] == number) return;
    if (t->n == MOST) return;
    for (; i && t->number[i - 1] > number; i--) t->number[i] = t->number[i - 1];
    t->number[i] = number, t->n++;
}

static void touch_all(const struct sim_access *a, struct touched *t) {
    t->n = 0;
    for (unsigned l = 0; l < LANES; l++)
        for (uint32_t s = a->offset[l] / SECTOR;
             active(a, l) && s <= (a->offset[l] + a->lane_bytes - 1) / SECTOR; s++)
            touch(t, s);
}

unsigned page_map_ideal(const struct sim_access *a, unsigned *bytes) {
    struct touched t;
    *bytes = 0;
    touch_all(a, &t);
    for (unsigned i = 0; i < t.n; i++) {
        uint32_t covered = 0;
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned b = 0; active(a, l) && b < a->lane_bytes; b++)
                if ((a->offset[l] + b) / SECTOR == t.number[i])
                    covered |= 1u << (a->offset[l] + b) % SECTOR;
        *bytes += (unsigned)__builtin_popcount(covered);
    }
    return (*bytes + SECTOR - 1) / SECTOR;
}

/* Where the sectors stand: side by side where they are neighbours in memory, apart where not. */
static double place(const struct touched *t, double x[MOST]) {
    double gaps = 0, at = LEFT;
    for (unsigned i = 1; i < t->n; i++) gaps += t->number[i] != t->number[i - 1] + 1;
    double gap = gaps ? (gaps > 20 ? 1.5 : 5) : 0,
           width = (WIDTH - 2 * LEFT - gaps * gap) / (t->n ? t->n : 1);
    if (width > 8 * CELL) width = 8 * CELL;
    for (unsigned i = 0; i < t->n; i++) {
        if (i && t->number[i] != t->number[i - 1] + 1) at += gap;
        x[i] = at, at += width;
    }
    return width;
}

static void lanes(const struct sim_access *a, double y, struct buf *out) {
    for (unsigned l = 0; l < LANES; l++) {
        char name[8];
        snprintf(name, sizeof name, "%u", l);
        page_svg_tint(LEFT + l * CELL, y, CELL - 1, 12, a->mask >> l & 1 ? "lane" : "bank",
                      0.3 + 0.7 * l / LANES, out);
        if (l % 4 == 0) page_svg_small(LEFT + l * CELL + CELL / 2.0, y - 3, "middle", name, out);
    }
}

/* The bytes that a lane asks for, in each sector that they lie in, and a thread to the first. */
static void draw_lane(const struct sim_access *a, unsigned l, const struct touched *t,
                      const double x[MOST], double width, double y, struct buf *out) {
    double byte = width / SECTOR;
    bool first = true;
    for (unsigned i = 0; i < t->n; i++) {
        uint32_t from = t->number[i] * SECTOR, low = a->offset[l] > from ? a->offset[l] : from,
                 high = a->offset[l] + a->lane_bytes < from + SECTOR ? a->offset[l] + a->lane_bytes
                                                                     : from + SECTOR;
        if (low >= high) continue;
        page_svg_tint(x[i] + (low - from) * byte, y, (high - low) * byte, 26, "used",
                      0.3 + 0.7 * l / LANES, out);
        if (first)
            page_svg_line(LEFT + l * CELL + CELL / 2.0, y - 44,
                          x[i] + ((low + high) / 2.0 - from) * byte, y, "thread", out);
        first = false;
    }
}

static double draw_sectors(const struct sim_access *a, struct buf *title, struct buf *out) {
    struct touched t;
    double x[MOST], y = 72, width;
    char text[96];
    touch_all(a, &t);
    width = place(&t, x);
    buf_printf(title, "%d lanes of a warp and the %u sector%s of 32 bytes that they touch",
               __builtin_popcount(a->mask), t.n, t.n == 1 ? "" : "s");
    lanes(a, 16, out);
    for (unsigned i = 0; i < t.n; i++) page_svg_bar(x[i], y, width - 0.6, 26, "box", out);
    for (unsigned l = 0; l < LANES; l++)
        if (active(a, l)) draw_lane(a, l, &t, x, width, y, out);
    snprintf(text, sizeof text, "%u sector%s of 32 bytes", t.n, t.n == 1 ? "" : "s");
    page_svg_text(LEFT, 112, "start", text, out);
    return 118;
}

/* ---- banks ---- */

enum { PASSES = 40 };
struct banks {
    int lane[PASSES][BANKS]; /* the first lane that asks for the word, -1 = none */
    unsigned lanes[PASSES][BANKS];
    unsigned passes;
};

/* Lanes that are served together: all where each asks for four bytes, half for eight, a quarter for
 * sixteen. */
static unsigned phase_lanes(const struct sim_access *a) {
    return a->lane_bytes <= 4 ? 32 : a->lane_bytes <= 8 ? 16 : 8;
}

static void phase(const struct sim_access *a, unsigned first, unsigned n, struct banks *b) {
    uint32_t word[PASSES][BANKS];
    unsigned depth[BANKS] = {0}, most = 0, base = b->passes;
    for (unsigned l = first; l < first + n; l++) {
        if (!active(a, l)) continue;
        for (uint32_t w = a->offset[l] / 4; w <= (a->offset[l] + a->lane_bytes - 1) / 4; w++) {
            unsigned bank = w % BANKS, k = 0;
            while (k < depth[bank] && (word[base + k][bank] != w || a->kind == SIM_ACCESS_ATOMIC))
                k++;
            if (base + k >= PASSES) continue;
            if (k == depth[bank]) {
                word[base + k][bank] = w, b->lane[base + k][bank] = (int)l;
                depth[bank]++;
            }
            b->lanes[base + k][bank]++;
            if (depth[bank] > most) most = depth[bank];
        }
    }
    b->passes += most;
}

static void bank_cell(const struct banks *b, unsigned pass, unsigned bank, double y,
                      struct buf *out) {
    double x = LEFT + bank * CELL;
    int lane = b->lane[pass][bank];
    if (lane < 0) {
        page_svg_bar(x, y, CELL - 1, CELL - 1, "bank", out);
        return;
    }
    page_svg_tint(x, y, CELL - 1, CELL - 1, pass ? "again" : "used", 0.3 + 0.7 * lane / LANES, out);
}

static double draw_banks(const struct sim_access *a, struct buf *title, struct buf *out) {
    struct banks *b = xcalloc(1, sizeof *b);
    char text[96];
    memset(b->lane, -1, sizeof b->lane);
    for (unsigned first = 0; first < LANES; first += phase_lanes(a))
        phase(a, first, phase_lanes(a), b);
    buf_printf(title, "32 banks of shared memory, %u pass%s for %d lanes", a->cost,
               a->cost == 1 ? "" : "es", __builtin_popcount(a->mask));
    for (unsigned bank = 0; bank < BANKS; bank += 4) {
        snprintf(text, sizeof text, "%u", bank);
        page_svg_small(LEFT + bank * CELL + CELL / 2.0, 9, "middle", text, out);
    }
    for (unsigned pass = 0; pass < b->passes; pass++)
        for (unsigned bank = 0; bank < BANKS; bank++)
            bank_cell(b, pass, bank, 13 + pass * CELL, out);
    if (b->passes <= a->cost) snprintf(text, sizeof text, "banks 0 to 31; a row is a pass");
    else
        snprintf(text, sizeof text,
                 "banks 0 to 31; rows with the same words go together: %u passes", a->cost);
    page_svg_small(LEFT, 24 + b->passes * CELL, "start", text, out);
    double height = 30 + b->passes * CELL;
    free(b);
    return height;
}

/* ---- one or several as a picture ---- */

static void map(const struct sim_access *a, struct buf *out) {
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
    map(&global, out);
}

void page_map_banks(const struct sim_access *a, struct buf *out) {
    struct sim_access shared = *a;
    shared.is_shared = true;
    map(&shared, out);
}

static const char *cost_name(const struct sim_access *a) {
    if (a->kind == SIM_ACCESS_ATOMIC) return "in turn";
    if (a->is_shared) return a->cost == 1 ? "pass" : "passes";
    return a->cost == 1 ? "sector" : "sectors";
}

static void panel(const struct page_panel *p, double y, const struct buf *body, struct buf *out) {
    static const char *const verbs[] = {"load", "store", "atomic"};
    const struct sim_access *a = p->at;
    char text[160];
    snprintf(text, sizeof text, "%.60s: %s memory, %s of %u byte%s a lane, %d lane%s: %u %s",
             p->name, a->is_shared ? "shared" : "global", verbs[a->kind % 3], a->lane_bytes,
             a->lane_bytes == 1 ? "" : "s", __builtin_popcount(a->mask),
             a->mask & (a->mask - 1) ? "s" : "", a->cost, cost_name(a));
    page_svg_code(LEFT, y + 9, p->line, out);
    page_svg_small(LEFT, y + 20, "start", text, out);
    buf_printf(out, "<g transform=\"translate(0,%g)\">\n", y + 26);
    buf_add(out, body->data, body->size);
    buf_puts(out, "</g>\n");
}

void page_picture(const struct page_panel *panels, unsigned n, struct buf *out) {
    struct buf title = {0}, all = {0};
    double y = 4;
    for (unsigned i = 0; i < n; i++) {
        struct buf body = {0};
        if (i) buf_puts(&title, "; ");
        double height =
            (panels[i].at->is_shared ? draw_banks : draw_sectors)(panels[i].at, &title, &body);
        panel(&panels[i], y, &body, &all);
        y += 26 + height + 10;
        buf_free(&body);
    }
    page_svg_file(WIDTH, y, buf_str(&title), out);
    buf_add(out, all.data, all.size);
    page_svg_close(out);
    buf_free(&title), buf_free(&all);
}
