/* gpu_report_write.c — the files of `grader gpu-report`: the exercises' parts, and report.md and
 * report.json, which it rewrites from the parts after each job. */
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/gpu_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

static bool part_path(const struct gpu_report *r, const struct exercise *ex, char path[PATH_MAX]) {
    return snprintf(path, PATH_MAX, "%s/parts/%s.json", r->folder, ex->name) < PATH_MAX;
}

json_t *gpu_part_read(const struct gpu_report *r, const struct exercise *ex) {
    static const char *const tables[] = {"verdicts", "times", "libraries", "not_done"};
    char path[PATH_MAX];
    json_t *part = part_path(r, ex, path) ? json_load_file(path, 0, NULL) : NULL;
    const char *key = json_string_value(json_object_get(part, "key"));
    if (!key || strcmp(key, r->key)) {
        json_decref(part);
        part = json_pack("{s:s,s:s}", "key", r->key, "exercise", book_id(ex));
    }
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!json_is_object(json_object_get(part, tables[i])))
            json_object_set_new(part, tables[i], json_object());
    return part;
}

bool gpu_part_write(const struct gpu_report *r, const struct exercise *ex, json_t *part,
                    struct err *e) {
    char path[PATH_MAX];
    char *text = json_dumps(part, JSON_INDENT(1));
    bool ok = text && part_path(r, ex, path) && file_write(path, text, strlen(text), e);
    free(text);
    return ok;
}

void gpu_part_add_failure(json_t *part, const char *description, const char *reason) {
    json_object_set_new(json_object_get(part, "not_done"), description, json_string(reason));
}

/* ---- tables ---- */

const char *gpu_version_title(const char *version) {
    if (!version[0]) return "model solution";
    return strcmp(version, GPU_STARTER_VERSION) ? version : "starter file";
}

static double row_number(const json_t *row, const char *name) {
    return json_number_value(json_object_get(row, name));
}
static double row_element(const json_t *row, const char *name, size_t i) {
    return json_number_value(json_array_get(json_object_get(row, name), i));
}
static const char *row_text(const json_t *row, const char *name) {
    const char *s = json_string_value(json_object_get(row, name));
    return s ? s : "";
}

/* Appends what fits into a table's cell: 160 bytes, without line breaks and bars. */
static void put_cell(struct buf *out, const char *s) {
    for (unsigned i = 0; s[i] && i < 160; i++) {
        char c = s[i] == '\n' || s[i] == '|' ? ' ' : s[i];
        buf_add(out, &c, 1);
    }
}

static void put_verdict_row(struct buf *out, const json_t *row) {
    const char *gpu = row_text(row, "gpu"), *simulated = row_text(row, "simulated");
    buf_printf(out, "%s | %s | %s | %.0f | ", simulated, gpu,
               strcmp(gpu, simulated) ? "**no**" : "yes", row_number(row, "cases"));
    if (strcmp(gpu, simulated)) put_cell(out, row_text(row, "message"));
}

static void put_time_row(struct buf *out, const json_t *row) {
    double measured = row_number(row, "measured_us"), modelled = row_number(row, "modelled_us");
    buf_printf(out, "%.2f | %.3f (%.3f–%.3f) | %.0f, %.0f | %.2f (%.2f–%.2f) | ", measured,
               row_number(row, "vs_solution"), row_element(row, "ci95", 0),
               row_element(row, "ci95", 1), row_number(row, "pairs"), row_number(row, "dropped"),
               modelled, row_element(row, "modelled_interval_us", 0),
               row_element(row, "modelled_interval_us", 1));
    if (modelled > 0) buf_printf(out, "%+.0f %% | ", 100 * (modelled / measured - 1));
    else buf_puts(out, "not modelled | ");
    put_cell(out, row_text(row, "bound_by"));
}

static void put_library_row(struct buf *out, const json_t *row) {
    buf_printf(out, "%.2f | ", row_number(row, "us"));
    if (row_number(row, "solution_vs_library") > 0)
        buf_printf(out, "%.3f", row_number(row, "solution_vs_library"));
}

static const struct {
    const char *name, *title, *head;
    void (*row)(struct buf *, const json_t *);
} tables[] = {
    {"verdicts", "Verdicts",
     "The verdict of `grader run --device gpu` for every version, and the simulated GPU's. "
     "Cases: how many ran on the GPU; none where the simulated GPU had already rejected it.\n\n"
     "| exercise | version | simulated | GPU | the same | cases | message "
     "|\n|---|---|---|---|---|---|---|\n",
     put_verdict_row},
    {"times", "Times",
     "At the timed size, with cold caches. Ratio: the model solution's time over the version's, "
     "median of pairs, 95 % bootstrap interval.\n\n"
     "| exercise | version | measured, us | ratio | pairs, dropped | modelled, us | error | "
     "modelled: bound by |\n"
     "|---|---|---|---|---|---|---|---|\n",
     put_time_row},
    {"libraries", "The vendor's libraries",
     "| exercise | routine | us | its time over the model solution's |\n|---|---|---|---|\n",
     put_library_row},
};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

static void write_table(const struct gpu_report *r, json_t *parts, unsigned t, struct buf *out) {
    buf_printf(out, "\n## %s\n\n%s", tables[t].title, tables[t].head);
    for (unsigned i = 0; i < r->n; i++) {
        const char *version;
        json_t *row;
        json_object_foreach(json_object_get(json_array_get(parts, i), tables[t].name), version,
                            row) {
            buf_printf(out, "| %s | %s | ", book_id(r->list[i]), gpu_version_title(version));
            tables[t].row(out, row);
            buf_puts(out, " |\n");
        }
    }
}

/* ---- summary: agreement of verdicts, errors of modelled times ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_summary(const struct gpu_report *r, json_t *parts, struct buf *out) {
    double *error_factors = xcalloc(64 * r->n + 1, sizeof *error_factors);
    unsigned n = 0, in_interval_count = 0, verdict_count = 0, agreeing_count = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const char *version;
        json_t *row, *part = json_array_get(parts, i);
        json_object_foreach(json_object_get(part, "verdicts"), version, row) {
            verdict_count++,
                agreeing_count += !strcmp(row_text(row, "gpu"), row_text(row, "simulated"));
        }
        json_object_foreach(json_object_get(part, "times"), version, row) {
            double a = row_number(row, "measured_us"), b = row_number(row, "modelled_us");
            if (a <= 0 || b <= 0 || n == 64 * r->n) continue;
            error_factors[n++] = a > b ? a / b : b / a;
            in_interval_count += a >= row_element(row, "modelled_interval_us", 0) &&
                                 a <= row_element(row, "modelled_interval_us", 1);
        }
    }
    qsort(error_factors, n, sizeof *error_factors, by_value);
    buf_printf(out, "\nVerdicts: %u of %u are the same. ", agreeing_count, verdict_count);
    if (n)
        buf_printf(out,
                   "Modelled times: half of %u are within a factor of %.2f, nine of ten within "
                   "%.2f; %u measured times lie in the model's interval.",
                   n, error_factors[n / 2], error_factors[n * 9 / 10], in_interval_count);
    buf_puts(out, "\n");
    free(error_factors);
}

/* ---- the files ---- */

static void put_header(const struct gpu_report *r, json_t *parts, bool complete, struct buf *out) {
    const struct gpu_device *d = r->options.device;
    const char *compiled_by = "nothing was loaded";
    for (unsigned i = 0; i < r->n; i++) {
        const json_t *row = json_object_get(json_object_get(json_array_get(parts, i), "times"), "");
        if (row_text(row, "compiled_by")[0]) compiled_by = row_text(row, "compiled_by");
    }
    buf_printf(out,
               "# Measured on %s\n\nCompute capability %u.%u, %u multiprocessors, driver %d. "
               "Device code compiled by: %s.\n",
               d->full_name, d->cc_major, d->cc_minor, d->sms, gpu_device_driver_version(),
               compiled_by);
    const json_t *c = json_object_get(r->header, "roofline");
    if (c)
        buf_printf(out, "Measured roofline: copy %.0f GB/s, FMA %.1f TFLOP/s.\n",
                   row_number(c, "bytes_per_second") * 1e-9,
                   row_number(c, "flops_per_second") * 1e-12);
    put_summary(r, parts, out);
    if (!complete) buf_puts(out, "\n**Incomplete: the run has not finished, or was stopped.**\n");
}

static unsigned write_not_done(const struct gpu_report *r, json_t *parts, struct buf *out) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const char *description;
        json_t *reason;
        json_object_foreach(json_object_get(json_array_get(parts, i), "not_done"), description,
                            reason) {
            buf_printf(out, "- %s: ", description);
            put_cell(out, json_string_value(reason));
            buf_puts(out, "\n"), n++;
        }
    }
    const char *missing = row_text(r->header, "roofline_missing");
    if (missing[0]) buf_printf(out, "- the roofline: %s\n", missing), n++;
    return n;
}

static bool write_file(const struct gpu_report *r, const char *name, const char *data, size_t size,
                       struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, r->folder, name) && file_write(path, data, size, e);
}

static bool write_json(const struct gpu_report *r, json_t *parts, bool complete, struct err *e) {
    json_t *all = json_pack("{s:i,s:O,s:b,s:O}", "schema", 2, "device", r->header, "complete",
                            complete, "exercises", parts);
    char *s = json_dumps(all, JSON_INDENT(1));
    bool ok = s && write_file(r, "report.json", s, strlen(s), e);
    free(s);
    json_decref(all);
    return ok;
}

bool gpu_report_write(const struct gpu_report *r, bool complete, struct err *e) {
    struct buf out = {0};
    json_t *parts = json_array();
    for (unsigned i = 0; i < r->n; i++) json_array_append_new(parts, gpu_part_read(r, r->list[i]));
    put_header(r, parts, complete, &out);
    for (unsigned t = 0; t < TABLE_COUNT; t++) write_table(r, parts, t, &out);
    buf_puts(&out, "\n## Not done\n\n");
    if (!write_not_done(r, parts, &out))
        buf_puts(&out, complete ? "Everything was done.\n" : "No failure so far.\n");
    bool ok =
        write_file(r, "report.md", out.data, out.size, e) && write_json(r, parts, complete, e);
    json_decref(parts);
    buf_free(&out);
    return ok;
}
