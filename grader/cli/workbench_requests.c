/* workbench_requests.c — answers the requests of the page of `grader serve`. Paths of a request
 * never name a file of the workspace: an exercise is named, and the book knows its file. */
#include "common/file.h"
#include "common/paths.h"
#include "common/text.h"
#include "grader/cli/commands.h"
#include "grader/cli/progress.h"
#include "grader/cli/workbench.h"
#include "grader/page/page.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATIC_BYTES = 4 << 20 };
static const char json_media_type[] = "application/json";

static void refuse(struct serve_reply *reply, unsigned status, const char *text) {
    reply->status = status, reply->type = "text/plain; charset=utf-8";
    buf_clear(&reply->body);
    buf_printf(&reply->body, "%s\n", text);
}

/* Sends the object, or the error if it is NULL. Takes over the reference. */
static void send_json(struct serve_reply *reply, json_t *o, const struct err *e) {
    reply->type = json_media_type;
    if (o) workbench_put_json(o, &reply->body);
    else refuse(reply, 422, e->text);
}

/* ---- an exercise ---- */

static void get_exercise(struct workbench *w, unsigned index, const struct serve_request *request,
                         struct serve_reply *reply) {
    struct err e = {0};
    (void)request;
    json_t *o = workbench_exercise_json(w, index, &e);
    if (o && json_is_true(json_object_get(o, "started")) && !w->exercises[index].result.size)
        workbench_queue(w, index); /* a kept result arrives at once */
    send_json(reply, o, &e);
}

static void send_conflict(struct serve_reply *reply, const struct buf *disk, const char *digest) {
    struct err e = {0};
    json_t *text = json_stringn(buf_str(disk), disk->size);
    err_set(&e, ERR_INPUT, "another program has changed the file, and it is not UTF-8 now");
    send_json(reply, text ? json_pack("{s:o, s:s}", "source", text, "digest", digest) : NULL, &e);
    if (text) reply->status = 409;
}

/* Replaces the file if the page knows the text that it replaces; that text stays in the history's
 * folder. */
static void put_source(struct workbench *w, unsigned index, const struct serve_request *request,
                       struct serve_reply *reply) {
    const struct exercise *ex = book_at(index);
    const char *expected = serve_header(request, "If-Match");
    struct buf disk = {0};
    struct err e = {0};
    char digest[HASH_HEX_SIZE];
    bool ok = workbench_read_source(ex, &disk, &e);
    sha256_hex(buf_str(&disk), disk.size, digest);
    if (ok && (!expected || strcmp(expected, digest) != 0)) send_conflict(reply, &disk, digest);
    else if (ok) {
        progress_keep_version(ex, buf_str(&disk), disk.size, digest);
        ok = workbench_write_source(ex, &request->body, &e);
        sha256_hex(buf_str(&request->body), request->body.size, digest);
        if (ok) send_json(reply, json_pack("{s:s}", "digest", digest), &e);
        workbench_check_files(w);
    }
    if (!ok) refuse(reply, 422, e.text);
    buf_free(&disk);
}

static void post_grade(struct workbench *w, unsigned index, const struct serve_request *request,
                       struct serve_reply *reply) {
    (void)request;
    workbench_queue(w, index);
    reply->status = 202;
}

static void get_history(struct workbench *w, unsigned index, const struct serve_request *request,
                        struct serve_reply *reply) {
    struct err e = {0};
    (void)w, (void)request;
    send_json(reply, workbench_history_json(book_at(index)), &e);
}

/* Sends a text of the history; "starter" is the starter file. */
static void get_version(struct workbench *w, unsigned index, const struct serve_request *request,
                        struct serve_reply *reply) {
    const char *digest = serve_query(request, "digest");
    struct err e = {0};
    (void)w;
    bool ok = digest && (!strcmp(digest, "starter")
                             ? book_original_starter(book_at(index), &reply->body, &e)
                             : progress_read_version(book_at(index), digest, &reply->body));
    if (!ok) refuse(reply, 404, "this version is not stored");
}

/* Keeps a text that the user replaces by the file's. */
static void post_version(struct workbench *w, unsigned index, const struct serve_request *request,
                         struct serve_reply *reply) {
    char digest[HASH_HEX_SIZE];
    struct err e = {0};
    (void)w;
    progress_keep_version(book_at(index), buf_str(&request->body), request->body.size, digest);
    send_json(reply, json_pack("{s:s}", "digest", digest), &e);
}

static void post_hint(struct workbench *w, unsigned index, const struct serve_request *request,
                      struct serve_reply *reply) {
    const struct exercise *ex = book_at(index);
    struct progress p;
    struct err e = {0};
    (void)w, (void)request;
    json_t *before = workbench_hints_json(ex);
    progress_load(ex, &p);
    if (p.hint_count < json_integer_value(json_object_get(before, "count")))
        p.hint_count++, progress_save(ex, &p);
    json_decref(before);
    send_json(reply, workbench_hints_json(ex), &e);
}

static void post_solution(struct workbench *w, unsigned index, const struct serve_request *request,
                          struct serve_reply *reply) {
    struct err e = {0};
    (void)w, (void)request;
    send_json(reply, workbench_solution_json(book_at(index), &e), &e);
}

static const struct {
    const char *method, *path;
    void (*run)(struct workbench *, unsigned index, const struct serve_request *,
                struct serve_reply *);
} routes[] = {
    {"GET", "api/exercise", get_exercise}, {"PUT", "api/source", put_source},
    {"POST", "api/grade", post_grade},     {"GET", "api/history", get_history},
    {"GET", "api/version", get_version},   {"POST", "api/version", post_version},
    {"POST", "api/hint", post_hint},       {"POST", "api/solution", post_solution},
};

/* Returns the index of the exercise with that ID; book_count() = none. */
static unsigned find_exercise(const char *id) {
    unsigned i = 0;
    while (i < book_count() && (!id || strcmp(book_id(book_at(i)), id) != 0)) i++;
    return i;
}

/* ---- files ---- */

static const char *type_of(const char *path) {
    return text_ends_with(path, ".js")     ? "text/javascript; charset=utf-8"
           : text_ends_with(path, ".css")  ? "text/css; charset=utf-8"
           : text_ends_with(path, ".svg")  ? "image/svg+xml"
           : text_ends_with(path, ".html") ? "text/html; charset=utf-8"
                                           : NULL;
}

/* Sends a file of the page, of CodeMirror, or a picture of a lesson. */
static void send_static(const char *path, struct serve_reply *reply) {
    char app[PATH_MAX];
    struct err e = {0};
    bool is_picture = text_starts_with(path, "chapters/") && text_ends_with(path, ".svg"),
         is_library = text_starts_with(path, "codemirror/");
    snprintf(app, sizeof app, "%.3800s/grader/serve/app", book_root());
    const char *root = is_picture   ? book_root()
                       : is_library ? paths_codemirror_dir()
                                    : app,
               *relative = is_library ? path + strlen("codemirror/") : path;
    reply->type = type_of(path);
    if (!reply->type || !workbench_read(root, relative, MAX_STATIC_BYTES, &reply->body, &e))
        refuse(reply, 404, "there is no such page");
    else if (is_picture) reply->policy = "default-src 'none'; style-src 'unsafe-inline'";
}

void workbench_handle(void *user, const struct serve_request *request, struct serve_reply *reply) {
    struct err e = {0};
    unsigned index = find_exercise(serve_query(request, "id"));
    bool is_get = !strcmp(request->method, "GET");
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (!strcmp(request->path, routes[i].path) && !strcmp(request->method, routes[i].method)) {
            if (index == book_count()) refuse(reply, 404, "there is no such exercise");
            else routes[i].run(user, index, request, reply);
            return;
        }
    if (!is_get) refuse(reply, 405, "this address takes no such request");
    else if (!strcmp(request->path, "api/contents"))
        send_json(reply, workbench_contents_json(), &e);
    else if (!strcmp(request->path, "style.css")) {
        reply->type = "text/css; charset=utf-8";
        buf_puts(&reply->body, page_style_sheet());
    } else send_static(*request->path ? request->path : "index.html", reply);
}
