/* serve.c — see serve.h. libmicrohttpd parses HTTP; serve_wait() drives it with poll(). */
#include "grader/serve/serve.h"
#include "common/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* No inline script or style, no foreign file, no frame. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

enum { STATUS_TOO_LARGE = 413 }; /* the library's name for it changed */
static const char too_large[] = "not saved: the text is larger than 1 MiB\n";

/* A connection whose request has not arrived completely. */
struct pending {
    int fd;
    double since;
};

struct serve {
    struct serve_options o;
    struct serve_guard guard;
    struct serve_events *events;
    struct MHD_Daemon *daemon;
    struct pending pending[SERVE_MAX_PENDING]; /* oldest first */
    unsigned npending;
    double last_comment;
};

/* ---- connections that send too slowly ---- */

static void pending_remove(struct serve *s, int fd) {
    unsigned kept = 0;
    for (unsigned i = 0; i < s->npending; i++)
        if (s->pending[i].fd != fd) s->pending[kept++] = s->pending[i];
    s->npending = kept;
}

static void close_oldest(struct serve *s) {
    int fd = s->pending[0].fd;
    shutdown(fd, SHUT_RDWR);
    pending_remove(s, fd);
}

/* Closes the oldest one if there are too many: a user of the machine who opens connections without
 * end would keep the page's own waiting, which send their request at once. */
static void pending_add(struct serve *s, int fd) {
    pending_remove(s, fd);
    if (s->npending == SERVE_MAX_PENDING) close_oldest(s);
    s->pending[s->npending++] = (struct pending){fd, clock_seconds()};
}

static int connection_fd(struct MHD_Connection *c) {
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void on_connection(void *user, struct MHD_Connection *c, void **context,
                          enum MHD_ConnectionNotificationCode code) {
    (void)context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) pending_add(user, connection_fd(c));
    else pending_remove(user, connection_fd(c));
}

/* libmicrohttpd only limits the time between two bytes. */
static void close_slow_connections(struct serve *s) {
    while (s->npending && clock_seconds() - s->pending[0].since > SERVE_MAX_REQUEST_SECONDS)
        close_oldest(s);
}

/* ---- replies ---- */

static void add_headers(struct MHD_Response *r, const char *type, const char *policy) {
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Content-Security-Policy", policy ? policy : page_policy);
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(r, "Cache-Control", "no-store");
}

/* Refuses a request. What follows it on this connection is not read. */
static enum MHD_Result send_refusal(struct MHD_Connection *c, unsigned status, const char *text) {
    struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                             MHD_RESPMEM_MUST_COPY);
    add_headers(r, "text/plain; charset=utf-8", NULL);
    MHD_add_response_header(r, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

/* Stores the token in a cookie and leads on to the address without it. A redirect would not do: if
 * a foreign page or a local file led here, browsers withhold a strict cookie from the whole chain.
 * The cookie names no path, so it belongs to the folder of the address, also below a proxy's
 * prefix. */
static enum MHD_Result send_cookie(const struct serve *s, struct MHD_Connection *c,
                                   const char *token) {
    static const char page[] = "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=./\">"
                               "<a href=\"./\">Open the workbook</a>\n";
    char cookie[160];
    struct MHD_Response *r = MHD_create_response_from_buffer(
        sizeof page - 1, (void *)(uintptr_t)page, MHD_RESPMEM_PERSISTENT);
    snprintf(cookie, sizeof cookie, "%s=%s; HttpOnly; SameSite=Strict", s->guard.cookie_name,
             token);
    add_headers(r, "text/html; charset=utf-8", NULL);
    MHD_add_response_header(r, "Set-Cookie", cookie);
    enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result send_events(struct serve *s, struct MHD_Connection *c) {
    struct MHD_Response *r = serve_events_response(s->events, c);
    if (!r)
        return send_refusal(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many open pages; close some\n");
    add_headers(r, "text/event-stream", NULL);
    MHD_add_response_header(r, "X-Accel-Buffering", "no");
    enum MHD_Result result = MHD_queue_response(c, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result send_reply(struct serve *s, struct MHD_Connection *c,
                                  const struct serve_request *request) {
    struct serve_reply reply = {.status = MHD_HTTP_OK, .type = "text/plain; charset=utf-8"};
    s->o.handle(s->o.user, request, &reply);
    struct MHD_Response *r = MHD_create_response_from_buffer(
        reply.body.size, reply.body.data ? reply.body.data : "", MHD_RESPMEM_MUST_COPY);
    add_headers(r, reply.type, reply.policy);
    enum MHD_Result result = MHD_queue_response(c, reply.status, r);
    MHD_destroy_response(r);
    buf_free(&reply.body);
    return result;
}

/* ---- requests ---- */

static const char *header(struct MHD_Connection *c, const char *name) {
    return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Returns why a request is refused; NULL = it comes from the user's page. */
static const char *refusal(const struct serve *s, struct MHD_Connection *c, unsigned *account) {
    const char *host = header(c, "Host"), *origin = header(c, "Origin");
    if (!serve_guard_accepts_host(&s->guard, host))
        return "the Host header names another server; open the address that grader serve printed, "
               "or name the proxy's address with --origin\n";
    if (!serve_guard_accepts_origin(&s->guard, origin, host))
        return "the request comes from a page of another site\n";
    if (serve_guard_accepts_cookie(&s->guard, header(c, "Cookie"), account)) return NULL;
    return "the token is missing; open the address that grader serve printed\n";
}

/* Returns the token with which a request signs in; NULL = it doesn't. */
static const char *sign_in_token(const struct serve *s, struct MHD_Connection *c,
                                 const char *method, const char *url) {
    const char *token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    bool is_sign_in = !strcmp(method, "GET") && !strcmp(url, "/") &&
                      serve_guard_accepts_host(&s->guard, header(c, "Host")) &&
                      serve_guard_accepts_token(&s->guard, token, NULL);
    return is_sign_in ? token : NULL;
}

struct request_ctx {
    struct serve_request request;
    bool is_too_large;
};

static bool add_body(struct request_ctx *x, const char *data, size_t size) {
    x->is_too_large |= x->request.body.size + size > SERVE_MAX_BODY;
    if (!x->is_too_large) buf_add(&x->request.body, data, size);
    return !x->is_too_large;
}

static bool announces_large_body(struct MHD_Connection *c) {
    const char *length = header(c, "Content-Length");
    return length && strtoull(length, NULL, 10) > SERVE_MAX_BODY;
}

/* Called when the headers of a request have arrived: refuses it before its body is read. */
static enum MHD_Result begin_request(struct serve *s, struct MHD_Connection *c, const char *url,
                                     const char *method, void **context) {
    unsigned account = 0;
    if (serve_is_ambiguous(c))
        return send_refusal(c, MHD_HTTP_BAD_REQUEST, "ambiguous or malformed headers\n");
    const char *token = sign_in_token(s, c, method, url);
    if (token) return send_cookie(s, c, token);
    const char *reason = refusal(s, c, &account);
    if (reason) return send_refusal(c, MHD_HTTP_FORBIDDEN, reason);
    if (announces_large_body(c)) return send_refusal(c, STATUS_TOO_LARGE, too_large);
    struct request_ctx *x = xcalloc(1, sizeof *x);
    x->request = (struct serve_request){.connection = c, .account = account};
    *context = x;
    return MHD_YES;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **context) {
    struct serve *s = user;
    struct request_ctx *x = *context;
    (void)version;
    if (!x) return begin_request(s, c, url, method, context);
    if (*size) {
        add_body(x, data, *size);
        *size = 0;
        return MHD_YES;
    }
    pending_remove(s, connection_fd(c));
    if (x->is_too_large) return send_refusal(c, STATUS_TOO_LARGE, too_large);
    x->request.method = method, x->request.path = url + (*url == '/');
    if (!strcmp(x->request.path, "api/events")) return send_events(s, c);
    return send_reply(s, c, &x->request);
}

static void on_completed(void *user, struct MHD_Connection *c, void **context,
                         enum MHD_RequestTerminationCode code) {
    struct request_ctx *x = *context;
    (void)code;
    pending_add(user, connection_fd(c)); /* it may send another request */
    if (x) buf_free(&x->request.body);
    free(x);
    *context = NULL;
}

const char *serve_query(const struct serve_request *r, const char *name) {
    return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *serve_header(const struct serve_request *r, const char *name) {
    return header(r->connection, name);
}

/* ---- the server ---- */

/* Sets the socket address; returns its size, 0 if the text is no address. */
static socklen_t parse_address(const char *text, unsigned port, struct sockaddr_storage *out) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET, v4->sin_port = htons((uint16_t)port);
        return sizeof *v4;
    }
    if (inet_pton(AF_INET6, text, &v6->sin6_addr) != 1) return 0;
    v6->sin6_family = AF_INET6, v6->sin6_port = htons((uint16_t)port);
    return sizeof *v6;
}

static int listen_on(const struct serve_options *o, struct err *e) {
    struct sockaddr_storage address;
    socklen_t size = parse_address(o->address, o->port, &address);
    int fd, yes = 1;
    if (!size) {
        err_set(e, ERR_INPUT, "--listen takes an address such as 127.0.0.1:8000, not '%.60s'",
                o->address);
        return -1;
    }
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 &&
        listen(fd, SERVE_MAX_CONNECTIONS) == 0)
        return fd;
    err_set(e, ERR_SYSTEM, "cannot listen on %s, port %u: %s; choose another with --listen",
            o->address, o->port, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

static unsigned port_of(int fd) {
    struct sockaddr_storage a;
    socklen_t size = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &size) < 0) return 0;
    return ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
                                        : ((struct sockaddr_in6 *)&a)->sin6_port);
}

struct serve *serve_start(const struct serve_options *o, struct err *e) {
    enum { IDLE_SECONDS = 30, HEADER_BYTES = 32 << 10 };
    int fd = listen_on(o, e);
    if (fd < 0) return NULL;
    struct serve *s = xcalloc(1, sizeof *s);
    s->o = *o, s->events = serve_events_new();
    serve_guard_init(&s->guard, port_of(fd), o->origin);
    s->guard.tokens = o->tokens, s->guard.ntokens = o->ntokens;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, s,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, SERVE_MAX_CONNECTIONS,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HEADER_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (s->daemon) return s;
    close(fd), serve_events_free(s->events), free(s);
    return err_set(e, ERR_SYSTEM, "libmicrohttpd can't start a server"), NULL;
}

void serve_stop(struct serve *s) {
    serve_events_send(s->events, "", ""); /* resumes all, as the library requires */
    MHD_stop_daemon(s->daemon);
    serve_events_free(s->events);
    free(s);
}

unsigned serve_port(const struct serve *s) { return s->guard.port; }

void serve_append_url(const struct serve *s, struct buf *out) {
    bool is_v6 = strchr(s->o.address, ':');
    if (s->o.origin) {
        size_t size = strlen(s->o.origin);
        buf_printf(out, "%s%s?token=%s", s->o.origin,
                   size && s->o.origin[size - 1] == '/' ? "" : "/", s->guard.token);
    } else
        buf_printf(out, "http://%s%s%s:%u/?token=%s", is_v6 ? "[" : "", s->o.address,
                   is_v6 ? "]" : "", s->guard.port, s->guard.token);
}

static int shorter_timeout(struct serve *s, int timeout_ms) {
    MHD_UNSIGNED_LONG_LONG wanted;
    if (MHD_get_timeout(s->daemon, &wanted) != MHD_YES || wanted > (unsigned)timeout_ms)
        return timeout_ms;
    return (int)wanted;
}

void serve_wait(struct serve *s, int fd, int timeout_ms) {
    enum { COMMENT_SECONDS = 10 };
    double end = clock_seconds() + timeout_ms / 1e3, now;
    int epoll = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    do {
        struct pollfd p[2] = {{.fd = epoll, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
        int left_ms = (int)((end - clock_seconds()) * 1e3);
        if (poll(p, 2, shorter_timeout(s, left_ms > 0 ? left_ms : 0)) < 0) return; /* a signal */
        MHD_run(s->daemon);
        close_slow_connections(s);
        now = clock_seconds();
        if (now - s->last_comment > COMMENT_SECONDS)
            serve_events_send(s->events, "", ""), s->last_comment = now;
        if (p[1].revents) return;
    } while (now < end);
}

void serve_send_event(struct serve *s, const char *name, const char *data) {
    serve_events_send(s->events, name, data);
}
