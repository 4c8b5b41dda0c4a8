/* similarity_against.c — what a class is compared with besides itself: earlier years' stores and
 * folders of public solutions (similarity.h). */
#include "grader/book/book.h"
#include "grader/class/similarity.h"
#include "grader/grade/grade.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool similarity_is_store(const char *path) {
    char magic[16] = "";
    struct stat st;
    if (db_is_server(path)) return true;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    size_t n = f ? fread(magic, 1, 15, f) : 0;
    if (f) fclose(f);
    return n == 15 && !strcmp(magic, "SQLite format 3");
}

/* ---- stores ---- */

bool similarity_add_store(struct similarity_class *c, struct store *s, const char *prefix,
                          struct err *e) {
    /* A chapter may have had another number in an earlier year. */
    struct store_rows *q =
        store_query(s, e,
                    "SELECT ? || s.student, s.file, c.body FROM submission s JOIN source c "
                    "ON c.digest = s.digest WHERE s.state = 'taken' AND "
                    "(s.exercise = ? OR s.exercise LIKE '%/' || ?) ORDER BY s.student",
                    "ttt", prefix, book_id(c->ex), c->ex->name);
    bool ok = q;
    while (ok && store_step(s, &q, e))
        similarity_add_text(c, store_column_text(q, 0), store_column_text(q, 1),
                            store_column_bytes(q, 2), store_column_size(q, 2));
    store_finalize(&q);
    return ok && !e->text[0];
}

/* ---- folders ---- */

static bool read_source(int fd, const char *name, struct intake *in) {
    struct buf data = {0};
    bool ok = intake_read_fd(fd, SOURCE_LIMIT, &data);
    if (ok) intake_add(in, name, buf_str(&data), data.size);
    buf_free(&data);
    return ok;
}

/* Reads an entry of the folder: a folder, an archive or a source. */
static void read_entry(int dir_fd, const char *name, struct intake *in) {
    struct stat st;
    struct err e = {0};
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_open = fd >= 0 && fstat(fd, &st) == 0, is_file = is_open && S_ISREG(st.st_mode);
    if (is_open && S_ISDIR(st.st_mode)) intake_folder(fd, intake_accept_source, NULL, in);
    else if (is_file && intake_is_archive(name)) {
        if (!intake_archive(fd, intake_accept_source, NULL, in, &e))
            intake_reject(in, name, true, e.text);
    } else if (intake_is_source(name) && !(is_file && read_source(fd, name, in)))
        intake_reject(in, name, true, "it cannot be read, or is larger than 1 MiB");
    if (fd >= 0) close(fd);
}

/* Moves what was read of `name` below its path in the folder. */
static void add_entry(struct intake *all, struct intake *one, const char *name) {
    bool is_itself = one->n == 1 && !strcmp(one->files[0].path, name);
    intake_move(all, one, is_itself ? "" : name);
}

static bool read_folder(struct similarity_against *g, unsigned *left_out, struct err *e) {
    int fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char **names = fd >= 0 ? intake_names(fd) : NULL;
    *left_out = 0;
    if (!names)
        err_set(e, ERR_INPUT, "%s: %s; --against takes a store or a folder", g->path,
                strerror(errno));
    for (char **n = names; n && *n; n++) {
        struct intake one = {0};
        read_entry(fd, *n, &one);
        for (unsigned i = 0; i < one.nrejections; i++) *left_out += one.rejections[i].needs_review;
        add_entry(&g->sources, &one, *n);
    }
    if (names) intake_free_names(names);
    if (fd >= 0) close(fd);
    return names;
}

static void add_sources(struct similarity_class *c, const struct similarity_against *g) {
    struct buf name = {0};
    for (unsigned i = 0; i < g->sources.n; i++) {
        const struct intake_file *f = &g->sources.files[i];
        buf_clear(&name), buf_printf(&name, "%s: %s", g->path, f->path);
        similarity_add_text(c, buf_str(&name), f->path, buf_str(&f->data), f->data.size);
    }
    buf_free(&name);
}

/* ---- both ---- */

bool similarity_open_against(struct similarity_against *g, const char *path, unsigned *left_out,
                             struct err *e) {
    *g = (struct similarity_against){.path = path, .is_store = similarity_is_store(path)};
    *left_out = 0;
    return g->is_store ? store_open(&g->store, path, false, e) : read_folder(g, left_out, e);
}

bool similarity_add_against(struct similarity_class *c, struct similarity_against *g,
                            struct err *e) {
    struct buf prefix = {0};
    bool ok = true;
    buf_printf(&prefix, "%s: ", g->is_store ? g->store.path : g->path);
    if (g->is_store) ok = similarity_add_store(c, &g->store, buf_str(&prefix), e);
    else add_sources(c, g);
    buf_free(&prefix);
    return ok;
}

void similarity_close_against(struct similarity_against *g) {
    if (g->is_store) store_close(&g->store);
    intake_free(&g->sources);
}

bool similarity_load(struct similarity_class *c, struct store *s, struct similarity_against *list,
                     unsigned n, struct err *e) {
    similarity_load_book(c);
    bool ok = similarity_add_store(c, s, "", e);
    for (unsigned i = 0; ok && c->texts && i < n; i++) {
        c->origin = i + 1;
        ok = similarity_add_against(c, &list[i], e);
    }
    return ok;
}
