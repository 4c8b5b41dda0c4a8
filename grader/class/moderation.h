/* moderation.h — second marking: two people score a submission without seeing each other's score,
 * and a third one decides if the scores differ by more than the assignment's tolerance. Both scores
 * are decisions (decision.h); the view `moderation` has what they amount to. */
#pragma once
#include "grader/class/decision.h"

/* Condition of SQL on a row `d` of `decision`: others may not see it yet. */
#define MODERATION_IS_HIDDEN                                                                       \
    "(d.kind = 'blind_score' AND (SELECT count(*) FROM decided k WHERE k.student = d.student AND " \
    "k.exercise = d.exercise AND k.kind = 'blind_score') < 2)"

/* Returns false if the decision is a blind score and the author may not give one: the submission is
 * not in moderation, has a score already, or both blind scores are there. Also if it is a score by
 * one of the two, or begins the moderation of what a partner handed in. Runs in the transaction
 * that adds the decision. */
bool moderation_check(struct store *s, const struct decision *d, struct err *e);
/* Appends both blind scores, once there are two, as what a new score replaces. */
void moderation_put_scores(struct store *s, const struct decision *d, struct buf *out,
                           struct err *e);
/* Queries the open submissions in moderation, as the person sees them: student, exercise, the
 * number of blind scores, and is_awaited: whether this person may score next. A NULL student or
 * exercise selects all. */
struct store_rows *moderation_query(struct store *s, const char *person, const char *student,
                                    const char *exercise, struct err *e);
