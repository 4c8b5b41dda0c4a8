/* roots.c — what an address is made from: kernel parameters and variables, or arrays in shared
 * memory.
 *
 * Each register has the set of things that its value may be made from, in the order of the code and
 * round its loops until nothing changes; what comes from memory, from a call or from a thing beyond
 * the set's size may be anything. Two uses:
 *
 * Only what some instruction of a launch may change can race, so loads of everything else need not
 * be noted. The set of a store's address says, once the parameters have their values, which
 * allocations it reaches: those that one of the parameters points into. An address that is moved
 * from one allocation into another is out of bounds in the language, and looks like one in bounds
 * to any checker.
 *
 * What an address is made from also says which buffer an access meant that left it.
 *
 * An address that is made from one array in shared memory and from no other must lie in it. Numbers
 * from memory, of 32 bits or from parameters of a kernel, are indices here. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PASSES = 64 };
#define UNKNOWN (1ull << ROOT_UNKNOWN)

struct search {
    const struct decoder *d;
    bool arrays; /* in shared memory; else parameters and variables */
    u64 *regs;
};

static int parameter_of(const struct ptx_func *f, const struct ptx_var *v) {
    for (unsigned i = 0; i < f->nparams; i++)
        if (v == &f->params[i]) return (int)i;
    return -1;
}

static u64 of_array(const struct decoder *d, const struct ptx_var *v) {
    if (v->space != PTX_SHARED) return 0;
    for (u32 i = 0; i < d->nshareds && i < ROOT_VARIABLES; i++)
        if (d->shareds[i].var == v) return 1ull << i;
    return UNKNOWN; /* dynamic: of any size */
}

/* What the address of a variable leads to. */
static u64 of_variable(const struct search *s, const struct ptx_var *v) {
    int i = parameter_of(s->d->f, v);
    if (s->arrays) return of_array(s->d, v);
    if (i >= 0) return i < ROOT_VARIABLES ? 1ull << i : UNKNOWN;
    if (v->space == PTX_GLOBAL || v->space == PTX_CONST) return 1ull << ROOT_VARIABLES;
    return v->space == PTX_PARAM ? UNKNOWN : 0; /* what a call returned; shared and local memory */
}

static u64 of_operand(const struct search *s, const struct ptx_operand *p) {
    u64 set = 0;
    for (unsigned i = 0; i < p->nitems; i++) set |= of_operand(s, &p->items[i]);
    if (p->var) set |= of_variable(s, p->var);
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0) set |= s->regs[p->reg];
    if (p->kind == PTX_OP_SREG && strncmp(p->name, "%envreg", 7) == 0)
        set |= 1ull << ROOT_VARIABLES; /* the grid's barrier */
    return set;
}

static bool is_family(const struct ptx_insn *in, const char *name) {
    size_t n = strlen(name);
    return strncmp(in->opcode, name, n) == 0 && (in->opcode[n] == '.' || !in->opcode[n]);
}

/* What a load or an atomic gives. */
static u64 loaded(const struct search *s, const struct ptx_insn *in) {
    const struct ptx_operand *from = in->noperands > 1 ? &in->operands[1] : NULL;
    bool formal = from && from->var && s->d->f->is_entry && parameter_of(s->d->f, from->var) >= 0;
    bool param =
        decode_opcode_has(in->opcode, "param") || decode_opcode_has(in->opcode, "param::entry");
    if (s->arrays)
        return formal || ptx_type_bytes(decode_opcode_type(in->opcode)) < 8 ? 0 : UNKNOWN;
    return param && from ? of_operand(s, from) : UNKNOWN;
}

static u64 result(const struct search *s, const struct ptx_insn *in) {
    u64 set = 0;
    if (is_family(in, "ld") || is_family(in, "ldu") || is_family(in, "atom")) return loaded(s, in);
    for (unsigned k = 1; k < in->noperands; k++) set |= of_operand(s, &in->operands[k]);
    return set;
}

/* Adds to the registers that the operand writes. */
static bool add(u64 *regs, const struct ptx_operand *p, u64 set) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= add(regs, &p->items[i], set);
    int written[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second};
    for (unsigned i = 0; i < 2; i++) {
        if (written[i] < 0) continue;
        changed |= (set & ~regs[written[i]]) != 0;
        regs[written[i]] |= set;
    }
    return changed;
}

/* Fills the sets; false if they did not settle. */
static bool find(const struct search *s) {
    const struct ptx_func *f = s->d->f;
    bool changed = true;
    for (u32 pass = 0; changed && pass < MOST_PASSES; pass++) {
        changed = false;
        for (u32 i = 0; i < f->ninsns; i++) {
            const struct ptx_insn *in = &f->insns[i];
            if (in->noperands && decode_writes_first_operand(in))
                changed |= add(s->regs, &in->operands[0], result(s, in));
        }
    }
    return !changed;
}

/* A function that is defined in the module may store where it likes, one that is looked up may too.
 */
static bool calls_code(const struct decoder *d, const struct ptx_insn *in) {
    for (unsigned k = 0; k < in->noperands; k++) {
        const struct ptx_func *callee = in->operands[k].kind == PTX_OP_FUNC
                                            ? ptx_module_func(d->m->ptx, in->operands[k].name)
                                            : NULL;
        if (in->operands[k].kind == PTX_OP_FUNC) return callee && callee->has_body;
    }
    return true;
}

static bool leaves_global_alone(const char *opcode) {
    static const char *const spaces[] = {"shared", "shared::cta", "shared::cluster",
                                         "local",  "param",       "param::func"};
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (decode_opcode_has(opcode, spaces[i])) return true;
    return false;
}

/* What one instruction may change. */
static u64 changed_by(const struct search *s, const struct ptx_insn *in) {
    bool atomic = is_family(in, "atom");
    bool store =
        is_family(in, "st") || is_family(in, "red") || decode_opcode_has(in->opcode, "store");
    bool bulk = strncmp(in->opcode, "cp.async.bulk.global.", 21) == 0;
    bool tensor = strstr(in->opcode, "bulk.tensor.") && in->noperands &&
                  in->operands[0].nitems; /* to a map's tensor */
    bool map = is_family(in, "tensormap") &&
               (strstr(in->opcode, ".cp_fenceproxy.") || !strstr(in->opcode, ".shared::cta."));
    if (tensor) return UNKNOWN;
    if (is_family(in, "call")) return calls_code(s->d, in) ? UNKNOWN : 0;
    if ((bulk || map) && in->noperands) return of_operand(s, &in->operands[0]);
    if ((!atomic && !store) || leaves_global_alone(in->opcode) || in->noperands <= (unsigned)atomic)
        return 0;
    const struct ptx_operand *to = &in->operands[atomic];
    if (to->reg < 0 && !to->var) return UNKNOWN; /* an absolute address */
    return of_operand(s, to);
}

u64 decode_roots_changed(const struct decoder *d) {
    struct search s = {.d = d, .regs = xcalloc(d->f->nregs + 1, sizeof *s.regs)};
    u64 set = find(&s) ? 0 : UNKNOWN;
    for (u32 i = 0; i < d->f->ninsns; i++) set |= changed_by(&s, &d->f->insns[i]);
    free(s.regs);
    return set;
}

u64 *decode_roots_params(const struct decoder *d) {
    struct search s = {.d = d};
    if (!d->f->is_entry) return NULL;
    s.regs = xcalloc(d->f->nregs + 1, sizeof *s.regs);
    if (find(&s)) return s.regs;
    free(s.regs);
    return NULL;
}

u64 decode_roots_of(const struct decoder *d, const struct ptx_operand *p) {
    const struct search s = {.d = d, .regs = d->roots};
    return d->roots ? of_operand(&s, p) : UNKNOWN;
}

/* ---- arrays in shared memory ---- */

u64 *decode_roots_arrays(const struct decoder *d) {
    struct search s = {.d = d, .arrays = true};
    if (!d->nshareds) return NULL;
    s.regs = xcalloc(d->f->nregs + 1, sizeof *s.regs);
    if (find(&s)) return s.regs;
    free(s.regs);
    return NULL;
}

const struct var_place *decode_roots_array_of(const struct decoder *d,
                                              const struct ptx_operand *p) {
    const struct search s = {.d = d, .arrays = true, .regs = d->arrays};
    u64 set = d->arrays ? of_operand(&s, p) : 0;
    return set && !(set & (set - 1)) && !(set >> ROOT_VARIABLES) ? &d->shareds[__builtin_ctzll(set)]
                                                                 : NULL;
}
