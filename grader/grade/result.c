/* result.c — see result.h. */
#include "grader/grade/result.h"

static const struct {
    const char *code, *text;
} verdicts[] = {
#define VERDICT(code, text, meaning) {#code, text},
#include "grader/grade/verdict.def"
#undef VERDICT
};

const char *verdict_code(enum verdict v) { return verdicts[v].code; }
const char *verdict_text(enum verdict v) { return verdicts[v].text; }

enum verdict verdict_join(enum verdict a, enum verdict b) { return a > b ? a : b; }
bool verdict_has_score(enum verdict v) { return v != V_IE && v != V_FLAG; }

void result_free(struct result *r) {
    arena_free(&r->arena);
    buf_free(&r->log);
    buf_free(&r->source);
}
