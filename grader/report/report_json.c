/* report_json.c — writes results as JSON (docs/json.md): stable keys in a fixed order, units in the
 * names. It contains no clock time, path or process id, so that equal seeds give equal bytes. */
#include "grader/book/book.h"
#include "grader/grade/gpu_device.h"
#include "grader/jail/jail.h"
#include "grader/report/report.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *json_text(const char *s) {
    json_t *j = json_string(s);
    return j ? j : json_string("(not valid UTF-8)");
}

static json_t *cases_json(const struct result *r) {
    json_t *list = json_array();
    for (unsigned i = 0; i < r->ncases; i++) {
        const struct case_result *c = &r->cases[i];
        json_t *o = json_object();
        json_object_set_new(o, "group", json_text(c->group));
        json_object_set_new(o, "name", json_text(c->name));
        json_object_set_new(o, "number", json_integer(c->number));
        json_object_set_new(o, "drawn", json_boolean(c->drawn));
        json_object_set_new(o, "verdict", json_text(verdict_code(c->verdict)));
        json_object_set_new(o, "message", json_text(c->message));
        if (c->instructor_message)
            json_object_set_new(o, "secret", json_text(c->instructor_message));
        json_array_append_new(list, o);
    }
    return list;
}

/* Sets a renamed key under both names, for one version (docs/json.md). Takes over `value`. */
static void set_renamed(json_t *o, const char *key, const char *v1, json_t *value) {
    json_object_set(o, key, value);
    json_object_set_new(o, v1, value);
}

static json_t *technique_json(const struct result *r) {
    json_t *list = json_array();
    for (unsigned i = 0; i < r->ntechnique; i++) {
        const struct technique_result *t = &r->technique[i];
        json_t *o = json_object();
        json_object_set_new(o, "name", json_text(t->name));
        json_object_set_new(o, "metric", json_text(t->metric));
        json_object_set_new(o, "value", json_real(t->value));
        json_object_set_new(o, "limit", json_real(t->limit));
        json_object_set_new(o, "bound", json_text(t->is_upper_limit ? "at most" : "at least"));
        json_object_set_new(o, "unit", json_text(t->unit ? t->unit : ""));
        json_object_set_new(o, "file", json_text(t->file));
        json_object_set_new(o, "line", json_integer(t->line));
        json_object_set_new(o, "passed", json_boolean(t->passed));
        json_object_set_new(o, "kind", json_text(t->is_guard ? "guard" : "goal"));
        set_renamed(o, "baseline", "naive",
                    t->has_baseline ? json_real(t->baseline_value) : json_null());
        if (!t->is_guard) set_renamed(o, "progress", "way", json_real(t->goal_progress));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *stalls_json(const struct kernel_time *k) {
    json_t *o = json_object();
    for (unsigned i = 0; i < SIM_STALL_COUNT; i++)
        if (k->stall_seconds[i] > 0)
            json_object_set_new(o, sim_stall_text(i), json_real(k->stall_seconds[i] * 1e6));
    return o;
}

/* Returns the modelled kernels in the order of their first launches. */
static json_t *kernels_json(const struct result *r) {
    json_t *list = json_array();
    for (unsigned i = 0; i < r->nkernel_times; i++) {
        const struct kernel_time *k = &r->kernel_times[i];
        json_t *o = json_object();
        json_object_set_new(o, "name", json_text(k->name));
        json_object_set_new(o, "launches", json_integer(k->launches));
        json_object_set_new(o, "modelled_us", json_real(k->us));
        json_object_set_new(o, "bound_by", json_text(k->bound_by));
        json_object_set_new(o, "limits", report_limits_json(&k->account));
        json_object_set_new(o, "account_us", report_account_json(&k->account));
        json_object_set_new(o, "busy_us", report_busy_json(&k->account));
        json_object_set_new(o, "stalls_us", stalls_json(k));
        json_object_set_new(o, "occupancy", json_real(k->occupancy));
        json_object_set_new(o, "occupancy_limit", json_text(k->occupancy_limiter));
        json_object_set_new(o, "registers", json_integer(k->registers));
        json_object_set_new(o, "shared_bytes", json_integer(k->shared_bytes));
        json_array_append_new(list, o);
    }
    return list;
}

/* Returns the points lost. Together with the score they add up to max_score. */
static json_t *points_lost_json(const struct result *r) {
    json_t *list = json_array();
    for (unsigned i = 0; i < r->npoints_lost; i++) {
        const struct point_loss *m = &r->points_lost[i];
        json_t *o = json_object();
        json_object_set_new(o, "points", json_real(m->points));
        json_object_set_new(o, "group", json_text(m->group));
        set_renamed(o, "reason", "why", json_text(m->reason));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *speed_json(const struct result *r) {
    const struct speed_result *s = &r->speed;
    if (!s->valid) return json_null();
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_text(s->kind));
    json_object_set_new(o, "student_us", json_real(s->student_us));
    json_object_set_new(o, "interval_us", json_pack("[f,f]", s->low_us, s->high_us));
    json_object_set_new(o, "solution_us", json_real(s->solution_us));
    json_object_set_new(o, "baseline_us", json_real(s->baseline_us));
    json_object_set_new(o, "vs_solution", json_real(s->vs_solution));
    json_object_set_new(o, "vs_baseline", json_real(s->vs_baseline));
    json_object_set_new(o, "counted_vs_solution", json_real(s->counted_vs_solution));
    json_object_set_new(o, "ci95",
                        s->ci_low > 0 ? json_pack("[f,f]", s->ci_low, s->ci_high) : json_null());
    json_object_set_new(o, "of_roofline", json_real(s->roofline_fraction));
    json_object_set_new(o, "bound_by", json_text(s->bound_by));
    json_object_set_new(o, "limits", report_limits_json(&s->account));
    return o;
}

static json_t *counters_json(const struct result *r) {
    json_t *o = json_object();
    for (unsigned i = 0; r->has_counters && i < sim_counter_count(); i++) {
        json_t *value = json_integer((json_int_t)sim_counter_get(&r->counters, i));
        const char *v1 = sim_counter_name_v1(i);
        if (v1) json_object_set(o, v1, value);
        json_object_set_new(o, sim_counter_name(i), value);
    }
    return o;
}

static json_t *exercise_json(const struct result *r) {
    json_t *o = json_object();
    json_object_set_new(o, "id", json_text(r->id));
    json_object_set_new(o, "verdict", json_text(verdict_code(r->verdict)));
    json_object_set_new(o, "score",
                        verdict_has_score(r->verdict) ? json_real(r->score) : json_null());
    json_object_set_new(o, "max_score", json_real(r->max_score));
    if (r->seed) json_object_set_new(o, "seed", json_text(r->seed));
    json_object_set_new(o, "started", json_boolean(!r->is_unmodified));
    json_object_set_new(o, "waived", json_boolean(r->goals_waived));
    set_renamed(o, "points_lost", "missing", points_lost_json(r));
    struct buf reason = {0};
    report_explain_score(r, &reason);
    json_object_set_new(o, "points_and_time", json_text(buf_str(&reason)));
    json_object_set_new(o, "kernels", kernels_json(r));
    buf_free(&reason);
    json_object_set_new(o, "cases", cases_json(r));
    json_object_set_new(o, "technique", technique_json(r));
    json_object_set_new(o, "speed", speed_json(r));
    json_object_set_new(o, "counters", counters_json(r));
    struct buf log = {0}; /* compiler messages, then program output */
    buf_puts(&log, r->message);
    if (log.size && r->log.size) buf_puts(&log, "\n");
    buf_add(&log, buf_str(&r->log), r->log.size);
    json_object_set_new(o, "log", json_text(buf_str(&log)));
    buf_free(&log);
    return o;
}

struct json_t *report_json(const struct result *const *results, unsigned n,
                           const struct gpu_device *d, const char *seed) {
    json_t *o = json_object(), *device = json_object(), *list = json_array();
    json_object_set_new(device, "name", json_text(d->name));
    json_object_set_new(device, "backend", json_text(gpu_options_of(d) ? "gpu" : "sim"));
    for (unsigned i = 0; i < n; i++) json_array_append_new(list, exercise_json(results[i]));
    json_object_set_new(o, "schema", json_integer(2));
    json_object_set_new(o, "device", device);
    json_object_set_new(o, "seed", json_text(seed));
    json_object_set_new(o, "jail", json_text(jail_describe_tier()));
    json_object_set_new(o, "exercises", list);
    return o;
}

void report_json_not_started(struct json_t *o, const struct exercise *const *list, unsigned n) {
    json_t *ids = json_array();
    for (unsigned i = 0; i < n; i++) json_array_append_new(ids, json_text(book_id(list[i])));
    json_object_set_new(o, "not_started", ids);
}

void report_json_write(json_t *o, struct buf *out) {
    char *s = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    buf_puts(out, s);
    buf_puts(out, "\n");
    free(s);
    json_decref(o);
}

void report_json_text(struct json_t *const *devices, unsigned n, const char *seed,
                      struct buf *out) {
    json_t *o = n == 1 ? devices[0] : json_object(), *list = n == 1 ? NULL : json_array();
    for (unsigned i = 0; list && i < n; i++) json_array_append_new(list, devices[i]);
    if (list) {
        json_object_set_new(o, "schema", json_integer(2));
        json_object_set_new(o, "seed", json_text(seed));
        json_object_set_new(o, "devices", list);
    }
    report_json_write(o, out);
}
