/* tune_state.c — the state file of `grader tune`: a line for each finished row, only appended to. A
 * line that a kill cut short lacks the word `end` and counts as absent. */
#include "grader/cli/tune.h"
#include "common/file.h"
#include "common/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tune_state_path(const char *exercise, const char *key, char out[PATH_MAX], struct err *e) {
    char state[PATH_MAX];
    if (!paths_state_dir(state, e)) return false;
    snprintf(out, PATH_MAX, "%.3500s/tune", state);
    if (!dir_create(out, e)) return false;
    snprintf(out, PATH_MAX, "%.3500s/tune/%.100s-%.16s.state", state, exercise, key);
    return true;
}

static char *next_word(char **rest) { return strtok_r(NULL, " \n", rest); }

static void read_line(char *line, struct tune_row *rows, unsigned n) {
    char *rest, *word = strtok_r(line, " \n", &rest), *verdict = next_word(&rest),
                *kind = next_word(&rest), *us = next_word(&rest);
    if (!us) return;
    unsigned index = (unsigned)strtoul(word, NULL, 10), counters = sim_counter_count();
    struct tune_row row = {.done = true, .us = strtod(us, NULL)};
    uint64_t *counter = (uint64_t *)&row.counters;
    for (unsigned i = 0; i < counters; i++) {
        char *value = next_word(&rest);
        if (!value) return;
        counter[i] = strtoull(value, NULL, 10);
    }
    char *end_marker = next_word(&rest);
    if (!end_marker || strcmp(end_marker, "end") || index >= n) return;
    row.combination = rows[index].combination, row.device = rows[index].device;
    snprintf(row.verdict, sizeof row.verdict, "%s", verdict);
    snprintf(row.speed_kind, sizeof row.speed_kind, "%s", kind);
    rows[index] = row;
}

void tune_state_read(const char *path, struct tune_row *rows, unsigned n) {
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    while (f && getline(&line, &capacity, f) > 0) read_line(line, rows, n);
    free(line);
    if (f) fclose(f);
}

bool tune_state_append(const char *path, unsigned index, const struct tune_row *row,
                       struct err *e) {
    FILE *f = fopen(path, "ae");
    if (!f) return err_set(e, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    fprintf(f, "\n%u %s %s %.9g", index, row->verdict, row->speed_kind[0] ? row->speed_kind : "-",
            row->us);
    for (unsigned i = 0; i < sim_counter_count(); i++)
        fprintf(f, " %llu", (unsigned long long)sim_counter_get(&row->counters, i));
    bool ok = fputs(" end\n", f) >= 0;
    return (fclose(f) == 0 && ok) || err_set(e, ERR_SYSTEM, "%s: %s", path, strerror(errno));
}
