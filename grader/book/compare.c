/* compare.c — outputs against what was wanted, inputs against what they were, and how a difference
 * is told. */
#include "grader/book/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 5 }; /* wrong elements listed */

static bool is_float(enum ex_type t) { return t == EX_F16 || t == EX_F32 || t == EX_F64; }

static double load_float(enum ex_type t, const void *p) {
    ex_half h;
    float f;
    double d;
    if (t == EX_F16) return memcpy(&h, p, sizeof h), ex_half_value(h);
    if (t == EX_F32) return memcpy(&f, p, sizeof f), f;
    return memcpy(&d, p, sizeof d), d;
}

static int64_t load_integer(enum ex_type t, const void *p) {
    switch (t) {
#define X(id, type, name)        \
    case id: {                   \
        type x;                  \
        memcpy(&x, p, sizeof x); \
        return (int64_t)x;       \
    }
        EX_C_TYPES(X)
#undef X
    case EX_F16: break; /* a float */
    }
    return 0;
}

static bool close_enough(double got, double want, double allowed) {
    if (isnan(want)) return isnan(got);
    if (got == want) return true; /* infinities, and exact results under any tolerance */
    return fabs(got - want) <= allowed;
}

struct view {
    const struct problem *p;
    unsigned arg;
    const struct ex_arg *a;
    const struct operand *o;
    void *host[EX_ARGS];
};

static const char *element(const void *data, const struct view *v, size_t i) {
    return (const char *)data + i * ex_type_bytes(v->a->type);
}

static double allowed_error(const struct view *v, size_t i, double want) {
    const struct exercise *ex = v->p->ex;
    return ex->tolerance ? ex->tolerance(v->p->c, v->host, (int)v->arg, i, want) : 0;
}

static bool right(const struct view *v, size_t i) {
    const void *got = element(v->o->after, v, i);
    if (!is_float(v->a->type)) {
        int64_t want = ((const int64_t *)v->o->want)[i], have = load_integer(v->a->type, got);
        if (have == want) return true;
        return v->p->ex->tolerance &&
               fabs((double)have - (double)want) <= allowed_error(v, i, (double)want);
    }
    double want = ((const double *)v->o->want)[i];
    return close_enough(load_float(v->a->type, got), want, allowed_error(v, i, want));
}

/* ---- telling ---- */

static void print_index(const struct view *v, size_t index, struct buf *out) {
    size_t extent[EX_DIMS], n = 0, product = 1;
    for (; n < EX_DIMS && v->a->shape[n]; n++)
        product *= extent[n] = (size_t)v->p->c->dim[v->a->shape[n] - 1];
    if (n < 2 || product != v->o->count) {
        buf_printf(out, "%s[%zu]", v->a->name, index);
        return;
    }
    buf_puts(out, v->a->name);
    for (size_t i = 0; i < n; i++) {
        product /= extent[i];
        buf_printf(out, "[%zu]", index / product);
        index %= product;
    }
}

/* Without the sign of a NaN, which says nothing: 0.0 / 0 has one on x86-64 and none on aarch64. */
static void print_float(enum ex_type t, double v, struct buf *out) {
    buf_printf(out, t == EX_F16 ? "%.5g" : t == EX_F32 ? "%.9g" : "%.17g", isnan(v) ? fabs(v) : v);
}

static void print_value(enum ex_type t, const void *data, struct buf *out) {
    if (is_float(t)) print_float(t, load_float(t, data), out);
    else if (t == EX_U64) buf_printf(out, "%" PRIu64, (uint64_t)load_integer(t, data));
    else buf_printf(out, "%" PRId64, load_integer(t, data));
}

static void print_wrong(const struct view *v, size_t i, struct buf *out) {
    struct buf place = {0}, got = {0}, want = {0};
    bool untouched =
        v->a->role == EX_OUT &&
        !memcmp(element(v->o->after, v, i), element(v->o->before, v, i), ex_type_bytes(v->a->type));
    print_index(v, i, &place);
    if (untouched) buf_puts(&got, "nothing was written");
    else print_value(v->a->type, element(v->o->after, v, i), &got);
    double wide = is_float(v->a->type) ? ((const double *)v->o->want)[i]
                                       : (double)((const int64_t *)v->o->want)[i];
    if (is_float(v->a->type)) print_float(v->a->type, wide, &want);
    else buf_printf(&want, "%" PRId64, ((const int64_t *)v->o->want)[i]);
    buf_printf(out, "\n  %-14s got %-16s want %-16s", buf_str(&place), buf_str(&got),
               buf_str(&want));
    if (v->p->ex->tolerance) buf_printf(out, " ±%.3g", allowed_error(v, i, wide));
    else
        while (out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
    buf_free(&place), buf_free(&got), buf_free(&want);
}

/* The first element from `i` on that is not to the bit what is wanted: a loop for each type, since
 * most are. */
static size_t next_inexact(const struct view *v, size_t i) {
    size_t n = v->o->count;
    const double *d = v->o->want;
    const int64_t *w = v->o->want;
    switch (v->a->type) {
#define X(id, type, name)                                                         \
    case id:                                                                      \
        if (is_float(id))                                                         \
            while (i < n && (double)((const type *)v->o->after)[i] == d[i]) i++;  \
        else                                                                      \
            while (i < n && (int64_t)((const type *)v->o->after)[i] == w[i]) i++; \
        break;
        EX_C_TYPES(X)
#undef X
    case EX_F16: break;
    }
    return i;
}

static bool compare_output(const struct view *v, struct buf *message) {
    size_t wrong = 0, first[SHOWN];
    for (size_t i = next_inexact(v, 0); i < v->o->count; i = next_inexact(v, i + 1))
        if (!right(v, i)) {
            if (wrong < SHOWN) first[wrong] = i;
            wrong++;
        }
    if (!wrong) return true;
    if (v->o->put) problem_put_bits(v->p, v->arg, v->o->before);
    if (message->size) buf_puts(message, "\n");
    buf_printf(message, "%zu of %zu elements of `%s` are wrong%s", wrong, v->o->count, v->a->name,
               wrong > SHOWN ? "; the first ones:" : ":");
    for (size_t i = 0; i < wrong && i < SHOWN; i++) print_wrong(v, first[i], message);
    return false;
}

static bool compare_input(const struct view *v, struct buf *message) {
    if (!v->o->bytes || !memcmp(v->o->before, v->o->after, v->o->bytes)) return true;
    size_t i = 0;
    while (
        !memcmp(element(v->o->before, v, i), element(v->o->after, v, i), ex_type_bytes(v->a->type)))
        i++;
    if (message->size) buf_puts(message, "\n");
    buf_printf(message, "`%s` is an input and was changed: ", v->a->name);
    print_index(v, i, message);
    buf_puts(message, " was ");
    print_value(v->a->type, element(v->o->before, v, i), message);
    buf_puts(message, ", is ");
    print_value(v->a->type, element(v->o->after, v, i), message);
    return false;
}

bool problem_compare(const struct problem *p, struct buf *message) {
    bool same = true;
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        struct view v = {.p = p, .arg = i, .a = &p->ex->args[i], .o = &p->op[i]};
        for (unsigned k = 0; k < p->ex->nargs; k++) v.host[k] = p->op[k].before;
        if (v.a->role == EX_OUT || v.a->role == EX_INOUT)
            same = compare_output(&v, message) && same;
        if (v.a->role == EX_IN && !v.o->written) same = compare_input(&v, message) && same;
    }
    return same;
}
