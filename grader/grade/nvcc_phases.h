/* nvcc_phases.h — a shell script that runs nvcc's steps for one file, with host pass and device
 * pass at the same time. build.c runs it in the compilers' sandbox. */
#pragma once
#include "common/hash.h"

#include <stdbool.h>
#include <stddef.h>

enum { MODULE_ID_SIZE = 256 };

/* Usage: /bin/sh -c SCRIPT sh GUESS NVCC ARGUMENTS…, in the folder of the source. It leaves the
 * files that `NVCC ARGUMENTS…` with -keep would leave, prints the same messages, and exits with the
 * status of the first step that fails. GUESS is the expected module ID: "" runs cicc after
 * cudafe++, a wrong one costs a second run of cicc. If nvcc's steps have an unknown form, it runs
 * nvcc. It compiles the host code with the precompiled header of host_header.h, if the sandbox has
 * one: code and line table of the student's functions stay the same. */
extern const char nvcc_phases_script[];
/* Hashes the lines that may declare functions: files that agree in them usually have the same
 * module ID. */
void nvcc_phases_hash_signatures(struct hash *h, const char *text, size_t size);
/* Returns true if the text has the form of a module ID; a submission could write another. */
bool nvcc_phases_is_module_id(const char *text, size_t size);
