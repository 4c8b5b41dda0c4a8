/* workbench_similar.c — passages that submissions share, for the class page; see workbench_class.h.
 * Each request compares an exercise's submissions anew: it takes less than a second for a class. */
#include "grader/book/book.h"
#include "grader/class/similarity.h"
#include "grader/cli/workbench_class.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct exercise *exercise_of(const char *id) {
    for (unsigned i = 0; id && i < book_count(); i++)
        if (!strcmp(book_id(book_at(i)), id)) return book_at(i);
    return NULL;
}

bool workbench_open_against(struct workbench_class *c, struct err *e) {
    unsigned left_out = 0;
    c->against = xcalloc(c->o->nagainst + 1, sizeof *c->against);
    for (bool ok = true; ok && c->nagainst < c->o->nagainst; c->nagainst++) {
        const char *path = c->o->against[c->nagainst];
        ok = similarity_open_against(&c->against[c->nagainst], path, &left_out, e);
        if (ok && left_out)
            fprintf(stderr, "grader: warning: %s: %u files or folders could not be read\n", path,
                    left_out);
    }
    return !e->text[0];
}

void workbench_close_against(struct workbench_class *c) {
    while (c->nagainst > 0) similarity_close_against(&c->against[--c->nagainst]);
    free(c->against);
}

/* Returns the ids of the exercises of which the store has sources. */
static json_t *exercises_json(struct workbench_class *c, struct err *e) {
    json_t *list = json_array();
    struct store_rows *q = store_query(
        &c->s, e,
        "SELECT DISTINCT exercise FROM submission WHERE state = 'taken' ORDER BY exercise", "");
    while (store_step(&c->s, &q, e))
        json_array_append_new(list, json_string(store_column_text(q, 0)));
    return list;
}

/* Loads and compares the submissions. Free `out` with similarity_free in any case. */
static bool compare(struct workbench_class *c, const char *exercise, struct similarity_class *out,
                    struct err *e) {
    *out = (struct similarity_class){.ex = exercise_of(exercise)};
    if (!out->ex) return err_set(e, ERR_INPUT, "there is no such exercise");
    if (!similarity_load(out, &c->s, c->against, c->nagainst, e)) return false;
    similarity_find_pairs(out, &similarity_defaults);
    return true;
}

static json_t *name_of(const struct workbench_class *c, const struct similarity_text *t) {
    char name[WORKBENCH_SHOWN_SIZE];
    workbench_class_shown_name(c, t->student, name);
    return json_string(name);
}

/* ---- the list ---- */

static json_t *pairs_json(const struct workbench_class *c, const struct similarity_class *class) {
    json_t *list = json_array();
    for (unsigned i = 0; i < class->npairs; i++) {
        const struct similarity_pair *p = &class->pairs[i];
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:b, s:f, s:i}", "a", name_of(c, &class->texts[p->a]), "b",
                            name_of(c, &class->texts[p->b]), "has_other",
                            class->texts[p->a].origin || class->texts[p->b].origin, "share",
                            p->share, "common", (int)p->common));
    }
    return list;
}

static json_t *book_copies_json(const struct workbench_class *c,
                                const struct similarity_class *class) {
    json_t *list = json_array();
    for (unsigned i = 0; i < class->ntexts; i++) {
        const struct similarity_text *t = &class->texts[i];
        if (!t->origin && t->book_share >= similarity_defaults.min_book_share)
            json_array_append_new(list, json_pack("{s:o, s:s, s:f}", "student", name_of(c, t),
                                                  "version", class->versions[t->book_version].name,
                                                  "share", t->book_share));
    }
    return list;
}

json_t *workbench_similar_json(struct workbench_class *c, const char *exercise, struct err *e) {
    struct similarity_class class = {0};
    json_t *exercises = exercises_json(c, e), *o = NULL;
    if (!exercise && json_array_size(exercises))
        exercise = json_string_value(json_array_get(exercises, 0));
    if (!exercise && !e->text[0])
        o = json_pack("{s:O, s:n, s:[], s:[]}", "exercises", exercises, "exercise", "pairs",
                      "copies");
    else if (compare(c, exercise, &class, e))
        o = json_pack("{s:O, s:s, s:o, s:o}", "exercises", exercises, "exercise", exercise, "pairs",
                      pairs_json(c, &class), "copies", book_copies_json(c, &class));
    similarity_free(&class);
    json_decref(exercises);
    return o;
}

/* ---- a pair ---- */

static int find_text(const struct workbench_class *c, const struct similarity_class *class,
                     const char *shown) {
    char name[WORKBENCH_SHOWN_SIZE];
    for (unsigned i = 0; shown && i < class->ntexts; i++) {
        workbench_class_shown_name(c, class->texts[i].student, name);
        if (!strcmp(name, shown)) return (int)i;
    }
    return -1;
}

/* Returns the first and the last line of a passage. */
static json_t *lines_json(const struct similarity_text *t, uint32_t first_token, uint32_t n) {
    return json_pack("[i, i]", (int)t->tokens[first_token].line,
                     (int)t->tokens[first_token + n - 1].line);
}

static json_t *passages_json(const struct similarity_class *class,
                             const struct similarity_pair *p) {
    struct similarity_passage *list = xcalloc(SIMILARITY_MAX_PASSAGES, sizeof *list);
    unsigned n = similarity_find_passages(class, p, list);
    json_t *passages = json_array();
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(passages,
                              json_pack("{s:o, s:o, s:i}", "a",
                                        lines_json(&class->texts[p->a], list[i].a, list[i].n), "b",
                                        lines_json(&class->texts[p->b], list[i].b, list[i].n),
                                        "tokens", (int)list[i].n));
    free(list);
    return passages;
}

static json_t *text_json(const struct workbench_class *c, const struct similarity_text *t) {
    json_t *source = json_stringn(buf_str(&t->source), t->source.size);
    json_t *file = json_string(c->o->anonymous ? "" : t->file);
    return json_pack("{s:o, s:b, s:o, s:o}", "student", name_of(c, t), "is_other", t->origin != 0,
                     "file", file ? file : json_string(""), "source",
                     source ? source : json_string("(not valid UTF-8)"));
}

/* Two texts that are not listed as a pair may be compared, too: `share` is then 0. */
static struct similarity_pair find_pair(const struct similarity_class *class, unsigned a,
                                        unsigned b) {
    for (unsigned i = 0; i < class->npairs; i++) {
        const struct similarity_pair *p = &class->pairs[i];
        if ((p->a == a && p->b == b) || (p->a == b && p->b == a))
            return (struct similarity_pair){a, b, p->common, p->share};
    }
    return (struct similarity_pair){a, b, 0, 0};
}

json_t *workbench_pair_json(struct workbench_class *c, const char *exercise, const char *a,
                            const char *b, struct err *e) {
    struct similarity_class class = {0};
    json_t *o = NULL;
    if (compare(c, exercise, &class, e)) {
        int first = find_text(c, &class, a), second = find_text(c, &class, b);
        struct similarity_pair p = {0};
        if (first < 0 || second < 0)
            err_set(e, ERR_INPUT, "one of these students has no source of that exercise");
        else
            p = find_pair(&class, (unsigned)first, (unsigned)second),
            o = json_pack("{s:s, s:f, s:i, s:o, s:o, s:o}", "exercise", exercise, "share", p.share,
                          "common", (int)p.common, "a", text_json(c, &class.texts[p.a]), "b",
                          text_json(c, &class.texts[p.b]), "passages", passages_json(&class, &p));
    }
    similarity_free(&class);
    return o;
}
