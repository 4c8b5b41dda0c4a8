/* decode_control.c — decodes branches, calls, barriers and warp syncs. See decode.h. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/async.h"

#include <string.h>

/* ---- branches: targets are PTX instruction indices until decode.c lays the function out ---- */

bool decode_branch(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    if (in->opcode[2] == 'a') {
        if (in->noperands < 1 || in->operands[0].kind != PTX_OP_LABEL)
            return decode_unsupported(d, "missing label in");
        decode_emit_named(d, "bra")->target = in->operands[0].target;
        return true;
    }
    ref index;
    if (in->noperands < 2 || in->operands[1].kind != PTX_OP_TABLE ||
        !decode_source(d, &in->operands[0], PTX_U32, &index))
        return decode_unsupported(d, "missing table of targets in");
    const struct ptx_table *t = &d->f->tables[in->operands[1].target];
    struct branch_table table = {arena_array(&d->m->arena, u32, t->ntargets), t->ntargets};
    memcpy(table.targets, t->targets, t->ntargets * sizeof(u32));
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->tables, d->m->ntables, table);
    struct op *o = decode_emit_named(d, "brx");
    o->src[0] = index;
    o->aux = aux;
    return true;
}

bool decode_return(struct decoder *d) {
    const char *opcode = d->insn->opcode;
    bool is_trap = strcmp(opcode, "trap") == 0, is_exit = strncmp(opcode, "exit", 4) == 0;
    if (!is_trap && !is_exit) decode_emit_stack_epilogue(d);
    struct op *o = decode_emit_named(d, is_trap ? "trap" : is_exit ? "exit" : "ret");
    if (!is_trap && d->f->is_entry) o->kind = OP_EXIT;
    return true;
}

/* ---- calls ---- */

static const struct {
    const char *name;
    u8 id;
    u8 nargs, nrets;
} builtins[] = {
    {"vprintf", BUILTIN_VPRINTF, 2, 1},
    {"malloc", BUILTIN_MALLOC, 1, 1},
    {"free", BUILTIN_FREE, 1, 0},
    {"__assertfail", BUILTIN_ASSERTFAIL, 5, 0},
    {"cudaGraphSetConditional", BUILTIN_GRAPH_SET_CONDITIONAL, 2, 0},
    {"__cudaCDP2Malloc", BUILTIN_CUDA_MALLOC, 2, 1},
    {"__cudaCDP2Free", BUILTIN_CUDA_FREE, 1, 1},
    {"cudaGraphLaunch", BUILTIN_GRAPH_LAUNCH, 2, 1},
    {"__cudaCDP2GetParameterBufferV2", BUILTIN_GET_PARAM_BUFFER, 4, 1},
    {"__cudaCDP2LaunchDeviceV2", BUILTIN_LAUNCH, 2, 1},
    {"__cudaCDP2GetParameterBufferV2_ptsz", BUILTIN_GET_PARAM_BUFFER, 4, 1},
    {"__cudaCDP2LaunchDeviceV2_ptsz", BUILTIN_LAUNCH, 2, 1},
    {"__cudaCDP2GetLastError", BUILTIN_GET_LAST_ERROR, 0, 1},
    {"__cudaCDP2PeekAtLastError", BUILTIN_PEEK_ERROR, 0, 1},
    {"__cudaCDP2GetErrorName", BUILTIN_ERROR_NAME, 1, 1},
    {"__cudaCDP2GetErrorString", BUILTIN_ERROR_STRING, 1, 1},
    {"__cudaCDP2GetDevice", BUILTIN_GET_DEVICE, 1, 1},
    {"__cudaCDP2GetDeviceCount", BUILTIN_DEVICE_COUNT, 1, 1},
    {"__cudaCDP2MemcpyAsync", BUILTIN_MEMCPY_ASYNC, 5, 1},
    {"__cudaCDP2MemcpyAsync_ptsz", BUILTIN_MEMCPY_ASYNC, 5, 1},
    {"__cudaCDP2MemsetAsync", BUILTIN_MEMSET_ASYNC, 4, 1},
    {"__cudaCDP2MemsetAsync_ptsz", BUILTIN_MEMSET_ASYNC, 4, 1},
    {"__cudaCDP2Memcpy2DAsync", BUILTIN_MEMCPY_2D_ASYNC, 8, 1},
    {"__cudaCDP2Memcpy2DAsync_ptsz", BUILTIN_MEMCPY_2D_ASYNC, 8, 1},
    {"__cudaCDP2Memset2DAsync", BUILTIN_MEMSET_2D_ASYNC, 6, 1},
    {"__cudaCDP2Memset2DAsync_ptsz", BUILTIN_MEMSET_2D_ASYNC, 6, 1},
    {"__cudaCDP2StreamCreateWithFlags", BUILTIN_CREATE_HANDLE, 2, 1},
    {"__cudaCDP2EventCreateWithFlags", BUILTIN_CREATE_HANDLE, 2, 1},
    {"__cudaCDP2StreamDestroy", BUILTIN_RETURN_SUCCESS, 1, 1},
    {"__cudaCDP2EventDestroy", BUILTIN_RETURN_SUCCESS, 1, 1},
    {"__cudaCDP2EventRecord", BUILTIN_RETURN_SUCCESS, 2, 1},
    {"__cudaCDP2EventRecord_ptsz", BUILTIN_RETURN_SUCCESS, 2, 1},
    {"__cudaCDP2EventRecordWithFlags", BUILTIN_RETURN_SUCCESS, 3, 1},
    {"__cudaCDP2EventRecordWithFlags_ptsz", BUILTIN_RETURN_SUCCESS, 3, 1},
    {"__cudaCDP2StreamWaitEvent", BUILTIN_RETURN_SUCCESS, 3, 1},
    {"__cudaCDP2StreamWaitEvent_ptsz", BUILTIN_RETURN_SUCCESS, 3, 1},
};

static bool find_arg_areas(struct decoder *d, const struct ptx_operand *list,
                           struct param_area *out) {
    for (unsigned i = 0; i < list->nitems; i++) {
        struct param_area *a = list->items[i].kind == PTX_OP_VAR
                                   ? decode_find_param_area(d, list->items[i].var)
                                   : NULL;
        if (!a)
            return decode_unsupported(
                d, "not implemented: an argument other than a .param variable in");
        out[i] = *a;
    }
    return true;
}

static bool find_callee(struct decoder *d, const char *name, struct call_desc *c) {
    for (u32 i = 0; i < d->m->nfuncs; i++)
        if (strcmp(d->m->funcs[i].name, name) == 0) {
            c->callee = i;
            ARENA_PUSH(&d->m->arena, d->c->callees, d->c->ncallees, i);
            return true;
        }
    for (unsigned i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i].name, name) == 0) {
            c->builtin = builtins[i].id;
            /* output and heap addresses depend on the order of blocks */
            d->c->interblock_dependent = true;
            return (c->nargs == builtins[i].nargs && c->nrets == builtins[i].nrets) ||
                   decode_unsupported(d, "wrong number of arguments in");
        }
    return decode_unsupported(d, "not implemented: undefined function `%s`, called by", name);
}

bool decode_call(struct decoder *d) {
    static const struct ptx_operand none;
    const struct ptx_insn *in = d->insn;
    unsigned at = 0;
    while (at < in->noperands && in->operands[at].kind == PTX_OP_LIST) at++;
    if (at == in->noperands || at > 1) return decode_unsupported(d, "missing function in");
    const struct ptx_operand *rets = at ? &in->operands[0] : &none;
    const struct ptx_operand *args =
        at + 1 < in->noperands && in->operands[at + 1].kind == PTX_OP_LIST ? &in->operands[at + 1]
                                                                           : &none;
    struct call_desc c = {
        .callee = UINT32_MAX, .target = REF_NONE, .nargs = args->nitems, .nrets = rets->nitems};
    c.args = arena_array(&d->m->arena, struct param_area, c.nargs + c.nrets);
    if (!find_arg_areas(d, args, c.args) || !find_arg_areas(d, rets, c.args + c.nargs))
        return false;
    if (in->operands[at].kind == PTX_OP_FUNC) {
        if (!find_callee(d, in->operands[at].name, &c)) return false;
    } else if (in->operands[at].kind == PTX_OP_REG) {
        d->c->has_indirect_calls = true;
        if (!decode_source(d, &in->operands[at], PTX_U64, &c.target)) return false;
    } else return decode_unsupported(d, "missing function in");
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->calls, d->m->ncalls, c);
    decode_emit_named(d, "call")->aux = aux;
    return true;
}

/* ---- block barriers ---- */

/* bar{.cta}.sync a{, b} · .arrive a, b · .red.{popc.u32, and.pred, or.pred} d, a{, b}, {!}c */
bool decode_barrier(struct decoder *d) {
    const struct ptx_insn *in = d->insn;
    if (decode_opcode_has(in->opcode, "warp")) return decode_warp_sync(d);
    if (decode_opcode_has(in->opcode, "cluster")) return decode_cluster_barrier(d);
    if (strncmp(in->opcode, "barrier", 7) == 0) decode_mark_lowered("barrier");
    struct bar_desc b = {.id = REF_NONE, .count = REF_NONE, .pred_source = REF_NONE};
    ref dst = REF_NONE;
    unsigned bytes, first = 0, last = in->noperands;
    u32 flip = 0;
    b.is_arrive = decode_opcode_has(in->opcode, "arrive");
    b.aligned = strncmp(in->opcode, "barrier", 7) != 0 || decode_opcode_has(in->opcode, "aligned");
    if (decode_opcode_has(in->opcode, "red")) {
        b.reduction = decode_opcode_has(in->opcode, "popc")  ? 1
                      : decode_opcode_has(in->opcode, "and") ? 2
                                                             : 3;
        if (last < 3 || !decode_predicate(d, &in->operands[--last], &b.pred_source, &flip) ||
            !decode_destination(d, &in->operands[first++], &dst, &bytes))
            return false;
        b.source_negated = flip != 0;
    } else if (!b.is_arrive && !decode_opcode_has(in->opcode, "sync"))
        return decode_unsupported(d, "not implemented: instruction");
    if (first < last && in->operands[first].kind == PTX_OP_IMM &&
        in->operands[first].value >= BARRIERS_PER_BLOCK)
        return decode_unsupported(d, "barrier number above 15 in");
    if (first < last && !decode_source(d, &in->operands[first++], PTX_U32, &b.id)) return false;
    if (first < last && !decode_source(d, &in->operands[first], PTX_U32, &b.count)) return false;
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->bars, d->m->nbars, b);
    struct op *o = decode_emit_named(d, "bar");
    o->aux = aux;
    o->dst = dst;
    return true;
}

/* ---- warp syncs ---- */

static u8 find_mode(const char *opcode, const char *const names[], u8 n) {
    for (u8 i = 0; i < n; i++)
        if (decode_opcode_has(opcode, names[i])) return i;
    return UINT8_MAX;
}

static bool warp_sync_mode(struct decoder *d, struct warp_sync_desc *c) {
    static const char *const shfl[] = {"up", "down", "bfly", "idx"},
                             *const vote[] = {"all", "any", "uni", "ballot"},
                             *const match[] = {"any", "all"}, *const redux[] = {"add", "min",
                                                                                "max", "and",
                                                                                "or",  "xor"};
    const char *opcode = d->insn->opcode;
    c->type = (u8)decode_opcode_type(opcode);
    if (!decode_opcode_has(opcode, "sync")) return false;
    switch (opcode[0]) {
    case 's': c->kind = WARP_SYNC_SHFL, c->mode = find_mode(opcode, shfl, 4); break;
    case 'v': c->kind = WARP_SYNC_VOTE, c->mode = find_mode(opcode, vote, 4); break;
    case 'm':
        c->kind = WARP_SYNC_MATCH, c->mode = find_mode(opcode, match, 2),
        c->wide = c->type == PTX_B64;
        break;
    case 'e': c->kind = WARP_SYNC_ELECT, c->mode = 0; break;
    case 'r': c->kind = WARP_SYNC_REDUX, c->mode = find_mode(opcode, redux, 6); break;
    default: c->kind = WARP_SYNC_BARRIER, c->mode = 0;
    }
    bool f = c->type == PTX_F32 || c->type == PTX_F64;
    return c->mode != UINT8_MAX && !f;
}

static bool warp_sync_sources(struct decoder *d, struct warp_sync_desc *c, ref *src, u32 *flip) {
    const struct ptx_insn *in = d->insn;
    bool has_no_value = c->kind == WARP_SYNC_BARRIER || c->kind == WARP_SYNC_ELECT;
    unsigned first = c->kind != WARP_SYNC_BARRIER, mask_operand = in->noperands - 1;
    if (in->noperands < first + 1u + !has_no_value)
        return decode_unsupported(d, "missing operand in");
    if (!decode_source(d, &in->operands[mask_operand], PTX_U32, &c->member_mask)) return false;
    if (has_no_value) return true;
    if (c->kind == WARP_SYNC_VOTE) return decode_predicate(d, &in->operands[1], &src[0], flip);
    if (!decode_source(d, &in->operands[1], c->wide ? PTX_U64 : PTX_U32, &src[0])) return false;
    if (c->kind != WARP_SYNC_SHFL) return true;
    if (in->noperands < 5) return decode_unsupported(d, "missing operand in");
    return decode_source(d, &in->operands[2], PTX_U32, &src[1]) &&
           decode_source(d, &in->operands[3], PTX_U32, &src[2]);
}

bool decode_warp_sync(struct decoder *d) {
    struct warp_sync_desc c = {.member_mask = REF_NONE, .pred_dst = REF_NONE};
    ref src[MAX_SRC_OPERANDS] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE}, dst = REF_NONE;
    u32 flip = 0;
    unsigned bytes;
    if (!warp_sync_mode(d, &c)) return decode_unsupported(d, "not implemented: instruction");
    if (!warp_sync_sources(d, &c, src, &flip)) return false;
    if (c.kind != WARP_SYNC_BARRIER) {
        if (!decode_destination(d, &d->insn->operands[0], &dst, &bytes)) return false;
        if (d->insn->operands[0].second_reg >= 0)
            c.pred_dst = d->regs[d->insn->operands[0].second_reg];
    }
    char mnemonic[16];
    decode_opcode_part(d->insn->opcode, 0, mnemonic, sizeof mnemonic);
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->warp_syncs, d->m->nwarp_syncs, c);
    struct op *o = decode_emit_named(d, mnemonic);
    o->kind = OP_WARP_SYNC;
    o->aux = aux;
    o->dst = dst;
    memcpy(o->src, src, sizeof src);
    o->imm = flip;
    return true;
}

void decode_emit_warp_barrier(struct decoder *d, bool orders_memory) {
    struct warp_sync_desc c = {.kind = WARP_SYNC_BARRIER,
                               .is_unordered = !orders_memory,
                               .member_mask = decode_slot_const(d, ~0u, 4),
                               .pred_dst = REF_NONE};
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->warp_syncs, d->m->nwarp_syncs, c);
    struct op *o = decode_emit_named(d, "bar");
    o->kind = OP_WARP_SYNC;
    o->aux = aux;
    o->weight = 0;
}

/* ---- fences, hints, and reading the active lanes ---- */

/* Returns true for a fence between threads of the block or the cluster, or between proxies; it
 * means nothing to other blocks. */
static bool is_cluster_scope_fence(const char *opcode) {
    return strstr(opcode, ".cta") || strstr(opcode, ".cluster") || strstr(opcode, ".proxy");
}

/* Returns true for a fence between threads' accesses to shared memory and those of bulk copies and
 * wgmma. */
static bool is_async_fence(const char *opcode) {
    return !strncmp(opcode, "fence.proxy.async", 17) && !decode_opcode_has(opcode, "global");
}

bool decode_no_operands(struct decoder *d) {
    char mnemonic[32];
    unsigned bytes;
    decode_opcode_part(d->insn->opcode, 0, mnemonic, sizeof mnemonic);
    bool hint = insn_find_opcode(mnemonic) < 0;
    ref dst = REF_NONE;
    if (strcmp(mnemonic, "activemask") == 0 &&
        !decode_destination(d, &d->insn->operands[0], &dst, &bytes))
        return false;
    if (strcmp(mnemonic, "membar") == 0 || strcmp(mnemonic, "fence") == 0) d->c->may_spin = true;
    struct op *o = decode_emit_named(d, hint ? "nop" : mnemonic);
    o->dst = dst;
    const struct ptx_operand *operand = d->insn->noperands ? &d->insn->operands[0] : NULL;
    if (strcmp(mnemonic, "nanosleep") == 0) { /* how long, if it is a constant */
        o->imm = operand && operand->kind == PTX_OP_IMM ? (s64)operand->value : 0;
        return true;
    }
    o->imm = is_async_fence(d->insn->opcode)           ? FENCE_PROXY_ASYNC
             : is_cluster_scope_fence(d->insn->opcode) ? FENCE_CLUSTER_SCOPE
                                                       : FENCE_GPU_SCOPE;
    return true;
}
