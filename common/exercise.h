/* exercise.h — the interface between a chapter's NAME_test.c and the grader: the description of an
 * exercise, and the functions that its Check tests call. To add an exercise, add files; you don't
 * edit any other file.
 *
 * A test file defines static tables (arguments, cases), a reference and Check tests, and ends with
 *
 *   EXERCISE(transpose, .chapter = "02-coalescing", .title = "...", ...);
 *
 * The grader records the commands that the student's entry issues for each case, then replays them
 * with fresh inputs. Tests never call the student's code themselves. */
#pragma once
#include "common/half.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EX_DIMS = 4, EX_ARGS = 16, EX_VARIANTS = 12 };

/* One problem: its dimensions, and a variant for the fill and count functions (0 = plain). */
struct ex_case {
    long dim[EX_DIMS];
    int variant;
    const char *label; /* its purpose: "one past a warp", "all negative"; may be NULL */
};

/* X(id, C type, spelling). C has no half, so ex_half has its bits; halves occur in buffers only. */
/* clang-format off */
#define EX_C_TYPES(X)                                                                              \
    X(EX_I8, int8_t, "signed char") X(EX_U8, uint8_t, "unsigned char")                             \
    X(EX_I32, int32_t, "int") X(EX_U32, uint32_t, "unsigned") X(EX_I64, int64_t, "long long")      \
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
/* Returns a number below n that no other of n successive rounds of the case gets. Each `purpose`
 * below 4 has numbers of its own. */
long ex_stratum(const struct ex_rng *r, long n, unsigned purpose);

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
    int dim;            /* scalars without a value function: the dimension's index */
    /* Buffers: it is in page-locked host memory. The entry gets its address, may not access it, and
     * moves data with cudaMemcpyAsync; kernels must not use it. Such a buffer has no aliases. */
    bool is_pinned_host;
    unsigned device; /* Buffers: the device that owns it, below the exercise's `devices`. */
    /* EX_INOUT: neither reference nor tolerance reads host[i], which is NULL; the reference finds
     * the initial content in expected[i]. This saves memory in large cases. */
    bool is_initial_in_expected;
    /* Buffers: if alias(c) is not 0, this argument points `alias_offset(c)` elements into argument
     * alias(c) - 1; otherwise it has memory of its own. So a test may alias in some cases only. */
    int (*alias)(const struct ex_case *c);
    ex_count_fn *alias_offset;
    /* Buffers: the dimensions of the elements, outermost first, each index plus 1; 0 ends the list.
     * With {1, 3}, reports say [i][j] for a buffer of dim[0] rows of dim[2]; if empty, they say a
     * flat index. */
    int shape[EX_DIMS];
};

/* `host[i]` is argument i before the call: `count` elements of a buffer's type, or one scalar. The
 * reference fills `expected[i]` for each EX_OUT and EX_INOUT argument: `count` elements, double for
 * halves, float and double, int64_t for integers. expected[i] of an EX_INOUT starts as a copy of
 * the input. */
typedef void ex_reference_fn(const struct ex_case *c, void *const host[], void *const expected[]);
/* Returns the absolute error allowed at one element; the test file derives it from an error model.
 * NULL = exact. */
typedef double ex_tolerance_fn(const struct ex_case *c, void *const host[], int arg, size_t index,
                               double expected);

/* The values of a dimension in drawn cases. */
struct ex_span {
    long low, high;   /* both included */
    long step;        /* low, low + step, low + 2 step, …; 0 = 1 */
    int power_of_two; /* if not 0, powers of two between low and high only */
};

/* How the grader draws further cases from its seed, so that no submission knows the sizes
 * beforehand. Every case in these ranges must be legal by the task's text. One case has any order
 * of magnitude; one is uniform, often a multiple of 4 or 32. A size that is listed in `cases` is
 * drawn again. */
struct ex_draw {
    struct ex_span dim[EX_DIMS]; /* {0, 0}: the dimension stays 0 */
    long max_product; /* limit on the product of the dimensions, for short tests; 0 = none */
    /* The name in reports of each variant that may be drawn, from variant 0 on ("" = no name); NULL
     * ends the list. */
    const char *variants[EX_VARIANTS];
    /* Adjusts a drawn case, for constraints that spans can't express; NULL = none. */
    void (*adjust)(struct ex_case *c, struct ex_rng *r);
    const char *no_draw_reason; /* the reason if nothing can be drawn; else NULL */
};

struct exercise {
    const char *name, *chapter, *title; /* "transpose", "02-coalescing", one line */
    const char *entry;                  /* the extern "C" function; NULL = name */
    const char *test_digest;            /* of the test file, set by EXERCISE() */
    const struct ex_arg *args;
    unsigned nargs;
    const struct ex_case *cases; /* checked for correctness */
    unsigned ncases;
    struct ex_draw draw;           /* further cases, checked after `cases` */
    struct ex_case technique_case; /* its counters decide goals and guards */
    struct ex_case timed_case;     /* the timed size */
    /* Rounds of these two cases, each with fresh inputs; 0 = 1. If few elements decide the result,
     * a version that skips elements passes a round by chance. Let every round have others
     * (ex_stratum), so that it doesn't pass all. */
    unsigned known_size_rounds;
    ex_reference_fn *reference;
    ex_tolerance_fn *tolerance;
    /* The bytes that the problem must move and the operations that it must do, for the roofline. */
    double (*bytes)(const struct ex_case *c);
    double (*flops)(const struct ex_case *c);
    /* Several equal devices, each with peer access to all others; 0 = 1. The entry is called with
     * device 0 as the current one. Times are always modelled (grader/grade/speed.c). */
    unsigned devices;
    /* Its versions need features that only compute capability 9.0 has, such as wgmma: they are
     * compiled for sm_90a and run on no other device. */
    bool sm_90a;
    /* The roofline uses the tensor cores' peak, even for versions without tensor cores. */
    bool has_tensor_core_roof;
    /* Shares, scaled to 100. Correctness: 0 if the starter file is correct already, else at most
     * 10. Speed: 0 if the technique gains next to nothing at the timed size. grader/grade/score.h
     * says how a submission earns them. */
    struct {
        double correctness, technique, speed;
    } points;
    void (*tests)(TCase *correctness, TCase *goals, TCase *guards); /* see below */
    /* Calls ex_suggest for each idea that makes the model solution faster than versions that only
     * reach the goals, the most effective first; NULL = the goals are all it takes. */
    void (*ideas)(void);
    const char *baseline; /* the ladder step that is the baseline; NULL = the starter file */
    /* Why speed has no points although the model says that the technique gains some; or NULL. */
    const char *unscored_gain;
};

/* ---- functions for the tests ---- */

/* Records, replays and compares a case. Fails the running Check test unless the outputs are right,
 * the inputs unchanged and the redzones intact, without a fault, race or uninitialized read. */
void ex_check_case(const struct ex_case *c);

/* Technique tests are goals or guards. The baseline misses every goal; the goals share the
 * technique points. The baseline passes every guard; a guard earns nothing, but one that fails
 * costs points, so that nobody trades one fault for another. `grader verify` reports a goal that
 * the baseline reaches and a guard that it fails. grader/grade/score.h has the arithmetic.
 *
 * A missed limit does not end its test; the test's other limits are checked, too. The limit with
 * the least progress decides a goal's progress. A goal's limits that the baseline meets are
 * conditions: they earn nothing, and a missed one costs the goal's points.
 *
 * Limits refer to the counters of `technique_case`. `metric` is a counter of docs/counters.md or a
 * derived metric of grader/grade/metrics.def ("global_load_sectors_per_request",
 * "bank_conflicts"…). The report names the source line that contributes most. `reason` is one
 * sentence that justifies the limit. */
void ex_require_at_most(const char *metric, double limit, const char *reason);
void ex_require_at_least(const char *metric, double limit, const char *reason);
/* The same for a counter divided by `per`; reports name the `unit`: "3.0 global_store_threads per
 * output element". */
void ex_require_at_most_per(const char *counter, double per, const char *unit, double limit,
                            const char *reason);
void ex_require_at_least_per(const char *counter, double per, const char *unit, double limit,
                             const char *reason);
double ex_metric_value(const char *metric); /* for a limit that depends on another metric */
unsigned ex_launch_count(void);             /* kernels launched in the technique case */
/* Names an idea that the version lacks if `is_missing`, and the lesson that teaches it: a chapter
 * ("09-capstone") and one of its headings. Reports name the first missing idea of a version that
 * reaches all goals and still loses speed points. `idea` is an imperative without a full stop. */
void ex_suggest(bool is_missing, const char *idea, const char *chapter, const char *heading);
/* Returns the metric `theoretical_occupancy`, 0 to 1, that such blocks would have on the graded
 * device; 0 if not even one block fits. */
double ex_theoretical_occupancy(unsigned threads, unsigned registers, unsigned shared_bytes);

/* Returns the exercise whose tests are running. */
const struct exercise *ex_current_exercise(void);

/* Compiles a reference for several levels of vector instructions; the program chooses when it
 * starts. Every level rounds the same (SAME in the Makefile). Sanitizers start too late for that
 * choice. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define EX_VECTORIZED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define EX_VECTORIZED
#endif

/* Defines the exercise and adds it to the grader's list, through a linker section. */
#define EXERCISE(ident, ...)                                      \
    static const struct exercise exercise_##ident = {             \
        .name = #ident, .test_digest = TEST_DIGEST, __VA_ARGS__}; \
    static const struct exercise *const exercise_pointer_##ident  \
        __attribute__((section("exercises"), used)) = &exercise_##ident

/* The Makefile sets this to a digest of the test file's code, without comments. */
#ifndef TEST_DIGEST
#define TEST_DIGEST ""
#endif

#define EX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
