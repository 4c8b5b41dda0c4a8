/* gpu_tools.c — what NVIDIA's tools say of the model answers: compute-sanitizer, and Nsight Compute's counters beside the
 * simulator's. Both look into the process that holds the GPU, which no jail lets them do; so they run this program's own
 * command `gpu-once EXERCISE --no-jail`, which runs the model answer's technique case once: the book's own code, nobody
 * else's. */
#include "grader/class/parallel.h"
#include "grader/cli/commands.h"
#include "grader/cli/gpu_report.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/metrics.h"
#include "grader/grade/speed_gpu.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what the tools run ---- */

static bool run_once(const struct exercise *ex, const struct grade_options *o, bool on_gpu, struct sim_counters *c,
                     struct err *e) {
    struct build b = {0};
    struct session_options so = {.device = on_gpu ? o->device : gpu_device_modelled(),
                                 .seed = o->seed,
                                 .workers = 1,
                                 .gpu = on_gpu ? gpu_options_of(o->device) : NULL};
    bool ok = speed_gpu_build(ex, NULL, &b, e);
    struct session *s = ok ? session_open(ex, &b, &so, e) : NULL;
    struct case_plan plan = {.rounds = 1, .seconds = 60, .index = 1};
    struct case_run run = {0};
    if (s) session_case(s, &ex->technique_case, &plan, &run);
    if (s && run.verdict != V_AC)
        ok = err_set(e, ERR_SYSTEM, "%s: %.300s", verdict_code(run.verdict), buf_str(&run.message));
    if (c) *c = run.tally.counters;
    session_case_free(&run);
    session_close(s);
    build_free(&b);
    return ok && s;
}

int cmd_gpu_once(const struct options *o) {
    struct err e = {0};
    const struct exercise *ex = cli_chosen_one(o, &e);
    if (ex && !gpu_options_of(o->devices[0])) err_set(&e, ERR_INPUT, "usage: grader gpu-once EXERCISE --device gpu");
    if (!ex || e.kind) return cli_complain(&e);
    struct grade_options go = options_grade(o, o->devices[0]);
    return run_once(ex, &go, true, NULL, &e) ? EXIT_PASSED : cli_complain(&e);
}

/* ---- a tool ---- */

/* Its output, at most so much of it; false with the reason if the tool is not on this machine. */
static bool run_tool(const char *tool, const char *options, const struct report *r, const struct exercise *ex,
                     double seconds, struct buf *said, struct err *e) {
    char command[PATH_MAX + 4096], self[PATH_MAX], line[8192];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", tool);
    if (n < 0 || system(command)) return err_set(e, ERR_SYSTEM, "%s is not on this machine", tool);
    self[n] = 0;
    snprintf(command, sizeof command, "timeout %.0f %s %s '%s' gpu-once '%s' --device gpu --no-jail --seed '%s' 2>&1",
             seconds, tool, options, self, book_id(ex), r->go.seed);
    FILE *f = popen(command, "r");
    if (!f) return err_set(e, ERR_SYSTEM, "%s does not start", tool);
    while (fgets(line, sizeof line, f))
        if (said->size < 4 << 20) buf_puts(said, line);
    int status = pclose(f);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 124) buf_printf(said, "stopped after %.0f s\n", seconds);
    return true;
}

static double time_left(const struct report *r, double most) {
    double left = r->end - server_now();
    return left < most ? left : most;
}

static bool short_of_time(const struct report *r, json_t *part, const char *what) {
    if (time_left(r, 60) > 8) return false;
    gpu_part_cannot(part, what, "there was no time left; run the report again into the same folder");
    return true;
}

/* ---- compute-sanitizer ---- */

static const char *const checkers[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
enum { CHECKERS = sizeof checkers / sizeof *checkers };

/* Its summaries say how much it found; without any it saw no GPU code, and its last words say why. */
static const char *judge(const char *said, char text[256]) {
    unsigned summaries = 0, found = 0;
    const char *first = NULL, *last = said;
    for (const char *p = said; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *s = strstr(p, "SUMMARY: "), *end = p + strcspn(p, "\n");
        if (s && s < end) summaries++, found += strtoul(s + 9, NULL, 10) > 0;
        else if (!first && !strncmp(p, "========= ", 10) && strncmp(p + 10, "COMPUTE", 7)) first = p + 10;
        if (end > p) last = p;
    }
    if (summaries && !found && !first) return "clean";
    const char *what = first ? first : last;
    snprintf(text, 256, "%s%.*s",
             found ? "" : "not checked: ", (int)strcspn(what, "\n") < 200 ? (int)strcspn(what, "\n") : 200, what);
    return text;
}

static void check_one(const struct report *r, const struct exercise *ex, json_t *part, const char *tool) {
    struct buf said = {0};
    struct err e = {0};
    char options[64], text[256], what[128];
    snprintf(what, sizeof what, "%s of %s", tool, book_id(ex));
    if (json_object_get(json_object_get(part, "tools"), tool) || short_of_time(r, part, what)) return;
    snprintf(options, sizeof options, "--tool %s --target-processes all", tool);
    if (run_tool("compute-sanitizer", options, r, ex, time_left(r, 60), &said, &e)) {
        const char *verdict = judge(buf_str(&said), text);
        if (strncmp(verdict, "not checked", 11))
            json_object_set_new(json_object_get(part, "tools"), tool, json_pack("{s:s}", "said", verdict));
        else gpu_part_cannot(part, what, verdict);
    } else gpu_part_cannot(part, what, e.text);
    buf_free(&said);
}

static void check_all(void *user, unsigned i, struct buf *out) {
    const struct report *r = user;
    struct err e = {0};
    (void)out;
    json_t *part = gpu_part_read(r, r->list[i]);
    for (unsigned k = 0; k < CHECKERS; k++) {
        check_one(r, r->list[i], part, checkers[k]);
        if (!gpu_part_write(r, r->list[i], part, &e)) cli_complain(&e);
    }
    json_decref(part);
}

static void checked(void *user, unsigned i, bool ok, const char *data, size_t size) {
    const struct report *r = user;
    (void)ok, (void)data, (void)size;
    progress_show((void *)r->list[i]->name, "compute-sanitizer");
}

void gpu_report_sanitizers(struct report *r) {
    struct err e = {0};
    unsigned jobs = parallel_jobs(r->o->jobs);
    if (!parallel_run(r->n, jobs < 12 ? jobs : 12, check_all, checked, r, &e)) cli_complain(&e);
}

/* ---- Nsight Compute ---- */

static const struct {
    const char *ncu, *name;
    size_t offset;
} pairs[] = {
#define PAIR(ncu, member) \
    { ncu, #member, offsetof(struct sim_counters, member) }
    PAIR("smsp__inst_executed.sum", inst_executed),
    PAIR("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", requests_load),
    PAIR("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", requests_store),
    PAIR("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", sectors_load),
    PAIR("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", sectors_store),
    PAIR("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", shared_wavefronts_load),
    PAIR("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", shared_wavefronts_store),
#undef PAIR
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* Fields of one CSV line in quotes; returns how many. */
static unsigned split(char *line, char *field[], unsigned most) {
    unsigned n = 0;
    for (char *p = line; *p && n < most;) {
        if (*p++ != '"') continue;
        field[n++] = p;
        while (*p && *p != '"') p++;
        if (*p) *p++ = 0;
    }
    return n;
}

static double number(const char *text) { /* ncu groups digits: 1,024 */
    double v = 0;
    for (; *text && *text != '.'; text++)
        if (*text >= '0' && *text <= '9') v = 10 * v + (*text - '0');
    return v;
}

/* Its CSV, summed over the launches. False: there is none. */
static bool sum_output(char *said, double sum[PAIRS]) {
    unsigned rows = 0, name = 0, value = 0;
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        char *field[64];
        unsigned n = split(line, field, 64);
        for (unsigned i = 0; i < n && !value; i++) {
            if (!strcmp(field[i], "Metric Name")) name = i;
            if (!strcmp(field[i], "Metric Value")) value = i;
        }
        for (unsigned k = 0; k < PAIRS && value && n > value; k++)
            if (!strcmp(field[name], pairs[k].ncu)) sum[k] += number(field[value]), rows++;
    }
    return rows;
}

static bool run_ncu(const struct report *r, const struct exercise *ex, double sum[PAIRS], struct err *e) {
    char options[2048];
    struct buf said = {0};
    int at = snprintf(options, sizeof options, "--csv --clock-control none --target-processes all --metrics ");
    for (unsigned i = 0; i < PAIRS; i++)
        at += snprintf(options + at, sizeof options - (size_t)at, "%s%s", i ? "," : "", pairs[i].ncu);
    bool ok = run_tool("ncu", options, r, ex, time_left(r, 60), &said, e);
    char why[256];
    snprintf(why, sizeof why, "%.*s", (int)strcspn(buf_str(&said), "\n"), buf_str(&said));
    if (ok && !(said.size && sum_output(said.data, sum)))
        ok = err_set(e, ERR_SYSTEM, "ncu reads no counters here: %.200s", why);
    buf_free(&said);
    return ok;
}

static void compare(const struct report *r, const struct exercise *ex, json_t *part) {
    double sum[PAIRS] = {0};
    struct sim_counters c;
    struct err e = {0};
    char what[128];
    snprintf(what, sizeof what, "counters of %s", book_id(ex));
    json_t *table = json_object_get(part, "counters");
    if (json_object_size(table) || short_of_time(r, part, what)) return;
    if (!run_ncu(r, ex, sum, &e) || !run_once(ex, &r->go, false, &c, &e)) {
        gpu_part_cannot(part, what, e.text);
        return;
    }
    for (unsigned i = 0; i < PAIRS; i++) {
        double ours = (double)*(const uint64_t *)((const char *)&c + pairs[i].offset);
        if (ours == 0 && sum[i] == 0) continue;
        json_object_set_new(table, pairs[i].name, json_pack("{s:f,s:f}", "simulated", ours, "ncu", sum[i]));
    }
}

void gpu_report_counters(struct report *r) {
    for (unsigned i = 0; i < r->n; i++) {
        struct err ignored = {0};
        json_t *part = gpu_part_read(r, r->list[i]);
        progress_show((void *)r->list[i]->name, "counters");
        compare(r, r->list[i], part);
        gpu_part_write(r, r->list[i], part, &ignored);
        json_decref(part);
    }
}
