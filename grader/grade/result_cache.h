/* result_cache.h — keeps the results of grading, so that the same file is not graded twice.
 *
 * A key is a digest of everything that a result depends on: the source and its name, the compiler,
 * the programs that grade (which contain the exercise's tests and the simulator), the book's
 * versions of the exercise, the device, the options and the instructor's policy.
 *
 * Seeds. Inputs come from a random seed, so that a file can't be written to fit them. A result may
 * be kept only under the same policy:
 *   - A student's own gradings draw a seed each. Any of them is as good as another: the file was
 *     fixed before its seed was drawn, so the kept result is the one that this file earned against
 *     inputs it could not know. An edit changes the key, and new seeds are drawn. A kept result
 *     reports its seed. Grading again until a lucky seed accepts a wrong file takes --no-cache, as
 *     it took repetition before; what counts is the instructor's grading, of another key.
 *   - A class is graded under one seed, which the store has. There the seed is part of the key.
 * `--seed` and `--no-cache` grade anew.
 *
 * Not kept: IE; what wall-clock time, noise or a measurement decided; TLE and MLE, which the
 * machine may cause; correct files without the time that the score needs.
 *
 * Trust. Entries are in paths_cache_dir(), which only this user can write to (cache.h), and no
 * sandbox contains it. Nothing in a submission's folder is read as a result. */
#pragma once
#include "common/hash.h"
#include "grader/grade/grade.h"

/* Sets the key of this grading. Returns false if its result may not be kept. */
bool result_cache_key(const struct exercise *ex, const char *name, const void *source, size_t size,
                      const struct grade_options *o, char key[HASH_HEX_SIZE]);
/* Sets `out` to the kept result; returns false if there is none. */
bool result_cache_load(const struct exercise *ex, const char *key, struct result *out);
/* Keeps the result unless the machine had a part in it. A failure is no error. */
void result_cache_store(const char *key, const struct grade_options *o, const struct result *r);
