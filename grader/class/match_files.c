/* match_files.c — see match_files.h. */
#include "grader/class/match_files.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME = 256, MAX_LISTED_EXERCISES = 8 };

/* ---- names ---- */

static const char *skip_digits(const char *s) {
    const char *end = s;
    while (*end >= '0' && *end <= '9') end++;
    return end > s ? end : NULL;
}

/* Parses a Canvas name: letters, optionally "_LATE", the user's number, the submission's number,
 * the file's name; joined by '_'. `at` is the first '_' after the letters. */
static bool parse_canvas_name_at(const char *name, const char *at, struct canvas_name *out) {
    bool is_late = !strncmp(at, "_LATE_", 6);
    const char *user = at + (is_late ? 6 : 1), *user_end = skip_digits(user);
    if (!user_end || *user_end != '_') return false;
    const char *end = skip_digits(user_end + 1);
    if (!end || *end != '_' || !end[1]) return false;
    *out = (struct canvas_name){name,   user, end + 1, (int)(at - name), (int)(user_end - user),
                                is_late};
    return true;
}

bool match_parse_canvas_name(const char *name, struct canvas_name *out) {
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_'))
        if (at > name && parse_canvas_name_at(name, at, out)) return true;
    return false;
}

/* Returns the length of the prefix that names the file's owner in the style of Moodle, Gradescope
 * or Canvas; 0 = none. */
static size_t owner_prefix_length(const char *path) {
    const char *moodle = strstr(path, "_assignsubmission_"), *number = strstr(path, "submission_"),
               *end = NULL;
    struct canvas_name lms;
    if (moodle) return (size_t)(moodle - path);
    if (number && (number == path || number[-1] == '/'))
        end = skip_digits(number + strlen("submission_"));
    if (end && *end == '/') return (size_t)(end - path);
    return !strchr(path, '/') && match_parse_canvas_name(path, &lms)
               ? (size_t)(lms.user + lms.nuser - path)
               : 0;
}

/* One student's files may have such names, too. It is a class if every file has an owner, and not
 * all have the same. */
bool match_has_several_students(const struct intake *in) {
    const char *first = in->n ? in->files[0].path : in->nrejections ? in->rejections[0].path : "";
    size_t n = owner_prefix_length(first), other_owners = 0;
    for (unsigned i = 0; i < in->n + in->nrejections && n; i++) {
        const char *path = i < in->n ? in->files[i].path : in->rejections[i - in->n].path;
        size_t owner_length = owner_prefix_length(path);
        if (!owner_length) return false;
        other_owners += owner_length != n || strncmp(path, first, n) != 0;
    }
    return other_owners > 0;
}

/* Removes one suffix of a copy: " (1)", "-1", "_2", " - copy"; returns false if there is none. */
static bool strip_copy_suffix(char *s) {
    static const char *const copy_words[] = {"copy", "kopie", "copie", "copia"};
    size_t n = strlen(s), before = n;
    while (n && s[n - 1] == ' ') n--;
    for (unsigned i = 0; i < sizeof copy_words / sizeof *copy_words; i++) {
        size_t k = strlen(copy_words[i]);
        if (n > k + 1 && !strncmp(s + n - k, copy_words[i], k) && strchr(" -_", s[n - k - 1]))
            n -= k + 1;
    }
    size_t tail = n - (n && s[n - 1] == ')'), number = tail;
    while (number && s[number - 1] >= '0' && s[number - 1] <= '9') number--;
    if (number < tail && number && strchr(tail < n ? "(" : "-_ ", s[number - 1])) n = number - 1;
    while (n && strchr(" -", s[n - 1])) n--;
    s[n] = 0;
    return n < before && n;
}

static bool is_same_name(const char *exercise, const char *name) {
    for (; *exercise && *name; exercise++, name++)
        if (*exercise != *name && !(*exercise == '_' && (*name == '-' || *name == ' ')))
            return false;
    return !*exercise && !*name;
}

static bool normalized_stem(const char *path, char out[MAX_NAME]) {
    const char *base = path_basename(path);
    struct canvas_name lms;
    if (match_parse_canvas_name(base, &lms)) base = lms.file;
    if (!intake_is_source(base) || strlen(base) >= MAX_NAME) return false;
    strcpy(out, base);
    if (text_ends_with_ignore_case(out, ".txt")) out[strlen(out) - 4] = 0;
    out[strlen(out) - 3] = 0;
    for (char *p = out; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    if (text_starts_with(out, "copy of ")) memmove(out, out + 8, strlen(out) - 7);
    return *out;
}

bool match_exercise_name(const struct exercise *ex, const char *path) {
    char name[MAX_NAME];
    if (!normalized_stem(path, name)) return false;
    do
        if (is_same_name(ex->name, name)) return true;
    while (strip_copy_suffix(name));
    return false;
}

/* Returns the exercise of the book that a file is named after, or NULL. */
static const struct exercise *find_book_exercise(const char *path) {
    for (unsigned k = 0; k < book_count(); k++)
        if (match_exercise_name(book_at(k), path)) return book_at(k);
    return NULL;
}

bool match_misnamed_exercise(const char *path) {
    static const char *const extensions[] = {".txt", ".doc", ".docx", ".odt", ".pdf", ""};
    const char *base = path_basename(path), *dot = strrchr(base, '.');
    char name[MAX_NAME + 4];
    bool is_text = false;
    for (unsigned i = 0; i < sizeof extensions / sizeof *extensions; i++)
        is_text |= !strcasecmp(dot ? dot : "", extensions[i]);
    snprintf(name, sizeof name, "%.*s.cu", (int)(dot ? dot - base : MAX_NAME - 1), base);
    return is_text && strlen(base) < MAX_NAME && find_book_exercise(name);
}

/* ---- folders ---- */

static bool has_folder(const char *path, const char *folder) {
    size_t n = strlen(folder);
    for (const char *p = path; p; p = (p = strchr(p, '/')) ? p + 1 : NULL)
        if (!strncmp(p, folder, n) && p[n] == '/') return true;
    return false;
}

/* Returns the rank of a match; the lowest wins. The exercise's own chapter comes first, then a
 * smaller depth; the book's folders "solutions" and "grader" come last. */
static unsigned match_rank(const struct exercise *ex, const char *path) {
    unsigned depth = 0, is_auxiliary = has_folder(path, "solutions") || has_folder(path, "grader");
    for (const char *p = path; *p; p++) depth += *p == '/';
    return is_auxiliary * 10000 + (has_folder(path, ex->chapter) ? 0 : 1000) + depth;
}

static bool has_same_bytes(const struct buf *a, const struct buf *b) {
    return a->size == b->size && !memcmp(buf_str(a), buf_str(b), a->size);
}

/* Returns true if a student handed in file `a` later than file `b`. */
static bool is_newer(const struct intake_file *a, const struct intake_file *b) {
    return a->version.order > b->version.order && a->version.revision > b->version.revision &&
           b->version.order;
}

static void match_exercise(const struct intake *in, const struct exercise *ex,
                           struct exercise_match *out) {
    unsigned best = ~0u;
    *out = (struct exercise_match){.file_index = -1};
    for (unsigned i = 0; i < in->n; i++) {
        const struct intake_file *f = &in->files[i],
                                 *old = out->file_index < 0 ? NULL : &in->files[out->file_index];
        if (!match_exercise_name(ex, f->path)) continue;
        unsigned r = match_rank(ex, f->path);
        bool wins = !old || is_newer(f, old) || (r < best && !is_newer(old, f));
        if (!wins && r == best && !is_newer(old, f) && !has_same_bytes(&f->data, &old->data))
            out->reason = "two different files match this exercise";
        if (wins) best = r, *out = (struct exercise_match){.file_index = (int)i};
    }
    if (out->reason) out->file_index = -1;
}

static void add_other_exercise(struct intake *in, const struct exercise *ex) {
    if (in->other_exercise_count++ < MAX_LISTED_EXERCISES)
        buf_printf(&in->other_exercises, "%s%s", in->other_exercises.size ? ", " : "", ex->name);
}

static const char better_location_reason[] = "another file counts: a later one, or one in a better "
                                             "matching folder";

static void reject_unmatched(struct intake *in, unsigned i, const struct exercise *const *list,
                             const struct exercise_match *matches) {
    bool is_used = false, is_listed = false;
    const char *reason = NULL;
    for (unsigned k = 0; list[k]; k++) {
        is_used |= matches[k].file_index == (int)i;
        if (!match_exercise_name(list[k], in->files[i].path)) continue;
        is_listed = true;
        reason = matches[k].reason ? matches[k].reason : better_location_reason;
    }
    if (is_used) return;
    const struct exercise *other = find_book_exercise(in->files[i].path);
    if (is_listed) intake_reject(in, in->files[i].path, reason != better_location_reason, reason);
    else if (other) add_other_exercise(in, other);
    else intake_reject(in, in->files[i].path, true, "no exercise has this name");
}

void match_files_to_exercises(struct intake *in, const struct exercise *const *list,
                              struct exercise_match *out) {
    for (unsigned k = 0; list[k]; k++) match_exercise(in, list[k], &out[k]);
    /* If there is one exercise and one file, the file may have any name. */
    if (list[0] && !list[1] && in->n == 1 && !in->needs_review && out->file_index < 0 &&
        !find_book_exercise(in->files[0].path))
        out->file_index = 0;
    for (unsigned i = 0; i < in->n; i++) reject_unmatched(in, i, list, out);
}
