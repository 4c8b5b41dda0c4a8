/* example.c — runs sum.cu on the simulated GPU and prints what it cost and what is wrong with it.
 *
 *   nvcc -ptx -lineinfo -arch=compute_90 sum.cu
 *   cc example.c $(pkg-config --cflags --libs --static simgpu) -o example && ./example sum.ptx */
#include <simgpu.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const simgpu *g) { return fprintf(stderr, "example: %s\n", simgpu_error(g)), 1; }

int main(int argc, char **argv) {
    static char ptx[1 << 20];
    FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;
    size_t length = f ? fread(ptx, 1, sizeof ptx, f) : 0;
    simgpu *g = simgpu_open("h100", SIMGPU_MODEL_TIME);
    simgpu_module *m = g && length ? simgpu_load_ptx(g, ptx, length) : NULL;
    if (!m) return fail(g);

    float in[1000], out[4];
    int n = 1000;
    for (int i = 0; i < n; i++) in[i] = 1;
    uint64_t device_in = simgpu_alloc(g, sizeof in, "in");
    uint64_t device_out = simgpu_alloc(g, sizeof out, "out");
    void *arguments[] = {&device_in, &device_out, &n};
    simgpu_launch launch = {m, "sum", {4}, {256}, .arguments = arguments};
    if (!simgpu_write(g, device_in, in, sizeof in) || !simgpu_run(g, &launch) ||
        !simgpu_read(g, device_out, out, sizeof out))
        return fail(g);

    printf("sums: %g %g %g %g\n", out[0], out[1], out[2], out[3]);
    printf("%llu sectors loaded, modelled time %.1f us\n",
           (unsigned long long)simgpu_counter(g, "global_load_sectors"),
           simgpu_modelled_seconds(g, NULL, NULL) * 1e6);
    simgpu_finding finding;
    for (unsigned i = 0; simgpu_get_finding(g, i, &finding); i++)
        printf("%s, %llu times: %s\n", finding.kind, (unsigned long long)finding.count,
               finding.text);
    simgpu_close(g);
    return 0;
}
