/* coverage.c — `simgpu coverage`: lists the supported PTX instructions. Without a file it prints
 * the rows of the instruction table. With a file of opcodes ("ld.global.v4.f32"), one per line, it
 * prints yes or no for each: it loads a kernel with that one instruction, so the decoder itself
 * decides. --markdown writes docs/ptx-coverage.md. */
#include "common/file.h"
#include "grader/sim/code/decode.h"
#include "grader/simgpu/tools.h"
#include "grader/sim/timing/timing.h"

#include <stdio.h>
#include <string.h>

/* ---- operands for an opcode ----
 *
 * A template names operands by letter: V a value of the last type (in braces for .v2 and so on), P
 * a predicate, H, R, Q, O registers of 16, 32, 64, 128 bits; other characters are copied. The
 * longest matching prefix wins. */
static const struct {
    const char *prefix, *operands;
} templates[] = {
    {"ld", "V, [Q]"},
    {"ldu", "V, [Q]"},
    {"ld.param", "V, [parameter]"},
    {"st", "[Q], V"},
    {"st.param", "[argument], V"},
    {"atom", "V, [Q], V"},
    {"red", "[Q], V"},
    {"cvta", "Q, Q"},
    {"isspacep", "P, Q"},
    {"bra", "there"},
    {"brx", "R, targets"},
    {"call", "callee"},
    {"ret", ""},
    {"exit", ""},
    {"trap", ""},
    {"brkpt", ""},
    {"bar.sync", "0"},
    {"bar.arrive", "1, 64"},
    {"bar.red", "P, 0, P"},
    {"bar.red.popc", "R, 0, P"},
    {"bar.warp.sync", "-1"},
    {"bar.cta.sync", "0"},
    {"bar.cta.arrive", "1, 64"},
    {"bar.cta.red", "P, 0, P"},
    {"bar.cta.red.popc", "R, 0, P"},
    {"barrier.sync", "0"},
    {"barrier.arrive", "1, 64"},
    {"barrier.red", "P, 0, P"},
    {"barrier.red.popc", "R, 0, P"},
    {"barrier.cta.sync", "0"},
    {"barrier.cta.arrive", "1, 64"},
    {"barrier.cta.red", "P, 0, P"},
    {"barrier.cta.red.popc", "R, 0, P"},
    {"barrier.cluster", ""},
    {"shfl", "R|P, R, 1, 31, -1"},
    {"vote", "P, P, -1"},
    {"vote.sync.ballot", "R, P, -1"},
    {"vote.ballot", "R, P, -1"},
    {"match.any", "R, V, -1"},
    {"match.all", "R|P, V, -1"},
    {"redux", "V, V, -1"},
    {"activemask", "R"},
    {"elect", "R|P, -1"},
    {"membar", ""},
    {"fence", ""},
    {"nanosleep", "R"},
    {"griddepcontrol", ""},
    {"prefetch", "[Q]"},
    {"prefetchu", "[Q]"},
    {"discard", "[Q], 128"},
    {"applypriority", "[Q], 128"},
    {"pmevent", "1"},
    {"setmaxnreg", "40"},
    {"createpolicy", "Q, 1.0"},
    {"cp.async", "[R], [Q], 16"},
    {"cp.async.commit_group", ""},
    {"cp.async.wait_group", "0"},
    {"cp.async.wait_all", ""},
    {"cp.async.mbarrier.arrive", "[R]"},
    {"cp.async.bulk", "[R], [Q], R, [R]"},
    {"cp.async.bulk.global", "[Q], [R], R"},
    {"cp.async.bulk.commit_group", ""},
    {"cp.async.bulk.wait_group", "0"},
    {"cp.async.bulk.prefetch", "[Q], R"},
    {"cp.async.bulk.tensor.1d.shared::cluster", "[R], [Q, {R}], [R], H"},
    {"cp.async.bulk.tensor.1d.shared::cta", "[R], [Q, {R}], [R], H"},
    {"cp.async.bulk.tensor.1d.global", "[Q, {R}], [R]"},
    {"cp.reduce.async.bulk.tensor.1d", "[Q, {R}], [R]"},
    {"cp.async.bulk.prefetch.tensor.1d", "[Q, {R}]"},
    {"cp.async.bulk.tensor.2d.shared::cluster", "[R], [Q, {R, R}], [R], H"},
    {"cp.async.bulk.tensor.2d.shared::cta", "[R], [Q, {R, R}], [R], H"},
    {"cp.async.bulk.tensor.2d.global", "[Q, {R, R}], [R]"},
    {"cp.reduce.async.bulk.tensor.2d", "[Q, {R, R}], [R]"},
    {"cp.async.bulk.prefetch.tensor.2d", "[Q, {R, R}]"},
    {"cp.async.bulk.tensor.3d.shared::cluster", "[R], [Q, {R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.3d.shared::cta", "[R], [Q, {R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.3d.global", "[Q, {R, R, R}], [R]"},
    {"cp.reduce.async.bulk.tensor.3d", "[Q, {R, R, R}], [R]"},
    {"cp.async.bulk.prefetch.tensor.3d", "[Q, {R, R, R}]"},
    {"cp.async.bulk.tensor.4d.shared::cluster", "[R], [Q, {R, R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.4d.shared::cta", "[R], [Q, {R, R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.4d.global", "[Q, {R, R, R, R}], [R]"},
    {"cp.reduce.async.bulk.tensor.4d", "[Q, {R, R, R, R}], [R]"},
    {"cp.async.bulk.prefetch.tensor.4d", "[Q, {R, R, R, R}]"},
    {"cp.async.bulk.tensor.5d.shared::cluster", "[R], [Q, {R, R, R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.5d.shared::cta", "[R], [Q, {R, R, R, R, R}], [R], H"},
    {"cp.async.bulk.tensor.5d.global", "[Q, {R, R, R, R, R}], [R]"},
    {"cp.reduce.async.bulk.tensor.5d", "[Q, {R, R, R, R, R}], [R]"},
    {"cp.async.bulk.prefetch.tensor.5d", "[Q, {R, R, R, R, R}]"},
    {"fence.proxy.tensormap::generic.acquire", "[Q], 128"},
    {"tensormap.replace.tile.global_address", "[Q], Q"},
    {"tensormap.replace.tile.rank", "[Q], R"},
    {"tensormap.replace.tile.box_dim", "[Q], 0, R"},
    {"tensormap.replace.tile.global_dim", "[Q], 0, R"},
    {"tensormap.replace.tile.global_stride", "[Q], 0, Q"},
    {"tensormap.replace.tile.element_stride", "[Q], 0, R"},
    {"tensormap.replace.tile.elemtype", "[Q], 1"},
    {"tensormap.replace.tile.interleave_layout", "[Q], 0"},
    {"tensormap.replace.tile.swizzle_mode", "[Q], 1"},
    {"tensormap.replace.tile.fill_mode", "[Q], 1"},
    {"tensormap.cp_fenceproxy", "[Q], [R], 128"},
    {"mbarrier.init", "[R], R"},
    {"mbarrier.inval", "[R]"},
    {"mbarrier.arrive", "Q, [R]"},
    {"mbarrier.arrive_drop", "Q, [R]"},
    {"mbarrier.arrive.expect_tx", "Q, [R], R"},
    {"mbarrier.expect_tx", "[R], R"},
    {"mbarrier.complete_tx", "[R], R"},
    {"mbarrier.test_wait", "P, [R], Q"},
    {"mbarrier.try_wait", "P, [R], Q"},
    {"mbarrier.test_wait.parity", "P, [R], R"},
    {"mbarrier.try_wait.parity", "P, [R], R"},
    {"mbarrier.pending_count", "R, Q"},
    {"ldmatrix.sync.aligned.m8n8.x1", "{R}, [Q]"},
    {"ldmatrix.sync.aligned.m8n8.x2", "{R, R}, [Q]"},
    {"ldmatrix.sync.aligned.m8n8.x4", "{R, R, R, R}, [Q]"},
    {"stmatrix.sync.aligned.m8n8.x1", "[Q], {R}"},
    {"stmatrix.sync.aligned.m8n8.x2", "[Q], {R, R}"},
    {"stmatrix.sync.aligned.m8n8.x4", "[Q], {R, R, R, R}"},
    {"movmatrix", "R, R"},
    {"mapa", "V, V, R"},
    {"getctarank", "R, Q"},
    {"stacksave", "V"},
    {"stackrestore", "V"},
    {"alloca", "V, R, 16"},
    {"vadd", "R, R, R"},
    {"vsub", "R, R, R"},
    {"vabsdiff", "R, R, R"},
    {"vmin", "R, R, R"},
    {"vmax", "R, R, R"},
    {"vavrg", "R, R, R, R"},
    {"vadd2", "R, R, R, R"},
    {"vsub2", "R, R, R, R"},
    {"vabsdiff2", "R, R, R, R"},
    {"vadd4", "R, R, R, R"},
    {"vsub4", "R, R, R, R"},
    {"vabsdiff4", "R, R, R, R"},
    {"vmin2", "R, R, R, R"},
    {"vmax2", "R, R, R, R"},
    {"vmin4", "R, R, R, R"},
    {"vmax4", "R, R, R, R"},
    {"vset2", "R, R, R, R"},
    {"vset4", "R, R, R, R"},
};

static const char *find_template(const char *opcode) {
    const char *best = NULL;
    size_t longest = 0;
    for (unsigned i = 0; i < sizeof templates / sizeof *templates; i++) {
        size_t n = strlen(templates[i].prefix);
        if (n <= longest || strncmp(opcode, templates[i].prefix, n) ||
            (opcode[n] && opcode[n] != '.'))
            continue;
        longest = n;
        best = templates[i].operands;
    }
    return best;
}

static void add_register(struct buf *b, unsigned bytes, bool predicate, unsigned *next) {
    static const char *const class_of[] = {
        [1] = "%h", [2] = "%h", [4] = "%r", [8] = "%q", [16] = "%o"};
    buf_printf(b, "%s%u", predicate ? "%p" : class_of[bytes ? bytes : 4], (*next)++ % 8);
}

static void add_value(struct buf *b, const char *opcode, unsigned *next) {
    enum ptx_type t = decode_opcode_type(opcode);

    unsigned n = decode_opcode_has(opcode, "v2")   ? 2
                 : decode_opcode_has(opcode, "v4") ? 4
                 : decode_opcode_has(opcode, "v8") ? 8
                                                   : 1;

    if (n > 1) buf_puts(b, "{");
    for (unsigned i = 0; i < n; i++) {
        if (i) buf_puts(b, ", ");
        add_register(b, ptx_type_bytes(t), t == PTX_PRED, next);
    }
    if (n > 1) buf_puts(b, "}");
}

static void add_template(struct buf *b, const char *opcode, const char *operands) {
    static const char letters[] = "PHRQO";
    static const unsigned bytes[] = {1, 2, 4, 8, 16};
    unsigned next = 0;
    for (const char *s = operands; *s; s++) {
        const char *letter = strchr(letters, *s);
        if (*s == 'V') add_value(b, opcode, &next);
        else if (letter) add_register(b, bytes[letter - letters], *s == 'P', &next);
        else buf_add(b, s, 1);
    }
    if (decode_opcode_has(opcode, "cas")) buf_puts(b, ", "), add_value(b, opcode, &next);
}

/* Appends the predicate that a comparison is combined with. */
static void add_combine_predicate(struct buf *b, const char *opcode) {
    if (decode_opcode_has(opcode, "and") || decode_opcode_has(opcode, "or") ||
        decode_opcode_has(opcode, "xor"))
        buf_puts(b, ", %p7");
}

static void add_row_operands(struct buf *b, const char *opcode, int row) {
    const struct opcode_desc *r = &insn_opcodes[row];
    unsigned next = 0, n = 0;
    while (n < MAX_SRC_OPERANDS && r->src[n]) n++;
    if (r->form == FORM_CARRY && opcode[0] != 'm') n = 2;
    if (strncmp(opcode, "setp.", 5) == 0 && strlen(opcode) > 2 &&
        !strcmp(opcode + strlen(opcode) - 2, "x2"))
        buf_puts(b, "%p6|");
    add_register(b, ptx_type_bytes((enum ptx_type)r->dst), r->dst == PTX_PRED, &next);
    for (unsigned i = 0; i < n; i++) {
        buf_puts(b, ", ");
        add_register(b, ptx_type_bytes((enum ptx_type)r->src[i]), r->src[i] == PTX_PRED, &next);
    }
    if (r->form == FORM_SETP) add_combine_predicate(b, opcode);
}

static void add_set_operands(struct buf *b, const char *opcode) {
    unsigned next = 0;
    char part[16];
    unsigned parts = 0;
    while (decode_opcode_part(opcode, parts, part, sizeof part)) parts++;
    if (parts < 3) return;
    decode_opcode_part(opcode, parts - 2, part, sizeof part);
    add_register(b, ptx_type_bytes(ptx_type_of(part, strlen(part))), false, &next);
    for (unsigned i = 0; i < 2; i++) {
        buf_puts(b, ", ");
        add_register(b, ptx_type_bytes(decode_opcode_type(opcode)), false, &next);
    }
    add_combine_predicate(b, opcode);
}

/* Writes a module whose only kernel holds the instruction. */
static void write_module(const char *opcode, struct buf *b) {
    unsigned dropped;
    struct buf matrix = {0};
    const char *operands =
        decode_matrix_operands(opcode, &matrix) ? buf_str(&matrix) : find_template(opcode);
    int row = operands ? -1 : decode_find_opcode(opcode, &dropped);
    buf_puts(
        b,
        ".version 8.4\n.target sm_90\n.address_size 64\n.func callee { ret; }\n"
        ".visible .entry kernel(.param .align 16 .b8 parameter[64]) {\n"
        ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %q<8>; .reg .b128 %o<8>;\n"
        ".param .align 16 .b8 argument[64];\n");
    if (strncmp(opcode, "brx", 3) == 0) buf_puts(b, "targets: .branchtargets there;\n");
    buf_printf(b, "%s ", opcode);
    if (matrix.size) buf_puts(b, operands);
    else if (operands) add_template(b, opcode, operands);
    else if (strncmp(opcode, "set.", 4) == 0) add_set_operands(b, opcode);
    else if (row >= 0) add_row_operands(b, opcode, row);
    buf_puts(b, ";\nthere: ret;\n}\n");
    buf_free(&matrix);
}

bool coverage_supports(struct sim *s, const char *opcode, struct err *e) {
    struct buf b = {0};
    write_module(opcode, &b);
    struct sim_module *m = sim_load(s, buf_str(&b), b.size, e);
    if (m) sim_unload(s, m);
    buf_free(&b);
    return m != NULL;
}

/* ---- the command ---- */

static int check_opcodes(const char *path) {
    struct err e = {0};
    struct buf text = {0};
    struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200")}, &e);
    if (!s || !file_read(path, 1 << 20, &text, &e))
        return fprintf(stderr, "simgpu: %s\n", e.text), 2;
    unsigned supported = 0, total = 0;
    for (char *save, *line = strtok_r((char *)(uintptr_t)buf_str(&text), "\r\n", &save); line;
         line = strtok_r(NULL, "\r\n", &save)) {
        line += strspn(line, " \t");
        line[strcspn(line, " \t#")] = 0;
        if (!*line) continue;
        struct err reason = {0};
        bool is_supported = coverage_supports(s, line, &reason);
        printf("%-3s  %s\n", is_supported ? "yes" : "no", line);
        if (!is_supported) fprintf(stderr, "%s\n", reason.text);
        total++;
        supported += is_supported;
    }
    printf("%u of %u\n", supported, total);
    buf_free(&text);
    sim_close(s);
    return supported == total ? 0 : 1;
}

static const char *family_of(const char *name, char *out, size_t size) {
    decode_opcode_part(name, 0, out, size);
    return out;
}

static void add_modifiers(struct buf *b, const struct opcode_desc *r) {
    if (r->mods & MOD_RND) buf_puts(b, " .rn .rz .rm .rp");
    if (r->mods & MOD_RN) buf_puts(b, " .rn");
    if (r->mods & MOD_FTZ) buf_puts(b, " .ftz");
    if (r->mods & MOD_SAT) buf_puts(b, " .sat");
}

void coverage_markdown(struct buf *b) {
    static const char *const pipes[] = {
#define X(id, name) name,
        PIPES(X)
#undef X
    };
    buf_printf(b,
               "# PTX coverage\n\nThe %u rows of the simulator's instruction table, written by "
               "`build/simgpu coverage "
               "--markdown`. The second column lists further modifiers that a row accepts. "
               "`build/simgpu coverage FILE` "
               "shows for a list of opcodes which of them the simulator runs.\n\n"
               "| instruction | also | pipe | what it does, for one lane |\n|---|---|---|---|\n",
               insn_opcode_count);
    for (unsigned i = 0; i < insn_opcode_count; i++) {
        const struct opcode_desc *r = &insn_opcodes[i];
        buf_printf(b, "| `%s` |", r->name);
        add_modifiers(b, r);
        buf_printf(b, " | %s | ", pipes[r->pipe]);
        if (r->form != FORM_CUSTOM) buf_puts(b, "`");
        for (const char *s = r->semantics; *s; s++)
            buf_puts(b, *s == '|' ? "\\|" : (char[]){*s, 0});
        buf_puts(b, r->form != FORM_CUSTOM ? "` |\n" : " |\n");
    }
}

int coverage_main(int argc, char **argv) {
    char family[64], last[64] = "";
    if (argc > 0 && strcmp(argv[0], "--markdown") == 0) {
        struct buf b = {0};
        coverage_markdown(&b);
        fputs(buf_str(&b), stdout);
        buf_free(&b);
        return 0;
    }
    if (argc > 0) return check_opcodes(argv[0]);
    for (unsigned i = 0; i < insn_opcode_count; i++) {
        if (strcmp(family_of(insn_opcodes[i].name, family, sizeof family), last))
            printf("%s%s", i ? "\n" : "", family);
        snprintf(last, sizeof last, "%s", family);
        printf(" %s", insn_opcodes[i].name + strlen(family));
    }
    printf("\n%u rows\n", insn_opcode_count);
    return 0;
}
