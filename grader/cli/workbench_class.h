/* workbench_class.h — `grader serve --class F.db`: a page over a class's store for teaching
 * assistants. It shows what the store has, and adds decisions as `grader decide` does. The page is
 * grader/serve/app/class.js. */
#pragma once
#include "grader/class/similarity.h"
#include "grader/cli/options.h"
#include "grader/serve/serve.h"

struct workbench_account {
    char *name; /* the author of this account's decisions; a student's id */
    enum { ROLE_READ, ROLE_DECIDE, ROLE_STUDENT } role;
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
    /* What --against names. */
    struct similarity_against *against;
    unsigned nagainst;
};
/* Opens the store, and reads the tokens. Close it with workbench_class_close, unless this fails. */
bool workbench_class_open(struct workbench_class *c, const struct options *o, struct err *e);
void workbench_class_close(struct workbench_class *c);
void workbench_class_print_address(const struct workbench_class *c);
/* Answers a request: `user` is the workbench_class. */
void workbench_class_handle(void *user, const struct serve_request *request,
                            struct serve_reply *reply);

/* Writes the name of a student that the page shows: the id, or its pseudonym. */
enum { WORKBENCH_SHOWN_SIZE = 256 };
void workbench_class_shown_name(const struct workbench_class *c, const char *id,
                                char out[WORKBENCH_SHOWN_SIZE]);

/* workbench_tokens.c: appends the accounts of a file with lines "TOKEN ROLE NAME". Others may not
 * be able to read the file, and a student must be one of the store's. */
bool workbench_read_tokens(struct workbench_class *c, const char *path, struct err *e);

/* workbench_class_json.c: what the account may see, as JSON; NULL or an error if there is none. A
 * student sees only the rows of that student. */
struct json_t *workbench_class_json(struct workbench_class *c, const struct workbench_account *who,
                                    struct err *e);
struct json_t *workbench_submission_json(struct workbench_class *c,
                                         const struct workbench_account *who, const char *student,
                                         const char *exercise, struct err *e);

/* workbench_similar.c: what --against names; the pairs of an exercise, NULL = the first; and the
 * sources of two texts, which `a` and `b` name as the page shows them, with their common passages.
 */
bool workbench_open_against(struct workbench_class *c, struct err *e);
void workbench_close_against(struct workbench_class *c);
struct json_t *workbench_similar_json(struct workbench_class *c, const char *exercise,
                                      struct err *e);
struct json_t *workbench_pair_json(struct workbench_class *c, const char *exercise, const char *a,
                                   const char *b, struct err *e);
