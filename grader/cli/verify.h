/* verify.h — the parts of `grader verify`: the versions of each exercise that it grades
 * (verify_subjects.c), and the rules that their results must keep (verify_judge.c). */
#pragma once
#include "common/buf.h"
#include "grader/cli/options.h"
#include "grader/cli/path_evasion.h"
#include "grader/class/grade_many.h"
#include "grader/grade/result.h"

enum version_role {
    STARTER,
    STEP,
    SOLUTION,
    PRACTICE,
    ALTERNATIVE,
    MUTANT,
    PADDED,
    PADDED_OTHER,
    EVASION,
    HARDCODED_SIZES
};

struct subject {
    enum version_role role;
    char *label; /* in messages: "1-unqualified", "empty-grid.cu" */
    char *name;  /* of the source file */
    struct buf source;
    enum path_evasion evasion; /* for EVASION */
    unsigned base_subject;     /* for PADDED_OTHER: index of the step or mutant without padding */
    struct result result;
};

struct verification {
    const struct options *o;
    const struct exercise **list;
    struct subject *subjects;
    struct grade_item *items;
    unsigned *exercise_of; /* of subject i: index into `list` */
    unsigned n, capacity, exercise_of_capacity;
    struct buf problems;
    unsigned nproblems;
    struct buf outdated; /* names of exercises whose baseline data is outdated */
};

/* Adds one broken rule to `problems`. */
void verify_report_problem(struct verification *c, const struct exercise *ex, const char *format,
                           ...) __attribute__((format(printf, 3, 4)));
/* Adds each of `lines` as a broken rule and frees the buffer. */
void verify_report_problems(struct verification *c, const struct exercise *ex, const char *context,
                            struct buf *lines);
/* Adds the versions of an exercise that are to be graded: starter file, ladder, model solution,
 * mutants, alternatives and generated evasions. Reports files that are missing. */
void verify_collect_subjects(struct verification *c, unsigned exercise_index);
/* Returns true if the subject's result is the one that its role requires; reports it if not. */
bool verify_judge(struct verification *c, const struct exercise *ex, const struct subject *s);
/* Reports steps of the ladder that score no more than the one before, unless the ladder's text
 * explains why; steps that cost points; and steps whose report doesn't say how to go on. */
void verify_step_order(struct verification *c, unsigned exercise_index);
/* Reports speed points that don't match what the technique gains. */
void verify_speed_points(struct verification *c, const struct exercise *ex,
                         const struct result *solution);
/* Lists the exercise in `outdated` if its recorded baseline data are of other sources, another nvcc
 * or another simulator. Otherwise reports data that differ from the results of starter file and
 * model solution (either may be NULL), for which the book's versions ran unless --quick. */
void verify_baseline_data(struct verification *c, const struct exercise *ex,
                          const struct result *starter, const struct result *solution);
