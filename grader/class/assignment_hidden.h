/* assignment_hidden.h — compiles and loads the hidden cases of an exercise, a C file that the
 * instructor wrote (common/exercise_hidden.h); assignment.c calls it. */
#pragma once
#include "grader/class/assignment.h"

/* Compiles the part's file of hidden cases, and puts the cases into its policy; unloads them. */
bool assignment_hidden_load(struct assignment_part *p, struct err *e);
void assignment_hidden_free(struct assignment_part *p);
