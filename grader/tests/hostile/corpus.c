/* corpus.c — reads the corpus: names, expectations, and the places that a submission is to be pointed at. */
#include "common/file.h"
#include "common/text.h"
#include "grader/book/book.h"
#include "grader/tests/hostile/hostile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Places are known only here: the secret, the build, the book, the process that grades. */
static void point(struct buf *source) {
    char pid[32];
    snprintf(pid, sizeof pid, "%d", getpid());
    text_replace(source, "@SECRET@", planted_file());
    text_replace(source, "@BUILD@", book_build());
    text_replace(source, "@ROOT@", book_root());
    text_replace(source, "@GRADER@", pid);
}

static char *field(char **at) {
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
    if (!text_starts(line, "// ")) die("%s: the first line says nothing", path);
    at += 3;
    a->name = xstrdup(name);
    a->name[strlen(name) - 3] = 0;
    a->verdicts = field(&at), a->threat = field(&at), a->tries = field(&at), a->says = field(&at);
    a->quick = text_ends(a->verdicts, "*");
    if (a->quick) a->verdicts[strlen(a->verdicts) - 1] = 0;
    free(line);
    point(&a->source);
}

struct attack *corpus_load(const char *folder, unsigned *n) {
    char path[PATH_MAX], dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%s/grader/tests/hostile%s", book_root(), folder);
    char **names = book_files(dir, "", ".cu");
    for (*n = 0; names[*n];) ++*n;
    struct attack *list = xcalloc(*n + 1, sizeof *list);
    for (unsigned i = 0; i < *n; i++)
        if (path_join(path, sizeof path, dir, names[i])) read_attack(path, names[i], &list[i]);
    book_free_list(names);
    return list;
}

void corpus_free(struct attack *a, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        free(a[i].name), free(a[i].verdicts), free(a[i].threat), free(a[i].tries), free(a[i].says);
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
