/* class.h — a class in a store: what was handed in goes in (class_intake), is graded (class_grade),
 * and comes out (export.h). docs/store.md says what a store holds. */
#pragma once
#include "common/hash.h"
#include "grader/class/assignment.h"
#include "grader/class/plan.h"
#include "grader/class/store.h"
#include "grader/grade/grade.h"

/* Reads what the plan's entries hold into the store, a student at a time; then says of each student
 * and exercise what there is: taken, unclear, missing (by the roster alone) or absent. Students
 * that are in the store already and not in the plan stay. */
bool class_intake(struct store *s, const struct plan *p, const struct exercise *const *list,
                  struct err *e);

struct class_progress {
    unsigned graded, total, internal_error_count; /* of this run; broken: IE */
    double seconds;
};
struct class_grade_options {
    struct grade_options grade;
    unsigned jobs;
    bool keep_gradebook; /* grade, but leave in the gradebook what is there: for comparing */
    const struct exercise *only_exercise; /* NULL = all */
    const struct assignment *assignment;  /* only its exercises, by its terms; NULL = none */
    unsigned shard_index, shard_count; /* every shards-th from shard on, from 0; 0 shards = all */
    void (*progress)(void *user, const struct class_progress *p); /* may be NULL */
    void *user;
};
/* Grades what has no result yet by this grader, book, compiler, device and seed. What another
 * process is grading is waited for. False: it could not go on; all results until then are in the
 * store. */
bool class_grade(struct store *s, const struct class_grade_options *g, struct err *e);
/* Names the result that grading this source now would give. */
void class_result_key(const struct exercise *ex, const char *digest, const struct grade_options *o,
                      char key[HASH_HEX_SIZE]);
/* The terms of an assignment for an exercise; NULL = none. */
const struct grading_policy *class_policy(const struct assignment *a, const struct exercise *ex);
/* A result whole, for pages (store.def); and back: false where another grader wrote it. `r` is the
 * caller's to free. */
void class_serialize_result(const struct result *r, struct buf *out);
bool class_deserialize_result(const void *bytes, size_t size, const struct exercise *ex,
                              const char *grader, struct result *r);
/* The seed that the gradebook is graded with: kept by the first run, and "" before that. */
bool class_load_seed(struct store *s, char seed[65], struct err *e);
bool class_save_seed(struct store *s, const char *seed, struct err *e);
/* All of another store into this one; `twice`: results that both have, which must be equal;
 * `added`: those that only it has. Both were graded with one seed. */
bool class_merge(struct store *s, const char *from, long long *duplicates, long long *added,
                 struct err *e);
