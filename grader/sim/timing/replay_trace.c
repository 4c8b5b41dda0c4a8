/* replay_trace.c — finds the region of code that a warp runs next in its trace, and where its
 * accesses are, for replay.c. */
#include "grader/sim/timing/sm_model.h"

#include <string.h>

static bool next_chunk(struct sm_model *m, struct sm_warp *w) {
    w->insn_index = 0;
    while (time_schedule_next(m->in->schedule, w->trace, &w->at, &w->chunk))
        if (w->chunk.ninsns) return true;
    return w->chunk.ninsns = 0, false;
}

bool time_next_region(struct sm_model *m, struct sm_warp *w) {
    const struct trace_warp *s = w->trace;
    if (m->in->schedule) return next_chunk(m, w);
    while (w->at < s->nwords && trace_is_access(s->words[w->at]))
        w->at += 1 + trace_entries(s->words[w->at]);
    if (w->at >= s->nwords) return false;
    struct region *g = time_region_at(m->in->regions, s, w->at);
    memset(w->access_index, 0, g->ninsns * sizeof *w->access_index);
    u32 position = 0, i = w->at; /* position: the segment that the warp executes */
    for (; i < s->nwords; i++) {
        u64 h = s->words[i];
        if (!trace_is_access(h)) {
            u32 segment = trace_op_or_segment(h) - g->first_segment;
            bool is_first = i == w->at;
            if (!is_first && !time_region_continues(m->in->regions, g->first_segment, g->nsegments,
                                                    position, segment))
                break;
            position = segment;
            continue;
        }
        u32 op = trace_op_or_segment(h);
        if (op >= g->first_op && op < g->end_op &&
            !w->access_index[g->insn_index[op - g->first_op]])
            w->access_index[g->insn_index[op - g->first_op]] = i + 1;
        i += trace_entries(h);
    }
    w->at = i;
    w->region = g;
    w->insn_index = 0;
    return true;
}
