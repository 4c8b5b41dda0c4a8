/* serve.h — a small web server for one user, with events (Server-Sent Events). It knows nothing of
 * exercises: cli/cmd_serve.c answers the requests that pass the checks here.
 *
 * Threat: other users of the machine, and pages that the user's browser shows. So every request
 * needs a token, which the printed address carries once and a cookie from then on; `Host` must be
 * an address, not a name that a foreign name server controls; `Origin` must be this server. One
 * thread does everything: serve_wait() waits for requests and for another file at the same time. */
#pragma once
#include "common/buf.h"
#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SERVE_TOKEN_SIZE = 33,         /* 32 hex digits and the zero */
    SERVE_MAX_BODY = 1 << 20,      /* bytes of a request's body; more gets status 413 */
    SERVE_MAX_CONNECTIONS = 128,   /* at the same time */
    SERVE_MAX_PENDING = 64,        /* of them without a complete request; more close the oldest */
    SERVE_MAX_REQUEST_SECONDS = 10 /* from the first byte of a request to its last one */
};

struct serve;
struct MHD_Connection;

struct serve_request {
    const char *method, *path; /* path: what follows the address, "api/contents"; no query */
    struct buf body;
    unsigned account;                  /* 0 = the printed token's, i = that of tokens[i - 1] */
    struct MHD_Connection *connection; /* for serve_query() and serve_header() */
};
struct serve_reply {
    unsigned status;    /* HTTP; 200 unless the handler changes it */
    const char *type;   /* media type, a literal */
    const char *policy; /* content security policy; NULL = the page's own */
    struct buf body;    /* the server frees it */
};
struct serve_options {
    const char *address; /* to bind, "127.0.0.1" or "::1" */
    unsigned port;       /* 0 = the system chooses one */
    /* "https://hub.example/user/x" if a proxy shows the server under that address; else NULL. */
    const char *origin;
    const char (*tokens)[SERVE_TOKEN_SIZE]; /* further ones, 32 hex digits each; the caller's */
    unsigned ntokens;
    void (*handle)(void *user, const struct serve_request *request, struct serve_reply *reply);
    void *user;
};

/* Starts to listen. Returns NULL with an error. */
struct serve *serve_start(const struct serve_options *o, struct err *e);
void serve_stop(struct serve *s);
unsigned serve_port(const struct serve *s);
/* Appends the address to open, with the token. */
void serve_append_url(const struct serve *s, struct buf *out);
/* Answers requests until `fd` (-1 = none) is readable, or until the time is over. */
void serve_wait(struct serve *s, int fd, int timeout_ms);
/* Sends an event to every page that listens at `api/events`. `data`: text without newlines. */
void serve_send_event(struct serve *s, const char *name, const char *data);

/* Return a parameter of the query, or a header; NULL = absent. */
const char *serve_query(const struct serve_request *r, const char *name);
const char *serve_header(const struct serve_request *r, const char *name);

/* guard.c: the checks of a request, without any I/O. */
struct serve_guard {
    char token[SERVE_TOKEN_SIZE], cookie_name[32]; /* one cookie name for each port */
    unsigned port;
    const char *origin; /* as in serve_options */
    const char (*tokens)[SERVE_TOKEN_SIZE];
    unsigned ntokens;
};
/* Draws a token from the system. */
void serve_guard_init(struct serve_guard *g, unsigned port, const char *origin);
/* Return true if `token` is one of the guard's, in a time that doesn't depend on it. `*account`, if
 * not NULL, becomes the token's, as in serve_request. */
bool serve_guard_accepts_token(const struct serve_guard *g, const char *token, unsigned *account);
bool serve_guard_accepts_cookie(const struct serve_guard *g, const char *cookie_header,
                                unsigned *account);
bool serve_guard_accepts_host(const struct serve_guard *g, const char *host_header);
/* `origin_header` is NULL for requests that browsers send without one. */
bool serve_guard_accepts_origin(const struct serve_guard *g, const char *origin_header,
                                const char *host_header);

/* framing.c: returns true if another server could read the request's headers differently. */
bool serve_is_ambiguous(struct MHD_Connection *c);

/* events.c: the pages that listen. */
struct MHD_Response;
struct serve_events;
/* Events for browsers (server-sent events): open, close, send one to every connection. */
struct serve_events *serve_events_new(void);
void serve_events_free(struct serve_events *v);
void serve_events_send(struct serve_events *v, const char *name, const char *data);
/* Returns the response that sends events to this connection until it closes. */
struct MHD_Response *serve_events_response(struct serve_events *v,
                                           struct MHD_Connection *connection);
