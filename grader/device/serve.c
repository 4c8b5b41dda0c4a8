/* serve.c — see serve.h: one function a request. */
#include "grader/device/serve.h"
#include "common/buf.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/control.h"
#include "grader/server/roofline.h"
#include "grader/server/tally.h"
#include "grader/sim/sass/sass.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct device {
    struct server *server;
    struct backend *backend;
    const struct gpu_device *row;
    bool gpu;
    struct control_kernel *kernels;
    unsigned nkernels;
    struct sass_insn *code;
    uint32_t ncode;
    struct recording *recording;
    struct tally tally;
    uint8_t *file; /* of the case: the box, then buffers */
    uint64_t file_bytes;
    struct control_buffers buffers;
    char image[4][HASH_HEX];
};

static bool refuse(struct control_reply *p, const char *why) {
    snprintf(p->why, sizeof p->why, "%.511s", why);
    return false;
}

/* ---- what a launch adds ---- */

static void launched(void *user, const struct server_launch *l) {
    struct device *d = user;
    if (d->gpu) d->tally.launches++, d->tally.seconds += l->result->seconds;
    else tally_add(&d->tally, d->row, l);
}

static void reported(void *user, const struct sim_report *r) {
    tally_report(&((struct device *)user)->tally, r);
}

static int by_name(const void *key, const void *kernel) {
    return strcmp(key, ((const struct control_kernel *)kernel)->name);
}

/* ptxas has seen every kernel of the image: one that it said nothing of is none. */
static bool found(void *user, const char *kernel, const struct backend_kernel *k) {
    struct device *d = user;
    struct hash h;
    char name[HASH_HEX];
    hash_start(&h);
    hash_text(&h, kernel);
    hash_hex(&h, name);
    const struct control_kernel *known =
        bsearch(name, d->kernels, d->nkernels, sizeof *d->kernels, by_name);
    if (known && !d->gpu) sim_set_registers(k->handle, known->registers, known->spill_bytes);
    if (!d->gpu && d->ncode) sim_set_machine_code(k->handle, d->code, d->ncode);
    return known || d->gpu;
}

/* ---- opening ---- */

static bool read_all(int fd, void *to, size_t bytes) {
    for (size_t got = 0; got < bytes;) {
        ssize_t k = read(fd, (char *)to + got, bytes - got);
        if (k <= 0) return false;
        got += (size_t)k;
    }
    return true;
}

static bool take_kernels(struct device *d, unsigned n, int fd, struct control_reply *p) {
    if (n > CONTROL_KERNELS) return refuse(p, "too many kernels");
    if (!n) return true;
    d->kernels = xcalloc(n, sizeof *d->kernels);
    d->nkernels = n;
    if (!read_all(fd, d->kernels, n * sizeof *d->kernels))
        return refuse(p, "the list of kernels is cut off");
    for (unsigned i = 0; i < n; i++) d->kernels[i].name[HASH_HEX - 1] = 0;
    return true;
}

static bool take_code(struct device *d, uint32_t n, int fd, struct control_reply *p) {
    if (n > SASS_MAX_INSNS) return refuse(p, "too much machine code");
    d->code = xcalloc(n + 1ul, sizeof *d->code);
    d->ncode = n;
    return (read_all(fd, d->code, n * sizeof *d->code) && sass_valid(d->code, n)) ||
           refuse(p, "machine code that is none");
}

static bool open_backend(struct device *d, const struct control_open *o, struct err *e) {
    char name[sizeof o->device + 1] = "";
    memcpy(name, o->device, sizeof o->device);
    d->gpu = o->gpu;
    d->row = d->gpu ? NULL : device_find(name);
    if (!d->gpu && !d->row) return err_set(e, ERR_INTERNAL, "device process: no device '%s'", name);
    struct sim_options sim = {.device = d->row, .workers = o->workers, .sanitize = true};
    struct gpu_options gpu = {.pool_bytes = o->pool_bytes};
    d->backend = d->gpu ? backend_gpu_open(&gpu, e) : backend_sim_open(&sim, e);
    return d->backend;
}

static bool on_open(struct device *d, const struct control_request *q, int fd,
                    struct control_reply *p) {
    const struct control_open *o = &q->u.open;
    struct err e = {0};
    if (d->backend || o->images > 4) return refuse(p, "device process: opened twice");
    if (!take_kernels(d, o->kernels, fd, p) || !take_code(d, o->code, fd, p)) return false;
    if (!open_backend(d, o, &e)) return refuse(p, e.text);
    for (unsigned i = 0; i < o->images; i++)
        snprintf(d->image[i], HASH_HEX, "%.*s", HASH_HEX - 1, o->image[i]);
    if (!o->client) return true; /* no submission: for the roofline alone */
    struct server_options so = {.grading = true,
                                .connection = CONTROL_CLIENT,
                                .window = CONTROL_WINDOW,
                                .max_messages = 1 << 20,
                                .max_launches = 1 << 16,
                                .images = d->image,
                                .nimages = o->images,
                                .user = d,
                                .found = found,
                                .launched = launched,
                                .reported = reported};
    d->server = server_open(d->backend, &so, &e);
    return d->server || refuse(p, e.text);
}

/* ---- the client ---- */

static void tell_outcome(const struct server_outcome *o, struct control_reply *p) {
    struct control_outcome *out = &p->outcome;
    *out = (struct control_outcome){
        .end = o->end, .state = o->state, .error = o->error, .fault = o->fault};
    memcpy(out->text, o->text, sizeof out->text);
    memcpy(out->call, o->call, sizeof out->call);
    memcpy(out->why, o->why, sizeof out->why);
    p->launches = o->launches;
    p->seconds = o->seconds;
}

static bool on_ready(struct device *d, const struct control_request *q, int fd,
                     struct control_reply *p) {
    (void)fd;
    struct server_outcome o;
    server_wait_ready(d->server, server_now() + q->seconds, -1, &o);
    tell_outcome(&o, p);
    return true;
}

static bool map_file(struct device *d, uint64_t bytes, int fd, struct control_reply *p) {
    struct stat st;
    if (d->file) munmap(d->file, d->file_bytes);
    d->file = NULL;
    if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes || bytes < CONTROL_BOX)
        return refuse(p, "device process: the case's memory file is not as it should be");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return refuse(p, strerror(errno));
    d->file = at, d->file_bytes = bytes;
    return true;
}

static bool on_buffers(struct device *d, const struct control_request *q, int fd,
                       struct control_reply *p) {
    struct server_buffer buffers[CONTROL_ARGS];
    struct err e = {0};
    d->buffers = q->u.buffers;
    recording_free(d->recording);
    d->recording = NULL;
    if (d->buffers.n > CONTROL_ARGS || !map_file(d, d->buffers.file_bytes, fd, p)) return false;
    for (unsigned i = 0; i < d->buffers.n; i++) {
        struct control_buffer *b = &d->buffers.buffer[i];
        b->name[sizeof b->name - 1] = 0;
        if (b->offset > d->file_bytes || b->bytes > d->file_bytes - b->offset)
            return refuse(p, "a buffer outside its file");
        buffers[i] = (struct server_buffer){b->name, b->bytes, fd, b->offset, b->host};
    }
    bool laid = server_buffers(d->server, buffers, d->buffers.n, &e);
    if (!laid && e.kind != ERR_LIMIT) return refuse(p, e.text);
    if (!laid) { /* module variables have taken the room */
        p->outcome.error = WB_cudaErrorMemoryAllocation;
        snprintf(p->outcome.why, sizeof p->outcome.why, "%.500s", e.text);
        return true;
    }
    for (unsigned i = 0; i < d->buffers.n; i++) p->address[i] = server_buffer_address(d->server, i);
    return true;
}

static void tell_leaks(struct device *d, struct control_reply *p) {
    struct buf text = {0};
    server_leaks(d->server, &text);
    snprintf(p->leaks, sizeof p->leaks, "%.250s", buf_str(&text));
    buf_free(&text);
}

static bool on_record(struct device *d, const struct control_request *q, int fd,
                      struct control_reply *p) {
    (void)fd;
    const struct control_record *r = &q->u.record;
    struct server_outcome o;
    char entry[sizeof r->entry];
    snprintf(entry, sizeof entry, "%.*s", (int)sizeof entry - 1, r->entry);
    if (r->nargs > CONTROL_ARGS) return refuse(p, "too many arguments");
    recording_free(d->recording);
    server_record(d->server, entry, r->args, r->nargs, server_now() + q->seconds, -1, &d->recording,
                  &o);
    tell_outcome(&o, p);
    if (!d->recording) return true;
    p->launches = recording_launches(d->recording);
    p->writes = recording_writes(d->recording);
    p->moves = recording_moves(d->server, d->recording);
    tell_leaks(d, p);
    return true;
}

/* ---- replays ---- */

static bool put_range(struct device *d, const struct control_range *r) {
    if (r->buffer >= d->buffers.n) return false;
    const struct control_buffer *b = &d->buffers.buffer[r->buffer];
    if (r->offset > b->bytes || r->bytes > b->bytes - r->offset) return false;
    uint64_t to = server_buffer_address(d->server, r->buffer) + r->offset;
    if (!server_is_shared(d->server, r->buffer) &&
        !server_write(d->server, to, d->file + b->offset + r->offset, r->bytes))
        return false;
    return server_mark(d->server, to, r->bytes, (enum server_content)r->content);
}

/* Everything as before the entry was called (but for a second call in a row), then what the grader
 * put into the memory file. */
static bool prepare(struct device *d, const struct control_replay *r, struct control_reply *p) {
    struct err e = {0};
    if (!d->recording) return refuse(p, "nothing was recorded");
    if (r->ranges > CONTROL_RANGES) return refuse(p, "too many ranges");
    tally_free(&d->tally);
    if (!(r->again ? server_call_again : server_restart)(d->server, &e)) return refuse(p, e.text);
    for (unsigned i = 0; i < r->ranges; i++)
        if (!put_range(d, &r->range[i])) return refuse(p, "the inputs cannot be written");
    return true;
}

static bool read_back(struct device *d) {
    for (unsigned i = 0; i < d->buffers.n; i++) {
        const struct control_buffer *b = &d->buffers.buffer[i];
        if (server_is_shared(d->server, i) || !b->bytes) continue;
        if (!server_read(d->server, server_buffer_address(d->server, i), d->file + b->offset,
                         b->bytes))
            return false;
    }
    return true;
}

/* Of outputs, whoever reads them: values that came from reads of what nothing wrote. */
static void look_for_undefined(struct device *d) {
    struct sim_report r;
    for (unsigned i = 0; !d->gpu && i < d->buffers.n; i++)
        if (sim_check_undefined(backend_sim(d->backend), server_buffer_address(d->server, i),
                                d->buffers.buffer[i].bytes, &r))
            tally_report(&d->tally, &r);
}

static void leave_log(struct device *d, struct control_reply *p) {
    struct buf log = {0};
    server_take_output(d->server, &log);
    p->log_bytes = (uint32_t)(log.size < CONTROL_LOG ? log.size : CONTROL_LOG);
    if (p->log_bytes) memcpy(d->file + CONTROL_BOX - CONTROL_LOG, log.data, p->log_bytes);
    buf_free(&log);
}

static void set_simulator(struct device *d, const struct control_replay *r) {
    struct sim *s = backend_sim(d->backend);
    sim_set_sanitize(s, r->sanitize);
    sim_set_sample(s, r->sample_warps, r->sample_key);
    sim_set_reverse_block_order(s, r->later_first);
    backend_sim_set_timing(d->backend, r->timing);
    backend_sim_set_instructions(d->backend, r->instructions);
}

static void tell_compiler(struct device *d, struct control_reply *p) {
    struct gpu_info info;
    if (!d->gpu) return;
    backend_gpu_info(d->backend, &info);
    snprintf(p->compiled_by, sizeof p->compiled_by, "%s", info.compiled_by ? info.compiled_by : "");
}

static bool on_replay(struct device *d, const struct control_request *q, int fd,
                      struct control_reply *p) {
    (void)fd;
    const struct control_replay *r = &q->u.replay;
    struct server_outcome o;
    struct err e = {0};
    if (!d->gpu) set_simulator(d, r);
    if (!prepare(d, r, p)) return false;
    if (!server_replay(d->server, d->recording, server_now() + q->seconds, &o, &e))
        return refuse(p, e.text);
    tell_outcome(&o, p);
    leave_log(d, p);
    tell_compiler(d, p);
    if (r->read_back) look_for_undefined(d);
    if (!d->gpu) tally_schedule(&d->tally, d->server, d->recording);
    tally_sort(&d->tally);
    p->tally_bytes = (uint32_t)tally_pack(&d->tally, d->file);
    if (!o.fault && o.end != SERVER_DEADLINE && r->read_back && !read_back(d))
        return refuse(p, "the outputs cannot be read");
    return true;
}

static bool on_round(struct device *d, const struct control_request *q, int fd,
                     struct control_reply *p) {
    (void)fd;
    struct server_outcome o;
    struct err e = {0};
    int error = 0;
    p->seconds = -1;
    if (!d->gpu || !prepare(d, &q->u.replay, p))
        return d->gpu ? false : refuse(p, "rounds are for a GPU");
    if (!backend_gpu_flush(d->backend) || !backend_gpu_begin(d->backend, &e))
        return refuse(p, e.text);
    bool ok = server_replay(d->server, d->recording, server_now() + q->seconds, &o, &e);
    double seconds = backend_gpu_end(d->backend, &error);
    tell_compiler(d, p);
    if (ok && !o.fault && !error && o.end != SERVER_DEADLINE)
        p->seconds = recording_launches(d->recording) ? seconds : 0;
    return true;
}

static bool on_roofline(struct device *d, const struct control_request *q, int fd,
                        struct control_reply *p) {
    (void)q, (void)fd;
    struct roofline r;
    struct err e = {0};
    if (!d->gpu || d->server)
        return refuse(p, "the roofline is measured by a process of its own, on a GPU");
    if (!roofline_measure(d->backend, &r, &e)) return refuse(p, e.text);
    p->bytes_per_second = r.bytes_per_second, p->flops_per_second = r.flops_per_second;
    return true;
}

/* ---- the loop ---- */

static bool (*const handlers[CONTROL_OPS])(struct device *, const struct control_request *, int,
                                           struct control_reply *) = {
    on_open, on_ready, on_buffers, on_record, on_replay, on_round, on_roofline};

/* A request and the descriptor that came with it, or -1. False: the grader has gone. */
static bool receive(struct control_request *q, int *fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {q, sizeof *q};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    *fd = -1;
    ssize_t n;
    while ((n = recvmsg(CONTROL_SOCKET, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n == sizeof *q && q->version == control_version() && q->op < CONTROL_OPS;
}

int device_serve(void) {
    static struct control_request q;
    static struct control_reply p;
    static struct device d;
    int fd;
    while (receive(&q, &fd)) {
        p = (struct control_reply){.version = control_version(), .op = q.op, .serial = q.serial};
        bool possible = q.op == CONTROL_OPEN || (q.op == CONTROL_ROOFLINE && d.backend) || d.server;
        p.ok = possible ? handlers[q.op](&d, &q, fd, &p) : refuse(&p, "device process: not opened");
        if (fd >= 0) close(fd);
        if (send(CONTROL_SOCKET, &p, sizeof p, MSG_NOSIGNAL) != sizeof p) break;
    }
    if (d.gpu && d.server)
        server_close(
            d.server); /* a context wants to be left in order; all else ends with the process */
    return 0;
}
