/* verify_shard.c — `grader verify --quick --shard K/N`: of the files whose results are not kept,
 * grades those of every N-th exercise, from the K-th on, and of all exercises that changed; of the
 * chapters' questions and lessons, it checks every N-th and those that changed. `make check` takes
 * such a shard, another one after each hour of commits, since all exercises take longer than all
 * other tests together. Changed is what differs from the commit before the last. If git doesn't
 * know that, everything counts as changed. */
#include "grader/book/book.h"
#include "grader/cli/verify.h"

#include <stdio.h>
#include <string.h>

/* Returns true if a line of the changed files begins with this path. */
static bool is_changed(const struct verification *c, const char *path) {
    size_t size = strlen(path);
    for (const char *line = buf_str(&c->changed_files); *line;) {
        if (!strncmp(line, path, size)) return true;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return false;
}

static bool in_shard(const struct verification *c, unsigned index) {
    return index % c->o->shard_count == c->o->shard_number - 1;
}

static bool is_changed_exercise(const struct verification *c, const struct exercise *ex) {
    static const char *const forms[] = {"chapters/%s/%s.cu\n", "chapters/%s/%s_test.c\n",
                                        "solutions/%s/%s.cu\n"};
    char path[512];
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(path, sizeof path, forms[i], ex->chapter, ex->name);
        if (is_changed(c, path)) return true;
    }
    return false;
}

static bool is_changed_chapter(const struct verification *c, const char *chapter) {
    static const char *const forms[] = {"chapters/%s/README.md\n", "chapters/%s/quiz.md\n",
                                        "chapters/%s/lesson/", "chapters/%s/quiz/"};
    char path[512];
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(path, sizeof path, forms[i], chapter);
        if (is_changed(c, path)) return true;
    }
    return false;
}

bool verify_defers_exercise(const struct verification *c, unsigned exercise_index) {
    return c->o->shard_count && c->knows_changes && !in_shard(c, exercise_index) &&
           !is_changed_exercise(c, c->list[exercise_index]);
}

static bool is_kept(const struct verification *c, unsigned subject_index,
                    const struct grade_options *o) {
    struct grade_item item = verify_item(c, subject_index);
    return class_item_is_kept(&item, o);
}

void verify_defer_subjects(struct verification *c, const struct grade_options *o) {
    unsigned n = 0;
    if (!c->o->shard_count) return;
    c->knows_changes = book_changed_files(&c->changed_files);
    for (unsigned i = 0; i < c->n; i++) {
        if (verify_defers_exercise(c, c->exercise_of[i]) && !is_kept(c, i, o)) {
            verify_free_subject(&c->subjects[i]);
            c->deferred_file_count++;
            continue;
        }
        c->exercise_of[n] = c->exercise_of[i];
        c->subjects[n++] = c->subjects[i];
    }
    c->n = n;
}

bool verify_defers_chapter(const struct verification *c, const char *chapter, unsigned n) {
    return c->o->shard_count && c->knows_changes && !in_shard(c, n) &&
           !is_changed_chapter(c, chapter);
}
