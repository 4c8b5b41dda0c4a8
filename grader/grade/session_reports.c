/* session_reports.c — writes what the device process reports of a case, findings and notes, into
 * the case's message and the log. */
#include "grader/grade/session_internal.h"
#include "common/quote.h"
#include "common/text.h"

#include <stdio.h>
#include <string.h>

static void write_note(const struct sim_report *r, struct buf *out) {
    struct buf text = {0};
    buf_puts(&text, r->text);
    text_demangle(&text);
    buf_printf(out, "%s: %s", sim_fault_name(r->fault), buf_str(&text));
    if (r->count > 1) buf_printf(out, " (%llu times)", (unsigned long long)r->count);
    buf_puts(out, "\n");
    buf_free(&text);
}

void session_log_notes(struct session *s) {
    for (unsigned i = 0; i < s->launch_stats.nreports; i++) {
        const struct sim_report *r = &s->launch_stats.reports[i];
        if (r->fault == SIM_NOTE_REVALIDATED_READ && !strstr(buf_str(&s->log), "note: "))
            write_note(r, &s->log);
    }
}

void session_explain_by_notes(const struct session *s, struct case_run *out) {
    for (unsigned i = 0; i < s->launch_stats.nreports; i++) {
        const struct sim_report *r = &s->launch_stats.reports[i];
        if (r->fault == SIM_NOTE_EARLY_EXIT || r->fault == SIM_NOTE_ACTIVE_MASK ||
            r->fault == SIM_NOTE_READ_ONLY_LOAD)
            buf_printf(&out->message, "\n%s: %s", sim_fault_name(r->fault), r->text);
    }
}

bool session_has_findings(const struct session *s) {
    const struct launch_stats *t = &s->launch_stats;
    for (unsigned i = 0; i < t->nreports; i++)
        if (!sim_fault_is_note(t->reports[i].fault)) return true;
    return false;
}

/* Returns the line of the submission that a report begins with; 0 if it names another file. */
static unsigned source_line_of(const struct session *s, const char *text) {
    size_t n = s->o.file ? strlen(s->o.file) : 0;
    unsigned line = 0;
    if (!n || strncmp(text, s->o.file, n) || sscanf(text + n, ":%u: ", &line) != 1) return 0;
    return line;
}

static void write_report(const struct session *s, const struct sim_report *r, struct buf *out) {
    struct buf text = {0}, lines = {0};
    unsigned line = source_line_of(s, r->text);
    buf_puts(&text, r->text);
    if (line) quote_rewrite_elements(&text, s->o.source->data, s->o.source->size, line);
    if (line && sim_fault_is_hazard(r->fault))
        quote_lines(buf_str(&text), s->o.source->data, s->o.source->size, line, "\n", "", &lines);
    buf_printf(out, "%s: %s", sim_fault_name(r->fault), buf_str(&text));
    if (r->count > 1) buf_printf(out, " (%llu times)", (unsigned long long)r->count);
    buf_puts(out, buf_str(&lines));
    buf_free(&text);
    buf_free(&lines);
}

static bool is_uninitialized_read(const struct sim_report *r) {
    return r->fault == SIM_FAULT_UNINITIALIZED;
}

void session_write_reports(const struct session *s, struct case_run *out) {
    const struct launch_stats *t = &s->launch_stats;
    for (unsigned i = 0, reported = 0; i < 2 * t->nreports && reported < 3; i++) {
        const struct sim_report *r = &t->reports[i % t->nreports];
        bool is_last_part = i >= t->nreports;
        if (sim_fault_is_note(r->fault) || is_uninitialized_read(r) != is_last_part) continue;
        reported++;
        if (out->message.size) buf_puts(&out->message, "\n");
        write_report(s, r, &out->message);
    }
}
