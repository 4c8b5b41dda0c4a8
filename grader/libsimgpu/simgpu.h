/* simgpu.h — the C interface of libsimgpu: runs PTX on a simulated GPU, in this process, without a
 * GPU, a driver or nvcc. A launch computes the kernel's results, counts what each source line cost,
 * and reports the bugs that hardware hides: races, uninitialized reads, accesses out of bounds.
 *
 *   simgpu *g = simgpu_open("h100", 0);
 *   simgpu_module *m = simgpu_load_ptx(g, ptx, strlen(ptx));
 *   uint64_t data = simgpu_alloc(g, 4096);
 *   void *arguments[] = {&data};
 *   simgpu_run(g, &(simgpu_launch){.module = m, .kernel = "k", .grid = {8}, .block = {128},
 *                                  .arguments = arguments});
 *   printf("%llu sectors\n", (unsigned long long)simgpu_counter(g, "global_load_sectors"));
 *
 * Functions that can fail return false, NULL or 0; simgpu_error() then says what failed and what to
 * do. One thread at a time may use a GPU; several GPUs in a process are independent. If the host
 * itself runs out of memory, the process ends with status 3 and a message.
 *
 * Link with `pkg-config --cflags --libs --static simgpu`. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each incompatible change of this file. */
#define SIMGPU_VERSION 1

typedef struct simgpu simgpu;
typedef struct simgpu_module simgpu_module;

/* Flags of simgpu_open. */
enum {
    SIMGPU_NO_SANITIZER = 1, /* don't look for races and uninitialized reads; bounds are always
                                checked */
    SIMGPU_MODEL_TIME = 2,   /* model the time of each launch; it then takes about twice as long */
    SIMGPU_HARDWARE_ORDER = 4, /* accept orders that GPUs keep but PTX doesn't promise */
};

/* Opens a GPU. `device` is a name of `simgpu devices`, such as "h100"; NULL = the default, "h200".
 * Returns NULL if there is no such device; simgpu_error(NULL) then says so. */
simgpu *simgpu_open(const char *device, unsigned flags);
void simgpu_close(simgpu *g); /* NULL: no effect */
/* Returns the message of the last call that failed, "" if none has. With NULL: that of the thread's
 * last simgpu_open. It stays valid until the next call for this GPU. */
const char *simgpu_error(const simgpu *g);
/* Limits each launch, which then ends with a finding: warp instructions, and processor seconds of a
 * thread; 0 = no limit. */
void simgpu_set_limits(simgpu *g, uint64_t warp_instructions, double seconds);

/* ---- device memory ---- */

/* Allocates uninitialized memory; returns its address, or 0. Zero bytes give a unique address.
 * Findings call the buffer by `name`, which may be NULL. */
uint64_t simgpu_alloc(simgpu *g, uint64_t bytes, const char *name);
bool simgpu_free(simgpu *g, uint64_t address);
/* Copy between host and device, or fill. The whole range must lie in one allocation. Reading values
 * that a kernel computed from uninitialized memory adds a finding to those of the last launch. */
bool simgpu_write(simgpu *g, uint64_t to, const void *from, uint64_t bytes);
bool simgpu_read(simgpu *g, uint64_t from, void *to, uint64_t bytes);
bool simgpu_fill(simgpu *g, uint64_t to, uint8_t value, uint64_t bytes);

/* ---- modules ---- */

/* Loads PTX text, as `nvcc -ptx -lineinfo` writes it. Returns NULL if the text is wrong or needs an
 * instruction that isn't implemented. The module belongs to the GPU. */
simgpu_module *simgpu_load_ptx(simgpu *g, const char *text, size_t length);
/* Frees the module and its variables. */
void simgpu_unload(simgpu *g, simgpu_module *m);
/* Finds a __device__ or __constant__ variable by its name in PTX. */
bool simgpu_variable(simgpu *g, const simgpu_module *m, const char *name, uint64_t *address,
                     uint64_t *bytes);
/* Sets what `ptxas -v` reports for a kernel. Without it, the register count is an estimate, on
 * which occupancy and the modelled time depend. */
bool simgpu_set_registers(simgpu *g, const simgpu_module *m, const char *kernel, unsigned registers,
                          unsigned spill_bytes);

/* ---- launches ---- */

typedef struct simgpu_launch {
    const simgpu_module *module;
    const char *kernel;                     /* its name in PTX: of C++ functions, the mangled one */
    unsigned grid[3], block[3], cluster[3]; /* 0 counts as 1; cluster: 0 = as compiled, or none */
    unsigned dynamic_shared_bytes;
    bool is_cooperative;
    void **arguments; /* a pointer to each argument's value, as for cuLaunchKernel */
} simgpu_launch;

/* Runs a launch to its end. Returns false if the device refuses the configuration or a fault ends
 * the launch: simgpu_error() says which. A finding of the sanitizer doesn't make it false.
 * Counters, findings and times below are those of the last launch. */
bool simgpu_run(simgpu *g, const simgpu_launch *l);

/* Returns a counter of the last launch; docs/counters.md defines them. An unknown name gives 0 and
 * an error. */
uint64_t simgpu_counter(simgpu *g, const char *name);
/* Returns the name of the i-th counter, or NULL after the last. */
const char *simgpu_counter_name(unsigned i);
/* Source lines with counters, which add up to the launch's; 0 and "" = unknown line or file. They
 * need PTX with line information (-lineinfo). */
unsigned simgpu_line_count(const simgpu *g);
const char *simgpu_line(const simgpu *g, unsigned i, unsigned *line); /* returns its file */
uint64_t simgpu_line_counter(simgpu *g, unsigned i, const char *name);
/* Returns the modelled seconds of the last launch, and an interval in which the true time is likely
 * to lie (docs/time-model.md). Without SIMGPU_MODEL_TIME: 0. */
double simgpu_modelled_seconds(const simgpu *g, double *low, double *high);

/* The first occurrence of one kind of fault, bug or note in the last launch. */
typedef struct simgpu_finding {
    const char *kind; /* such as "out-of-bounds" or "data race in shared memory" */
    const char *text; /* a sentence with all that is known */
    const char *file; /* "" = unknown */
    uint64_t count;   /* occurrences */
    uint64_t address; /* in device memory, or an offset in shared memory */
    unsigned line;    /* 0 = unknown */
    unsigned block[3], thread[3];
    bool is_note; /* no bug by itself, but it may explain a wrong result */
} simgpu_finding;
unsigned simgpu_finding_count(const simgpu *g);
/* Gets a finding; its strings stay valid until the next launch. */
bool simgpu_get_finding(const simgpu *g, unsigned i, simgpu_finding *out);

/* Copies what device printf and assert wrote since the last call, with a zero at the end; the rest
 * of a longer text is lost. Returns its length without the zero. */
size_t simgpu_output(simgpu *g, char *out, size_t size);

#ifdef __cplusplus
}
#endif
