/* pick.c — see pick.h. */
#include "grader/class/pick.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME = 256 };

/* ---- names ---- */

static const char *digits(const char *s) {
    const char *end = s;
    while (*end >= '0' && *end <= '9') end++;
    return end > s ? end : NULL;
}

/* Canvas: letters, "_LATE" perhaps, the user's number, the submission's, the file's own name. */
static bool lms_at(const char *name, const char *at, struct pick_lms *out) {
    bool late = !strncmp(at, "_LATE_", 6);
    const char *user = at + (late ? 6 : 1), *user_end = digits(user);
    if (!user_end || *user_end != '_') return false;
    const char *end = digits(user_end + 1);
    if (!end || *end != '_' || !end[1]) return false;
    *out = (struct pick_lms){name, user, end + 1, (int)(at - name), (int)(user_end - user), late};
    return true;
}

bool pick_lms_name(const char *name, struct pick_lms *out) {
    for (const char *at = strchr(name, '_'); at; at = strchr(at + 1, '_'))
        if (at > name && lms_at(name, at, out)) return true;
    return false;
}

/* How long the beginning of a path is that names its owner as Moodle, Gradescope or Canvas do; 0
 * where none does. */
static size_t owner_in(const char *path) {
    const char *moodle = strstr(path, "_assignsubmission_"), *number = strstr(path, "submission_"),
               *end = NULL;
    struct pick_lms lms;
    if (moodle) return (size_t)(moodle - path);
    if (number && (number == path || number[-1] == '/'))
        end = digits(number + strlen("submission_"));
    if (end && *end == '/') return (size_t)(end - path);
    return !strchr(path, '/') && pick_lms_name(path, &lms) ? (size_t)(lms.user + lms.nuser - path)
                                                           : 0;
}

/* One student's files may have such names, too: a class is where every file has an owner, and not
 * all the same. */
bool pick_is_class(const struct intake *in) {
    const char *first = in->n ? in->files[0].path : in->nleft ? in->left[0].path : "";
    size_t n = owner_in(first), others = 0;
    for (unsigned i = 0; i < in->n + in->nleft && n; i++) {
        const char *path = i < in->n ? in->files[i].path : in->left[i - in->n].path;
        size_t own = owner_in(path);
        if (!own) return false;
        others += own != n || strncmp(path, first, n) != 0;
    }
    return others > 0;
}

/* One ending that copies get: " (1)", "-1", "_2", " - copy", "copy"; false where there is none. */
static bool strip_copy(char *s) {
    static const char *const words[] = {"copy", "kopie", "copie", "copia"};
    size_t n = strlen(s), before = n;
    while (n && s[n - 1] == ' ') n--;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        size_t k = strlen(words[i]);
        if (n > k + 1 && !strncmp(s + n - k, words[i], k) && strchr(" -_", s[n - k - 1]))
            n -= k + 1;
    }
    size_t tail = n - (n && s[n - 1] == ')'), number = tail;
    while (number && s[number - 1] >= '0' && s[number - 1] <= '9') number--;
    if (number < tail && number && strchr(tail < n ? "(" : "-_ ", s[number - 1])) n = number - 1;
    while (n && strchr(" -", s[n - 1])) n--;
    s[n] = 0;
    return n < before && n;
}

static bool same_name(const char *exercise, const char *given) {
    for (; *exercise && *given; exercise++, given++)
        if (*exercise != *given && !(*exercise == '_' && (*given == '-' || *given == ' ')))
            return false;
    return !*exercise && !*given;
}

static bool stem(const char *path, char out[NAME]) {
    const char *base = path_basename(path);
    struct pick_lms lms;
    if (pick_lms_name(base, &lms)) base = lms.file;
    if (!intake_is_source(base) || strlen(base) >= NAME) return false;
    strcpy(out, base);
    if (text_ends_with_ignore_case(out, ".txt")) out[strlen(out) - 4] = 0;
    out[strlen(out) - 3] = 0;
    for (char *p = out; *p; p++)
        if (*p >= 'A' && *p <= 'Z') *p = (char)(*p + 32);
    if (text_starts_with(out, "copy of ")) memmove(out, out + 8, strlen(out) - 7);
    return *out;
}

bool pick_names(const struct exercise *ex, const char *path) {
    char name[NAME];
    if (!stem(path, name)) return false;
    do
        if (same_name(ex->name, name)) return true;
    while (strip_copy(name));
    return false;
}

/* ---- places ---- */

static bool has_folder(const char *path, const char *folder) {
    size_t n = strlen(folder);
    for (const char *p = path; p; p = (p = strchr(p, '/')) ? p + 1 : NULL)
        if (!strncmp(p, folder, n) && p[n] == '/') return true;
    return false;
}

/* The lower the surer: the exercise's own chapter first, then the higher place; what the book ships
 * beside it last. */
static unsigned rank(const struct exercise *ex, const char *path) {
    unsigned depth = 0, aside = has_folder(path, "solutions") || has_folder(path, "grader");
    for (const char *p = path; *p; p++) depth += *p == '/';
    return aside * 10000 + (has_folder(path, ex->chapter) ? 0 : 1000) + depth;
}

static bool same_data(const struct buf *a, const struct buf *b) {
    return a->size == b->size && !memcmp(buf_str(a), buf_str(b), a->size);
}

static void pick_one(const struct intake *in, const struct exercise *ex, struct pick *out) {
    unsigned best = ~0u;
    *out = (struct pick){.file = -1};
    for (unsigned i = 0; i < in->n; i++) {
        if (!pick_names(ex, in->files[i].path)) continue;
        unsigned r = rank(ex, in->files[i].path);
        if (r == best && !same_data(&in->files[i].data, &in->files[out->file].data))
            out->why = "two different files are meant for it";
        if (r < best) best = r, *out = (struct pick){.file = (int)i};
    }
    if (out->why) out->file = -1;
}

static bool of_the_book(const char *path) {
    for (unsigned k = 0; k < book_count(); k++)
        if (pick_names(book_at(k), path)) return true;
    return false;
}

static const char surer[] = "another one lies in a surer place";

static void leave_unused(struct intake *in, unsigned i, const struct exercise *const *list,
                         const struct pick *picks) {
    bool used = false, mine = false;
    const char *why = NULL;
    for (unsigned k = 0; list[k]; k++) {
        used |= picks[k].file == (int)i;
        if (!pick_names(list[k], in->files[i].path)) continue;
        mine = true;
        why = picks[k].why ? picks[k].why : surer;
    }
    if (used) return;
    if (mine) intake_leave(in, in->files[i].path, why != surer, why);
    else if (!of_the_book(in->files[i].path))
        intake_leave(in, in->files[i].path, true, "no exercise has this name");
    else in->others++;
}

void pick_files(struct intake *in, const struct exercise *const *list, struct pick *out) {
    for (unsigned k = 0; list[k]; k++) pick_one(in, list[k], &out[k]);
    /* The only file that was handed in, where only one exercise is asked for, needs no name. */
    if (list[0] && !list[1] && in->n == 1 && !in->doubt && out->file < 0 &&
        !of_the_book(in->files[0].path))
        out->file = 0;
    for (unsigned i = 0; i < in->n; i++) leave_unused(in, i, list, out);
}
