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
    bool ok = gpu_report_write(&r, false, &e); /* a folder that cannot be written shows now, not in eight minutes */
    if (ok) run_parts(&r);
    progress_clear();
    ok = ok && gpu_report_write(&r, true, &e);
    json_decref(r.json);
    buf_free(&r.text), buf_free(&r.not_done);
    free(r.answer), free(r.list);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
