/* main.c — build/simgpu: builds and runs any CUDA program on the simulated GPU. */
#include "grader/simgpu/simgpu.h"
#include "grader/simgpu/tools.h"

#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"nvcc", simgpu_nvcc, "nvcc ARGS...              build a program; takes nvcc's own arguments"},
    {"run", simgpu_run,
     "run [options] PROG ARGS... run a program; `simgpu run` alone lists the options"},
    {"devices", simgpu_devices, "devices [NAME]            list the devices that can be simulated"},
    {"coverage", coverage_main,
     "coverage [FILE|--markdown] list the supported PTX instructions, or check those in FILE"},
    {"disasm", disasm_main,
     "disasm FILE [KERNEL]      show device code as the simulator decodes it"},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

int main(int argc, char **argv) {
    for (unsigned i = 0; argc > 1 && i < NCOMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) return commands[i].run(argc - 2, argv + 2);
    if (argc > 1) fprintf(stderr, "simgpu: unknown command %s\n", argv[1]);
    fprintf(stderr, "usage:\n");
    for (unsigned i = 0; i < NCOMMANDS; i++) fprintf(stderr, "  simgpu %s\n", commands[i].help);
    return 2;
}
