/* bench.h — declares the same computations in plain C, one thread, -O2, with which bench.c
 * compares the simulator's time. */
#pragma once
#include <stddef.h>

void cpu_vector_add(void *const *p, int n);
void cpu_sgemm(void *const *p, int n);
void cpu_transpose(void *const *p, int n);
void cpu_reduce(void *const *p, int n);
void cpu_histogram(void *const *p, int n);
void cpu_nbody(void *const *p, int n);
void cpu_stencil(void *const *p, int n);
