/* texture.c — the table of texture and surface objects, by handle. insn/exec_tex.c reads them. */
#include "grader/sim/core/core.h"

#include <stdlib.h>

enum { HANDLE_STEP = 64, MAX_TEXTURES = 1 << 20 };

uint64_t sim_texture_create(struct sim *s, const struct sim_texture *t) {
    uint32_t i = 0;
    while (i < s->ntextures && s->textures[i].channels) i++;
    if (i == MAX_TEXTURES || !t->channels) return 0;
    if (i == s->ntextures) {
        s->textures = xrealloc(s->textures, (i + 1) * sizeof *s->textures);
        s->ntextures++;
    }
    s->textures[i] = *t;
    return TEXTURE_WINDOW + (i + 1ull) * HANDLE_STEP;
}

bool sim_texture_destroy(struct sim *s, uint64_t handle) {
    uint64_t i = (handle - TEXTURE_WINDOW) / HANDLE_STEP - 1;
    if (handle % HANDLE_STEP || i >= s->ntextures || !s->textures[i].channels) return false;
    s->textures[i] = (struct sim_texture){0};
    return true;
}
