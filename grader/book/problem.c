/* problem.c — see problem.h; compare.c compares, draw.c draws sizes. */
#include "grader/book/problem.h"
#include "common/hash.h"

#include <string.h>

static const size_t type_bytes[] = {
#define X(id, type, name) [id] = sizeof(type),
    EX_TYPES(X)
#undef X
};

size_t ex_type_bytes(enum ex_type t) { return type_bytes[t]; }

/* ---- random numbers ---- */

void problem_rng_init(struct ex_rng *r, const char *seed, const char *purpose, unsigned index,
                      unsigned part) {
    struct hash h;
    char hex[HASH_HEX_SIZE];
    r->case_key = r->round = 0;
    hash_init(&h);
    hash_update_string(&h, seed);
    hash_update_string(&h, purpose);
    hash_update(&h, &index, sizeof index);
    hash_update(&h, &part, sizeof part);
    hash_final_hex(&h, hex);
    for (int i = 0; i < 4; i++) {
        r->s[i] = 0;
        for (int j = 0; j < 16; j++)
            r->s[i] =
                r->s[i] << 4 | (uint64_t)(hex[i * 16 + j] <= '9' ? hex[i * 16 + j] - '0'
                                                                 : hex[i * 16 + j] - 'a' + 10);
    }
}

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

/* xoshiro256** by Blackman and Vigna (public domain). */
uint64_t ex_random(struct ex_rng *r) {
    uint64_t *s = r->s, value = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= t, s[3] = rotate(s[3], 45);
    return value;
}

double ex_uniform(struct ex_rng *r, double low, double high) {
    return low + (high - low) * ((double)(ex_random(r) >> 11) * 0x1p-53);
}

/* The bias of multiplying instead of rejecting is below 2^-60 for the ranges that exercises use. */
long ex_uniform_int(struct ex_rng *r, long low, long high) {
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t offset =
        span ? (uint64_t)(((unsigned __int128)ex_random(r) * span) >> 64) : ex_random(r);
    return (long)((uint64_t)low + offset);
}

long ex_stratum(const struct ex_rng *r, long n, unsigned purpose) {
    uint64_t start = r->case_key >> 16 * purpose & 0xffff;
    return (long)((start + r->round) % (uint64_t)n);
}

/* ---- sizes ---- */

static bool resolve_alias(struct problem *p, unsigned i, int owner, struct err *e) {
    const struct ex_arg *a = &p->ex->args[i];
    struct argument *o = &p->arg[i];
    if (owner < 0 || owner >= (int)p->ex->nargs || owner == (int)i ||
        p->ex->args[owner].role == EX_SCALAR ||
        (p->ex->args[owner].alias && p->ex->args[owner].alias(p->c)))
        return err_set(e, ERR_INTERNAL, "argument `%s` aliases no argument with a buffer", a->name);
    if (a->is_pinned_host || p->ex->args[owner].is_pinned_host)
        return err_set(e, ERR_INTERNAL, "argument `%s`: buffers in host memory can't be aliased",
                       a->name);
    o->owner = owner;
    o->offset =
        (a->alias_offset ? a->alias_offset(p->c) : 0) * ex_type_bytes(p->ex->args[owner].type);
    if (o->offset > p->arg[owner].bytes || o->bytes > p->arg[owner].bytes - o->offset)
        return err_set(e, ERR_INTERNAL, "argument `%s` reaches past the buffer that it aliases",
                       a->name);
    return true;
}

static void size_operand(struct problem *p, unsigned i) {
    const struct ex_arg *a = &p->ex->args[i];
    struct argument *o = &p->arg[i];
    o->owner = (int)i;
    o->count = a->role == EX_SCALAR ? 1 : a->count(p->c);
    o->bytes = o->count * ex_type_bytes(a->type);
}

static void alloc_operand(struct problem *p, unsigned i) {
    struct argument *o = &p->arg[i];
    bool output = p->ex->args[i].role == EX_OUT || p->ex->args[i].role == EX_INOUT;
    if (o->owner == (int)i)
        o->initial = arena_alloc(&p->arena, o->bytes + 8),
        o->actual = o->actual_storage = arena_alloc(&p->arena, o->bytes + 8);
    if (output) o->expected = arena_alloc(&p->arena, o->count * 8 + 8);
}

bool problem_open(struct problem *p, const struct exercise *ex, const struct ex_case *c,
                  struct err *e) {
    *p = (struct problem){.ex = ex, .c = c};
    for (unsigned i = 0; i < ex->nargs; i++) {
        if (ex->args[i].role == EX_SCALAR && ex->args[i].type == EX_F16)
            return err_set(e, ERR_INTERNAL, "argument `%s` is a half by value: pass a float",
                           ex->args[i].name);
        size_operand(p, i);
    }
    for (unsigned i = 0; i < ex->nargs; i++) {
        int alias = ex->args[i].alias ? ex->args[i].alias(c) : 0;
        if (alias && !resolve_alias(p, i, alias - 1, e)) return false;
    }
    for (unsigned i = 0; i < ex->nargs; i++) {
        alloc_operand(p, i);
        if (ex->args[i].role == EX_OUT || ex->args[i].role == EX_INOUT)
            p->arg[p->arg[i].owner].is_writable = true;
    }
    problem_resolve_aliases(p);
    return true;
}

void problem_resolve_aliases(struct problem *p) {
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        struct argument *o = &p->arg[i], *owner = &p->arg[o->owner];
        if (o == owner) continue;
        o->initial = (char *)owner->initial + o->offset,
        o->actual = (char *)owner->actual + o->offset;
        o->is_writable = owner->is_writable;
    }
}

bool problem_owns_buffer(const struct problem *p, unsigned arg) {
    return p->ex->args[arg].role != EX_SCALAR && p->arg[arg].owner == (int)arg;
}

void problem_close(struct problem *p) { arena_free(&p->arena); }

/* ---- values ---- */

static void store_scalar(enum ex_type t, void *to, double v) {
    switch (t) {
#define X(id, type, name)         \
    case id: {                    \
        type x = (type)v;         \
        memcpy(to, &x, sizeof x); \
        break;                    \
    }
        EX_C_TYPES(X)
#undef X
    case EX_F16: break; /* refused by problem_open */
    }
}

void problem_draw_scalars(struct problem *p, struct ex_rng *r) {
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        const struct ex_arg *a = &p->ex->args[i];
        if (a->role != EX_SCALAR) continue;
        double v = a->value ? a->value(p->c, r) : (double)p->c->dim[a->dim];
        store_scalar(a->type, p->arg[i].initial, v);
    }
}

/* Fills with a loop for each type, because the timed sizes have tens of millions of elements. */
static void fill_default(enum ex_type t, struct ex_rng *r, void *data, size_t n) {
    bool is_float = t == EX_F32 || t == EX_F64,
         is_unsigned = t == EX_U8 || t == EX_U32 || t == EX_U64;
    switch (t) {
#define X(id, type, name)                                                                        \
    case id:                                                                                     \
        for (size_t i = 0; i < n; i++)                                                           \
            ((type *)data)[i] = is_float ? (type)ex_uniform(r, -1, 1)                            \
                                         : (type)ex_uniform_int(r, is_unsigned ? 0 : -100, 100); \
        break;
        EX_C_TYPES(X)
#undef X
    case EX_F16:
        for (size_t i = 0; i < n; i++)
            ((ex_half *)data)[i] = ex_half_from_double(ex_uniform(r, -1, 1));
        break;
    }
}

void problem_fill_random_bits(struct ex_rng *r, void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t bits = ex_random(r);
        memcpy((char *)data + i, &bits, bytes - i < 8 ? bytes - i : 8);
    }
}

static bool has_no_alias(const struct problem *p, unsigned arg) {
    for (unsigned k = 0; k < p->ex->nargs; k++)
        if (k != arg && p->arg[k].owner == (int)arg) return false;
    return p->arg[arg].owner == (int)arg;
}

/* Draws the same count of numbers whether or not the bits are written now, so that later draws are
 * the same. */
static void draw_output_bits(struct problem *p, unsigned arg, struct ex_rng *r) {
    struct argument *o = &p->arg[arg];
    o->output_rng = *r, o->are_random_bits_deferred = has_no_alias(p, arg);
    if (!o->are_random_bits_deferred) problem_fill_random_bits(r, o->initial, o->bytes);
    for (size_t i = 0; o->are_random_bits_deferred && i < o->bytes; i += 8) ex_random(r);
}

void problem_write_random_bits(const struct problem *p, unsigned arg, void *to) {
    struct ex_rng r = p->arg[arg].output_rng;
    problem_fill_random_bits(&r, to, p->arg[arg].bytes);
}

static void draw_operand(struct problem *p, unsigned i, struct ex_rng *r, bool outputs) {
    const struct ex_arg *a = &p->ex->args[i];
    struct argument *o = &p->arg[i];
    bool owns_buffer = o->owner == (int)i, input = a->role == EX_IN || a->role == EX_INOUT;
    if (a->role == EX_SCALAR) return;
    /* The owner fills its aliases, unless it is an output, which has no data. */
    if (!owns_buffer && (!input || p->ex->args[o->owner].role != EX_OUT)) return;
    if (!input && !outputs) return;
    if (!input) draw_output_bits(p, i, r);
    else if (a->fill) a->fill(p->c, r, o->initial, o->count);
    else fill_default(a->type, r, o->initial, o->count);
}

void problem_draw_buffers(struct problem *p, struct ex_rng *r, bool outputs) {
    /* Owners first: an alias may overwrite a part of its owner. */
    for (int alias = 0; alias < 2; alias++)
        for (unsigned i = 0; i < p->ex->nargs; i++)
            if ((p->arg[i].owner != (int)i) == alias) draw_operand(p, i, r, outputs);
}

void problem_release_initial(struct problem *p) {
    for (unsigned i = 0; i < p->ex->nargs; i++)
        if (problem_owns_buffer(p, i))
            arena_release_pages(&p->arena, p->arg[i].initial, p->arg[i].bytes);
}

/* ---- expected values ---- */

static void copy_widened(enum ex_type t, const void *from, void *to, size_t n) {
    bool is_float = t == EX_F32 || t == EX_F64;
    double *d = to;
    int64_t *w = to;
    switch (t) {
#define X(id, type, name)                                         \
    case id:                                                      \
        for (size_t i = 0; i < n; i++) {                          \
            if (is_float) d[i] = (double)((const type *)from)[i]; \
            else w[i] = (int64_t)((const type *)from)[i];         \
        }                                                         \
        break;
        EX_C_TYPES(X)
#undef X
    case EX_F16:
        for (size_t i = 0; i < n; i++) d[i] = ex_half_to_double(((const ex_half *)from)[i]);
        break;
    }
}

/* Widens the initial content piece by piece, and gives each piece back. */
static void move_widened(const struct problem *p, unsigned arg) {
    const size_t piece = 1 << 18; /* elements */
    enum ex_type type = p->ex->args[arg].type;
    size_t count = p->arg[arg].count, width = ex_type_bytes(type);
    char *from = p->arg[arg].initial, *to = p->arg[arg].expected;
    for (size_t done = 0, n; done < count; done += n) {
        n = count - done < piece ? count - done : piece;
        copy_widened(type, from + done * width, to + done * 8, n);
        arena_release_pages(&p->arena, from + done * width, n * width);
    }
}

static bool is_initial_in_expected(const struct problem *p, unsigned arg) {
    return p->ex->args[arg].is_initial_in_expected && has_no_alias(p, arg);
}

void problem_host_pointers(const struct problem *p, void *host[EX_ARGS]) {
    for (unsigned i = 0; i < p->ex->nargs; i++)
        host[i] = is_initial_in_expected(p, i) ? NULL : p->arg[i].initial;
}

void problem_compute_expected(struct problem *p) {
    void *host[EX_ARGS] = {0}, *expected[EX_ARGS] = {0};
    problem_host_pointers(p, host);
    for (unsigned i = 0; i < p->ex->nargs; i++) {
        struct argument *o = &p->arg[i];
        expected[i] = o->expected;
        if (!o->expected) continue;
        if (!host[i]) move_widened(p, i);
        else if (p->ex->args[i].role == EX_INOUT)
            copy_widened(p->ex->args[i].type, o->initial, o->expected, o->count);
        else if (o->has_expected)
            memset(o->expected, 0, o->count * 8); /* else it is new, and zero */
        o->has_expected = true;
    }
    p->ex->reference(p->c, host, expected);
}

/* Returns the name of the scalar argument for a dimension, or NULL. */
static const char *dim_name(const struct exercise *ex, unsigned dim) {
    for (unsigned i = 0; i < ex->nargs; i++)
        if (ex->args[i].role == EX_SCALAR && !ex->args[i].value && ex->args[i].dim == (int)dim)
            return ex->args[i].name;
    return NULL;
}

static unsigned used_dim_count(const struct exercise *ex) {
    unsigned dims = 0;
    for (unsigned i = 0; i < EX_DIMS; i++)
        for (unsigned k = 0; k < ex->ncases; k++)
            if (ex->cases[k].dim[i] || ex->timed_case.dim[i]) dims = i + 1;
    return dims;
}

void problem_append_size(const struct exercise *ex, const struct ex_case *c, struct buf *out) {
    for (unsigned i = 0; i < used_dim_count(ex); i++)
        buf_printf(out, "%s%ld", i ? " x " : "", c->dim[i]);
}

void problem_append_case_name(const struct exercise *ex, const struct ex_case *c, struct buf *out) {
    unsigned dims = used_dim_count(ex);
    bool all_named = true;
    for (unsigned i = 0; i < dims; i++) all_named = all_named && dim_name(ex, i);
    for (unsigned i = 0; i < dims && all_named; i++)
        buf_printf(out, "%s%s %ld", i ? ", " : "", dim_name(ex, i), c->dim[i]);
    if (!all_named) problem_append_size(ex, c, out);
    if (c->label) buf_printf(out, "%s%s", dims ? ": " : "", c->label);
}
