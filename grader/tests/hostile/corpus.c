/* corpus.c — reads the corpus: names, expectations, and the paths at which a submission aims. */
#include "common/paths.h"
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/server/protocol.h"
#include "grader/tests/hostile/hostile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Numbers and sizes of messages as they are now: an attack that named them by itself would in time
 * ask for something else. */
static void list_messages(struct buf *out) {
    static const struct {
        const char *name;
        size_t bytes;
    } messages[] = {
#define MESSAGE(name, flags, request, reply) {#name, sizeof(struct wb_req_##name)},
#include "grader/server/protocol.def"
#undef MESSAGE
    };
    buf_puts(out, "enum {");
    for (unsigned i = 0; i < WB_OP_COUNT; i++) buf_printf(out, " OP_%s,", messages[i].name);
    buf_printf(
        out,
        " OPS, POSTED = %u };\n__attribute__((unused)) static const uint32_t request_bytes[] = {",
        WB_ONE_WAY);
    for (unsigned i = 0; i < WB_OP_COUNT; i++) buf_printf(out, " %zu,", messages[i].bytes);
    buf_puts(out, " };");
}

/* A submission is one file: what several attacks share is put into each. */
static void insert_shared_code(struct buf *source, const char *name) {
    char line[64], path[PATH_MAX];
    struct buf text = {0}, messages = {0};
    struct err e = {0};
    snprintf(line, sizeof line, "#include \"%s\"", name);
    if (!strstr(buf_str(source), line)) return;
    snprintf(path, sizeof path, "%s/grader/tests/hostile/%s", book_root(), name);
    if (!file_read(path, SOURCE_LIMIT, &text, &e)) die("%s", e.text);
    list_messages(&messages);
    text_replace(&text, "@MESSAGES@", buf_str(&messages));
    text_replace(source, line, buf_str(&text));
    buf_free(&text), buf_free(&messages);
}

/* Places are known only here: the secret, the build, the book, the process that grades. */
static void substitute_placeholders(struct buf *source) {
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    text_replace(source, "@SECRET@", decoy_file());
    text_replace(source, "@BUILD@", paths_program_dir());
    text_replace(source, "@ROOT@", book_root());
    text_replace(source, "@GRADER@", pid);
}

static char *next_field(char **at) {
    char *start = *at, *end = strstr(start, " | ");
    if (end) *end = 0, *at = end + 3;
    else *at = start + strlen(start);
    return xstrdup(start);
}

static void read_attack(const char *path, const char *name, struct attack *a) {
    struct err e = {0};
    if (!file_read(path, SOURCE_LIMIT, &a->source, &e)) die("%s", e.text);
    size_t n = strcspn(buf_str(&a->source), "\n");
    char *line = xmalloc(n + 1), *at = line;
    memcpy(line, a->source.data, n);
    line[n] = 0;
    if (!text_starts_with(line, "// ")) die("%s: the first line says nothing", path);
    at += 3;
    a->name = xstrdup(name);
    a->name[strlen(name) - 3] = 0;
    a->verdicts = next_field(&at), a->threat = next_field(&at), a->tries = next_field(&at),
    a->expected_text = next_field(&at);
    insert_shared_code(&a->source, "forge.cuh"), insert_shared_code(&a->source, "forge_image.cuh");
    a->is_quick = text_ends_with(a->verdicts, "*");
    if (a->is_quick) a->verdicts[strlen(a->verdicts) - 1] = 0;
    free(line);
    substitute_placeholders(&a->source);
}

struct attack *corpus_load(const char *folder, unsigned *n) {
    char path[PATH_MAX], dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s/grader/tests/hostile%s", book_root(), folder);
    char **names = book_list_files(dir, "", ".cu");
    for (*n = 0; names[*n];) ++*n;
    struct attack *list = xcalloc(*n + 1, sizeof *list);
    for (unsigned i = 0; i < *n; i++)
        if (path_join(path, sizeof path, dir, names[i])) read_attack(path, names[i], &list[i]);
    book_free_list(names);
    return list;
}

void corpus_free(struct attack *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        free(a[i].name), free(a[i].verdicts), free(a[i].threat), free(a[i].tries),
            free(a[i].expected_text);
        buf_free(&a[i].source);
    }
    free(a);
}

bool corpus_expects(const struct attack *a, enum verdict v) {
    const char *code = verdict_code(v);
    size_t n = strlen(code);
    for (const char *p = a->verdicts; (p = strstr(p, code)); p += n)
        if ((p == a->verdicts || p[-1] == '/') && (!p[n] || p[n] == '/')) return true;
    return false;
}
