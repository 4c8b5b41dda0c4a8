/* hostile.h — declares what the parts of build/tests/hostile share. */
#pragma once
#include "common/buf.h"
#include "grader/class/grade_many.h"

/* One file of the corpus. Its first line: // VERDICT[/VERDICT...][*] | threat | what it tries |
 * what must be said */
struct attack {
    char *name, *verdicts, *threat, *tries, *expected_text;
    bool is_quick; /* `*`: part of `make check` */
    struct buf source;
};
struct attack *corpus_load(const char *folder, unsigned *n);
void corpus_free(struct attack *a, unsigned n);
bool corpus_expects(const struct attack *a, enum verdict v);

/* What is planted where no submission may see it, and what no submission may leave. */
void plant(void);
const char *decoy_token(void), *decoy_file(void), *decoy_folder(void);
/* Appends what is wrong: processes that live on, files that were left. */
void report_leftovers(struct buf *problems);
void remove_decoys(void);

extern const struct exercise plus_one;

/* Each returns the number of failures and prints what it did. */
unsigned try_archives(void), try_kills(unsigned times), try_interrupts(unsigned times),
    measure_jail(void);
