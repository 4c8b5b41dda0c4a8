/* plan_names.c — see plan_names.h. One function for each learning management system (LMS). The
 * comment above it shows the names that this LMS gives to submissions. Canvas and Moodle define
 * theirs in ContentZipper and mod_assign\downloader. */
#include "grader/class/plan_names.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/class/match_files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void copy_n(char out[PLAN_NAME_SIZE], const char *s, size_t n) {
    snprintf(out, PLAN_NAME_SIZE, "%.*s", (int)n, s);
}
static void copy_text(char out[PLAN_NAME_SIZE], const char *s) { copy_n(out, s, strlen(s)); }

/* Sets the id to NAME_NUMBER: different people may have the same name. */
static void set_numbered_id(struct plan_name *out, const char *name, const char *number) {
    enum { MAX_PART = PLAN_NAME_SIZE / 2 - 1 };
    snprintf(out->id, sizeof out->id, "%.*s_%.*s", MAX_PART, name, MAX_PART, number);
}

static bool is_digits(const char *s) { return *s && !s[strspn(s, "0123456789")]; }

/* Returns where a file's extension begins, by Canvas's rule: ".cu", and any part before it that
 * begins with a letter, as in ".tar.gz", but not as in "1.5.cu". */
static const char *find_extension(const char *file) {
    const char *dot = strrchr(file, '.'), *end = dot;
    while (dot && dot > file) {
        const char *previous = end;
        while (previous > file && isalnum((unsigned char)previous[-1])) previous--;
        if (previous == file || previous[-1] != '.' || !isalpha((unsigned char)*previous)) break;
        end = dot = previous - 1;
    }
    return dot ? dot : file + strlen(file);
}

/* Canvas appends -N to the name of a file that was uploaded before, as in "transpose-N.cu". Returns
 * N, or 0 for a first upload. */
static unsigned long long reupload_number(const char *file) {
    const char *number = find_extension(file);
    while (number > file && isdigit((unsigned char)number[-1])) number--;
    return number > file && number[-1] == '-' ? strtoull(number, NULL, 10) : 0;
}

/* Canvas: doejane_LATE_USER_UPLOAD_FILE; typed text and links are doejane_USER_text.html and
 * _link.html. For a group's work, the group's name takes the student's place. An anonymous student
 * is anon_x7Kq2. UPLOAD grows with each upload. */
static bool parse_canvas(const struct plan_entry *en, struct plan_name *out) {
    struct canvas_name canvas;
    if (en->kind == PLAN_KIND_FOLDER || !match_parse_canvas_name(en->name, &canvas)) return false;
    copy_n(out->roster_keys[0], canvas.user, (size_t)canvas.nuser);
    copy_n(out->roster_keys[1], canvas.student, (size_t)canvas.nstudent);
    copy_n(out->group, canvas.student, (size_t)canvas.nstudent);
    set_numbered_id(out, out->roster_keys[1], out->roster_keys[0]);
    copy_text(out->file, canvas.file);
    out->is_typed_text = !strcmp(canvas.file, "text.html") || !strcmp(canvas.file, "link.html");
    const char *upload = canvas.user + canvas.nuser + 1;
    if (!out->is_typed_text)
        out->version = (struct plan_version){.order = strtoull(upload, NULL, 10),
                                             .revision = 1 + reupload_number(canvas.file)};
    out->is_id_certain = true;
    return true;
}

/* Moodle: "Jane Doe_123_assignsubmission_file". From 3.1 on it is a folder; before that, and
 * optionally since, it is the start of a file's name ("..._file_FILE"). Up to 4.0 it ends with "_".
 * The grading worksheet calls 123 "Participant 123". Typed text comes from the plugin onlinetext,
 * as HTML: a .cu file of that name is the student's. */
static bool parse_moodle(const struct plan_entry *en, struct plan_name *out) {
    static const char infix[] = "_assignsubmission_";
    const char *at = strstr(en->name, infix);
    if (!at || at == en->name) return false;
    const char *plugin = at + strlen(infix), *rest = strchr(plugin, '_');
    copy_n(out->id, en->name, (size_t)(at - en->name));
    copy_text(out->group, out->id);
    copy_text(out->file, rest ? rest + 1 : "");
    out->is_typed_text = text_starts_with(plugin, "onlinetext") && en->kind != PLAN_KIND_SOURCE;
    const char *number = strrchr(out->id, '_');
    if (number && is_digits(number + 1)) {
        size_t name_bytes = (size_t)(number - out->id);
        copy_text(out->roster_keys[0], number + 1);
        snprintf(out->roster_keys[1], PLAN_NAME_SIZE, "Participant %.200s", number + 1);
        copy_n(out->roster_keys[2], out->id, name_bytes);
        copy_n(out->group, out->id, name_bytes);
    }
    out->is_id_certain = true;
    return true;
}

/* Returns the number at `*at`; moves `*at` to the next digit after it. */
static unsigned long long next_number(const char **at) {
    char *end;
    unsigned long long n = strtoull(*at, &end, 10);
    *at = end + strcspn(end, "0123456789");
    return n;
}

/* Returns true if the text begins as the pattern, in which 'd' stands for a digit. */
static bool starts_with_pattern(const char *text, const char *pattern) {
    for (; *pattern; pattern++, text++)
        if (*pattern == 'd' ? !isdigit((unsigned char)*text) : *text != *pattern) return false;
    return true;
}

/* Copies the endings of `name` that begin after an underscore, the shortest first, and at last the
 * whole name. */
static void copy_name_endings(const char *name, const char *end,
                              char keys[PLAN_MAX_KEYS][PLAN_NAME_SIZE]) {
    const char *from = end;
    for (unsigned i = 0; i < PLAN_MAX_KEYS && from > name; i++) {
        for (from--; from > name && from[-1] != '_';) from--;
        copy_n(keys[i], from, (size_t)(end - from));
    }
}

/* Blackboard: ASSIGNMENT_USERNAME_attempt_2026-10-01-21-59-00_FILE, and for each attempt one .txt
 * file whose name ends after the date. Both the assignment and the username may have underscores,
 * so the username may be any ending of ASSIGNMENT_USERNAME, and the id is not certain. */
static bool parse_blackboard(const struct plan_entry *en, struct plan_name *out) {
    static const char infix[] = "_attempt_", date_pattern[] = "dddd-dd-dd-dd-dd-dd";
    const char *at = strstr(en->name, infix), *date = at ? at + strlen(infix) : NULL;
    if (!at || at == en->name || !starts_with_pattern(date, date_pattern)) return false;
    const char *rest = date + strlen(date_pattern);
    if (*rest == '_' && rest[1]) copy_text(out->file, rest + 1);
    else out->is_typed_text = true;
    for (unsigned i = 0; i < 6; i++)
        out->version.order = out->version.order * 100 + next_number(&date);
    out->version.revision = out->version.order;
    copy_name_endings(en->name, at, out->roster_keys);
    copy_text(out->id, out->roster_keys[0]);
    return true;
}

/* Returns a date such as "Oct 1, 2026 1159 PM" or "1 October, 2026 11:59 PM" as YYYYMMDDhhmm; 0 if
 * it is none. */
static unsigned long long parse_brightspace_date(const char *text) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    unsigned long long numbers[4] = {0}, month = 0; /* day, year, hhmm; or day, year, hh, mm */
    unsigned n = 0;
    for (unsigned i = 0; i < 12 && !month; i++) {
        char name[4] = {months[3 * i], months[3 * i + 1], months[3 * i + 2], 0};
        if (strstr(text, name)) month = i + 1;
    }
    for (const char *at = text + strcspn(text, "0123456789"); *at && n < 4;)
        numbers[n++] = next_number(&at);
    unsigned long long day = numbers[0], year = numbers[1],
                       time = n == 4 ? numbers[2] * 100 + numbers[3] : numbers[2];
    if (strstr(text, "PM") && time < 1200) time += 1200;
    if (strstr(text, "AM") && time >= 1200) time -= 1200;
    return n < 3 || !month ? 0 : ((year * 100 + month) * 100 + day) * 10000 + time;
}

/* Brightspace: a folder "USER-FOLDER - Jane Doe - Oct 1, 2026 1159 PM", or a file with that and
 * " - FILE". USER is the number of the user or the group, FOLDER that of the assignment. */
static bool parse_brightspace(const struct plan_entry *en, struct plan_name *out) {
    static const char separator[] = " - ";
    size_t user_digits = strspn(en->name, "0123456789");
    if (!user_digits || en->name[user_digits] != '-') return false;
    const char *folder = en->name + user_digits + 1;
    size_t folder_digits = strspn(folder, "0123456789");
    if (!folder_digits || !text_starts_with(folder + folder_digits, separator)) return false;
    const char *name = folder + folder_digits + strlen(separator),
               *name_end = strstr(name, separator);
    if (!name_end || name_end == name) return false;
    copy_n(out->roster_keys[0], en->name, user_digits);
    copy_n(out->roster_keys[1], name, (size_t)(name_end - name));
    copy_text(out->group, out->roster_keys[1]);
    set_numbered_id(out, out->roster_keys[1], out->roster_keys[0]);
    char date[PLAN_NAME_SIZE];
    copy_text(date, name_end + strlen(separator));
    char *date_end = strstr(date, separator);
    if (date_end) copy_text(out->file, date_end + strlen(separator)), *date_end = 0;
    out->version.order = out->version.revision = parse_brightspace_date(date);
    out->is_id_certain = true;
    return true;
}

/* Sakai: a folder "Doe, Jane(username)", without a space before the parenthesis. */
static bool parse_sakai(const struct plan_entry *en, struct plan_name *out) {
    const char *open = strrchr(en->name, '('), *comma = strchr(en->name, ',');
    size_t n = strlen(en->name);
    if (en->kind != PLAN_KIND_FOLDER || !open || !comma || comma > open || en->name[n - 1] != ')' ||
        open[-1] == ' ' || open[1] == ')')
        return false;
    copy_n(out->id, open + 1, (size_t)(en->name + n - 1 - (open + 1)));
    copy_n(out->roster_keys[0], en->name, (size_t)(open - en->name));
    out->is_id_certain = true;
    return true;
}

/* GitHub Classroom: a folder hw1-jane in hw1-submissions. */
static bool parse_github(const struct plan_entry *en, struct plan_name *out) {
    static const char suffix[] = "-submissions";
    const char *folder = path_basename(en->dir);
    if (en->kind != PLAN_KIND_FOLDER || !text_ends_with(folder, suffix)) return false;
    size_t prefix_bytes = strlen(folder) - strlen(suffix) + 1; /* with the hyphen */
    if (strncmp(en->name, folder, prefix_bytes) != 0 || !en->name[prefix_bytes]) return false;
    copy_text(out->id, en->name + prefix_bytes);
    out->is_id_certain = true;
    return true;
}

/* The first that matches wins, so formats with a fixed word in the middle come first. */
static const struct {
    enum plan_layout layout;
    bool (*parse)(const struct plan_entry *en, struct plan_name *out);
} parsers[] = {{PLAN_LAYOUT_moodle, parse_moodle}, {PLAN_LAYOUT_blackboard, parse_blackboard},
               {PLAN_LAYOUT_canvas, parse_canvas}, {PLAN_LAYOUT_brightspace, parse_brightspace},
               {PLAN_LAYOUT_sakai, parse_sakai},   {PLAN_LAYOUT_github, parse_github}};

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
    return PLAN_LAYOUT_folders;
}

void plan_strip_extension(const struct plan_entry *en, char out[PLAN_NAME_SIZE]) {
    static const char *const double_suffixes[] = {".cu.txt",  ".tar.gz",  ".tar.bz2", ".tar.xz",
                                                  ".tar.zst", ".tar.lz4", ".tar.lzma"};
    copy_text(out, en->name);
    if (en->kind == PLAN_KIND_FOLDER) return;
    for (unsigned i = 0; i < sizeof double_suffixes / sizeof *double_suffixes; i++)
        if (text_ends_with_ignore_case(out, double_suffixes[i])) {
            out[strlen(out) - strlen(double_suffixes[i])] = 0;
            return;
        }
    char *dot = strrchr(out, '.');
    if (dot && dot > out) *dot = 0;
}
