/* ladder_points.c — see ladder_points.h. */
#include "grader/cli/ladder_points.h"
#include "common/file.h"
#include "grader/book/book.h"
#include "grader/grade/score.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { MAX_LESSON = 1 << 20 };

static double points_at_speed(const struct result *r, double vs_solution) {
    double gain = r->speed.solution_speedup;
    bool is_modelled = !strcmp(r->speed.kind, "modelled");
    return score_speed(r->available.speed,
                       is_modelled ? score_counted_speed(vs_solution, gain) : vs_solution, gain);
}

/* Returns the points that a step loses by being modelled slower by the resolution, of 100. */
static double resolution_points(const struct result *r) {
    double full = r->available.correctness + r->available.technique + r->available.speed,
           at = r->speed.vs_solution;
    if (!r->speed_counted || full <= 0) return 0;
    return (points_at_speed(r, at * LADDER_TIME_RESOLUTION) - points_at_speed(r, at)) / full *
           r->max_score;
}

bool ladder_keeps_points(const struct result *step, const struct result *before,
                         struct buf *problems) {
    static const double rounding = 0.05;
    if (step->score > before->score - rounding - resolution_points(step)) return true;
    buf_printf(problems,
               "it gets %.1f points, the step before %.1f: a step that the book recommends must "
               "not cost points\n",
               step->score, before->score);
    return false;
}

/* Returns true if a line of the text is this heading, of whatever level. */
static bool has_heading(const char *text, const char *heading) {
    size_t n = strlen(heading);
    for (; *text; text += strcspn(text, "\n"), text += *text != 0) {
        size_t level = strspn(text, "#");
        if (level && text[level] == ' ' && !strncmp(text + level + 1, heading, n) &&
            strchr("\n", text[level + 1 + n]))
            return true;
    }
    return false;
}

static bool lesson_has_heading(const char *chapter, const char *heading) {
    char path[PATH_MAX];
    struct buf lesson = {0};
    struct err e = {0};
    snprintf(path, sizeof path, "%s/chapters/%s/README.md", book_root(), chapter);
    bool found = file_read(path, MAX_LESSON, &lesson, &e) && has_heading(buf_str(&lesson), heading);
    buf_free(&lesson);
    return found;
}

static const char *speed_loss_reason(const struct result *r) {
    for (unsigned i = 0; i < r->npoints_lost; i++)
        if (!strcmp(r->points_lost[i].group, "speed")) return r->points_lost[i].reason;
    return NULL;
}

bool ladder_names_idea(const struct result *step, struct buf *problems) {
    char chapter[64], heading[160];
    const char *reason = speed_loss_reason(step);
    bool misses_goal = !step->goals_waived && step->checks.goals_reached < step->checks.goals,
         fails_guard = step->checks.guards_passed < step->checks.guards;
    if (!reason || misses_goal || fails_guard) return true;
    const char *idea = strstr(reason, SCORE_IDEA_PREFIX),
               *at = idea ? strstr(idea, "(chapter ") : 0;
    if (!at || sscanf(at, "(chapter %63[^,], \"%159[^\"]\")", chapter, heading) != 2)
        buf_puts(problems, "it reaches all goals and loses speed points, but its report names no "
                           "missing idea; add it to .ideas of the test file\n");
    else if (!lesson_has_heading(chapter, heading))
        buf_printf(problems, "its report names the lesson %s, \"%s\", which doesn't exist\n",
                   chapter, heading);
    else return true;
    return false;
}
