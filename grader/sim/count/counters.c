/* counters.c — adds, scales and names the counters of counters.def. See sim.h. */
#include "grader/sim/sim.h"

#include <string.h>

enum merge { SUM, MAX };
static const struct {
    const char *name, *text;
    enum merge merge;
} counters[] = {
#define COUNTER(name, merge, text) {#name, text, merge},
#include "grader/sim/count/counters.def"
#undef COUNTER
};
enum { COUNTER_COUNT = sizeof counters / sizeof *counters };
_Static_assert(sizeof(struct sim_counters) == COUNTER_COUNT * sizeof(uint64_t),
               "struct sim_counters must be an array of 64-bit numbers");

unsigned sim_counter_count(void) { return COUNTER_COUNT; }
const char *sim_counter_name(unsigned i) { return counters[i].name; }
static uint64_t *counter_at(struct sim_counters *c, unsigned i) { return (uint64_t *)c + i; }

const char *sim_counter_name_v1(unsigned i) {
    static const struct {
        const char *v1, *name;
    } renamed[] = {
#define COUNTER_V1(v1, name) {#v1, #name},
#include "grader/sim/count/counters_v1.def"
#undef COUNTER_V1
    };
    for (unsigned k = 0; k < sizeof renamed / sizeof *renamed; k++)
        if (!strcmp(renamed[k].name, counters[i].name)) return renamed[k].v1;
    return NULL;
}

uint64_t sim_counter_get(const struct sim_counters *c, unsigned i) {
    return ((const uint64_t *)c)[i];
}

void sim_counters_add(struct sim_counters *to, const struct sim_counters *from) {
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        uint64_t *a = counter_at(to, i), b = sim_counter_get(from, i);
        *a = counters[i].merge == SUM ? *a + b : *a > b ? *a : b;
    }
}

void sim_counters_scale(struct sim_counters *c, uint64_t total, uint64_t sampled) {
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (counters[i].merge == SUM)
            *counter_at(c, i) = (uint64_t)((unsigned __int128)*counter_at(c, i) * total / sampled);
}
