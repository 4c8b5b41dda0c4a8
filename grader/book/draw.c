/* draw.c — cases whose sizes come from the seed (struct ex_draw). Whole numbers alone, so that
 * every machine draws the same: resumed, merged and reproduced results rely on it. */
#include "grader/book/problem.h"

#include <stdio.h>

unsigned problem_drawn(const struct exercise *ex) {
    bool any = false;
    for (unsigned i = 0; i < EX_DIMS; i++) any |= ex->draw.dim[i].high > 0;
    return any && !ex->draw.none ? PROBLEM_DRAWN : 0;
}

/* ---- what is known already ---- */

/* The scalars that are dimensions; where there is none, every dimension counts. */
static bool looks_like(const struct exercise *ex, const struct ex_case *a,
                       const struct ex_case *b) {
    bool told = false, same = true;
    for (unsigned i = 0; i < ex->nargs; i++) {
        const struct ex_arg *arg = &ex->args[i];
        if (arg->role != EX_SCALAR || arg->value) continue;
        told = true, same &= a->dim[arg->dim] == b->dim[arg->dim];
    }
    for (unsigned i = 0; i < EX_DIMS; i++) same &= told || a->dim[i] == b->dim[i];
    return same;
}

bool problem_is_listed(const struct exercise *ex, const struct ex_case *c) {
    bool found = looks_like(ex, c, &ex->technique_case) || looks_like(ex, c, &ex->timed);
    for (unsigned i = 0; i < ex->ncases; i++) found |= looks_like(ex, c, &ex->cases[i]);
    return found;
}

/* ---- sizes ---- */

static unsigned log2_floor(long v) { return 63 - (unsigned)__builtin_clzl((unsigned long)v); }

/* 1 to n, each order of magnitude as likely as another: a number of bits, then a number of so many
 * bits. */
static long any_magnitude(struct ex_rng *r, long n) {
    unsigned bits = (unsigned)ex_range(r, 0, log2_floor(n));
    long high = (2l << bits) - 1;
    return ex_range(r, 1l << bits, high < n ? high : n);
}

/* The first power of two from `low` on. */
static unsigned log2_above(long low) { return low > 1 ? log2_floor(low - 1) + 1 : 0; }

/* One dimension, `high` at most. `grain`: 0 = of any magnitude, else evenly spread, a multiple of
 * it where that is possible. */
static long pick(const struct ex_span *s, long high, long grain, struct ex_rng *r) {
    if (high > s->high) high = s->high;
    if (high < s->low) high = s->low;
    if (s->power_of_two) return 1l << ex_range(r, log2_above(s->low), log2_floor(high));
    long step = s->step ? s->step : 1, n = (high - s->low) / step + 1;
    long v = s->low + step * (grain ? ex_range(r, 0, n - 1) : any_magnitude(r, n) - 1);
    long whole = grain ? v / grain * grain : v;
    return step == 1 && whole > 0 && whole >= s->low ? whole : v;
}

static long at_least_one(long v) { return v > 1 ? v : 1; }

/* In a random order: the first dimension has its whole span, the last what the product leaves. */
static void pick_dimensions(const struct ex_draw *d, long grain, struct ex_case *c,
                            struct ex_rng *r) {
    unsigned order[EX_DIMS];
    long product = 1; /* of what was drawn, and of what the others have at least */
    for (unsigned i = 0; i < EX_DIMS; i++) {
        unsigned k = (unsigned)ex_range(r, 0, i);
        order[i] = order[k], order[k] = i;
        product *= at_least_one(d->dim[i].low);
    }
    for (unsigned i = 0; i < EX_DIMS; i++) {
        const struct ex_span *s = &d->dim[order[i]];
        if (s->high <= 0) continue;
        product /= at_least_one(s->low);
        long v = pick(s, d->most ? d->most / product : s->high, grain, r);
        c->dim[order[i]] = v, product *= at_least_one(v);
    }
}

static unsigned variants_of(const struct ex_draw *d) {
    unsigned n = 0;
    while (n < EX_VARIANTS && d->variants[n]) n++;
    return n;
}

static void draw_once(const struct exercise *ex, unsigned k, struct ex_case *c, struct ex_rng *r) {
    static const long grains[] = {
        1, 1, 4, 32}; /* fast ways through whole vectors and whole tiles are to be seen, too */
    unsigned variants = variants_of(&ex->draw);
    long grain = grains[ex_range(r, 0, 3)];
    *c = (struct ex_case){0};
    pick_dimensions(&ex->draw, k % 2 ? grain : 0, c, r);
    if (variants) c->variant = (int)ex_range(r, 0, variants - 1);
    if (ex->draw.adjust) ex->draw.adjust(c, r);
}

void problem_draw_case(const struct exercise *ex, const char *seed, unsigned k,
                       struct drawn_case *out) {
    enum { TRIES = 100 };
    struct buf what = {0};
    struct ex_rng r;
    buf_printf(&what, "size %s/%s", ex->chapter ? ex->chapter : "", ex->name ? ex->name : "");
    problem_rng_start(&r, seed, buf_str(&what), k, 0);
    buf_free(&what);
    for (unsigned i = 0; i < TRIES; i++) {
        draw_once(ex, k, &out->c, &r);
        if (!problem_is_listed(ex, &out->c)) break;
    }
    const char *variant = ex->draw.variants[0] ? ex->draw.variants[out->c.variant] : "";
    snprintf(out->label, sizeof out->label, "drawn from the seed%s%s", variant[0] ? ", " : "",
             variant);
    out->c.label = out->label;
}

/* ---- the rule ---- */

static bool span_makes_sense(const struct ex_span *s) {
    if (s->low < 0 || s->high < s->low || s->step < 0) return false;
    return !s->power_of_two || s->high <= 0 || 1l << log2_above(s->low) <= s->high;
}

bool problem_draw_makes_sense(const struct exercise *ex, struct buf *why) {
    bool none = ex->draw.none && ex->draw.none[0], drawn = false;
    size_t before = why->size;
    long least = 1;
    for (unsigned i = 0; i < EX_DIMS; i++) {
        const struct ex_span *s = &ex->draw.dim[i];
        drawn |= s->high > 0;
        least *= at_least_one(s->low);
        if (!span_makes_sense(s))
            buf_printf(why, ".draw.dim[%u] from %ld to %ld holds no size\n", i, s->low, s->high);
    }
    if (!drawn && !none)
        buf_puts(why, "its cases are all listed: say in .draw how others are drawn, or in "
                      ".draw.none why not\n");
    if (drawn && none) buf_puts(why, ".draw has sizes, and .draw.none says that there are none\n");
    if (drawn && ex->draw.most && least > ex->draw.most)
        buf_printf(why, ".draw.most is %ld, below the least product\n", ex->draw.most);
    return why->size == before;
}
