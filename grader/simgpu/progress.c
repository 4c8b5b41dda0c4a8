/* progress.c — shows how far long launches are; run.c calls it. The line must not mix with what the
 * program prints, and simgpu doesn't see that. So a launch is shown only while its program waits:
 * the next message is in the connection, unread until the launch ends. */
#include "common/clock.h"
#include "common/status.h"
#include "common/text.h"
#include "grader/simgpu/simgpu.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

enum { MAX_LAUNCHES = 64, DELAY_SECONDS = 2 };

struct running_launch {
    bool used;
    pthread_t thread;
    char kernel[256]; /* mangled */
    struct sim *sim;
    int connection_fd;
    double start_seconds;
};

struct simgpu_progress {
    pthread_mutex_t lock;
    struct running_launch launches[MAX_LAUNCHES];
    bool is_shown;
};

struct simgpu_progress *simgpu_progress_new(void) {
    struct simgpu_progress *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void simgpu_progress_free(struct simgpu_progress *p) {
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void hide(struct simgpu_progress *p) {
    if (p->is_shown) status_clear();
    p->is_shown = false;
}

void simgpu_progress_begin(struct simgpu_progress *p, const struct server_launch *l) {
    struct running_launch new = {.used = true,
                                 .thread = pthread_self(),
                                 .sim = backend_sim(l->backend),
                                 .connection_fd = l->connection_fd,
                                 .start_seconds = clock_seconds()};
    snprintf(new.kernel, sizeof new.kernel, "%s", l->kernel);
    pthread_mutex_lock(&p->lock);
    unsigned i = 0;
    while (i < MAX_LAUNCHES && p->launches[i].used) i++;
    if (i < MAX_LAUNCHES) p->launches[i] = new;
    pthread_mutex_unlock(&p->lock);
}

void simgpu_progress_end(struct simgpu_progress *p) {
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < MAX_LAUNCHES; i++)
        if (p->launches[i].used && pthread_equal(p->launches[i].thread, pthread_self()))
            p->launches[i].used = false;
    hide(p);
    pthread_mutex_unlock(&p->lock);
}

void simgpu_progress_hide(struct simgpu_progress *p) {
    pthread_mutex_lock(&p->lock);
    hide(p);
    pthread_mutex_unlock(&p->lock);
}

static bool is_awaited(const struct running_launch *l) {
    struct pollfd p = {.fd = l->connection_fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1 && p.revents == POLLIN;
}

static void show(const struct running_launch *l, double seconds) {
    struct sim_progress now = sim_get_progress(l->sim);
    struct status_count count = {"blocks", now.blocks_done, now.blocks_total, l->start_seconds};
    struct buf text = {0};
    if (now.blocks_total) status_put_count(&count, seconds, &text);
    else buf_puts(&text, "no block yet"); /* gcc compiles the kernel (--native) */
    buf_printf(&text, ": kernel %s", l->kernel);
    text_demangle(&text);
    status_print_since(buf_str(&text), l->start_seconds);
    buf_free(&text);
}

void simgpu_progress_show(struct simgpu_progress *p) {
    const struct running_launch *longest = NULL;
    double now = clock_seconds();
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < MAX_LAUNCHES; i++) {
        const struct running_launch *l = &p->launches[i];
        if (l->used && now - l->start_seconds >= DELAY_SECONDS && is_awaited(l) &&
            (!longest || l->start_seconds < longest->start_seconds))
            longest = l;
    }
    if (longest) show(longest, now - longest->start_seconds), p->is_shown = true;
    else hide(p);
    pthread_mutex_unlock(&p->lock);
}
