/* kept_program.c — see kept_program.h. Tools count by size and time, as in grade/build.c. */
#include "grader/tests/unit/kept_program.h"
#include "grader/tests/unit/shell.h"

int build_kept_program(const char *folder, const char *arguments, const char *sources,
                       const char *output) {
    const char *b = build_folder();
    return shell("cd %s && key=$({ pwd; echo '%s'; cat %s; stat -L -c '%%n %%s %%.9Y' %s/simgpu "
                 "%s/lib/*.a %s/cuda/bin/nvcc %s/cuda/nvvm/bin/cicc $(command -v g++); } 2>&1 | "
                 "sha256sum) && if [ ! -e %s ] || [ \"$key\" != \"$(cat %s.key 2>/dev/null)\" ]; "
                 "then rm -f %s.key && %s/simgpu nvcc %s -o %s && echo \"$key\" >%s.key; fi",
                 folder, arguments, sources, b, b, b, b, output, output, output, b, arguments,
                 output, output);
}
