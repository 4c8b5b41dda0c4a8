/* assignment.c — see assignment.h: the file's keys with their types and ranges, and days late. */
#include "grader/class/assignment.h"
#include "common/file.h"
#include "common/grow.h"
#include "grader/book/book.h"
#include "grader/class/assignment_hidden.h"
#include "grader/class/toml_file.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FILE_BYTES = 1 << 20, SECONDS_PER_DAY = 86400 };

/* ---- keys ---- */

enum key_type { TEXT, PATH, NUMBER, INTEGER, BOOLEAN, TIME, VISIBILITY, EXERCISE };
struct key {
    const char *table, *name;
    enum key_type type;
    size_t offset, size;
    double min, max;
};
#define ASSIGNMENT_FIELD(field) \
    offsetof(struct assignment, field), sizeof(((struct assignment *)0)->field)
#define EXERCISE_FIELD(field) \
    offsetof(struct assignment_part, field), sizeof(((struct assignment_part *)0)->field)
static const struct key keys[] = {
    {"", "name", TEXT, ASSIGNMENT_FIELD(name), 0, 0},
    {"", "device", TEXT, ASSIGNMENT_FIELD(device), 0, 0},
    {"", "seed", TEXT, ASSIGNMENT_FIELD(seed), 0, 0},
    {"", "release", TEXT, ASSIGNMENT_FIELD(release), 0, 0},
    {"", "roster", PATH, ASSIGNMENT_FIELD(roster), 0, 0},
    {"", "deadline", TIME, ASSIGNMENT_FIELD(deadline), 0, 0},
    {"", "utc_offset", TEXT, ASSIGNMENT_FIELD(utc_offset), 0, 0},
    {"", "drop_lowest", INTEGER, ASSIGNMENT_FIELD(drop_lowest), 0, 1000},
    {"", "modelled_speed", BOOLEAN, ASSIGNMENT_FIELD(count_modelled), 0, 0},
    {"late", "free_days", INTEGER, ASSIGNMENT_FIELD(late.free_days), 0, 1000},
    {"late", "most_days", INTEGER, ASSIGNMENT_FIELD(late.max_days), 0, 1000},
    {"late", "penalty", NUMBER, ASSIGNMENT_FIELD(late.penalty), 0, 100},
    {"moderation", "tolerance", NUMBER, ASSIGNMENT_FIELD(moderation_tolerance), 0, 100},
    {"variants", "count", INTEGER, ASSIGNMENT_FIELD(variants.count), 1, 64},
    {"variants", "seed", TEXT, ASSIGNMENT_FIELD(variants.seed), 0, 0},
    {"variants", "folder", PATH, ASSIGNMENT_FIELD(variants.folder), 0, 0},
    {"gradescope", "goals", VISIBILITY, ASSIGNMENT_FIELD(gradescope.goals), 0, 0},
    {"gradescope", "guards", VISIBILITY, ASSIGNMENT_FIELD(gradescope.guards), 0, 0},
    {"gradescope", "cases", VISIBILITY, ASSIGNMENT_FIELD(gradescope.cases), 0, 0},
    {"gradescope", "leaderboard", BOOLEAN, ASSIGNMENT_FIELD(gradescope.leaderboard), 0, 0},
    {"exercise", "name", EXERCISE, EXERCISE_FIELD(ex), 0, 0},
    {"exercise", "weight", NUMBER, EXERCISE_FIELD(weight), 0, 1e6},
    {"exercise", "credit_for_cases", NUMBER, EXERCISE_FIELD(policy.case_points), 0, 99},
    {"exercise", "variant", TEXT, EXERCISE_FIELD(variant), 0, 0},
    {"exercise", "varied", BOOLEAN, EXERCISE_FIELD(is_varied), 0, 0},
    {"exercise", "hidden", PATH, EXERCISE_FIELD(hidden_path), 0, 0},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

struct assignment_parser {
    struct assignment *a;
    struct err *e;
    unsigned late_line, variants_line;
};

/* Parses "Z", "UTC", "+02:00", "+0200" or "+02" as seconds east of UTC. */
static bool parse_utc_offset(const char *s, long long *out) {
    unsigned hours, minutes = 0;
    int used = 0;
    s += strspn(s, " ");
    *out = 0;
    if (!strcmp(s, "Z") || !strcmp(s, "UTC")) return true;
    if (*s != '+' && *s != '-') return false;
    bool ok = (sscanf(s + 1, "%2u:%2u%n", &hours, &minutes, &used) == 2 && !s[1 + used]) ||
              (used = 0, sscanf(s + 1, "%2u%2u%n", &hours, &minutes, &used) == 2 && !s[1 + used]) ||
              (used = 0, minutes = 0, sscanf(s + 1, "%2u%n", &hours, &used) == 1 && !s[1 + used]);
    *out = (*s == '-' ? -1 : 1) * (long long)(hours * 3600 + minutes * 60);
    return ok && hours < 24 && minutes < 60;
}

static bool parse_error(struct assignment_parser *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool parse_error(struct assignment_parser *r, unsigned line, const char *format, ...) {
    char text[600];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_set(r->e, ERR_INPUT, "%.300s:%u: %s", r->a->path, line, text);
}

static bool set_visibility(struct assignment_parser *r, const struct class_toml_value *v,
                           enum assignment_visibility *out) {
    static const char *const names[] = {[ASSIGNMENT_visible] = "visible",
                                        [ASSIGNMENT_hidden] = "hidden",
                                        [ASSIGNMENT_after_due_date] = "after_due_date",
                                        [ASSIGNMENT_after_published] = "after_published"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(v->text, names[i])) return *out = (enum assignment_visibility)i, true;
    return parse_error(r, v->line,
                       "%s must be visible, hidden, after_due_date or after_published, not '%.40s'",
                       v->key, v->text);
}

static bool set_text(struct assignment_parser *r, const struct class_toml_value *v,
                     const struct key *k, char *out) {
    if (!*v->text || strlen(v->text) >= k->size)
        return parse_error(r, v->line, "%s takes 1 to %zu characters", v->key, k->size - 1);
    return strcpy(out, v->text), true;
}

/* Sets a path; it is relative to the folder of the assignment's file. */
static bool set_path(struct assignment_parser *r, const struct class_toml_value *v,
                     const struct key *k, char *out) {
    char path[PATH_MAX];
    int dir_len = (int)(path_basename(r->a->path) - r->a->path);
    int n =
        snprintf(path, sizeof path, "%.*s%s", *v->text == '/' ? 0 : dir_len, r->a->path, v->text);
    if (!*v->text || n >= (int)sizeof path)
        return parse_error(r, v->line, "%s takes a path", v->key);
    if (k->size == sizeof(char *)) return free(*(char **)out), *(char **)out = xstrdup(path), true;
    return n < (int)k->size ? strcpy(out, path),
           true             : parse_error(r, v->line, "%s: the path is too long", v->key);
}

static bool set_exercise(struct assignment_parser *r, const struct class_toml_value *v,
                         const struct exercise **out) {
    struct err e = {0};
    const struct exercise **list = book_find(v->text, &e);
    bool is_single = list && !list[1];
    if (!list) parse_error(r, v->line, "%.400s", e.text);
    else if (!is_single)
        parse_error(r, v->line, "'%.100s' is a chapter; name one exercise", v->text);
    else if (assignment_find_part(r->a, list[0]))
        is_single = parse_error(r, v->line, "%s is listed twice", book_id(list[0]));
    else *out = list[0];
    free(list);
    return is_single;
}

static bool set_number(struct assignment_parser *r, const struct class_toml_value *v,
                       const struct key *k, void *out) {
    bool is_integer = k->type == INTEGER;
    if (!(v->number >= k->min && v->number <= k->max) ||
        (is_integer && v->number != floor(v->number)))
        return parse_error(r, v->line, "%s takes a %snumber from %g to %g", v->key,
                           is_integer ? "whole " : "", k->min, k->max);
    if (is_integer) *(unsigned *)out = (unsigned)v->number;
    else *(double *)out = v->number;
    return true;
}

static bool set_value(struct assignment_parser *r, const struct class_toml_value *v,
                      const struct key *k, void *out) {
    static const enum class_toml_kind kinds[] = {
        [TEXT] = CLASS_TOML_STRING,       [PATH] = CLASS_TOML_STRING,
        [NUMBER] = CLASS_TOML_NUMBER,     [INTEGER] = CLASS_TOML_NUMBER,
        [BOOLEAN] = CLASS_TOML_BOOLEAN,   [TIME] = CLASS_TOML_DATETIME,
        [VISIBILITY] = CLASS_TOML_STRING, [EXERCISE] = CLASS_TOML_STRING};
    static const char *const type_names[] = {"a text", "a number", "true or false",
                                             "a date with time, such as 2026-10-01T23:59:00+02:00"};
    if (v->kind != kinds[k->type])
        return parse_error(r, v->line, "%s takes %s", v->key, type_names[kinds[k->type]]);
    switch (k->type) {
    case TEXT: return set_text(r, v, k, out);
    case PATH: return set_path(r, v, k, out);
    case VISIBILITY: return set_visibility(r, v, out);
    case EXERCISE: return set_exercise(r, v, out);
    case BOOLEAN: return *(bool *)out = v->number != 0, true;
    case TIME:
        *(long long *)out = (long long)v->number, r->a->has_deadline = true;
        return v->has_offset ||
               parse_error(r, v->line,
                           "%s needs an offset from UTC: 2026-10-01T23:59:00+02:00, or Z", v->key);
    default: return set_number(r, v, k, out);
    }
}

/* ---- the file ---- */

static bool enter_table(struct assignment_parser *r, const struct class_toml_value *v) {
    struct assignment *a = r->a;
    if (!strcmp(v->table, "exercise")) {
        GROW(a->parts, a->n + 1, a->capacity, 8);
        a->parts[a->n++] = (struct assignment_part){.weight = 1, .line = v->line};
        return true;
    }
    if (!strcmp(v->table, "late")) r->late_line = v->line;
    if (!strcmp(v->table, "variants")) r->variants_line = v->line;
    for (unsigned i = 0; i < KEY_COUNT; i++)
        if (*keys[i].table && !strcmp(v->table, keys[i].table)) return true;
    return parse_error(r, v->line,
                       "unknown table [%.60s]; use [late], [moderation], [variants], [gradescope] "
                       "or [[exercise]]",
                       v->table);
}

static bool report_unknown_key(struct assignment_parser *r, const struct class_toml_value *v) {
    struct buf list = {0};
    for (unsigned i = 0; i < KEY_COUNT; i++)
        if (!strcmp(keys[i].table, v->table))
            buf_printf(&list, "%s%s", list.size ? ", " : "", keys[i].name);
    parse_error(r, v->line, "'%.60s' is not a key %s%s; the keys are: %s", v->key,
                *v->table ? "of " : "here", v->table, buf_str(&list));
    buf_free(&list);
    return false;
}

static bool on_toml_value(void *user, const struct class_toml_value *v) {
    struct assignment_parser *r = user;
    if (v->kind == CLASS_TOML_TABLE) return enter_table(r, v);
    for (unsigned i = 0; i < KEY_COUNT; i++) {
        const struct key *k = &keys[i];
        if (strcmp(k->table, v->table) || strcmp(k->name, v->key)) continue;
        bool is_exercise_key = !strcmp(v->table, "exercise");
        return set_value(
            r, v, k,
            (char *)(is_exercise_key ? (void *)&r->a->parts[r->a->n - 1] : (void *)r->a) +
                k->offset);
    }
    return report_unknown_key(r, v);
}

/* A draw needs all its keys, at least one exercise, and no variant that all students have. */
static bool validate_variants(struct assignment_parser *r) {
    const struct assignment *a = r->a;
    bool has_draw = a->variants.count && a->variants.seed[0] && a->variants.folder[0],
         is_used = false;
    if (r->variants_line && !has_draw)
        return parse_error(r, r->variants_line, "[variants] needs count, seed and folder");
    for (unsigned i = 0; i < a->n; i++) {
        if (a->parts[i].is_varied && !has_draw)
            return parse_error(r, a->parts[i].line, "varied needs a table [variants]");
        if (a->parts[i].variant[0] && has_draw)
            return parse_error(r, a->parts[i].line,
                               "variant and [variants] exclude each other: use varied = true, and "
                               "count = 1 if all students get the same");
        is_used |= a->parts[i].is_varied;
    }
    return !has_draw || is_used ||
           parse_error(r, r->variants_line, "no [[exercise]] has a line varied = true");
}

static bool validate_assignment(struct assignment_parser *r) {
    long long ignored;
    struct assignment *a = r->a;
    double weight = 0;
    if (!a->n) return parse_error(r, 1, "no exercise: add [[exercise]] with name = \"transpose\"");
    for (unsigned i = 0; i < a->n; i++) {
        if (!a->parts[i].ex) return parse_error(r, a->parts[i].line, "this exercise has no name");
        weight += a->parts[i].weight;
    }
    if (!(weight > 0)) return parse_error(r, a->parts[0].line, "all weights are 0");
    if (a->drop_lowest >= a->n)
        return parse_error(r, 1,
                           "drop_lowest is %u; it must be less than the number of exercises, %u",
                           a->drop_lowest, a->n);
    if (r->late_line && !a->has_deadline)
        return parse_error(r, r->late_line, "[late] needs a deadline");
    if (a->utc_offset[0] && !parse_utc_offset(a->utc_offset, &ignored))
        return parse_error(r, 1, "utc_offset is '%s'; write it like +02:00", a->utc_offset);
    if (a->late.max_days < a->late.free_days) a->late.max_days = a->late.free_days;
    return validate_variants(r);
}

static bool load_hidden_cases(struct assignment_parser *r) {
    struct err e = {0};
    for (unsigned i = 0; i < r->a->n; i++) {
        struct assignment_part *p = &r->a->parts[i];
        if (p->hidden_path && !assignment_hidden_load(p, &e))
            return parse_error(r, p->line, "hidden cases of %s: %.480s", p->ex->name, e.text);
    }
    return true;
}

static bool parse(struct assignment_parser *r, const struct buf *text) {
    char error_text[256] = "";
    unsigned line = 0;
    if (class_toml_read(buf_str(text), text->size, on_toml_value, r, error_text, &line))
        return validate_assignment(r);
    return error_text[0] ? parse_error(r, line, "%s", error_text) : false;
}

bool assignment_read(const char *path, bool with_hidden, struct assignment *a, struct err *e) {
    *a = (struct assignment){.count_modelled = true, .device = "sim"};
    struct assignment_parser r = {.a = a, .e = e};
    struct buf text = {0};
    char *absolute_path = realpath(path, NULL);
    snprintf(a->path, sizeof a->path, "%s", absolute_path ? absolute_path : path),
        free(absolute_path);
    bool ok = file_read(path, MAX_FILE_BYTES, &text, e) && parse(&r, &text) &&
              (!with_hidden || load_hidden_cases(&r));
    if (ok && !a->name[0])
        snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(path_basename(path), "."),
                 path_basename(path));
    buf_free(&text);
    if (!ok) e->kind = ERR_INPUT, assignment_free(a);
    return ok;
}

void assignment_free(struct assignment *a) {
    for (unsigned i = 0; i < a->n; i++)
        assignment_hidden_free(&a->parts[i]), free(a->parts[i].hidden_path);
    free(a->parts);
    a->parts = NULL, a->n = a->capacity = 0;
}

const struct assignment_part *assignment_find_part(const struct assignment *a,
                                                   const struct exercise *ex) {
    for (unsigned i = 0; i < a->n; i++)
        if (a->parts[i].ex == ex) return &a->parts[i];
    return NULL;
}

/* ---- days ---- */

long long assignment_days_late(const struct assignment *a, long long submitted) {
    return !a->has_deadline || submitted <= a->deadline
               ? 0
               : (submitted - a->deadline + SECONDS_PER_DAY - 1) / SECONDS_PER_DAY;
}

double assignment_late_factor(const struct assignment *a, long long days) {
    if (days > a->late.max_days) return 0;
    return days <= a->late.free_days
               ? 1
               : fmax(0, 1 - a->late.penalty / 100 * (double)(days - a->late.free_days));
}

void assignment_format_time(long long t, char out[32]) {
    time_t seconds = (time_t)t;
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

bool assignment_parse_time(const char *text, long long *out) {
    struct tm t = {0};
    const char *rest = strptime(text, "%Y-%m-%d", &t);
    long long utc_offset;
    if (!rest || (*rest != 'T' && *rest != ' ')) return false;
    rest = strptime(rest + 1, "%H:%M:%S", &t);
    if (!rest) return false;
    if (*rest == '.') rest += 1 + strspn(rest + 1, "0123456789");
    if (!parse_utc_offset(rest, &utc_offset)) return false;
    return *out = (long long)timegm(&t) - utc_offset, true;
}

/* ---- the store ---- */

bool assignment_save(const struct assignment *a, struct store *s, struct err *e) {
    char deadline[32] = "";
    if (a->has_deadline) assignment_format_time(a->deadline, deadline);
    bool ok = store_begin(s, e);
    if (!ok) return false;
    ok = store_exec(s, e, "DELETE FROM assigned", "") &&
         store_exec(s, e, "DELETE FROM assignment", "") &&
         store_exec(s, e,
                    "INSERT INTO assignment (one, name, path, deadline, free_days, most_days, "
                    "penalty, dropped, tolerance) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
                    "tttllflf", a->name, a->path, deadline, (long long)a->late.free_days,
                    (long long)a->late.max_days, a->late.penalty, (long long)a->drop_lowest,
                    a->moderation_tolerance);
    for (unsigned i = 0; ok && i < a->n; i++)
        ok = store_exec(
            s, e,
            "INSERT INTO assigned (exercise, weight, case_points, hidden, varied) VALUES (?, ?, ?, "
            "?, ?)",
            "tffll", book_id(a->parts[i].ex), a->parts[i].weight, a->parts[i].policy.case_points,
            (long long)a->parts[i].policy.nhidden, (long long)a->parts[i].is_varied);
    return store_commit(s, ok, e);
}
