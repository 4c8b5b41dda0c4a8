/* guard.c — decides which requests come from the user's own page (serve.h). A page of a foreign
 * site can send requests to 127.0.0.1, but can't set their `Origin`; and after DNS rebinding its
 * own name is in `Host`. So a name is refused there, except localhost and the proxy's. */
#include "grader/serve/serve.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void serve_guard_init(struct serve_guard *g, unsigned port, const char *origin) {
    unsigned char bytes[SERVE_TOKEN_SIZE / 2];
    *g = (struct serve_guard){.port = port, .origin = origin};
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        die("getrandom() returned no random numbers");
    for (unsigned i = 0; i < sizeof bytes; i++) sprintf(g->token + 2 * i, "%02x", bytes[i]);
    snprintf(g->cookie_name, sizeof g->cookie_name, "warpbook_%u", port);
}

static bool is_equal(const char expected[SERVE_TOKEN_SIZE], const char *text) {
    unsigned char difference = 0;
    for (size_t i = 0; i < SERVE_TOKEN_SIZE - 1; i++)
        difference |= (unsigned char)(text[i] ^ expected[i]);
    return !difference;
}

static bool find_token(const struct serve_guard *g, const char *text, size_t size,
                       unsigned *account) {
    bool is_found = false;
    if (size != SERVE_TOKEN_SIZE - 1) return false;
    for (unsigned i = 0; i <= g->ntokens; i++)
        if (is_equal(i ? g->tokens[i - 1] : g->token, text)) {
            is_found = true;
            if (account) *account = i;
        }
    return is_found;
}

bool serve_guard_accepts_token(const struct serve_guard *g, const char *token, unsigned *account) {
    return token && find_token(g, token, strlen(token), account);
}

bool serve_guard_accepts_cookie(const struct serve_guard *g, const char *header,
                                unsigned *account) {
    size_t name_size = strlen(g->cookie_name);
    while (header && *header) {
        size_t size = strcspn(header, ";");
        bool is_ours = size > name_size && !strncmp(header, g->cookie_name, name_size) &&
                       header[name_size] == '=';
        if (is_ours && find_token(g, header + name_size + 1, size - name_size - 1, account))
            return true;
        header += size;
        header += strspn(header, "; ");
    }
    return false;
}

/* Returns the part of a URL that `Host` repeats: "hub.example:8000" of
 * "https://hub.example:8000/x".
 */
static const char *host_of_url(const char *url, size_t *size) {
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    *size = strcspn(host, "/");
    return host;
}

static bool is_proxy_host(const struct serve_guard *g, const char *host) {
    size_t size;
    const char *expected = g->origin ? host_of_url(g->origin, &size) : NULL;
    return expected && strlen(host) == size && !strncmp(host, expected, size);
}

/* Splits "[::1]:80", "127.0.0.1:80" or "localhost" into name and port; false if it is malformed. */
static bool split_host(const char *host, char name[64], unsigned *port) {
    bool is_bracketed = host[0] == '[';
    size_t size = strcspn(host + is_bracketed, is_bracketed ? "]" : ":");
    const char *rest = host + is_bracketed + size + (is_bracketed && host[1 + size] == ']');
    char end;
    *port = 80;
    if (size == 0 || size >= 64) return false;
    snprintf(name, 64, "%.*s", (int)size, host + is_bracketed);
    return !*rest || (isdigit((unsigned char)rest[1]) && sscanf(rest, ":%5u%c", port, &end) == 1);
}

bool serve_guard_accepts_host(const struct serve_guard *g, const char *host) {
    char name[64];
    unsigned port;
    struct in6_addr ignored;
    if (!host) return false;
    if (is_proxy_host(g, host)) return true;
    if (!split_host(host, name, &port) || port != g->port) return false;
    return !strcmp(name, "localhost") || inet_pton(AF_INET, name, &ignored) == 1 ||
           inet_pton(AF_INET6, name, &ignored) == 1;
}

bool serve_guard_accepts_origin(const struct serve_guard *g, const char *origin, const char *host) {
    static const char scheme[] = "http://";
    if (!origin) return true;
    if (host && !strncmp(origin, scheme, sizeof scheme - 1) &&
        !strcmp(origin + sizeof scheme - 1, host))
        return true;
    size_t size;
    if (!g->origin) return false;
    size = (size_t)(host_of_url(g->origin, &size) - g->origin) + size;
    return strlen(origin) == size && !strncmp(origin, g->origin, size);
}
