/* symbol_table.c — the parser's names: interned once, with their meaning at module scope and in the
 * open blocks.
 *
 * Each name has a stack of bindings, innermost block on top; closing a block pops its bindings. A
 * register range such as %r<100> is bound to its prefix, and each register of it at its first use,
 * in the block that declared the range. A label may be used before it is defined, so its uses wait
 * as fixups in their block: when the block closes, the fixups of its own labels are resolved, and
 * the others move to the enclosing block. */
#include "grader/sim/ptx/parse.h"

#include <string.h>
#include <sys/random.h>

struct symbol_table {
    struct identifier **buckets;
    size_t n, capacity; /* capacity is a power of two */
    uint64_t seed;      /* secret: a text cannot be made so that its names collide */
};

struct symbol_table *ptx_symbol_table_new(struct arena *a) {
    struct symbol_table *x = arena_new(a, struct symbol_table);
    x->capacity = 1024;
    x->buckets = arena_array(a, struct identifier *, x->capacity);
    if (getrandom(&x->seed, sizeof x->seed, GRND_NONBLOCK) != sizeof x->seed)
        x->seed = (uintptr_t)x;
    return x;
}

/* Hashes eight bytes at a time by multiply and fold, with MurmurHash3's finalizer (public domain).
 */
static uint64_t hash(uint64_t h, const char *s, size_t n) {
    h ^= n;
    for (; n; s += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
        uint64_t w = 0;
        memcpy(&w, s, n < 8 ? n : 8);
        h = (h ^ w) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
    return h ^ h >> 33;
}

static struct identifier *find_name(const struct symbol_table *x, uint64_t h, const char *s,
                                    size_t n) {
    for (struct identifier *name = x->buckets[h & (x->capacity - 1)]; name; name = name->hash_next)
        if (name->hash == h && name->n == n && !memcmp(name->s, s, n)) return name;
    return NULL;
}

static void grow_index(struct ptx_parser *p, struct symbol_table *x) {
    size_t capacity = x->capacity * 4;
    struct identifier **buckets = ptx_alloc(p, p->arena, capacity * sizeof *buckets);
    for (size_t i = 0; i < x->capacity; i++)
        for (struct identifier *name = x->buckets[i], *chain; name; name = chain) {
            chain = name->hash_next;
            name->hash_next = buckets[name->hash & (capacity - 1)];
            buckets[name->hash & (capacity - 1)] = name;
        }
    x->buckets = buckets;
    x->capacity = capacity;
}

/* Splits "%r12" into "%r" and 12: up to nine digits without a leading zero, as in a range. */
static void split_number(struct ptx_parser *p, struct identifier *name) {
    size_t n = name->n;
    while (n && name->s[n - 1] >= '0' && name->s[n - 1] <= '9') n--;
    size_t digits = name->n - n;
    if (!n || !digits || digits > 9 || (digits > 1 && name->s[n] == '0')) return;
    for (size_t i = n; i < name->n; i++)
        name->number = name->number * 10 + (uint32_t)(name->s[i] - '0');
    name->prefix = ptx_intern(p, name->s, n);
}

struct identifier *ptx_intern(struct ptx_parser *p, const char *s, size_t n) {
    struct symbol_table *x = p->symbols;
    uint64_t h = hash(x->seed, s, n);
    struct identifier *name = find_name(x, h, s, n);
    if (name) return name;
    if (x->n++ >= x->capacity) grow_index(p, x);
    name = ptx_alloc(p, p->arena, sizeof *name);
    char *copy = ptx_alloc(p, p->arena, n + 1);
    memcpy(copy, s, n);
    *name = (struct identifier){.hash = h, .s = copy, .n = n};
    name->hash_next = x->buckets[h & (x->capacity - 1)];
    x->buckets[h & (x->capacity - 1)] = name;
    split_number(p, name);
    return name;
}

struct identifier *ptx_expect_name(struct ptx_parser *p, const char *expected) {
    if (p->tok.kind != TOKEN_IDENT) ptx_fail_expected(p, expected);
    struct identifier *name = ptx_intern(p, p->tok.s, p->tok.n);
    ptx_next(p);
    return name;
}

struct binding *ptx_bind(struct ptx_parser *p, struct identifier *name, enum binding_kind kind,
                         unsigned depth) {
    if (name->local && name->local->depth == depth)
        ptx_fail(p, p->last_line, ERR_INPUT, "'%.200s' is declared twice in one block", name->s);
    struct binding *b = ptx_alloc(p, &p->scratch, sizeof *b);
    struct scope *block = &p->scopes[depth];
    *b = (struct binding){
        .kind = kind, .depth = depth, .outer = name->local, .next = block->bindings, .name = name};
    name->local = b;
    block->bindings = b;
    return b;
}

struct binding *ptx_add_reg(struct ptx_parser *p, struct identifier *name, enum ptx_type type,
                            unsigned depth) {
    struct binding *b = ptx_bind(p, name, BIND_REG, depth);
    b->index = (uint32_t)p->regs.n;
    *vec_push(p, &p->regs, struct ptx_reg) = (struct ptx_reg){.name = name->s, .type = type};
    return b;
}

void ptx_bind_range(struct ptx_parser *p, struct identifier *name, uint32_t count,
                    enum ptx_type type) {
    if (name->range && name->range->depth == p->depth)
        ptx_fail(p, p->last_line, ERR_INPUT,
                 "the registers '%.200s<...>' are declared twice in one block", name->s);
    struct reg_range *r = ptx_alloc(p, &p->scratch, sizeof *r);
    struct scope *block = &p->scopes[p->depth];
    *r = (struct reg_range){name->range, block->ranges, name, p->depth, count, type};
    name->range = r;
    block->ranges = r;
}

struct binding *ptx_find_local(struct ptx_parser *p, struct identifier *name) {
    struct reg_range *r = name->prefix ? name->prefix->range : NULL;
    while (r && name->number >= r->count) r = r->outer;
    if (r && (!name->local || name->local->depth < r->depth))
        return ptx_add_reg(p, name, r->type, r->depth);
    return name->local;
}

void ptx_open_scope(struct ptx_parser *p) {
    if (p->depth + 1 >= MAX_NESTED_SCOPES)
        ptx_fail(p, p->tok.line, ERR_LIMIT, "blocks are nested more than %d deep",
                 MAX_NESTED_SCOPES - 2);
    p->scopes[++p->depth] = (struct scope){.line = p->tok.line};
}

void ptx_add_fixup(struct ptx_parser *p, struct identifier *name, uint32_t line, uint32_t *target,
                   struct ptx_operand *operand) {
    struct fixup *x = ptx_alloc(p, &p->scratch, sizeof *x);
    *x = (struct fixup){p->scopes[p->depth].fixups, name, line, target, operand};
    p->scopes[p->depth].fixups = x;
}

/* Returns true if the closing block defines the name; the operand or target is then complete. */
static bool resolve_fixup(struct ptx_parser *p, struct fixup *x) {
    struct binding *b = x->name->local;
    if (!b || b->depth != p->depth) return false;
    if (b->kind == BIND_TARGET_LIST && x->operand) x->operand->kind = PTX_OP_TABLE;
    else if (b->kind != BIND_LABEL)
        ptx_fail(p, x->line, ERR_INPUT, "expected a label, but '%.200s' is not one", x->name->s);
    *x->target = b->index;
    return true;
}

static void close_fixups(struct ptx_parser *p, struct scope *block) {
    for (struct fixup *x = block->fixups, *following; x; x = following) {
        following = x->next;
        if (resolve_fixup(p, x)) continue;
        if (p->depth == 1)
            ptx_fail(p, x->line, ERR_INPUT,
                     "'%.200s' is neither declared nor a label of this function", x->name->s);
        x->next = p->scopes[p->depth - 1].fixups;
        p->scopes[p->depth - 1].fixups = x;
    }
}

void ptx_close_scope(struct ptx_parser *p) {
    struct scope *block = &p->scopes[p->depth];
    close_fixups(p, block);
    for (struct binding *b = block->bindings; b; b = b->next) b->name->local = b->outer;
    for (struct reg_range *r = block->ranges; r; r = r->next) r->name->range = r->outer;
    p->depth--;
}

const struct ptx_var *ptx_module_var(const struct ptx_module *m, const char *name) {
    size_t n = strlen(name);
    for (unsigned i = 0; !m->index && i < m->nvars; i++) /* linked of several */
        if (strcmp(m->vars[i]->name, name) == 0) return m->vars[i];
    if (!m->index) return NULL;
    struct identifier *x = find_name(m->index, hash(m->index->seed, name, n), name, n);
    return x ? x->var : NULL;
}

const struct ptx_func *ptx_module_func(const struct ptx_module *m, const char *name) {
    size_t n = strlen(name);
    for (unsigned i = 0; !m->index && i < m->nfuncs; i++) /* linked of several */
        if (strcmp(m->funcs[i]->name, name) == 0) return m->funcs[i];
    if (!m->index) return NULL;
    struct identifier *x = find_name(m->index, hash(m->index->seed, name, n), name, n);
    return x ? x->func : NULL;
}
