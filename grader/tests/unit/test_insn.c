/* test_insn.c — tests every instruction on operands with known results, at every level of vector
 * instructions.
 *
 * grader/tests/ptx/instructions.txt holds the cases; instructions.py there says where the
 * results come from and describes the format. Each opcode becomes a kernel, each of its cases a
 * thread. The kernel runs the instruction three times: in all lanes, in odd lanes and in even
 * ones only; a lane that doesn't execute it must keep its value. */
#include "common/file.h"
#include "grader/simgpu/tools.h"
#include "grader/tests/unit/insn_programs.h"
#include "grader/tests/unit/kernel.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 8, VARIANTS = 3, MAX_RESULTS = 2, INPUTS = 5, MARKER_AT = 8 };

struct group {
    char opcode[64];
    char types[MAX_VALUES], text[MAX_VALUES][16]; /* b h r q p, or # with the operand's text */
    unsigned nsources, nresults, first, count;
};
struct insn_case {
    uint64_t value[MAX_VALUES];
    bool any_nan;
    unsigned line;
};
struct cases {
    struct group *groups;
    struct insn_case *cases;
    unsigned ngroups, ncases;
};

/* ---- reading the file ---- */

static void read_header(struct group *g, char *line, unsigned first) {
    *g = (struct group){.first = first};
    char *save, *word = strtok_r(line, " ", &save);
    snprintf(g->opcode, sizeof g->opcode, "%s", word);
    unsigned n = 0;
    while ((word = strtok_r(NULL, " ", &save))) {
        if (*word == '>') {
            g->nsources = n;
            continue;
        }
        ck_assert_uint_lt(n, MAX_VALUES);
        if (*word == '#') snprintf(g->text[n], sizeof g->text[n], "%s", word + 1);
        g->types[n++] = *word;
    }
    g->nresults = n - g->nsources;
}

static void read_case(const struct group *g, struct insn_case *c, char *line) {
    char *save, *word = strtok_r(line, " ", &save);
    for (unsigned i = 0; i < g->nsources + g->nresults; i++) {
        if (g->types[i] == '#') continue;
        ck_assert_msg(word != NULL, "a value is missing in a case of %s", g->opcode);
        if (strcmp(word, "nan") == 0) c->any_nan = true;
        else c->value[i] = strtoull(word, NULL, 16);
        word = strtok_r(NULL, " ", &save);
    }
}

static struct cases read_cases(void) {
    struct buf text = {0};
    struct err e = {0};
    struct cases all = {0};
    ck_assert_msg(file_read("grader/tests/ptx/instructions.txt", 4 << 20, &text, &e), "%s", e.text);
    unsigned lines = 1;
    for (const char *s = text.data; *s; s++) lines += *s == '\n';
    all.groups = xcalloc(lines, sizeof *all.groups);
    all.cases = xcalloc(lines, sizeof *all.cases);
    unsigned number = 0;
    for (char *save, *line = strtok_r(text.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        number++;
        if (*line == '#') continue;
        if (*line != ' ') {
            read_header(&all.groups[all.ngroups++], line, all.ncases);
            continue;
        }
        struct group *g = &all.groups[all.ngroups - 1];
        all.cases[all.ncases].line = number;
        read_case(g, &all.cases[all.ncases++], line);
        g->count++;
    }
    buf_free(&text);
    return all;
}

/* ---- a kernel for each opcode ---- */

static char class_of(char type) { return type == 'b' ? 'h' : type; }

static bool is_chain(const struct group *g) {
    const char *s = g->opcode;
    return strstr(s, ".cc") || !strncmp(s, "addc", 4) || !strncmp(s, "subc", 4) ||
           !strncmp(s, "madc", 4);
}
static bool reads_carry(const struct group *g) {
    return is_chain(g) && g->types[g->nsources - 1] == 'p';
}
static bool writes_carry(const struct group *g) { return is_chain(g) && g->nresults == 2; }

static void write_sources(struct buf *b, const struct group *g) {
    for (unsigned i = 0; i < g->nsources; i++) {
        unsigned r = i + 1;
        switch (class_of(g->types[i])) {
        case 'h': buf_printf(b, "cvt.u16.u64 %%h%u, %%q%u;\n", r, 10 + i); break;
        case 'r': buf_printf(b, "cvt.u32.u64 %%r%u, %%q%u;\n", r, 10 + i); break;
        case 'q': buf_printf(b, "mov.b64 %%q%u, %%q%u;\n", r, 10 + i); break;
        case 'p': buf_printf(b, "setp.ne.u64 %%p%u, %%q%u, 0;\n", r, 10 + i); break;
        default: break;
        }
    }
    if (reads_carry(g)) buf_printf(b, "selp.u32 %%r20, 1, 0, %%p%u;\n", g->nsources);
}

static unsigned result_register(unsigned variant, unsigned result) {
    return MARKER_AT + variant * MAX_RESULTS + result;
}

static void write_marker(struct buf *b, char type, unsigned r) {
    switch (class_of(type)) {
    case 'h': buf_printf(b, "mov.b16 %%h%u, 0x5a5a;\n", r); break;
    case 'r': buf_printf(b, "mov.b32 %%r%u, 0x5a5a5a5a;\n", r); break;
    case 'q': buf_printf(b, "mov.b64 %%q%u, 0x5a5a5a5a5a5a5a5a;\n", r + 20); break;
    default: buf_printf(b, "setp.eq.u32 %%p%u, 0, 0;\n", r); break;
    }
}

/* Result registers of 64 bits are numbered from 28, away from the inputs. */
static void write_instruction(struct buf *b, const struct group *g, unsigned variant) {
    static const char *const guards[VARIANTS] = {"", "@%p30 ", "@!%p30 "};
    unsigned listed = writes_carry(g) ? 1 : g->nresults, sources = g->nsources - reads_carry(g);
    if (reads_carry(g)) buf_puts(b, "add.cc.u32 %r21, %r20, -1;\n");
    buf_printf(b, "%s%s ", guards[variant], g->opcode);
    for (unsigned k = 0; k < listed; k++) {
        char c = class_of(g->types[g->nsources + k]);
        buf_printf(b, "%s%%%c%u", k ? "|" : "", c,
                   result_register(variant, k) + (c == 'q' ? 20 : 0));
    }
    for (unsigned i = 0; i < sources; i++) {
        if (g->types[i] == '#') buf_printf(b, ", %s", g->text[i]);
        else buf_printf(b, ", %%%c%u", class_of(g->types[i]), i + 1);
    }
    buf_puts(b, ";\n");
    if (writes_carry(g))
        buf_printf(b, "addc.u32 %%r21, 0, 0;\nsetp.ne.u32 %%p%u, %%r21, 0;\n",
                   result_register(variant, 1));
}

static void write_results(struct buf *b, const struct group *g) {
    for (unsigned v = 0; v < VARIANTS; v++)
        for (unsigned k = 0; k < g->nresults; k++) {
            unsigned r = result_register(v, k);
            switch (class_of(g->types[g->nsources + k])) {
            case 'h': buf_printf(b, "cvt.u64.u16 %%q20, %%h%u;\n", r); break;
            case 'r': buf_printf(b, "cvt.u64.u32 %%q20, %%r%u;\n", r); break;
            case 'q': buf_printf(b, "mov.b64 %%q20, %%q%u;\n", r + 20); break;
            default: buf_printf(b, "selp.u64 %%q20, 1, 0, %%p%u;\n", r); break;
            }
            buf_printf(b, "st.global.u64 [%%q9+%u], %%q20;\n", 8 * (v * MAX_RESULTS + k));
        }
}

static void write_kernel(struct buf *b, const struct group *g, unsigned index) {
    buf_printf(
        b,
        ".visible .entry k%u(.param .u64 from, .param .u64 to) {\n"
        ".reg .pred %%p<32>; .reg .b16 %%h<32>; .reg .b32 %%r<32>; .reg .b64 %%q<40>;\n"
        "ld.param.u64 %%q8, [from];\nld.param.u64 %%q9, [to];\n"
        "mov.u32 %%r30, %%tid.x;\nmov.u32 %%r31, %%ctaid.x;\nmad.lo.u32 %%r30, %%r31, 32, %%r30;\n"
        "mad.wide.u32 %%q8, %%r30, %u, %%q8;\nmad.wide.u32 %%q9, %%r30, %u, %%q9;\n"
        "and.b32 %%r31, %%r30, 1;\nsetp.ne.u32 %%p30, %%r31, 0;\n",
        index, INPUTS * 8, VARIANTS * MAX_RESULTS * 8);
    for (unsigned i = 0; i < g->nsources; i++)
        buf_printf(b, "ld.global.u64 %%q%u, [%%q8+%u];\n", 10 + i, 8 * i);
    write_sources(b, g);
    for (unsigned v = 0; v < VARIANTS; v++)
        for (unsigned k = 0; k < g->nresults; k++)
            write_marker(b, g->types[g->nsources + k], result_register(v, k));
    for (unsigned v = 0; v < VARIANTS; v++) write_instruction(b, g, v);
    write_results(b, g);
    buf_puts(b, "ret;\n}\n");
}

static void write_module(struct buf *b, const struct cases *all) {
    buf_puts(b, ".version 8.4\n.target sm_90\n.address_size 64\n");
    for (unsigned i = 0; i < all->ngroups; i++) write_kernel(b, &all->groups[i], i);
}

/* ---- running and comparing ---- */

static uint64_t masked(char type, uint64_t v) {
    return type == 'p'   ? v & 1
           : type == 'b' ? v & 0xff
           : type == 'h' ? v & 0xffff
           : type == 'r' ? v & 0xffffffff
                         : v;
}

static bool is_nan_of(char type, uint64_t v) {
    return type == 'q' ? (v & ~(1ull << 63)) > 0x7ffull << 52 : (v & 0x7fffffff) > 0xffull << 23;
}

static void compare(const struct group *g, const struct insn_case *c, const uint64_t *actual,
                    unsigned lane) {
    for (unsigned v = 0; v < VARIANTS; v++) {
        bool executes = v == 0 || (v == 1) == (lane & 1);
        for (unsigned k = 0; k < g->nresults; k++) {
            char t = g->types[g->nsources + k];
            if (writes_carry(g) && k == 1 && !executes) continue;
            uint64_t result = masked(t, actual[v * MAX_RESULTS + k]),
                     expected = c->value[g->nsources + k];
            if (!executes) expected = masked(t, t == 'p' ? 1 : 0x5a5a5a5a5a5a5a5a);
            bool same = executes && c->any_nan ? is_nan_of(t, result) : result == expected;
            ck_assert_msg(same,
                          "%s on %llx %llx %llx %llx gives %llx, not %llx (result %u, %s; "
                          "instructions.txt:%u)",
                          g->opcode, (unsigned long long)c->value[0],
                          (unsigned long long)c->value[1], (unsigned long long)c->value[2],
                          (unsigned long long)c->value[3], (unsigned long long)result,
                          (unsigned long long)expected, k,
                          v == 0   ? "all lanes"
                          : v == 1 ? "odd lanes"
                                   : "even lanes",
                          c->line);
        }
    }
}

static void run_group(struct kernel_rig *rig, const struct cases *all, unsigned index,
                      uint64_t from, uint64_t to, uint64_t *host) {
    const struct group *g = &all->groups[index];
    unsigned blocks = (g->count + 31) / 32;
    char name[16];
    snprintf(name, sizeof name, "k%u", index);
    for (unsigned i = 0; i < blocks * 32; i++) /* the last block is filled up with the first case */
        memcpy(host + i * INPUTS, all->cases[g->first + (i < g->count ? i : 0)].value, INPUTS * 8);
    sim_write(rig->sim, from, host, blocks * 32 * INPUTS * 8);
    uint64_t params[] = {from, to};
    struct sim_result r = rig_run(rig, name, blocks, 32, params, sizeof params);
    ck_assert_msg(r.fault == SIM_FAULT_NONE && r.nreports == 0, "%s: %s", g->opcode,
                  r.reports[0].text);
    sim_result_free(&r);
    sim_read(rig->sim, to, host, blocks * 32 * VARIANTS * MAX_RESULTS * 8);
    for (unsigned i = 0; i < g->count; i++)
        compare(g, &all->cases[g->first + i], host + i * VARIANTS * MAX_RESULTS, i % 32);
}

static void run_cases(unsigned level) {
    struct cases all = read_cases();
    struct buf ptx = {0};
    write_module(&ptx, &all);
    lanes_force_level(level);
    struct kernel_rig rig = rig_open_with(buf_str(&ptx), (struct rig_options){.sanitize = true});
    enum { OUTPUT_WORDS = 1 << 20 };
    uint64_t from = sim_alloc(rig.sim, OUTPUT_WORDS, "operands"),
             to = sim_alloc(rig.sim, OUTPUT_WORDS, "results");
    uint64_t *host = xmalloc(OUTPUT_WORDS);
    for (unsigned i = 0; i < all.ngroups; i++) run_group(&rig, &all, i, from, to, host);
    lanes_force_level(0);
    rig_close(&rig);
    free(host);
    free(all.groups);
    free(all.cases);
    buf_free(&ptx);
}

START_TEST(instruction_cases_give_their_expected_results) {
    if (lanes_level_table((unsigned)_i)) run_cases((unsigned)_i);
}
END_TEST

START_TEST(instruction_programs_give_their_expected_results) {
    if (!lanes_level_table((unsigned)_i))
        SKIP("this processor has no level %d of vector instructions", _i);
    lanes_force_level((unsigned)_i);
    insn_programs_run();
    lanes_force_level(0);
}
END_TEST

/* One process runs all cases, so that its marks show which rows no case executed. */
START_TEST(every_opcode_is_executed) {
    run_cases(0);
    insn_programs_run();
    struct buf missing = {0};
    for (unsigned i = 0; i < insn_opcode_count; i++)
        if (!insn_executed[i]) buf_printf(&missing, " %s", insn_opcodes[i].name);
    ck_assert_msg(missing.size == 0, "no test executes:%s", buf_str(&missing));
}
END_TEST

/* What compilers emit for real programs, and other forms of the same families. */
START_TEST(forms_of_real_code_are_covered) {
    static const char *const others[] = {
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32",
        "wmma.load.b.sync.aligned.col.m32n8k16.shared.bf16",
        "wmma.mma.sync.aligned.row.col.m8n32k16.s32.u8.u8.s32.satfinite",
        "wmma.store.d.sync.aligned.col.m16n16k16.f16",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "set.ltu.or.ftz.f32.f32",
        "atom.global.add.noftz.bf16x2",
        "redux.sync.umax.u32",
    };
    struct buf text = {0};
    struct err e = {0};
    struct kernel_rig rig = rig_open(".version 8.0\n.target sm_90\n.address_size 64\n");
    ck_assert_msg(file_read("grader/tests/ptx/forms.txt", 1 << 20, &text, &e), "%s", e.text);
    unsigned n = 0;
    for (char *save, *line = strtok_r(text.data, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        if (*line == '#') continue;
        ck_assert_msg(coverage_supports(rig.sim, line, &e), "%s", e.text);
        n++;
    }
    ck_assert_uint_eq(n, 428);
    for (unsigned i = 0; i + 1 < sizeof others / sizeof *others; i++)
        ck_assert_msg(coverage_supports(rig.sim, others[i], &e), "%s", e.text);
    ck_assert(!coverage_supports(rig.sim, others[sizeof others / sizeof *others - 1],
                                 &e)); /* no such operation */
    ck_assert(!coverage_supports(rig.sim, "add.rz.f16", &e));
    buf_free(&text);
    rig_close(&rig);
}
END_TEST

START_TEST(committed_coverage_is_current) {
    struct buf now = {0}, committed = {0};
    struct err e = {0};
    coverage_markdown(&now);
    ck_assert_msg(file_read("docs/ptx-coverage.md", 4 << 20, &committed, &e), "%s", e.text);
    ck_assert_msg(!strcmp(buf_str(&now), buf_str(&committed)),
                  "run: build/simgpu coverage --markdown > docs/ptx-coverage.md");
    buf_free(&now);
    buf_free(&committed);
    buf_free(&now), buf_free(&committed);
}
END_TEST

UNIT_SUITE(insn) {
    Suite *suite = suite_create("insn");
    TCase *tc = tcase_create("instructions");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, instruction_cases_give_their_expected_results, 1, LANES_MAX_LEVELS + 1);
    tcase_add_loop_test(tc, instruction_programs_give_their_expected_results, 1,
                        LANES_MAX_LEVELS + 1);
    tcase_add_test(tc, every_opcode_is_executed);
    tcase_add_test(tc, forms_of_real_code_are_covered);
    tcase_add_test(tc, committed_coverage_is_current);
    suite_add_tcase(suite, tc);
    return suite;
}
