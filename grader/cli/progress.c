/* progress.c — reads and writes a student's progress (progress.h): a small file for each exercise,
 * and a history. An unreadable file counts as absent. */
#include "grader/cli/progress.h"
#include "common/file.h"
#include "common/paths.h"
#include "grader/book/book.h"
#include "grader/grade/grade.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool progress_path(const struct exercise *ex, bool create, const char *suffix, char *out,
                          size_t size) {
    struct err e = {0};
    char state[PATH_MAX];
    if (!paths_state_dir(state, &e)) return false;
    snprintf(out, size, "%s/progress/%s", state, ex->chapter);
    if (create) dir_create(out, &e);
    return snprintf(out, size, "%s/progress/%s/%s%s", state, ex->chapter, ex->name, suffix) <
           (int)size;
}

bool progress_is_unmodified(const struct exercise *ex) {
    struct buf starter = {0}, current = {0};
    struct err e = {0};
    bool is_same = book_original_starter(ex, &starter, &e) &&
                   file_read(book_student_file(ex), SOURCE_LIMIT, &current, &e) &&
                   starter.size == current.size &&
                   !memcmp(buf_str(&starter), buf_str(&current), current.size);
    buf_free(&starter), buf_free(&current);
    return is_same;
}

/* ---- the next exercise ---- */

static bool followed_path_file(char path[PATH_MAX], struct err *e) {
    char state[PATH_MAX];
    return paths_state_dir(state, e) && path_join(path, PATH_MAX, state, "progress") &&
           dir_create(path, e) && path_join(path, PATH_MAX, state, "progress/path");
}

const struct book_path_row *progress_followed_path(void) {
    char path[PATH_MAX], name[64];
    struct buf text = {0};
    struct err ignored = {0};
    bool ok = followed_path_file(path, &ignored) && file_exists(path) &&
              file_read(path, sizeof name, &text, &ignored) &&
              sscanf(buf_str(&text), "%63s", name) == 1;
    buf_free(&text);
    return ok ? book_path_find(name, &ignored) : NULL;
}

bool progress_follow_path(const struct book_path_row *followed, struct err *e) {
    char path[PATH_MAX];
    const char *name = followed ? followed->name : "book";
    return followed_path_file(path, e) && file_write(path, name, strlen(name), e);
}

static bool is_passed(const struct exercise *ex) {
    struct progress p;
    progress_load(ex, &p);
    return !strcmp(p.verdict, "AC");
}

static const struct exercise *next_on_path(const struct book_path_row *row) {
    while (row && (row = book_path_next(row)))
        if (row->kind == BOOK_PATH_STEP && !is_passed(book_path_exercise(row)))
            return book_path_exercise(row);
    return NULL;
}

unsigned progress_count_passed(const struct exercise **next) {
    unsigned done = 0;
    *next = next_on_path(progress_followed_path());
    for (unsigned i = 0; i < book_count(); i++)
        if (is_passed(book_at(i))) done++;
        else if (!*next) *next = book_at(i);
    return done;
}

void progress_load(const struct exercise *ex, struct progress *p) {
    char path[PATH_MAX + 256];
    struct buf text = {0};
    struct err e = {0};
    *p = (struct progress){0};
    bool ok = progress_path(ex, false, "", path, sizeof path) && file_exists(path) &&
              file_read(path, 4096, &text, &e) &&
              sscanf(text.data, "%15s %lf %u", p->verdict, &p->score, &p->hint_count) == 3;
    if (!ok) *p = (struct progress){0};
    if (p->verdict[0] == '-') p->verdict[0] = 0;
    buf_free(&text);
}

void progress_save(const struct exercise *ex, const struct progress *p) {
    char path[PATH_MAX + 256];
    struct buf text = {0};
    struct err e = {0};
    buf_printf(&text, "%s %.1f %u\n", p->verdict[0] ? p->verdict : "-", p->score, p->hint_count);
    if (progress_path(ex, true, "", path, sizeof path)) file_write(path, text.data, text.size, &e);
    buf_free(&text);
}

/* ---- the history ---- */

static FILE *history_open(const struct exercise *ex, const char *mode) {
    char path[PATH_MAX + 256];
    return progress_path(ex, *mode == 'a', ".history", path, sizeof path) ? fopen(path, mode)
                                                                          : NULL;
}

static void history_append(const struct result *r, const struct gpu_device *d) {
    char digest[HASH_HEX_SIZE];
    FILE *f = history_open(r->ex, "ae");
    if (!f) return;
    progress_keep_version(r->ex, buf_str(&r->source), r->source.size, digest);
    fprintf(f, "%lld %s %.1f %.6g %s %s %s\n", (long long)time(NULL), verdict_code(r->verdict),
            r->score, r->speed.valid ? r->speed.student_us : 0,
            r->speed.valid ? r->speed.kind : "-", digest, d->name);
    fclose(f);
}

unsigned progress_history(const struct exercise *ex, const struct gpu_device *d,
                          struct report_history_entry *out, unsigned capacity) {
    char line[200];
    FILE *f = history_open(ex, "re");
    unsigned n = 0;
    while (f && fgets(line, sizeof line, f)) {
        struct report_history_entry run = {0};
        if (sscanf(line, "%lld %15s %lf %lf %15s %64s %31s", &run.graded_at, run.verdict,
                   &run.score, &run.us, run.kind, run.source_digest, run.device) < 5)
            continue; /* an older grader wrote no digest, or no device */
        if (d && strcmp(run.device, d->name) != 0) continue;
        if (n == capacity) memmove(out, out + 1, --n * sizeof *out);
        out[n++] = run;
    }
    if (f) fclose(f);
    return n;
}

/* ---- the texts ---- */

static bool version_path(const struct exercise *ex, const char *digest, char *out, size_t size) {
    char folder[PATH_MAX + 256];
    bool is_digest = strlen(digest) == HASH_HEX_SIZE - 1 &&
                     strspn(digest, "0123456789abcdef") == HASH_HEX_SIZE - 1;
    return is_digest && progress_path(ex, false, ".versions", folder, sizeof folder) &&
           path_join(out, size, folder, digest);
}

static bool is_in_history(const char *digest, const struct report_history_entry *runs, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(runs[i].source_digest, digest)) return true;
    return false;
}

unsigned progress_ungraded_versions(const struct exercise *ex, struct report_history_entry *out,
                                    unsigned capacity) {
    static struct report_history_entry runs[PROGRESS_MAX_VERSIONS];
    char folder[PATH_MAX + 256], path[PATH_MAX + 512];
    unsigned n = 0, nruns = progress_history(ex, NULL, runs, PROGRESS_MAX_VERSIONS);
    if (!progress_path(ex, false, ".versions", folder, sizeof folder)) return 0;
    char **files = book_list_files(folder, "", "");
    for (char **f = files; *f && n < capacity; f++) {
        struct stat st;
        if (is_in_history(*f, runs, nruns) || !version_path(ex, *f, path, sizeof path) ||
            stat(path, &st) < 0)
            continue;
        out[n] = (struct report_history_entry){.graded_at = st.st_mtime, .verdict = "-"};
        strcpy(out[n++].source_digest, *f);
    }
    book_free_list(files);
    return n;
}

static void remove_old_versions(const struct exercise *ex, const char *folder) {
    static struct report_history_entry runs[PROGRESS_MAX_VERSIONS];
    char path[PATH_MAX + 512];
    char **files = book_list_files(folder, "", "");
    unsigned count = 0, n;
    while (files[count]) count++;
    n = count > PROGRESS_MAX_VERSIONS ? progress_history(ex, NULL, runs, PROGRESS_MAX_VERSIONS) : 0;
    for (char **f = files; n && *f; f++)
        if (!is_in_history(*f, runs, n) && path_join(path, sizeof path, folder, *f)) unlink(path);
    book_free_list(files);
}

void progress_keep_version(const struct exercise *ex, const void *text, size_t size,
                           char digest[HASH_HEX_SIZE]) {
    char folder[PATH_MAX + 256], path[PATH_MAX + 512];
    struct err e = {0};
    sha256_hex(text, size, digest);
    if (!progress_path(ex, true, ".versions", folder, sizeof folder) || !dir_create(folder, &e) ||
        !path_join(path, sizeof path, folder, digest) || file_exists(path))
        return;
    remove_old_versions(ex, folder);
    file_write(path, text, size, &e);
}

bool progress_read_version(const struct exercise *ex, const char *digest, struct buf *out) {
    char path[PATH_MAX + 512];
    struct err e = {0};
    return version_path(ex, digest, path, sizeof path) && file_read(path, SOURCE_LIMIT, out, &e);
}

void progress_record(const struct result *r, const struct gpu_device *d) {
    struct progress p;
    if (r->verdict == V_IE || r->is_single_case) return;
    progress_load(r->ex, &p);
    snprintf(p.verdict, sizeof p.verdict, "%s", verdict_code(r->verdict));
    p.score = r->score;
    progress_save(r->ex, &p);
    history_append(r, d);
}
