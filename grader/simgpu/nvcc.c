/* nvcc.c — `simgpu nvcc ARGS…`: runs the real nvcc with the given arguments, our runtime and
 * cuBLAS instead of NVIDIA's, -lineinfo, and PTX for compute_90 unless the arguments name an
 * architecture. If they request machine code only, adds the PTX that it is made from, since the
 * simulator runs PTX. */
#include "common/buf.h"
#include "common/file.h"
#include "common/processor.h"
#include "common/paths.h"
#include "grader/simgpu/simgpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool starts_with(const char *s, const char *prefix) {
    return !strncmp(s, prefix, strlen(prefix));
}

/* Returns true if `arg` is the option `name`: "-name value", "-name=value" or "--name value". */
static bool is_option(const char *arg, const char *name, bool *has_value) {
    if (*arg++ != '-') return false;
    if (*arg == '-') arg++;
    size_t n = strlen(name);
    if (strncmp(arg, name, n) || (arg[n] && arg[n] != '=')) return false;
    *has_value = arg[n] == '=';
    return true;
}

static bool any_option(const char *arg, const char *const *names) {
    bool has_value;
    for (; *names; names++)
        if (is_option(arg, *names, &has_value)) return true;
    return false;
}

static const char *const architecture_options[] = {"arch", "gpu-architecture", "code", "gpu-code",
                                                   NULL};
/* With these options nvcc does not reach the host linker, and our archive would confuse it. */
static const char *const no_link_options[] = {"c",
                                              "compile",
                                              "ptx",
                                              "cubin",
                                              "fatbin",
                                              "cuda",
                                              "E",
                                              "preprocess",
                                              "M",
                                              "MM",
                                              "generate-dependencies",
                                              "lib",
                                              "dc",
                                              "device-c",
                                              "dlink",
                                              "device-link",
                                              "V",
                                              "version",
                                              "h",
                                              "help",
                                              "optix-ir",
                                              "ltoir",
                                              NULL};
static const char *const relocatable_options[] = {
    "rdc", "relocatable-device-code", "dc", "device-c", "dlink", "device-link", NULL};

struct nvcc_command {
    char **argv;
    int argc;
    bool has_architecture, needs_link, relocatable;
    unsigned vendor_libraries; /* a bit for each of vendor_libraries that the program links */
};

/* NVIDIA's libraries that ours replace: libNAME.so by libwbNAME.a. */
static const char *const vendor_libraries[] = {"cusparse", "cublas", "cufft", "curand"};
enum { VENDOR_LIBRARIES = sizeof vendor_libraries / sizeof *vendor_libraries };

/* Returns true for the libraries that ours replaces: it holds the runtime and the driver API. */
static bool is_runtime_library(const char *arg) {
    return starts_with(arg, "-lcudart") || !strcmp(arg, "-lcuda");
}

/* Returns true for the library's -l option or, as CMake's CUDA::cublas, its path. */
static bool names_library(const char *arg, const char *library) {
    const char *file = strrchr(arg, '/');
    const char *name = starts_with(arg, "-l")              ? arg + 2
                       : file && starts_with(file, "/lib") ? file + strlen("/lib")
                                                           : "";
    if (!starts_with(name, library)) return false;
    const char *rest = name + strlen(library);
    return file ? starts_with(rest, ".so") || !strcmp(rest, "_static.a")
                : !*rest || !strcmp(rest, "_static");
}

/* Returns the bit of the library of ours that replaces the argument's, or 0. */
static unsigned find_vendor_library(const char *arg) {
    for (unsigned i = 0; i < VENDOR_LIBRARIES; i++)
        if (names_library(arg, vendor_libraries[i])) return 1u << i;
    return 0;
}

/* Warns about NVIDIA's host libraries: they hold kernels only as machine code and bring their own
 * runtime. */
static void warn_machine_code_only(const char *arg) {
    static const char *const libraries[] = {"cublasLt", "cufftw", "cusolver", "cudnn",  "nccl",
                                            "nppc",     "nppi",   "npps",     "nvjpeg", NULL};
    for (const char *const *l = libraries; *l && starts_with(arg, "-l"); l++)
        if (!strcmp(arg + 2, *l))
            fprintf(stderr,
                    "simgpu nvcc: lib%s contains only machine code, which the simulated device "
                    "cannot run: its calls will "
                    "fail. Kernels of your own, cuBLAS, cuSPARSE, cuFFT, cuRAND, CUB and Thrust "
                    "run.\n",
                    *l);
}

/* Returns true for an object or archive with relocatable device code, which has its own section. */
static bool is_relocatable(const char *arg) {
    static const char section[] = "__nv_relfatbin";
    size_t n = strlen(arg);
    struct err ignored = {0};
    struct buf b = {0};
    if (n < 3 || *arg == '-' || (strcmp(arg + n - 2, ".o") != 0 && strcmp(arg + n - 2, ".a") != 0))
        return false;
    bool found = file_read(arg, 1 << 30, &b, &ignored) &&
                 memmem(b.data, b.size, section, sizeof section - 1);
    buf_free(&b);
    return found;
}

/* Returns a -gencode value such as "arch=compute_90a,code=sm_90a" with the PTX added to the code
 * list, because the simulator runs only PTX. */
static char *add_ptx_target(char *value) {
    char *arch = strstr(value, "arch=compute_"), *code = strstr(value, "code="), *extended = NULL;
    if (!arch || !code || strstr(code, "compute_")) return value;
    arch += strlen("arch="), code += strlen("code=");
    const char *list = code + strspn(code, "[\"'");
    if (asprintf(&extended, "arch=%.*s,code=[%.*s,%.*s]", (int)strcspn(arch, ","), arch,
                 (int)strcspn(list, "]\"'"), list, (int)strcspn(arch, ","), arch) < 0)
        return value;
    return extended;
}

/* Returns true if argv[*i] is -gencode; then copies it and its value to `c`. */
static bool copy_gencode(struct nvcc_command *c, int argc, char **argv, int *i) {
    static const char *const generate[] = {"gencode", "generate-code", NULL};
    if (!any_option(argv[*i], generate)) return false;
    char *equals = strchr(argv[*i], '=');
    c->argv[c->argc++] = "-gencode";
    if (equals) c->argv[c->argc++] = add_ptx_target(equals + 1);
    else if (++*i < argc) c->argv[c->argc++] = add_ptx_target(argv[*i]);
    return c->has_architecture = true;
}

static void copy_arguments(struct nvcc_command *c, int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        bool has_value;
        if (is_option(argv[i], "cudart", &has_value)) {
            if (!has_value) i++;
            continue; /* We always link our own runtime. */
        }
        if (is_runtime_library(argv[i])) continue;
        unsigned library = find_vendor_library(argv[i]);
        c->vendor_libraries |= library;
        if (library) continue;
        if (copy_gencode(c, argc, argv, &i)) continue;
        warn_machine_code_only(argv[i]);
        if ((any_option(argv[i], relocatable_options) && !strstr(argv[i], "=false")) ||
            is_relocatable(argv[i]))
            c->relocatable = true;
        if (any_option(argv[i], architecture_options)) c->has_architecture = true;
        if (any_option(argv[i], no_link_options)) c->needs_link = false;
        c->argv[c->argc++] = argv[i];
    }
}

/* nvcc's device linker requires machine code; our runtime links the PTX instead. */
static char whole_program_arch[] = "arch=compute_90,code=compute_90",
            relocatable_arch[] = "arch=compute_90,code=[sm_90,compute_90]";

/* Links the runtime, and our vendor libraries, by -L and -l: nvcc would compile a file's name after
 * `-x cu`. */
static void add_runtime(struct nvcc_command *c, char *library) {
    *strrchr(library, '/') = 0;
    c->argv[c->argc++] = "-L";
    c->argv[c->argc++] = library;
    static char *const options[VENDOR_LIBRARIES] = {"-lwbcusparse", "-lwbcublas", "-lwbcufft",
                                                    "-lwbcurand"};
    for (unsigned i = 0; i < VENDOR_LIBRARIES; i++)
        if (c->vendor_libraries >> i & 1) c->argv[c->argc++] = options[i];
    c->argv[c->argc++] = "-lwbcudart";
}

static void build_command(struct nvcc_command *c, char *nvcc, char *library, int argc,
                          char **argv) {
    static char *const default_options[] = {"-lineinfo", "-cudart", "none"};
    static char *const processor_options[] = {PROCESSOR_NVCC_FLAGS "-Xcompiler", LINE_TABLE_FLAGS,
                                              NULL};
    c->argv[c->argc++] = nvcc;
    for (unsigned i = 0; processor_options[i]; i++) c->argv[c->argc++] = processor_options[i];
    copy_arguments(c, argc, argv);
    for (unsigned i = 0; i < 3; i++) c->argv[c->argc++] = default_options[i];
    /* With -cudart none, nvcc links no device code. Our library precedes NVIDIA's and defines every
     * call, so the linker takes nothing from NVIDIA's. */
    if (c->relocatable) c->argv[c->argc - 1] = "static";
    if (!c->has_architecture) {
        c->argv[c->argc++] = "-gencode";
        c->argv[c->argc++] = c->relocatable ? relocatable_arch : whole_program_arch;
    }
    if (c->needs_link) add_runtime(c, library);
}

static bool has_vendor_libraries(const struct nvcc_command *c, struct err *e) {
    char name[64], path[PATH_MAX];
    for (unsigned i = 0; i < VENDOR_LIBRARIES; i++) {
        snprintf(name, sizeof name, "libwb%s.a", vendor_libraries[i]);
        if (c->vendor_libraries >> i & 1 && !file_exists(paths_component(name, path)))
            return err_set(e, ERR_SYSTEM, "%s is missing: run `make %s`", path,
                           vendor_libraries[i]);
    }
    return true;
}

int nvcc_main(int argc, char **argv) {
    char nvcc[PATH_MAX], toolkit[PATH_MAX], library[PATH_MAX];
    struct err e = {0};
    struct nvcc_command c = {.argv = xcalloc(2 * (size_t)argc + 16, sizeof(char *)),
                             .needs_link = true};
    bool ok = paths_cuda_toolkit(toolkit, &e) && path_join(nvcc, sizeof nvcc, toolkit, "bin/nvcc");
    if (ok && !file_exists(paths_component("libwbcudart.a", library)))
        ok = err_set(&e, ERR_SYSTEM, "%s is missing: run `make`", library);
    if (ok) {
        build_command(&c, nvcc, library, argc, argv);
        ok = has_vendor_libraries(&c, &e);
    }
    if (ok) {
        execv(nvcc, c.argv);
        err_set(&e, ERR_SYSTEM, "%s: %s", nvcc, strerror(errno));
    }
    free(c.argv);
    return fprintf(stderr, "simgpu nvcc: %s\n", e.text), 2;
}
