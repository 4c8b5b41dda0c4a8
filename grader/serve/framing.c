/* framing.c — refuses requests that a proxy and libmicrohttpd could read differently. If one of
 * them ends a body at its length and the other at its last chunk, they disagree on where the next
 * request begins: the body of one user could then become a request on the connection of another
 * ("request smuggling"). libmicrohttpd 0.9 accepts all of these. */
#include "grader/serve/serve.h"

#include <microhttpd.h>
#include <string.h>
#include <strings.h>

/* Headers that a request has at most once; a second one would be another server's first. */
static const char *const single_headers[] = {"Host", "Origin", "Content-Length",
                                             "Transfer-Encoding", "If-Match"};
enum { SINGLE_COUNT = sizeof single_headers / sizeof *single_headers };
enum { CONTENT_LENGTH = 2, TRANSFER_ENCODING = 3 };

struct framing {
    unsigned counts[SINGLE_COUNT];
    bool is_malformed;
};

static bool is_token(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "!#$%&'*+-.^_`|~";
    return *name && !name[strspn(name, letters)];
}

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name,
                                    const char *value) {
    struct framing *f = user;
    (void)kind, (void)value;
    f->is_malformed |= !is_token(name);
    for (unsigned i = 0; i < SINGLE_COUNT; i++)
        if (!strcasecmp(name, single_headers[i])) f->counts[i]++;
    return MHD_YES;
}

bool serve_is_ambiguous(struct MHD_Connection *c) {
    struct framing f = {0};
    MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &f);
    for (unsigned i = 0; i < SINGLE_COUNT; i++) f.is_malformed |= f.counts[i] > 1;
    const char *coding =
        MHD_lookup_connection_value(c, MHD_HEADER_KIND, single_headers[TRANSFER_ENCODING]);
    return f.is_malformed || (f.counts[CONTENT_LENGTH] && f.counts[TRANSFER_ENCODING]) ||
           (coding && strcasecmp(coding, "chunked") != 0);
}
