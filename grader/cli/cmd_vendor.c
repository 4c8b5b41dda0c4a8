/* cmd_vendor.c — grader vendor: compares the model solution with libraries for the same job. The
 * CUB version and the one of a chapter's "In practice" are graded like any version of the exercise.
 * cuBLAS has machine code but no PTX, so only a GPU can run it; without one the table shows the
 * time that was once measured on such a device (docs/results), if there is one. */
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/cli/vendor.h"
#include "grader/grade/gpu_device.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { MAX_JSON_BYTES = 1 << 26 };

struct vendor_comparison {
    const struct options *o;
    const struct gpu_device *d;
    const struct exercise *ex;
    struct buf rows, notes;
    double solution_us;     /* 0 = unknown */
    unsigned library_count; /* rows other than the model solution's */
    bool is_measured;
};

/* ---- versions of the exercise ---- */

static uint64_t device_read_sectors(const struct sim_counters *c) {
    return c->global_load_sectors + c->bulk_load_sectors + c->atomic_result_sectors;
}

static unsigned launch_count(const struct result *r) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->nkernel_times; i++) n += r->kernel_times[i].launches;
    return n;
}

static void put_time(double us, double solution_us, struct buf *out) {
    if (us > 0) buf_printf(out, " %10.4g", us);
    else buf_printf(out, " %10s", "-");
    if (us > 0 && solution_us > 0) buf_printf(out, " %9.2f", solution_us / us);
    else buf_printf(out, " %9s", "-");
}

static void add_row(struct vendor_comparison *c, const char *name, const struct result *r) {
    const struct sim_counters *n = &r->counters;
    double us = r->speed.valid ? r->speed.student_us : 0;
    buf_printf(&c->rows, "  %-24s %-7s", name, verdict_code(r->verdict));
    put_time(us, c->solution_us, &c->rows);
    if (r->has_counters)
        buf_printf(&c->rows, " %8u %12llu %12llu %12llu", launch_count(r),
                   (unsigned long long)n->inst_executed, (unsigned long long)device_read_sectors(n),
                   (unsigned long long)(n->global_store_sectors + n->bulk_store_sectors));
    buf_puts(&c->rows, "\n");
    if (r->verdict == V_CE || r->verdict == V_IE || r->verdict == V_RTE)
        buf_printf(&c->notes, "%s: %s\n", name, r->ncases ? r->cases[0].message : r->message);
}

/* Grades one version and adds its row; false on an error. */
static bool grade_version(struct vendor_comparison *c, const char *name, const char *path,
                          struct err *e) {
    struct grade_options go = options_to_grade_options(c->o, c->d);
    struct result r;
    go.progress = status_show, go.user = (void *)name;
    if (!grade_file(c->ex, path, &go, &r, e)) return false;
    if (r.speed.valid && c->solution_us <= 0) c->solution_us = r.speed.solution_us;
    if (r.speed.valid) c->is_measured = !strcmp(r.speed.kind, "measured");
    add_row(c, name, &r);
    result_free(&r);
    return true;
}

static bool compare_versions(struct vendor_comparison *c, struct err *e) {
    char practice[VENDOR_MAX_PATH], cub[VENDOR_MAX_PATH];
    bool has_practice = vendor_practice_path(c->ex, practice),
         has_cub = vendor_cub_path(c->ex, cub);
    c->library_count += has_practice + has_cub;
    return grade_version(c, "model solution", book_solution_file(c->ex, NULL), e) &&
           (!has_practice || grade_version(c, "in practice", practice, e)) &&
           (!has_cub || grade_version(c, "CUB", cub, e));
}

/* ---- cuBLAS ---- */

/* Microseconds on a GPU of that device's kind; 0 = unknown. */
struct recorded_times {
    double routine_us, solution_us;
};

static struct recorded_times find_recorded_times(const json_t *report, const char *id,
                                                 const char *routine) {
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(report, "exercises"), i, row) {
        const char *id_of_row = json_string_value(json_object_get(row, "exercise"));
        const json_t *library = json_object_get(json_object_get(row, "libraries"), routine),
                     *solution = json_object_get(json_object_get(row, "times"), "");
        if (id_of_row && !strcmp(id_of_row, id))
            return (struct recorded_times){
                json_real_value(json_object_get(library, "us")),
                json_real_value(json_object_get(solution, "measured_us"))};
    }
    return (struct recorded_times){0};
}

static struct recorded_times read_recorded_times(const struct vendor_comparison *c,
                                                 const char *routine) {
    char path[VENDOR_MAX_PATH];
    struct err ignored = {0};
    struct buf text = {0};
    snprintf(path, sizeof path, "%s/docs/results/%s/report.json", book_root(), c->d->name);
    json_t *j = file_read(path, MAX_JSON_BYTES, &text, &ignored)
                    ? json_loadb(buf_str(&text), text.size, 0, NULL)
                    : NULL;
    struct recorded_times r = find_recorded_times(j, book_id(c->ex), routine);
    json_decref(j), buf_free(&text);
    return r;
}

static double time_cublas_us(const struct vendor_comparison *c, struct err *e) {
    const char *routine;
    struct backend *b = backend_gpu_open(gpu_options_of(c->d), e);
    double seconds = b ? vendor_time(b, c->ex, &routine, e) : 0;
    if (b) b->ops->close(b);
    return seconds * 1e6;
}

static void put_cublas_note(struct vendor_comparison *c, const char *routine,
                            const struct recorded_times *r) {
    buf_printf(
        &c->notes,
        "%s has only machine code, which the simulated GPU can't run; use --device gpu to time it.",
        routine);
    if (r->routine_us > 0)
        buf_printf(&c->notes,
                   " Its time above was measured on an %s, where the model solution took %.4g us "
                   "(docs/results/%s).",
                   c->d->full_name, r->solution_us, c->d->name);
    buf_puts(&c->notes, "\n");
}

static void compare_cublas(struct vendor_comparison *c) {
    const char *routine = vendor_routine(c->ex);
    struct err e = {0};
    struct recorded_times r = {0};
    bool has_gpu = gpu_options_of(c->d) != NULL;
    if (!routine) return;
    c->library_count++;
    if (has_gpu) r = (struct recorded_times){time_cublas_us(c, &e), c->solution_us};
    else r = read_recorded_times(c, routine);
    buf_printf(&c->rows, "  %-24s %-7s", routine, "");
    put_time(r.routine_us, r.solution_us, &c->rows);
    buf_puts(&c->rows, "\n");
    if (!has_gpu) put_cublas_note(c, routine, &r);
    else if (r.routine_us <= 0) buf_printf(&c->notes, "%s: %s\n", routine, e.text);
}

/* ---- the table ---- */

static void write_table(const struct vendor_comparison *c, const struct report_style *style,
                        struct buf *out) {
    buf_printf(out, "%s on %s, %s, compared with libraries\n", book_id(c->ex), c->d->full_name,
               c->is_measured ? "measured" : "modelled");
    buf_printf(out, "  %-24s %-7s %10s %9s %8s %12s %12s %12s\n", "version", "verdict", "time/us",
               "rel speed", "launches", "warp insts", "sectors in", "sectors out");
    buf_add(out, c->rows.data, c->rows.size);
    buf_puts(out, "\n");
    report_wrap(
        "Times are for the timed size; instructions and sectors for the technique case, all "
        "launches together. Relative speed: the model solution's time over this one.",
        2, style, out);
    if (c->notes.size) report_wrap(buf_str(&c->notes), 2, style, out);
    if (!c->library_count)
        report_wrap("The book has no library version of this exercise.", 2, style, out);
    buf_printf(out, "\nseed: %s\n", c->o->seed);
}

int cmd_vendor(const struct options *o) {
    struct err e = {0};
    struct buf out = {0};
    struct vendor_comparison c = {.o = o, .d = o->devices[0], .ex = cli_select_exercise(o, &e)};
    struct report_style style = o->output ? (struct report_style){.width = 100} : cli_style_for(1);
    bool ok = c.ex &&
              (!o->file || err_set(&e, ERR_INPUT,
                                   "vendor compares the book's own versions; use `grader run` to "
                                   "grade yours")) &&
              compare_versions(&c, &e);
    if (ok) compare_cublas(&c), write_table(&c, &style, &out);
    ok = ok && cli_write_output(o, &out, &e);
    buf_free(&out), buf_free(&c.rows), buf_free(&c.notes);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
