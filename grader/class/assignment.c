/* assignment.c — see assignment.h: the keys of the file, what they may be, and the arithmetic of
 * days. */
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

enum { FILE_BYTES = 1 << 20, DAY = 86400 };

/* ---- keys ---- */

enum shape { TEXT, PATH, NUMBER, WHOLE, TRUTH, TIME, SHOW, EXERCISE };
struct key {
    const char *table, *name;
    enum shape shape;
    size_t at, size;
    double least, most;
};
#define TOP(field) offsetof(struct assignment, field), sizeof(((struct assignment *)0)->field)
#define PART(field) \
    offsetof(struct assignment_part, field), sizeof(((struct assignment_part *)0)->field)
static const struct key keys[] = {
    {"", "name", TEXT, TOP(name), 0, 0},
    {"", "device", TEXT, TOP(device), 0, 0},
    {"", "seed", TEXT, TOP(seed), 0, 0},
    {"", "roster", PATH, TOP(roster), 0, 0},
    {"", "deadline", TIME, TOP(deadline), 0, 0},
    {"", "drop_lowest", WHOLE, TOP(drop), 0, 1000},
    {"", "modelled_speed", TRUTH, TOP(modelled), 0, 0},
    {"late", "free_days", WHOLE, TOP(late.free), 0, 1000},
    {"late", "most_days", WHOLE, TOP(late.most), 0, 1000},
    {"late", "penalty", NUMBER, TOP(late.penalty), 0, 100},
    {"gradescope", "goals", SHOW, TOP(gradescope.goals), 0, 0},
    {"gradescope", "guards", SHOW, TOP(gradescope.guards), 0, 0},
    {"gradescope", "cases", SHOW, TOP(gradescope.cases), 0, 0},
    {"gradescope", "leaderboard", TRUTH, TOP(gradescope.leaderboard), 0, 0},
    {"exercise", "name", EXERCISE, PART(ex), 0, 0},
    {"exercise", "weight", NUMBER, PART(weight), 0, 1e6},
    {"exercise", "credit_for_cases", NUMBER, PART(terms.case_points), 0, 99},
    {"exercise", "hidden", PATH, PART(hidden), 0, 0},
};
enum { KEYS = sizeof keys / sizeof *keys };

struct reading {
    struct assignment *a;
    struct err *e;
    unsigned late_line;
};

static bool wrong(struct reading *r, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(struct reading *r, unsigned line, const char *format, ...) {
    char text[600];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_set(r->e, ERR_INPUT, "%.300s:%u: %s", r->a->path, line, text);
}

static bool put_show(struct reading *r, const struct class_toml_value *v,
                     enum assignment_show *out) {
    static const char *const names[] = {[ASSIGNMENT_visible] = "visible",
                                        [ASSIGNMENT_hidden] = "hidden",
                                        [ASSIGNMENT_after_due_date] = "after_due_date",
                                        [ASSIGNMENT_after_published] = "after_published"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(v->text, names[i])) return *out = (enum assignment_show)i, true;
    return wrong(r, v->line,
                 "%s is visible, hidden, after_due_date or after_published, not '%.40s'", v->key,
                 v->text);
}

static bool put_text(struct reading *r, const struct class_toml_value *v, const struct key *k,
                     char *out) {
    if (!*v->text || strlen(v->text) >= k->size)
        return wrong(r, v->line, "%s takes 1 to %zu characters", v->key, k->size - 1);
    return strcpy(out, v->text), true;
}

/* Paths are beside the file that names them. */
static bool put_path(struct reading *r, const struct class_toml_value *v, const struct key *k,
                     char *out) {
    char path[PATH_MAX];
    int folder = (int)(path_basename(r->a->path) - r->a->path);
    int n =
        snprintf(path, sizeof path, "%.*s%s", *v->text == '/' ? 0 : folder, r->a->path, v->text);
    if (!*v->text || n >= (int)sizeof path) return wrong(r, v->line, "%s takes a path", v->key);
    if (k->size == sizeof(char *)) return free(*(char **)out), *(char **)out = xstrdup(path), true;
    return n < (int)k->size ? strcpy(out, path),
           true             : wrong(r, v->line, "%s: the path is too long", v->key);
}

static bool put_exercise(struct reading *r, const struct class_toml_value *v,
                         const struct exercise **out) {
    struct err e = {0};
    const struct exercise **list = book_find(v->text, &e);
    bool one = list && !list[1];
    if (!list) wrong(r, v->line, "%.400s", e.text);
    else if (!one) wrong(r, v->line, "'%.100s' is a chapter; name one exercise", v->text);
    else if (assignment_part(r->a, list[0]))
        one = wrong(r, v->line, "%s is there twice", book_id(list[0]));
    else *out = list[0];
    free(list);
    return one;
}

static bool put_number(struct reading *r, const struct class_toml_value *v, const struct key *k,
                       void *out) {
    bool whole = k->shape == WHOLE;
    if (!(v->number >= k->least && v->number <= k->most) ||
        (whole && v->number != floor(v->number)))
        return wrong(r, v->line, "%s takes a %snumber from %g to %g", v->key, whole ? "whole " : "",
                     k->least, k->most);
    if (whole) *(unsigned *)out = (unsigned)v->number;
    else *(double *)out = v->number;
    return true;
}

static bool put(struct reading *r, const struct class_toml_value *v, const struct key *k,
                void *out) {
    static const enum class_toml_kind kinds[] = {
        [TEXT] = CLASS_TOML_TEXT,    [PATH] = CLASS_TOML_TEXT,    [NUMBER] = CLASS_TOML_NUMBER,
        [WHOLE] = CLASS_TOML_NUMBER, [TRUTH] = CLASS_TOML_BOOL,   [TIME] = CLASS_TOML_TIME,
        [SHOW] = CLASS_TOML_TEXT,    [EXERCISE] = CLASS_TOML_TEXT};
    static const char *const said[] = {"a text", "a number", "true or false",
                                       "a date with time, such as 2026-10-01T23:59:00+02:00"};
    if (v->kind != kinds[k->shape])
        return wrong(r, v->line, "%s takes %s", v->key, said[kinds[k->shape]]);
    switch (k->shape) {
    case TEXT: return put_text(r, v, k, out);
    case PATH: return put_path(r, v, k, out);
    case SHOW: return put_show(r, v, out);
    case EXERCISE: return put_exercise(r, v, out);
    case TRUTH: return *(bool *)out = v->number != 0, true;
    case TIME:
        *(long long *)out = (long long)v->number, r->a->timed = true;
        return v->offset ||
               wrong(r, v->line, "%s needs its distance from UTC: 2026-10-01T23:59:00+02:00, or Z",
                     v->key);
    default: return put_number(r, v, k, out);
    }
}

/* ---- the file ---- */

static bool known_table(struct reading *r, const struct class_toml_value *v) {
    struct assignment *a = r->a;
    if (!strcmp(v->table, "exercise")) {
        GROW(a->parts, a->n + 1, a->room, 8);
        a->parts[a->n++] = (struct assignment_part){.weight = 1, .line = v->line};
        return true;
    }
    if (!strcmp(v->table, "late")) r->late_line = v->line;
    return !strcmp(v->table, "late") || !strcmp(v->table, "gradescope") ||
           wrong(r, v->line, "[%.60s] is unknown; there are [late], [gradescope] and [[exercise]]",
                 v->table);
}

static bool unknown_key(struct reading *r, const struct class_toml_value *v) {
    struct buf list = {0};
    for (unsigned i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].table, v->table))
            buf_printf(&list, "%s%s", list.size ? ", " : "", keys[i].name);
    wrong(r, v->line, "'%.60s' is no key %s%s; there are: %s", v->key, *v->table ? "of " : "here",
          v->table, buf_str(&list));
    buf_free(&list);
    return false;
}

static bool take(void *user, const struct class_toml_value *v) {
    struct reading *r = user;
    if (v->kind == CLASS_TOML_TABLE) return known_table(r, v);
    for (unsigned i = 0; i < KEYS; i++) {
        const struct key *k = &keys[i];
        if (strcmp(k->table, v->table) || strcmp(k->name, v->key)) continue;
        bool part = !strcmp(v->table, "exercise");
        return put(r, v, k,
                   (char *)(part ? (void *)&r->a->parts[r->a->n - 1] : (void *)r->a) + k->at);
    }
    return unknown_key(r, v);
}

static bool whole(struct reading *r) {
    struct assignment *a = r->a;
    double weight = 0;
    if (!a->n) return wrong(r, 1, "it names no exercise: [[exercise]] with name = \"transpose\"");
    for (unsigned i = 0; i < a->n; i++) {
        if (!a->parts[i].ex) return wrong(r, a->parts[i].line, "this exercise has no name");
        weight += a->parts[i].weight;
    }
    if (!(weight > 0)) return wrong(r, a->parts[0].line, "all weights are 0");
    if (a->drop >= a->n) return wrong(r, 1, "drop_lowest is %u, of %u exercises", a->drop, a->n);
    if (r->late_line && !a->timed) return wrong(r, r->late_line, "[late] needs a deadline");
    if (a->late.most < a->late.free) a->late.most = a->late.free;
    return true;
}

static bool load_hidden(struct reading *r) {
    struct err e = {0};
    for (unsigned i = 0; i < r->a->n; i++) {
        struct assignment_part *p = &r->a->parts[i];
        if (p->hidden && !assignment_hidden_load(p, &e))
            return wrong(r, p->line, "hidden cases of %s: %.480s", p->ex->name, e.text);
    }
    return true;
}

static bool parse(struct reading *r, const struct buf *text) {
    char why[256] = "";
    unsigned line = 0;
    if (class_toml_read(buf_str(text), text->size, take, r, why, &line)) return whole(r);
    return why[0] ? wrong(r, line, "%s", why) : false;
}

bool assignment_read(const char *path, bool hidden, struct assignment *a, struct err *e) {
    *a = (struct assignment){.modelled = true, .device = "sim"};
    struct reading r = {.a = a, .e = e};
    struct buf text = {0};
    char *whole_path = realpath(path, NULL);
    snprintf(a->path, sizeof a->path, "%s", whole_path ? whole_path : path), free(whole_path);
    bool ok =
        file_read(path, FILE_BYTES, &text, e) && parse(&r, &text) && (!hidden || load_hidden(&r));
    if (ok && !a->name[0])
        snprintf(a->name, sizeof a->name, "%.*s", (int)strcspn(path_basename(path), "."),
                 path_basename(path));
    buf_free(&text);
    if (!ok) e->kind = ERR_INPUT, assignment_free(a);
    return ok;
}

void assignment_free(struct assignment *a) {
    for (unsigned i = 0; i < a->n; i++)
        assignment_hidden_free(&a->parts[i]), free(a->parts[i].hidden);
    free(a->parts);
    a->parts = NULL, a->n = a->room = 0;
}

const struct assignment_part *assignment_part(const struct assignment *a,
                                              const struct exercise *ex) {
    for (unsigned i = 0; i < a->n; i++)
        if (a->parts[i].ex == ex) return &a->parts[i];
    return NULL;
}

/* ---- days ---- */

long long assignment_days_late(const struct assignment *a, long long submitted) {
    return !a->timed || submitted <= a->deadline ? 0 : (submitted - a->deadline + DAY - 1) / DAY;
}

double assignment_kept(const struct assignment *a, long long days) {
    if (days > a->late.most) return 0;
    return days <= a->late.free
               ? 1
               : fmax(0, 1 - a->late.penalty / 100 * (double)(days - a->late.free));
}

void assignment_time_text(long long t, char out[32]) {
    time_t seconds = (time_t)t;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* Seconds east of UTC that "Z", "UTC", "+02:00", "+0200" or "+02" say; false for anything else. */
static bool offset(const char *s, long long *out) {
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

bool assignment_time(const char *text, long long *out) {
    struct tm t = {0};
    const char *rest = strptime(text, "%Y-%m-%d", &t);
    long long east;
    if (!rest || (*rest != 'T' && *rest != ' ')) return false;
    rest = strptime(rest + 1, "%H:%M:%S", &t);
    if (!rest) return false;
    if (*rest == '.') rest += 1 + strspn(rest + 1, "0123456789");
    if (!offset(rest, &east)) return false;
    return *out = (long long)timegm(&t) - east, true;
}

/* ---- for the store and its keys ---- */

void assignment_terms_digest(const struct grading_policy *t, char out[HASH_HEX_SIZE]) {
    struct hash h;
    char points[32];
    out[0] = 0;
    if (!t || (!t->nhidden && !(t->case_points > 0))) return;
    hash_init(&h);
    snprintf(points, sizeof points, "%.17g", t->case_points);
    hash_update_string(&h, points);
    for (unsigned i = 0; i < t->nhidden; i++) {
        hash_update(&h, t->hidden_cases[i].dim, sizeof t->hidden_cases[i].dim);
        hash_update(&h, &t->hidden_cases[i].variant, sizeof t->hidden_cases[i].variant),
            hash_update_string(&h, t->hidden_cases[i].label);
    }
    hash_final_hex(&h, out);
}

bool assignment_store(const struct assignment *a, struct store *s, struct err *e) {
    char deadline[32] = "";
    if (a->timed) assignment_time_text(a->deadline, deadline);
    bool ok = store_begin(s, e);
    if (!ok) return false;
    ok = store_do(s, e, "DELETE FROM assigned", "") &&
         store_do(s, e, "DELETE FROM assignment", "") &&
         store_do(s, e,
                  "INSERT INTO assignment (one, name, path, deadline, free_days, most_days, "
                  "penalty, dropped) VALUES "
                  "(1, ?, ?, ?, ?, ?, ?, ?)",
                  "tttllfl", a->name, a->path, deadline, (long long)a->late.free,
                  (long long)a->late.most, a->late.penalty, (long long)a->drop);
    for (unsigned i = 0; ok && i < a->n; i++)
        ok = store_do(
            s, e,
            "INSERT INTO assigned (exercise, weight, case_points, hidden) VALUES (?, ?, ?, ?)",
            "tffl", book_id(a->parts[i].ex), a->parts[i].weight, a->parts[i].terms.case_points,
            (long long)a->parts[i].terms.nhidden);
    return store_commit(s, ok, e);
}
