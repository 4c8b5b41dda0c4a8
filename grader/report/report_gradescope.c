/* report_gradescope.c — writes the results.json that Gradescope's autograder harness reads, with
 * one test for each exercise. report_autograder.c writes the one of an assignment. If a result has
 * no score (internal error, or withheld), no test gets one: Gradescope then shows that grading did
 * not succeed, and no student sees a zero that no one gave. The file doesn't show the seed, which
 * only the instructor knows. */
#include "grader/report/report.h"

#include <jansson.h>

static json_t *result_test(const struct result *r, const struct gpu_device *d, bool scored) {
    struct buf report = {0};
    report_text(r, d, &(struct report_style){.width = 100}, &report);
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(r->id));
    if (scored) {
        json_object_set_new(o, "score", json_real(r->score));
        json_object_set_new(o, "max_score", json_real(r->max_score));
    }
    json_object_set_new(o, "status", json_string(r->verdict == V_AC ? "passed" : "failed"));
    json_object_set_new(o, "output", json_string(buf_str(&report)));
    json_object_set_new(o, "output_format", json_string("text"));
    json_object_set_new(o, "visibility", json_string("visible"));
    buf_free(&report);
    return o;
}

void report_gradescope(const struct result *results, unsigned n, const struct gpu_device *d,
                       struct buf *out) {
    bool scored = true;
    for (unsigned i = 0; i < n; i++) scored = scored && verdict_has_score(results[i].verdict);
    json_t *o = json_object(), *tests = json_array();
    json_object_set_new(
        o, "output",
        json_string(scored ? "" : "Not graded. This is not a zero; each test says why."));
    json_object_set_new(o, "output_format", json_string("text"));
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(tests, result_test(&results[i], d, scored));
    json_object_set_new(o, "tests", tests);
    report_json_write(o, out);
}
