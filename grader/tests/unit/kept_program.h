/* kept_program.h — builds the programs of tests with `simgpu nvcc`, and keeps them for later runs.
 */
#pragma once

/* Runs `simgpu nvcc ARGUMENTS -o OUTPUT` in `folder`, unless an earlier run made OUTPUT of all the
 * same: arguments, `sources` (files, separated by blanks), simgpu, our libraries, nvcc and g++. The
 * key of these is beside OUTPUT. The sources may include only system headers, and `arguments` have
 * no single quotes. Returns the exit status. */
int build_kept_program(const char *folder, const char *arguments, const char *sources,
                       const char *output);
