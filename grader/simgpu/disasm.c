/* disasm.c — `simgpu disasm FILE [KERNEL]`: prints device code as the simulator decodes it, with
 * its source lines.
 *
 * FILE is PTX text, or a program or shared object that nvcc built, in which the fat binary is found
 * by its magic. An op is shown with its segment's place, its row's name, where its operands lie (r
 * registers of the frame, c constants with their value, w and b values of the warp and of the
 * block) and what it jumps to. */
#include "common/file.h"
#include "grader/sim/code/decode.h"
#include "grader/simgpu/tools.h"
#include "grader/sim/timing/timing.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FILE_BYTES = 512 << 20 };

/* ---- one op ---- */

static void print_const(const struct sim_module *m, ref r, unsigned bytes) {
    u64 v = 0;
    memcpy(&v, m->consts + ref_offset(r), bytes == 1 ? 4 : bytes);
    printf(bytes == 1 ? (v ? "true" : "false") : "#0x%llx", (unsigned long long)v);
}

static void print_ref(const struct sim_module *m, ref r, unsigned bytes) {
    static const char *const names[] = {WARP_SLOT_NAMES};
    static const char *const block_names[] = {BLOCK_SLOT_NAMES};
    u32 at = ref_offset(r);
    if (r == REF_NONE) printf("_");
    else if (ref_base(r) == BASE_FRAME) printf("r%u", at);
    else if (ref_base(r) == BASE_CONST) print_const(m, r, bytes ? bytes : 4);
    else if (ref_base(r) == BASE_WARP && at / SLOT_BYTES < W_SLOT_COUNT)
        printf("%s", *names[at / SLOT_BYTES] ? names[at / SLOT_BYTES] : "%stack");
    else if (ref_base(r) == BASE_BLOCK && at / SLOT_BYTES < B_SLOT_COUNT)
        printf("%s", *block_names[at / SLOT_BYTES] ? block_names[at / SLOT_BYTES] : "%launch");
    else printf("b%u", at);
}

static void print_memory(const struct sim_module *m, const struct op *o) {
    static const char *const spaces[] = {"generic", "global", "shared", "local", "const", "param"};
    const struct mem_desc *d = &m->mems[o->aux];
    printf(" %s %u×%u bytes [", spaces[d->space], d->count, d->width);
    print_ref(m, o->src[0], 8);
    printf("%+lld]", (long long)o->imm);
    bool is_atomic = d->verb == MEM_ATOM || d->verb == MEM_RED;
    for (u32 i = 0; i < (is_atomic ? 2u : d->count); i++) {
        ref r = is_atomic ? d->operand[i] : d->reg[i];
        if (is_atomic && r == REF_NONE) continue;
        printf(", ");
        print_ref(m, r, d->reg_bytes);
    }
    if (d->result != REF_NONE && is_atomic) printf(" -> "), print_ref(m, d->result, d->reg_bytes);
}

static void print_op(const struct sim_module *m, u32 index) {
    static const char *const rounding[] = {"", " rm", " rp", " rz"};
    const struct op *o = &m->ops[index];
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    printf("%6u  ", index);
    if (ref_base(o->guard) != BASE_CONST)
        printf("@%s", o->guard_xor ? "!" : ""), print_ref(m, o->guard, 1), printf(" ");
    printf("%s%s%s%s", o->kind == OP_FALLTHROUGH ? "(fall through)" : r->name, rounding[o->env & 3],
           o->env & ENV_FTZ ? " ftz" : "", o->flags & OPF_SAT ? " sat" : "");
    bool is_memory =
        strcmp(r->name, "ld") == 0 || strcmp(r->name, "st") == 0 || strcmp(r->name, "atom") == 0;
    if (is_memory) print_memory(m, o);
    if (!is_memory && o->dst != REF_NONE)
        printf(" "), print_ref(m, o->dst, ptx_type_bytes((enum ptx_type)r->dst));
    for (unsigned i = 0; !is_memory && i < MAX_SRC_OPERANDS; i++)
        if (o->src[i] != REF_NONE)
            printf(", "),
                print_ref(m, o->src[i], r->src[i] ? ptx_type_bytes((enum ptx_type)r->src[i]) : 4);
    if (o->kind == OP_BRA) printf(" -> %u", o->target);
    if (!o->weight) printf("   (added)");
    printf("\n");
}

/* ---- a function ---- */

static void print_line(const struct sim_module *m, u32 loc, u32 *last) {
    if (loc == *last) return;
    *last = loc;
    const struct ptx_loc *l = &m->ptx->locs[loc];
    if (l->file < m->ptx->nfiles && m->ptx->files[l->file])
        printf("; %s:%u%s\n", m->ptx->files[l->file], l->line, l->inlined_at ? " (inlined)" : "");
}

static void print_code(const struct sim_module *m, const struct sim_func *c) {
    printf(
        "%s %s: %u bytes of registers a warp, %u of local memory a thread, %u of shared memory\n",
        c->func->is_entry ? "kernel" : "function", c->name, c->frame_bytes, c->local_bytes,
        c->static_shared);
    u32 last = 0;
    for (u32 i = c->first_op; i < c->end_op; i++) {
        print_line(m, m->ops[i].loc, &last);
        print_op(m, i);
    }
    printf("\n");
}

static bool print_functions(struct sim *s, const char *ptx, size_t n, const char *kernel,
                            struct err *e) {
    struct sim_module *m = sim_load(s, ptx, n, e);
    if (!m) return false;
    bool found = false;
    for (u32 i = 0; i < m->nfuncs; i++) {
        if (kernel && !strstr(m->funcs[i].name, kernel)) continue;
        print_code(m, &m->funcs[i]);
        found = true;
    }
    return found || err_set(e, ERR_INPUT, "no function whose name contains `%s`", kernel);
}

/* ---- the file: PTX, or an object that holds fat binaries ---- */

static bool print_fatbins(struct sim *s, const struct buf *file, const char *kernel,
                          struct err *e) {
    static const u32 magic = 0xba55ed50;
    bool any = false;
    for (size_t at = 0; at + 16 < file->size; at += 8) {
        if (memcmp(file->data + at, &magic, 4) != 0) continue;
        struct arena a = {0};
        size_t n;
        const char *ptx = ptx_from_fatbin(&a, file->data + at, file->size - at, 90, &n, e);
        if (ptx && print_functions(s, ptx, n, kernel, e)) any = true;
        arena_free(&a);
    }
    if (!any && !e->kind)
        err_set(e, ERR_INPUT,
                "no device code: neither PTX text nor an object that nvcc built with PTX");
    return any;
}

int disasm_main(int argc, char **argv) {
    struct err e = {0};
    struct buf file = {0};
    if (argc < 1 || argc > 2)
        return fprintf(stderr, "usage: simgpu disasm FILE.ptx|OBJECT|PROGRAM [KERNEL]\n"), 2;
    struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200")}, &e);
    bool ok = s && file_read(argv[0], MAX_FILE_BYTES, &file, &e);
    const char *kernel = argc > 1 ? argv[1] : NULL;
    bool is_text = ok && memmem(file.data, file.size < 65536 ? file.size : 65536, ".version", 8) &&
                   memcmp(file.data, "\177ELF", 4) != 0;
    ok = ok && (is_text ? print_functions(s, file.data, file.size, kernel, &e)
                        : print_fatbins(s, &file, kernel, &e));
    if (!ok) fprintf(stderr, "simgpu disasm: %s: %s\n", argv[0], e.text);
    buf_free(&file);
    sim_close(s);
    return ok ? 0 : 1;
}
