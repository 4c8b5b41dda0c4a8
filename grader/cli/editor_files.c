/* editor_files.c — the files with which `grader begin` sets editors up: VS Code's tasks, launch
 * configurations and recommendations, and clangd's options. Their templates are in
 * grader/editor/workspace; `@GRADER@` and the like stand for paths of this machine. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"

#include <stdio.h>
#include <string.h>

enum { MAX_TEMPLATE_BYTES = 1 << 16 };

/* Replaces a placeholder by a path, escaped for a JSON string, which YAML reads alike. */
static void insert_path(struct buf *text, const char *placeholder, const char *path) {
    struct buf escaped = {0};
    for (const char *c = path; *c; c++) {
        if (*c == '"' || *c == '\\') buf_puts(&escaped, "\\");
        buf_add(&escaped, c, 1);
    }
    text_replace(text, placeholder, buf_str(&escaped));
    buf_free(&escaped);
}

/* An editor runs the command in the workspace, wherever `grader begin` ran: an absolute path, or a
 * name on PATH. */
static void insert_grader(struct buf *text) {
    char path[PATH_MAX] = "grader";
    if (!paths_is_installed()) paths_component("grader", path);
    insert_path(text, "@GRADER@", path);
}

static bool read_template(const char *name, struct buf *out, struct err *e) {
    char path[PATH_MAX], relative[80], toolkit[PATH_MAX];
    struct err ignored = {0};
    snprintf(relative, sizeof relative, "grader/editor/workspace/%.40s", name);
    if (!path_join(path, sizeof path, paths_book_dir(), relative))
        return err_set(e, ERR_SYSTEM, "%s: path too long", name);
    if (!file_read(path, MAX_TEMPLATE_BYTES, out, e)) return false;
    if (!paths_cuda_toolkit(toolkit, &ignored)) strcpy(toolkit, "/usr/local/cuda");
    insert_grader(out);
    insert_path(out, "@TOOLKIT@", toolkit);
    insert_path(out, "@BOOK@", paths_book_dir());
    return true;
}

bool cli_deliver_editor_files(cli_deliver_function *deliver, void *user, struct err *e) {
    static const struct {
        const char *template_name, *relative;
    } files[] = {{"tasks.json", ".vscode/tasks.json"},
                 {"launch.json", ".vscode/launch.json"},
                 {"extensions.json", ".vscode/extensions.json"},
                 {"clangd.yaml", ".clangd"}};
    bool ok = true;
    for (unsigned i = 0; i < sizeof files / sizeof *files && ok; i++) {
        struct buf text = {0};
        ok = read_template(files[i].template_name, &text, e) &&
             deliver(user, files[i].relative, &text, e);
        buf_free(&text);
    }
    return ok;
}
