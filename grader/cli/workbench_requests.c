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
    const struct workbench_exercise *x = &w->exercises[index];
    if (o && json_is_true(json_object_get(o, "started")) && !x->result.size && !x->is_stopped &&
        !workbench_is_grading(w, index))
        workbench_queue_grading(w, index); /* a kept result arrives at once */
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
    struct buf disk = {0}, replaced = {0};
    struct err e = {0};
    char digest[HASH_HEX_SIZE], ignored[HASH_HEX_SIZE];
    bool ok = workbench_read_source(ex, &disk, &e);
    sha256_hex(buf_str(&disk), disk.size, digest);
    if (ok && (!expected || strcmp(expected, digest) != 0)) send_conflict(reply, &disk, digest);
    else if (ok) {
        progress_keep_version(ex, buf_str(&disk), disk.size, digest);
        ok = workbench_write_source(ex, &request->body, &replaced, &e);
        if (replaced.size) progress_keep_version(ex, replaced.data, replaced.size, ignored);
        sha256_hex(buf_str(&request->body), request->body.size, digest);
        if (ok) send_json(reply, json_pack("{s:s}", "digest", digest), &e);
        workbench_check_files(w);
    }
    if (!ok) refuse(reply, 422, e.text);
    buf_free(&disk), buf_free(&replaced);
}

/* ---- jobs ---- */

/* Queues a job on the device that the page chose. */
static void accept_job(struct workbench *w, struct workbench_job job, struct serve_reply *reply) {
    if (workbench_queue(w, &job)) reply->status = 202;
    else refuse(reply, 503, "too much waits already; try again later");
}

static const struct gpu_device *device_of(const struct workbench *w, unsigned index) {
    const struct gpu_device *d = index < book_count() ? w->exercises[index].device : NULL;
    return d ? d : w->o->devices[0];
}

static void post_grade(struct workbench *w, unsigned index, const struct serve_request *request,
                       struct serve_reply *reply) {
    const char *name = serve_query(request, "device");
    const struct gpu_device *d = name ? device_find(name) : NULL;
    if (name && !d && strcmp(name, w->o->devices[0]->name) != 0) {
        refuse(reply, 422, "there is no such device");
        return;
    }
    if (name) w->exercises[index].device = d;
    accept_job(w,
               (struct workbench_job){
                   .kind = WORKBENCH_GRADE, .index = index, .device = device_of(w, index)},
               reply);
}

static void post_tune(struct workbench *w, unsigned index, const struct serve_request *request,
                      struct serve_reply *reply) {
    (void)request;
    accept_job(w,
               (struct workbench_job){
                   .kind = WORKBENCH_TUNE, .index = index, .device = device_of(w, index)},
               reply);
}

static void get_quiz(struct workbench *w, unsigned index, const struct serve_request *request,
                     struct serve_reply *reply) {
    struct err e = {0};
    (void)w, (void)request;
    send_json(reply, workbench_quiz_json(book_at(index), &e), &e);
}

/* Judges the answer in the body; the event `answer` says the result. */
static void post_quiz(struct workbench *w, unsigned index, const struct serve_request *request,
                      struct serve_reply *reply) {
    struct workbench_job job = {
        .kind = WORKBENCH_QUIZ, .index = index, .device = device_of(w, index)};
    const char *question = serve_query(request, "question"), *answer = buf_str(&request->body);
    unsigned number = 0;
    bool is_number = question && strspn(question, "0123456789") == strlen(question);
    if (!is_number || sscanf(question, "%3u", &number) != 1 || strlen(answer) > 100 ||
        strpbrk(answer, "\r\n")) {
        refuse(reply, 422, "an answer is a number or a letter, of one question");
        return;
    }
    snprintf(job.argument, sizeof job.argument, "%u %s", number, answer);
    accept_job(w, job, reply);
}

static void get_history(struct workbench *w, unsigned index, const struct serve_request *request,
                        struct serve_reply *reply) {
    struct err e = {0};
    (void)request;
    send_json(reply, workbench_history_json(book_at(index), w->o->devices[0]), &e);
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
    {"GET", "api/quiz", get_quiz},         {"POST", "api/quiz", post_quiz},
    {"POST", "api/tune", post_tune},
};

/* Returns the index of the exercise with that ID; book_count() = none. */
static unsigned find_exercise(const char *id) {
    unsigned i = 0;
    while (i < book_count() && (!id || strcmp(book_id(book_at(i)), id) != 0)) i++;
    return i;
}

/* ---- the playground ---- */

static void get_play_list(struct workbench *w, const struct serve_request *request,
                          struct serve_reply *reply) {
    struct err e = {0};
    (void)request;
    send_json(reply,
              json_pack("{s:o, s:o, s:s}", "programs", workbench_play_list_json(), "devices",
                        workbench_devices_json(), "device", w->o->devices[0]->name),
              &e);
}

static void get_play_source(struct workbench *w, const struct serve_request *request,
                            struct serve_reply *reply) {
    struct buf text = {0};
    struct err e = {0};
    char digest[HASH_HEX_SIZE];
    (void)w;
    bool ok = workbench_read_play(serve_query(request, "name"), &text, &e);
    json_t *source = ok ? json_stringn(buf_str(&text), text.size) : NULL;
    if (ok && !source) err_set(&e, ERR_INPUT, "the file is not UTF-8; use another editor for it");
    sha256_hex(buf_str(&text), text.size, digest);
    send_json(reply, source ? json_pack("{s:o, s:s}", "source", source, "digest", digest) : NULL,
              &e);
    buf_free(&text);
}

/* Replaces a program whose text the page knows; `If-Match: new` creates one. */
static void put_play_source(struct workbench *w, const struct serve_request *request,
                            struct serve_reply *reply) {
    const char *name = serve_query(request, "name"), *expected = serve_header(request, "If-Match");
    struct buf disk = {0};
    struct err e = {0};
    char digest[HASH_HEX_SIZE];
    (void)w;
    bool exists = workbench_read_play(name, &disk, &e);
    e = (struct err){0};
    sha256_hex(buf_str(&disk), disk.size, digest);
    if (exists && (!expected || strcmp(expected, digest) != 0)) send_conflict(reply, &disk, digest);
    else {
        bool ok = workbench_write_play(name, &request->body, &e);
        sha256_hex(buf_str(&request->body), request->body.size, digest);
        send_json(reply, ok ? json_pack("{s:s}", "digest", digest) : NULL, &e);
    }
    buf_free(&disk);
}

static void post_play(struct workbench *w, const struct serve_request *request,
                      struct serve_reply *reply) {
    const char *name = serve_query(request, "name"), *device = serve_query(request, "device");
    const struct gpu_device *d = device ? device_find(device) : w->o->devices[0];
    struct workbench_job job = {.kind = WORKBENCH_PLAY, .index = book_count(), .device = d};
    if (!name || !workbench_is_play_name(name)) refuse(reply, 404, "there is no such program");
    else if (!d) refuse(reply, 422, "there is no such device");
    else {
        snprintf(job.argument, sizeof job.argument, "%s", name);
        accept_job(w, job, reply);
    }
}

static void post_stop(struct workbench *w, const struct serve_request *request,
                      struct serve_reply *reply) {
    (void)request;
    workbench_stop_job(w);
    reply->status = 202;
}

/* `book` is no path: the student returns to the order of the book. */
static void post_path(struct workbench *w, const struct serve_request *request,
                      struct serve_reply *reply) {
    const char *name = serve_query(request, "name");
    struct err e = {0};
    bool is_book = name && !strcmp(name, "book");
    const struct book_path_row *path = is_book ? NULL : book_path_find(name ? name : "", &e);
    (void)w;
    if ((path || is_book) && progress_follow_path(path, &e)) reply->status = 202;
    else refuse(reply, 422, e.text);
}

static const struct {
    const char *method, *path;
    void (*run)(struct workbench *, const struct serve_request *, struct serve_reply *);
} other_routes[] = {{"GET", "api/playground", get_play_list}, {"GET", "api/play", get_play_source},
                    {"PUT", "api/play", put_play_source},     {"POST", "api/play", post_play},
                    {"POST", "api/path", post_path},          {"POST", "api/stop", post_stop}};

/* ---- files ---- */

static const char *type_of(const char *path) {
    return text_ends_with(path, ".js")     ? "text/javascript; charset=utf-8"
           : text_ends_with(path, ".css")  ? "text/css; charset=utf-8"
           : text_ends_with(path, ".svg")  ? "image/svg+xml"
           : text_ends_with(path, ".html") ? "text/html; charset=utf-8"
           : text_ends_with(path, ".md")   ? "text/markdown; charset=utf-8"
                                           : NULL;
}

/* Sets `out` to the folder of the documents: docs/ of the sources, or where grader/install.sh puts
 * it, beside the book. */
static void find_documents(char out[static PATH_MAX]) {
    snprintf(out, PATH_MAX, "%.3800s/docs", book_root());
    if (!file_exists(out)) snprintf(out, PATH_MAX, "%.3800s/../doc/warpbook", book_root());
}

void workbench_send_file(const char *path, struct serve_reply *reply) {
    if (!strcmp(path, "style.css")) {
        reply->type = "text/css; charset=utf-8";
        buf_puts(&reply->body, page_style_sheet());
        return;
    }
    char app[PATH_MAX], documents[PATH_MAX];
    struct err e = {0};
    find_documents(documents);
    bool is_picture = text_starts_with(path, "chapters/") && text_ends_with(path, ".svg"),
         is_document = text_starts_with(path, "docs/") && text_ends_with(path, ".md"),
         is_library = text_starts_with(path, "codemirror/");
    snprintf(app, sizeof app, "%.3800s/grader/serve/app", book_root());
    const char *root = is_picture    ? book_root()
                       : is_document ? documents
                       : is_library  ? paths_codemirror_dir()
                                     : app,
               *relative = is_library    ? path + strlen("codemirror/")
                           : is_document ? path + strlen("docs/")
                                         : path;
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
    for (size_t i = 0; i < sizeof other_routes / sizeof *other_routes; i++)
        if (!strcmp(request->path, other_routes[i].path) &&
            !strcmp(request->method, other_routes[i].method)) {
            other_routes[i].run(user, request, reply);
            return;
        }
    if (!is_get) refuse(reply, 405, "this address takes no such request");
    else if (!strcmp(request->path, "api/contents"))
        send_json(reply, workbench_contents_json(((struct workbench *)user)->o->devices[0]), &e);
    else workbench_send_file(*request->path ? request->path : "index.html", reply);
}
