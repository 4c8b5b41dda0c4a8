/* fake_device.c — implements fake_device.h. */
#include "grader/tests/unit/fake_device.h"
#include "grader/tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

/* ---- the device: a bump allocator that forgets nothing but what is freed ---- */

struct fake {
    struct backend base;
    uint8_t bytes[FAKE_BYTES];
    struct {
        uint64_t start, size;
        bool live;
    } blocks[256];
    unsigned nblocks, launch_count;
    uint64_t top;
    bool is_quiet; /* the last kernel wrote no output */
};

static const struct gpu_device fake_gpu = {
    .name = "fake",
    .full_name = "Fake GPU",
    .cc_major = 9,
    .sms = 2,
    .clock_hz = 1e9,
    .warps_per_sm = 64,
    .blocks_per_sm = 32,
    .registers_per_sm = 65536,
    .shared_per_sm = 100000,
    .shared_per_block = 99000,
    .dram_rate = 1e12,
    .launch_seconds = 1e-6,
};

static struct fake *fake_of(struct backend *b) { return (struct fake *)b; }
static void fake_close(struct backend *b) { free(b); }

static void fake_reset(struct backend *b) {
    struct fake *f = fake_of(b);
    f->nblocks = 1; /* the module's variable */
    f->blocks[0].start = FAKE_BASE;
    f->blocks[0].size = 16;
    f->blocks[0].live = true;
    memset(f->bytes, 0, 16);
    f->top = FAKE_BASE + 64;
}
static void fake_free_all(struct backend *b) { fake_reset(b); }

static int fake_load(struct backend *b, const void *image, size_t size, void **module,
                     struct err *e) {
    if (size < 4 || memcmp(image, "FAKE", 4)) {
        err_set(e, ERR_INPUT, "no fake image");
        return WB_cudaErrorInvalidPtx;
    }
    *module = b;
    return 0;
}
static void fake_unload(struct backend *b, void *module) { (void)b, (void)module; }

static bool fake_find_kernel(struct backend *b, void *module, const char *name,
                             struct backend_kernel *out) {
    static const char *const kernels[] = {"add", "fault", "set", "set_unread", "count"};
    (void)b, (void)module;
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(name, kernels[i])) out->handle = kernels[i];
    out->info = (struct sim_kernel_info){
        .name = name, .param_bytes = 16, .nparams = 2, .max_threads = 1024};
    out->info.params[0].bytes = out->info.params[1].bytes = out->info.params[1].offset = 8;
    return out->handle;
}

static bool fake_find_symbol(struct backend *b, void *module, const char *name, uint64_t *address,
                             uint64_t *bytes) {
    (void)b, (void)module;
    *address = FAKE_BASE;
    *bytes = 16;
    return !strcmp(name, "v");
}

static uint64_t fake_alloc(struct backend *b, uint64_t bytes, const char *name) {
    struct fake *f = fake_of(b);
    (void)name;
    if (f->nblocks == 256 || bytes > FAKE_BASE + FAKE_BYTES - f->top) return 0;
    uint64_t start = f->top;
    f->blocks[f->nblocks].start = start;
    f->blocks[f->nblocks].size = bytes;
    f->blocks[f->nblocks++].live = true;
    f->top += (bytes + 64 + 63) / 64 * 64;
    return start;
}

static uint64_t fake_alloc_host(struct backend *b, uint64_t bytes, const char *name) {
    return fake_alloc(b, bytes, name);
}

static bool fake_free(struct backend *b, uint64_t address) {
    struct fake *f = fake_of(b);
    for (unsigned i = 1; i < f->nblocks; i++)
        if (f->blocks[i].start == address && f->blocks[i].live) {
            f->blocks[i].live = false;
            return true;
        }
    return !address;
}

static bool fake_find_allocation(struct backend *b, uint64_t address, uint64_t *start,
                                 uint64_t *bytes) {
    struct fake *f = fake_of(b);
    for (unsigned i = 0; i < f->nblocks; i++)
        if (f->blocks[i].live && address >= f->blocks[i].start &&
            address < f->blocks[i].start + f->blocks[i].size) {
            *start = f->blocks[i].start;
            *bytes = f->blocks[i].size;
            return true;
        }
    return false;
}

static uint64_t fake_memory_used(struct backend *b) { return fake_of(b)->top - FAKE_BASE; }

static uint8_t *fake_pointer(struct backend *b, uint64_t address, uint64_t bytes) {
    uint64_t start, size;
    if (!fake_find_allocation(b, address, &start, &size) || bytes > size - (address - start))
        return NULL;
    return fake_of(b)->bytes + (address - FAKE_BASE);
}
static bool fake_write(struct backend *b, uint64_t to, const void *data, uint64_t bytes) {
    uint8_t *p = fake_pointer(b, to, bytes);
    if (p) memcpy(p, data, bytes);
    return p;
}
static bool fake_read(struct backend *b, uint64_t from, void *data, uint64_t bytes) {
    uint8_t *p = fake_pointer(b, from, bytes);
    if (p) memcpy(data, p, bytes);
    return p;
}
static bool fake_fill(struct backend *b, uint64_t to, uint8_t value, uint64_t bytes) {
    uint8_t *p = fake_pointer(b, to, bytes);
    if (p) memset(p, value, bytes);
    return p;
}
static bool fake_copy(struct backend *b, uint64_t to, uint64_t from, uint64_t bytes) {
    uint8_t *p = fake_pointer(b, to, bytes), *q = fake_pointer(b, from, bytes);
    if (p && q) memmove(p, q, bytes);
    return p && q;
}

static int fake_check_launch(struct backend *b, const struct backend_launch *l, struct err *e) {
    (void)b;
    if ((uint64_t)l->block[0] * l->block[1] * l->block[2] <= 1024) return 0;
    err_set(e, ERR_INPUT, "too many threads");
    return WB_cudaErrorInvalidConfiguration;
}

static void fake_launch(struct backend *b, const struct backend_launch *l,
                        struct backend_result *out) {
    uint64_t params[2];
    memcpy(params, l->params, sizeof params);
    uint8_t *p = fake_pointer(b, params[0], params[1]);
    bool is_unread = !strcmp(l->kernel, "set_unread"),
         is_set = is_unread || !strcmp(l->kernel, "set");
    fake_of(b)->launch_count++;
    fake_of(b)->is_quiet = is_set || !strcmp(l->kernel, "count");
    if (fake_of(b)->is_quiet) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    *out = (struct backend_result){.seconds = 2e-6, .sim.is_idempotent = is_unread};
    if (!p || !strcmp(l->kernel, "fault")) out->error = WB_cudaErrorIllegalAddress;
    else
        for (uint64_t i = 0; i < params[1]; i++) p[i] = is_set ? 7 : (uint8_t)(p[i] + 1);
}

unsigned fake_launch_count(struct backend *b) { return fake_of(b)->launch_count; }

/* A sum of all words with their places is enough for the few values of a test. */
static void fake_memory_state_hash(struct backend *b, struct backend_hash *out) {
    struct fake *f = fake_of(b);
    *out = (struct backend_hash){0};
    for (uint64_t i = 0; i < f->top - FAKE_BASE; i++)
        out->words[0] = out->words[0] * 31 + f->bytes[i];
}

static unsigned fake_occupancy(struct backend *b, const void *kernel, unsigned threads,
                               unsigned shared) {
    (void)b, (void)kernel, (void)shared;
    return !threads || threads > 1024 ? 0 : 2048 / threads;
}
static void fake_set_time_limit(struct backend *b, double seconds) { (void)b, (void)seconds; }
static bool fake_mark_contents(struct backend *b, uint64_t address, uint64_t bytes, bool written) {
    (void)b, (void)address, (void)bytes, (void)written;
    return true;
}

static void fake_drain_output(struct backend *b, struct buf *out, struct buf *errors) {
    (void)errors;
    if (!fake_of(b)->is_quiet) buf_puts(out, "hello\n");
}

static const struct backend_ops fake_ops = {
#define OP(name) .name = fake_##name
    OP(close),         OP(reset),      OP(free_all),
    OP(load),          OP(unload),     OP(find_kernel),
    OP(find_symbol),   OP(alloc),      .alloc_pages = fake_alloc,
    OP(mark_contents), OP(free),       OP(find_allocation),
    OP(memory_used),   OP(write),      OP(read),
    OP(fill),          OP(copy),       OP(check_launch),
    OP(launch),        OP(occupancy),  OP(set_time_limit),
    OP(drain_output),  OP(alloc_host), OP(memory_state_hash),
#undef OP
};

struct backend *fake_device(void) {
    struct fake *f = xcalloc(1, sizeof *f);
    f->base = (struct backend){.ops = &fake_ops,
                               .device = &fake_gpu,
                               .base = FAKE_BASE,
                               .span = FAKE_BYTES,
                               .memory_bytes = FAKE_BYTES};
    fake_reset(&f->base);
    return &f->base;
}

/* ---- the fixture ---- */

static void *serve(void *user) {
    struct fixture *f = user;
    f->end = server_serve(f->server, server_now() + 20, -1);
    server_disconnect(f->server);
    return NULL;
}

static void save_log_note(void *user, const char *text) {
    struct fixture *f = user;
    f->note_count++;
    snprintf(f->note, sizeof f->note, "%s", text);
}

static void count_launch(void *user, const struct server_launch *l) {
    (void)l;
    ((struct fixture *)user)->launch_count++;
}

void fixture_open(struct fixture *f, struct server_options o, bool with_thread) {
    struct err e = {0};
    memset(f, 0, sizeof *f);
    o.user = f;
    o.on_note = save_log_note;
    o.on_launch = count_launch;
    if (!o.window_bytes) o.window_bytes = 64 << 10;
    f->server = server_open(fake_device(), &o, &e);
    if (!f->server) die("%s", e.text); /* not ck_assert: fuzzers use this too */
    f->window_bytes = o.window_bytes;
    f->window = mmap(NULL, SERVER_WINDOW_FILE_BYTES(o.window_bytes), PROT_READ | PROT_WRITE,
                     MAP_SHARED, server_client_window(f->server), 0);
    if (f->window == MAP_FAILED) die("no memory for the window");
    if (with_thread && pthread_create(&f->thread, NULL, serve, f)) die("no thread");
}

void fixture_close(struct fixture *f) {
    shutdown(server_client_socket(f->server), SHUT_RDWR);
    if (f->thread) pthread_join(f->thread, NULL);
    munmap(f->window, SERVER_WINDOW_FILE_BYTES(f->window_bytes));
    server_close(f->server);
}

size_t fixture_raw(struct fixture *f, const void *bytes, size_t size, void *frame) {
    int fd = server_client_socket(f->server);
    if (send(fd, bytes, size, MSG_NOSIGNAL) < 0) return 0;
    ssize_t n = recv(fd, frame, WB_FRAME_BYTES, 0);
    return n > 0 ? (size_t)n : 0;
}

int fixture_request(struct fixture *f, enum wb_op op, const void *q, size_t nq, const void *tail,
                    size_t ntail, void *p, size_t np) {
    _Alignas(8) uint8_t out[WB_FRAME_BYTES], in[WB_FRAME_BYTES];
    struct wb_header h = {.op = op, .seq = ++f->seq, .size = (uint32_t)(sizeof h + nq + ntail)};
    memcpy(out, &h, sizeof h);
    if (nq) memcpy(out + sizeof h, q, nq);
    if (ntail) memcpy(out + sizeof h + nq, tail, ntail);
    size_t n = fixture_raw(f, out, h.size, in);
    if (!n) return -1;
    memcpy(&h, in, sizeof h);
    ck_assert_uint_eq(h.op, op);
    ck_assert_uint_eq(h.seq, f->seq);
    ck_assert_uint_ge(n, sizeof h + np);
    if (p && np) memcpy(p, in + sizeof h, np);
    return h.status;
}

void fixture_post(struct fixture *f, enum wb_op op, const void *q, size_t nq, const void *tail,
                  size_t ntail) {
    struct wb_header h = {
        .op = op, .seq = ++f->seq, .size = (uint32_t)(sizeof h + nq + ntail), .flags = WB_ONE_WAY};
    struct iovec parts[] = {{&h, sizeof h}, {(void *)q, nq}, {(void *)tail, ntail}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 3};
    ck_assert_int_ge(sendmsg(server_client_socket(f->server), &m, MSG_NOSIGNAL), 0);
}

uint64_t fixture_alloc(struct fixture *f, uint64_t bytes) {
    struct wb_rep_alloc p;
    ck_assert_int_eq(REQUEST(f, alloc, &(struct wb_req_alloc){.bytes = bytes}, &p), 0);
    return p.address;
}

uint64_t fixture_kernel(struct fixture *f, const char *name) {
    struct wb_rep_module_load m;
    struct wb_rep_kernel_find k;
    memcpy(f->window, "FAKE", 4);
    ck_assert_int_eq(REQUEST(f, upload, (&(struct wb_req_upload){0, 4, 4}), NULL), 0);
    ck_assert_int_eq(REQUEST(f, module_load, &(struct wb_req_module_load){4}, &m), 0);
    ck_assert_int_eq(REQUEST_TAIL(f, kernel_find, &(struct wb_req_kernel_find){m.module}, &k, name,
                                  strlen(name)),
                     0);
    return k.kernel;
}

int fixture_launch(struct fixture *f, uint64_t kernel, uint32_t threads, uint64_t p, uint64_t n) {
    struct wb_req_launch q = {.kernel = kernel,
                              .grid_x = 1,
                              .grid_y = 1,
                              .grid_z = 1,
                              .block_x = threads,
                              .block_y = 1,
                              .block_z = 1};
    uint64_t params[2] = {p, n};
    return REQUEST_TAIL(f, launch, &q, NULL, params, sizeof params);
}
