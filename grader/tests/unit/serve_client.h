/* serve_client.h — a `grader serve` process of a test, and raw HTTP requests to it. They go over a
 * plain socket, since a client library would mend malformed requests. */
#pragma once

#include "grader/serve/serve.h"

#include <stddef.h>
#include <sys/types.h>

enum { SERVE_MAX_ANSWER = 4 << 20 };

/* The server of this test. start_serve_client() sets all members but `folder`. */
struct serve_client {
    char folder[64];               /* a temporary folder; the workspace is `work` in it */
    char token[SERVE_TOKEN_SIZE];  /* sent with each request */
    char answer[SERVE_MAX_ANSWER]; /* the last response, ends with 0 */
    unsigned port;
    pid_t pid;
};
extern struct serve_client client;

/* Makes the temporary folder. */
void serve_client_folder(void);
/* Starts `grader serve` with the options (shell words) in `work` and waits for its address. */
void serve_client_start(const char *options);
/* Ends the server, whose exit status must be 0, and deletes the folder. */
void serve_client_stop(void);

/* Returns a connected socket; the caller closes it. */
int serve_client_connect(void);
/* Reads until `needle` came or the server closed the connection ("": until then). Fails after 40 s
 * of silence. Returns client.answer. */
const char *serve_client_receive(int fd, const char *needle);
/* Sends raw header lines, then `size` bytes of the body; returns the response. */
const char *serve_client_send(const char *head, const char *body, size_t size);
/* Sends a request as the page does, with further header lines, each with its CRLF; returns the
 * response. */
const char *serve_client_request(const char *method, const char *path, const char *more,
                                 const char *body);
/* The HTTP status of a response, 0 if it has none. */
unsigned serve_client_status(const char *response);
/* The HTTP status of GET /PATH. */
unsigned serve_client_get(const char *path);
