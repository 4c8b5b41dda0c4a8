/* calls.cu — cuFFT's calls: handles, plans, work areas, execution. */
#include "grader/cufft/plan.cuh"
#include <cufftXt.h>
#include <memory>
#include <mutex>

/* ---- handles ---- */

/* A handle is a number: 1 + the index of its plan. A destroyed plan's number is used again. */
static std::mutex lock;
static std::vector<std::shared_ptr<fft_plan>> plans;

static void release(fft_plan *plan) {
    for (void *table : plan->tables) cudaFree(table);
    cudaFree(plan->own_work);
    delete plan;
}

static std::shared_ptr<fft_plan> find(cufftHandle handle) {
    std::lock_guard<std::mutex> guard(lock);
    if (handle < 1 || (size_t)handle > plans.size()) return nullptr;
    return plans[handle - 1];
}

static bool are_positive(const long long *n, int rank) {
    for (int d = 0; d < rank; d++)
        if (n[d] < 1) return false;
    return true;
}

static bool is_known(cufftType t) {
    return t == CUFFT_C2C || t == CUFFT_R2C || t == CUFFT_C2R || t == CUFFT_Z2Z ||
           t == CUFFT_D2Z || t == CUFFT_Z2D;
}

/* ---- plans ---- */

/* The dimensions that a contiguous array of the transform has in memory. */
static void set_basic(fft_request *r) {
    long long half[MAX_RANK] = {r->n[0], r->n[1], r->n[2]};
    half[r->rank - 1] = half[r->rank - 1] / 2 + 1;
    const long long *in = writes_reals(r->type) ? half : r->n;
    const long long *out = reads_reals(r->type) ? half : r->n;
    r->is_basic = true, r->in_stride = r->out_stride = r->in_dist = r->out_dist = 1;
    for (int d = 0; d < r->rank; d++) {
        r->in_embed[d] = in[d], r->out_embed[d] = out[d];
        r->in_dist *= in[d], r->out_dist *= out[d];
    }
}

template <typename I>
static cufftResult make_request(fft_request *r, int rank, const I *n, const I *inembed, I istride,
                                I idist, const I *onembed, I ostride, I odist, cufftType type,
                                I batch) {
    *r = {};
    if (rank < 1 || rank > MAX_RANK || !n) return CUFFT_INVALID_VALUE;
    if (!is_known(type)) return CUFFT_INVALID_TYPE;
    r->rank = rank, r->type = type, r->batch = batch;
    for (int d = 0; d < rank; d++) r->n[d] = n[d];
    if (!are_positive(r->n, rank) || batch < 1) return CUFFT_INVALID_SIZE;
    if (!inembed && !onembed) return set_basic(r), CUFFT_SUCCESS;
    if (!inembed || !onembed) return CUFFT_INVALID_VALUE;
    for (int d = 0; d < rank; d++) r->in_embed[d] = inembed[d], r->out_embed[d] = onembed[d];
    r->in_stride = istride, r->in_dist = idist, r->out_stride = ostride, r->out_dist = odist;
    bool ok = istride > 0 && ostride > 0 && idist >= 0 && odist >= 0;
    return ok ? CUFFT_SUCCESS : CUFFT_INVALID_VALUE;
}

static cufftResult measure(const fft_request *r, size_t *work) {
    fft_plan plan = {};
    cufftResult result = make_passes(&plan, r, true);
    if (result == CUFFT_SUCCESS && work) *work = plan.work_bytes;
    return result;
}

static cufftResult make(cufftHandle handle, const fft_request *r, size_t *work) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan || plan->is_made) return CUFFT_INVALID_PLAN;
    cufftResult result = make_passes(plan.get(), r, false);
    if (result != CUFFT_SUCCESS) return result;
    if (plan->allocates_work && plan->work_bytes &&
        cudaMalloc(&plan->own_work, plan->work_bytes) != cudaSuccess)
        return CUFFT_ALLOC_FAILED;
    plan->work = plan->own_work, plan->is_made = true;
    if (work) *work = plan->work_bytes;
    return CUFFT_SUCCESS;
}

static cufftResult make_new(cufftHandle *handle, const fft_request *r) {
    cufftResult result = cufftCreate(handle);
    if (result != CUFFT_SUCCESS) return result;
    result = make(*handle, r, nullptr);
    if (result != CUFFT_SUCCESS) cufftDestroy(*handle);
    return result;
}

/* The type of a plan whose types of elements are given separately. */
static cufftResult find_type(cudaDataType in, cudaDataType out, cudaDataType execution,
                             cufftType *type) {
    struct { cudaDataType in, out; cufftType type; } static const known[] = {
        {CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
        {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
        {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D},
    };
    for (const auto &k : known)
        if (k.in == in && k.out == out) {
            *type = k.type;
            bool ok = execution == (is_double(k.type) ? CUDA_C_64F : CUDA_C_32F);
            return ok ? CUFFT_SUCCESS : CUFFT_INVALID_TYPE;
        }
    return CUFFT_NOT_SUPPORTED; /* halves */
}

static cufftResult run(cufftHandle handle, cufftType type, const void *in, void *out,
                       int direction) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan || !plan->is_made) return CUFFT_INVALID_PLAN;
    if (plan->type != type) return CUFFT_INVALID_TYPE;
    if (!in || !out || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    if (plan->work_bytes && !plan->work) return CUFFT_NO_WORKSPACE;
    return run_passes(plan.get(), in, out, direction);
}

extern "C" {

cufftResult cufftCreate(cufftHandle *handle) {
    if (!handle) return CUFFT_INVALID_VALUE;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) return CUFFT_SETUP_FAILED;
    std::shared_ptr<fft_plan> plan(new fft_plan(), release);
    plan->allocates_work = true;
    std::lock_guard<std::mutex> guard(lock);
    for (size_t i = 0; i <= plans.size(); i++) {
        if (i == plans.size()) plans.emplace_back();
        if (plans[i]) continue;
        plans[i] = plan, *handle = (cufftHandle)i + 1;
        break;
    }
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
    if (!find(handle)) return CUFFT_INVALID_PLAN;
    std::lock_guard<std::mutex> guard(lock);
    plans[handle - 1] = nullptr;
    return CUFFT_SUCCESS;
}

cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride,
                          int idist, int *onembed, int ostride, int odist, cufftType type,
                          int batch) {
    fft_request r;
    cufftResult result = make_request<int>(&r, rank, n, inembed, istride, idist, onembed, ostride,
                                           odist, type, batch);
    return result == CUFFT_SUCCESS ? make_new(plan, &r) : result;
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride,
                              int idist, int *onembed, int ostride, int odist, cufftType type,
                              int batch, size_t *work) {
    fft_request r;
    cufftResult result = make_request<int>(&r, rank, n, inembed, istride, idist, onembed, ostride,
                                           odist, type, batch);
    return result == CUFFT_SUCCESS ? make(plan, &r, work) : result;
}
cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist, int *onembed,
                              int ostride, int odist, cufftType type, int batch, size_t *work) {
    fft_request r;
    cufftResult result = make_request<int>(&r, rank, n, inembed, istride, idist, onembed, ostride,
                                           odist, type, batch);
    return result == CUFFT_SUCCESS ? measure(&r, work) : result;
}
cufftResult cufftGetSizeMany(cufftHandle plan, int rank, int *n, int *inembed, int istride,
                             int idist, int *onembed, int ostride, int odist, cufftType type,
                             int batch, size_t *work) {
    if (!find(plan)) return CUFFT_INVALID_PLAN;
    return cufftEstimateMany(rank, n, inembed, istride, idist, onembed, ostride, odist, type,
                             batch, work);
}

/* A contiguous array of the sizes `n`. */
#define MANY(rank, batch) rank, n, nullptr, 1, 1, nullptr, 1, 1, type, batch

cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
    int n[] = {nx};
    return cufftPlanMany(plan, MANY(1, batch));
}
cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
    int n[] = {nx, ny};
    return cufftPlanMany(plan, MANY(2, 1));
}
cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    int n[] = {nx, ny, nz};
    return cufftPlanMany(plan, MANY(3, 1));
}
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *work) {
    int n[] = {nx};
    return cufftMakePlanMany(plan, MANY(1, batch), work);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *work) {
    int n[] = {nx, ny};
    return cufftMakePlanMany(plan, MANY(2, 1), work);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                            size_t *work) {
    int n[] = {nx, ny, nz};
    return cufftMakePlanMany(plan, MANY(3, 1), work);
}
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *work) {
    int n[] = {nx};
    return cufftEstimateMany(MANY(1, batch), work);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *work) {
    int n[] = {nx, ny};
    return cufftEstimateMany(MANY(2, 1), work);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *work) {
    int n[] = {nx, ny, nz};
    return cufftEstimateMany(MANY(3, 1), work);
}
cufftResult cufftGetSize1d(cufftHandle plan, int nx, cufftType type, int batch, size_t *work) {
    int n[] = {nx};
    return cufftGetSizeMany(plan, MANY(1, batch), work);
}
cufftResult cufftGetSize2d(cufftHandle plan, int nx, int ny, cufftType type, size_t *work) {
    int n[] = {nx, ny};
    return cufftGetSizeMany(plan, MANY(2, 1), work);
}
cufftResult cufftGetSize3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                           size_t *work) {
    int n[] = {nx, ny, nz};
    return cufftGetSizeMany(plan, MANY(3, 1), work);
}

cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, long long *onembed,
                                long long ostride, long long odist, cufftType type,
                                long long batch, size_t *work) {
    fft_request r;
    cufftResult result = make_request<long long>(&r, rank, n, inembed, istride, idist, onembed,
                                                 ostride, odist, type, batch);
    return result == CUFFT_SUCCESS ? make(plan, &r, work) : result;
}
cufftResult cufftGetSizeMany64(cufftHandle plan, int rank, long long *n, long long *inembed,
                               long long istride, long long idist, long long *onembed,
                               long long ostride, long long odist, cufftType type, long long batch,
                               size_t *work) {
    fft_request r;
    if (!find(plan)) return CUFFT_INVALID_PLAN;
    cufftResult result = make_request<long long>(&r, rank, n, inembed, istride, idist, onembed,
                                                 ostride, odist, type, batch);
    return result == CUFFT_SUCCESS ? measure(&r, work) : result;
}
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                                long long istride, long long idist, cudaDataType in,
                                long long *onembed, long long ostride, long long odist,
                                cudaDataType out, long long batch, size_t *work,
                                cudaDataType execution) {
    cufftType type;
    cufftResult result = find_type(in, out, execution, &type);
    if (result != CUFFT_SUCCESS) return result;
    return cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                               type, batch, work);
}
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long *n, long long *inembed,
                               long long istride, long long idist, cudaDataType in,
                               long long *onembed, long long ostride, long long odist,
                               cudaDataType out, long long batch, size_t *work,
                               cudaDataType execution) {
    cufftType type;
    cufftResult result = find_type(in, out, execution, &type);
    if (result != CUFFT_SUCCESS) return result;
    return cufftGetSizeMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                              type, batch, work);
}

/* ---- settings ---- */

cufftResult cufftGetSize(cufftHandle handle, size_t *work) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    if (!work) return CUFFT_INVALID_VALUE;
    *work = plan->work_bytes;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    plan->allocates_work = allocates != 0; /* no effect on a plan that is made */
    return CUFFT_SUCCESS;
}
cufftResult cufftSetWorkArea(cufftHandle handle, void *area) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    cudaFree(plan->own_work);
    plan->own_work = nullptr, plan->work = area;
    return CUFFT_SUCCESS;
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan) return CUFFT_INVALID_PLAN;
    plan->stream = stream;
    return CUFFT_SUCCESS;
}
cufftResult cufftGetVersion(int *version) {
    if (!version) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int *value) {
    if (!value) return CUFFT_INVALID_VALUE;
    switch (type) {
    case MAJOR_VERSION: *value = CUFFT_VER_MAJOR; return CUFFT_SUCCESS;
    case MINOR_VERSION: *value = CUFFT_VER_MINOR; return CUFFT_SUCCESS;
    case PATCH_LEVEL: *value = CUFFT_VER_PATCH; return CUFFT_SUCCESS;
    default: return CUFFT_INVALID_TYPE;
    }
}

/* ---- execution ---- */

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *in, cufftComplex *out, int direction) {
    return run(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal *in, cufftComplex *out) {
    return run(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *in, cufftReal *out) {
    return run(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleComplex *out,
                         int direction) {
    return run(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *in, cufftDoubleComplex *out) {
    return run(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *in, cufftDoubleReal *out) {
    return run(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}
cufftResult cufftXtExec(cufftHandle handle, void *in, void *out, int direction) {
    std::shared_ptr<fft_plan> plan = find(handle);
    if (!plan || !plan->is_made) return CUFFT_INVALID_PLAN;
    cufftType type = plan->type;
    if (reads_reals(type)) direction = CUFFT_FORWARD;
    if (writes_reals(type)) direction = CUFFT_INVERSE;
    return run(handle, type, in, out, direction);
}
}
