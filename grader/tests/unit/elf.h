/* elf.h — lists the names that an object file or a program exports, and how a program is linked. */
#pragma once
#include <stdbool.h>

enum elf_table { ELF_OBJECT, ELF_DYNAMIC };
/* Calls `visit` for each name that is defined and visible outside the file. Returns false if it is
 * not a 64-bit ELF file. */
bool elf_names(const char *path, enum elf_table table,
               void (*visit)(const char *name, bool function, void *user), void *user);
/* NULL if the program is position-independent, with its relocations read-only from the start; else
 * what is missing. */
const char *elf_missing_hardening(const char *path);
