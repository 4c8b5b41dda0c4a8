/* workbench_class.h — `grader serve --class F.db`: a page over a class's store for teaching
 * assistants. It shows what the store has, and adds decisions as `grader decide` does. The page is
 * grader/serve/app/class.js. */
#pragma once
#include "grader/class/store.h"
#include "grader/cli/options.h"
#include "grader/serve/serve.h"

struct workbench_account {
    char *name;      /* the author of this account's decisions */
    bool may_decide; /* false = read-only */
};
struct workbench_class {
    const struct options *o;
    struct store s;
    struct serve *server;
    /* By serve_request's `account`: the printed address's first, then one for each token. */
    struct workbench_account *accounts;
    char (*tokens)[SERVE_TOKEN_SIZE];
    unsigned ntokens;
    char key[65]; /* of the pseudonyms; the store keeps it */
};
/* Opens the store, and reads the tokens. Close it with workbench_class_close, unless this fails. */
bool workbench_class_open(struct workbench_class *c, const struct options *o, struct err *e);
void workbench_class_close(struct workbench_class *c);
void workbench_class_print_address(const struct workbench_class *c);
/* Answers a request: `user` is the workbench_class. */
void workbench_class_handle(void *user, const struct serve_request *request,
                            struct serve_reply *reply);

/* workbench_tokens.c: appends the accounts of a file with lines "TOKEN ROLE NAME". Others may not
 * be able to read the file. */
bool workbench_read_tokens(struct workbench_class *c, const char *path, struct err *e);
