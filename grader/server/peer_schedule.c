/* peer_schedule.c — counts what a recording's commands on several devices can do at the same time:
 * which kernels can run while a copy between devices is under way. launch_stats.c calls it.
 *
 * Two commands can run at the same time if neither comes after the other by their vector clocks
 * (runtime/stream_order.c). That is a property of the program and not of a device's speed, so the
 * counts are the same wherever the exercise is graded. */
#include "grader/server/internal.h"
#include "grader/sim/timing/timeline.h"

#include <stdlib.h>
#include <string.h>

/* A launch or a copy between devices, with its order. */
struct ordered_command {
    const uint32_t *after; /* TIMELINE_MAX_STREAMS numbers; NULL = unknown */
    uint32_t stream, number, device;
    double instructions;   /* of a launch */
    double own_peer_bytes; /* of a launch: its own accesses to other devices */
    struct peer_copy copy; /* bytes > 0: a copy */
};

struct command_list {
    struct ordered_command *commands;
    size_t n;
};

/* ---- copies ---- */

bool recording_is_peer_copy(const struct server *s, const struct recording *r,
                            const struct command *c, struct peer_copy *out) {
    const struct wb_req_copy *q = (const void *)(r->bytes.data + c->request);
    if (c->op != WB_OP_copy || server_copy_direction(s, q) != COPY_DEVICE_TO_DEVICE) return false;
    *out = (struct peer_copy){
        .from = c->from_device, .to = c->to_device, .bytes = (double)q->width * (double)q->rows};
    return out->from != out->to && out->bytes > 0;
}

/* ---- the list ---- */

/* Sets the order of the commands that follow, as recording_schedule.c does. */
static void apply_order(const struct recording *r, const struct command *c,
                        struct ordered_command *next) {
    const struct wb_req_order *q = (const void *)(r->bytes.data + c->request);
    bool is_known = q->number && q->stream < TIMELINE_MAX_STREAMS &&
                    c->tail_size == 2 * TIMELINE_MAX_STREAMS * sizeof(uint32_t);
    *next = (struct ordered_command){.stream = q->stream, .number = q->number};
    if (is_known) next->after = (const void *)(r->bytes.data + c->tail);
}

static struct command_list list_commands(const struct server *s, const struct recording *r,
                                         const struct server_launch_time *launches, unsigned n) {
    struct command_list l = {.commands = xcalloc(r->ncommands + 1, sizeof *l.commands)};
    struct ordered_command next = {0};
    unsigned launch = 0;
    for (size_t i = 0; i < r->ncommands; i++) {
        const struct command *c = &r->commands[i];
        struct ordered_command *o = &l.commands[l.n];
        *o = next, o->device = c->device;
        if (c->op == WB_OP_order) apply_order(r, c, &next);
        else if (c->op == WB_OP_launch && launch < n) {
            o->instructions = launches[launch].instructions;
            o->own_peer_bytes = launches[launch++].peer_bytes, l.n++;
        } else l.n += recording_is_peer_copy(s, r, c, &o->copy);
    }
    return l;
}

/* ---- what can run at the same time ---- */

static bool comes_after(const struct ordered_command *later,
                        const struct ordered_command *earlier) {
    return later->stream == earlier->stream ? later->number >= earlier->number
                                            : later->after[earlier->stream] >= earlier->number;
}

static bool can_overlap(const struct ordered_command *x, const struct ordered_command *y) {
    return x->after && y->after && !comes_after(x, y) && !comes_after(y, x);
}

static bool is_copy(const struct ordered_command *c) { return c->copy.bytes > 0; }

static bool has_same_direction(const struct ordered_command *x, const struct ordered_command *y) {
    return is_copy(x) && is_copy(y) && x->copy.from == y->copy.from && x->copy.to == y->copy.to;
}

/* Returns the number of copies in the copy's direction that can overlap the kernel. They cross one
 * after another, so they share its instructions. */
static double copies_beside(const struct command_list *l, const struct ordered_command *copy,
                            const struct ordered_command *kernel) {
    double n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += has_same_direction(&l->commands[i], copy) && can_overlap(&l->commands[i], kernel);
    return n;
}

/* Returns the warp instructions of the device's kernels that can run beside the copy. */
static double instructions_beside(const struct command_list *l, const struct ordered_command *copy,
                                  unsigned device) {
    double sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct ordered_command *k = &l->commands[i];
        if (!is_copy(k) && k->device == device && can_overlap(copy, k))
            sum += k->instructions / copies_beside(l, copy, k);
    }
    return sum;
}

static double overlap_of(const struct command_list *l, const struct ordered_command *c) {
    double at_source = instructions_beside(l, c, c->copy.from),
           at_destination = instructions_beside(l, c, c->copy.to);
    return at_source < at_destination ? at_source : at_destination;
}

/* The work grows with the third power of this number; an exercise has some tens. */
enum { MAX_COMMANDS = 512 };

struct server_peer_traffic recording_peer_traffic(const struct server *s, const struct recording *r,
                                                  const struct server_launch_time *launches,
                                                  unsigned n) {
    struct server_peer_traffic t = {0};
    if (s->backend->ndevices == 1) return t;
    struct command_list l = list_commands(s, r, launches, n);
    double weighted = 0;
    for (size_t i = 0; i < l.n; i++) {
        const struct ordered_command *c = &l.commands[i];
        t.copied_bytes += c->copy.bytes, t.kernel_bytes += c->own_peer_bytes;
        weighted += c->own_peer_bytes * c->instructions;
        if (is_copy(c) && l.n <= MAX_COMMANDS) weighted += c->copy.bytes * overlap_of(&l, c);
    }
    double bytes = t.copied_bytes + t.kernel_bytes;
    if (bytes > 0) t.overlap_instructions = weighted / bytes;
    free(l.commands);
    recording_peer_critical_paths(s, r, launches, n, &t);
    return t;
}
