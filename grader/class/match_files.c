/* match_files.c — see match_files.h. */
#include "grader/class/match_files.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MAX_NAME = 256, MAX_NAMED_EXERCISES = 8 };

/* ---- names ---- */

/* Returns the end of the digits at `s`, or NULL if there are none. */
static const char *digits_end(const char *s) {
    const char *end = s;
    while (*end >= '0' && *end <= '9') end++;
    return end > s ? end : NULL;
}

/* Parses a Canvas name, as "doejane_LATE_123_456_scan.cu": the student's name, "LATE" or nothing,
 * the user's number, the upload's number, the file's name. `at` is the '_' at which the student's
 * name is assumed to end. */
static bool parse_canvas_name_at(const char *name, const char *at, struct canvas_name *out) {
    bool is_late = !strncmp(at, "_LATE_", 6);
    const char *user = at + (is_late ? 6 : 1), *user_end = digits_end(user);
    if (!user_end || *user_end != '_') return false;
    const char *end = digits_end(user_end + 1);
    if (!end || *end != '_' || !end[1]) return false;
    *out = (struct canvas_name){.student = name,
                                .nstudent = (int)(at - name),
                                .user = user,
                                .nuser = (int)(user_end - user),
                                .file = end + 1,
                                .is_late = is_late};
    return true;
}

bool match_parse_canvas_name(const char *name, struct canvas_name *out) {
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_'))
        if (at > name && parse_canvas_name_at(name, at, out)) return true;
    return false;
}

/* Returns the length of the prefix that names the file's owner, 0 = none: the part before
 * "_assignsubmission_" (Moodle), "submission_123" as a folder (Gradescope), or "doejane_123" before
 * "_456_scan.cu" (Canvas). */
static size_t owner_prefix_length(const char *path) {
    const char *moodle = strstr(path, "_assignsubmission_"),
               *gradescope = strstr(path, "submission_"), *end = NULL;
    struct canvas_name lms;
    if (moodle) return (size_t)(moodle - path);
    if (gradescope && (gradescope == path || gradescope[-1] == '/'))
        end = digits_end(gradescope + strlen("submission_"));
    if (end && *end == '/') return (size_t)(end - path);
    return !strchr(path, '/') && match_parse_canvas_name(path, &lms)
               ? (size_t)(lms.user + lms.nuser - path)
               : 0;
}

/* The files are a class's if each has an owner prefix, and there are two owners or more. One
 * student's files may have such prefixes, too, all with the same owner. */
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

/* Returns the length of a name of `n` bytes without a word for copy at its end. */
static size_t length_without_copy_word(const char *s, size_t n) {
    static const char *const copy_words[] = {"copy", "kopie", "copie", "copia"};
    for (unsigned i = 0; i < sizeof copy_words / sizeof *copy_words; i++) {
        size_t k = strlen(copy_words[i]);
        if (n > k + 1 && !strncmp(s + n - k, copy_words[i], k) && strchr(" -_", s[n - k - 1]))
            return n - k - 1;
    }
    return n;
}

/* Returns the length of a name of `n` bytes without a copy's number at its end: "(1)", "-1". */
static size_t length_without_copy_number(const char *s, size_t n) {
    bool has_parenthesis = n && s[n - 1] == ')';
    size_t end = has_parenthesis ? n - 1 : n, begin = end;
    while (begin && s[begin - 1] >= '0' && s[begin - 1] <= '9') begin--;
    bool is_number = begin < end && begin && strchr(has_parenthesis ? "(" : "-_ ", s[begin - 1]);
    return is_number ? begin - 1 : n;
}

/* Removes the last suffix of a copy: " (1)", "-1", "_2", " - copy". It removes no two at once,
 * since what remains may be an exercise's name. Returns false if there is none, or nothing remains.
 */
static bool strip_copy_suffix(char *s) {
    size_t before = strlen(s), n = before;
    while (n && s[n - 1] == ' ') n--;
    size_t without_word = length_without_copy_word(s, n);
    n = without_word < n ? without_word : length_without_copy_number(s, n);
    while (n && strchr(" -", s[n - 1])) n--;
    s[n] = 0;
    return n < before && n;
}

/* A '_' in the exercise's name may be '-' or ' ' in the file's. */
static bool matches_exercise_name(const char *exercise, const char *name) {
    for (; *exercise && *name; exercise++, name++) {
        bool is_separator = *exercise == '_' && (*name == '-' || *name == ' ');
        if (*exercise != *name && !is_separator) return false;
    }
    return !*exercise && !*name;
}

/* Gets the file's name in lower case, without Canvas's prefix, a browser's "copy of " and the
 * extension. Returns false if it is no source. */
static bool get_normalized_stem(const char *path, char out[MAX_NAME]) {
    static const char copy_prefix[] = "copy of ";
    const char *base = path_basename(path);
    struct canvas_name lms;
    if (match_parse_canvas_name(base, &lms)) base = lms.file;
    if (!intake_is_source(base) || strlen(base) >= MAX_NAME) return false;
    strcpy(out, base);
    if (text_ends_with_ignore_case(out, ".txt")) out[strlen(out) - strlen(".txt")] = 0;
    out[strlen(out) - strlen(".cu")] = 0;
    for (char *p = out; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    size_t skipped = text_starts_with(out, copy_prefix) ? strlen(copy_prefix) : 0;
    memmove(out, out + skipped, strlen(out + skipped) + 1);
    return *out;
}

bool match_exercise_name(const struct exercise *ex, const char *path) {
    char name[MAX_NAME];
    if (!get_normalized_stem(path, name)) return false;
    do
        if (matches_exercise_name(ex->name, name)) return true;
    while (strip_copy_suffix(name));
    return false;
}

/* Returns the exercise of the book that a file is named after, or NULL. */
static const struct exercise *find_book_exercise(const char *path) {
    for (unsigned k = 0; k < book_count(); k++)
        if (match_exercise_name(book_at(k), path)) return book_at(k);
    return NULL;
}

bool match_has_wrong_extension(const char *path) {
    static const char *const extensions[] = {".txt", ".doc", ".docx", ".odt", ".pdf", ""};
    const char *base = path_basename(path), *dot = strrchr(base, '.');
    char name[MAX_NAME + 4];
    bool is_document = false;
    for (unsigned i = 0; i < sizeof extensions / sizeof *extensions; i++)
        is_document |= !strcasecmp(dot ? dot : "", extensions[i]);
    /* Would it match if it ended in .cu? */
    snprintf(name, sizeof name, "%.*s.cu", (int)(dot ? dot - base : MAX_NAME - 1), base);
    return is_document && strlen(base) < MAX_NAME && find_book_exercise(name);
}

/* ---- folders ---- */

static bool has_folder(const char *path, const char *folder) {
    size_t n = strlen(folder);
    for (const char *p = path, *slash; (slash = strchr(p, '/')); p = slash + 1)
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

/* Returns true if `a` is certainly a later version of `b`: a later upload (`order`, known for both)
 * and a higher revision. */
static bool is_newer(const struct intake_file *a, const struct intake_file *b) {
    return a->version.order > b->version.order && a->version.revision > b->version.revision &&
           b->version.order;
}

/* Chooses the exercise's file. A newer version wins, else the lower rank. If two files of equal
 * rank differ, none is chosen. */
static void match_exercise(const struct intake *in, const struct exercise *ex,
                           struct exercise_match *out) {
    unsigned best = ~0u;
    *out = (struct exercise_match){.file_index = -1};
    for (unsigned i = 0; i < in->n; i++) {
        const struct intake_file *f = &in->files[i],
                                 *chosen = out->file_index < 0 ? NULL : &in->files[out->file_index];
        if (!match_exercise_name(ex, f->path)) continue;
        unsigned r = match_rank(ex, f->path);
        bool wins = !chosen || is_newer(f, chosen) || (r < best && !is_newer(chosen, f));
        if (!wins && r == best && !is_newer(chosen, f) && !has_same_bytes(&f->data, &chosen->data))
            out->reason = "two different files match one exercise";
        if (wins) best = r, *out = (struct exercise_match){.file_index = (int)i};
    }
    if (out->reason) out->file_index = -1;
}

static void add_other_exercise(struct intake *in, const struct exercise *ex) {
    if (in->other_exercise_count++ < MAX_NAMED_EXERCISES)
        buf_printf(&in->other_exercises, "%s%s", in->other_exercises.size ? ", " : "", ex->name);
}

/* Adds a file that is used for no exercise of the list to the rejections or the other exercises. */
static void account_for_unused_file(struct intake *in, unsigned i,
                                    const struct exercise *const *list,
                                    const struct exercise_match *matches) {
    const char *path = in->files[i].path, *reason = NULL;
    bool is_assigned = false;
    for (unsigned k = 0; list[k]; k++) {
        if (matches[k].file_index == (int)i) return;
        if (!match_exercise_name(list[k], path)) continue;
        is_assigned = true;
        if (matches[k].reason) reason = matches[k].reason;
    }
    const struct exercise *other = find_book_exercise(path);
    if (reason) intake_reject(in, path, true, reason);
    else if (is_assigned)
        intake_reject(in, path, false,
                      "another file is used: a later one, or one whose folder matches better");
    else if (other) add_other_exercise(in, other);
    else intake_reject(in, path, true, "no exercise has this name");
}

void match_files_to_exercises(struct intake *in, const struct exercise *const *list,
                              struct exercise_match *out) {
    for (unsigned k = 0; list[k]; k++) {
        match_exercise(in, list[k], &out[k]);
        in->needs_review |= out[k].reason != NULL;
    }
    /* If there is one exercise and one file, the file may have any name. */
    if (list[0] && !list[1] && in->n == 1 && !in->needs_review && out->file_index < 0 &&
        !find_book_exercise(in->files[0].path))
        out->file_index = 0;
    for (unsigned i = 0; i < in->n; i++) account_for_unused_file(in, i, list, out);
}
