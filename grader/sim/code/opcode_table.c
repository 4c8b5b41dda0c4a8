/* opcode_table.c — the instruction table as data: opcodes by name, and the choice of the vector
 * level whose lane functions run. */
#include "grader/sim/code/code.h"

#include <pthread.h>
#include <string.h>

#define PT_u8  PTX_U8
#define PT_s8  PTX_S8
#define PT_u16 PTX_U16
#define PT_s16 PTX_S16
#define PT_u32 PTX_U32
#define PT_s32 PTX_S32
#define PT_u64 PTX_U64
#define PT_s64 PTX_S64
#define PT_f32 PTX_F32
#define PT_f64 PTX_F64
#define PT(T)  PT_##T

const struct opcode_desc insn_opcodes[] = {
#define R1(id, name, mods, pipe, flops, D, A, expr) \
    {name, mods, pipe, flops, FORM_REGULAR, OP_LANEWISE, PT(D), {PT(A)}, #expr},
#define R2(id, name, mods, pipe, flops, D, A, B, expr) \
    {name, mods, pipe, flops, FORM_REGULAR, OP_LANEWISE, PT(D), {PT(A), PT(B)}, #expr},
#define R3(id, name, mods, pipe, flops, D, A, B, C, expr) \
    {name, mods, pipe, flops, FORM_REGULAR, OP_LANEWISE, PT(D), {PT(A), PT(B), PT(C)}, #expr},
#define R4(id, name, mods, pipe, flops, D, A, B, C, E, expr)                                  \
    {name, mods, pipe, flops, FORM_REGULAR, OP_LANEWISE, PT(D), {PT(A), PT(B), PT(C), PT(E)}, \
     #expr},
#define RP(id, name, mods, pipe, A, B, expr) \
    {name, mods, pipe, 0, FORM_SETP, OP_LANEWISE, PTX_PRED, {PT(A), PT(B)}, #expr},
#define RM(id, name, nsrc, expr)                                                         \
    {name,         0,           PIPE_ALU, 0,                                             \
     FORM_REGULAR, OP_LANEWISE, PTX_PRED, {PTX_PRED, nsrc > 1 ? PTX_PRED : PTX_NO_TYPE}, \
     #expr},
#define RS(id, name, T) \
    {name, 0, PIPE_ALU, 0, FORM_REGULAR, OP_LANEWISE, PT(T), {PT(T), PT(T), PTX_PRED}, "p ? a : b"},
#define RP2(id, name, mods, pipe, compare) \
    {name,                                 \
     mods,                                 \
     pipe,                                 \
     0,                                    \
     FORM_SETP,                            \
     OP_LANEWISE,                          \
     PTX_PRED,                             \
     {PTX_U32, PTX_U32},                   \
     #compare " on both halves"},
#define RT(id, name, pipe, A, expr) \
    {name, 0, pipe, 0, FORM_REGULAR, OP_LANEWISE, PTX_PRED, {PT(A)}, #expr},
#define RC(id, name, pipe, takes, gives, T, W, bits, expr) \
    {name, 0, pipe, 0, FORM_CARRY, OP_LANEWISE, PT(T), {PT(T), PT(T), PT(T)}, #expr},
#define RD(id, name, text) \
    {name, 0, PIPE_NONE, 0, FORM_CUSTOM, OP_LANEWISE, PTX_NO_TYPE, {0}, text},
#define RL(id, name, pipe, text) \
    {name, 0, pipe, 0, FORM_CUSTOM, OP_LANEWISE, PTX_NO_TYPE, {0}, text},
#define RX(id, name, kind, pipe, text) \
    {name, 0, pipe, 0, FORM_CUSTOM, kind, PTX_NO_TYPE, {0}, text},
#include "grader/sim/insn/opcodes.def"
};
const unsigned insn_opcode_count = sizeof insn_opcodes / sizeof *insn_opcodes;

static unsigned char executed[sizeof insn_opcodes / sizeof *insn_opcodes];
unsigned char *insn_executed = executed;

/* ---- opcodes by name ---- */

enum { NAME_SLOTS = 4096 };
_Static_assert(sizeof insn_opcodes / sizeof *insn_opcodes < NAME_SLOTS / 2,
               "the table of names must be at most half full");
static u16 opcode_by_name[NAME_SLOTS]; /* opcode + 1; 0 = free */

static u32 hash(const char *s) {
    u32 h = 2166136261u;
    for (; *s; s++) h = (h ^ (u8)*s) * 16777619u;
    return h;
}

static void build_name_table(void) {
    for (unsigned i = 0; i < insn_opcode_count; i++) {
        u32 h = hash(insn_opcodes[i].name) % NAME_SLOTS;
        while (opcode_by_name[h]) h = (h + 1) % NAME_SLOTS;
        opcode_by_name[h] = (u16)(i + 1);
    }
}

int insn_find_opcode(const char *name) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build_name_table);
    for (u32 h = hash(name) % NAME_SLOTS; opcode_by_name[h]; h = (h + 1) % NAME_SLOTS)
        if (strcmp(insn_opcodes[opcode_by_name[h] - 1].name, name) == 0)
            return opcode_by_name[h] - 1;
    return -1;
}

/* ---- vector levels ---- */

#if defined __x86_64__
/* The levels of the x86-64 psABI, by single features: clang 14 can't test for a level by name. */
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}
static bool has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#define LEVEL_x86_64(name, had, cpuinfo, flags) LEVEL(name, had)
#define LEVEL_aarch64(name, had, cpuinfo, flags)
#elif defined __aarch64__
#define LEVEL_x86_64(name, had, cpuinfo, flags)
#define LEVEL_aarch64(name, had, cpuinfo, flags) LEVEL(name, had)
#else
#error "lane functions exist for x86-64 and aarch64 only; add your processor to isa_levels.def"
#endif

/* Weak, because a build for one machine has only some of them (Makefile, LEVEL_COUNT). */
#define LEVEL(name, had) extern op_fn *const lane_functions_##name[] __attribute__((weak));
#include "grader/sim/code/isa_levels.def"
#undef LEVEL

static op_fn *const *level_table(unsigned level, const char **level_name) {
    unsigned i = 0;
#define LEVEL(name, had)                                \
    if (++i == level && lane_functions_##name && (had)) \
        return *level_name = #name, lane_functions_##name;
#include "grader/sim/code/isa_levels.def"
#undef LEVEL
    return NULL;
}

enum {
#define LEVEL(name, had) LEVEL_##name,
#include "grader/sim/code/isa_levels.def"
#undef LEVEL
    LEVEL_COUNT
};
_Static_assert((int)LEVEL_COUNT <= (int)LANES_MAX_LEVELS,
               "LANES_MAX_LEVELS is too small for isa_levels.def");

op_fn *const *lanes_level_table(unsigned level) {
    const char *ignored;
    return level_table(level, &ignored);
}

const char *lanes_level_name(unsigned level) {
    const char *name = "none";
    level_table(level, &name);
    return name;
}

static unsigned forced_level;
void lanes_force_level(unsigned level) { forced_level = level; }

op_fn *const *lanes_default_table(void) {
    unsigned level = forced_level ? forced_level : LEVEL_COUNT;
    while (!forced_level && !lanes_level_table(level)) level--;
    return lanes_level_table(level);
}
