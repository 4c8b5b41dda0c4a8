/* report_account.c — the account of a modelled time (grader/sim/timing/timing.h): the lines that
 * wait for what limits it, and the account as JSON. All reports show the account that the result
 * carries; none computes its own. */
#include "grader/report/report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Returns the seconds that the line waits for the time's first limit. */
static double limit_seconds(const struct result *r, const struct line_result *l) {
    unsigned mask = time_limit_stalls(r->speed.account.limits[0].component);
    double seconds = 0;
    for (unsigned k = 0; k < SIM_STALL_COUNT; k++)
        if (mask >> k & 1) seconds += l->stall_seconds[k];
    return seconds;
}

double report_limit_share(const struct result *r, const struct line_result *l) {
    double total = 0;
    for (unsigned i = 0; r->speed.account.seconds > 0 && i < r->nlines; i++)
        total += limit_seconds(r, &r->lines[i]);
    return total > 0 ? limit_seconds(r, l) / total : 0;
}

/* Returns the line with the next smaller share after `previous`; NULL if none has 10 %. */
static const struct line_result *next_waiting_line(const struct result *r,
                                                   const struct line_result *previous) {
    static const double min_share = 0.1;
    const struct line_result *best = NULL;
    double limit = previous ? report_limit_share(r, previous) : 2;
    for (unsigned i = 0; i < r->nlines; i++) {
        const struct line_result *l = &r->lines[i];
        double share = report_limit_share(r, l);
        bool comes_after = share < limit || (share == limit && l > previous);
        if (l->line && comes_after && share >= min_share &&
            (!best || share > report_limit_share(r, best)))
            best = l;
    }
    return best;
}

void report_limit_lines(const struct result *r, struct buf *out) {
    const struct line_result *l = next_waiting_line(r, NULL);
    unsigned component = r->speed.account.limits[0].component;
    if (!l) return;
    buf_printf(out, "waits for %s: ", time_component_name(component));
    for (const char *separator = ""; l; l = next_waiting_line(r, l), separator = ", ") {
        buf_printf(out, "%s%.0f %% at ", separator, 100 * report_limit_share(r, l));
        if (strcmp(l->file, r->file) != 0) buf_printf(out, "%s:%u", l->file, l->line);
        else buf_printf(out, "line %u", l->line);
    }
    buf_puts(out, "\n");
}

struct json_t *report_limits_json(const struct time_account_result *a) {
    json_t *list = json_array();
    for (unsigned i = 0; a->seconds > 0 && i < TIME_LIMIT_COUNT; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:f, s:f}", "name", time_component_name(a->limits[i].component),
                            "percent", 100 * a->limits[i].share, "behind_percent",
                            100 * fmax(a->limits[0].share - a->limits[i].share, 0)));
    return list;
}

struct json_t *report_busy_json(const struct time_account_result *a) {
    json_t *o = json_object();
    for (unsigned i = TIME_COMPONENT_KERNELS; a->seconds > 0 && time_component_name(i); i++)
        if (a->components[i] > 0)
            json_object_set_new(o, time_component_name(i), json_real(a->components[i] * 1e6));
    return o;
}

struct json_t *report_account_json(const struct time_account_result *a) {
    json_t *o = json_object();
    double parts[TIME_MAX_COMPONENTS];
    if (!(a->seconds > 0)) return o;
    time_account(a->components, a->seconds, parts);
    for (unsigned i = 0; time_component_name(i); i++)
        if (parts[i] > 0) json_object_set_new(o, time_component_name(i), json_real(parts[i] * 1e6));
    return o;
}
