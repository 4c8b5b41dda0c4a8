/* bench.h — the same computations in plain C, one thread, -O2: what the simulator's time is
 * compared with. */
#pragma once
#include <stddef.h>

void plain_vector_add(void *const *p, int n);
void plain_sgemm(void *const *p, int n);
void plain_transpose(void *const *p, int n);
void plain_reduce(void *const *p, int n);
void plain_histogram(void *const *p, int n);
void plain_nbody(void *const *p, int n);
void plain_stencil(void *const *p, int n);
