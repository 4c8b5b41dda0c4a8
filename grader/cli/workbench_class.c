/* workbench_class.c — see workbench_class.h. Every request reads the store anew, so the page shows
 * what other programs and other assistants wrote. A decision names the latest one that its author
 * saw: decision_add refuses it if there is a later one, in the transaction that would add it. */
#include "grader/cli/workbench_class.h"
#include "grader/class/decision.h"
#include "grader/class/pseudonym.h"
#include "grader/cli/workbench.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool workbench_class_open(struct workbench_class *c, const struct options *o, struct err *e) {
    *c = (struct workbench_class){.o = o, .accounts = xcalloc(1, sizeof *c->accounts)};
    c->accounts[0] = (struct workbench_account){xstrdup(o->author ? o->author : ""),
                                                o->author ? ROLE_DECIDE : ROLE_READ};
    bool ok = store_open(&c->s, o->class_store, false, e) &&
              (!o->anonymous || pseudonym_load_key(&c->s, c->key, e)) &&
              (!o->tokens || workbench_read_tokens(c, o->tokens, e)) &&
              workbench_open_against(c, e);
    if (!ok) workbench_class_close(c);
    return ok;
}

void workbench_class_close(struct workbench_class *c) {
    workbench_close_against(c);
    if (c->s.db) store_close(&c->s);
    for (unsigned i = 0; i <= c->ntokens; i++) free(c->accounts[i].name);
    free(c->accounts), free(c->tokens);
}

void workbench_class_print_address(const struct workbench_class *c) {
    struct buf url = {0};
    serve_append_url(c->server, &url);
    printf("The class is open at\n    %s\n", buf_str(&url));
    if (!c->o->author) printf("This address only reads; to decide, add --author NAME.\n");
    if (c->ntokens)
        printf("For each of the %u tokens, the address is the same with that token at its end.\n",
               c->ntokens);
    printf("Ctrl-C ends it. The connection is not encrypted.\n");
    fflush(stdout);
    buf_free(&url);
}

/* ---- names ---- */

void workbench_class_shown_name(const struct workbench_class *c, const char *id,
                                char out[WORKBENCH_SHOWN_SIZE]) {
    if (c->o->anonymous) pseudonym_make(c->key, id, out);
    else snprintf(out, WORKBENCH_SHOWN_SIZE, "%s", id);
}

/* Appends the id of the student that the page calls `shown`. Returns false if there is none, or if
 * the account may not see it. */
static bool find_student(struct workbench_class *c, const struct workbench_account *who,
                         const char *shown, struct buf *id, struct err *e) {
    char name[WORKBENCH_SHOWN_SIZE];
    bool found = false;
    struct store_rows *q = shown ? store_query(&c->s, e, "SELECT id FROM student", "") : NULL;
    while (!found && store_step(&c->s, &q, e)) {
        workbench_class_shown_name(c, store_column_text(q, 0), name);
        found = !strcmp(name, shown) &&
                (who->role != ROLE_STUDENT || !strcmp(store_column_text(q, 0), who->name));
        if (found) buf_puts(id, store_column_text(q, 0));
    }
    store_finalize(&q);
    return found || (!e->text[0] && err_set(e, ERR_INPUT, "there is no such student"));
}

/* ---- requests ---- */

static void refuse(struct serve_reply *reply, unsigned status, const char *message) {
    reply->status = status;
    buf_clear(&reply->body);
    buf_printf(&reply->body, "%s\n", message);
}

static void send_json(struct serve_reply *reply, json_t *o, const struct err *e) {
    if (!o || e->text[0]) {
        json_decref(o);
        refuse(reply, e->kind == ERR_INPUT ? 404 : 500, e->text);
        return;
    }
    reply->type = "application/json";
    workbench_put_json(o, &reply->body);
}

static void get_submission(struct workbench_class *c, const struct serve_request *request,
                           struct serve_reply *reply) {
    const struct workbench_account *who = &c->accounts[request->account];
    struct buf id = {0};
    struct err e = {0};
    const char *exercise = serve_query(request, "exercise");
    bool ok = find_student(c, who, serve_query(request, "student"), &id, &e);
    send_json(reply,
              ok ? workbench_submission_json(c, who, buf_str(&id), exercise ? exercise : "", &e)
                 : NULL,
              &e);
    buf_free(&id);
}

static void get(struct workbench_class *c, const struct serve_request *request,
                struct serve_reply *reply) {
    struct err e = {0};
    const struct workbench_account *who = &c->accounts[request->account];
    bool is_similar = !strcmp(request->path, "api/similar"),
         is_pair = !strcmp(request->path, "api/pair");
    if ((is_similar || is_pair) && who->role == ROLE_STUDENT)
        refuse(reply, 403, "your role sees only your own submissions");
    else if (is_similar)
        send_json(reply, workbench_similar_json(c, serve_query(request, "exercise"), &e), &e);
    else if (is_pair)
        send_json(reply,
                  workbench_pair_json(c, serve_query(request, "exercise"),
                                      serve_query(request, "a"), serve_query(request, "b"), &e),
                  &e);
    else if (!strcmp(request->path, "api/class"))
        send_json(reply, workbench_class_json(c, who, &e), &e);
    else if (!strcmp(request->path, "api/submission")) get_submission(c, request, reply);
    else workbench_send_file(*request->path ? request->path : "class.html", reply);
}

/* ---- decisions ---- */

/* A decision, and whether it is for the student's whole group. */
struct posted {
    struct decision d; /* its texts are those of the request's body */
    long long seen;
    bool is_for_group;
};

/* The page offers these kinds; the others need the command line. */
static bool parse_kind(const char *kind, const struct workbench_account *who,
                       enum decision_kind *out) {
    *out = decision_parse_kind(kind);
    if (who->role == ROLE_STUDENT) return !strcmp(kind, "request");
    return !strcmp(kind, "score") || !strcmp(kind, "comment") || !strcmp(kind, "answer") ||
           !strcmp(kind, "blind_score");
}

/* Reads a decision of the form {"kind", "value", "reason", "line", "seen", "group"}. */
static bool parse_decision(json_t *body, const struct workbench_account *who, struct posted *p,
                           struct err *e) {
    const char *kind = "";
    int line = 0, group = 0;
    json_int_t seen = 0;
    struct decision *d = &p->d;
    bool ok = json_unpack(body, "{s:s, s:s, s:s, s:i, s:I, s?b}", "kind", &kind, "value", &d->value,
                          "reason", &d->reason, "line", &line, "seen", &seen, "group", &group) == 0;
    if (!ok || line < 0 || !parse_kind(kind, who, &d->kind) ||
        (d->kind != DECISION_comment && line))
        return err_set(e, ERR_INPUT, "%s",
                       who->role == ROLE_STUDENT ? "you may only ask to grade again"
                                                 : "a decision is a score, a blind score, a "
                                                   "comment or an answer");
    d->line = (unsigned)line, p->seen = seen, p->is_for_group = group;
    return *d->value || err_set(e, ERR_INPUT, "a decision has a value; - withdraws one");
}

enum { MAX_GROUP = 64 };

/* Decides the same about each member of the student's group, or about nobody. */
static bool decide_for_group(struct workbench_class *c, const struct posted *p, struct err *e) {
    struct decision list[MAX_GROUP] = {p->d};
    char *partners[MAX_GROUP];
    unsigned n = 1;
    struct store_rows *q = decision_query_partners(&c->s, p->d.student, e);
    for (; n < MAX_GROUP && store_step(&c->s, &q, e); n++) {
        list[n] = p->d;
        list[n].student = partners[n] = xstrdup(store_column_text(q, 0));
    }
    store_finalize(&q);
    bool ok = !e->text[0] && decision_add_all(&c->s, list, n, e);
    for (unsigned i = 1; i < n; i++) free(partners[i]);
    return ok;
}

static void post_decision(struct workbench_class *c, const struct serve_request *request,
                          struct serve_reply *reply) {
    const struct workbench_account *who = &c->accounts[request->account];
    const char *exercise = serve_query(request, "exercise");
    struct posted p = {.d = {.exercise = exercise ? exercise : "", .author = who->name}};
    struct buf id = {0};
    struct err e = {0};
    if (who->role == ROLE_READ) {
        refuse(reply, 403, "your role only reads");
        return;
    }
    json_t *body = json_loadb(buf_str(&request->body), request->body.size, 0, NULL);
    bool ok = parse_decision(body, who, &p, &e) && *p.d.exercise &&
              find_student(c, who, serve_query(request, "student"), &id, &e);
    p.d.student = buf_str(&id), p.d.last_seen = &p.seen;
    if (ok && (p.is_for_group ? decide_for_group(c, &p, &e) : decision_add(&c->s, &p.d, &e)))
        send_json(reply, workbench_submission_json(c, who, p.d.student, p.d.exercise, &e), &e);
    else refuse(reply, e.kind == ERR_SYSTEM ? 500 : 422, *e.text ? e.text : "name an exercise");
    json_decref(body);
    buf_free(&id);
}

void workbench_class_handle(void *user, const struct serve_request *request,
                            struct serve_reply *reply) {
    bool is_get = !strcmp(request->method, "GET"), is_post = !strcmp(request->method, "POST");
    if (is_post && !strcmp(request->path, "api/decide")) post_decision(user, request, reply);
    else if (is_get) get(user, request, reply);
    else refuse(reply, 405, "this address takes no such request");
}
