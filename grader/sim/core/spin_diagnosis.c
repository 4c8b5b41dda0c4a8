/* spin_diagnosis.c — says what an endless loop waits for: the first load or atomic in it whose
 * address is loop-invariant, with the value there. core/warp.c appends it to the report of an
 * exceeded budget. A loop that reads no memory waits for nothing that can change: often the
 * compiler has read a flag once, before the loop. */
#include "grader/sim/code/async.h"
#include "grader/sim/core/source_location.h"

#include <stdio.h>
#include <string.h>

static bool has_opcode(const struct op *o, const char *name) {
    return strcmp(insn_opcodes[o->opcode].name, name) == 0;
}

static bool reads_memory(const struct exec *x, const struct op *o) {
    return (has_opcode(o, "ld") && x->mems[o->aux].space != SPACE_PARAM &&
            x->mems[o->aux].space != SPACE_CONST) ||
           has_opcode(o, "atom");
}

/* Returns true if the op writes the register. */
static bool writes_register(const struct exec *x, const struct op *o, ref r) {
    if (!has_opcode(o, "ld") && !has_opcode(o, "atom")) return o->dst == r;
    const struct mem_desc *d = &x->mems[o->aux];
    for (u32 e = 0; has_opcode(o, "ld") && e < d->count; e++)
        if (d->reg[e] == r) return true;
    return has_opcode(o, "atom") && d->result == r;
}

static bool is_loop_invariant(const struct exec *x, const struct op *first, const struct op *last,
                              ref r) {
    for (const struct op *o = first; o <= last; o++)
        if (r != REF_NONE && o->kind != OP_BRA && writes_register(x, o, r)) return false;
    return true;
}

static u64 address_of(const struct exec *x, const struct op *o, u32 lane) {
    const struct mem_desc *d = &x->mems[o->aux];
    if (o->src[0] == REF_NONE) return (u64)o->imm;
    const unsigned char *reg = operand_at(x, o->src[0]);
    return d->address32 ? ((const u32 *)reg)[lane] + (u32)o->imm
                        : ((const u64 *)reg)[lane] + (u64)o->imm;
}

/* Describes the address that the op reads, and its value; returns false if it is not valid memory.
 */
static bool describe(const struct exec *x, const struct op *o, char *out, size_t size) {
    const struct mem_desc *d = &x->mems[o->aux];
    u64 address = address_of(x, o, (u32)__builtin_ctz(x->active_mask)), value = 0;
    u32 bytes = d->width < 8 ? d->width : 8;
    bool shared = d->space == SPACE_SHARED ||
                  (d->space == SPACE_GENERIC && address - SHARED_WINDOW < WINDOW_BYTES);
    u64 offset = d->space == SPACE_GENERIC ? address - SHARED_WINDOW : address;
    char location[256];
    if (shared && offset + bytes > x->shared_bytes) return false;
    if (!shared && memory_find_range(x->memory, address, bytes) < 0) return false;
    if (shared) describe_shared_byte(x->worker->launch, offset, location, sizeof location);
    else memory_describe(x->memory, address, bytes, location, sizeof location);
    memcpy(&value, shared ? x->shared + offset : x->memory->bytes + (address - SIM_BASE), bytes);
    const struct ptx_module *m = x->worker->launch->module->ptx;
    snprintf(out, size, " Line %u keeps reading %s%s; it holds %llu",
             source_location_of(m, o->loc)->line, shared ? "" : "memory ", location,
             (unsigned long long)value);
    return true;
}

static bool is_mbarrier_wait(const struct exec *x, const struct op *o) {
    return has_opcode(o, "mbarrier") && x->mems[o->aux].verb == MEM_LOAD;
}

/* Says what an mbarrier lacks. Below 0, its count of bytes has had more than were announced. */
static void describe_pending(u64 arrivals, s64 bytes, char *out, size_t size) {
    if (bytes < 0)
        snprintf(out, size,
                 "%llu arrivals are still pending, and the copies bring %lld bytes more than were "
                 "announced (expect_tx): count the bytes outside of a tensor, too",
                 (unsigned long long)arrivals, -(long long)bytes);
    else
        snprintf(out, size, "%llu arrivals and %lld bytes are still pending",
                 (unsigned long long)arrivals, (long long)bytes);
}

bool describe_mbarrier_wait(const struct exec *x, const struct op *o, char *out, size_t size) {
    if (!is_mbarrier_wait(x, o)) return false;
    u64 offset = ((const u64 *)operand_at(x, o->src[0]))[__builtin_ctz(x->active_mask)], b;
    char location[256], pending[256];
    if (offset - SHARED_WINDOW < WINDOW_BYTES) offset -= SHARED_WINDOW;
    if (offset >= x->shared_bytes || offset + sizeof b > x->shared_bytes) return false;
    memcpy(&b, x->shared + offset, sizeof b);
    describe_shared_byte(x->worker->launch, offset, location, sizeof location);
    describe_pending(b & ((1ull << MBAR_PENDING_BITS) - 1),
                     (s64)(b << 2) >> (MBAR_TX_COUNT_SHIFT + 2), pending, sizeof pending);
    snprintf(out, size,
             " Line %u waits for the mbarrier at %s; its phase of parity %u never completes: %s",
             source_location_of(x->worker->launch->module->ptx, o->loc)->line, location,
             (unsigned)(b >> MBAR_PHASE_SHIFT), pending);
    return true;
}

void describe_spin(const struct exec *x, const struct op *branch, char *out, size_t size) {
    const struct op *first = x->worker->launch->ops + branch->target;
    bool reads_any_memory = branch->kind != OP_BRA || first > branch;
    *out = 0;
    for (const struct op *o = first; o <= branch && branch->kind == OP_BRA; o++) {
        reads_any_memory |= reads_memory(x, o) || is_mbarrier_wait(x, o) || o->kind == OP_CALL ||
                            o->kind == OP_BRX || o->kind == OP_WARP_SYNC || o->kind == OP_BAR;
        if (describe_mbarrier_wait(x, o, out, size)) return;
        if (reads_memory(x, o) && is_loop_invariant(x, first, branch, o->src[0]) &&
            describe(x, o, out, size))
            return;
    }
    if (!reads_any_memory)
        snprintf(out, size,
                 " The loop reads no memory: a flag that another thread sets must be volatile or "
                 "atomic");
}
