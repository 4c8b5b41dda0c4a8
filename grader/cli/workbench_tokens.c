/* workbench_tokens.c — the file of tokens, roles and names of `grader serve --tokens`. */
#include "common/file.h"
#include "grader/cli/workbench_class.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const roles[] = {
    [ROLE_READ] = "read", [ROLE_DECIDE] = "decide", [ROLE_STUDENT] = "student"};

static bool has_student(struct workbench_class *c, const char *id, struct err *e) {
    struct store_rows *q = store_query(&c->s, e, "SELECT 1 FROM student WHERE id = ?", "t", id);
    bool found = store_step(&c->s, &q, e);
    store_finalize(&q);
    return found;
}

static bool add_account(struct workbench_class *c, const char *path, unsigned line,
                        const char *text, struct err *e) {
    char token[SERVE_TOKEN_SIZE + 1], role[16], name[101], rest;
    int n = sscanf(text, "%33s %15s %100[^\n]%c", token, role, name, &rest);
    int found = -1;
    for (int i = 0; n >= 2 && i < 3; i++)
        if (!strcmp(role, roles[i])) found = i;
    if (n != 3 || found < 0 || strlen(token) != SERVE_TOKEN_SIZE - 1 ||
        strspn(token, "0123456789abcdef") != SERVE_TOKEN_SIZE - 1)
        return err_set(
            e, ERR_INPUT,
            "%.200s:%u: write TOKEN ROLE NAME: a token of 32 hex digits (`openssl rand "
            "-hex 16` draws one), the role read, decide or student, a name (a student's id)",
            path, line);
    if (found == ROLE_STUDENT && !has_student(c, name, e))
        return e->text[0] ? false
                          : err_set(e, ERR_INPUT, "%.200s:%u: %s has no student '%.100s'", path,
                                    line, c->s.path, name);
    c->tokens = xrealloc(c->tokens, (c->ntokens + 1) * sizeof *c->tokens);
    c->accounts = xrealloc(c->accounts, (c->ntokens + 2) * sizeof *c->accounts);
    strcpy(c->tokens[c->ntokens++], token);
    c->accounts[c->ntokens] = (struct workbench_account){xstrdup(name), found};
    return true;
}

bool workbench_read_tokens(struct workbench_class *c, const char *path, struct err *e) {
    struct buf text = {0};
    struct stat st;
    char *next = NULL;
    unsigned number = 0;
    if (stat(path, &st) == 0 && st.st_mode & 077)
        return err_set(e, ERR_INPUT, "%.200s: others can read the tokens; run chmod 600 on it",
                       path);
    bool ok = file_read(path, 1 << 20, &text, e);
    for (char *line = ok && text.size ? text.data : NULL; line && *line && ok; line = next) {
        size_t size = strcspn(line, "\n");
        next = line[size] ? line + size + 1 : NULL;
        line[size] = 0, number++;
        if (*line && *line != '#') ok = add_account(c, path, number, line, e);
    }
    buf_free(&text);
    return ok;
}
