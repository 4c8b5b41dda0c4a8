/* counters.c — writes the counters of a run as text or JSON (docs/json.md lists the keys) and
 * prints its reports. run.c calls it. The counters of all source lines add up to the launch's. */
#include "common/file.h"
#include "common/grow.h"
#include "common/quote.h"
#include "common/text.h"
#include "grader/simgpu/simgpu.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCE_BYTES = 4 << 20 /* of a source file that reports quote */ };

struct counter_log {
    enum counter_format format;
    json_t *launches;
    struct buf text;
    const char *device;
};

struct counter_log *counter_log_new(enum counter_format f, const char *device) {
    struct counter_log *log = xcalloc(1, sizeof *log);
    log->format = f;
    log->device = device;
    log->launches = json_array();
    return log;
}

/* ---- JSON ---- */

static json_t *counters_json(const struct sim_counters *c) {
    json_t *o = json_object();
    for (unsigned i = 0; i < sim_counter_count(); i++) {
        json_t *value = json_integer((json_int_t)sim_counter_get(c, i));
        const char *v1 = sim_counter_name_v1(i);
        if (v1) json_object_set(o, v1, value);
        json_object_set_new(o, sim_counter_name(i), value);
    }
    return o;
}

static json_t *dim3_json(const uint32_t v[3]) {
    return json_pack("[i,i,i]", (int)v[0], (int)v[1], (int)v[2]);
}

static json_t *lines_json(const struct sim_result *r) {
    json_t *lines = json_array();
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct sim_line *l = &r->lines[i];
        json_array_append_new(lines,
                              json_pack("{s:s%,s:i,s:o}", "file", l->file, strlen(l->file), "line",
                                        (int)l->line, "counters", counters_json(&l->counters)));
    }
    return lines;
}

static json_t *launch_json(const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    json_t *o = json_object();
    if (r->is_sampled) json_object_set_new(o, "sampled", json_true());
    json_object_set_new(o, "kernel", json_string(l->kernel));
    json_object_set_new(o, "grid", dim3_json(l->launch->grid));
    json_object_set_new(o, "block", dim3_json(l->launch->block));
    json_object_set_new(o, "fault", json_string(sim_fault_name(r->fault)));
    json_object_set_new(o, l->result->measured ? "measured_us" : "modelled_us",
                        json_real(l->result->seconds * 1e6));
    json_object_set_new(o, "theoretical_occupancy", json_real(r->theoretical_occupancy));
    json_object_set_new(o, "counters", counters_json(&r->counters));
    json_object_set_new(o, "lines", lines_json(r));
    return o;
}

/* ---- text ---- */

/* The counters shown for each source line; the JSON output has all of them. */
static const struct {
    const char *name;
    size_t offset;
} columns[] = {
    {"inst", offsetof(struct sim_counters, inst_executed)},
    {"sect.ld", offsetof(struct sim_counters, global_load_sectors)},
    {"sect.st", offsetof(struct sim_counters, global_store_sectors)},
    {"excess", offsetof(struct sim_counters, global_sectors_excessive)},
    {"conf.ld", offsetof(struct sim_counters, shared_load_bank_conflicts)},
    {"conf.st", offsetof(struct sim_counters, shared_store_bank_conflicts)},
    {"diverg", offsetof(struct sim_counters, divergent_branches)},
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

static void line_text(struct buf *b, const struct sim_line *l) {
    buf_printf(b, "    %s:%u", *l->file ? l->file : "?", l->line);
    for (unsigned i = 0; i < NCOLUMNS; i++) {
        uint64_t v;
        memcpy(&v, (const char *)&l->counters + columns[i].offset, sizeof v);
        if (v) buf_printf(b, "  %s %llu", columns[i].name, (unsigned long long)v);
    }
    buf_puts(b, "\n");
}

static void launch_text(struct buf *b, const struct server_launch *l) {
    const uint32_t *g = l->launch->grid, *t = l->launch->block;
    const struct sim_result *r = &l->result->sim;
    struct buf name = {0};
    buf_puts(&name, l->kernel), text_demangle(&name);
    buf_printf(b, "kernel %s  grid %u,%u,%u  block %u,%u,%u  %s %.3f us  occupancy %.0f%%\n",
               buf_str(&name), g[0], g[1], g[2], t[0], t[1], t[2],
               l->result->measured ? "measured" : "modelled", l->result->seconds * 1e6,
               r->theoretical_occupancy * 100);
    buf_free(&name);
    for (unsigned i = 0; i < sim_counter_count(); i++)
        if (sim_counter_get(&r->counters, i))
            buf_printf(b, "  %-28s %llu\n", sim_counter_name(i),
                       (unsigned long long)sim_counter_get(&r->counters, i));
    if (r->nlines) buf_puts(b, "  by source line:\n");
    for (unsigned i = 0; i < r->nlines; i++) line_text(b, &r->lines[i]);
}

void counter_log_add(struct counter_log *log, const struct server_launch *l) {
    if (log->format == COUNTERS_JSON) json_array_append_new(log->launches, launch_json(l));
    if (log->format == COUNTERS_TEXT) launch_text(&log->text, l);
}

void counter_log_finish(struct counter_log *log, FILE *out) {
    if (log->format == COUNTERS_TEXT) fputs(buf_str(&log->text), out);
    if (log->format == COUNTERS_JSON) {
        json_t *root = json_object();
        json_object_set_new(root, "schema", json_integer(2));
        json_object_set_new(root, "device", json_string(log->device));
        json_object_set(root, "launches", log->launches);
        json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
        fputc('\n', out);
        json_decref(root);
    }
    json_decref(log->launches);
    buf_free(&log->text);
    free(log);
}

/* ---- reports ---- */

struct report_group {
    char *kernel;
    enum sim_fault fault;
    uint64_t suppressed_count, suppressed_launches; /* reports not printed; their launches */
};

struct report_log {
    struct report_group *groups;
    unsigned n, capacity;
};

struct report_log *report_log_new(void) {
    return xcalloc(1, sizeof(struct report_log));
}

static struct report_group *find_group(struct report_log *log, const char *kernel,
                                       enum sim_fault fault) {
    for (unsigned i = 0; i < log->n; i++)
        if (log->groups[i].fault == fault && !strcmp(log->groups[i].kernel, kernel))
            return &log->groups[i];
    return NULL;
}

static void print_report(struct report_log *log, const char *kernel, const struct sim_report *r) {
    struct report_group *s = find_group(log, kernel, r->fault);
    if (r->fault == SIM_NOTE_EARLY_EXIT || r->fault == SIM_NOTE_ACTIVE_MASK ||
        r->fault == SIM_NOTE_READ_ONLY_LOAD)
        return; /* These notes explain a wrong result, and simgpu does not check results. */
    if (s) {
        s->suppressed_count += r->count;
        s->suppressed_launches++;
        return;
    }
    GROW(log->groups, log->n + 1, log->capacity, 8);
    log->groups[log->n++] = (struct report_group){.kernel = xstrdup(kernel), .fault = r->fault};
    struct buf text = {0};
    struct buf source = {0}, lines = {0};
    struct err ignored = {0};
    buf_puts(&text, r->text);
    text_demangle(&text);
    if (r->file && *r->file && file_read(r->file, MAX_SOURCE_BYTES, &source, &ignored)) {
        quote_rewrite_elements(&text, source.data, source.size, r->line);
        if (sim_fault_is_hazard(r->fault))
            quote_lines(buf_str(&text), source.data, source.size, r->line, "simgpu: ", "\n",
                        &lines);
    }
    fprintf(stderr, "simgpu: %s: %s", sim_fault_name(r->fault), buf_str(&text));
    if (r->count > 1) fprintf(stderr, " (%llu times)", (unsigned long long)r->count);
    fprintf(stderr, "\n%s", buf_str(&lines));
    buf_free(&text);
    buf_free(&source);
    buf_free(&lines);
}

void report_log_add(struct report_log *log, const struct server_launch *l) {
    const struct sim_result *r = &l->result->sim;
    for (unsigned i = 0; i < r->nreports; i++) print_report(log, l->kernel, &r->reports[i]);
}

void report_log_add_report(struct report_log *log, const struct sim_report *r) {
    print_report(log, r->kernel, r);
}

bool report_log_finish(struct report_log *log) {
    bool any = false;
    for (unsigned i = 0; i < log->n; i++) {
        const struct report_group *s = &log->groups[i];
        any |= !sim_fault_is_note(s->fault);
        struct buf name = {0};
        buf_puts(&name, s->kernel);
        text_demangle(&name);
        if (s->suppressed_count)
            fprintf(stderr, "simgpu: %s in %s: %llu more in %llu later launches\n",
                    sim_fault_name(s->fault), buf_str(&name),
                    (unsigned long long)s->suppressed_count,
                    (unsigned long long)s->suppressed_launches);
        buf_free(&name);
        free(s->kernel);
    }
    free(log->groups);
    free(log);
    return any;
}
