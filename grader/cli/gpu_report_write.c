/* gpu_report_write.c — the files of `grader gpu-report`, which its parts write anew as they go, and what they say of what is left
 * out. */
#include "common/file.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/gpu_device.h"
#include "grader/server/server.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

bool gpu_report_write(struct report *r, bool complete, struct err *e) {
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
    gpu_report_write(r, false, &ignored);
}

void gpu_report_cannot(struct report *r, const char *what, const char *why) {
    buf_printf(&r->not_done, "- %s: %s\n", what, why);
    json_array_append_new(json_object_get(r->json, "not_done"), json_pack("{s:s,s:s}", "what", what, "why", why));
}
