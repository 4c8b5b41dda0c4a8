/* plan_names.c — see plan_names.h. A function for each LMS. The formats are those that the programs
 * write: Canvas's ContentZipper, Moodle's mod_assign\downloader. */
#include "grader/class/plan_names.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/class/match_files.h"

#include <stdio.h>
#include <string.h>

static void copy(char out[PLAN_NAME_SIZE], const char *s, size_t n) {
    snprintf(out, PLAN_NAME_SIZE, "%.*s", (int)n, s);
}

static bool is_digits(const char *s, size_t n) { return n && strspn(s, "0123456789") >= n; }

/* Canvas: doejane_LATE_123_456_FILE; typed text is doejane_123_text.html. The ids of an anonymous
 * assignment are anon_x7Kq2. */
static bool parse_canvas(const struct plan_entry *en, struct plan_name *out) {
    struct lms_name lms;
    if (en->kind == PLAN_FOLDER || !parse_lms_name(en->name, &lms)) return false;
    copy(out->keys[0], lms.user, (size_t)lms.nuser);
    copy(out->keys[1], lms.student, (size_t)lms.nstudent);
    snprintf(out->id, sizeof out->id, "%.120s_%.120s", out->keys[1], out->keys[0]);
    copy(out->file, lms.file, strlen(lms.file));
    return true;
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
    return true;
}

/* GitHub Classroom: hw1-jane in hw1-submissions. */
static bool parse_github(const struct plan_entry *en, struct plan_name *out) {
    static const char suffix[] = "-submissions";
    const char *folder = path_basename(en->dir);
    if (!text_ends_with(folder, suffix)) return false;
    size_t n = strlen(folder) - strlen(suffix) + 1; /* with the hyphen */
    if (strncmp(en->name, folder, n) != 0 || !en->name[n]) return false;
    copy(out->id, en->name + n, NAME_MAX);
    return true;
}

bool plan_parse_name(enum plan_layout layout, const struct plan_entry *en, struct plan_name *out) {
    memset(out, 0, sizeof *out);
    return layout == PLAN_canvas   ? parse_canvas(en, out)
           : layout == PLAN_moodle ? parse_moodle(en, out)
           : layout == PLAN_github ? parse_github(en, out)
                                   : false;
}

enum plan_layout plan_detect_layout(const struct plan_entry *en) {
    static const enum plan_layout candidates[] = {PLAN_moodle, PLAN_canvas};
    struct plan_name ignored;
    for (unsigned i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (plan_parse_name(candidates[i], en, &ignored)) return candidates[i];
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
