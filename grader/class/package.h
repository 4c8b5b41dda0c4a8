/* package.h — writes an autograder for Gradescope as a zip file: the book, the grader's sources,
 * the assignment with its hidden cases, and the two scripts that Gradescope calls. */
#pragma once
#include "grader/class/assignment.h"

/* Writes the zip that Gradescope builds an autograder from; `file_count` gets its number of
 * files. */
bool class_write_package(const struct assignment *a, const char *path, unsigned *file_count,
                         struct err *e);
