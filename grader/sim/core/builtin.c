/* builtin.c — the functions of device code that are not in its PTX: printf, malloc, free, a failed
 * assert. A kernel that calls one runs its blocks in order on one worker, so that texts and
 * addresses don't depend on the workers. */
#include "grader/sim/core/device_launch.h"
#include "grader/sim/core/undef.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OUTPUT_BYTES = 1 << 20, MAX_FORMAT_BYTES = 4096, DEFAULT_HEAP_BYTES = 8 << 20 };
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2 }; /* cudaError_t */

/* Returns a lane's value from an argument area, which holds words of 32 lanes. */
static u64 read_argument(const unsigned char *frame, const struct param_area *a, u32 lane) {
    const u32 *w = (const u32 *)(frame + a->offset);
    u64 v = w[lane];
    return a->bytes >= 8 ? v | (u64)w[32 + lane] << 32 : v;
}

static void put_return(unsigned char *frame, const struct call_desc *d, u32 lane, u64 v) {
    if (!d->nrets) return;
    u32 *w = (u32 *)(frame + d->args[d->nargs].offset);
    w[lane] = (u32)v;
    if (d->args[d->nargs].bytes >= 8) w[32 + lane] = (u32)(v >> 32);
}

/* Returns the init shadow of a byte at the lane's generic address; 1 if it is in no memory, or in
 * memory without a shadow. */
static u8 init_shadow_of(const struct exec *x, u32 lane, u64 address) {
    u64 local = address - LOCAL_WINDOW, shared = address - SHARED_WINDOW;
    if (!x->sanitize) return 1;
    if (local < x->local_bytes)
        return x->warp->local_written[(local / 4 * 32 + lane) * 4 + local % 4];
    if (shared < x->shared_bytes) return x->shared_written[shared];
    int i = memory_find_range(x->memory, address, 1);
    return i < 0 || x->memory->allocations[i].is_initialized
               ? 1
               : x->memory->init_shadow[address - SIM_BASE];
}

/* Reads bytes at the lane's generic address; returns false if they are not all in one memory. */
static bool read_generic(const struct exec *x, u32 lane, u64 address, void *out, u32 bytes) {
    if (address - LOCAL_WINDOW < WINDOW_BYTES) {
        u64 at = address - LOCAL_WINDOW;
        if (at + bytes > x->local_bytes) return false;
        for (u32 i = 0; i < bytes; i++)
            ((u8 *)out)[i] = x->warp->local[((at + i) / 4 * 32 + lane) * 4 + (at + i) % 4];
        return true;
    }
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        u64 at = address - SHARED_WINDOW;
        if (at + bytes > x->shared_bytes) return false;
        memcpy(out, x->shared + at, bytes);
        return true;
    }
    if (memory_find_range(x->memory, address, bytes) < 0) return false;
    memcpy(out, x->memory->bytes + (address - SIM_BASE), bytes);
    return true;
}

bool call_store_result(struct exec *x, const struct op *o, u32 lane, u64 address, u64 v,
                       u32 bytes) {
    u64 local = address - LOCAL_WINDOW, shared = address - SHARED_WINDOW;
    bool is_mapped = local + bytes <= x->local_bytes || shared + bytes <= x->shared_bytes ||
                     memory_find_range(x->memory, address, bytes) >= 0;
    for (u32 i = 0; is_mapped && i < bytes; i++) {
        u8 byte = (u8)(v >> 8 * i);
        u64 at = ((local + i) / 4 * 32 + lane) * 4 + (local + i) % 4;
        if (local < x->local_bytes) x->warp->local[at] = byte, x->warp->local_written[at] = 1;
        else if (shared < x->shared_bytes)
            x->shared[shared + i] = byte, x->shared_written[shared + i] = 1;
        else
            x->memory->bytes[address + i - SIM_BASE] = byte,
                                           x->memory->init_shadow[address + i - SIM_BASE] = 1;
    }
    if (!is_mapped)
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, address,
                   "passes 0x%llx for a result, which is not a valid address",
                   (unsigned long long)address);
    return is_mapped;
}

static bool read_string(const struct exec *x, u32 lane, u64 address, char *out, u32 size) {
    for (u32 i = 0; i + 1 < size; i++)
        if (!read_generic(x, lane, address + i, out + i, 1)) return out[i] = 0, false;
        else if (!out[i]) return true;
    return out[size - 1] = 0, true;
}

/* ---- printf: the argument buffer is packed as C varargs, each at its natural alignment ---- */

struct vararg_reader {
    struct exec *x;
    const struct op *o;
    u32 lane;
    u64 at;
};

/* Checks that printed bytes are defined; marks them as defined, to report each value once. */
static void check_printed_defined(const struct vararg_reader *a, u64 address, u32 bytes) {
    u8 mark = 0;
    for (u32 i = 0; i < bytes && !mark; i++) {
        u8 shadow = init_shadow_of(a->x, a->lane, address + i);
        mark = undef_is_mark(shadow) ? shadow : 0;
    }
    if (mark) undef_report_use(a->x, mark / 2, a->o, 1u << a->lane, "prints it");
}

/* Checks the bytes of a string, including its terminator. */
static void check_string_defined(const struct vararg_reader *a, u64 address, u32 length) {
    enum mem_space space = address - LOCAL_WINDOW < WINDOW_BYTES    ? SPACE_LOCAL
                           : address - SHARED_WINDOW < WINDOW_BYTES ? SPACE_SHARED
                                                                    : SPACE_GLOBAL;
    u64 window = space == SPACE_LOCAL ? LOCAL_WINDOW : space == SPACE_SHARED ? SHARED_WINDOW : 0;
    for (u32 i = 0; i <= length; i++)
        if (!init_shadow_of(a->x, a->lane, address + i))
            return undef_report_access(a->x, a->o, a->lane, address + i - window, 1, space);
    check_printed_defined(a, address, length + 1);
}

static u64 next_argument(struct vararg_reader *a, u32 bytes) {
    u64 v = 0;
    a->at = (a->at + bytes - 1) & ~(u64)(bytes - 1);
    read_generic(a->x, a->lane, a->at, &v, bytes);
    check_printed_defined(a, a->at, bytes);
    a->at += bytes;
    return v;
}

/* Limits a field's width: the output buffer is shorter anyway, and "%2147483647d" would pad for a
 * second. */
static int clamp_field_width(u64 v) { return (s32)v > 511 ? 511 : (s32)v < -511 ? -511 : (s32)v; }

/* A conversion specification such as "%-8.3lld", without its length modifiers and its letter. */
struct conversion {
    char spec[64];
    u32 spec_bytes;
    bool is_wide; /* the argument has 8 bytes */
};
enum { MAX_SPEC_BYTES = 40, MAX_FIELD_DIGITS = 3 };

/* Reads flags, width and precision from behind the '%'; returns where the letter is. */
static const char *read_conversion(struct vararg_reader *a, const char *s, struct conversion *c) {
    u32 digits = 0, n = 1;
    *c = (struct conversion){.spec = "%"};
    for (; *s && strchr("-+ #0123456789.*lhzjtL", *s); s++) {
        digits = *s >= '0' && *s <= '9' ? digits + 1 : 0;
        if (digits > MAX_FIELD_DIGITS) continue;
        if (*s == '*')
            n += (u32)snprintf(c->spec + n, sizeof c->spec - n, "%d",
                               clamp_field_width(next_argument(a, 4)));
        else if (strchr("lzjt", *s)) c->is_wide = true;
        else if (*s != 'h' && *s != 'L') c->spec[n++] = *s;
        if (n > MAX_SPEC_BYTES) n = MAX_SPEC_BYTES;
    }
    c->spec_bytes = n;
    return s;
}

/* Completes the specification by a length modifier and the letter. */
static void end_spec(struct conversion *c, const char *length, char letter) {
    snprintf(c->spec + c->spec_bytes, sizeof c->spec - c->spec_bytes, "%s%c", length, letter);
}

static void format_string(struct vararg_reader *a, struct conversion *c, char *out, size_t size) {
    char string[1024];
    u64 p = next_argument(a, 8);
    if (!p || !read_string(a->x, a->lane, p, string, sizeof string)) strcpy(string, "(null)");
    else check_string_defined(a, p, (u32)strlen(string));
    end_spec(c, "", 's');
    snprintf(out, size, c->spec, string);
}

static void format_double(struct vararg_reader *a, struct conversion *c, char letter, char *out,
                          size_t size) {
    u64 bits = next_argument(a, 8);
    double v;
    memcpy(&v, &bits, 8);
    end_spec(c, "", letter);
    snprintf(out, size, c->spec, v);
}

static void format_integer(struct vararg_reader *a, struct conversion *c, char letter, char *out,
                           size_t size) {
    u64 v = next_argument(a, c->is_wide ? 8 : 4);
    if (!c->is_wide && strchr("di", letter)) v = (u64)(s64)(s32)v;
    end_spec(c, letter == 'c' ? "" : "ll", letter);
    if (letter == 'c') snprintf(out, size, c->spec, (int)v);
    else snprintf(out, size, c->spec, (long long)v);
}

/* Appends one conversion, which begins at its '%'; returns what follows it. */
static const char *format_conversion(struct vararg_reader *a, const char *s, struct buf *out) {
    char text[512];
    struct conversion c;
    s = read_conversion(a, s + 1, &c);
    char letter = *s ? *s++ : 0;
    if (letter == 's') format_string(a, &c, text, sizeof text);
    else if (letter && strchr("aAeEfFgG", letter)) format_double(a, &c, letter, text, sizeof text);
    else if (letter && strchr("diouxXc", letter)) format_integer(a, &c, letter, text, sizeof text);
    else if (letter == 'p')
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)next_argument(a, 8));
    else snprintf(text, sizeof text, "%%%c", letter == '%' ? 0 : letter);
    buf_puts(out, text);
    return s;
}

static u32 device_printf(struct exec *x, const struct op *o, u32 lane, u64 format,
                         u64 argument_buffer) {
    char text[MAX_FORMAT_BYTES];
    struct sim *sim = x->worker->launch->sim;
    struct vararg_reader a = {x, o, lane, argument_buffer};
    if (sim->printf_output.size >= MAX_OUTPUT_BYTES ||
        !read_string(x, lane, format, text, sizeof text))
        return UINT32_MAX;
    u32 nconversions = 0;
    for (const char *s = text; *s;) {
        size_t literal_length = strcspn(s, "%");
        buf_add(&sim->printf_output, s, literal_length);
        s += literal_length;
        if (!*s) break;
        nconversions += s[1] != '%';
        s = format_conversion(&a, s, &sim->printf_output);
    }
    return nconversions;
}

/* ---- the device heap ---- */

/* because the allocation table has moved */
static void invalidate_cached_allocations(struct exec *x) {
    for (u32 i = 0; i < x->worker->launch->module->nstats; i++) x->pattern_cache[i].allocation = -1;
}

static u64 heap_alloc(struct exec *x, u64 bytes) {
    struct sim *sim = x->worker->launch->sim;
    u64 limit = sim->options.heap_bytes ? sim->options.heap_bytes : DEFAULT_HEAP_BYTES;
    if (bytes > limit || sim->heap_used + bytes > limit) return 0;
    u64 p = memory_alloc_internal(x->memory, bytes, "device heap");
    if (p) sim->heap_used += bytes;
    invalidate_cached_allocations(x);
    return p;
}

static void heap_free(struct exec *x, const struct op *o, u32 lane, u64 p) {
    if (!p) return;
    const struct allocation *a = memory_find_allocation(x->memory, p);
    u64 bytes = a ? a->size : 0;
    if (!a || strcmp(a->name, "device heap") != 0 || memory_free(x->memory, p) != SIM_OK)
        core_fault(x, SIM_FAULT_DEVICE_HEAP, o, lane, p,
                   "frees 0x%llx, which malloc did not return or which was already freed",
                   (unsigned long long)p);
    else x->worker->launch->sim->heap_used -= bytes;
    invalidate_cached_allocations(x);
}

/* cudaError_t cudaMalloc(void **, size_t) in device code, which an H100 refuses for zero bytes. */
static u64 runtime_malloc(struct exec *x, const struct op *o, u32 lane, u64 to, u64 bytes) {
    u64 p = bytes ? heap_alloc(x, bytes) : 0;
    if (!call_store_result(x, o, lane, to, p, 8) || !bytes) return INVALID_VALUE;
    return p ? 0 : OUT_OF_MEMORY;
}

/* __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t
 * char_size) */
static void report_assert(struct exec *x, const struct call_desc *d, const struct op *o, u32 lane,
                          const unsigned char *frame) {
    char message[256], file[256], function[256];
    read_string(x, lane, read_argument(frame, &d->args[0], lane), message, sizeof message);
    read_string(x, lane, read_argument(frame, &d->args[1], lane), file, sizeof file);
    read_string(x, lane, read_argument(frame, &d->args[3], lane), function, sizeof function);
    const u32 *t = x->block->index, *id = (const u32 *)x->warp->special_regs;
    u32 line = (u32)read_argument(frame, &d->args[2], lane);
    struct buf *errors = &x->worker->launch->sim->assert_output;
    if (errors->size < MAX_OUTPUT_BYTES)
        buf_printf(errors,
                   "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                   file, line, function, t[0], t[1], t[2], id[lane], id[32 + lane], id[64 + lane],
                   message);
    core_fault(x, SIM_FAULT_ASSERT, o, lane, 0, "fails the assertion `%s`", message);
}

/* Sets a graph's condition. Its handle is the address of a word in device memory
 * (runtime/graph_conditional.c). Other addresses are faults: such a store would bypass the
 * counters. */
static void set_graph_condition(struct exec *x, const struct op *o, u32 lane, u64 word, u32 value) {
    const struct allocation *a = memory_find_allocation(x->memory, word);
    if (!a || strcmp(a->name, SIM_GRAPH_CONDITION_NAME) != 0) {
        core_fault(x, SIM_FAULT_OUT_OF_BOUNDS, o, lane, word,
                   "sets a graph's condition by 0x%llx, a handle that "
                   "cudaGraphConditionalHandleCreate did not return",
                   (unsigned long long)word);
        return;
    }
    memcpy(x->memory->bytes + (word - SIM_BASE), &value, sizeof value);
    memset(x->memory->init_shadow + (word - SIM_BASE), 1, sizeof value);
}

void call_builtin(struct exec *x, const struct call_desc *d, u32 mask, const struct op *o,
                  unsigned char *frame) {
    for (u32 w = 0; d->nrets && w < d->args[d->nargs].bytes / 4; w++)
        undef_put(x->warp, frame + d->args[d->nargs].offset + w * 128, 4, mask, NULL, 0);
    for (u32 m = mask; m; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m);
        if (d->builtin >= BUILTIN_GET_PARAM_BUFFER) {
            device_launch_builtin(x, d, o, lane, frame);
            continue;
        }
        u64 first = read_argument(frame, &d->args[0], lane);
        switch ((enum builtin)d->builtin) {
        case BUILTIN_VPRINTF:
            put_return(frame, d, lane,
                       device_printf(x, o, lane, first, read_argument(frame, &d->args[1], lane)));
            break;
        case BUILTIN_MALLOC: put_return(frame, d, lane, heap_alloc(x, first)); break;
        case BUILTIN_FREE: heap_free(x, o, lane, first); break;
        case BUILTIN_CUDA_MALLOC:
            put_return(frame, d, lane,
                       runtime_malloc(x, o, lane, first, read_argument(frame, &d->args[1], lane)));
            break;
        case BUILTIN_CUDA_FREE: heap_free(x, o, lane, first), put_return(frame, d, lane, 0); break;
        case BUILTIN_ASSERTFAIL: report_assert(x, d, o, lane, frame); break;
        case BUILTIN_GRAPH_SET_CONDITIONAL:
            set_graph_condition(x, o, lane, first, (u32)read_argument(frame, &d->args[1], lane));
            break;
        default: break;
        }
    }
}
