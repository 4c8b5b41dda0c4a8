/* plan_ambiguity.c — see plan_ambiguity.h. It looks up every part of an entry's name on the roster.
 */
#include "grader/class/plan_ambiguity.h"
#include "common/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void plan_require_review(struct plan_student *s, const char *reason) {
    if (!s->review_reason) s->review_reason = xstrdup(reason);
}

/* Returns the class of a byte: digits, letters (and the bytes of letters beyond ASCII), others. */
static int class_of(char c) {
    if (isdigit((unsigned char)c)) return 1;
    return isalpha((unsigned char)c) || (c & 0x80) ? 2 : 0;
}

static bool is_boundary(const char *text, const char *at) {
    return at == text || !*at || class_of(at[-1]) != class_of(*at);
}

typedef void visit_fn(void *ctx, int row, const char *part);

/* Calls `visit` with the row, or ROSTER_AMBIGUOUS, of each part of `text` that the roster has. */
static void for_each_part(const struct plan *p, const char *text, visit_fn *visit, void *ctx) {
    for (const char *from = text; *from; from++) {
        if (!is_boundary(text, from) || !class_of(*from)) continue;
        for (const char *to = from + 1; to[-1]; to++) {
            if (!is_boundary(text, to) || !class_of(to[-1])) continue;
            char *part = strndup(from, (size_t)(to - from));
            int row = part ? roster_find(&p->roster, part) : ROSTER_NONE;
            if (row != ROSTER_NONE) visit(ctx, row, part);
            free(part);
        }
    }
}

static void keep_row(void *ctx, int row, const char *part) {
    int *kept = ctx;
    (void)part;
    *kept = *kept == ROSTER_NONE || *kept == row ? row : ROSTER_AMBIGUOUS;
}

int plan_find_contained(const struct plan *p, const char *text) {
    int row = ROSTER_NONE;
    for_each_part(p, text, keep_row, &row);
    return row;
}

struct candidate_ctx {
    struct plan *p;
    unsigned entry;
};

/* The roster's students are the first of the plan, in the roster's order. */
static void add_candidate(void *ctx, unsigned row) {
    struct candidate_ctx *s = ctx;
    s->p->students[row].candidate_entry = s->entry + 1;
}

static void add_candidate_row(void *ctx, int row, const char *part) {
    struct candidate_ctx *s = ctx;
    if (row >= 0) add_candidate(s, (unsigned)row);
    if (row == ROSTER_AMBIGUOUS) roster_visit_namesakes(&s->p->roster, part, add_candidate, s);
}

void plan_add_candidates(struct plan *p, unsigned entry, const char *key) {
    struct candidate_ctx s = {p, entry};
    int row = *key ? roster_find(&p->roster, key) : ROSTER_NONE;
    if (row != ROSTER_NONE) add_candidate_row(&s, row, key);
}

void plan_add_candidates_in_name(struct plan *p, unsigned entry) {
    for_each_part(p, p->entries[entry].name, add_candidate_row, &(struct candidate_ctx){p, entry});
}

void plan_review_candidates(struct plan *p) {
    for (unsigned i = 0; i < p->nstudents; i++) {
        struct plan_student *s = &p->students[i];
        struct buf reason = {0};
        if (s->entry_key || !s->candidate_entry) continue;
        const struct plan_entry *en = &p->entries[s->candidate_entry - 1];
        buf_puts(&reason, "may have handed in "), text_clean_name(&reason, en->name);
        buf_printf(&reason, ": %s", en->ambiguity ? en->ambiguity : en->reason);
        plan_require_review(s, buf_str(&reason));
        buf_free(&reason);
    }
}
