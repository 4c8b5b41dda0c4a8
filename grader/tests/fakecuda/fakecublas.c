/* fakecublas.c — the fake cuBLAS: it checks its arguments and takes a made-up time, a FLOP a
 * picosecond for a product (and as much for each element that it adds to) and 16 bytes a
 * nanosecond for a transposition; every fifth call takes half of that. It refuses matrices of
 * one value, because real ones run faster on them. */
#include "grader/tests/fakecuda/fakecuda.h"

#include <stdlib.h>

enum { OK, NOT_INITIALIZED, INVALID_VALUE = 7 };
struct handle {
    void *stream;
};

EXPORT int cublasCreate_v2(void **h) {
    *h = calloc(1, sizeof(struct handle));
    return *h ? OK : NOT_INITIALIZED;
}
EXPORT int cublasDestroy_v2(void *h) {
    free(h);
    return OK;
}
EXPORT int cublasSetStream_v2(void *h, void *stream) {
    ((struct handle *)h)->stream = stream;
    return OK;
}
static double fake_seconds(double seconds) {
    static unsigned calls;
    return ++calls % 5 ? seconds : seconds / 2;
}

EXPORT int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *alpha,
                          const float *a, int lda, const float *b, int ldb, const float *beta,
                          float *c, int ldc) {
    if (ta || tb || m < 1 || n < 1 || k < 1 || lda < m || ldb < k || ldc < m || !a || !b || !c ||
        !alpha || !beta)
        return INVALID_VALUE;
    if (a[0] == a[1] || b[0] == b[1]) return INVALID_VALUE;
    double flop = 2.0 * m * n * k + (*beta != 0 ? (double)m * n : 0);
    fakecuda_enqueue_work(__func__, ((struct handle *)h)->stream, fake_seconds(flop * 1e-12));
    return OK;
}
EXPORT int cublasSgeam(void *h, int ta, int tb, int m, int n, const float *alpha, const float *a,
                       int lda, const float *beta, const float *b, int ldb, float *c, int ldc) {
    if (!ta || tb || m < 1 || n < 1 || lda < n || ldb < m || ldc < m || !a || !b || !c || !alpha ||
        !beta)
        return INVALID_VALUE;
    if (a[0] == a[1]) return INVALID_VALUE;
    fakecuda_enqueue_work(__func__, ((struct handle *)h)->stream, fake_seconds(8.0 * m * n / 16e9));
    return OK;
}
