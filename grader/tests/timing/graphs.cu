// graphs.cu: times each version of `graph_launch` on a GPU as the grader can't, since its replay
// launches the nodes of a graph one by one: the whole host call, with capture, instantiation and
// launches. Then the parts: an instantiation, the launch of a graph, new arguments for a node.
//
//   nvcc -O3 -std=c++17 -arch=native graphs.cu -o graphs && ./graphs
//
// Rows of times are medians of 51 calls in µs: `issue` until the call returns, `wall` until the
// device is done, both by the host's clock from an idle device, and `events` between two events
// around the call. Before them comes a call whose result is checked.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace launches {
#define graph_launch version_1
#include "../../../solutions/13-async/graph_launch-1-launches.cu"
#undef graph_launch
}
namespace two_kernels {
#define graph_launch version_2
#include "../../../solutions/13-async/graph_launch-2-two-kernels.cu"
#undef graph_launch
}
namespace all_rounds {
#define graph_launch version_3
#include "../../../solutions/13-async/graph_launch-3-all-rounds.cu"
#undef graph_launch
}
namespace set_params {
#define graph_launch version_4
#include "../../../solutions/13-async/graph_launch-4-set-params.cu"
#undef graph_launch
}
namespace solution {
#define graph_launch version_5
#include "../../../solutions/13-async/graph_launch.cu"
#undef graph_launch
}

static void check(cudaError_t e, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
    exit(1);
}
#define CHECK(call) check(call, __LINE__)

#ifndef CALLS
#define CALLS 51
#endif

typedef std::chrono::steady_clock host_clock;
static double us_since(host_clock::time_point start) {
    return std::chrono::duration<double, std::micro>(host_clock::now() - start).count();
}

static double median(std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
    return v[v.size() / 2];
}

// ---- the versions ----

struct problem {
    int n, rounds;
    float *x, *largest, *shift;
    std::vector<float> host_x, host_shift;
};

static problem make_problem(int n, int rounds) {
    problem p = {n, rounds};
    srand(1);
    for (int i = 0; i < n; i++) p.host_x.push_back(0.5f + 0.5f * (float)rand() / (float)RAND_MAX);
    for (int k = 0; k < rounds; k++) p.host_shift.push_back((float)rand() / (float)RAND_MAX);
    CHECK(cudaMalloc(&p.x, n * sizeof(float)));
    CHECK(cudaMalloc(&p.largest, rounds * sizeof(float)));
    CHECK(cudaMalloc(&p.shift, rounds * sizeof(float)));
    CHECK(cudaMemcpy(p.shift, p.host_shift.data(), rounds * sizeof(float), cudaMemcpyHostToDevice));
    return p;
}

static void restore(const problem &p) {
    CHECK(cudaMemcpy(p.x, p.host_x.data(), p.n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
}

typedef void entry(float *, float *, const float *, int, int);

// The largest relative error of `largest` against the same iteration in double precision.
static double run_checked(entry *f, const problem &p) {
    std::vector<double> x(p.host_x.begin(), p.host_x.end()), y(p.n);
    std::vector<float> largest(p.rounds);
    double error = 0;
    restore(p);
    f(p.x, p.largest, p.shift, p.n, p.rounds);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(largest.data(), p.largest, p.rounds * sizeof(float), cudaMemcpyDeviceToHost));
    for (int k = 0; k < p.rounds; k++) {
        double max_y = 0;
        for (int i = 0; i < p.n; i++) {
            y[i] = x[i ? i - 1 : 0] / 4 + x[i] / 2 + x[i + 1 < p.n ? i + 1 : i] / 4 +
                   p.host_shift[k] * x[i];
            max_y = std::max(max_y, y[i]);
        }
        for (int i = 0; i < p.n; i++) x[i] = y[i] / max_y;
        error = std::max(error, std::fabs(largest[k] / max_y - 1));
    }
    return error;
}

static void measure(const char *name, entry *f, const problem &p) {
    cudaEvent_t start, stop;
    std::vector<double> issue, wall, events;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    double error = run_checked(f, p);
    for (int i = 0; i < CALLS; i++) {
        restore(p);
        host_clock::time_point begin = host_clock::now();
        f(p.x, p.largest, p.shift, p.n, p.rounds);
        issue.push_back(us_since(begin));
        CHECK(cudaDeviceSynchronize());
        wall.push_back(us_since(begin));
    }
    for (int i = 0; i < CALLS; i++) {
        float ms;
        restore(p);
        CHECK(cudaEventRecord(start));
        f(p.x, p.largest, p.shift, p.n, p.rounds);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        events.push_back(1e3 * ms);
    }
    printf("%-12s n %6d rounds %4d: issue %8.1f wall %8.1f events %8.1f us  (%s, error %.1e)\n",
           name, p.n, p.rounds, median(issue), median(wall), median(events),
           error < 1e-4 ? "right" : "WRONG", error);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

static void measure_versions(int n, int rounds) {
    problem p = make_problem(n, rounds);
    measure("1-launches", launches::version_1, p);
    measure("2-two-kernels", two_kernels::version_2, p);
    measure("3-all-rounds", all_rounds::version_3, p);
    measure("4-set-params", set_params::version_4, p);
    measure("solution", solution::version_5, p);
    CHECK(cudaFree(p.x));
    CHECK(cudaFree(p.largest));
    CHECK(cudaFree(p.shift));
}

// ---- the parts ----

__global__ void small(float *p) {
    if (*p == 1e30f) *p = 0;
}

static cudaGraph_t capture_chain(cudaStream_t s, float *p, int nodes) {
    cudaGraph_t graph;
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < nodes; i++) small<<<1, 32, 0, s>>>(p);
    CHECK(cudaStreamEndCapture(s, &graph));
    return graph;
}

struct part_times {
    std::vector<double> instantiate, first_launch, launch, events, set_params;
};

static cudaKernelNodeParams first_node(cudaGraph_t graph, cudaGraphNode_t *node) {
    cudaKernelNodeParams params;
    std::vector<cudaGraphNode_t> all(4096);
    size_t n = all.size();
    CHECK(cudaGraphGetNodes(graph, all.data(), &n));
    *node = all[0];
    CHECK(cudaGraphKernelNodeGetParams(*node, &params));
    return params;
}

static void measure_graph(cudaStream_t s, cudaGraph_t graph, part_times &t) {
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaEvent_t start, stop;
    float ms;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    cudaKernelNodeParams params = first_node(graph, &node);
    host_clock::time_point begin = host_clock::now();
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    t.instantiate.push_back(us_since(begin));
    for (std::vector<double> *out : {&t.first_launch, &t.launch}) {
        begin = host_clock::now();
        CHECK(cudaGraphLaunch(exec, s));
        out->push_back(us_since(begin));
        CHECK(cudaStreamSynchronize(s));
    }
    begin = host_clock::now();
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    t.set_params.push_back(us_since(begin));
    CHECK(cudaEventRecord(start, s));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaEventRecord(stop, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    t.events.push_back(1e3 * ms);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
}

// Launches of one graph, one behind another: the distance of two.
static double back_to_back(cudaStream_t s, cudaGraph_t graph, int count) {
    cudaGraphExec_t exec;
    std::vector<double> us;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
    for (int i = 0; i < CALLS; i++) {
        CHECK(cudaStreamSynchronize(s));
        host_clock::time_point begin = host_clock::now();
        for (int k = 0; k < count; k++) CHECK(cudaGraphLaunch(exec, s));
        CHECK(cudaStreamSynchronize(s));
        us.push_back(us_since(begin) / count);
    }
    CHECK(cudaGraphExecDestroy(exec));
    return median(us);
}

static void measure_parts(int nodes) {
    cudaStream_t s;
    float *p;
    part_times t;
    std::vector<double> capture, stream;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMalloc(&p, sizeof *p));
    CHECK(cudaMemset(p, 0, sizeof *p));
    cudaGraph_t graph = capture_chain(s, p, nodes);
    for (int i = 0; i < CALLS; i++) {
        host_clock::time_point begin = host_clock::now();
        cudaGraph_t another = capture_chain(s, p, nodes);
        capture.push_back(us_since(begin));
        CHECK(cudaGraphDestroy(another));
        measure_graph(s, graph, t);
        begin = host_clock::now();
        for (int k = 0; k < nodes; k++) small<<<1, 32, 0, s>>>(p);
        CHECK(cudaStreamSynchronize(s));
        stream.push_back(us_since(begin));
    }
    printf("chain of %4d: capture %7.1f instantiate %7.1f first launch %6.1f launch %6.1f "
           "set a node %5.2f, device by events %7.1f, 50 launches, each %7.1f; without a graph "
           "%7.1f us\n",
           nodes, median(capture), median(t.instantiate), median(t.first_launch), median(t.launch),
           median(t.set_params), median(t.events), back_to_back(s, graph, 50), median(stream));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(p));
}

int main() {
    setvbuf(stdout, NULL, _IOLBF, 0);
    cudaDeviceProp d;
    int driver = 0, runtime = 0;
    CHECK(cudaGetDeviceProperties(&d, 0));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("%s, driver %d, runtime %d, medians of %d\n", d.name, driver, runtime, CALLS);
    measure_versions(1 << 14, 50);
    measure_versions(1 << 15, 50);
    measure_versions(1 << 15, 500);
    measure_versions(1 << 15, 5000);
    for (int nodes : {1, 2, 3, 10, 64, 100, 1000}) measure_parts(nodes);
}
