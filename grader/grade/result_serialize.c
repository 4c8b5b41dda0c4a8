/* result_serialize.c — see result_serialize.h. One list of fields serves both directions: each
 * visit_ function names each field once. */
#include "grader/grade/result_serialize.h"

#include <string.h>

struct serializer {
    struct buf *out;      /* packing */
    const char *at, *end; /* unpacking */
    struct arena *arena;
    bool malformed;
};

static void visit_bytes(struct serializer *p, void *data, size_t n) {
    if (p->out) buf_add(p->out, data, n);
    else if ((size_t)(p->end - p->at) < n) p->malformed = true;
    else {
        if (n) memcpy(data, p->at, n);
        p->at += n;
    }
}

static size_t visit_count(struct serializer *p, size_t n) {
    visit_bytes(p, &n, sizeof n);
    if (!p->out && n > (size_t)(p->end - p->at)) p->malformed = true;
    return p->malformed ? 0 : n;
}

static void visit_string(struct serializer *p, const char **s) {
    size_t n = visit_count(p, p->out && *s ? strlen(*s) + 1 : 0); /* 0 = NULL */
    if (!p->out) *s = n ? arena_alloc(p->arena, n) : NULL;
    if (n) visit_bytes(p, (char *)*s, n);
}

static void visit_buffer(struct serializer *p, struct buf *b) {
    size_t n = visit_count(p, b->size);
    if (p->out) visit_bytes(p, b->data, n);
    else if (n) buf_add(b, p->at, n), p->at += n;
}

#define NUMBER(p, field) visit_bytes(p, &(field), sizeof(field))
#define ARRAY(p, array, n, type)                                 \
    do {                                                         \
        n = (unsigned)visit_count(p, n);                         \
        if (!(p)->out) array = arena_array((p)->arena, type, n); \
    } while (0)

static void visit_case(struct serializer *p, struct case_result *c) {
    visit_string(p, &c->group), visit_string(p, &c->name), visit_string(p, &c->message),
        visit_string(p, &c->instructor_message);
    NUMBER(p, c->verdict), NUMBER(p, c->number), NUMBER(p, c->drawn);
}

static void visit_technique(struct serializer *p, struct technique_result *t) {
    visit_string(p, &t->name), visit_string(p, &t->metric), visit_string(p, &t->unit),
        visit_string(p, &t->reason), visit_string(p, &t->file);
    NUMBER(p, t->value), NUMBER(p, t->limit), NUMBER(p, t->is_upper_limit), NUMBER(p, t->passed),
        NUMBER(p, t->line), NUMBER(p, t->is_guard);
    NUMBER(p, t->test_index), NUMBER(p, t->has_baseline), NUMBER(p, t->baseline_value),
        NUMBER(p, t->baseline_limit), NUMBER(p, t->goal_progress);
}

static void visit_missing(struct serializer *p, struct point_loss *m) {
    visit_string(p, &m->group), visit_string(p, &m->reason);
    NUMBER(p, m->points);
}

static void visit_speed(struct serializer *p, struct speed_result *s) {
    visit_string(p, &s->kind), visit_string(p, &s->bound_by), visit_string(p, &s->size),
        visit_string(p, &s->note);
    NUMBER(p, s->valid), NUMBER(p, s->disqualified), NUMBER(p, s->student_us),
        NUMBER(p, s->solution_us), NUMBER(p, s->baseline_us);
    NUMBER(p, s->vs_solution), NUMBER(p, s->vs_baseline), NUMBER(p, s->roofline_fraction),
        NUMBER(p, s->low_us), NUMBER(p, s->high_us), NUMBER(p, s->ci_low), NUMBER(p, s->ci_high),
        NUMBER(p, s->solution_speedup), NUMBER(p, s->output_fully_checked),
        NUMBER(p, s->is_timed_size), NUMBER(p, s->bytes), NUMBER(p, s->flops),
        NUMBER(p, s->tensor_flops), NUMBER(p, s->bus_rate), NUMBER(p, s->account),
        NUMBER(p, s->counted_vs_solution);
}

static void visit_kernel(struct serializer *p, struct kernel_result *k) {
    visit_string(p, &k->name);
    NUMBER(p, k->registers), NUMBER(p, k->spill_bytes);
}

static void visit_line(struct serializer *p, struct line_result *l) {
    visit_string(p, &l->file);
    NUMBER(p, l->line), NUMBER(p, l->counters), NUMBER(p, l->stall_seconds);
}

static void visit_access(struct serializer *p, struct access_result *a) {
    visit_string(p, &a->kernel);
    NUMBER(p, a->access);
    if (!p->out) a->access.file = NULL; /* the pointer of another process */
    visit_string(p, &a->access.file);
}

static void visit_time(struct serializer *p, struct kernel_time *k) {
    visit_string(p, &k->name), visit_string(p, &k->occupancy_limiter),
        visit_string(p, &k->bound_by);
    NUMBER(p, k->launches), NUMBER(p, k->grid), NUMBER(p, k->block), NUMBER(p, k->registers),
        NUMBER(p, k->spill_bytes);
    NUMBER(p, k->shared_bytes), NUMBER(p, k->occupancy), NUMBER(p, k->us), NUMBER(p, k->account),
        NUMBER(p, k->stall_seconds);
}

static void visit_result(struct serializer *p, struct result *r) {
    visit_string(p, &r->id), visit_string(p, &r->file), visit_string(p, &r->message),
        visit_string(p, &r->seed);
    NUMBER(p, r->verdict), NUMBER(p, r->score), NUMBER(p, r->max_score), NUMBER(p, r->earned),
        NUMBER(p, r->available);
    NUMBER(p, r->case_points), NUMBER(p, r->nhidden), NUMBER(p, r->nhidden_total),
        NUMBER(p, r->goals_waived), NUMBER(p, r->is_unmodified), NUMBER(p, r->is_single_case),
        NUMBER(p, r->is_kept), NUMBER(p, r->depends_on_machine);
    NUMBER(p, r->checks), NUMBER(p, r->speed_counted), NUMBER(p, r->has_counters),
        NUMBER(p, r->counters), NUMBER(p, r->occupancy);
    ARRAY(p, r->cases, r->ncases, struct case_result);
    for (unsigned i = 0; i < r->ncases && !p->malformed; i++) visit_case(p, &r->cases[i]);
    ARRAY(p, r->technique, r->ntechnique, struct technique_result);
    for (unsigned i = 0; i < r->ntechnique && !p->malformed; i++)
        visit_technique(p, &r->technique[i]);
    ARRAY(p, r->points_lost, r->npoints_lost, struct point_loss);
    for (unsigned i = 0; i < r->npoints_lost && !p->malformed; i++)
        visit_missing(p, &r->points_lost[i]);
    ARRAY(p, r->lines, r->nlines, struct line_result);
    for (unsigned i = 0; i < r->nlines && !p->malformed; i++) visit_line(p, &r->lines[i]);
    ARRAY(p, r->kernels, r->nkernels, struct kernel_result);
    for (unsigned i = 0; i < r->nkernels && !p->malformed; i++) visit_kernel(p, &r->kernels[i]);
    ARRAY(p, r->kernel_times, r->nkernel_times, struct kernel_time);
    for (unsigned i = 0; i < r->nkernel_times && !p->malformed; i++)
        visit_time(p, &r->kernel_times[i]);
    ARRAY(p, r->spans, r->nspans, struct timeline_span);
    for (unsigned i = 0; i < r->nspans && !p->malformed; i++)
        NUMBER(p, r->spans[i].begin_us), NUMBER(p, r->spans[i].end_us),
            NUMBER(p, r->spans[i].engine), NUMBER(p, r->spans[i].stream);
    ARRAY(p, r->accesses, r->naccesses, struct access_result);
    for (unsigned i = 0; i < r->naccesses && !p->malformed; i++) visit_access(p, &r->accesses[i]);
    visit_speed(p, &r->speed);
    visit_buffer(p, &r->log), visit_buffer(p, &r->source);
}

void result_serialize(const struct result *r, struct buf *out) {
    struct result copy = *r; /* visiting takes addresses, but writes nothing when packing */
    struct serializer p = {.out = out};
    visit_result(&p, &copy);
}

bool result_deserialize(struct result *r, const struct exercise *ex, const char *data,
                        size_t size) {
    *r = (struct result){.ex = ex};
    struct serializer p = {.at = data, .end = data + size, .arena = &r->arena};
    visit_result(&p, r);
    return !p.malformed && p.at == p.end;
}
