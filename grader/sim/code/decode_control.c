/* decode_control.c — branches, calls, barriers, and what lanes do together. See decode.h. */
#include "grader/sim/code/decode.h"
#include "grader/sim/code/async.h"

#include <string.h>

/* ---- branches: targets are PTX instruction indices until decode.c has laid the function out ----
 */

bool decode_branch(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    if (in->opcode[2] == 'a') {
        if (in->noperands < 1 || in->operands[0].kind != PTX_OP_LABEL)
            return decode_refuse(d, "a label is missing in");
        decode_emit_named(d, "bra")->target = in->operands[0].target;
        return true;
    }
    ref index;
    if (in->noperands < 2 || in->operands[1].kind != PTX_OP_TABLE ||
        !decode_source(d, &in->operands[0], PTX_U32, &index))
        return decode_refuse(d, "a table of targets is missing in");
    const struct ptx_table *t = &d->f->tables[in->operands[1].target];
    struct branch_table table = {arena_array(&d->m->arena, u32, t->ntargets), t->ntargets};
    memcpy(table.targets, t->targets, t->ntargets * sizeof(u32));
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->tables, d->m->ntables, table);
    struct op *o = decode_emit_named(d, "brx");
    o->src[0] = index;
    o->aux = aux;
    return true;
}

bool decode_end(struct decoder *d) {
    const char *opcode = d->in->opcode;
    bool trap = strcmp(opcode, "trap") == 0, leave = strncmp(opcode, "exit", 4) == 0;
    if (!trap && !leave) decode_end_stack(d);
    struct op *o = decode_emit_named(d, trap ? "trap" : leave ? "exit" : "ret");
    if (!trap && d->f->is_entry) o->kind = OP_EXIT;
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
    {"cudaGraphSetConditional", BUILTIN_SET_CONDITION, 2, 0},
    {"__cudaCDP2Malloc", BUILTIN_CUDA_MALLOC, 2, 1},
    {"__cudaCDP2Free", BUILTIN_CUDA_FREE, 1, 1},
    {"cudaGraphLaunch", BUILTIN_GRAPH_LAUNCH, 2, 1},
    {"__cudaCDP2GetParameterBufferV2", BUILTIN_LAUNCH_BUFFER, 4, 1},
    {"__cudaCDP2LaunchDeviceV2", BUILTIN_LAUNCH, 2, 1},
    {"__cudaCDP2GetParameterBufferV2_ptsz", BUILTIN_LAUNCH_BUFFER, 4, 1},
    {"__cudaCDP2LaunchDeviceV2_ptsz", BUILTIN_LAUNCH, 2, 1},
    {"__cudaCDP2GetLastError", BUILTIN_LAST_ERROR, 0, 1},
    {"__cudaCDP2PeekAtLastError", BUILTIN_PEEK_ERROR, 0, 1},
    {"__cudaCDP2GetErrorName", BUILTIN_ERROR_NAME, 1, 1},
    {"__cudaCDP2GetErrorString", BUILTIN_ERROR_TEXT, 1, 1},
    {"__cudaCDP2GetDevice", BUILTIN_GET_DEVICE, 1, 1},
    {"__cudaCDP2GetDeviceCount", BUILTIN_DEVICE_COUNT, 1, 1},
    {"__cudaCDP2MemcpyAsync", BUILTIN_COPY, 5, 1},
    {"__cudaCDP2MemcpyAsync_ptsz", BUILTIN_COPY, 5, 1},
    {"__cudaCDP2MemsetAsync", BUILTIN_FILL, 4, 1},
    {"__cudaCDP2MemsetAsync_ptsz", BUILTIN_FILL, 4, 1},
    {"__cudaCDP2StreamCreateWithFlags", BUILTIN_CREATE, 2, 1},
    {"__cudaCDP2EventCreateWithFlags", BUILTIN_CREATE, 2, 1},
    {"__cudaCDP2StreamDestroy", BUILTIN_SUCCEED, 1, 1},
    {"__cudaCDP2EventDestroy", BUILTIN_SUCCEED, 1, 1},
    {"__cudaCDP2EventRecord", BUILTIN_SUCCEED, 2, 1},
    {"__cudaCDP2EventRecord_ptsz", BUILTIN_SUCCEED, 2, 1},
    {"__cudaCDP2EventRecordWithFlags", BUILTIN_SUCCEED, 3, 1},
    {"__cudaCDP2EventRecordWithFlags_ptsz", BUILTIN_SUCCEED, 3, 1},
    {"__cudaCDP2StreamWaitEvent", BUILTIN_SUCCEED, 3, 1},
    {"__cudaCDP2StreamWaitEvent_ptsz", BUILTIN_SUCCEED, 3, 1},
};

static bool take_areas(struct decoder *d, const struct ptx_operand *list, struct param_area *out) {
    for (unsigned i = 0; i < list->nitems; i++) {
        struct param_area *a =
            list->items[i].kind == PTX_OP_VAR ? decode_area_of(d, list->items[i].var) : NULL;
        if (!a)
            return decode_refuse(d, "not implemented: an argument that is no .param variable in");
        out[i] = *a;
    }
    return true;
}

static bool find_callee(struct decoder *d, const char *name, struct call_desc *c) {
    for (u32 i = 0; i < d->m->ncodes; i++)
        if (strcmp(d->m->codes[i].name, name) == 0) {
            c->callee = i;
            ARENA_PUSH(&d->m->arena, d->c->callees, d->c->ncallees, i);
            return true;
        }
    for (unsigned i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i].name, name) == 0) {
            c->builtin = builtins[i].id;
            d->c->communicates = true; /* output and heap addresses come in block order */
            return (c->nargs == builtins[i].nargs && c->nrets == builtins[i].nrets) ||
                   decode_refuse(d, "wrong number of arguments in");
        }
    return decode_refuse(d, "not implemented: function `%s`, which is not defined, called by",
                         name);
}

bool decode_call(struct decoder *d) {
    static const struct ptx_operand none;
    const struct ptx_insn *in = d->in;
    unsigned at = 0;
    while (at < in->noperands && in->operands[at].kind == PTX_OP_LIST) at++;
    if (at == in->noperands || at > 1) return decode_refuse(d, "a function is missing in");
    const struct ptx_operand *rets = at ? &in->operands[0] : &none;
    const struct ptx_operand *args =
        at + 1 < in->noperands && in->operands[at + 1].kind == PTX_OP_LIST ? &in->operands[at + 1]
                                                                           : &none;
    struct call_desc c = {
        .callee = UINT32_MAX, .target = REF_NONE, .nargs = args->nitems, .nrets = rets->nitems};
    c.args = arena_array(&d->m->arena, struct param_area, c.nargs + c.nrets);
    if (!take_areas(d, args, c.args) || !take_areas(d, rets, c.args + c.nargs)) return false;
    if (in->operands[at].kind == PTX_OP_FUNC) {
        if (!find_callee(d, in->operands[at].name, &c)) return false;
    } else if (in->operands[at].kind == PTX_OP_REG) {
        d->c->calls_unknown = true;
        if (!decode_source(d, &in->operands[at], PTX_U64, &c.target)) return false;
    } else return decode_refuse(d, "a function is missing in");
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->calls, d->m->ncalls, c);
    decode_emit_named(d, "call")->aux = aux;
    return true;
}

/* ---- block barriers ---- */

/* bar{.cta}.sync a{, b} · .arrive a, b · .red.{popc.u32, and.pred, or.pred} d, a{, b}, {!}c */
bool decode_barrier(struct decoder *d) {
    const struct ptx_insn *in = d->in;
    if (decode_opcode_has(in->opcode, "warp")) return decode_rendezvous(d);
    if (decode_opcode_has(in->opcode, "cluster")) return decode_cluster_barrier(d);
    if (strncmp(in->opcode, "barrier", 7) == 0) decode_mark_lowered("barrier");
    struct bar_desc b = {.id = REF_NONE, .count = REF_NONE, .source = REF_NONE};
    ref dst = REF_NONE;
    unsigned bytes, first = 0, last = in->noperands;
    u32 flip = 0;
    b.arrive = decode_opcode_has(in->opcode, "arrive");
    b.aligned = strncmp(in->opcode, "barrier", 7) != 0 || decode_opcode_has(in->opcode, "aligned");
    if (decode_opcode_has(in->opcode, "red")) {
        b.red = decode_opcode_has(in->opcode, "popc")  ? 1
                : decode_opcode_has(in->opcode, "and") ? 2
                                                       : 3;
        if (last < 3 || !decode_predicate(d, &in->operands[--last], &b.source, &flip) ||
            !decode_destination(d, &in->operands[first++], &dst, &bytes))
            return false;
        b.source_flip = flip != 0;
    } else if (!b.arrive && !decode_opcode_has(in->opcode, "sync"))
        return decode_refuse(d, "not implemented: instruction");
    if (first < last && in->operands[first].kind == PTX_OP_IMM &&
        in->operands[first].value >= BARRIERS)
        return decode_refuse(d, "there are barriers 0 to 15: ");
    if (first < last && !decode_source(d, &in->operands[first++], PTX_U32, &b.id)) return false;
    if (first < last && !decode_source(d, &in->operands[first], PTX_U32, &b.count)) return false;
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->bars, d->m->nbars, b);
    struct op *o = decode_emit_named(d, "bar");
    o->aux = aux;
    o->dst = dst;
    return true;
}

/* ---- rendezvous of lanes ---- */

static u8 mode_of(const char *opcode, const char *const names[], u8 n) {
    for (u8 i = 0; i < n; i++)
        if (decode_opcode_has(opcode, names[i])) return i;
    return UINT8_MAX;
}

static bool rendezvous_mode(struct decoder *d, struct rendezvous_desc *c) {
    static const char *const shfl[] = {"up", "down", "bfly", "idx"},
                             *const vote[] = {"all", "any", "uni", "ballot"},
                             *const match[] = {"any", "all"}, *const redux[] = {"add", "min",
                                                                                "max", "and",
                                                                                "or",  "xor"};
    const char *opcode = d->in->opcode;
    c->type = (u8)decode_opcode_type(opcode);
    if (!decode_opcode_has(opcode, "sync")) return false;
    switch (opcode[0]) {
    case 's': c->kind = RENDEZVOUS_SHFL, c->mode = mode_of(opcode, shfl, 4); break;
    case 'v': c->kind = RENDEZVOUS_VOTE, c->mode = mode_of(opcode, vote, 4); break;
    case 'm':
        c->kind = RENDEZVOUS_MATCH, c->mode = mode_of(opcode, match, 2),
        c->wide = c->type == PTX_B64;
        break;
    case 'e': c->kind = RENDEZVOUS_ELECT, c->mode = 0; break;
    case 'r': c->kind = RENDEZVOUS_REDUX, c->mode = mode_of(opcode, redux, 6); break;
    default: c->kind = RENDEZVOUS_SYNC, c->mode = 0;
    }
    bool f = c->type == PTX_F32 || c->type == PTX_F64;
    return c->mode != UINT8_MAX && !f;
}

static bool rendezvous_sources(struct decoder *d, struct rendezvous_desc *c, ref *src, u32 *flip) {
    const struct ptx_insn *in = d->in;
    bool bare = c->kind == RENDEZVOUS_SYNC || c->kind == RENDEZVOUS_ELECT; /* no value */
    unsigned first = c->kind != RENDEZVOUS_SYNC, members = in->noperands - 1;
    if (in->noperands < first + 1u + !bare) return decode_refuse(d, "operand missing in");
    if (!decode_source(d, &in->operands[members], PTX_U32, &c->members)) return false;
    if (bare) return true;
    if (c->kind == RENDEZVOUS_VOTE) return decode_predicate(d, &in->operands[1], &src[0], flip);
    if (!decode_source(d, &in->operands[1], c->wide ? PTX_U64 : PTX_U32, &src[0])) return false;
    if (c->kind != RENDEZVOUS_SHFL) return true;
    if (in->noperands < 5) return decode_refuse(d, "operand missing in");
    return decode_source(d, &in->operands[2], PTX_U32, &src[1]) &&
           decode_source(d, &in->operands[3], PTX_U32, &src[2]);
}

bool decode_rendezvous(struct decoder *d) {
    struct rendezvous_desc c = {.members = REF_NONE, .second = REF_NONE};
    ref src[ROW_SRC] = {REF_NONE, REF_NONE, REF_NONE, REF_NONE}, dst = REF_NONE;
    u32 flip = 0;
    unsigned bytes;
    if (!rendezvous_mode(d, &c)) return decode_refuse(d, "not implemented: instruction");
    if (!rendezvous_sources(d, &c, src, &flip)) return false;
    if (c.kind != RENDEZVOUS_SYNC) {
        if (!decode_destination(d, &d->in->operands[0], &dst, &bytes)) return false;
        if (d->in->operands[0].second >= 0) c.second = d->regs[d->in->operands[0].second];
    }
    char row[16];
    decode_opcode_part(d->in->opcode, 0, row, sizeof row);
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->rendezvous, d->m->nrendezvous, c);
    struct op *o = decode_emit_named(d, row);
    o->kind = OP_RENDEZVOUS;
    o->aux = aux;
    o->dst = dst;
    memcpy(o->src, src, sizeof src);
    o->imm = flip;
    return true;
}

void decode_emit_warp_barrier(struct decoder *d) {
    struct rendezvous_desc c = {
        .kind = RENDEZVOUS_SYNC, .members = decode_slot_const(d, ~0u, 4), .second = REF_NONE};
    u32 aux = ARENA_PUSH(&d->m->arena, d->m->rendezvous, d->m->nrendezvous, c);
    struct op *o = decode_emit_named(d, "bar");
    o->kind = OP_RENDEZVOUS;
    o->aux = aux;
    o->weight = 0;
}

/* ---- fences, hints, and reading the active lanes ---- */

/* A fence for other threads of the block or the cluster, or between proxies: nothing for those of
 * other blocks. */
static bool is_near(const char *opcode) {
    return strstr(opcode, ".cta") || strstr(opcode, ".cluster") || strstr(opcode, ".proxy");
}

/* Of threads' accesses to shared memory with those of bulk copies and products. */
static bool is_async_fence(const char *opcode) {
    return !strncmp(opcode, "fence.proxy.async", 17) && !decode_opcode_has(opcode, "global");
}

bool decode_bare(struct decoder *d) {
    char row[32];
    unsigned bytes;
    decode_opcode_part(d->in->opcode, 0, row, sizeof row);
    bool hint = insn_find(row) < 0;
    ref dst = REF_NONE;
    if (strcmp(row, "activemask") == 0 && !decode_destination(d, &d->in->operands[0], &dst, &bytes))
        return false;
    if (strcmp(row, "membar") == 0 || strcmp(row, "fence") == 0) d->c->awaits = true;
    struct op *o = decode_emit_named(d, hint ? "nop" : row);
    o->dst = dst;
    o->imm = is_async_fence(d->in->opcode) ? FENCE_ASYNC
             : is_near(d->in->opcode)      ? FENCE_NEAR
                                           : FENCE_FAR;
    return true;
}
