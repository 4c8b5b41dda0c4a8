/* progress.h — a student's progress in each exercise: the last verdict and score, the hints seen,
 * the history of runs with their texts. Its files are in progress/ below paths_state_dir(). */
#pragma once
#include "common/exercise.h"
#include "common/hash.h"
#include "grader/book/reading_path.h"
#include "grader/grade/result.h"
#include "grader/report/report.h"

struct progress {
    char verdict[16]; /* "" = never graded */
    double score;
    unsigned hint_count; /* shown so far */
};
/* Returns true if the student's file equals the starter file. */
bool progress_is_unmodified(const struct exercise *ex);
/* Returns the path that the student follows; NULL = the book's order. */
const struct book_path_row *progress_followed_path(void);
/* From now on the student follows `path`; NULL = the book's order. */
bool progress_follow_path(const struct book_path_row *path, struct err *e);
/* Returns the number of accepted exercises. `*next`: the first that isn't accepted, of the path
 * that the student follows, then of the book; NULL = none. */
unsigned progress_count_passed(const struct exercise **next);
void progress_load(const struct exercise *ex, struct progress *p);
void progress_save(const struct exercise *ex, const struct progress *p);
/* Copies the latest runs of the student's own file, at most `capacity`, the oldest first; returns
 * their number. Times of different devices can't be compared, so `d` selects one; NULL = all. */
unsigned progress_history(const struct exercise *ex, const struct gpu_device *d,
                          struct report_history_entry *out, unsigned capacity);
/* Keeps a text of the student's file below its SHA-256, which `digest` receives. Texts that the
 * history no longer names are removed once there are more than PROGRESS_MAX_VERSIONS. */
enum { PROGRESS_MAX_VERSIONS = 200 };
void progress_keep_version(const struct exercise *ex, const void *text, size_t size,
                           char digest[HASH_HEX_SIZE]);
/* Copies the kept texts that no run graded, at most `capacity`, as entries with verdict "-". */
unsigned progress_ungraded_versions(const struct exercise *ex, struct report_history_entry *out,
                                    unsigned capacity);
/* Appends a kept text; false if there is none of that digest. */
bool progress_read_version(const struct exercise *ex, const char *digest, struct buf *out);
/* Records a result of the student's own file on a device, unless it is IE or of a single case. */
void progress_record(const struct result *r, const struct gpu_device *d);
