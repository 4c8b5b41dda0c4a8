/* verify_result.c — compares a result with an expectation (verify_result.h). */
#include "grader/cli/verify_result.h"

#include <stdio.h>
#include <string.h>

const char *cli_failure_reason(const struct result *r) {
    static char line[400];
    const char *reason = r->message;
    for (unsigned i = r->ncases; i-- > 0;)
        if (r->cases[i].verdict != V_AC)
            reason = r->cases[i].message[0] ? r->cases[i].message : r->cases[i].name;
    for (unsigned i = r->ntechnique; reason[0] == 0 && i-- > 0;)
        if (!r->technique[i].passed) reason = r->technique[i].metric;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(reason, "\n"), reason);
    return line;
}

static bool mentions(const struct result *r, const char *word) {
    for (unsigned i = 0; i < r->ncases; i++)
        if (r->cases[i].verdict != V_AC && strcasestr(r->cases[i].message, word)) return true;
    for (unsigned i = 0; i < r->ntechnique; i++)
        if (!r->technique[i].passed &&
            (strcasestr(r->technique[i].metric, word) || strcasestr(r->technique[i].name, word)))
            return true;
    return strcasestr(r->message, word);
}

/* Returns true if the result or one of its cases has the verdict. A wrong index gives a wrong
 * answer at one size and a fault at another; either one satisfies a mutant's expectation. */
static bool has_verdict(const struct result *r, const char *code) {
    bool found = !strcmp(code, verdict_code(r->verdict));
    for (unsigned i = 0; i < r->ncases; i++)
        found |= !strcmp(code, verdict_code(r->cases[i].verdict));
    return found;
}

bool cli_matches_expectation(const struct result *r, const char *line) {
    char expectation[160], list[64], word[64] = "";
    snprintf(expectation, sizeof expectation, "%.*s", (int)strcspn(line, "\r\n"), line);
    if (sscanf(expectation, "%63s %63[^\n]", list, word) < 1) return false;
    bool found = false;
    char *rest = NULL;
    for (char *code = strtok_r(list, "|", &rest); code; code = strtok_r(NULL, "|", &rest))
        found |= has_verdict(r, code);
    return found && (!word[0] || mentions(r, word));
}
