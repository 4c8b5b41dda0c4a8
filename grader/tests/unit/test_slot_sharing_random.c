/* test_slot_sharing_random.c — runs random kernels with a slot for each register and with shared
 * slots (sim/code/slot_sharing.c), and compares everything: memory, counters, findings and the
 * modelled time. The kernels have divergent branches and loops, guards, shuffles, barriers,
 * atomics, and reads of registers and memory that nothing has written.
 *
 * Kernels that may run natively keep all slots, and none runs long enough here to be compiled. So a
 * simulator with native code in the background is the reference. */
#include "common/buf.h"
#include "grader/sim/code/code.h"
#include "grader/sim/timing/timing.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <string.h>

enum {
    PROGRAMS = 300,
    REGISTERS = 14,
    UNWRITTEN = 2, /* registers that the kernel does not initialize */
    PREDICATES = 4,
    THREADS = 64,
    BLOCKS = 3,
    TABLE = 32,
    DEFINED_TABLE = 30, /* words; the others are uninitialized */
    SCRATCH = TABLE,    /* a word that all blocks update */
    OUTPUT = TABLE + 32,
    WORDS = OUTPUT + BLOCKS * THREADS * REGISTERS,
    MAX_DEPTH = 3
};

struct program {
    struct buf text;
    uint64_t state;
    unsigned nlabels;
};

static unsigned draw(struct program *p, unsigned n) {
    p->state = p->state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(p->state >> 33) % n;
}

/* ---- statements ---- */

static void put_arithmetic(struct program *p) {
    static const char *const opcodes[] = {"add.u32", "sub.u32", "mul.lo.u32",
                                          "xor.b32", "min.u32", "shl.b32"};
    bool is_guarded = draw(p, 4) == 0;
    if (is_guarded) buf_printf(&p->text, "@%s%%p%u ", draw(p, 2) ? "!" : "", draw(p, PREDICATES));
    unsigned op = draw(p, sizeof opcodes / sizeof *opcodes), to = draw(p, REGISTERS),
             from = draw(p, REGISTERS);
    buf_printf(&p->text, "%s %%r%u, %%r%u, ", opcodes[op], to, from);
    if (op == 5 || draw(p, 3) == 0) buf_printf(&p->text, "%u;\n", draw(p, 9));
    else buf_printf(&p->text, "%%r%u;\n", draw(p, REGISTERS));
}

static void put_comparison(struct program *p) {
    static const char *const names[] = {"lt", "ge", "eq", "ne"};
    unsigned to = draw(p, PREDICATES), name = draw(p, 4), a = draw(p, REGISTERS);
    buf_printf(&p->text, "and.b32 %%x, %%r%u, 7;\nsetp.%s.u32 %%p%u, %%x, %u;\n", a, names[name],
               to, draw(p, 8));
}

static void put_load(struct program *p) {
    unsigned index = draw(p, REGISTERS), to = draw(p, REGISTERS);
    buf_printf(&p->text,
               ".loc 1 %u 0\nand.b32 %%i, %%r%u, 31;\nmul.wide.u32 %%w, %%i, 4;\n"
               "add.s64 %%a, %%io, %%w;\nld.global.u32 %%r%u, [%%a];\n",
               100 + draw(p, 50), index, to);
}

static void put_atomic(struct program *p) {
    unsigned to = draw(p, REGISTERS), from = draw(p, REGISTERS);
    buf_printf(&p->text, "atom.global.add.u32 %%r%u, [%%io+%d], %%r%u;\n", to, SCRATCH * 4, from);
}

/* All lanes are together here: at depth 0. */
static void put_exchange(struct program *p) {
    unsigned to = draw(p, REGISTERS), from = draw(p, REGISTERS);
    if (draw(p, 3) == 0) buf_puts(&p->text, "bar.sync 0;\n");
    else
        buf_printf(&p->text, "shfl.sync.bfly.b32 %%r%u, %%r%u, %u, 31, -1;\n", to, from,
                   1 + draw(p, 31));
}

static void put_statements(struct program *p, unsigned depth);

static void put_branch(struct program *p, unsigned depth) {
    unsigned label = p->nlabels++, predicate = draw(p, PREDICATES);
    buf_printf(&p->text, "@%%p%u bra ELSE%u;\n", predicate, label);
    put_statements(p, depth + 1);
    buf_printf(&p->text, "bra END%u;\nELSE%u:\n", label, label);
    put_statements(p, depth + 1);
    buf_printf(&p->text, "END%u:\n", label);
}

/* Lanes leave after 1 to 4 turns. */
static void put_loop(struct program *p, unsigned depth) {
    unsigned label = p->nlabels++;
    buf_printf(&p->text, "mov.u32 %%c%u, 0;\nand.b32 %%b%u, %%r%u, 3;\nNEXT%u:\n", depth, depth,
               draw(p, REGISTERS), label);
    put_statements(p, depth + 1);
    buf_printf(&p->text,
               "add.u32 %%c%u, %%c%u, 1;\nsetp.le.u32 %%q%u, %%c%u, %%b%u;\n@%%q%u bra NEXT%u;\n",
               depth, depth, depth, depth, depth, depth, label);
}

static void put_statement(struct program *p, unsigned depth) {
    unsigned kind = draw(p, 12);
    if (kind < 5) put_arithmetic(p);
    else if (kind < 7) put_comparison(p);
    else if (kind < 9) put_load(p);
    else if (kind == 9 && depth == 0) put_exchange(p);
    else if (kind == 9) put_atomic(p);
    else if (depth == MAX_DEPTH) put_arithmetic(p);
    else if (kind == 10) put_branch(p, depth);
    else put_loop(p, depth);
}

static void put_statements(struct program *p, unsigned depth) {
    for (unsigned n = 2 + draw(p, depth ? 5 : 12); n; n--) put_statement(p, depth);
}

/* Each thread stores all of its registers in the end. */
static const char *write_program(struct program *p) {
    buf_printf(&p->text,
               ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n"
               ".visible .entry k(.param .u64 io) {\n.reg .pred %%p<%d>, %%q<%d>;\n"
               ".reg .b32 %%r<%d>, %%c<%d>, %%b<%d>, %%x, %%i, %%t, %%block;\n"
               ".reg .b64 %%io, %%w, %%a, %%out;\n.loc 1 5 0\nld.param.u64 %%io, [io];\n"
               "mov.u32 %%t, %%tid.x;\n",
               PREDICATES, MAX_DEPTH, REGISTERS, MAX_DEPTH, MAX_DEPTH);
    for (unsigned i = 0; i < REGISTERS - UNWRITTEN; i++)
        buf_printf(&p->text, "mad.lo.u32 %%r%u, %%t, %u, %u;\n", i, draw(p, 100), draw(p, 100));
    put_atomic(p);
    put_statements(p, 0);
    buf_printf(&p->text,
               "mov.u32 %%block, %%ctaid.x;\nmad.lo.u32 %%i, %%block, %d, %%t;\n"
               "mul.wide.u32 %%w, %%i, %d;\nadd.s64 %%out, %%io, %%w;\n",
               THREADS, REGISTERS * 4);
    for (unsigned i = 0; i < REGISTERS; i++)
        buf_printf(&p->text, "st.global.u32 [%%out+%u], %%r%u;\n", (OUTPUT + i) * 4, i);
    buf_puts(&p->text, "ret;\n}\n");
    return buf_str(&p->text);
}

/* ---- runs ---- */

struct outcome {
    uint32_t words[WORDS], frame_bytes;
    struct sim_result result;
    double seconds;
};

static struct outcome run(const char *ptx, bool is_adversarial, enum sim_native native) {
    struct rig_options options = {
        .sanitize = true, .adversarial = is_adversarial, .native = native};
    struct kernel_rig r = rig_open_with(ptx, options);
    struct outcome out = {.frame_bytes = r.module->funcs[0].frame_bytes};
    struct time_estimate t;
    uint64_t io = sim_alloc(r.sim, sizeof out.words, "io");
    for (unsigned i = 0; i < DEFINED_TABLE; i++) out.words[i] = i * 2654435761u;
    sim_write(r.sim, io, out.words, DEFINED_TABLE * 4);
    sim_fill(r.sim, io + SCRATCH * 4, 0, 32 * 4);
    struct sim_launch l = {.kernel = sim_find_kernel(r.module, "k"),
                           .grid = {BLOCKS, 1, 1},
                           .block = {THREADS, 1, 1},
                           .params = &io,
                           .param_bytes = sizeof io};
    time_launch(r.sim, &l, &(struct time_options){.full_grid = true}, &out.result, &t);
    out.seconds = t.seconds;
    sim_read(r.sim, io, out.words, sizeof out.words);
    rig_close(&r);
    return out;
}

static void compare(const char *ptx, struct outcome *shared, struct outcome *unshared) {
    const struct sim_result *a = &shared->result, *b = &unshared->result;
    ck_assert_msg(!memcmp(shared->words, unshared->words, sizeof shared->words), "%s", ptx);
    ck_assert_msg(!memcmp(&a->counters, &b->counters, sizeof a->counters), "%s", ptx);
    ck_assert_msg(shared->seconds == unshared->seconds, "%s", ptx);
    ck_assert_msg(a->nreports == b->nreports, "%u, %u: %s", a->nreports, b->nreports, ptx);
    for (unsigned i = 0; i < a->nreports; i++)
        ck_assert_msg(!strcmp(a->reports[i].text, b->reports[i].text), "%s\n%s\n%s",
                      a->reports[i].text, b->reports[i].text, ptx);
}

/* Returns true if the last block has stored registers. */
static bool has_output(const struct outcome *o) {
    uint32_t any = 0;
    for (unsigned i = WORDS - THREADS * REGISTERS; i < WORDS; i++) any |= o->words[i];
    return any != 0;
}

START_TEST(random_kernels_run_alike) {
    unsigned smaller = 0, reported = 0, finished = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        struct program p = {.state = 1000 * i + 17};
        const char *ptx = write_program(&p);
        struct outcome shared = run(ptx, _i, SIM_NATIVE_NEVER),
                       unshared = run(ptx, _i, SIM_NATIVE_IN_BACKGROUND);
        compare(ptx, &shared, &unshared);
        smaller += shared.frame_bytes < unshared.frame_bytes;
        reported += shared.result.nreports > 0;
        finished += has_output(&shared);
        sim_result_free(&shared.result), sim_result_free(&unshared.result);
        buf_free(&p.text);
    }
    ck_assert_uint_gt(smaller, PROGRAMS * 9 / 10);
    ck_assert_uint_gt(reported, PROGRAMS / 10);
    ck_assert_uint_gt(finished, PROGRAMS * 9 / 10);
}
END_TEST

UNIT_SUITE(slot_sharing_random) {
    Suite *s = suite_create("slot_sharing_random");
    TCase *t = tcase_create("random");
    tcase_add_loop_test(t, random_kernels_run_alike, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
