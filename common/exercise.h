/* exercise.h — the interface between a chapter's NAME_test.c and the grader: how it describes an
 * exercise, and what its Check tests ask of the grader. Adding an exercise is adding files; nothing
 * else is edited.
 *
 * A test file defines static tables (arguments, cases), a reference, a Check suite in two groups,
 * and ends with
 *
 *   EXERCISE(transpose, .chapter = "02-coalescing", .title = "...", ...);
 *
 * The grader records the commands that the student's entry issues for each case, then replays them
 * with fresh inputs: tests never call the student's code themselves. */
#pragma once
#include "common/half.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EX_DIMS = 4, EX_ARGS = 16, EX_VARIANTS = 12 };

/* One problem: its dimensions, and a variant that the fill and count functions may look at (0 =
 * plain). */
struct ex_case {
    long dim[EX_DIMS];
    int variant;
    const char *label; /* what this case is for: "one past a warp", "all negative"; may be NULL */
};

/* X(id, C type, spelling). Those of C first; a half is bits to C, and there are buffers of them,
 * but no scalars. */
/* clang-format off */
#define EX_C_TYPES(X)                                                                               \
    X(EX_I8, int8_t, "signed char") X(EX_U8, uint8_t, "unsigned char")                              \
    X(EX_I32, int32_t, "int") X(EX_U32, uint32_t, "unsigned") X(EX_I64, int64_t, "long long")       \
    X(EX_U64, uint64_t, "unsigned long long") X(EX_F32, float, "float") X(EX_F64, double, "double")
#define EX_TYPES(X) EX_C_TYPES(X) X(EX_F16, ex_half, "__half")
/* clang-format on */

enum ex_type {
#define X(id, type, name) id,
    EX_TYPES(X)
#undef X
};

enum ex_role {
    EX_IN,     /* buffer, must be unchanged afterwards */
    EX_OUT,    /* buffer, poisoned before the call */
    EX_INOUT,  /* buffer, filled before the call, compared afterwards */
    EX_SCALAR, /* passed by value */
};

struct ex_rng; /* random numbers from the grader's seed, which the student cannot know */
uint64_t ex_random(struct ex_rng *r);
double ex_uniform(struct ex_rng *r, double low, double high);
long ex_uniform_int(struct ex_rng *r, long low, long high); /* both included */

typedef size_t ex_count_fn(const struct ex_case *c);
typedef double ex_value_fn(const struct ex_case *c, struct ex_rng *r);
typedef void ex_fill_fn(const struct ex_case *c, struct ex_rng *r, void *data, size_t count);

struct ex_arg {
    const char *name; /* as in the entry's signature; reports use it */
    enum ex_role role;
    enum ex_type type;
    ex_count_fn *count; /* buffers: elements */
    ex_fill_fn *fill;   /* inputs; NULL = uniform: [-1, 1) for floats, [-100, 100] for integers */
    ex_value_fn *value; /* scalars; NULL = dim[.dim] */
    int dim;            /* scalars without a value function: which dimension */
    /* Buffers: it lies in pinned memory of the host. The entry gets its address, may not look
     * there, and moves data by copies (cudaMemcpyAsync); kernels must not use it. Such a buffer is
     * no alias, and has none. */
    bool is_pinned_host;
    /* A buffer that is another one: this argument points `alias_offset(c)` elements into argument
     * `alias` - 1 (0 = a buffer of its own). Decided per case, so that only some cases alias. */
    int (*alias)(const struct ex_case *c);
    ex_count_fn *alias_offset;
    /* Buffers: the dimensions that the elements are laid out by, outermost first, each number plus
     * 1 (0 ends the list): {1, 3} makes reports say [i][j] for a buffer of dim[0] rows of dim[2].
     * None: a flat index. */
    int shape[EX_DIMS];
};

/* `host[i]` is argument i as it was before the call (buffers: `count` elements of their type;
 * scalars: one). The reference fills `want[i]` for each EX_OUT and EX_INOUT argument: double for
 * halves, float and double, int64_t for integers, `count` elements. want[i] of an EX_INOUT starts
 * as a copy of the input. */
typedef void ex_reference_fn(const struct ex_case *c, void *const host[], void *const expected[]);
/* The error allowed at one element, absolute; derived in the test file from an error model. NULL =
 * exact. */
typedef double ex_tolerance_fn(const struct ex_case *c, void *const host[], int arg, size_t index,
                               double expected);

/* The numbers that a dimension may have in a drawn case. */
struct ex_span {
    long low, high;   /* both included */
    long step;        /* low, low + step, low + 2 step, …; 0 = 1 */
    int power_of_two; /* only those, of what lies between low and high */
};

/* How further cases are drawn from the grader's secret seed, so that nobody knows at which sizes
 * the file will be checked. All that is drawn has to be legal by the task's text. One case is of
 * any order of magnitude, one is spread evenly, often a multiple of 4 or 32; a size of a listed
 * case is drawn again. */
struct ex_draw {
    struct ex_span dim[EX_DIMS]; /* {0, 0}: the dimension stays 0 */
    long max_product; /* of the dimensions' product: what keeps a case cheap; 0 = no limit */
    /* A name for each variant that may be drawn, as reports show it ("" = none); up to the first
     * NULL, from variant 0 on. */
    const char *variants[EX_VARIANTS];
    void (*adjust)(struct ex_case *c,
                   struct ex_rng *r); /* for what spans can't say; NULL = nothing */
    const char *none;                 /* why nothing can be drawn, where that is so */
};

struct exercise {
    const char *name, *chapter, *title; /* "transpose", "02-coalescing", one line */
    const char *entry;                  /* the extern "C" function; NULL = name */
    const struct ex_arg *args;
    unsigned nargs;
    const struct ex_case *cases; /* checked for correctness */
    unsigned ncases;
    struct ex_draw draw;           /* further cases, checked after those */
    struct ex_case technique_case; /* counters are taken here */
    struct ex_case timed_case;     /* the size one would time on a GPU */
    ex_reference_fn *reference;
    ex_tolerance_fn *tolerance;
    double (*bytes)(const struct ex_case *c); /* that the problem must move, for % of roofline */
    double (*flops)(const struct ex_case *c); /* operations that it must do */
    /* Its versions use what compute capability 9.0 alone has, such as wgmma: they are compiled for
     * sm_90a, and run on no other device. */
    bool sm_90a;
    bool has_tensor_core_roof; /* they are products of halves: the roof is that of tensor cores, for
                      who does not use them, too */
    /* Shares, scaled to 100. Correctness: 0 where the file as it came is correct already, else 10
     * at most. Speed: 0 where the technique gains next to nothing at the timed size;
     * grader/grade/score.h says how each is earned. */
    struct {
        double correctness, technique, speed;
    } points;
    void (*tests)(TCase *correctness, TCase *goals, TCase *guards); /* see below */
    const char *baseline; /* the ladder step that counts as the naive version, such as "1-naive";
                             NULL = skeleton */
};

/* ---- what the tests call ---- */

/* Record, replay, compare, and everything that a case must hold: outputs right, inputs unchanged,
 * redzones intact, no fault, no race, no uninitialised read. Fails the running Check test
 * otherwise. */
void ex_check_case(const struct ex_case *c);

/* Technique tests are goals or guards. A goal is something that the naive version has not reached:
 * the goals share the technique points. A guard is something that the naive version keeps: it has
 * no points to give, but one that fails takes points away, so that a fault can't be traded for
 * another. `grader verify` refuses a goal that the naive version passes and a guard that it fails;
 * grader/grade/score.h has the arithmetic.
 *
 * A limit that is missed does not end its test: the others of the same test are looked at, too. Of
 * a goal, the figure that is furthest from its limit decides how much of the way counts. A goal's
 * limits that the naive version meets are conditions: they earn nothing, and cost the goal's points
 * where they are missed.
 *
 * Limits look at the counters of `technique_case`. `metric` is a counter of docs/counters.md or one
 * of the derived metrics of grader/grade/metrics.def ("global_load_sectors_per_request",
 * "bank_conflicts"…). The report names the source line that contributes most. `reason`: one
 * sentence on why the limit stands where it does. */
void ex_require_at_most(const char *metric, double limit, const char *reason);
void ex_require_at_least(const char *metric, double limit, const char *reason);
/* The same for a counter divided by `per`, called `unit` in reports: "3.0 global_store_threads per
 * output element". */
void ex_require_at_most_per(const char *counter, double per, const char *unit, double limit,
                            const char *reason);
void ex_require_at_least_per(const char *counter, double per, const char *unit, double limit,
                             const char *reason);
double ex_metric_value(const char *metric); /* for a limit that depends on another figure */
unsigned ex_launch_count(void);             /* kernels launched in the technique case */
/* Theoretical occupancy, 0 ... 1, of blocks like these on the device that is graded for: what
 * `theoretical_occupancy` would be. 0 where not one fits. */
double ex_theoretical_occupancy(unsigned threads, unsigned registers, unsigned shared_bytes);

/* The exercise whose tests are running. */
const struct exercise *ex_current_exercise(void);

/* Defines the exercise and puts it on the grader's list, through a linker section. */
#define EXERCISE(ident, ...)                                                       \
    static const struct exercise exercise_##ident = {.name = #ident, __VA_ARGS__}; \
    static const struct exercise *const exercise_pointer_##ident                   \
        __attribute__((section("exercises"), used)) = &exercise_##ident

#define EX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
