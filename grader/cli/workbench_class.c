/* workbench_class.c — see workbench_class.h. Every request reads the store anew, so the page shows
 * what other programs and other assistants wrote. A decision names the latest one that its author
 * saw: decision_add refuses it if there is a later one, in the transaction that would add it. */
#include "grader/cli/workbench_class.h"
#include "common/hash.h"
#include "grader/class/decision.h"
#include "grader/cli/workbench.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static bool load_key(struct workbench_class *c, struct err *e) {
    unsigned char bytes[16];
    char key[33];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(key + 2 * i, "%02x", bytes[i]);
    if (!store_exec(&c->s, e, "INSERT OR IGNORE INTO setting VALUES ('pseudonym_key', ?)", "t",
                    key))
        return false;
    sqlite3_stmt *q =
        store_query(&c->s, e, "SELECT value FROM setting WHERE name = 'pseudonym_key'", "");
    if (store_step(&c->s, &q, e)) snprintf(c->key, sizeof c->key, "%s", store_column_text(q, 0));
    store_finalize(&q);
    return !e->text[0];
}

bool workbench_class_open(struct workbench_class *c, const struct options *o, struct err *e) {
    *c = (struct workbench_class){.o = o, .accounts = xcalloc(1, sizeof *c->accounts)};
    c->accounts[0] = (struct workbench_account){xstrdup(o->author ? o->author : ""), o->author};
    bool ok = store_open(&c->s, o->class_store, false, e) && (!o->anonymous || load_key(c, e)) &&
              (!o->tokens || workbench_read_tokens(c, o->tokens, e));
    if (!ok) workbench_class_close(c);
    return ok;
}

void workbench_class_close(struct workbench_class *c) {
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

/* Writes the name of a student that the page shows: the id, or its pseudonym. */
static void put_shown_name(const struct workbench_class *c, const char *id, char out[256]) {
    struct hash h;
    char digest[HASH_HEX_SIZE];
    snprintf(out, 256, "%s", id);
    if (!c->o->anonymous) return;
    hash_init(&h);
    hash_update_string(&h, c->key), hash_update_string(&h, id);
    hash_final_hex(&h, digest);
    snprintf(out, 256, "S-%.10s", digest);
}

/* Appends the id of the student that the page calls `shown`. Returns false if there is none. */
static bool find_student(struct workbench_class *c, const char *shown, struct buf *id,
                         struct err *e) {
    char name[256];
    bool found = false;
    sqlite3_stmt *q = shown ? store_query(&c->s, e, "SELECT id FROM student", "") : NULL;
    while (!found && store_step(&c->s, &q, e)) {
        put_shown_name(c, store_column_text(q, 0), name);
        found = !strcmp(name, shown);
        if (found) buf_puts(id, store_column_text(q, 0));
    }
    store_finalize(&q);
    return found || (!e->text[0] && err_set(e, ERR_INPUT, "there is no such student"));
}

/* ---- what the page shows ---- */

static json_t *text_or_null(sqlite3_stmt *q, int column) {
    const char *text = (const char *)sqlite3_column_text(q, column);
    json_t *o = text ? json_string(text) : NULL;
    return o ? o : json_null();
}

static json_t *number_or_null(sqlite3_stmt *q, int column) {
    return sqlite3_column_type(q, column) == SQLITE_NULL
               ? json_null()
               : json_real(sqlite3_column_double(q, column));
}

/* The reason of a row that is not graded may name entries, thus students. */
static bool may_show_reason(const struct workbench_class *c, const char *state) {
    return !c->o->anonymous || !strcmp(state, "graded") || !strcmp(state, "overridden") ||
           !strcmp(state, "excused");
}

static json_t *row_json(const struct workbench_class *c, sqlite3_stmt *q) {
    char name[256];
    put_shown_name(c, store_column_text(q, 0), name);
    bool has_reason = may_show_reason(c, store_column_text(q, 3));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "student", name, "name",
                     c->o->anonymous ? "" : store_column_text(q, 1), "exercise", text_or_null(q, 2),
                     "state", text_or_null(q, 3), "verdict", text_or_null(q, 4), "score",
                     number_or_null(q, 5), "reason", has_reason ? text_or_null(q, 6) : json_null());
}

static json_t *class_json(struct workbench_class *c, const struct workbench_account *who,
                          struct err *e) {
    json_t *rows = json_array();
    sqlite3_stmt *q = store_query(&c->s, e,
                                  "SELECT student, name, exercise, state, verdict, score, reason "
                                  "FROM gradebook WHERE exercise <> '' ORDER BY student, exercise",
                                  "");
    while (store_step(&c->s, &q, e)) json_array_append_new(rows, row_json(c, q));
    return json_pack("{s:o, s:s, s:b, s:b}", "rows", rows, "author", who->name, "may_decide",
                     who->may_decide, "anonymous", c->o->anonymous);
}

static json_t *history_json(struct workbench_class *c, const char *student, const char *exercise,
                            struct err *e) {
    static const char *const keys[] = {"made_at", "author", "kind",  "line",
                                       "value",   "former", "reason"};
    json_t *rows = json_array();
    sqlite3_stmt *q = store_query(&c->s, e,
                                  "SELECT made_at, author, kind, line, value, former, reason, n, n "
                                  "IN (SELECT n FROM decided) FROM decision WHERE student = ? AND "
                                  "exercise IN (?, '') ORDER BY n",
                                  "tt", student, exercise);
    while (store_step(&c->s, &q, e)) {
        json_t *row = json_pack("{s:I, s:b}", "n", (json_int_t)sqlite3_column_int64(q, 7), "counts",
                                sqlite3_column_int(q, 8));
        for (int i = 0; i < 7; i++) json_object_set_new(row, keys[i], text_or_null(q, i));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *submission_json(struct workbench_class *c, const char *student, const char *exercise,
                               struct err *e) {
    sqlite3_stmt *q = store_query(
        &c->s, e,
        "SELECT g.student, g.name, g.exercise, g.state, g.verdict, g.score, g.reason, r.report, "
        "CAST(s.body AS TEXT) FROM gradebook g LEFT JOIN result r ON r.key = g.key LEFT JOIN "
        "source "
        "s ON s.digest = g.source_sha256 WHERE g.student = ? AND g.exercise = ?",
        "tt", student, exercise);
    json_t *row = NULL;
    if (store_step(&c->s, &q, e)) {
        row = row_json(c, q);
        json_object_set_new(row, "report", text_or_null(q, 7));
        json_object_set_new(row, "source", text_or_null(q, 8));
    } else if (!e->text[0]) err_set(e, ERR_INPUT, "this student has no row of that exercise");
    store_finalize(&q);
    if (row) json_object_set_new(row, "history", history_json(c, student, exercise, e));
    return row;
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
    struct buf id = {0};
    struct err e = {0};
    const char *exercise = serve_query(request, "exercise");
    bool ok = find_student(c, serve_query(request, "student"), &id, &e);
    send_json(reply, ok ? submission_json(c, buf_str(&id), exercise ? exercise : "", &e) : NULL,
              &e);
    buf_free(&id);
}

/* Reads a decision of the form {"kind", "value", "reason", "line", "seen"}. Its texts are those of
 * `body`. */
static bool parse_decision(json_t *body, struct decision *d, long long *seen, struct err *e) {
    const char *kind = "";
    int line = 0;
    json_int_t last = 0;
    bool ok = json_unpack(body, "{s:s, s:s, s:s, s:i, s:I}", "kind", &kind, "value", &d->value,
                          "reason", &d->reason, "line", &line, "seen", &last) == 0;
    d->kind = !strcmp(kind, "score") ? DECISION_score : DECISION_comment;
    d->line = (unsigned)line, *seen = last, d->last_seen = seen;
    if (!ok || line < 0 || (d->kind == DECISION_comment && strcmp(kind, "comment") != 0) ||
        (d->kind == DECISION_score && line))
        return err_set(e, ERR_INPUT, "a decision is a score or a comment");
    return *d->value || err_set(e, ERR_INPUT, "a decision has a value; - withdraws one");
}

static void post_decision(struct workbench_class *c, const struct serve_request *request,
                          struct serve_reply *reply) {
    const struct workbench_account *who = &c->accounts[request->account];
    const char *exercise = serve_query(request, "exercise");
    struct decision d = {.exercise = exercise ? exercise : "", .author = who->name};
    struct buf id = {0};
    struct err e = {0};
    long long seen = 0;
    if (!who->may_decide) {
        refuse(reply, 403, "your role only reads");
        return;
    }
    json_t *body = json_loadb(buf_str(&request->body), request->body.size, 0, NULL);
    bool ok = parse_decision(body, &d, &seen, &e) && *d.exercise &&
              find_student(c, serve_query(request, "student"), &id, &e);
    d.student = buf_str(&id);
    if (ok && decision_add(&c->s, &d, &e))
        send_json(reply, submission_json(c, d.student, d.exercise, &e), &e);
    else refuse(reply, e.kind == ERR_SYSTEM ? 500 : 422, *e.text ? e.text : "name an exercise");
    json_decref(body);
    buf_free(&id);
}

void workbench_class_handle(void *user, const struct serve_request *request,
                            struct serve_reply *reply) {
    struct workbench_class *c = user;
    struct err e = {0};
    bool is_get = !strcmp(request->method, "GET"), is_post = !strcmp(request->method, "POST");
    if (is_post && !strcmp(request->path, "api/decide")) post_decision(c, request, reply);
    else if (!is_get) refuse(reply, 405, "this address takes no such request");
    else if (!strcmp(request->path, "api/class"))
        send_json(reply, class_json(c, &c->accounts[request->account], &e), &e);
    else if (!strcmp(request->path, "api/submission")) get_submission(c, request, reply);
    else workbench_send_file(*request->path ? request->path : "class.html", reply);
}
