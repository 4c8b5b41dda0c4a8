/* listener.c — accepts the processes of a run that request a device; run.c calls it. All processes
 * inherit one datagram socket. To request a device, a process creates a socket pair and sends one
 * end here. Each process thus has its own connection, server and device, as each process on a GPU
 * has its own context. */
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
    struct listener *listener;
    pthread_t thread;
    struct server *server; /* NULL = ended */
    bool used;
};

struct listener {
    int fd, client_fd;
    pthread_mutex_t lock; /* guards the servers below */
    struct connection connections[MAX_CONNECTIONS];
    struct server *(*on_connect)(void *user, int connection);
    void (*on_close)(void *user, struct server *s);
    void *user;
};

struct listener *listener_open(struct err *e) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) < 0) {
        err_set(e, ERR_SYSTEM, "cannot create a socket: %s", strerror(errno));
        return NULL;
    }
    struct listener *r = xcalloc(1, sizeof *r);
    r->fd = pair[0];
    r->client_fd = pair[1];
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

int listener_client_fd(const struct listener *r) { return r->client_fd; }

static void *serve(void *user) {
    struct connection *c = user;
    struct listener *r = c->listener;
    server_serve(c->server, 0, -1);
    pthread_mutex_lock(&r->lock);
    struct server *s = c->server;
    c->server = NULL;
    pthread_mutex_unlock(&r->lock);
    r->on_close(r->user, s);
    server_close(s);
    return NULL;
}

static struct connection *find_free_slot(struct listener *r) {
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

/* Takes ownership of the connection `fd`. */
static void start_connection(struct listener *r, int fd) {
    struct connection *c = find_free_slot(r);
    struct server *s = c ? r->on_connect(r->user, fd) : NULL;
    if (!s) {
        close(fd);
        return;
    }
    *c = (struct connection){.listener = r, .server = s, .used = true};
    if (pthread_create(&c->thread, NULL, serve, c)) die("simgpu: cannot create a thread");
}

/* Returns the socket that a datagram carries, -1 = none. Closes other descriptors. */
static int receive_connection(int fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } cmsg;
    char byte;
    struct iovec iov = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &cmsg, .msg_controllen = sizeof cmsg};
    if (recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0) return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len < CMSG_LEN(sizeof(int)))
        return -1;
    int received_fd, type = 0;
    memcpy(&received_fd, CMSG_DATA(c), sizeof received_fd);
    socklen_t size = sizeof type;
    if (!getsockopt(received_fd, SOL_SOCKET, SO_TYPE, &type, &size) && type == SOCK_SEQPACKET)
        return received_fd;
    close(received_fd);
    return -1;
}

void listener_serve(struct listener *r, int stop_fd,
                    struct server *(*on_connect)(void *user, int connection),
                    void (*on_close)(void *user, struct server *s), void *user) {
    r->on_connect = on_connect;
    r->on_close = on_close;
    r->user = user;
    struct pollfd p[2] = {{.fd = r->fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR) return;
        int fd = p[0].revents & POLLIN ? receive_connection(r->fd) : -1;
        if (fd >= 0) start_connection(r, fd);
        else if (p[1].revents) return;
    }
}

void listener_close(struct listener *r) {
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
