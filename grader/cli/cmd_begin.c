/* cmd_begin.c — grader begin DIR: makes a student's workspace with the book's starter files,
 * lessons and tasks, and the files that set editors up. On an existing workspace it adds new files
 * and updates those that the student hasn't changed. It never replaces a changed file: the
 * workspace's marker file (PATHS_MARKER_FILE) holds the digest with which each file was delivered,
 * so a different digest means a change. */
#include "common/file.h"
#include "common/hash.h"
#include "common/text.h"
#include "common/paths.h"
#include "grader/cli/commands.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 4 << 20, MAX_DEPTH = 4 };

struct student_folder {
    char folder[PATH_MAX], id[PATHS_ID_SIZE];
    struct buf old_manifest, new_manifest; /* the marker file before and after this run */
    struct buf conflicts; /* lines: changed files of which the book now has another version */
    unsigned added_count, updated_count, kept_count, unchanged_count;
};

/* ---- the folder ---- */

static bool is_empty(const char *folder) {
    DIR *d = opendir(folder);
    unsigned n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n == 2;
}

static void generate_id(char id[PATHS_ID_SIZE]) {
    unsigned char bytes[(PATHS_ID_SIZE - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(id + 2 * i, "%02x", bytes[i]);
}

static bool marker_path(const struct student_folder *b, char path[PATH_MAX], struct err *e) {
    return path_join(path, PATH_MAX, b->folder, PATHS_MARKER_FILE) ||
           err_set(e, ERR_INPUT, "%s: path too long", b->folder);
}

static bool write_marker(const struct student_folder *b, struct err *e) {
    char path[PATH_MAX];
    struct buf text = {0};
    buf_printf(&text, "warpbook 1 %s\n%s", b->id, buf_str(&b->new_manifest));
    bool ok = marker_path(b, path, e) && file_write(path, text.data, text.size, e);
    buf_free(&text);
    return ok;
}

/* Opens a new folder, an empty one, or a workspace. It writes the marker file first, so that a
 * later run can complete an interrupted one. */
static bool open_folder(struct student_folder *b, const char *name, struct err *e) {
    char path[PATH_MAX];
    struct stat st;
    if (!dir_create(name, e)) return false;
    if (!realpath(name, b->folder) || stat(b->folder, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, ERR_INPUT, "%s is not a folder", name);
    if (!marker_path(b, path, e)) return false;
    if (lstat(path, &st) == 0) {
        if (st.st_uid != geteuid())
            return err_set(e, ERR_INPUT, "%s belongs to another user", b->folder);
        return (file_read(path, MAX_FILE_BYTES, &b->old_manifest, e) &&
                paths_marker_id(buf_str(&b->old_manifest), b->id)) ||
               err_set(e, ERR_INPUT, "%s is damaged; remove it and name a new folder", path);
    }
    if (!is_empty(b->folder))
        return err_set(e, ERR_INPUT,
                       "%s is not empty, and `grader begin` didn't make it; name a new folder",
                       b->folder);
    generate_id(b->id);
    return write_marker(b, e);
}

/* ---- files ---- */

/* Copies the digest with which a file was delivered; returns false if it was not delivered. */
static bool find_delivered_digest(const struct student_folder *b, const char *relative,
                                  char digest[HASH_HEX_SIZE]) {
    size_t n = strlen(relative);
    for (const char *l = strchr(buf_str(&b->old_manifest), '\n'); l && *++l; l = strchr(l, '\n'))
        if (strcspn(l, "\n") == HASH_HEX_SIZE + n && l[HASH_HEX_SIZE - 1] == ' ' &&
            !strncmp(l + HASH_HEX_SIZE, relative, n))
            return snprintf(digest, HASH_HEX_SIZE, "%.64s", l), true;
    return false;
}

static bool write_counted(const char *path, const struct buf *text, unsigned *counter,
                          struct err *e) {
    char parent_folder[PATH_MAX];
    snprintf(parent_folder, sizeof parent_folder, "%.*s", (int)(path_basename(path) - path - 1),
             path);
    ++*counter;
    return dir_create(parent_folder, e) && file_write(path, buf_str(text), text->size, e);
}

static bool update_file(struct student_folder *b, const char *relative, const struct buf *text,
                        struct err *e) {
    char path[PATH_MAX], book_digest[HASH_HEX_SIZE], delivered_digest[HASH_HEX_SIZE] = "",
                                                     current_digest[HASH_HEX_SIZE] = "";
    struct buf current = {0};
    struct err ignored = {0};
    struct stat st;
    bool was_delivered = find_delivered_digest(b, relative, delivered_digest), ok = true;
    if (!path_join(path, sizeof path, b->folder, relative))
        return err_set(e, ERR_INPUT, "%s: path too long", relative);
    sha256_hex(buf_str(text), text->size, book_digest);
    bool exists = lstat(path, &st) == 0,
         is_readable = exists && file_read(path, MAX_FILE_BYTES, &current, &ignored);
    if (is_readable) sha256_hex(buf_str(&current), current.size, current_digest);
    buf_free(&current);
    if (!exists)
        ok = write_counted(path, text, &b->added_count, e), strcpy(delivered_digest, book_digest);
    else if (!strcmp(current_digest, book_digest))
        b->unchanged_count++, strcpy(delivered_digest, book_digest);
    else if (was_delivered && !strcmp(current_digest, delivered_digest))
        ok = write_counted(path, text, &b->updated_count, e), strcpy(delivered_digest, book_digest);
    else {
        b->kept_count++;
        if (was_delivered && strcmp(delivered_digest, book_digest))
            buf_printf(&b->conflicts, "  %s\n", relative);
    }
    if (delivered_digest[0]) buf_printf(&b->new_manifest, "%s %s\n", delivered_digest, relative);
    return ok;
}

static bool deliver_file(struct student_folder *b, const char *relative, struct err *e) {
    char from[PATH_MAX];
    struct buf text = {0};
    const struct exercise *ex = book_exercise_of_starter(relative);
    bool ok = ex ? book_original_starter(ex, &text, e)
                 : path_join(from, sizeof from, paths_book_dir(), relative) &&
                       file_read(from, MAX_FILE_BYTES, &text, e);
    ok = ok && update_file(b, relative, &text, e);
    buf_free(&text);
    return ok;
}

/* Tests and paths are compiled into the grader, so a student's copy would have no effect. Variants
 * are for exams. */
static bool is_excluded(const char *name) {
    return text_ends_with(name, "_test.c") || text_ends_with(name, ".vary") ||
           text_ends_with(name, ".def") || !strcmp(name, "variants.txt") || strstr(name, ".bak-");
}

static bool deliver_tree(struct student_folder *b, const char *relative, unsigned depth,
                         struct err *e) {
    char path[PATH_MAX], child[PATH_MAX];
    struct stat st;
    if (!path_join(path, sizeof path, paths_book_dir(), relative) || lstat(path, &st) < 0)
        return err_set(e, ERR_SYSTEM, "%s: %s", relative, strerror(errno));
    if (S_ISREG(st.st_mode)) return deliver_file(b, relative, e);
    if (!S_ISDIR(st.st_mode) || depth > MAX_DEPTH) return true;
    char **names = book_list_files(path, "", "");
    bool ok = true;
    for (char **n = names; *n && ok; n++)
        if (!is_excluded(*n) && path_join(child, sizeof child, relative, *n))
            ok = deliver_tree(b, child, depth + 1, e);
    book_free_list(names);
    return ok;
}

static bool deliver_editor_file(void *user, const char *relative, const struct buf *text,
                                struct err *e) {
    return update_file(user, relative, text, e);
}

static void print_summary(const struct student_folder *b, const char *name) {
    printf("%s: %u exercises; files: %u added, %u updated, %u kept as you changed them, "
           "%u unchanged\n",
           name, book_count(), b->added_count, b->updated_count, b->kept_count, b->unchanged_count);
    if (b->conflicts.size)
        printf("The book has new versions of these files, which you have changed; "
               "`%s reset EXERCISE` restores a starter file and keeps yours as a backup:\n%s",
               paths_command("grader"), buf_str(&b->conflicts));
    if (!b->old_manifest.size)
        printf("Next: cd %s, read chapters/%s/README.md, then: %s%sgrader list\n", name,
               book_at(0)->chapter, paths_is_installed() ? "" : paths_program_dir(),
               paths_is_installed() ? "" : "/");
}

int cmd_begin(const struct options *o) {
    struct student_folder b = {0};
    struct err e = {0};
    bool ok =
        o->noperands == 1 || err_set(&e, ERR_INPUT, "begin takes one folder: grader begin DIR");
    ok = ok && open_folder(&b, o->operands[0], &e) && deliver_tree(&b, "chapters", 0, &e) &&
         cli_deliver_editor_files(deliver_editor_file, &b, &e) && write_marker(&b, &e);
    if (ok) print_summary(&b, o->operands[0]);
    buf_free(&b.old_manifest), buf_free(&b.new_manifest), buf_free(&b.conflicts);
    return ok ? EXIT_PASSED : cli_report_error(&e);
}
