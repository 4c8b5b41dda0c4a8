/* vary.c — parses, selects and applies variants (vary.h). */
#include "grader/cli/vary.h"
#include "common/grow.h"
#include "common/hash.h"
#include "common/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *from, size_t n) {
    char *s = xmalloc(n + 1);
    memcpy(s, from, n), s[n] = 0;
    return s;
}

static bool parse_choice(struct vary_list *list, const char *line, size_t n, unsigned number,
                         struct err *e) {
    bool is_size = text_starts_with(line, "size ");
    const char *name = strchr(line, ' ') + 1, *colon = memchr(line, ':', n);
    struct vary_choice c = {.is_size = is_size};
    if (!colon || colon - name < 1 || (size_t)(colon - name) >= sizeof c.name)
        return err_set(e, ERR_INPUT, "line %u: expected `%s NAME: DESCRIPTION`", number,
                       is_size ? "size" : "operation");
    memcpy(c.name, name, (size_t)(colon - name));
    const char *text = colon + 1 + strspn(colon + 1, " ");
    c.description = copy_text(text, (size_t)(line + n - text));
    GROW(list->choices, list->n + 1, list->capacity, 8);
    list->choices[list->n++] = c;
    return true;
}

/* Parses "`text` ==> `other text`". The texts may contain backticks. */
static bool parse_rule(struct vary_list *list, const char *line, size_t n, unsigned number,
                       struct err *e) {
    static const char middle[] = "` ==> `";
    const char *arrow = memmem(line, n, middle, sizeof middle - 1),
               *to = arrow ? arrow + sizeof middle - 1 : NULL;
    if (!list->n || *line != '`' || !arrow || arrow == line + 1 || line[n - 1] != '`' ||
        line + n - 1 < to)
        return err_set(e, ERR_INPUT,
                       "line %u: expected an operation, a size, or a rule `text` ==> `other text`",
                       number);
    struct vary_choice *c = &list->choices[list->n - 1];
    struct buf text = {0};
    buf_add(&text, to, (size_t)(line + n - 1 - to));
    text_replace(&text, "\\n", "\n");
    GROW(c->rules, c->n + 1, c->capacity, 8);
    c->rules[c->n++] = (struct vary_rule){copy_text(line + 1, (size_t)(arrow - line - 1)),
                                          xstrdup(buf_str(&text)), false};
    buf_free(&text);
    return true;
}

bool vary_parse(const char *text, struct vary_list *list, struct err *e) {
    unsigned number = 0, operations = 0;
    *list = (struct vary_list){0};
    for (const char *line = text; *line; number++) {
        size_t n = strcspn(line, "\n");
        bool is_choice = text_starts_with(line, "size ") || text_starts_with(line, "operation ");
        if (n && *line != '#' &&
            !(is_choice ? parse_choice : parse_rule)(list, line, n, number + 1, e))
            return false;
        line += n + (line[n] == '\n');
    }
    for (unsigned i = 0; i < list->n; i++) operations += !list->choices[i].is_size;
    return operations || err_set(e, ERR_INPUT, "the file has no operation");
}

void vary_free(struct vary_list *list) {
    for (unsigned i = 0; i < list->n; i++) {
        struct vary_choice *c = &list->choices[i];
        for (unsigned k = 0; k < c->n; k++) free(c->rules[k].from), free(c->rules[k].to);
        free(c->rules), free(c->description);
    }
    free(list->choices);
    *list = (struct vary_list){0};
}

/* ---- selection ---- */

static struct vary_choice *nth_choice(const struct vary_list *list, bool is_size, unsigned hash) {
    unsigned count = 0;
    for (unsigned i = 0; i < list->n; i++) count += list->choices[i].is_size == is_size;
    unsigned k = count ? hash % count : 0;
    for (unsigned i = 0; i < list->n; i++)
        if (list->choices[i].is_size == is_size && !k--) return &list->choices[i];
    return NULL;
}

void vary_select(const struct vary_list *list, const char *seed, struct vary_choice *chosen[2]) {
    char digest[HASH_HEX_SIZE];
    unsigned words[2] = {0};
    sha256_hex(seed, strlen(seed), digest);
    sscanf(digest, "%8x%8x", &words[0], &words[1]);
    chosen[0] = nth_choice(list, false, words[0]);
    chosen[1] = nth_choice(list, true, words[1]);
}

/* Writes the seed's digest of a name: the operations in the order of their digests are drawn. */
static void draw_digest(const char *seed, const char *id, const char *name,
                        char out[HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_update_string(&h, seed), hash_update_string(&h, id), hash_update_string(&h, name);
    hash_final_hex(&h, out);
}

/* Returns how many operations come before this one. */
static unsigned draw_rank(const struct vary_list *list, const char *seed, const char *id,
                          const struct vary_choice *of) {
    char digest[HASH_HEX_SIZE], other[HASH_HEX_SIZE];
    unsigned rank = 0;
    draw_digest(seed, id, of->name, digest);
    for (unsigned i = 0; i < list->n; i++) {
        draw_digest(seed, id, list->choices[i].name, other);
        rank += !list->choices[i].is_size && strcmp(other, digest) < 0;
    }
    return rank;
}

bool vary_draw(const struct vary_list *list, const char *seed, const char *id, unsigned number,
               struct vary_choice *chosen[2]) {
    char size_seed[256];
    snprintf(size_seed, sizeof size_seed, "%s %s %u", seed, id, number);
    vary_select(list, size_seed, chosen);
    chosen[0] = NULL;
    for (unsigned i = 0; i < list->n; i++)
        if (!list->choices[i].is_size && draw_rank(list, seed, id, &list->choices[i]) == number - 1)
            chosen[0] = &list->choices[i];
    return chosen[0] != NULL;
}

/* ---- application ---- */

/* Returns the longest rule that applies at `at`. */
static struct vary_rule *rule_at(struct vary_choice *const chosen[2], const char *at) {
    struct vary_rule *found = NULL;
    for (unsigned k = 0; k < 2; k++)
        for (unsigned i = 0; chosen[k] && i < chosen[k]->n; i++) {
            struct vary_rule *r = &chosen[k]->rules[i];
            bool is_longer = !found || strlen(r->from) > strlen(found->from);
            if (is_longer && text_starts_with(at, r->from)) found = r;
        }
    return found;
}

bool vary_apply(struct vary_choice *const chosen[2], const char *text, struct buf *out) {
    bool is_changed = false;
    while (*text) {
        struct vary_rule *r = rule_at(chosen, text);
        if (r) {
            buf_puts(out, r->to), text += strlen(r->from);
            r->is_used = is_changed = true;
        } else buf_add(out, text++, 1);
    }
    return is_changed;
}
