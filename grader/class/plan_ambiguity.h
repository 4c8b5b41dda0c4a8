/* plan_ambiguity.h — finds the students whom an unclaimed entry may mean, so that none of them
 * counts as missing; plan.c calls it. */
#pragma once
#include "common/buf.h"
#include "grader/class/plan.h"

/* Sets the reason why a person has to decide about a student, unless there is one. */
void plan_require_review(struct plan_student *s, const char *reason);
/* Returns a row of the roster whose id or name is part of `text`, ROSTER_NONE, or ROSTER_AMBIGUOUS.
 * A part begins and ends where letters, digits and other characters meet. */
int plan_find_contained(const struct plan *p, const char *text);
/* Remember that an entry may be that of each student with the id or name `key`; of each whose id or
 * name is part of the entry's name. */
void plan_add_candidates(struct plan *p, unsigned entry, const char *key);
void plan_add_candidates_in_name(struct plan *p, unsigned entry);
/* Requires a review of each student who has no entry, but may have one. */
void plan_review_candidates(struct plan *p);
