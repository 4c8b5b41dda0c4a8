/* fit_tables.c — finds the unit's tables again, from results that measure.cu took from a GPU.
 *
 *     build/tests/fit_tables DIR >mufu_tables.def
 *
 * exec_mufu.h has the form of the arithmetic: a sum a·2^shift + b·x + c·q(x) + bias of integers,
 * of which results show the upper bits. So each result bounds the sum from below and above, and a
 * segment's coefficients must meet the bounds of all its 2^16 or 2^17 points. Where the form is
 * right there is one solution; where it is wrong, a wrong bias included, there is none.
 *
 * For each segment a least-squares fit gives a first guess. b and c are tried around it; what a may
 * then be is an interval. Standard error says how many segments have one solution, and none; the
 * program fails where one has none. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t s64;
typedef uint32_t u32;

enum { MAX_POINTS = 1 << 17, MAX_ROWS = 128, BINADE = 1 << 23, SEARCH_RADIUS = 6 };

/* Points of a segment: a sum that includes b·x + c·q lies in [least, most]. */
struct points {
    s64 n, x[MAX_POINTS], q[MAX_POINTS], lower[MAX_POINTS], upper[MAX_POINTS];
};
struct row {
    s64 a, b, c;
};

static const char *folder;
static bool failed;

static _Noreturn void fail(const char *message, const char *subject) {
    fprintf(stderr, "%s: %s\n", subject, message);
    exit(1);
}

/* Results for the 2^23 operands from `base` on. */
static const u32 *load_results(const char *form, u32 base) {
    static u32 values[BINADE];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%08x.%d.u32", folder, form, base, BINADE);
    FILE *f = fopen(path, "rb");
    if (!f || fread(values, 4, BINADE, f) != BINADE) fail("not to be read", path);
    fclose(f);
    return values;
}

/* The truncated squarer: half of the partial products' bits from 2^18 up. */
static s64 square(s64 x) {
    s64 total = 0;
    for (int bit = 0; bit < 17; bit++) total += x >> bit & 1 ? x >> (18 - bit) : 0;
    return total >> 1;
}

/* ---- one segment ---- */

/* Solves m · v = r by elimination; the matrix is symmetric and positive. */
static void eliminate(long double m[3][4], long double v[3]) {
    for (int k = 0; k < 3; k++)
        for (int i = k + 1; i < 3; i++) {
            long double f = m[i][k] / m[k][k];
            for (int j = k; j < 4; j++) m[i][j] -= f * m[k][j];
        }
    for (int k = 2; k >= 0; k--) {
        v[k] = m[k][3];
        for (int j = k + 1; j < 3; j++) v[k] -= m[k][j] * v[j];
        v[k] /= m[k][k];
    }
}

static s64 round_to_nearest(long double v) { return (s64)(v < 0 ? v - 0.5L : v + 0.5L); }

/* b and c of the parabola nearest to the middles of the bounds. */
static void fit_least_squares(const struct points *p, s64 *b, s64 *c) {
    long double m[3][4] = {{0}}, v[3];
    for (s64 i = 0; i < p->n; i += 7) {
        long double u[4] = {1, (long double)p->x[i] / MAX_POINTS,
                            (long double)p->q[i] / (MAX_POINTS / 4),
                            (p->lower[i] + p->upper[i]) / 2.0L};
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) m[j][k] += u[j] * u[k];
    }
    eliminate(m, v);
    *b = round_to_nearest(v[1] / MAX_POINTS);
    *c = round_to_nearest(v[2] / (MAX_POINTS / 4));
}

/* What a may be with these b and c: whether there is any such a, and from where to where. A few
 * points refute most. */
static bool find_interval(const struct points *p, int shift, s64 b, s64 c, s64 *from, s64 *to) {
    s64 low = INT64_MIN / 2, high = INT64_MAX / 2;
    for (s64 step = p->n / 512 > 1 ? p->n / 512 : 1;; step = 1) {
        for (s64 i = 0; i < p->n && low <= high; i += step) {
            s64 v = b * p->x[i] + c * p->q[i];
            if (p->lower[i] - v > low) low = p->lower[i] - v;
            if (p->upper[i] - v < high) high = p->upper[i] - v;
        }
        *from = (low + ((s64)1 << shift) - 1) >> shift, *to = high >> shift;
        if (low > high || *from > *to) return false;
        if (step == 1) return true;
    }
}

/* Returns how many solutions there are, and the first. */
static s64 solve(const struct points *p, int shift, s64 radius, struct row *row) {
    s64 b0, c0, from, to, nsolutions = 0;
    fit_least_squares(p, &b0, &c0);
    for (s64 c = c0 - radius; c <= c0 + radius; c++)
        for (s64 b = b0 - radius; b <= b0 + radius; b++) {
            if (!find_interval(p, shift, b, c, &from, &to)) continue;
            if (!nsolutions) *row = (struct row){from, b, c};
            nsolutions += to - from + 1;
        }
    return nsolutions;
}

/* ---- one function ---- */

struct table {
    const char *name;
    int n, unique, unsolved;
    struct row rows[MAX_ROWS];
};

static void add_segment(struct table *t, const struct points *p, int shift, s64 radius) {
    s64 nsolutions = solve(p, shift, radius, &t->rows[t->n]);
    t->unique += nsolutions == 1, t->unsolved += nsolutions == 0, t->n++;
}

/* How a function's sum is made of the table's row, and its result of the sum. */
struct fixed_point_format {
    int segment_bits; /* of a segment's points: 2^16 or 2^17 */
    int shift, scale; /* of a; of q */
    s64 bias;
    int dropped_bits; /* lower bits of the sum that are never seen */
    bool skips_first; /* the first operand's result does not come from the table */
    int stride; /* of operands: where a binade has fewer segments than 64, operands' lowest bits
                   count for nothing */
};

/* Rounded at a fixed place: floats of the binade that begins at 2^exponent, or the first of the
 * next, are multiples of 2^(exponent - 23), and the sum without its dropped bits. */
static void bounds_rounded(const struct fixed_point_format *s, u32 value, int exponent, s64 *lower,
                           s64 *upper) {
    s64 e = (s64)(value >> 23) - 127 - exponent, f = (value & 0x7fffff) | 0x800000;
    if (e < 0 || e > 1 || (e == 1 && f != 0x800000)) fail("not in its binade", "a result");
    *lower = (f << e) << s->dropped_bits;
    *upper = ((f << e) + 1) * ((s64)1 << s->dropped_bits) - 1;
}

/* Truncated from a number with so many digits after the point. */
static void bounds_truncated(const struct fixed_point_format *s, u32 value, int digits, s64 *lower,
                             s64 *upper) {
    s64 shift = value ? (s64)(value >> 23) - 150 + digits : 0,
        f = value ? (value & 0x7fffff) | 0x800000 : 0;
    if (shift < 0 && f & (((s64)1 << -shift) - 1))
        fail("finer than the fixed-point number", "a result");
    s64 v = shift < 0 ? f >> -shift : f << shift, ulp = shift < 0 ? 1 : (s64)1 << shift;
    *lower = v << s->dropped_bits;
    *upper = ((v + ulp) << s->dropped_bits) - 1;
}

typedef void bounds_fn(const struct fixed_point_format *, u32 value, int point, s64 *lower,
                       s64 *upper);

/* The segments of one binade of operands. */
static void add_binade(struct table *t, const char *form, u32 base,
                       const struct fixed_point_format *s, bounds_fn *bounds, int point,
                       s64 radius) {
    static struct points p;
    const u32 *values = load_results(form, base);
    s64 size = (s64)1 << s->segment_bits, total = BINADE / s->stride;
    for (s64 start = 0; start < total; start += size) {
        p.n = 0;
        for (s64 x = s->skips_first && start == 0; x < size; x++, p.n++) {
            bounds(s, values[(start + x) * s->stride] & 0x7fffffffu, point, &p.lower[p.n],
                   &p.upper[p.n]);
            p.lower[p.n] -= s->bias, p.upper[p.n] -= s->bias;
            p.x[p.n] = x, p.q[p.n] = square(s->segment_bits == 16 ? 2 * x : x) * s->scale;
        }
        add_segment(t, &p, s->shift, radius);
    }
}

/* ---- the tables' file ---- */

static void print_words(const char *name, const char *suffix, const u32 *words, int n) {
    printf("MUFU_TABLE(%s%s,\n", name, suffix);
    for (int k = 0; k < n; k++)
        printf("%s0x%08x%s", k % 8 ? " " : "    ", words[k],
               k + 1 == n   ? ")\n"
               : k % 8 == 7 ? ",\n"
                            : ",");
}

/* Signs belong to the function: within a table they are all the same. `above` is added above the
 * values of a. */
static void print_table(const struct table *t, const u32 *high_bits) {
    u32 a[MAX_ROWS], bc[MAX_ROWS];
    s64 b_sign = 0, c_sign = 0;
    for (int k = 0; k < t->n; k++) {
        const struct row *r = &t->rows[k];
        if (b_sign * r->b < 0 || c_sign * r->c < 0) fail("signs differ", t->name);
        if (r->b) b_sign = r->b;
        if (r->c) c_sign = r->c;
        s64 b = r->b < 0 ? -r->b : r->b, c = r->c < 0 ? -r->c : r->c;
        if (r->a < 0 || r->a >= 1 << 26 || b >= 1 << 16 || c >= 1 << 15)
            fail("a coefficient is too large", t->name);
        a[k] = (u32)r->a | (high_bits ? high_bits[k] << 26 : 0), bc[k] = (u32)(c << 16 | b);
    }
    print_words(t->name, "_a", a, t->n);
    print_words(t->name, "_bc", bc, t->n);
}

static void report(const struct table *t) {
    fprintf(stderr, "%s: %d segments, %d with one solution, %d with none\n", t->name, t->n,
            t->unique, t->unsolved);
    failed |= t->unsolved > 0;
}

static u32 operand(int exponent) { return (u32)(exponent + 127) << 23; }

/* Two binades of roots, one of others. 1/√1 and lg2 1 are exact, and past the table. */
static void simple_tables(void) {
    static const struct {
        const char *name, *form;
        int exponent;
        struct fixed_point_format shape;
        bounds_fn *bounds;
        int point;
        bool continues; /* of the same table */
    } specs[] = {
        {"rcp", "rcp_ftz", 0, {16, 13, 1, 0x47e7, 15, false, 1}, bounds_rounded, -1, false},
        {"rsqrt", "rsqrt_ftz", 0, {17, 14, 4, 0x7fff, 16, true, 1}, bounds_rounded, -1, true},
        {"rsqrt", "rsqrt_ftz", 1, {17, 14, 4, 0x7fff, 16, false, 1}, bounds_rounded, -1, false},
        {"sqrt", "sqrt_ftz", 0, {17, 15, 1, 0x7fff, 17, false, 1}, bounds_rounded, 0, true},
        {"sqrt", "sqrt_ftz", 1, {17, 14, 1, 0x3fff, 16, false, 1}, bounds_rounded, 0, false},
        {"ex2", "ex2_ftz", 0, {17, 13, 1, 0x77e2, 15, false, 1}, bounds_rounded, 1, false},
        {"lg2", "lg2_ftz", 0, {17, 12, 2, 0x3345, 2, true, 1}, bounds_truncated, 36, false},
        /* The cosine between 1/4 and 1/2 of a turn is minus the sine of the turn's first quarter.
         */
        {"sin", "raw_cos", -2, {17, 11, 1, 0, 0, false, 1}, bounds_truncated, 37, false},
    };
    static struct table t;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        t.name = specs[k].name;
        add_binade(&t, specs[k].form, operand(specs[k].exponent), &specs[k].shape, specs[k].bounds,
                   specs[k].point, SEARCH_RADIUS);
        if (specs[k].continues) continue;
        report(&t);
        print_table(&t, NULL);
        t = (struct table){0};
    }
}

/* Each binade of tanh has its own count of segments and place of the point. The lowest is so flat
 * that the guess of c is poor. */
static void tanh_table(void) {
    static const struct {
        int exponent, bits, digits;
    } binades[] = {{-8, 0, 38}, {-7, 0, 38}, {-6, 0, 37}, {-5, 1, 38}, {-4, 1, 37}, {-3, 2, 37},
                   {-2, 2, 37}, {-1, 2, 36}, {0, 3, 37},  {1, 4, 39},  {2, 3, 37}};
    enum { N = sizeof binades / sizeof *binades };
    static struct table t = {.name = "tanh"};
    u32 high_bits[MAX_ROWS], first[N];
    for (int k = 0; k < N; k++) {
        struct fixed_point_format shape = {17, 14, 1, 0, 0, false, 1 << (6 - binades[k].bits)};
        first[k] = (u32)binades[k].bits << 16 | (u32)t.n;
        add_binade(&t, "tanh", operand(binades[k].exponent), &shape, bounds_truncated,
                   binades[k].digits, k ? SEARCH_RADIUS : 40);
        for (u32 row = first[k] & 0xffff; row < (u32)t.n; row++)
            high_bits[row] = (u32)binades[k].digits - 36;
    }
    report(&t);
    print_table(&t, high_bits);
    print_words("tanh", "_binade", first, N);
}

int main(int argc, char **argv) {
    if (argc != 2) fail("wants a folder of measure.cu's results", argv[0]);
    folder = argv[1];
    printf("/* mufu_tables.def — the tables of the special-function unit, written by "
           "grader/tests/mufu/fit_tables.c "
           "from what an\n"
           " * H100 gives: not to be edited. MUFU_TABLE(name, numbers…). Of each segment NAME_a "
           "holds the value a, "
           "NAME_bc the\n"
           " * magnitudes of the slope b (low half) and of the curvature c. Above the value, "
           "tanh_a holds the place of "
           "the point,\n"
           " * less 36. tanh_binade holds, of each binade from 2^-8 on, its first segment, and "
           "above it log2 of how "
           "many. */\n");
    simple_tables();
    tanh_table();
    return failed;
}
