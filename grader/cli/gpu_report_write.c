/* gpu_report_write.c — the files of `grader gpu-report`: the exercises' parts, and report.md and
 * report.json, which are made of them anew whenever one comes to its end. */
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/gpu_device.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts ---- */

static bool part_path(const struct report *r, const struct exercise *ex, char path[PATH_MAX]) {
    return snprintf(path, PATH_MAX, "%s/parts/%s.json", r->folder, ex->name) < PATH_MAX;
}

json_t *gpu_part_read(const struct report *r, const struct exercise *ex) {
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

bool gpu_part_write(const struct report *r, const struct exercise *ex, json_t *part,
                    struct err *e) {
    char path[PATH_MAX];
    char *text = json_dumps(part, JSON_INDENT(1));
    bool ok = text && part_path(r, ex, path) && file_write(path, text, strlen(text), e);
    free(text);
    return ok;
}

void gpu_part_cannot(json_t *part, const char *what, const char *why) {
    json_object_set_new(json_object_get(part, "not_done"), what, json_string(why));
}

/* ---- tables ---- */

static double number(const json_t *row, const char *name) {
    return json_number_value(json_object_get(row, name));
}
static double element(const json_t *row, const char *name, size_t i) {
    return json_number_value(json_array_get(json_object_get(row, name), i));
}
static const char *text(const json_t *row, const char *name) {
    const char *s = json_string_value(json_object_get(row, name));
    return s ? s : "";
}

/* Of a message, what fits into a cell. */
static void cell(struct buf *out, const char *s) {
    for (unsigned i = 0; s[i] && i < 160; i++) {
        char c = s[i] == '\n' || s[i] == '|' ? ' ' : s[i];
        buf_add(out, &c, 1);
    }
}

static void verdict_row(struct buf *out, const json_t *row) {
    const char *gpu = text(row, "gpu"), *simulated = text(row, "simulated");
    buf_printf(out, "%s | %s | %s | %.0f | ", simulated, gpu,
               strcmp(gpu, simulated) ? "**no**" : "yes", number(row, "cases"));
    if (strcmp(gpu, simulated)) cell(out, text(row, "message"));
}

static void time_row(struct buf *out, const json_t *row) {
    double measured = number(row, "measured_us"), model = number(row, "modelled_us");
    buf_printf(out, "%.2f | %.3f (%.3f–%.3f) | %.0f, %.0f | %.2f (%.2f–%.2f) | ", measured,
               number(row, "vs_solution"), element(row, "ci95", 0), element(row, "ci95", 1),
               number(row, "pairs"), number(row, "dropped"), model,
               element(row, "modelled_interval_us", 0), element(row, "modelled_interval_us", 1));
    if (model > 0) buf_printf(out, "%+.0f %% | ", 100 * (model / measured - 1));
    else buf_puts(out, "not modelled | ");
    cell(out, text(row, "bound_by"));
}

static void library_row(struct buf *out, const json_t *row) {
    buf_printf(out, "%.2f | ", number(row, "us"));
    if (number(row, "answer_vs_routine") > 0)
        buf_printf(out, "%.3f", number(row, "answer_vs_routine"));
}

static const struct {
    const char *name, *title, *head;
    void (*row)(struct buf *, const json_t *);
} tables[] = {
    {"verdicts", "Verdicts",
     "What `grader run --device gpu` says of every version, beside the simulated GPU's verdict. "
     "Cases: how many ran on "
     "the "
     "GPU; none where the simulated one had already refused.\n\n"
     "| exercise | version | simulated | GPU | the same | cases | message "
     "|\n|---|---|---|---|---|---|---|\n",
     verdict_row},
    {"times", "Times",
     "At the timed size, caches cold. Ratio: the model answer's time over the version's, median of "
     "pairs, 95 % "
     "bootstrap "
     "interval.\n\n"
     "| exercise | version | measured, us | ratio | pairs, dropped | modelled, us | error | "
     "modelled: bound by |\n"
     "|---|---|---|---|---|---|---|---|\n",
     time_row},
    {"libraries", "The vendor's libraries",
     "| exercise | routine | us | its time over the model answer's |\n|---|---|---|---|\n",
     library_row},
};
enum { TABLES = sizeof tables / sizeof *tables };

static void write_table(const struct report *r, json_t *parts, unsigned t, struct buf *out) {
    buf_printf(out, "\n## %s\n\n%s", tables[t].title, tables[t].head);
    for (unsigned i = 0; i < r->n; i++) {
        const char *version;
        json_t *row;
        json_object_foreach(json_object_get(json_array_get(parts, i), tables[t].name), version,
                            row) {
            buf_printf(out, "| %s | %s | ", book_id(r->list[i]),
                       version[0] ? version : "model answer");
            tables[t].row(out, row);
            buf_puts(out, " |\n");
        }
    }
}

/* ---- summaries: what one wants to know first ---- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summary(const struct report *r, json_t *parts, struct buf *out) {
    double *factor = xcalloc(64 * r->n + 1, sizeof *factor);
    unsigned n = 0, inside = 0, verdicts = 0, same = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const char *version;
        json_t *row, *part = json_array_get(parts, i);
        json_object_foreach(json_object_get(part, "verdicts"), version, row) {
            verdicts++, same += !strcmp(text(row, "gpu"), text(row, "simulated"));
        }
        json_object_foreach(json_object_get(part, "times"), version, row) {
            double a = number(row, "measured_us"), b = number(row, "modelled_us");
            if (a <= 0 || b <= 0 || n == 64 * r->n) continue;
            factor[n++] = a > b ? a / b : b / a;
            inside += a >= element(row, "modelled_interval_us", 0) &&
                      a <= element(row, "modelled_interval_us", 1);
        }
    }
    qsort(factor, n, sizeof *factor, by_value);
    buf_printf(out, "\nVerdicts: %u of %u are the same. ", same, verdicts);
    if (n)
        buf_printf(out,
                   "Times modelled: half of %u within a factor of %.2f, nine of ten within %.2f; "
                   "%u inside the "
                   "interval that the model gives.",
                   n, factor[n / 2], factor[n * 9 / 10], inside);
    buf_puts(out, "\n");
    free(factor);
}

/* ---- the whole ---- */

static void head(const struct report *r, json_t *parts, bool complete, struct buf *out) {
    const struct gpu_device *d = r->go.device;
    const char *by = "nothing was loaded";
    for (unsigned i = 0; i < r->n; i++) {
        const json_t *row = json_object_get(json_object_get(json_array_get(parts, i), "times"), "");
        if (text(row, "compiled_by")[0]) by = text(row, "compiled_by");
    }
    buf_printf(out,
               "# Measured on %s\n\nCompute capability %u.%u, %u multiprocessors, driver %d. "
               "Device code compiled by: %s.\n",
               d->full_name, d->cc_major, d->cc_minor, d->sms, gpu_device_driver_version(), by);
    const json_t *c = json_object_get(r->head, "roofline");
    if (c)
        buf_printf(out, "Ceilings measured beside it: copy %.0f GB/s, FMA %.1f TFLOP/s.\n",
                   number(c, "bytes_per_second") * 1e-9, number(c, "flops_per_second") * 1e-12);
    summary(r, parts, out);
    if (!complete)
        buf_puts(out, "\n**Not complete: the report was still being made, or was stopped.**\n");
}

static unsigned write_not_done(const struct report *r, json_t *parts, struct buf *out) {
    unsigned n = 0;
    for (unsigned i = 0; i < r->n; i++) {
        const char *what;
        json_t *why;
        json_object_foreach(json_object_get(json_array_get(parts, i), "not_done"), what, why) {
            buf_printf(out, "- %s: ", what);
            cell(out, json_string_value(why));
            buf_puts(out, "\n"), n++;
        }
    }
    const char *missing = text(r->head, "roofline_missing");
    if (missing[0]) buf_printf(out, "- the roofline: %s\n", missing), n++;
    return n;
}

static bool write_file(const struct report *r, const char *name, const char *data, size_t size,
                       struct err *e) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, r->folder, name) && file_write(path, data, size, e);
}

static bool write_json(const struct report *r, json_t *parts, bool complete, struct err *e) {
    json_t *all = json_pack("{s:i,s:O,s:b,s:O}", "schema", 2, "device", r->head, "complete",
                            complete, "exercises", parts);
    char *s = json_dumps(all, JSON_INDENT(1));
    bool ok = s && write_file(r, "report.json", s, strlen(s), e);
    free(s);
    json_decref(all);
    return ok;
}

bool gpu_report_write(const struct report *r, bool complete, struct err *e) {
    struct buf out = {0};
    json_t *parts = json_array();
    for (unsigned i = 0; i < r->n; i++) json_array_append_new(parts, gpu_part_read(r, r->list[i]));
    head(r, parts, complete, &out);
    for (unsigned t = 0; t < TABLES; t++) write_table(r, parts, t, &out);
    buf_puts(&out, "\n## Not done\n\n");
    if (!write_not_done(r, parts, &out))
        buf_puts(&out, complete ? "Everything was done.\n" : "Nothing was given up so far.\n");
    bool ok =
        write_file(r, "report.md", out.data, out.size, e) && write_json(r, parts, complete, e);
    json_decref(parts);
    buf_free(&out);
    return ok;
}
