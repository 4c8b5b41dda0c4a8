/* underlying_object.c — finds what an address is computed from: kernel parameters and variables, or
 * arrays in shared memory. The decoder calls it for each function.
 *
 * Each register has a set of the objects that its value may be computed from. The sets grow, in the
 * order of the code and around its loops, until nothing changes; a value from memory, from a call
 * or from an object beyond the set's size may be anything. There are three uses.
 *
 * Only what some instruction of a launch may write can race, so race/ skips loads of everything
 * else. Once the parameters have their values, the set of a store's address says which allocations
 * it reaches: those that one of the parameters points into. If none of them does, because the
 * kernel puts the address together from parts, the store may reach anything. A store that leaves
 * these allocations is noticed when it runs (race/writable_allocations.c).
 *
 * For an access out of bounds, the set says which buffer it was meant for.
 *
 * An address that is computed from exactly one array in shared memory must lie in it. Numbers of 32
 * bits that come from memory, and kernel parameters, are indices here. */
#include "grader/sim/code/decode.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PASSES = 64, MAX_MOD_SETS = 32 /* more count as unknown */ };
#define OBJ_SET_UNKNOWN (1ull << OBJ_UNKNOWN)

struct object_ctx {
    const struct decoder *d;
    bool tracks_arrays; /* tracks arrays in shared memory; else parameters and variables */
    u64 *regs;
};

static int parameter_index(const struct ptx_func *f, const struct ptx_var *v) {
    for (unsigned i = 0; i < f->nparams; i++)
        if (v == &f->params[i]) return (int)i;
    return -1;
}

static u64 objects_of_array(const struct decoder *d, const struct ptx_var *v) {
    if (v->space != PTX_SHARED) return 0;
    for (u32 i = 0; i < d->nshared_vars && i < OBJ_MODULE_VARS; i++)
        if (d->shared_vars[i].var == v) return 1ull << i;
    return OBJ_SET_UNKNOWN; /* dynamic shared memory has any size */
}

/* Returns the objects that the address of a variable leads to. */
static u64 objects_of_variable(const struct object_ctx *s, const struct ptx_var *v) {
    int i = parameter_index(s->d->f, v);
    if (s->tracks_arrays) return objects_of_array(s->d, v);
    if (i >= 0) return i < OBJ_MODULE_VARS ? 1ull << i : OBJ_SET_UNKNOWN;
    if (v->space == PTX_GLOBAL || v->space == PTX_CONST) return 1ull << OBJ_MODULE_VARS;
    /* A .param variable holds what a call returned; shared and local memory is no object here. */
    return v->space == PTX_PARAM ? OBJ_SET_UNKNOWN : 0;
}

static u64 objects_of_operand(const struct object_ctx *s, const struct ptx_operand *p) {
    u64 set = 0;
    for (unsigned i = 0; i < p->nitems; i++) set |= objects_of_operand(s, &p->items[i]);
    if (p->var) set |= objects_of_variable(s, p->var);
    if ((p->kind == PTX_OP_REG || p->kind == PTX_OP_ADDRESS) && p->reg >= 0) set |= s->regs[p->reg];
    if (p->kind == PTX_OP_SREG && strncmp(p->name, "%envreg", 7) == 0)
        set |= 1ull << OBJ_MODULE_VARS; /* the workspace of the grid barrier */
    return set;
}

static bool is_family(const struct ptx_insn *in, const char *name) {
    size_t n = strlen(name);
    return strncmp(in->opcode, name, n) == 0 && (in->opcode[n] == '.' || !in->opcode[n]);
}

/* Returns the objects of a value that a load or an atomic returns. */
static u64 objects_of_load(const struct object_ctx *s, const struct ptx_insn *in) {
    const struct ptx_operand *from = in->noperands > 1 ? &in->operands[1] : NULL;
    bool formal =
        from && from->var && s->d->f->is_entry && parameter_index(s->d->f, from->var) >= 0;
    bool param =
        decode_opcode_has(in->opcode, "param") || decode_opcode_has(in->opcode, "param::entry");
    if (s->tracks_arrays)
        return formal || ptx_type_bytes(decode_opcode_type(in->opcode)) < 8 ? 0 : OBJ_SET_UNKNOWN;
    return param && from ? objects_of_operand(s, from) : OBJ_SET_UNKNOWN;
}

static u64 objects_of_result(const struct object_ctx *s, const struct ptx_insn *in) {
    u64 set = 0;
    if (is_family(in, "ld") || is_family(in, "ldu") || is_family(in, "atom"))
        return objects_of_load(s, in);
    for (unsigned k = 1; k < in->noperands; k++) set |= objects_of_operand(s, &in->operands[k]);
    return set;
}

/* Adds `set` to the registers that the operand writes; returns true on a change. */
static bool add_objects(u64 *regs, const struct ptx_operand *p, u64 set) {
    bool changed = false;
    for (unsigned i = 0; i < p->nitems; i++) changed |= add_objects(regs, &p->items[i], set);
    int written[] = {p->kind == PTX_OP_REG ? p->reg : -1, p->second_reg};
    for (unsigned i = 0; i < 2; i++) {
        if (written[i] < 0) continue;
        changed |= (set & ~regs[written[i]]) != 0;
        regs[written[i]] |= set;
    }
    return changed;
}

/* Computes the sets; returns false if they don't settle. */
static bool solve_objects(const struct object_ctx *s) {
    const struct ptx_func *f = s->d->f;
    bool changed = true;
    for (u32 iteration = 0; changed && iteration < MAX_PASSES; iteration++) {
        changed = false;
        for (u32 i = 0; i < f->ninsns; i++) {
            const struct ptx_insn *in = &f->insns[i];
            if (in->noperands && decode_writes_first_operand(in))
                changed |= add_objects(s->regs, &in->operands[0], objects_of_result(s, in));
        }
    }
    return !changed;
}

/* Returns true if the call may run code of the module, which may store anywhere. An indirect call
 * may. */
static bool may_call_defined_code(const struct decoder *d, const struct ptx_insn *in) {
    for (unsigned k = 0; k < in->noperands; k++) {
        const struct ptx_func *callee = in->operands[k].kind == PTX_OP_FUNC
                                            ? ptx_module_func(d->m->ptx, in->operands[k].name)
                                            : NULL;
        if (in->operands[k].kind == PTX_OP_FUNC) return callee && callee->has_body;
    }
    return true;
}

static bool is_non_global(const char *opcode) {
    static const char *const spaces[] = {"shared", "shared::cta", "shared::cluster",
                                         "local",  "param",       "param::func"};
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (decode_opcode_has(opcode, spaces[i])) return true;
    return false;
}

/* Returns the objects that one instruction may write. */
static u64 mod_set_of(const struct object_ctx *s, const struct ptx_insn *in) {
    bool atomic = is_family(in, "atom");
    bool store =
        is_family(in, "st") || is_family(in, "red") || decode_opcode_has(in->opcode, "store");
    bool bulk = strncmp(in->opcode, "cp.async.bulk.global.", 21) == 0;
    bool tensor = strstr(in->opcode, "bulk.tensor.") && in->noperands &&
                  in->operands[0].nitems; /* a store to the tensor of a map */
    bool map = is_family(in, "tensormap") &&
               (strstr(in->opcode, ".cp_fenceproxy.") || !strstr(in->opcode, ".shared::cta."));
    if (tensor) return OBJ_SET_UNKNOWN;
    if (is_family(in, "call")) return may_call_defined_code(s->d, in) ? OBJ_SET_UNKNOWN : 0;
    if ((bulk || map) && in->noperands) return objects_of_operand(s, &in->operands[0]);
    if ((!atomic && !store) || is_non_global(in->opcode) || in->noperands <= (unsigned)atomic)
        return 0;
    const struct ptx_operand *to = &in->operands[atomic];
    if (to->reg < 0 && !to->var) return OBJ_SET_UNKNOWN; /* an absolute address */
    return objects_of_operand(s, to);
}

static void add_mod_set(struct sim_func *c, u64 set) {
    for (u32 i = 0; i < c->nmod_sets; i++)
        if (c->mod_sets[i] == set) return;
    if (!set) return;
    if (c->nmod_sets < MAX_MOD_SETS) c->mod_sets[c->nmod_sets++] = set;
    else c->mod_sets[0] = OBJ_SET_UNKNOWN;
}

void decode_find_mod_sets(struct decoder *d) {
    struct object_ctx s = {.d = d, .regs = xcalloc(d->f->nregs + 1, sizeof *s.regs)};
    d->c->mod_sets = arena_array(&d->m->arena, u64, MAX_MOD_SETS);
    add_mod_set(d->c, solve_objects(&s) ? 0 : OBJ_SET_UNKNOWN);
    for (u32 i = 0; i < d->f->ninsns; i++) add_mod_set(d->c, mod_set_of(&s, &d->f->insns[i]));
    free(s.regs);
}

u64 *decode_param_objects(const struct decoder *d) {
    struct object_ctx s = {.d = d};
    if (!d->f->is_entry) return NULL;
    s.regs = xcalloc(d->f->nregs + 1, sizeof *s.regs);
    if (solve_objects(&s)) return s.regs;
    free(s.regs);
    return NULL;
}

u64 decode_underlying_objects(const struct decoder *d, const struct ptx_operand *p) {
    const struct object_ctx s = {.d = d, .regs = d->reg_objects};
    return d->reg_objects ? objects_of_operand(&s, p) : OBJ_SET_UNKNOWN;
}

/* ---- arrays in shared memory ---- */

u64 *decode_array_objects(const struct decoder *d) {
    struct object_ctx s = {.d = d, .tracks_arrays = true};
    if (!d->nshared_vars) return NULL;
    s.regs = xcalloc(d->f->nregs + 1, sizeof *s.regs);
    if (solve_objects(&s)) return s.regs;
    free(s.regs);
    return NULL;
}

const struct var_offset *decode_underlying_array(const struct decoder *d,
                                                 const struct ptx_operand *p) {
    const struct object_ctx s = {.d = d, .tracks_arrays = true, .regs = d->reg_arrays};
    u64 set = d->reg_arrays ? objects_of_operand(&s, p) : 0;
    return set && !(set & (set - 1)) && !(set >> OBJ_MODULE_VARS)
               ? &d->shared_vars[__builtin_ctzll(set)]
               : NULL;
}
