/* tools.h — the simgpu verbs that show the instruction table and decoded code. Both return an exit status. */
#pragma once

int coverage_main(int argc, char **argv);
int disasm_main(int argc, char **argv);
