/* compare.c — compares outputs with the expected values and inputs with their initial values, and
 * writes a message about each difference. problem.h has the interface. */
#include "grader/book/problem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_SHOWN = 5 }; /* wrong elements listed */

static bool is_float(enum ex_type t) { return t == EX_F16 || t == EX_F32 || t == EX_F64; }

static double load_float(enum ex_type t, const void *p) {
    ex_half h;
    float f;
    double d;
    if (t == EX_F16) return memcpy(&h, p, sizeof h), ex_half_to_double(h);
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

static bool within_tolerance(double actual, double expected, double max_error) {
    if (isnan(expected)) return isnan(actual);
    if (actual == expected) return true; /* infinities, and exact results under any tolerance */
    return fabs(actual - expected) <= max_error;
}

struct compare_ctx {
    const struct problem *p;
    unsigned arg;
    const struct ex_arg *a;
    const struct argument *o;
    void *host[EX_ARGS];
};

static const char *element_at(const void *data, const struct compare_ctx *v, size_t i) {
    return (const char *)data + i * ex_type_bytes(v->a->type);
}

static double tolerance_at(const struct compare_ctx *v, size_t i, double expected) {
    const struct exercise *ex = v->p->ex;
    return ex->tolerance ? ex->tolerance(v->p->c, v->host, (int)v->arg, i, expected) : 0;
}

static bool is_correct(const struct compare_ctx *v, size_t i) {
    const void *actual = element_at(v->o->actual, v, i);
    if (!is_float(v->a->type)) {
        int64_t expected = ((const int64_t *)v->o->expected)[i],
                actual_value = load_integer(v->a->type, actual);
        if (actual_value == expected) return true;
        return v->p->ex->tolerance && fabs((double)actual_value - (double)expected) <=
                                          tolerance_at(v, i, (double)expected);
    }
    double expected = ((const double *)v->o->expected)[i];
    return within_tolerance(load_float(v->a->type, actual), expected, tolerance_at(v, i, expected));
}

/* ---- messages ---- */

static void print_index(const struct compare_ctx *v, size_t index, struct buf *out) {
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

/* Drops the sign of a NaN, which is meaningless: 0.0 / 0 has one on x86-64 but not on aarch64. */
static void print_float(enum ex_type t, double v, struct buf *out) {
    buf_printf(out, t == EX_F16 ? "%.5g" : t == EX_F32 ? "%.9g" : "%.17g", isnan(v) ? fabs(v) : v);
}

/* Unsigned words of 64 bits are packed fields, such as a key and its payload: in hexadecimal, with
 * leading zeros, a reader sees them. */
static void print_integer(enum ex_type t, int64_t v, struct buf *out) {
    if (t == EX_U64) buf_printf(out, "0x%016" PRIx64, (uint64_t)v);
    else buf_printf(out, "%" PRId64, v);
}

static void print_value(enum ex_type t, const void *data, struct buf *out) {
    if (is_float(t)) print_float(t, load_float(t, data), out);
    else print_integer(t, load_integer(t, data), out);
}

static void print_mismatch(const struct compare_ctx *v, size_t i, struct buf *out) {
    struct buf index_text = {0}, actual = {0}, expected = {0};
    bool unwritten =
        v->a->role == EX_OUT && !memcmp(element_at(v->o->actual, v, i),
                                        element_at(v->o->initial, v, i), ex_type_bytes(v->a->type));
    print_index(v, i, &index_text);
    if (unwritten) buf_puts(&actual, "nothing was written");
    else print_value(v->a->type, element_at(v->o->actual, v, i), &actual);
    double expected_value = is_float(v->a->type) ? ((const double *)v->o->expected)[i]
                                                 : (double)((const int64_t *)v->o->expected)[i];
    if (is_float(v->a->type)) print_float(v->a->type, expected_value, &expected);
    else print_integer(v->a->type, ((const int64_t *)v->o->expected)[i], &expected);
    buf_printf(out, "\n  %-14s got %-16s expected %-16s", buf_str(&index_text), buf_str(&actual),
               buf_str(&expected));
    if (v->p->ex->tolerance) buf_printf(out, " ±%.3g", tolerance_at(v, i, expected_value));
    else
        while (out->data[out->size - 1] == ' ') out->data[--out->size] = 0;
    buf_free(&index_text), buf_free(&actual), buf_free(&expected);
}

/* Returns the first element from `i` on that differs from the expected value. A fast loop for each
 * type skips exact elements, which most are; of halves, none. */
static size_t next_inexact(const struct compare_ctx *v, size_t i) {
    size_t n = v->o->count;
    const double *d = v->o->expected;
    const int64_t *w = v->o->expected;
    switch (v->a->type) {
#define X(id, type, name)                                                          \
    case id:                                                                       \
        if (is_float(id))                                                          \
            while (i < n && (double)((const type *)v->o->actual)[i] == d[i]) i++;  \
        else                                                                       \
            while (i < n && (int64_t)((const type *)v->o->actual)[i] == w[i]) i++; \
        break;
        EX_C_TYPES(X)
#undef X
    case EX_F16: break;
    }
    return i;
}

static bool compare_output(const struct compare_ctx *v, struct buf *message) {
    size_t wrong = 0, first[MAX_SHOWN];
    for (size_t i = next_inexact(v, 0); i < v->o->count; i = next_inexact(v, i + 1))
        if (!is_correct(v, i)) {
            if (wrong < MAX_SHOWN) first[wrong] = i;
            wrong++;
        }
    if (!wrong) return true;
    if (v->o->are_random_bits_deferred) problem_write_random_bits(v->p, v->arg, v->o->initial);
    if (message->size) buf_puts(message, "\n");
    buf_printf(message, "%zu of %zu elements of `%s` are wrong%s", wrong, v->o->count, v->a->name,
               wrong > MAX_SHOWN ? "; the first ones:" : ":");
    for (size_t i = 0; i < wrong && i < MAX_SHOWN; i++) print_mismatch(v, first[i], message);
    return false;
}

static bool compare_input(const struct compare_ctx *v, struct buf *message) {
    if (!v->o->bytes || !memcmp(v->o->initial, v->o->actual, v->o->bytes)) return true;
    size_t i = 0;
    while (!memcmp(element_at(v->o->initial, v, i), element_at(v->o->actual, v, i),
                   ex_type_bytes(v->a->type)))
        i++;
    if (message->size) buf_puts(message, "\n");
    buf_printf(message, "`%s` is an input and was changed: ", v->a->name);
    print_index(v, i, message);
    buf_puts(message, " was ");
    print_value(v->a->type, element_at(v->o->initial, v, i), message);
    buf_puts(message, ", is ");
    print_value(v->a->type, element_at(v->o->actual, v, i), message);
    return false;
}

bool problem_compare(const struct problem *p, struct buf *message) {
    bool same = true;
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        struct compare_ctx v = {.p = p, .arg = i, .a = &p->ex->args[i], .o = &p->arg[i]};
        problem_host_pointers(p, v.host);
        if (v.a->role == EX_OUT || v.a->role == EX_INOUT)
            same = compare_output(&v, message) && same;
        if (v.a->role == EX_IN && !v.o->is_writable) same = compare_input(&v, message) && same;
    }
    return same;
}
