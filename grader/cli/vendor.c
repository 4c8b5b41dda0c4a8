/* vendor.c — times cuBLAS and finds the library versions of an exercise (vendor.h). cuBLAS runs in
 * the gpu backend's context, on its stream and between the same events as a submission. Its input
 * is random, because zeros need less power. The time is the median of cold runs, as for a
 * submission; the result isn't checked. */
#include "grader/cli/vendor.h"
#include "common/err.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/grade.h"
#include "grader/grade/measure.h"
#include "grader/server/gpu_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sgemm_name[] = "cublasSgemm", sgeam_name[] = "cublasSgeam";
enum { NO_TRANSPOSE, TRANSPOSE, RUN_COUNT = 21 };

struct cublas {
    void *library, *handle;
    int (*create)(void **);
    int (*destroy)(void *);
    int (*set_stream)(void *, void *);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *,
                 int, const float *, float *, int);
    int (*sgeam)(void *, int, int, int, int, const float *, const float *, int, const float *,
                 const float *, int, float *, int);
};

static bool open_cublas(struct cublas *c, void *stream, struct err *e) {
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                        "libcublas.so"};
    *c = (struct cublas){0};
    const char *library_path = getenv("WARPBOOK_LIBCUBLAS"); /* for tests, like WARPBOOK_LIBCUDA */
    if (library_path) c->library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    for (unsigned i = 0; i < 4 && !library_path && !c->library; i++)
        c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->library) return err_set(e, ERR_SYSTEM, "cuBLAS is not installed on this machine");
    *(void **)&c->create = dlsym(c->library, "cublasCreate_v2");
    *(void **)&c->destroy = dlsym(c->library, "cublasDestroy_v2");
    *(void **)&c->set_stream = dlsym(c->library, "cublasSetStream_v2");
    *(void **)&c->sgemm = dlsym(c->library, "cublasSgemm_v2");
    *(void **)&c->sgeam = dlsym(c->library, "cublasSgeam");
    bool ok = c->create && c->destroy && c->set_stream && c->sgemm && c->sgeam &&
              !c->create(&c->handle) && !c->set_stream(c->handle, stream);
    if (!ok) dlclose(c->library);
    return ok || err_set(e, ERR_SYSTEM, "cuBLAS does not initialize");
}

struct cublas_job {
    const long *dim;
    bool is_gemm, accumulates; /* accumulates: C is an input, too */
};

/* Calls the routine; returns its status. Row-major C = A B is column-major C' = B' A'. */
static int call_cublas(struct cublas *c, const struct cublas_job *j, uint64_t a, uint64_t b,
                       uint64_t out) {
    static const float one = 1, zero = 0, beta = -0.75f;
    const long *dim = j->dim;
    int m = (int)dim[0], n = (int)dim[1], k = (int)dim[2];
    if (j->is_gemm)
        return c->sgemm(c->handle, NO_TRANSPOSE, NO_TRANSPOSE, k, m, n, &one, (float *)b, k,
                        (float *)a, n, j->accumulates ? &beta : &zero, (float *)out, k);
    return c->sgeam(c->handle, TRANSPOSE, NO_TRANSPOSE, m, n, &one, (float *)a, n, &zero,
                    (float *)a, m, (float *)out, m);
}

/* Writes numbers between -1 and 1, the same ones in each run. */
static bool fill_random(struct backend *b, uint64_t to, uint64_t count) {
    float *x = xcalloc(count, sizeof *x);
    uint32_t state = 1;
    for (uint64_t i = 0; i < count; i++)
        state = state * 1664525u + 1013904223u, x[i] = (float)(state >> 8) * 0x1p-23f - 1;
    bool ok = b->ops->write(b, to, x, count * sizeof *x);
    free(x);
    return ok;
}

static double time_call(struct backend *b, struct cublas *c, const struct cublas_job *j,
                        const uint64_t matrices[3], struct err *e) {
    int error = 0;
    bool ok = backend_gpu_flush_l2(b) && backend_gpu_begin_timed(b, e);
    int status = ok ? call_cublas(c, j, matrices[0], matrices[1], matrices[2]) : 0;
    double seconds = ok ? backend_gpu_end_timed(b, &error) : 0;
    return status || error ? 0 : seconds;
}

static double time_calls(struct backend *b, struct cublas *c, const struct cublas_job *j,
                         struct err *e) {
    uint64_t m = (uint64_t)j->dim[0], n = (uint64_t)j->dim[1],
             k = j->is_gemm ? (uint64_t)j->dim[2] : 1, max_elements = m * n + n * k + m * k,
             matrices[3];
    double seconds[RUN_COUNT];
    bool ok = true;
    for (unsigned i = 0; i < 3; i++)
        ok = (matrices[i] = b->ops->alloc(b, 4 * max_elements, "matrix")) && ok;
    for (unsigned i = 0; i < 3 && ok; i++) ok = fill_random(b, matrices[i], max_elements);
    if (ok) gpu_wait((struct backend_gpu *)b);
    if (ok && call_cublas(c, j, matrices[0], matrices[1], matrices[2]))
        ok = false; /* the first call, which may allocate, isn't timed */
    if (ok) gpu_wait((struct backend_gpu *)b);
    for (unsigned i = 0; i < RUN_COUNT && ok; i++)
        ok = (seconds[i] = time_call(b, c, j, matrices, e)) > 0;
    for (unsigned i = 0; i < 3; i++) b->ops->free(b, matrices[i]);
    return ok ? measure_median(seconds, RUN_COUNT) : (err_set(e, ERR_SYSTEM, "cuBLAS failed"), 0);
}

const char *vendor_routine(const struct exercise *ex) {
    bool is_gemm = !strncmp(ex->name, "matmul", 6) || !strcmp(ex->name, "gemm_mapping") ||
                   !strcmp(ex->name, "sgemm");
    if (is_gemm) return sgemm_name;
    return strcmp(ex->name, "transpose") && strcmp(ex->name, "transpose_padded") ? NULL
                                                                                 : sgeam_name;
}

double vendor_time(struct backend *b, const struct exercise *ex, const char **routine,
                   struct err *e) {
    struct cublas c;
    *routine = vendor_routine(ex);
    if (!*routine) return err_set(e, ERR_INPUT, "cuBLAS has no routine for this exercise"), 0;
    if (!open_cublas(&c, ((struct backend_gpu *)b)->stream, e)) return 0;
    struct cublas_job j = {ex->timed_case.dim, *routine == sgemm_name,
                           ex->nargs && ex->args[0].role == EX_INOUT};
    double seconds = time_calls(b, &c, &j, e);
    c.destroy(c.handle);
    dlclose(c.library);
    return seconds;
}

bool vendor_cub_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]) {
    return snprintf(path, VENDOR_MAX_PATH, "%s/grader/vendor/%s.cu", book_root(), ex->name) <
               VENDOR_MAX_PATH &&
           file_exists(path);
}

bool vendor_practice_path(const struct exercise *ex, char path[VENDOR_MAX_PATH]) {
    return snprintf(path, VENDOR_MAX_PATH, "%s/chapters/%s/practice/%s.cu", book_root(),
                    ex->chapter, ex->name) < VENDOR_MAX_PATH &&
           file_exists(path);
}

bool vendor_build(const struct exercise *ex, const char *path, struct build *b, struct err *e) {
    struct buf source = {0};
    char name[128];
    grade_safe_file_name(ex, path, name, sizeof name);
    bool ok = file_read(path, SOURCE_LIMIT, &source, e) &&
              build_run_portable(&(struct build_source){name, source.data, source.size, ex->sm_90a},
                                 b, e);
    if (ok && !b->ok)
        ok = err_set(e, ERR_SYSTEM, "%s",
                     strstr(buf_str(&b->messages), "cub/")
                         ? "this toolkit lacks CUB's headers"
                         : "it does not compile with this toolkit");
    buf_free(&source);
    return ok;
}
