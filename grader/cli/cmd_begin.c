/* cmd_begin.c — grader begin DIR: a folder of a student's own, with the book's skeletons, lessons
 * and tasks. Again on the same folder it adds what is new and renews what nobody has changed. A
 * file that was changed is never replaced: the folder's mark (PATHS_MARKER_FILE) remembers of each
 * file the digest that it was delivered with, and so tells the one from the other. */
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/where.h"
#include "grader/cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 4 << 20, DEPTH = 4 };

struct beginning {
    char folder[PATH_MAX], id[PATHS_ID_SIZE];
    struct buf before, mark; /* the mark as it was, as it will be */
    struct buf newer;        /* changed files of which the book has another version now */
    unsigned added, renewed, kept, same;
};

/* ---- the folder ---- */

static bool is_empty(const char *folder) {
    DIR *d = opendir(folder);
    unsigned n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n == 2;
}

static void draw_id(char id[PATHS_ID_SIZE]) {
    unsigned char bytes[(PATHS_ID_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("the system gives no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(id + 2 * i, "%02x", bytes[i]);
}

static bool mark_path(const struct beginning *b, char path[PATH_MAX], struct err *e) {
    return path_join(path, PATH_MAX, b->folder, PATHS_MARKER_FILE) ||
           err_set(e, ERR_INPUT, "%s: path too long", b->folder);
}

static bool write_mark(const struct beginning *b, struct err *e) {
    char path[PATH_MAX];
    struct buf text = {0};
    buf_printf(&text, "warpbook 1 %s\n%s", b->id, buf_str(&b->mark));
    bool ok = mark_path(b, path, e) && file_write(path, text.data, text.size, e);
    buf_free(&text);
    return ok;
}

/* A new folder, an empty one, or one of ours; the mark comes first, so that one that was not
 * finished can be taken up. */
static bool open_folder(struct beginning *b, const char *name, struct err *e) {
    char path[PATH_MAX];
    struct stat st;
    if (!dir_create(name, e)) return false;
    if (!realpath(name, b->folder) || stat(b->folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_INPUT, "%s: no folder", name);
    if (!mark_path(b, path, e)) return false;
    if (lstat(path, &st) == 0) {
        if (st.st_uid != geteuid())
            return err_set(e, ERR_INPUT, "%s belongs to another user", b->folder);
        return (file_read(path, FILE_LIMIT, &b->before, e) &&
                paths_marker_id(buf_str(&b->before), b->id)) ||
               err_set(e, ERR_INPUT, "%s is damaged; remove it, and name a new folder", path);
    }
    if (!is_empty(b->folder))
        return err_set(e, ERR_INPUT,
                       "%s is not empty, and none that `grader begin` made; name a new folder",
                       b->folder);
    draw_id(b->id);
    return write_mark(b, e);
}

/* ---- files ---- */

/* The digest that a file was delivered with; false: it was not. */
static bool delivered(const struct beginning *b, const char *relative, char digest[HASH_HEX_SIZE]) {
    size_t n = strlen(relative);
    for (const char *l = strchr(buf_str(&b->before), '\n'); l && *++l; l = strchr(l, '\n'))
        if (strcspn(l, "\n") == HASH_HEX_SIZE + n && l[HASH_HEX_SIZE - 1] == ' ' &&
            !strncmp(l + HASH_HEX_SIZE, relative, n))
            return snprintf(digest, HASH_HEX_SIZE, "%.64s", l), true;
    return false;
}

static bool put(const char *path, const struct buf *text, unsigned *what, struct err *e) {
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%.*s", (int)(path_basename(path) - path - 1), path);
    ++*what;
    return dir_create(above, e) && file_write(path, buf_str(text), text->size, e);
}

static bool put_one(struct beginning *b, const char *relative, const struct buf *text,
                    struct err *e) {
    char path[PATH_MAX], now[HASH_HEX_SIZE], then[HASH_HEX_SIZE] = "", theirs[HASH_HEX_SIZE] = "";
    struct buf mine = {0};
    struct err ignored = {0};
    struct stat st;
    bool known = delivered(b, relative, then), ok = true;
    if (!path_join(path, sizeof path, b->folder, relative))
        return err_set(e, ERR_INPUT, "%s: path too long", relative);
    sha256_hex(buf_str(text), text->size, now);
    bool there = lstat(path, &st) == 0,
         read = there && file_read(path, FILE_LIMIT, &mine, &ignored);
    if (read) sha256_hex(buf_str(&mine), mine.size, theirs);
    buf_free(&mine);
    if (!there) ok = put(path, text, &b->added, e), strcpy(then, now);
    else if (!strcmp(theirs, now)) b->same++, strcpy(then, now);
    else if (known && !strcmp(theirs, then))
        ok = put(path, text, &b->renewed, e), strcpy(then, now);
    else {
        b->kept++;
        if (known && strcmp(then, now)) buf_printf(&b->newer, "  %s\n", relative);
    }
    if (then[0]) buf_printf(&b->mark, "%s %s\n", then, relative);
    return ok;
}

static bool put_file(struct beginning *b, const char *relative, struct err *e) {
    char from[PATH_MAX];
    struct buf text = {0};
    const struct exercise *ex = book_exercise_of_starter(relative);
    bool ok = ex ? book_original_starter(ex, &text, e)
                 : path_join(from, sizeof from, paths_book_dir(), relative) &&
                       file_read(from, FILE_LIMIT, &text, e);
    ok = ok && put_one(b, relative, &text, e);
    buf_free(&text);
    return ok;
}

/* Tests are part of the program: editing them would change nothing. */
static bool is_left_out(const char *name) {
    return text_ends_with(name, "_test.c") || strstr(name, ".bak-");
}

static bool put_tree(struct beginning *b, const char *relative, unsigned depth, struct err *e) {
    char path[PATH_MAX], inner[PATH_MAX];
    struct stat st;
    if (!path_join(path, sizeof path, paths_book_dir(), relative) || lstat(path, &st) < 0)
        return err_set(e, ERR_SYSTEM, "%s: %s", relative, strerror(errno));
    if (S_ISREG(st.st_mode)) return put_file(b, relative, e);
    if (!S_ISDIR(st.st_mode) || depth > DEPTH) return true;
    char **names = book_list_files(path, "", "");
    bool ok = true;
    for (char **n = names; *n && ok; n++)
        if (!is_left_out(*n) && path_join(inner, sizeof inner, relative, *n))
            ok = put_tree(b, inner, depth + 1, e);
    book_free_list(names);
    return ok;
}

static void tell(const struct beginning *b, const char *name) {
    printf("%s: %u exercises; files: %u added, %u renewed, %u kept as you changed them, %u as they "
           "were\n",
           name, book_count(), b->added, b->renewed, b->kept, b->same);
    if (b->newer.size)
        printf("The book has another version of these now; `%s reset EXERCISE` takes a skeleton of "
               "it, and keeps yours "
               "beside:\n%s",
               paths_command("grader"), buf_str(&b->newer));
    if (!b->before.size)
        printf("Next: cd %s, read chapters/%s/README.md, then: %s%sgrader list\n", name,
               book_at(0)->chapter, paths_is_installed() ? "" : paths_build_dir(),
               paths_is_installed() ? "" : "/");
}

int cmd_begin(const struct options *o) {
    struct beginning b = {0};
    struct err e = {0};
    bool ok = o->nnames == 1 || err_set(&e, ERR_INPUT, "begin takes one folder: grader begin DIR");
    ok = ok && open_folder(&b, o->names[0], &e) && put_tree(&b, "chapters", 0, &e) &&
         write_mark(&b, &e);
    if (ok) tell(&b, o->names[0]);
    buf_free(&b.before), buf_free(&b.mark), buf_free(&b.newer);
    return ok ? EXIT_PASSED : cli_complain(&e);
}
