/* pseudonym.h — names that stand for students: on the page of a class and in anonymized stores. A
 * key, which the store keeps, makes them: without it, nobody can compute a student's from an id. */
#pragma once
#include "grader/class/store.h"

enum { PSEUDONYM_SIZE = 13 };

/* Loads the store's key; the first call draws it. */
bool pseudonym_load_key(struct store *s, char key[65], struct err *e);
/* Sets "S-" and ten hex digits. */
void pseudonym_make(const char *key, const char *id, char out[PSEUDONYM_SIZE]);
/* Creates the store `path`, with what `s` has of grades, and without names, sources and other texts
 * that people wrote. Nothing else is ever in the file. */
bool pseudonym_copy_store(struct store *s, const char *path, struct err *e);
