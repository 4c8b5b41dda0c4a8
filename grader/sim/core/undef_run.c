/* undef_run.c — runs segments of a warp with undefined values: checks the operands that must be
 * defined, and propagates undefined bits. See undef.h. */
#include "grader/sim/code/tensor.h"
#include "grader/sim/code/tex.h"
#include "grader/sim/core/undef.h"

#include <string.h>

static const char as_address[] = "uses it as an address",
                  as_guard[] = "decides by it whether to run";

static const u64 all_ones[32] = {[0 ... 31] = ~0ull};

static void check_guard(struct exec *x, const struct op *o, u32 active) {
    undef_check_use(x, o, o->guard, 1, active, as_guard);
}

static void check_address(struct exec *x, const struct op *o, const struct mem_desc *d, u32 mask) {
    undef_check_use(x, o, o->src[0], d->address32 ? 4 : 8, mask, as_address);
}

/* ---- memory ---- */

static void run_load(struct exec *x, const struct op *o, u32 mask, u32 undef_guard_lanes) {
    const struct mem_desc *d = &x->mems[o->aux];
    u8 guard = undef_operand_origin(x, o->guard);
    check_address(x, o, d, mask);
    for (u32 e = 0; e < d->count; e++) undef_set_operand(x, d->reg[e], d->reg_bytes, mask, NULL, 0);
    if (mask) o->run(x, o, mask);
    for (u32 e = 0; undef_guard_lanes && e < d->count; e++)
        undef_set_operand(x, d->reg[e], d->reg_bytes, undef_guard_lanes, all_ones, guard);
}

static void run_store(struct exec *x, const struct op *o, u32 mask) {
    check_address(x, o, &x->mems[o->aux], mask);
    o->run(x, o, mask);
    if (!x->faulted) undef_store(x, o, mask);
}

static void run_atom(struct exec *x, const struct op *o, u32 mask) {
    static const char use_text[] = "updates memory atomically with it";
    const struct mem_desc *d = &x->mems[o->aux];
    u32 halves = d->width == 16 ? 2 : 1, width = d->width / halves;
    check_address(x, o, d, mask);
    for (u32 i = 0; i < 2; i++)
        for (u32 h = 0; d->operand[i] != REF_NONE && h < halves; h++)
            undef_check_use(x, o, d->operand[i] + 256 * h, width, mask, use_text);
    o->run(x, o, mask);
    for (u32 h = 0; d->result != REF_NONE && h < halves; h++)
        undef_set_operand(x, d->result + 256 * h, width, mask, NULL, 0);
}

/* Runs a load or store of a device function's parameter. Parameters are words of the frame, so the
 * op runs on the shadow, too. */
static void run_parameter(struct exec *x, const struct op *o, u32 mask, u32 undef_guard_lanes) {
    const struct mem_desc *d = &x->mems[o->aux], *mems = x->mems;
    struct mem_desc shadow_desc = *d;
    struct op shadow_op = *o;
    unsigned char *words = x->base[BASE_FRAME] + o->target + o->imm / 4 * 128;
    u32 nwords = (u32)(o->imm % 4 + d->width * d->count + 3) / 4;
    u8 origin = 0;
    for (u32 e = 0; d->verb != MEM_LOAD && e < d->count; e++)
        origin = origin ? origin : undef_operand_origin(x, d->reg[e]);
    for (u32 i = 0; d->verb == MEM_LOAD && i < nwords; i++)
        origin = origin ? origin : *undef_origin_of(x->warp, words + i * 128);
    for (u32 e = 0; e < d->count; e++) shadow_desc.reg[e] = undef_source_ref(d->reg[e]);
    o->run(x, o, mask);
    shadow_op.aux = 0;
    struct undef_saved_bases saved = undef_enter_shadow(x);
    x->mems = &shadow_desc;
    shadow_op.run(x, &shadow_op, mask | undef_guard_lanes);
    x->mems = mems;
    undef_leave_shadow(x, &saved);
    for (u32 e = 0; d->verb == MEM_LOAD && e < d->count; e++)
        if (d->reg[e] != REF_NONE)
            undef_refresh(x->warp, operand_at(x, d->reg[e]), d->reg_bytes, origin);
    for (u32 i = 0; d->verb != MEM_LOAD && i < nwords; i++)
        undef_refresh(x->warp, words + i * 128, 4, origin);
}

/* ---- other instructions ---- */

static void run_mbarrier(struct exec *x, const struct op *o, u32 mask) {
    undef_check_use(x, o, o->src[0], 8, mask, as_address);
    o->run(x, o, mask);
    bool predicate =
        o->dst != REF_NONE && o->src[2] != REF_NONE; /* a wait has a token or a parity */
    undef_set_operand(x, o->dst, predicate ? 1 : 8, mask, NULL, 0);
}

static void run_cp_async(struct exec *x, const struct op *o, u32 mask) {
    static const char use_text[] = "decides by it how much to copy";
    const struct mem_desc *d = &x->mems[o->aux];
    undef_check_use(x, o, o[o->target].src[0], d->address32 ? 4 : 8, mask, as_address);
    undef_check_use(x, o, o->src[1], 4, mask, use_text);
    undef_check_use(x, o, o->src[2], 1, mask, use_text);
    for (u32 e = 0; e < d->count; e++) undef_set_operand(x, d->reg[e], d->reg_bytes, mask, NULL, 0);
    o->run(x, o, mask);
    undef_set_operand(x, o->dst, 1, ~0u, NULL, 0);
}

static void run_cp_async_bulk(struct exec *x, const struct op *o, u32 mask) {
    undef_check_use(x, o, o->src[0], 8, mask, as_address);
    undef_check_use(x, o, o->src[1], 8, mask, as_address);
    undef_check_use(x, o, o->src[2], 4, mask, "decides by it how much to copy");
    if (o->src[3] != REF_NONE) undef_check_use(x, o, o->src[3], 8, mask, as_address);
    o->run(x, o, mask);
}

static void run_cp_async_tensor(struct exec *x, const struct op *o, u32 mask) {
    const struct tensor_desc *d = &x->worker->launch->module->tensors[o->target];
    undef_check_use(x, o, o->src[0], 8, mask, as_address);
    undef_check_use(x, o, o->src[1], 8, mask, as_address);
    if (o->src[3] != REF_NONE) undef_check_use(x, o, o->src[3], 8, mask, as_address);
    for (u32 i = 0; i < d->rank; i++)
        undef_check_use(x, o, d->coord[i], 4, mask, "copies a tile at it");
    if (d->cta_mask != REF_NONE)
        undef_check_use(x, o, d->cta_mask, 2, mask, "decides by it which blocks get a tile");
    o->run(x, o, mask);
}

static void run_tensormap(struct exec *x, const struct op *o, u32 mask) {
    undef_check_use(x, o, o->src[0], 8, mask, as_address);
    if (o->src[1] != REF_NONE)
        undef_check_use(x, o, o->src[1], 8, mask, "puts it into a tensor map");
    o->run(x, o, mask);
}

static void run_alloca(struct exec *x, const struct op *o, u32 mask) {
    undef_check_use(x, o, o->src[0], 4, mask, "takes as many bytes of stack");
    o->run(x, o, mask);
    undef_set_operand(x, o->dst, 8, mask, NULL, 0);
}

static void run_unchecked(struct exec *x, const struct op *o, u32 mask) { o->run(x, o, mask); }

/* Checks a texture access: the handle and a surface's coordinates must be defined, a texture's
 * coordinates need not be. */
static void run_texture(struct exec *x, const struct op *o, u32 mask) {
    const struct tex_desc *d = &x->worker->launch->module->texs[o->target];
    undef_check_use(x, o, d->handle, 8, mask, "uses it as a texture or surface");
    undef_check_use(x, o, d->layer, 4, mask, as_address);
    for (u32 i = 0; i < d->ncoords; i++) undef_check_use(x, o, d->coord[i], 4, mask, as_address);
    for (u32 i = 0; d->verb == SURF_STORE && i < d->ndst; i++)
        undef_check_use(x, o, d->dst[i], d->reg_bytes, mask, "stores it in a surface");
    o->run(x, o, mask);
    for (u32 i = 0; d->verb != SURF_STORE && i < d->ndst; i++)
        undef_set_operand(x, d->dst[i], d->reg_bytes, mask, NULL, 0);
}

/* ---- one op ---- */

/* Opcodes that change more than a register, or need a defined operand; they run only for lanes
 * whose guard is true. */
static const struct {
    const char *name;
    void (*run)(struct exec *x, const struct op *o, u32 mask);
} special_ops[] = {
    {"st", run_store},
    {"atom", run_atom},
    {"mbarrier", run_mbarrier},
    {"cp.async", run_cp_async},
    {"cp.async.bulk", run_cp_async_bulk},
    {"cp.async.bulk.tensor", run_cp_async_tensor},
    {"tensormap", run_tensormap},
    {"cp.async.group", run_unchecked},
    {"alloca", run_alloca},
    {"tex", run_texture},
    {"tld4", run_texture},
    {"suld", run_texture},
    {"sust", run_texture},
    {"mma", run_unchecked}, /* they propagate undefined bits themselves: insn/exec_matrix.c */
    {"wgmma", run_unchecked},
    {"wgmma.group", run_unchecked},
    {"wgmma.fence", run_unchecked},
    {"wgmma.note", run_unchecked},
    {"matrix.fragments", run_unchecked},
    {"matrix.rows", run_unchecked},
    {"movmatrix", run_unchecked},
};

static u32 guard_mask(const struct exec *x, const struct op *o) {
    return *(const u32 *)operand_at(x, o->guard) ^ o->guard_xor;
}

static bool run_special(struct exec *x, const struct op *o, u32 active) {
    const char *name = insn_opcodes[o->opcode].name;
    u32 mask = active & guard_mask(x, o);
    for (unsigned i = 0; i < sizeof special_ops / sizeof *special_ops; i++) {
        if (strcmp(special_ops[i].name, name) != 0) continue;
        check_guard(x, o, active);
        if (mask) special_ops[i].run(x, o, mask);
        return true;
    }
    return false;
}

static void run_op(struct exec *x, const struct op *o, u32 active) {
    u32 mask = active & guard_mask(x, o),
        undef_guard_lanes =
            undef_operand_origin(x, o->guard) ? undef_operand_lanes(x, o->guard, 1) & active : 0;
    const struct opcode_desc *r = &insn_opcodes[o->opcode];
    if (!x->warp->nundef) {
        if (mask) o->run(x, o, mask);
        return;
    }
    if (r->form == FORM_CUSTOM && run_special(x, o, active)) return;
    if (!mask && !undef_guard_lanes) return;
    if (r->form == FORM_CUSTOM && !strcmp(r->name, "ld")) run_load(x, o, mask, undef_guard_lanes);
    else if (r->form == FORM_CUSTOM && !strncmp(r->name, "param", 5))
        run_parameter(x, o, mask, undef_guard_lanes);
    else undef_run_lane_op(x, o, mask, undef_guard_lanes);
}

/* ---- control ---- */

static void check_call(struct exec *x, const struct op *o, u32 mask) {
    const struct call_desc *d = &x->worker->launch->module->calls[o->aux];
    static const char *const use_text[] = {[BUILTIN_VPRINTF] = "prints by it",
                                           [BUILTIN_MALLOC] = "allocates as many bytes",
                                           [BUILTIN_FREE] = "frees it",
                                           [BUILTIN_ASSERTFAIL] = "asserts by it",
                                           [BUILTIN_GRAPH_SET_CONDITIONAL] =
                                               "lets it decide a node of a graph"};
    if (d->callee == UINT32_MAX && !d->builtin)
        undef_check_use(x, o, d->target, 8, mask, "calls through it");
    for (u32 i = 0; d->builtin && i < d->nargs; i++)
        for (u32 w = 0; w < d->args[i].bytes / 4; w++)
            undef_check_use(x, o, REF(BASE_FRAME, d->args[i].offset + w * 128), 4, mask,
                            d->builtin < BUILTIN_GET_PARAM_BUFFER
                                ? use_text[d->builtin]
                                : "hands it to the device runtime");
}

static void check_barrier(struct exec *x, const struct op *o, u32 mask) {
    const struct bar_desc *d = &x->worker->launch->module->bars[o->aux];
    undef_check_use(x, o, d->id, 4, mask, "waits at the barrier of that number");
    undef_check_use(x, o, d->count, 4, mask, "waits for as many threads");
    if (d->reduction) undef_check_use(x, o, d->pred_source, 1, mask, "reduces it over the block");
}

static void check_control(struct exec *x, const struct op *o, u32 active) {
    bool branches = o->kind == OP_BRA || o->kind == OP_BRX;
    u32 mask = active & guard_mask(x, o);
    undef_check_use(x, o, o->guard, 1, active, branches ? "branches on it" : as_guard);
    switch ((enum op_kind)o->kind) {
    case OP_BRX: undef_check_use(x, o, o->src[0], 4, mask, "branches on it"); break;
    case OP_CALL: check_call(x, o, mask); break;
    case OP_BAR: check_barrier(x, o, mask); break;
    case OP_WARP_SYNC:
        undef_check_use(x, o, x->worker->launch->module->warp_syncs[o->aux].member_mask, 4, mask,
                        "passes it as a member mask");
        break;
    default: break;
    }
}

const struct op *undef_run_segment(struct exec *x, u32 active) {
    const struct op *o = x->undef_load + 1;
    for (; o->kind == OP_LANEWISE; o++) run_op(x, o, active);
    if (x->warp->nundef) check_control(x, o, active);
    return o;
}
