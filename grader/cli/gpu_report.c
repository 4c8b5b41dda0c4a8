/* gpu_report.c — grader gpu-report DIR: everything that has a GPU as its subject, in one run under eight minutes.
 *
 *   correctness of the model answers on the GPU
 *   times of every step of every ladder, against the model answer
 *   the same times modelled
 *   the vendor's libraries
 *   counters against Nsight Compute's, where `ncu` works
 *
 * Writes DIR/report.md and DIR/report.json, anew after every exercise. Each part has a share of the time, and what an
 * earlier one leaves over. What could not be done is said there, with the reason, and the rest goes on. */
#include "grader/cli/gpu_report.h"
#include "common/file.h"
#include "grader/cli/commands.h"
#include "grader/grade/gpu_device.h"
#include "grader/server/server.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpu_report_cannot(struct report *r, const char *what, const char *why) {
    buf_printf(&r->not_done, "- %s: %s\n", what, why);
    json_array_append_new(json_object_get(r->json, "not_done"), json_pack("{s:s,s:s}", "what", what, "why", why));
}

bool gpu_report_late(const struct report *r) { return server_now() > r->end; }

/* ---- writing ---- */

static void head(const struct report *r, struct buf *out) {
    struct gpu_info info = {.compiled_by = ""};
    struct err ignored = {0};
    struct backend *b = backend_gpu_open(gpu_options_of(r->go.device), &ignored);
    if (b) backend_gpu_info(b, &info), b->ops->close(b);
    buf_printf(out, "# Measured on %s\n\nCompute capability %u.%u, %u multiprocessors, driver %d. Device code: %s.\n",
               r->go.device->full_name, info.cc_major, info.cc_minor, info.sms, info.driver_version,
               r->compiled_by[0] ? r->compiled_by : "none was loaded");
    json_t *c = json_object_get(r->json, "roofline");
    if (c)
        buf_printf(out, "Ceilings measured beside it: copy %.0f GB/s, FMA %.1f TFLOP/s.\n",
                   json_real_value(json_object_get(c, "bytes_per_second")) * 1e-9,
                   json_real_value(json_object_get(c, "flops_per_second")) * 1e-12);
    json_object_set_new(r->json, "device",
                        json_pack("{s:s,s:i,s:i,s:s}", "name", r->go.device->full_name, "sms", (int)info.sms, "driver",
                                  info.driver_version, "compiled_by", r->compiled_by));
}

static bool write_all(struct report *r, bool complete, struct err *e) {
    char path[PATH_MAX];
    struct buf out = {0};
    head(r, &out);
    if (!complete) buf_puts(&out, "\n**Not complete: the report was still being made, or was stopped.**\n");
    buf_add(&out, r->text.data, r->text.size);
    const char *nothing = complete ? "Everything was done.\n" : "Nothing was given up so far.\n";
    buf_printf(&out, "\n## Not done\n\n%s", r->not_done.size ? buf_str(&r->not_done) : nothing);
    json_object_set_new(r->json, "complete", json_boolean(complete));
    char *text = json_dumps(r->json, JSON_INDENT(1) | JSON_SORT_KEYS);
    bool ok = dir_make(r->folder, e) && path_join(path, sizeof path, r->folder, "report.md") &&
              file_write(path, out.data, out.size, e) && path_join(path, sizeof path, r->folder, "report.json") &&
              file_write(path, text, strlen(text), e);
    free(text);
    buf_free(&out);
    return ok;
}

void gpu_report_save(struct report *r) {
    struct err ignored = {0}; /* the last time counts */
    write_all(r, false, &ignored);
}

/* ---- the whole ---- */

static void run_parts(struct report *r) {
    unsigned n;
    const struct report_part *parts = gpu_report_parts(&n);
    r->end = server_now();
    for (unsigned i = 0; i < n; i++) {
        r->end += parts[i].seconds;
        buf_printf(&r->text, "\n## %s\n\n%s", parts[i].title, parts[i].head);
        parts[i].run(r);
        gpu_report_save(r);
    }
}

int cmd_gpu_report(const struct options *o) {
    struct err e = {0};
    if (o->nnames != 1 || !gpu_options_of(o->devices[0])) {
        err_set(&e, ERR_INPUT, "usage: grader gpu-report FOLDER --device gpu");
        return cli_complain(&e);
    }
    struct options all = *o;
    all.nnames = 0;
    struct report r = {
        .o = o, .go = options_grade(o, o->devices[0]), .list = cli_chosen(&all, &e), .folder = o->names[0]};
    if (!r.list) return cli_complain(&e);
    r.json = json_pack("{s:i,s:[],s:[],s:[],s:[],s:[]}", "schema", 1, "correctness", "times", "vendor", "counters",
                       "not_done");
    r.answer = xcalloc(book_count() + 1, sizeof *r.answer);
    bool ok = write_all(&r, false, &e); /* a folder that cannot be written shows now, not in eight minutes */
    if (ok) run_parts(&r);
    progress_clear();
    ok = ok && write_all(&r, true, &e);
    json_decref(r.json);
    buf_free(&r.text), buf_free(&r.not_done);
    free(r.answer), free(r.list);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
