/* serve.c — see serve.h: one function for each request. */
#include "grader/device/serve.h"
#include "common/buf.h"
#include "grader/server/backend_gpu.h"
#include "grader/server/control.h"
#include "grader/server/roofline.h"
#include "grader/server/launch_stats.h"
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
    const struct gpu_device *device_desc;
    bool is_gpu;
    struct control_kernel *kernels;
    unsigned nkernels;
    struct sass_insn *code;
    uint32_t ncode;
    struct recording *recording;
    struct launch_stats stats;
    uint8_t *case_memory; /* CONTROL_RESULT_BYTES for results, then the case's buffers */
    uint64_t case_memory_bytes;
    struct control_buffers buffers;
    char image_digest[4][HASH_HEX_SIZE];
};

static bool set_failure(struct control_reply *p, const char *reason) {
    snprintf(p->reason, sizeof p->reason, "%.511s", reason);
    return false;
}

/* ---- callbacks of the server ---- */

static void handle_launch(void *user, const struct server_launch *l) {
    struct device *d = user;
    if (d->is_gpu) d->stats.launches++, d->stats.seconds += l->result->seconds;
    else launch_stats_add_launch(&d->stats, d->device_desc, l);
}

static void handle_report(void *user, const struct sim_report *r) {
    launch_stats_add_report(&((struct device *)user)->stats, r);
}

static int by_name(const void *key, const void *kernel) {
    return strcmp(key, ((const struct control_kernel *)kernel)->name_digest);
}

/* Sets a kernel's registers and machine code. Returns false if the name is not a kernel: ptxas
 * reports every kernel of the image. */
static bool handle_kernel_found(void *user, const char *kernel, const struct backend_kernel *k) {
    struct device *d = user;
    struct hash h;
    char name[HASH_HEX_SIZE];
    hash_init(&h);
    hash_update_string(&h, kernel);
    hash_final_hex(&h, name);
    const struct control_kernel *entry =
        bsearch(name, d->kernels, d->nkernels, sizeof *d->kernels, by_name);
    if (entry && !d->is_gpu) sim_set_registers(k->handle, entry->registers, entry->spill_bytes);
    if (!d->is_gpu && d->ncode) sim_set_machine_code(k->handle, d->code, d->ncode);
    return entry || d->is_gpu;
}

/* ---- opening ---- */

static bool read_all(int fd, void *to, size_t bytes) {
    for (size_t total = 0; total < bytes;) {
        ssize_t k = read(fd, (char *)to + total, bytes - total);
        if (k <= 0) return false;
        total += (size_t)k;
    }
    return true;
}

static bool read_kernels(struct device *d, unsigned n, int fd, struct control_reply *p) {
    if (n > CONTROL_MAX_KERNELS) return set_failure(p, "too many kernels");
    if (!n) return true;
    d->kernels = xcalloc(n, sizeof *d->kernels);
    d->nkernels = n;
    if (!read_all(fd, d->kernels, n * sizeof *d->kernels))
        return set_failure(p, "the list of kernels is cut off");
    for (unsigned i = 0; i < n; i++) d->kernels[i].name_digest[HASH_HEX_SIZE - 1] = 0;
    return true;
}

static bool read_code(struct device *d, uint32_t n, int fd, struct control_reply *p) {
    if (n > SASS_MAX_INSNS) return set_failure(p, "too much machine code");
    d->code = xcalloc(n + 1ul, sizeof *d->code);
    d->ncode = n;
    return (read_all(fd, d->code, n * sizeof *d->code) && sass_valid(d->code, n)) ||
           set_failure(p, "the machine code is cut off or not valid");
}

static bool open_backend(struct device *d, const struct control_open *o, struct err *e) {
    char name[sizeof o->device + 1] = "";
    memcpy(name, o->device, sizeof o->device);
    d->is_gpu = o->is_gpu;
    d->device_desc = d->is_gpu ? NULL : device_find(name);
    if (!d->is_gpu && !d->device_desc)
        return err_set(e, ERR_INTERNAL, "device process: no device '%s'", name);
    if (o->ndevices > (d->is_gpu ? 1 : WB_MAX_DEVICES))
        return err_set(e, ERR_INTERNAL, "device process: %u devices", o->ndevices);
    struct sim_options sim = {
        .device = d->device_desc, .devices = o->ndevices, .workers = o->workers, .sanitize = true};
    struct gpu_options gpu = {.pool_bytes = o->pool_bytes};
    d->backend = d->is_gpu ? backend_gpu_open(&gpu, e) : backend_sim_open(&sim, e);
    return d->backend;
}

static bool on_open(struct device *d, const struct control_request *q, int fd,
                    struct control_reply *p) {
    const struct control_open *o = &q->u.open;
    struct err e = {0};
    if (d->backend || o->nimages > 4)
        return set_failure(p, "device process: opened twice, or with more than 4 images");
    if (!read_kernels(d, o->nkernels, fd, p) || !read_code(d, o->ncode, fd, p)) return false;
    if (!open_backend(d, o, &e)) return set_failure(p, e.text);
    for (unsigned i = 0; i < o->nimages; i++)
        snprintf(d->image_digest[i], HASH_HEX_SIZE, "%.*s", HASH_HEX_SIZE - 1, o->image_digest[i]);
    if (!o->has_client) return true; /* without a submission: for the roofline alone */
    struct server_options so = {.grading = true,
                                .connection_fd = CONTROL_CLIENT,
                                .window_fd = CONTROL_WINDOW,
                                .max_messages = 1 << 20,
                                .max_launches = 1 << 16,
                                .image_digests = d->image_digest,
                                .nimages = o->nimages,
                                .user = d,
                                .on_kernel_found = handle_kernel_found,
                                .on_launch = handle_launch,
                                .on_report = handle_report};
    d->server = server_open(d->backend, &so, &e);
    return d->server || set_failure(p, e.text);
}

/* ---- the client ---- */

static void set_outcome(const struct server_outcome *o, struct control_reply *p) {
    struct control_outcome *out = &p->outcome;
    *out = (struct control_outcome){.end_reason = o->end_reason,
                                    .call_state = o->call_state,
                                    .error = o->error,
                                    .fault = o->fault};
    memcpy(out->text, o->text, sizeof out->text);
    memcpy(out->call_name, o->call_name, sizeof out->call_name);
    memcpy(out->reason, o->reason, sizeof out->reason);
    memcpy(out->api_call, o->api_call, sizeof out->api_call);
    memcpy(out->file, o->file, sizeof out->file);
    out->line = o->line;
    p->launches = o->launches;
    p->seconds = o->seconds;
}

static bool on_wait_ready(struct device *d, const struct control_request *q, int fd,
                          struct control_reply *p) {
    (void)fd;
    struct server_outcome o;
    server_wait_ready(d->server, server_now() + q->time_limit_seconds, -1, &o);
    set_outcome(&o, p);
    return true;
}

static bool map_case_memory(struct device *d, uint64_t bytes, int fd, struct control_reply *p) {
    struct stat st;
    if (d->case_memory) munmap(d->case_memory, d->case_memory_bytes);
    d->case_memory = NULL;
    if (fd < 0 || fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes ||
        bytes < CONTROL_RESULT_BYTES)
        return set_failure(p, "device process: the case's memory file is missing or too small");
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return set_failure(p, strerror(errno));
    d->case_memory = at, d->case_memory_bytes = bytes;
    return true;
}

static bool on_buffers(struct device *d, const struct control_request *q, int fd,
                       struct control_reply *p) {
    struct server_buffer buffers[CONTROL_MAX_ARGS];
    struct err e = {0};
    d->buffers = q->u.buffers;
    recording_free(d->recording);
    d->recording = NULL;
    if (d->buffers.n > CONTROL_MAX_ARGS || !map_case_memory(d, d->buffers.file_bytes, fd, p))
        return false;
    for (unsigned i = 0; i < d->buffers.n; i++) {
        struct control_buffer *b = &d->buffers.buffer[i];
        b->name[sizeof b->name - 1] = 0;
        if (b->offset > d->case_memory_bytes || b->bytes > d->case_memory_bytes - b->offset)
            return set_failure(p, "a buffer lies outside the case's memory file");
        buffers[i] =
            (struct server_buffer){b->name, b->bytes, fd, b->offset, b->is_host_memory, b->device};
    }
    bool allocated = server_buffers(d->server, buffers, d->buffers.n, &e);
    if (!allocated && e.kind != ERR_LIMIT) return set_failure(p, e.text);
    if (!allocated) { /* Module variables leave too little memory. */
        p->outcome.error = WB_cudaErrorMemoryAllocation;
        snprintf(p->outcome.reason, sizeof p->outcome.reason, "%.500s", e.text);
        return true;
    }
    for (unsigned i = 0; i < d->buffers.n; i++) p->address[i] = server_buffer_address(d->server, i);
    return true;
}

static void set_leaks(struct device *d, struct control_reply *p) {
    struct buf text = {0};
    server_append_leaks(d->server, &text);
    snprintf(p->leak_text, sizeof p->leak_text, "%.250s", buf_str(&text));
    buf_free(&text);
}

static bool on_record(struct device *d, const struct control_request *q, int fd,
                      struct control_reply *p) {
    (void)fd;
    const struct control_record *r = &q->u.record;
    struct server_outcome o;
    char entry[sizeof r->entry];
    snprintf(entry, sizeof entry, "%.*s", (int)sizeof entry - 1, r->entry);
    if (r->nargs > CONTROL_MAX_ARGS) return set_failure(p, "too many arguments");
    recording_free(d->recording);
    server_record(d->server, entry, r->args, r->nargs, server_now() + q->time_limit_seconds, -1,
                  &d->recording, &o);
    set_outcome(&o, p);
    if (!d->recording) return true;
    p->launches = recording_launches(d->recording);
    p->has_other_writes = recording_has_writes(d->recording);
    p->transfers = recording_transfers(d->server, d->recording);
    set_leaks(d, p);
    return true;
}

/* ---- replays ---- */

static bool write_range(struct device *d, const struct control_range *r) {
    if (r->buffer >= d->buffers.n) return false;
    const struct control_buffer *b = &d->buffers.buffer[r->buffer];
    if (r->offset > b->bytes || r->bytes > b->bytes - r->offset) return false;
    uint64_t to = server_buffer_address(d->server, r->buffer) + r->offset;
    if (!server_is_shared(d->server, r->buffer) &&
        !server_write(d->server, to, d->case_memory + b->offset + r->offset, r->bytes))
        return false;
    return server_mark_contents(d->server, to, r->bytes, (enum server_content)r->content);
}

/* Restores the state before the entry's call (a second call in a row keeps module variables), then
 * writes the inputs from the case's memory file. */
static bool prepare_replay(struct device *d, const struct control_replay *r,
                           struct control_reply *p) {
    struct err e = {0};
    if (!d->recording) return set_failure(p, "there is no recording to replay");
    if (r->nranges > CONTROL_MAX_RANGES) return set_failure(p, "too many ranges");
    launch_stats_free(&d->stats);
    if (!(r->keep_variables ? server_restart_keep_variables : server_restart)(d->server, &e))
        return set_failure(p, e.text);
    for (unsigned i = 0; i < r->nranges; i++)
        if (!write_range(d, &r->range[i])) return set_failure(p, "cannot write the inputs");
    return true;
}

static bool read_back(struct device *d) {
    for (unsigned i = 0; i < d->buffers.n; i++) {
        const struct control_buffer *b = &d->buffers.buffer[i];
        if (server_is_shared(d->server, i) || !b->bytes) continue;
        if (!server_read(d->server, server_buffer_address(d->server, i), d->case_memory + b->offset,
                         b->bytes))
            return false;
    }
    return true;
}

/* Reports outputs whose values came from uninitialized reads. */
static void check_outputs_initialized(struct device *d) {
    struct sim_report r;
    for (unsigned i = 0; !d->is_gpu && i < d->buffers.n; i++)
        if (sim_check_undefined(backend_sim(d->backend), server_buffer_address(d->server, i),
                                d->buffers.buffer[i].bytes, &r))
            launch_stats_add_report(&d->stats, &r);
}

static void write_log(struct device *d, struct control_reply *p) {
    struct buf log = {0};
    server_drain_output(d->server, &log);
    p->log_bytes = (uint32_t)(log.size < CONTROL_LOG_BYTES ? log.size : CONTROL_LOG_BYTES);
    if (p->log_bytes)
        memcpy(d->case_memory + CONTROL_RESULT_BYTES - CONTROL_LOG_BYTES, log.data, p->log_bytes);
    buf_free(&log);
}

static void configure_simulator(struct device *d, const struct control_replay *r) {
    struct sim *s = backend_sim(d->backend);
    sim_set_sanitize(s, r->sanitize);
    sim_set_watch(s, r->watch, r->watch_key);
    sim_set_sample(s, r->sample_warps, r->sample_key);
    sim_set_reverse_block_order(s, r->reverse_block_order);
    sim_set_split_active_masks(s, r->reverse_block_order);
    backend_sim_set_timing(d->backend, r->timing);
    backend_sim_set_empty_caches(d->backend, r->empty_caches);
    backend_sim_set_instruction_budget(d->backend, r->instruction_budget);
}

static void set_compiler(struct device *d, struct control_reply *p) {
    struct gpu_info info;
    if (!d->is_gpu) return;
    backend_gpu_info(d->backend, &info);
    snprintf(p->compiled_by, sizeof p->compiled_by, "%s", info.compiled_by ? info.compiled_by : "");
}

/* Processor time limits a simulation, so that a busy machine does not change a verdict. */
static bool replay(struct device *d, const struct control_request *q, struct server_outcome *o,
                   struct err *e) {
    double seconds = q->time_limit_seconds;
    return server_replay(d->server, d->recording, seconds,
                         server_now() + (d->is_gpu ? 1 : CONTROL_WALL_FACTOR) * seconds, o, e);
}

static bool on_replay(struct device *d, const struct control_request *q, int fd,
                      struct control_reply *p) {
    (void)fd;
    const struct control_replay *r = &q->u.replay;
    struct server_outcome o;
    struct err e = {0};
    if (!d->is_gpu) configure_simulator(d, r);
    if (!prepare_replay(d, r, p)) return false;
    if (!replay(d, q, &o, &e)) return set_failure(p, e.text);
    set_outcome(&o, p);
    write_log(d, p);
    set_compiler(d, p);
    if (r->read_back) check_outputs_initialized(d);
    if (!d->is_gpu) launch_stats_apply_schedule(&d->stats, d->server, d->recording);
    launch_stats_sort(&d->stats);
    p->stats_bytes = (uint32_t)launch_stats_pack(&d->stats, d->case_memory);
    if (!o.fault && o.end_reason != SERVER_DEADLINE && r->read_back && !read_back(d))
        return set_failure(p, "cannot read the outputs");
    return true;
}

static bool on_timed_replay(struct device *d, const struct control_request *q, int fd,
                            struct control_reply *p) {
    (void)fd;
    struct server_outcome o;
    struct err e = {0};
    int error = 0;
    p->seconds = -1;
    if (!d->is_gpu || !prepare_replay(d, &q->u.replay, p))
        return d->is_gpu ? false : set_failure(p, "timed replays require a GPU");
    if (!backend_gpu_flush_l2(d->backend) || !backend_gpu_begin_timed(d->backend, &e))
        return set_failure(p, e.text);
    bool ok = replay(d, q, &o, &e);
    double seconds = backend_gpu_end_timed(d->backend, &error);
    set_compiler(d, p);
    if (ok && !o.fault && !error && o.end_reason != SERVER_DEADLINE)
        p->seconds = recording_launches(d->recording) ? seconds : 0;
    return true;
}

static bool on_roofline(struct device *d, const struct control_request *q, int fd,
                        struct control_reply *p) {
    (void)q, (void)fd;
    struct roofline r;
    struct err e = {0};
    if (!d->is_gpu || d->server)
        return set_failure(p, "measuring the roofline requires a GPU and a process of its own");
    if (!roofline_measure(d->backend, &r, &e)) return set_failure(p, e.text);
    p->bytes_per_second = r.bytes_per_second, p->flops_per_second = r.flops_per_second;
    return true;
}

/* ---- the loop ---- */

static bool (*const handlers[CONTROL_OP_COUNT])(struct device *, const struct control_request *,
                                                int, struct control_reply *) = {
    on_open, on_wait_ready, on_buffers, on_record, on_replay, on_timed_replay, on_roofline};

/* Receives a request and the descriptor sent with it, or -1. Returns false if the grader has
 * closed the socket or sent a malformed request. */
static bool receive_request(struct control_request *q, int *fd) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {q, sizeof *q};
    struct msghdr m = {.msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    *fd = -1;
    ssize_t n;
    while ((n = recvmsg(CONTROL_SOCKET, &m, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {}
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n == sizeof *q && q->version == control_version() && q->op < CONTROL_OP_COUNT;
}

int device_serve(void) {
    static struct control_request q;
    static struct control_reply p;
    static struct device d;
    int fd;
    while (receive_request(&q, &fd)) {
        p = (struct control_reply){.version = control_version(), .op = q.op, .serial = q.serial};
        bool is_ready = q.op == CONTROL_OPEN || (q.op == CONTROL_ROOFLINE && d.backend) || d.server;
        p.ok = is_ready ? handlers[q.op](&d, &q, fd, &p)
                        : set_failure(&p, "device process: not opened");
        if (fd >= 0) close(fd);
        if (send(CONTROL_SOCKET, &p, sizeof p, MSG_NOSIGNAL) != sizeof p) break;
    }
    if (d.is_gpu && d.server)
        server_close(d.server); /* destroys the CUDA context; the rest ends with the process */
    return 0;
}
