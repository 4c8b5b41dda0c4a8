/* draw.c — draws cases whose sizes come from the seed (struct ex_draw). It uses integers only, so
 * that every machine draws the same sizes: resumed, merged and reproduced results rely on it. */
#include "grader/book/problem.h"

#include <stdio.h>

unsigned problem_drawn_case_count(const struct exercise *ex) {
    bool any = false;
    for (unsigned i = 0; i < EX_DIMS; i++) any |= ex->draw.dim[i].high > 0;
    return any && !ex->draw.no_draw_reason ? PROBLEM_DRAWN_CASES : 0;
}

/* ---- comparison with listed cases ---- */

/* Compares the scalar arguments that are dimensions; all dimensions if there is no such argument.
 */
static bool has_same_size(const struct exercise *ex, const struct ex_case *a,
                          const struct ex_case *b) {
    bool has_size_scalar = false, same = true;
    for (unsigned i = 0; i < ex->nargs; i++) {
        const struct ex_arg *arg = &ex->args[i];
        if (arg->role != EX_SCALAR || arg->value) continue;
        has_size_scalar = true, same &= a->dim[arg->dim] == b->dim[arg->dim];
    }
    for (unsigned i = 0; i < EX_DIMS; i++) same &= has_size_scalar || a->dim[i] == b->dim[i];
    return same;
}

bool problem_is_listed(const struct exercise *ex, const struct ex_case *c) {
    bool found = has_same_size(ex, c, &ex->technique_case) || has_same_size(ex, c, &ex->timed_case);
    for (unsigned i = 0; i < ex->ncases; i++) found |= has_same_size(ex, c, &ex->cases[i]);
    return found;
}

/* ---- sizes ---- */

static unsigned log2_floor(long v) { return 63 - (unsigned)__builtin_clzl((unsigned long)v); }

/* Draws from 1 to n with equal chances for each order of magnitude: first a number of bits, then a
 * number with that many bits. */
static long draw_log_uniform(struct ex_rng *r, long n) {
    unsigned bits = (unsigned)ex_uniform_int(r, 0, log2_floor(n));
    long high = (2l << bits) - 1;
    return ex_uniform_int(r, 1l << bits, high < n ? high : n);
}

/* Returns the exponent of the first power of two that is not below `low`. */
static unsigned log2_above(long low) { return low > 1 ? log2_floor(low - 1) + 1 : 0; }

/* Draws one dimension, at most `high`. If `multiple` is 0, log-uniformly; else uniformly, rounded
 * down to a multiple of it if possible. */
static long draw_dimension(const struct ex_span *s, long high, long multiple, struct ex_rng *r) {
    if (high > s->high) high = s->high;
    if (high < s->low) high = s->low;
    if (s->power_of_two) return 1l << ex_uniform_int(r, log2_above(s->low), log2_floor(high));
    long step = s->step ? s->step : 1, n = (high - s->low) / step + 1;
    long v = s->low + step * (multiple ? ex_uniform_int(r, 0, n - 1) : draw_log_uniform(r, n) - 1);
    long rounded = multiple ? v / multiple * multiple : v;
    return step == 1 && rounded > 0 && rounded >= s->low ? rounded : v;
}

static long clamp_to_one(long v) { return v > 1 ? v : 1; }

/* Draws the dimensions in random order: the first has its whole span, the last what max_product
 * leaves. */
static void draw_dimensions(const struct ex_draw *d, long multiple, struct ex_case *c,
                            struct ex_rng *r) {
    unsigned order[EX_DIMS];
    long product = 1; /* of the drawn dimensions and the lower ends of the others */
    for (unsigned i = 0; i < EX_DIMS; i++) {
        unsigned k = (unsigned)ex_uniform_int(r, 0, i);
        order[i] = order[k], order[k] = i;
        product *= clamp_to_one(d->dim[i].low);
    }
    for (unsigned i = 0; i < EX_DIMS; i++) {
        const struct ex_span *s = &d->dim[order[i]];
        if (s->high <= 0) continue;
        product /= clamp_to_one(s->low);
        long v =
            draw_dimension(s, d->max_product ? d->max_product / product : s->high, multiple, r);
        c->dim[order[i]] = v, product *= clamp_to_one(v);
    }
}

static unsigned variant_count(const struct ex_draw *d) {
    unsigned n = 0;
    while (n < EX_VARIANTS && d->variants[n]) n++;
    return n;
}

static void draw_candidate(const struct exercise *ex, unsigned k, struct ex_case *c,
                           struct ex_rng *r) {
    /* Multiples of 4 and 32 reach fast paths for whole vectors and whole tiles. */
    static const long multiples[] = {1, 1, 4, 32};
    unsigned variants = variant_count(&ex->draw);
    long multiple = multiples[ex_uniform_int(r, 0, 3)];
    *c = (struct ex_case){0};
    draw_dimensions(&ex->draw, k % 2 ? multiple : 0, c, r);
    if (variants) c->variant = (int)ex_uniform_int(r, 0, variants - 1);
    if (ex->draw.adjust) ex->draw.adjust(c, r);
}

void problem_draw_case(const struct exercise *ex, const char *seed, unsigned k,
                       struct drawn_case *out) {
    enum { MAX_TRIES = 100 };
    struct buf purpose = {0};
    struct ex_rng r;
    buf_printf(&purpose, "size %s/%s", ex->chapter ? ex->chapter : "", ex->name ? ex->name : "");
    problem_rng_init(&r, seed, buf_str(&purpose), k, 0);
    buf_free(&purpose);
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        draw_candidate(ex, k, &out->c, &r);
        if (!problem_is_listed(ex, &out->c)) break;
    }
    const char *variant = ex->draw.variants[0] ? ex->draw.variants[out->c.variant] : "";
    snprintf(out->label, sizeof out->label, "drawn from the seed%s%s", variant[0] ? ", " : "",
             variant);
    out->c.label = out->label;
}

/* ---- the rule ---- */

static bool is_valid_span(const struct ex_span *s) {
    if (s->low < 0 || s->high < s->low || s->step < 0) return false;
    return !s->power_of_two || s->high <= 0 || 1l << log2_above(s->low) <= s->high;
}

bool problem_check_drawn_cases(const struct exercise *ex, struct buf *reason) {
    bool has_reason = ex->draw.no_draw_reason && ex->draw.no_draw_reason[0], drawn = false;
    size_t initial_size = reason->size;
    long min_product = 1;
    for (unsigned i = 0; i < EX_DIMS; i++) {
        const struct ex_span *s = &ex->draw.dim[i];
        drawn |= s->high > 0;
        min_product *= clamp_to_one(s->low);
        if (!is_valid_span(s))
            buf_printf(reason, ".draw.dim[%u] from %ld to %ld has no size\n", i, s->low, s->high);
    }
    if (!drawn && !has_reason)
        buf_puts(
            reason,
            "all its cases are listed: set .draw to draw others, or .draw.no_draw_reason to the "
            "reason why not\n");
    if (drawn && has_reason)
        buf_puts(reason, ".draw has sizes, but .draw.no_draw_reason is set, too\n");
    if (drawn && ex->draw.max_product && min_product > ex->draw.max_product)
        buf_printf(reason, ".draw.max_product is %ld, below the smallest product\n",
                   ex->draw.max_product);
    return reason->size == initial_size;
}
