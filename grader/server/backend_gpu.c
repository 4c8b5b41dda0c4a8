/* backend_gpu.c — the gpu backend: device, memory pool, and the held queue of timed replays. See
 * backend_gpu.h. */
#include "common/grow.h"
#include "grader/server/gpu_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ALIGN = 512, REDZONE = 512 };

static struct backend_gpu *gpu_of(const struct backend *b) { return (struct backend_gpu *)b; }

int gpu_check_error(struct backend_gpu *g, int error) {
    static const short codes[] = {
#define X(id, code, text) code,
#include "grader/server/errors.def"
#undef X
    };
    /* Since CUDA 10.1 the driver's numbers equal the runtime's, except for a few that the runtime
     * has no name for. */
    int mapped = WB_cudaErrorUnknown;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == error) mapped = error;
    bool is_sticky =
        error >= 700 && error < 800 && error != 701 && error != 704 && error != 705 && error != 720;
    if (is_sticky) g->sticky_error = mapped;
    return error ? mapped : 0;
}

/* ---- memory ---- */

static int find_block(const struct backend_gpu *g, uint64_t address) {
    for (unsigned i = 0; i < g->nblocks; i++)
        if (address - g->blocks[i].start < (g->blocks[i].bytes ? g->blocks[i].bytes : 1))
            return (int)i;
    return -1;
}

static void insert_block(struct backend_gpu *g, unsigned at, struct gpu_block block) {
    GROW(g->blocks, g->nblocks + 1, g->block_capacity, 32);
    memmove(g->blocks + at + 1, g->blocks + at, (g->nblocks - at) * sizeof *g->blocks);
    g->blocks[at] = block;
    g->nblocks++;
}

/* First fit, so that the same calls give the same addresses. */
static uint64_t gpu_alloc(struct backend *b, uint64_t bytes, const char *name) {
    struct backend_gpu *g = gpu_of(b);
    (void)name;
    if (bytes > g->base.memory_bytes) return 0;
    uint64_t padded_bytes = ((bytes ? bytes : 1) + ALIGN - 1) / ALIGN * ALIGN + REDZONE,
             at = g->pool;
    for (unsigned i = 0; i <= g->nblocks; i++) {
        uint64_t end = i < g->nblocks ? g->blocks[i].start : g->pool + g->base.memory_bytes;
        if (end - at >= padded_bytes)
            return insert_block(g, i, (struct gpu_block){at, bytes, NULL}), at;
        if (i < g->nblocks)
            at = g->blocks[i].start + (g->blocks[i].bytes + ALIGN) / ALIGN * ALIGN + REDZONE;
    }
    return 0;
}

/* Reserves a block of the pool for it, so that the host sees addresses of one range. */
static uint64_t gpu_alloc_host(struct backend *b, uint64_t bytes, const char *name) {
    struct backend_gpu *g = gpu_of(b);
    unsigned n = g->nhost_buffers;
    if (n == sizeof g->host_buffers / sizeof *g->host_buffers) return 0;
    if (!g->host_buffers[n].data || g->host_buffers[n].capacity < bytes) {
        if (g->host_buffers[n].data) g->d.cuMemFreeHost(g->host_buffers[n].data);
        g->host_buffers[n].data = NULL, g->host_buffers[n].capacity = bytes ? bytes : 1;
        if (gpu_check_error(g, g->d.cuMemHostAlloc((void **)&g->host_buffers[n].data,
                                                   g->host_buffers[n].capacity, 0)))
            return 0;
    }
    uint64_t address = gpu_alloc(b, bytes, name);
    if (address)
        g->blocks[find_block(g, address)].host = g->host_buffers[n].data, g->nhost_buffers++;
    return address;
}

/* Returns the pinned memory behind an address, or NULL. */
static unsigned char *host_pointer_of(const struct backend_gpu *g, uint64_t address) {
    int i = find_block(g, address);
    return i >= 0 && g->blocks[i].host ? g->blocks[i].host + (address - g->blocks[i].start) : NULL;
}

static bool gpu_free(struct backend *b, uint64_t address) {
    struct backend_gpu *g = gpu_of(b);
    int i = find_block(g, address);
    if (!address) return true;
    if (i < 0 || g->blocks[i].start != address) return false;
    memmove(g->blocks + i, g->blocks + i + 1, (g->nblocks - (unsigned)i - 1) * sizeof *g->blocks);
    g->nblocks--;
    return true;
}

static bool gpu_find_allocation(struct backend *b, uint64_t address, uint64_t *start,
                                uint64_t *bytes) {
    struct backend_gpu *g = gpu_of(b);
    int i = find_block(g, address);
    if (i < 0) return gpu_in_variable(g, address, 0, start, bytes);
    *start = g->blocks[i].start, *bytes = g->blocks[i].bytes;
    return true;
}

static uint64_t gpu_memory_used(struct backend *b) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < gpu_of(b)->nblocks; i++) sum += gpu_of(b)->blocks[i].bytes;
    return sum;
}

static bool is_in_allocation(const struct backend_gpu *g, uint64_t address, uint64_t bytes) {
    uint64_t start, size;
    int i = find_block(g, address);
    if (!bytes) return true;
    if (i < 0) return gpu_in_variable(g, address, bytes, &start, &size);
    return address - g->blocks[i].start + bytes <= g->blocks[i].bytes;
}

/* Pageable memory would make the driver wait for the queue that we hold back. */
static bool write_queued(struct backend_gpu *g, uint64_t to, const void *data, uint64_t bytes) {
    if (g->staging_used + bytes > STAGING_BYTES) return false;
    unsigned char *at = g->staging + g->staging_used;
    memcpy(at, data, bytes);
    g->staging_used += (bytes + 255) / 256 * 256;
    return !gpu_check_error(g, g->d.cuMemcpyHtoDAsync_v2(to, at, bytes, gpu_stream(g)));
}

/* Waits for the data to arrive. From pageable memory, the driver returns once it has staged the
 * bytes, and our stream does not wait for the driver's own: a copy to constant memory that was
 * queued next had read the old data. */
bool gpu_upload(struct backend_gpu *g, uint64_t to, const void *data, uint64_t bytes) {
    return !gpu_check_error(g, g->d.cuMemcpyHtoD_v2(to, data, bytes)) &&
           !gpu_check_error(g, g->d.cuCtxSynchronize());
}

static bool gpu_write(struct backend *b, uint64_t to, const void *data, uint64_t bytes) {
    struct backend_gpu *g = gpu_of(b);
    if (!bytes) return true;
    if (g->sticky_error || !is_in_allocation(g, to, bytes)) return false;
    if (host_pointer_of(g, to)) return memcpy(host_pointer_of(g, to), data, bytes);
    return g->queue_held ? write_queued(g, to, data, bytes) : gpu_upload(g, to, data, bytes);
}

static bool gpu_read(struct backend *b, uint64_t from, void *data, uint64_t bytes) {
    struct backend_gpu *g = gpu_of(b);
    if (!bytes) return true;
    if (g->sticky_error || g->queue_held || !is_in_allocation(g, from, bytes)) return false;
    if (host_pointer_of(g, from)) return memcpy(data, host_pointer_of(g, from), bytes);
    return !gpu_check_error(g, g->d.cuMemcpyDtoH_v2(data, from, bytes));
}

static bool gpu_fill(struct backend *b, uint64_t to, uint8_t value, uint64_t bytes) {
    struct backend_gpu *g = gpu_of(b);
    if (!bytes) return true;
    if (g->sticky_error || !is_in_allocation(g, to, bytes) ||
        gpu_check_error(g, g->d.cuMemsetD8Async(to, value, bytes, gpu_stream(g))))
        return false;
    return g->queue_held || !gpu_wait(g);
}

static bool gpu_copy(struct backend *b, uint64_t to, uint64_t from, uint64_t bytes) {
    struct backend_gpu *g = gpu_of(b);
    if (!bytes) return true;
    if (g->sticky_error || !is_in_allocation(g, to, bytes) || !is_in_allocation(g, from, bytes))
        return false;
    unsigned char *out = host_pointer_of(g, to), *in = host_pointer_of(g, from);
    int error = in    ? g->d.cuMemcpyHtoDAsync_v2(to, in, bytes, gpu_stream(g))
                : out ? g->d.cuMemcpyDtoHAsync_v2(out, from, bytes, gpu_stream(g))
                      : g->d.cuMemcpyDtoDAsync_v2(to, from, bytes, gpu_stream(g));
    if (gpu_check_error(g, error)) return false;
    return g->queue_held || !gpu_wait(g);
}

/* ---- waiting ---- */

/* Redirects device printf into the report; the driver writes it to standard output while we
 * wait. */
int gpu_wait(struct backend_gpu *g) {
    int fd = memfd_create("printf", MFD_CLOEXEC), saved = fd < 0 ? -1 : dup(1);
    fflush(stdout);
    if (saved >= 0) dup2(fd, 1);
    int error = g->d.cuStreamSynchronize(g->stream);
    fflush(stdout);
    if (saved >= 0) dup2(saved, 1), close(saved);
    if (fd < 0) return gpu_check_error(g, error);
    char chunk[4096];
    lseek(fd, 0, SEEK_SET);
    for (ssize_t n; (n = read(fd, chunk, sizeof chunk)) > 0 && g->output.size < 1 << 20;)
        buf_add(&g->output, chunk, (size_t)n);
    close(fd);
    return gpu_check_error(g, error);
}

static void gpu_drain_output(struct backend *b, struct buf *out, struct buf *errors) {
    (void)errors; /* the driver writes them itself */
    struct backend_gpu *g = gpu_of(b);
    buf_add(out, g->output.data, g->output.size);
    buf_clear(&g->output);
}

/* A GPU doesn't track initialized memory. */
static bool gpu_mark_contents(struct backend *b, uint64_t address, uint64_t bytes, bool written) {
    (void)b, (void)address, (void)bytes, (void)written;
    return true;
}

static void gpu_set_time_limit(struct backend *b, double seconds) { (void)b, (void)seconds; }

/* ---- the held queue ---- */

/* Runs on a thread of the driver, ahead of everything queued behind it. */
static void hold_queue(void *user) {
    struct backend_gpu *g = user;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 30; /* even if the thread that should release it fails */
    pthread_mutex_lock(&g->lock);
    while (!g->gate_open &&
           pthread_cond_timedwait(&g->gate_opened, &g->lock, &deadline) != ETIMEDOUT) {}
    pthread_mutex_unlock(&g->lock);
}

bool backend_gpu_flush_l2(struct backend *b) {
    struct backend_gpu *g = gpu_of(b);
    if (g->d.cuCtxResetPersistingL2Cache) g->d.cuCtxResetPersistingL2Cache();
    if (g->sticky_error ||
        gpu_check_error(g, g->d.cuMemsetD8Async(g->flush_buffer, 0, g->flush_bytes, g->stream)))
        return false;
    return !gpu_wait(g);
}

bool backend_gpu_begin_timed(struct backend *b, struct err *e) {
    struct backend_gpu *g = gpu_of(b);
    if (g->sticky_error)
        return err_set(e, ERR_SYSTEM, "the GPU's context has failed with error %d",
                       g->sticky_error);
    g->gate_open = false;
    g->staging_used = 0;
    int error = g->d.cuLaunchHostFunc(g->stream, hold_queue, g);
    if (!error) error = g->d.cuEventRecord(g->start, g->stream);
    g->queue_held = !error;
    gpu_streams_begin(g);
    if (!error) return true;
    return gpu_check_error(g, error),
           err_set(e, ERR_SYSTEM, "the GPU's queue cannot be held back: error %d", error);
}

void gpu_release_queue(struct backend_gpu *g) {
    pthread_mutex_lock(&g->lock);
    g->gate_open = true;
    pthread_cond_broadcast(&g->gate_opened);
    pthread_mutex_unlock(&g->lock);
}

double backend_gpu_end_timed(struct backend *b, int *error) {
    struct backend_gpu *g = gpu_of(b);
    float milliseconds = 0;
    int code = gpu_streams_join(g);
    if (!code) code = g->d.cuEventRecord(g->stop, g->stream);
    g->queue_held = false;
    gpu_release_queue(g);
    *error = gpu_wait(g);
    if (code && !*error) *error = gpu_check_error(g, code);
    if (!*error)
        *error = gpu_check_error(g, g->d.cuEventElapsedTime(&milliseconds, g->start, g->stop));
    return *error ? 0 : milliseconds * 1e-3;
}

/* ---- opening and closing ---- */

static void gpu_reset(struct backend *b) {
    struct backend_gpu *g = gpu_of(b);
    g->nblocks = g->nhost_buffers = 0;
    for (struct gpu_module *m = g->modules; m && !g->sticky_error; m = m->next)
        gpu_module_reset(g, m);
}

static void gpu_free_all(struct backend *b) { gpu_of(b)->nblocks = gpu_of(b)->nhost_buffers = 0; }

static void gpu_close(struct backend *b) {
    struct backend_gpu *g = gpu_of(b);
    bool had_sticky_error = g->sticky_error;
    if (g->context) {
        while (g->modules) gpu_unload(b, g->modules);
        gpu_streams_close(g);
        for (unsigned i = 0; i < sizeof g->host_buffers / sizeof *g->host_buffers; i++)
            if (g->host_buffers[i].data) g->d.cuMemFreeHost(g->host_buffers[i].data);
        if (g->staging) g->d.cuMemFreeHost(g->staging);
        if (g->flush_buffer) g->d.cuMemFree_v2(g->flush_buffer);
        if (g->pool) g->d.cuMemFree_v2(g->pool);
        if (g->start) g->d.cuEventDestroy_v2(g->start);
        if (g->stop) g->d.cuEventDestroy_v2(g->stop);
        if (g->stream) g->d.cuStreamDestroy_v2(g->stream);
        g->d.cuDevicePrimaryCtxRelease_v2(g->device);
        if (had_sticky_error)
            g->d.cuDevicePrimaryCtxReset_v2(
                g->device); /* a fault poisons the context for its next user */
    }
    if (g->d.library) driver_close(&g->d);
    pthread_mutex_destroy(&g->lock);
    pthread_cond_destroy(&g->gate_opened);
    buf_free(&g->output);
    free(g->blocks);
    free(g);
}

static const struct backend_ops gpu_ops = {
#define OP(name) .name = gpu_##name
    OP(close),         OP(reset),      OP(free_all),
    OP(load),          OP(unload),     OP(find_kernel),
    OP(find_symbol),   OP(alloc),      .alloc_pages = gpu_alloc,
    OP(mark_contents), OP(free),       OP(find_allocation),
    OP(memory_used),   OP(write),      OP(read),
    OP(fill),          OP(copy),       OP(check_launch),
    OP(launch),        OP(occupancy),  OP(set_time_limit),
    OP(drain_output),  OP(alloc_host), OP(set_stream_clock),
#undef OP
};

void backend_gpu_info(const struct backend *b, struct gpu_info *out) { *out = gpu_of(b)->info; }

static int get_device_attribute(struct backend_gpu *g, int attribute_id) {
    int value = 0;
    g->d.cuDeviceGetAttribute(&value, attribute_id, g->device);
    return value;
}

/* Returns the table's nearest row, with the values that this device reports itself. */
static void query_device(struct backend_gpu *g) {
    struct gpu_info *i = &g->info;
    g->d.cuDeviceGetName(i->name, sizeof i->name, g->device);
    g->d.cuDriverGetVersion(&i->driver_version);
    i->cc_major = (unsigned)get_device_attribute(g, ATTRIBUTE_CC_MAJOR),
    i->cc_minor = (unsigned)get_device_attribute(g, ATTRIBUTE_CC_MINOR);
    i->sms = (unsigned)get_device_attribute(g, ATTRIBUTE_SMS);
    i->compiled_by = "nothing loaded yet";
    const struct gpu_device *best = device_at(0);
    double min_distance = 1e9;
    for (unsigned k = 0; device_at(k); k++) {
        const struct gpu_device *d = device_at(k);
        double distance = 10 * abs((int)(d->cc_major * 10 + d->cc_minor) -
                                   (int)(i->cc_major * 10 + i->cc_minor)) +
                          abs((int)d->sms - (int)i->sms) / 100.0;
        if (strcasestr(i->name, d->name))
            distance = -1; /* "NVIDIA H100 80GB HBM3" is the row h100 */
        if (distance < min_distance) min_distance = distance, best = d;
    }
    g->device_desc = *best;
    g->device_desc.full_name = i->name;
    g->device_desc.cc_major = i->cc_major, g->device_desc.cc_minor = i->cc_minor,
    g->device_desc.sms = i->sms;
    g->device_desc.threads_per_block =
        (unsigned)get_device_attribute(g, ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    g->device_desc.shared_per_block = (unsigned)get_device_attribute(g, ATTRIBUTE_SHARED_OPTIN);
    g->device_desc.l2_bytes = (uint64_t)get_device_attribute(g, ATTRIBUTE_L2_BYTES);
    g->device_desc.clock_hz = get_device_attribute(g, ATTRIBUTE_CLOCK_KHZ) * 1e3;
    size_t bytes = 0;
    if (!g->d.cuDeviceTotalMem_v2(&bytes, g->device)) g->device_desc.dram_bytes = bytes;
}

static int allocate_pools(struct backend_gpu *g) {
    size_t available = 0, total = 0;
    int error = g->d.cuMemGetInfo_v2(&available, &total);
    uint64_t pool = g->options.pool_bytes;
    if (!pool) pool = available / 2 < 16ull << 30 ? available / 2 : 16ull << 30;
    pool = pool / (2 << 20) * (2 << 20);
    g->flush_bytes = 2 * g->device_desc.l2_bytes;
    if (!error) error = g->d.cuMemAlloc_v2(&g->pool, pool);
    if (!error) error = g->d.cuMemAlloc_v2(&g->flush_buffer, g->flush_bytes);
    if (!error) error = g->d.cuMemHostAlloc((void **)&g->staging, STAGING_BYTES, 0);
    g->base.memory_bytes = g->base.span = pool;
    g->base.base = g->pool;
    return error;
}

static bool open_device(struct backend_gpu *g, struct err *e) {
    char text[256];
    int error = g->d.cuDeviceGet(&g->device, 0);
    if (!error) error = g->d.cuDevicePrimaryCtxRetain(&g->context, g->device);
    if (!error) error = g->d.cuCtxSetCurrent(g->context);
    if (!error) error = g->d.cuStreamCreate(&g->stream, STREAM_NON_BLOCKING);
    if (!error) error = g->d.cuEventCreate(&g->start, 0);
    if (!error) error = g->d.cuEventCreate(&g->stop, 0);
    if (!error) query_device(g);
    if (!error) error = allocate_pools(g);
    if (!error) return true;
    driver_error(&g->d, error, text, sizeof text);
    return err_set(e, ERR_SYSTEM, "the GPU cannot be used: %s", text);
}

struct backend *backend_gpu_open(const struct gpu_options *o, struct err *e) {
    struct backend_gpu *g = xcalloc(1, sizeof *g);
    g->options = *o;
    g->base = (struct backend){.ops = &gpu_ops, .device = &g->device_desc};
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->gate_opened, NULL);
    if (driver_open(&g->d, e) && open_device(g, e)) return &g->base;
    gpu_close(&g->base);
    return NULL;
}
