/* main.c — build/simgpu: builds and runs any CUDA program on the simulated GPU. */
#include "common/text.h"
#include "grader/simgpu/simgpu.h"
#include "grader/simgpu/tools.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"nvcc", nvcc_main, "nvcc ARGS...              build a program; takes nvcc's own arguments"},
    {"run", run_main,
     "run [options] PROG ARGS... run a program; `simgpu run` alone lists the options"},
    {"devices", devices_main, "devices [NAME]            list the devices that can be simulated"},
    {"coverage", coverage_main,
     "coverage [FILE|--markdown] list the supported PTX instructions, or check those in FILE"},
    {"disasm", disasm_main,
     "disasm FILE [KERNEL]      show device code as the simulator decodes it"},
};
enum { NCOMMANDS = sizeof commands / sizeof *commands };

/* `run` and `nvcc` have options of their own, and help on them. */
static int run_command(unsigned i, int argc, char **argv) {
    bool has_own_help = commands[i].run == run_main || commands[i].run == nvcc_main;
    if (has_own_help || !argc || !simgpu_is_help(argv[0])) return commands[i].run(argc, argv);
    return printf("usage: simgpu %s\n", commands[i].help), 0;
}

static int print_usage(FILE *f) {
    fprintf(f, "usage:\n");
    for (unsigned i = 0; i < NCOMMANDS; i++) fprintf(f, "  simgpu %s\n", commands[i].help);
    return f == stdout ? 0 : 2;
}

static void refuse_command(const char *command) {
    struct buf names = {0};
    char nearest[64];
    for (unsigned i = 0; i < NCOMMANDS; i++) buf_printf(&names, "%s ", commands[i].name);
    bool is_near = text_nearest(command, buf_str(&names), nearest, sizeof nearest);
    fprintf(stderr, "simgpu: unknown command '%.60s'%s%s%s\n", command,
            is_near ? "; did you mean `simgpu " : "", is_near ? nearest : "", is_near ? "`?" : "");
    buf_free(&names);
}

int main(int argc, char **argv) {
    if (argc > 1 && (simgpu_is_help(argv[1]) || !strcmp(argv[1], "help")))
        return print_usage(stdout);
    for (unsigned i = 0; argc > 1 && i < NCOMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name)) return run_command(i, argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "compile-native"))
        return compile_native_main(argc - 2, argv + 2); /* only `run` starts it */
    if (argc > 1) refuse_command(argv[1]);
    return print_usage(stderr);
}
