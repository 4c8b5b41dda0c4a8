/* fuzz_kernel.c — fuzzes the simulator: loads any bytes as a PTX module and launches its
 * kernels, small, under every check. Each must be refused with a reason, or run to its end.
 *
 * Each kernel gets two blocks of 40 threads; parameters of eight bytes are buffers in turn, all
 * others small numbers. The last byte chooses the schedule, the vector level, and whether the
 * time model traces. */
#include "grader/sim/code/insn.h"
#include "grader/sim/sim.h"
#include "grader/sim/timing/timing.h"
#include "grader/tests/fuzz/fuzz.h"
#include "grader/tests/fuzz/mutate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = 4, BUFFER_COUNT = 3, BUFFER_BYTES = 4096, MAX_INSTRUCTIONS = 20000 };

static void fill_params(const struct sim_kernel_info *info, const uint64_t *buffers,
                        uint8_t *params) {
    for (unsigned i = 0; i < info->nparams && i < 256; i++) {
        uint64_t value = info->params[i].bytes == 8 ? buffers[i % BUFFER_COUNT] : 33;
        uint32_t bytes = info->params[i].bytes < 8 ? info->params[i].bytes : 8;
        if (info->params[i].offset + bytes <= info->param_bytes)
            memcpy(params + info->params[i].offset, &value, bytes);
    }
}

static void launch_kernel(struct sim *s, const struct sim_kernel *k, const uint64_t *buffers,
                          unsigned flags) {
    struct sim_kernel_info info;
    struct err e = {0};
    struct sim_result result;
    sim_kernel_info(k, &info);
    uint8_t *params = calloc(1, info.param_bytes + 8u);
    fill_params(&info, buffers, params);
    struct sim_launch l = {.kernel = k,
                           .grid = {2, 1, 1},
                           .block = {40, 1, 1},
                           .dynamic_shared = 256,
                           .params = params,
                           .param_bytes = info.param_bytes,
                           .cooperative = info.cooperative};
    if (!sim_check_launch(s, &l, &e)) {
        struct time_options o = {.full_grid = flags & 16};
        struct time_estimate t;
        if (flags & 8) time_launch(s, &l, &o, &result, &t);
        else sim_launch(s, &l, &result);
        sim_result_free(&result);
    } else if (e.kind == ERR_NONE) {
        __builtin_trap();
    }
    free(params);
}

/* Launches what stands behind ".entry" in the text. */
static void launch_all(struct sim *s, struct sim_module *m, const char *text, size_t size,
                       unsigned flags) {
    uint64_t buffers[BUFFER_COUNT];
    char name[128];
    for (unsigned i = 0; i < BUFFER_COUNT; i++) {
        buffers[i] = sim_alloc(s, BUFFER_BYTES, NULL);
        if (i && buffers[i]) sim_fill(s, buffers[i], (uint8_t)i, BUFFER_BYTES);
    }
    const char *end = text + size, *at = text;
    for (unsigned i = 0; i < MAX_KERNELS && (at = memmem(at, (size_t)(end - at), ".entry ", 7));
         i++) {
        size_t n = 0;
        for (at += 7;
             at < end && n < sizeof name - 1 && (isalnum((uint8_t)*at) || strchr("_$%", *at)); at++)
            name[n++] = *at;
        name[n] = 0;
        const struct sim_kernel *k = sim_find_kernel(m, name);
        if (k) launch_kernel(s, k, buffers, flags);
    }
}

FUZZ(kernel) {
    struct err e = {0};
    unsigned flags = size ? data[size - 1] : 0;
    lanes_force_level(flags % 2 && lanes_level_table(2) ? 2 : 1);
    struct sim *s = sim_open(&(struct sim_options){.device = device_find("h200"),
                                                   .workers = 1,
                                                   .sanitize = true,
                                                   .adversarial_schedule = flags & 4,
                                                   .memory_limit = 16 << 20,
                                                   .instruction_budget = MAX_INSTRUCTIONS,
                                                   .time_budget = 5},
                             &e);
    if (!s) __builtin_trap();
    struct sim_module *m = sim_load(s, (const char *)data, size, &e);
    if (!m == (e.kind == ERR_NONE)) __builtin_trap();
    if (m) launch_all(s, m, (const char *)data, size, flags);
    sim_close(s);
    return 0;
}

#ifdef FUZZING
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    return mutate_ptx(data, size, max, seed);
}
#endif
