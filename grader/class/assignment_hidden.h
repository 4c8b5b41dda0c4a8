/* assignment_hidden.h — the hidden cases of an assignment's exercise: C that the instructor wrote,
 * compiled and loaded. */
#pragma once
#include "grader/class/assignment.h"

bool assignment_hidden_load(struct assignment_part *p, struct err *e);
void assignment_hidden_free(struct assignment_part *p);
