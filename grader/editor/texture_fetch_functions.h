/* CUDA 12 took this header away, and clang before 18 asks for it. Only editors see this folder
 * (compile_commands.sh). */
