/* class.h — a class in a store: class_intake reads the submissions into it, class_grade grades
 * them, and export.h writes the results. docs/store.md documents the store. */
#pragma once
#include "common/hash.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/class/store.h"
#include "grader/grade/grade.h"

/* What an intake found nothing of and left as an earlier one stored it. */
struct class_kept {
    long long students; /* without an entry */
    long long files;    /* of students with an entry */
};
/* Reads the plan's entries into the store, one student at a time. Then sets the state of each
 * student and exercise: taken, unclear, missing (students of the roster only) or absent. What the
 * plan lacks and an earlier intake stored stays, and `kept` counts it. If `is_complete`, the plan
 * has all submissions of the students in it: what it lacks is missing or absent. */
bool class_intake(struct store *s, const struct plan *p, const struct exercise *const *list,
                  bool is_complete, struct class_kept *kept, struct err *e);

/* Grading a class goes ahead without asking if at most this many are unclear. */
enum { CLASS_FEW_UNCLEAR = 5 };
/* Returns the number of students with an unclear submission and of unclear entries without a
 * student; -1 = error. */
long long class_count_unclear(struct store *s, struct err *e);

struct class_progress {
    unsigned graded, total, internal_error_count; /* of this run; verdict IE for the last */
    double seconds;
};
struct class_grade_options {
    struct grade_options grade;
    unsigned jobs;
    bool keep_gradebook; /* add results, but keep the gradebook's current ones: for comparing */
    unsigned variant;    /* grade students with this variant; 0 = exercises without variants */
    bool check_others;   /* instead, those who fail another one: do they solve this one? */
    const struct exercise *only_exercise; /* NULL = all */
    const struct assignment *assignment;  /* only its exercises, by its policy; NULL = none */
    unsigned shard_index, shard_count;    /* index from 0; count 0 = grade all */
    void (*progress)(void *user, const struct class_progress *p); /* may be NULL */
    void *user;
};
/* Grades every submission that has no result yet from this grader, book, compiler, device and seed;
 * waits for those that another process is grading. Returns false if it had to stop early; the store
 * has all results up to then. */
bool class_grade(struct store *s, const struct class_grade_options *g, struct err *e);
/* Sets `key` to the key of the result that grading this source now would produce. */
void class_result_key(const struct exercise *ex, const char *digest, const struct grade_options *o,
                      char key[HASH_HEX_SIZE]);
/* The setting of this name and a grader's digest has the digest of the grader that wrote it, as a
 * copy for a variant. */
#define CLASS_COPY_SETTING "origin of grader "
/* Returns an assignment's policy for an exercise; NULL = none. */
const struct grading_policy *class_policy(const struct assignment *a, const struct exercise *ex);
/* Serialize a whole result for the pages (store.def), and read it back. Reading returns false if a
 * different build of the grader wrote it. The caller frees `r`. */
void class_serialize_result(const struct result *r, struct buf *out);
bool class_deserialize_result(const void *bytes, size_t size, const struct exercise *ex,
                              const char *grader, struct result *r);
/* Load and save the seed of the gradebook; the first run saves it. "" = not saved yet. */
bool class_load_seed(struct store *s, char seed[65], struct err *e);
bool class_save_seed(struct store *s, const char *seed, struct err *e);
/* Saves a seed unless the store has one. */
bool class_save_first_seed(struct store *s, const char *seed, struct err *e);
/* Copies all of the store `from` into this one; both must have the same seed. `duplicates` counts
 * the results that both have, which must be equal; `added` counts those that only `from` has. */
bool class_merge(struct store *s, const char *from, long long *duplicates, long long *added,
                 struct err *e);
