/* result_bytes.c — see result_bytes.h. One list of fields serves both directions: `visit` names
 * each field once. */
#include "grader/grade/result_bytes.h"

#include <string.h>

struct pack {
    struct buf *out;      /* packing */
    const char *at, *end; /* unpacking */
    struct arena *arena;
    bool bad;
};

static void bytes(struct pack *p, void *data, size_t n) {
    if (p->out) buf_add(p->out, data, n);
    else if ((size_t)(p->end - p->at) < n) p->bad = true;
    else {
        if (n) memcpy(data, p->at, n);
        p->at += n;
    }
}

static size_t count(struct pack *p, size_t n) {
    bytes(p, &n, sizeof n);
    if (!p->out && n > (size_t)(p->end - p->at)) p->bad = true;
    return p->bad ? 0 : n;
}

static void string(struct pack *p, const char **s) {
    size_t n = count(p, p->out && *s ? strlen(*s) + 1 : 0); /* 0 = NULL */
    if (!p->out) *s = n ? arena_alloc(p->arena, n) : NULL;
    if (n) bytes(p, (char *)*s, n);
}

static void buffer(struct pack *p, struct buf *b) {
    size_t n = count(p, b->size);
    if (p->out) bytes(p, b->data, n);
    else if (n) buf_add(b, p->at, n), p->at += n;
}

#define NUMBER(p, field) bytes(p, &(field), sizeof(field))
#define ARRAY(p, array, n, type)                                 \
    do {                                                         \
        n = (unsigned)count(p, n);                               \
        if (!(p)->out) array = arena_array((p)->arena, type, n); \
    } while (0)

static void visit_case(struct pack *p, struct case_result *c) {
    string(p, &c->group), string(p, &c->name), string(p, &c->message), string(p, &c->secret);
    NUMBER(p, c->verdict), NUMBER(p, c->number), NUMBER(p, c->drawn);
}

static void visit_technique(struct pack *p, struct technique_result *t) {
    string(p, &t->name), string(p, &t->metric), string(p, &t->unit), string(p, &t->reason),
        string(p, &t->file);
    NUMBER(p, t->value), NUMBER(p, t->limit), NUMBER(p, t->at_most), NUMBER(p, t->passed),
        NUMBER(p, t->line), NUMBER(p, t->guard);
    NUMBER(p, t->test), NUMBER(p, t->naive_known), NUMBER(p, t->naive), NUMBER(p, t->naive_limit),
        NUMBER(p, t->way);
}

static void visit_missing(struct pack *p, struct missing *m) {
    string(p, &m->group), string(p, &m->why);
    NUMBER(p, m->points);
}

static void visit_speed(struct pack *p, struct speed_result *s) {
    string(p, &s->kind), string(p, &s->bound_by), string(p, &s->size), string(p, &s->note);
    NUMBER(p, s->valid), NUMBER(p, s->forfeit), NUMBER(p, s->student_us), NUMBER(p, s->solution_us),
        NUMBER(p, s->baseline_us);
    NUMBER(p, s->vs_solution), NUMBER(p, s->vs_baseline), NUMBER(p, s->of_roofline),
        NUMBER(p, s->low_us), NUMBER(p, s->high_us), NUMBER(p, s->ci_low), NUMBER(p, s->ci_high),
        NUMBER(p, s->gain), NUMBER(p, s->whole), NUMBER(p, s->timed), NUMBER(p, s->bytes),
        NUMBER(p, s->flops), NUMBER(p, s->matrix_flops), NUMBER(p, s->bus_rate);
}

static void visit_kernel(struct pack *p, struct kernel_result *k) {
    string(p, &k->name);
    NUMBER(p, k->registers), NUMBER(p, k->spill_bytes);
}

static void visit_line(struct pack *p, struct line_result *l) {
    string(p, &l->file);
    NUMBER(p, l->line), NUMBER(p, l->counters), NUMBER(p, l->waits);
}

static void visit_time(struct pack *p, struct kernel_time *k) {
    string(p, &k->name), string(p, &k->limit), string(p, &k->bound_by);
    NUMBER(p, k->launches), NUMBER(p, k->grid), NUMBER(p, k->block), NUMBER(p, k->registers),
        NUMBER(p, k->spill_bytes);
    NUMBER(p, k->shared_bytes), NUMBER(p, k->occupancy), NUMBER(p, k->us), NUMBER(p, k->parts);
}

static void visit(struct pack *p, struct result *r) {
    string(p, &r->id), string(p, &r->file), string(p, &r->message);
    NUMBER(p, r->verdict), NUMBER(p, r->score), NUMBER(p, r->max_score), NUMBER(p, r->got),
        NUMBER(p, r->full);
    NUMBER(p, r->case_points), NUMBER(p, r->nhidden), NUMBER(p, r->all_hidden),
        NUMBER(p, r->waived), NUMBER(p, r->untouched), NUMBER(p, r->partial);
    NUMBER(p, r->checks), NUMBER(p, r->speed_counted), NUMBER(p, r->has_counters),
        NUMBER(p, r->counters), NUMBER(p, r->occupancy);
    ARRAY(p, r->cases, r->ncases, struct case_result);
    for (unsigned i = 0; i < r->ncases && !p->bad; i++) visit_case(p, &r->cases[i]);
    ARRAY(p, r->technique, r->ntechnique, struct technique_result);
    for (unsigned i = 0; i < r->ntechnique && !p->bad; i++) visit_technique(p, &r->technique[i]);
    ARRAY(p, r->missing, r->nmissing, struct missing);
    for (unsigned i = 0; i < r->nmissing && !p->bad; i++) visit_missing(p, &r->missing[i]);
    ARRAY(p, r->lines, r->nlines, struct line_result);
    for (unsigned i = 0; i < r->nlines && !p->bad; i++) visit_line(p, &r->lines[i]);
    ARRAY(p, r->kernels, r->nkernels, struct kernel_result);
    for (unsigned i = 0; i < r->nkernels && !p->bad; i++) visit_kernel(p, &r->kernels[i]);
    ARRAY(p, r->times, r->ntimes, struct kernel_time);
    for (unsigned i = 0; i < r->ntimes && !p->bad; i++) visit_time(p, &r->times[i]);
    visit_speed(p, &r->speed);
    buffer(p, &r->log), buffer(p, &r->source);
}

void result_pack(const struct result *r, struct buf *out) {
    struct result copy =
        *r; /* visiting takes addresses of fields, and changes none while packing */
    struct pack p = {.out = out};
    visit(&p, &copy);
}

bool result_unpack(struct result *r, const struct exercise *ex, const char *data, size_t size) {
    *r = (struct result){.ex = ex};
    struct pack p = {.at = data, .end = data + size, .arena = &r->arena};
    visit(&p, r);
    return !p.bad && p.at == p.end;
}
