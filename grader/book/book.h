/* book.h — the exercises of the book, found through the linker section "exercises", and where their
 * files lie. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

#include <stdbool.h>

bool book_open(struct err *e);
/* The folder with chapters/ and solutions/, absolute: paths_book_dir(). Nothing is written there
 * but by `grader new`. */
const char *book_root(void);

/* In the order of chapter, then name. */
unsigned book_count(void);
const struct exercise *book_at(unsigned i);
const char *book_id(const struct exercise *ex); /* "02-coalescing/transpose" */
const char *book_entry(const struct exercise *ex);

/* What `name` means: an exercise in any of its spellings, or all of a chapter. The list is
 * terminated by NULL and is the caller's to free. NULL with an error that offers near names. */
const struct exercise **book_find(const char *name, struct err *e);

/* Files of an exercise; each returns a static buffer that the next call overwrites. */
const char *book_chapter_file(const struct exercise *ex,
                              const char *suffix);        /* chapters/NN/NAME + suffix */
const char *book_student_file(const struct exercise *ex); /* what the student edits */
const char *book_solution_file(const struct exercise *ex,
                               const char *step); /* step NULL: the model answer */
bool book_has_solutions(void); /* false in a student's release (grader/grade/baseline_data.h) */
const char *book_mutants_folder(const struct exercise *ex);
/* Names of the ladder's steps ("1-unqualified"), in order; NULL-terminated, free with
 * book_free_list. */
char **book_ladder_steps(const struct exercise *ex);
void book_free_list(char **list);
/* Files of a folder that end with `suffix`, sorted; NULL-terminated. */
char **book_list_files(const char *folder, const char *prefix, const char *suffix);

/* The skeleton as the book ships it. In a source tree, where students edit the file itself: from
 * git where it is under version control (the last commit), else the copy that was taken when the
 * grader first saw it. */
bool book_original_starter(const struct exercise *ex, struct buf *out, struct err *e);
/* Whose skeleton the file is, by its path in the book; NULL: nobody's. */
const struct exercise *book_exercise_of_starter(const char *relative);
