/* gpu_counters.c — see gpu_counters.h. ncu profiles this program's own command `gpu-once EXERCISE`, which
 * runs the model answer's technique case once; its CSV is summed over the launches. */
#include "grader/cli/gpu_counters.h"
#include "grader/book/book.h"
#include "grader/cli/commands.h"
#include "grader/grade/gpu_device.h"
#include "grader/grade/metrics.h"
#include "grader/grade/speed_gpu.h"

#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- what ncu runs ---- */

static bool run_once(const struct exercise *ex, const struct grade_options *o, bool on_gpu, struct sim_counters *c,
                     struct err *e) {
    struct build b = {0};
    struct session_options so = {
        .device = o->device, .seed = o->seed, .workers = o->workers, .gpu = on_gpu ? gpu_options_of(o->device) : NULL};
    bool ok = speed_gpu_build(ex, NULL, &b, e);
    struct session *s = ok ? session_open(ex, &b, &so, e) : NULL;
    struct case_plan plan = {.rounds = 1, .seconds = 60, .index = 1};
    struct case_run run = {0};
    if (s) session_case(s, &ex->technique_case, &plan, &run);
    if (s && run.verdict != V_AC) ok = err_set(e, ERR_SYSTEM, "%.300s", buf_str(&run.message));
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

/* ---- ncu's answer ---- */

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

static bool sum_output(FILE *f, double sum[PAIRS], struct buf *said) {
    char line[8192];
    unsigned rows = 0, name = 0, value = 0;
    while (fgets(line, sizeof line, f)) {
        char *field[64];
        if (said->size < 300) buf_puts(said, line);
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

static bool run_ncu(const struct exercise *ex, const struct grade_options *o, double sum[PAIRS], struct err *e) {
    char command[PATH_MAX + 2048], self[PATH_MAX];
    struct buf said = {0};
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0 || system("command -v ncu >/dev/null 2>&1")) return err_set(e, ERR_SYSTEM, "ncu is not on this machine");
    self[n] = 0;
    int at = snprintf(command, sizeof command, "timeout 60 ncu --csv --clock-control none --metrics ");
    for (unsigned i = 0; i < PAIRS; i++)
        at += snprintf(command + at, sizeof command - (size_t)at, "%s%s", i ? "," : "", pairs[i].ncu);
    snprintf(command + at, sizeof command - (size_t)at, " '%s' gpu-once '%s' --device gpu --seed '%s' 2>&1", self,
             book_id(ex), "counters");
    (void)o;
    FILE *f = popen(command, "r");
    bool ok = f && sum_output(f, sum, &said);
    if (f) pclose(f);
    for (char *p = said.data; p && *p; p++)
        if (*p == '\n') *p = ' ';
    if (!ok) err_set(e, ERR_SYSTEM, "ncu reads no counters here: %.250s", buf_str(&said));
    buf_free(&said);
    return ok;
}

bool gpu_counters(const struct exercise *ex, const struct grade_options *o, struct buf *table, struct json_t *list,
                  struct err *e) {
    double sum[PAIRS] = {0};
    struct sim_counters c;
    if (!run_ncu(ex, o, sum, e) || !run_once(ex, o, false, &c, e)) return false;
    for (unsigned i = 0; i < PAIRS; i++) {
        double ours = (double)*(const uint64_t *)((const char *)&c + pairs[i].offset);
        if (ours == 0 && sum[i] == 0) continue;
        buf_printf(table, "| %s | %s | %.0f | %.0f | %.3f |\n", book_id(ex), pairs[i].name, ours, sum[i],
                   sum[i] > 0 ? ours / sum[i] : 0);
        json_array_append_new(list, json_pack("{s:s,s:s,s:f,s:f}", "exercise", book_id(ex), "counter", pairs[i].name,
                                              "simulated", ours, "ncu", sum[i]));
    }
    return true;
}
