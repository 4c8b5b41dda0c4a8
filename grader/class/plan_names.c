/* plan_names.c — see plan_names.h. A function for each LMS, whose comment shows the format; for
 * Canvas and Moodle, their sources define it (ContentZipper, mod_assign\downloader). */
#include "grader/class/plan_names.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/class/match_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy(char out[PLAN_NAME_SIZE], const char *s, size_t n) {
    snprintf(out, PLAN_NAME_SIZE, "%.*s", (int)n, s);
}

static bool is_digits(const char *s, size_t n) { return n && strspn(s, "0123456789") >= n; }

/* Returns N of a file's name such as "transpose-N.cu", else 0. */
static unsigned long long copy_number(const char *file) {
    const char *dot = strchr(file, '.'), *at = dot ? dot : file;
    while (at > file && at[-1] >= '0' && at[-1] <= '9') at--;
    return at > file && at[-1] == '-' ? strtoull(at, NULL, 10) : 0;
}

/* Canvas: doejane_LATE_123_456_FILE; typed text and links are doejane_123_text.html and _link.html.
 * The name is the group's if it is a group's work. An anonymous student is anon_x7Kq2. The second
 * number grows with each upload; an upload with the name of an earlier one gets "-1". */
static bool parse_canvas(const struct plan_entry *en, struct plan_name *out) {
    struct lms_name lms;
    if (en->kind == PLAN_FOLDER || !parse_lms_name(en->name, &lms)) return false;
    copy(out->keys[0], lms.user, (size_t)lms.nuser);
    copy(out->keys[1], lms.student, (size_t)lms.nstudent);
    copy(out->group, lms.student, (size_t)lms.nstudent);
    snprintf(out->id, sizeof out->id, "%.120s_%.120s", out->keys[1], out->keys[0]);
    copy(out->file, lms.file, strlen(lms.file));
    out->is_typed_text = !strcmp(lms.file, "text.html") || !strcmp(lms.file, "link.html");
    if (!out->is_typed_text)
        out->version = (struct plan_version){strtoull(lms.user + lms.nuser + 1, NULL, 10),
                                             1 + copy_number(lms.file)};
    return out->is_certain = true;
}

/* Moodle: "Jane Doe_123_assignsubmission_file", since 3.1 a folder, before and optionally the start
 * of a file's name; up to 4.0 with "_" at the end. The grading worksheet calls 123 "Participant
 * 123". */
static bool parse_moodle(const struct plan_entry *en, struct plan_name *out) {
    static const char infix[] = "_assignsubmission_";
    const char *at = strstr(en->name, infix);
    if (!at || at == en->name) return false;
    const char *plugin = at + strlen(infix), *rest = strchr(plugin, '_');
    copy(out->id, en->name, (size_t)(at - en->name));
    copy(out->file, rest ? rest + 1 : "", NAME_MAX);
    out->is_typed_text = text_starts_with(plugin, "onlinetext") && en->kind != PLAN_SOURCE;
    const char *number = strrchr(out->id, '_');
    if (number && is_digits(number + 1, strlen(number + 1))) {
        copy(out->keys[0], number + 1, NAME_MAX);
        snprintf(out->keys[1], PLAN_NAME_SIZE, "Participant %.200s", number + 1);
        copy(out->keys[2], out->id, (size_t)(number - out->id));
    }
    copy(out->group, out->id, number ? (size_t)(number - out->id) : NAME_MAX);
    return out->is_certain = true;
}

/* Reads the number at `*at` and the characters behind it that are not digits. */
static unsigned long long next_number(const char **at) {
    char *end;
    unsigned long long n = strtoull(*at, &end, 10);
    *at = end + strcspn(end, "0123456789");
    return n;
}

/* Blackboard: ASSIGNMENT_USERNAME_attempt_2026-10-01-21-59-00_FILE, and for each attempt a text
 * without "_FILE". Both the assignment and the username may have underscores. */
static bool parse_blackboard(const struct plan_entry *en, struct plan_name *out) {
    static const char infix[] = "_attempt_", date[] = "dddd-dd-dd-dd-dd-dd";
    const char *at = strstr(en->name, infix), *digits = at ? at + strlen(infix) : NULL;
    if (!at || at == en->name) return false;
    for (unsigned i = 0; date[i]; i++)
        if (date[i] == 'd' ? digits[i] < '0' || digits[i] > '9' : digits[i] != date[i])
            return false;
    const char *rest = digits + strlen(date);
    if (*rest == '_' && rest[1]) copy(out->file, rest + 1, NAME_MAX);
    else out->is_typed_text = true;
    for (unsigned i = 0; i < 6; i++)
        out->version.time = out->version.time * (i ? 100 : 1) + next_number(&digits);
    out->version.revision = out->version.time;
    const char *from = at;
    for (unsigned k = 0; k < PLAN_MAX_KEYS && from > en->name; k++) {
        for (from--; from > en->name && from[-1] != '_';) from--;
        copy(out->keys[k], from, (size_t)(at - from));
    }
    copy(out->id, out->keys[0], NAME_MAX);
    return true;
}

/* Returns a date such as "Oct 1, 2026 1159 PM" or "1 October, 2026 11:59 PM" as YYYYMMDDhhmm; 0 if
 * it is none. */
static unsigned long long parse_brightspace_date(const char *text) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    unsigned long long numbers[4] = {0}, month = 0;
    unsigned n = 0;
    for (unsigned i = 0; i < 12 && !month; i++) {
        char name[4] = {months[3 * i], months[3 * i + 1], months[3 * i + 2], 0};
        if (strstr(text, name)) month = i + 1;
    }
    for (const char *at = text + strcspn(text, "0123456789"); *at && n < 4;)
        numbers[n++] = next_number(&at);
    unsigned long long time = n == 4 ? numbers[2] * 100 + numbers[3] : numbers[2];
    if (strstr(text, "PM") && time < 1200) time += 1200;
    if (strstr(text, "AM") && time >= 1200) time -= 1200;
    return n < 3 || !month ? 0 : ((numbers[1] * 100 + month) * 100 + numbers[0]) * 10000 + time;
}

/* Brightspace: "123-456 - Jane Doe - Oct 1, 2026 1159 PM", a folder, or with " - FILE" a file; the
 * first number is the user's or the group's. */
static bool parse_brightspace(const struct plan_entry *en, struct plan_name *out) {
    static const char separator[] = " - ";
    size_t user = strspn(en->name, "0123456789"), folder;
    if (!user || en->name[user] != '-') return false;
    folder = strspn(en->name + user + 1, "0123456789");
    const char *name = en->name + user + 1 + folder, *date, *file;
    if (!folder || !text_starts_with(name, separator)) return false;
    name += strlen(separator), date = strstr(name, separator);
    if (!date || date == name) return false;
    copy(out->keys[0], en->name, user);
    copy(out->keys[1], name, (size_t)(date - name));
    copy(out->group, out->keys[1], NAME_MAX);
    snprintf(out->id, sizeof out->id, "%.120s_%.120s", out->keys[1], out->keys[0]);
    date += strlen(separator), file = strstr(date, separator);
    if (file) copy(out->file, file + strlen(separator), NAME_MAX);
    out->version.time = out->version.revision = parse_brightspace_date(date);
    return out->is_certain = true;
}

/* Sakai: "Doe, Jane(username)", a folder. */
static bool parse_sakai(const struct plan_entry *en, struct plan_name *out) {
    const char *open = strrchr(en->name, '('), *comma = strchr(en->name, ',');
    size_t n = strlen(en->name);
    if (en->kind != PLAN_FOLDER || !open || !comma || comma > open || en->name[n - 1] != ')' ||
        open[-1] == ' ' || open[1] == ')')
        return false;
    copy(out->id, open + 1, (size_t)(en->name + n - 1 - (open + 1)));
    copy(out->keys[0], en->name, (size_t)(open - en->name));
    return out->is_certain = true;
}

/* GitHub Classroom: hw1-jane in hw1-submissions. */
static bool parse_github(const struct plan_entry *en, struct plan_name *out) {
    static const char suffix[] = "-submissions";
    const char *folder = path_basename(en->dir);
    if (en->kind != PLAN_FOLDER || !text_ends_with(folder, suffix)) return false;
    size_t n = strlen(folder) - strlen(suffix) + 1; /* with the hyphen */
    if (strncmp(en->name, folder, n) != 0 || !en->name[n]) return false;
    copy(out->id, en->name + n, NAME_MAX);
    return out->is_certain = true;
}

static const struct {
    enum plan_layout layout;
    bool (*parse)(const struct plan_entry *en, struct plan_name *out);
} parsers[] = {{PLAN_moodle, parse_moodle}, {PLAN_blackboard, parse_blackboard},
               {PLAN_canvas, parse_canvas}, {PLAN_brightspace, parse_brightspace},
               {PLAN_sakai, parse_sakai},   {PLAN_github, parse_github}};

bool plan_parse_name(enum plan_layout layout, const struct plan_entry *en, struct plan_name *out) {
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (parsers[i].layout == layout) return parsers[i].parse(en, out);
    return false;
}

enum plan_layout plan_detect_layout(const struct plan_entry *en) {
    struct plan_name ignored;
    for (unsigned i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (plan_parse_name(parsers[i].layout, en, &ignored)) return parsers[i].layout;
    return PLAN_folders;
}

void plan_strip_extension(const struct plan_entry *en, char out[PLAN_NAME_SIZE]) {
    static const char *const suffixes[] = {".cu.txt", ".cu",      ".tar.gz",  ".tar.bz2",
                                           ".tar.xz", ".tar.zst", ".tar.lz4", ".tar.lzma"};
    copy(out, en->name, NAME_MAX);
    if (en->kind == PLAN_FOLDER) return;
    for (unsigned i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_ends_with_ignore_case(out, suffixes[i])) {
            out[strlen(out) - strlen(suffixes[i])] = 0;
            return;
        }
    char *dot = strrchr(out, '.');
    if (dot && dot > out) *dot = 0;
}
