/* book.c — see book.h. */
#include "grader/book/book.h"
#include "common/file.h"
#include "common/grow.h"
#include "common/text.h"
#include "common/paths.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Weak, so that programs without chapters, such as unit tests, link too. */
extern const struct exercise *const __start_exercises[] __attribute__((weak));
extern const struct exercise *const __stop_exercises[] __attribute__((weak));

static const struct exercise **sorted;
static unsigned count;

const char *book_root(void) { return paths_book_dir(); }

static int compare_ids(const void *a, const void *b) {
    const struct exercise *x = *(const struct exercise *const *)a,
                          *y = *(const struct exercise *const *)b;
    int chapter = strcmp(x->chapter, y->chapter);
    return chapter ? chapter : strcmp(x->name, y->name);
}

static void load_exercises(void) {
    if (sorted) return;
    count = (unsigned)(__stop_exercises - __start_exercises);
    sorted = xcalloc(count + 1, sizeof *sorted);
    for (unsigned i = 0; i < count; i++) sorted[i] = __start_exercises[i];
    qsort(sorted, count, sizeof *sorted, compare_ids);
}

bool book_open(struct err *e) {
    load_exercises();
    return paths_init(e);
}

unsigned book_count(void) {
    load_exercises();
    return count;
}
const struct exercise *book_at(unsigned i) {
    load_exercises();
    return i < count ? sorted[i] : NULL;
}
const char *book_entry(const struct exercise *ex) { return ex->entry ? ex->entry : ex->name; }

const char *book_id(const struct exercise *ex) {
    static char ids[4][160];
    static unsigned next;
    char *id = ids[next++ % 4];
    snprintf(id, sizeof ids[0], "%s/%s", ex->chapter, ex->name);
    return id;
}

/* ---- names ---- */

/* "02-coalescing", "coalescing" and "02" all name the chapter. */
static bool matches_chapter(const struct exercise *ex, const char *s, size_t n) {
    const char *dash = strchr(ex->chapter, '-'), *slug = dash ? dash + 1 : ex->chapter;
    return (strlen(ex->chapter) == n && !strncmp(ex->chapter, s, n)) ||
           (strlen(slug) == n && !strncmp(slug, s, n)) ||
           (dash && (size_t)(dash - ex->chapter) == n && !strncmp(ex->chapter, s, n));
}

static bool matches_name(const struct exercise *ex, const char *s, bool match_chapter) {
    const char *slash = strrchr(s, '/');
    if (match_chapter) return matches_chapter(ex, s, strlen(s) - (text_ends_with(s, "/") ? 1 : 0));
    if (!slash) return !strcmp(ex->name, s);
    return !strcmp(ex->name, slash + 1) && matches_chapter(ex, s, (size_t)(slash - s));
}

static unsigned edit_distance(const char *a, const char *b) {
    unsigned row[64], n = (unsigned)strlen(b);
    if (n >= 64) return 99;
    for (unsigned j = 0; j <= n; j++) row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < n; j++) {
            unsigned substitution = diagonal + (a[i] != b[j]),
                     min_gap = row[j] + 1 < row[j + 1] + 1 ? row[j] + 1 : row[j + 1] + 1;
            diagonal = row[j + 1];
            row[j + 1] = substitution < min_gap ? substitution : min_gap;
        }
    }
    return row[n];
}

static void set_unknown_error(const char *name, struct err *e) {
    const struct exercise *nearest = NULL;
    const char *base = path_basename(name);
    unsigned best = 4;
    for (unsigned i = 0; i < count; i++) {
        unsigned d = edit_distance(base, sorted[i]->name);
        if (d < best) best = d, nearest = sorted[i];
    }
    struct buf clean = {0};
    text_clean_name(&clean, name);
    err_set(e, ERR_INPUT, "no exercise or chapter is named '%.200s'%s%s%s (see: grader list)",
            buf_str(&clean), nearest ? "; did you mean " : "", nearest ? book_id(nearest) : "",
            nearest ? "?" : "");
    buf_free(&clean);
}

/* Strips `./`, `chapters/` and `.cu`, so that a path completed by the shell names the exercise too.
 */
static void normalize_name(const char *name, char *out, size_t size) {
    if (text_starts_with(name, "./")) name += 2;
    if (text_starts_with(name, "chapters/")) name += 9;
    snprintf(out, size, "%s", name);
    if (text_ends_with(out, ".cu")) out[strlen(out) - 3] = 0;
}

const struct exercise **book_find(const char *name, struct err *e) {
    char normalized[PATH_MAX];
    load_exercises();
    normalize_name(name, normalized, sizeof normalized);
    const struct exercise **found = xcalloc(count + 1, sizeof *found);
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        if (matches_name(sorted[i], normalized, false)) found[n++] = sorted[i];
    if (n > 1) {
        err_set(e, ERR_INPUT, "'%.200s' is ambiguous: %s or %s", normalized, book_id(found[0]),
                book_id(found[1]));
        return free(found), NULL;
    }
    for (unsigned i = 0; i < count && n == 0; i++)
        for (; i < count && matches_name(sorted[i], normalized, true); i++) found[n++] = sorted[i];
    if (n) return found;
    set_unknown_error(name, e);
    return free(found), NULL;
}

/* ---- files ---- */

const char *book_chapter_file(const struct exercise *ex, const char *suffix) {
    static char path[PATH_MAX + 512];
    snprintf(path, sizeof path, "%s/chapters/%s/%s%s", paths_book_dir(), ex->chapter, ex->name,
             suffix);
    return path;
}

const char *book_student_file(const struct exercise *ex) {
    static char path[PATH_MAX + 512];
    snprintf(path, sizeof path, "%s/chapters/%s/%s.cu", paths_workspace_dir(), ex->chapter,
             ex->name);
    return path;
}

const char *book_solution_file(const struct exercise *ex, const char *step) {
    static char path[PATH_MAX + 512];
    snprintf(path, sizeof path, "%s/solutions/%s/%s%s%s.cu", paths_book_dir(), ex->chapter,
             ex->name, step ? "-" : "", step ? step : "");
    return path;
}

void book_chapter_title(const struct exercise *ex, struct buf *out) {
    static const char separator[] = " · ";
    char path[PATH_MAX + 512];
    struct buf text = {0};
    struct err ignored = {0};
    snprintf(path, sizeof path, "%s/chapters/%s/README.md", paths_book_dir(), ex->chapter);
    if (file_read(path, 1 << 20, &text, &ignored) && text_starts_with(buf_str(&text), "# ")) {
        char *title = text.data + 2;
        title[strcspn(title, "\n")] = 0;
        const char *behind_number = strstr(title, separator);
        buf_puts(out, behind_number ? behind_number + sizeof separator - 1 : title);
    }
    buf_free(&text);
}

bool book_has_solutions(void) {
    char path[PATH_MAX];
    return path_join(path, sizeof path, paths_book_dir(), "solutions") && file_exists(path);
}

const char *book_mutants_folder(const struct exercise *ex) {
    static char path[PATH_MAX + 512];
    snprintf(path, sizeof path, "%s/grader/tests/mutants/%s/%s", paths_book_dir(), ex->chapter,
             ex->name);
    return path;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char **book_list_files(const char *folder, const char *prefix, const char *suffix) {
    char **list = xcalloc(1, sizeof *list);
    unsigned n = 0, capacity = 1;
    DIR *d = opendir(folder);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (entry->d_name[0] == '.' || !text_starts_with(entry->d_name, prefix) ||
            !text_ends_with(entry->d_name, suffix))
            continue;
        GROW(list, n + 2, capacity, 1);
        list[n++] = xstrdup(entry->d_name);
        list[n] = NULL;
    }
    if (d) closedir(d);
    qsort(list, n, sizeof *list, compare_names);
    return list;
}

void book_free_list(char **list) {
    for (char **s = list; *s; s++) free(*s);
    free(list);
}

/* Steps are NAME-N-slug.cu. The digit after the dash distinguishes them from exercises whose names
 * begin with NAME-. */
char **book_ladder_steps(const struct exercise *ex) {
    char folder[PATH_MAX + 512], prefix[128];
    snprintf(folder, sizeof folder, "%s/solutions/%s", paths_book_dir(), ex->chapter);
    snprintf(prefix, sizeof prefix, "%s-", ex->name);
    char **list = book_list_files(folder, prefix, ".cu");
    unsigned nsteps = 0;
    for (unsigned i = 0; list[i]; i++) {
        char *step = list[i] + strlen(prefix);
        bool is_step = step[0] >= '0' && step[0] <= '9';
        if (is_step) {
            step[strlen(step) - 3] = 0;
            char *name = xstrdup(step);
            free(list[i]);
            list[i] = NULL;
            list[nsteps++] = name;
        } else {
            free(list[i]);
            list[i] = NULL;
        }
    }
    return list;
}
