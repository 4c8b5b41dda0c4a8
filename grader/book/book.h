/* book.h — the exercises of the book, collected in the linker section "exercises", and the paths of
 * their files. */
#pragma once
#include "common/buf.h"
#include "common/err.h"
#include "common/exercise.h"

#include <stdbool.h>

/* Loads the exercises and initializes the paths. */
bool book_open(struct err *e);
/* Returns the absolute folder with chapters/ and solutions/: paths_book_dir(). Only `grader new`
 * writes there. */
const char *book_root(void);

/* Exercises are sorted by chapter, then name. */
unsigned book_count(void);
const struct exercise *book_at(unsigned i);
const char *book_id(const struct exercise *ex); /* "02-coalescing/transpose" */
const char *book_entry(const struct exercise *ex);

/* Returns the exercises that `name` means: one exercise in any spelling, or a whole chapter. The
 * list ends with NULL; the caller frees it. Returns NULL with an error that suggests a similar
 * name. */
const struct exercise **book_find(const char *name, struct err *e);

/* Files of an exercise; each returns a static buffer that the next call overwrites. */
const char *book_chapter_file(const struct exercise *ex,
                              const char *suffix);        /* chapters/NN/NAME + suffix */
const char *book_student_file(const struct exercise *ex); /* what the student edits */
const char *book_solution_file(const struct exercise *ex,
                               const char *step); /* step NULL: the model solution */
/* Appends the title of the exercise's chapter: the first heading of its README.md, without "# 02 ·
 * "; nothing if there is none. */
void book_chapter_title(const struct exercise *ex, struct buf *out);
bool book_has_solutions(void); /* false in a student's release (grader/grade/baseline_data.h) */
const char *book_mutants_folder(const struct exercise *ex);
/* Returns the names of the ladder's steps ("1-unqualified") in order, NULL-terminated; free with
 * book_free_list(). */
char **book_ladder_steps(const struct exercise *ex);
void book_free_list(char **list);
/* Returns the names in a folder that have `prefix` and `suffix`, sorted, NULL-terminated; free with
 * book_free_list(). */
char **book_list_files(const char *folder, const char *prefix, const char *suffix);

/* Appends the starter file as the book ships it. In a source tree, where students edit that file,
 * it comes from git (the last commit), else from a copy made when the grader first saw the file. */
bool book_original_starter(const struct exercise *ex, struct buf *out, struct err *e);
/* Returns the exercise whose starter file has this path in the book, or NULL. */
const struct exercise *book_exercise_of_starter(const char *relative);
