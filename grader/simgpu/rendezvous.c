/* rendezvous.c — where the processes of a run come for a device. All inherit one datagram socket; a
 * process that wants a device makes a socket pair and sends one end here. So each has a connection,
 * a server and a device of its own, as each process on a GPU has a context of its own. */
#include "grader/simgpu/simgpu.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_CONNECTIONS = 64 };

struct connection {
    struct rendezvous *home;
    pthread_t thread;
    struct server *server; /* NULL = it has ended */
    bool used;
};

struct rendezvous {
    int fd, client_fd;
    pthread_mutex_t lock; /* guards the servers below */
    struct connection connections[MAX_CONNECTIONS];
    struct server *(*open)(void *user, int connection);
    void (*closing)(void *user, struct server *s);
    void *user;
};

struct rendezvous *rendezvous_open(struct err *e) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0) {
        err_set(e, ERR_SYSTEM, "cannot create a socket: %s", strerror(errno));
        return NULL;
    }
    struct rendezvous *r = xcalloc(1, sizeof *r);
    r->fd = pair[0];
    r->client_fd = pair[1];
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

int rendezvous_client_fd(const struct rendezvous *r) { return r->client_fd; }

static void *serve(void *user) {
    struct connection *c = user;
    struct rendezvous *r = c->home;
    server_serve(c->server, 0, -1);
    pthread_mutex_lock(&r->lock);
    struct server *s = c->server;
    c->server = NULL;
    pthread_mutex_unlock(&r->lock);
    r->closing(r->user, s);
    server_close(s);
    return NULL;
}

static struct connection *free_slot(struct rendezvous *r) {
    struct connection *found = NULL;
    for (unsigned i = 0; i < MAX_CONNECTIONS && !found; i++) {
        struct connection *c = &r->connections[i];
        pthread_mutex_lock(&r->lock);
        bool running = c->used && c->server;
        pthread_mutex_unlock(&r->lock);
        if (running) continue;
        if (c->used) pthread_join(c->thread, NULL);
        c->used = false;
        found = c;
    }
    return found;
}

/* Takes the connection over. */
static void start(struct rendezvous *r, int fd) {
    struct connection *c = free_slot(r);
    struct server *s = c ? r->open(r->user, fd) : NULL;
    if (!s) {
        close(fd);
        return;
    }
    *c = (struct connection){.home = r, .server = s, .used = true};
    if (pthread_create(&c->thread, NULL, serve, c)) die("simgpu: cannot create a thread");
}

/* The descriptor that a datagram carries, -1 = none. Surplus ones are closed. */
static int receive(int fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    if (recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len < CMSG_LEN(sizeof(int)))
        return -1;
    int got, type = 0;
    memcpy(&got, CMSG_DATA(c), sizeof got);
    socklen_t size = sizeof type;
    if (!getsockopt(got, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET) return got;
    close(got);
    return -1;
}

void rendezvous_serve(struct rendezvous *r, int watch,
                      struct server *(*open)(void *user, int connection),
                      void (*closing)(void *user, struct server *s), void *user) {
    r->open = open;
    r->closing = closing;
    r->user = user;
    struct pollfd p[2] = {{.fd = r->fd, .events = POLLIN}, {.fd = watch, .events = POLLIN}};
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) return;
        int fd = p[0].revents & POLLIN ? receive(r->fd) : -1;
        if (fd >= 0) start(r, fd);
        else if (p[1].revents) return;
    }
}

void rendezvous_close(struct rendezvous *r) {
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < MAX_CONNECTIONS; i++)
        if (r->connections[i].used && r->connections[i].server)
            server_disconnect(r->connections[i].server);
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < MAX_CONNECTIONS; i++)
        if (r->connections[i].used) pthread_join(r->connections[i].thread, NULL);
    close(r->fd);
    close(r->client_fd);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
