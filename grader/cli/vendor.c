/* vendor.c — see vendor.h. cuBLAS runs in the context that the gpu backend made current, on its stream,
 * behind the same gate and between the same events as a submission. What it computes is not looked at: its
 * time is wanted. */
#include "grader/cli/vendor.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/grade.h"
#include "grader/server/gpu_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sgemm[] = "cublasSgemm", sgeam[] = "cublasSgeam";
enum { NO_TRANSPOSE, TRANSPOSE, RUNS = 8 };

struct cublas {
    void *library, *handle;
    int (*create)(void **);
    int (*destroy)(void *);
    int (*set_stream)(void *, void *);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                 float *, int);
    int (*sgeam)(void *, int, int, int, int, const float *, const float *, int, const float *, const float *, int,
                 float *, int);
};

static bool open_cublas(struct cublas *c, void *stream, struct err *e) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"};
    *c = (struct cublas){0};
    const char *told = getenv("WARPBOOK_LIBCUBLAS"); /* for tests, as WARPBOOK_LIBCUDA */
    if (told) c->library = dlopen(told, RTLD_NOW | RTLD_LOCAL);
    for (unsigned i = 0; i < 4 && !told && !c->library; i++) c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return err_set(e, ERR_SYSTEM, "cuBLAS is not on this machine");
    *(void **)&c->create = dlsym(c->library, "cublasCreate_v2");
    *(void **)&c->destroy = dlsym(c->library, "cublasDestroy_v2");
    *(void **)&c->set_stream = dlsym(c->library, "cublasSetStream_v2");
    *(void **)&c->sgemm = dlsym(c->library, "cublasSgemm_v2");
    *(void **)&c->sgeam = dlsym(c->library, "cublasSgeam");
    bool ok = c->create && c->destroy && c->set_stream && c->sgemm && c->sgeam && !c->create(&c->handle) &&
              !c->set_stream(c->handle, stream);
    if (!ok) dlclose(c->library);
    return ok || err_set(e, ERR_SYSTEM, "cuBLAS does not start");
}

/* Row-major C = A B is column-major C' = B' A'. */
static int call(struct cublas *c, bool product, const long *dim, uint64_t a, uint64_t b, uint64_t out) {
    static const float one = 1, zero = 0;
    int m = (int)dim[0], n = (int)dim[1], k = (int)dim[2];
    if (product)
        return c->sgemm(c->handle, NO_TRANSPOSE, NO_TRANSPOSE, k, m, n, &one, (float *)b, k, (float *)a, n, &zero,
                        (float *)out, k);
    return c->sgeam(c->handle, TRANSPOSE, NO_TRANSPOSE, m, n, &one, (float *)a, n, &zero, (float *)a, m, (float *)out,
                    m);
}

static double time_calls(struct backend *b, struct cublas *c, bool product, const long *dim, struct err *e) {
    uint64_t m = (uint64_t)dim[0], n = (uint64_t)dim[1], k = product ? (uint64_t)dim[2] : 1,
             most = m * n + n * k + m * k;
    uint64_t x = b->ops->alloc(b, 4 * most, "a"), y = b->ops->alloc(b, 4 * most, "b"),
             z = b->ops->alloc(b, 4 * most, "c");
    double best = 0;
    bool ok = x && y && z && b->ops->fill(b, x, 0, 4 * most) && b->ops->fill(b, y, 0, 4 * most);
    if (ok && call(c, product, dim, x, y, z)) ok = false; /* once outside: it may allocate */
    if (ok) gpu_wait((struct backend_gpu *)b);
    for (unsigned i = 0; i < RUNS && ok; i++) {
        int error = 0;
        ok = backend_gpu_flush(b) && backend_gpu_begin(b, e);
        int status = ok ? call(c, product, dim, x, y, z) : 0;
        double seconds = ok ? backend_gpu_end(b, &error) : 0;
        ok = ok && !status && !error;
        if (ok && seconds > 0 && (!best || seconds < best)) best = seconds;
    }
    b->ops->free(b, x), b->ops->free(b, y), b->ops->free(b, z);
    return ok ? best : (err_set(e, ERR_SYSTEM, "cuBLAS failed"), 0);
}

const char *vendor_routine(const struct exercise *ex) {
    bool product = !strncmp(ex->name, "matmul", 6) || !strcmp(ex->name, "gemm_mapping") || !strcmp(ex->name, "sgemm");
    if (product) return sgemm;
    return strcmp(ex->name, "transpose") && strcmp(ex->name, "transpose_padded") ? NULL : sgeam;
}

double vendor_time(struct backend *b, const struct exercise *ex, const char **routine, struct err *e) {
    struct cublas c;
    *routine = vendor_routine(ex);
    if (!*routine) return err_set(e, ERR_INPUT, "no routine of cuBLAS does this job"), 0;
    if (!open_cublas(&c, ((struct backend_gpu *)b)->stream, e)) return 0;
    double seconds = time_calls(b, &c, *routine == sgemm, ex->timed.dim, e);
    c.destroy(c.handle);
    dlclose(c.library);
    return seconds;
}

bool vendor_file(const struct exercise *ex, char path[VENDOR_PATH]) {
    return snprintf(path, VENDOR_PATH, "%s/grader/vendor/%s.cu", book_root(), ex->name) < VENDOR_PATH &&
           file_exists(path);
}

bool vendor_build(const struct exercise *ex, const char *path, struct build *b, struct err *e) {
    struct buf source = {0};
    char name[128];
    grade_name(ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, e) && build_carry(name, source.data, source.size, b, e);
    if (ok && !b->ok)
        ok = err_set(e, ERR_SYSTEM, "%s",
                     strstr(buf_str(&b->messages), "cub/") ? "CUB's headers are not with this compiler"
                                                           : "does not compile with this toolkit");
    buf_free(&source);
    return ok;
}
