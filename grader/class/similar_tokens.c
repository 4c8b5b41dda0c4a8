/* similar_tokens.c — CUDA C as tokens for comparing (similar.h). Comments, blanks and preprocessor
 * lines are nothing; words that the language or CUDA gives a meaning count as themselves, all
 * others as "a name"; numbers and texts as one each. So a copy is the same after renaming, laying
 * out and commenting anew. */
#include "common/grow.h"
#include "grader/class/similar.h"

#include <ctype.h>
#include <string.h>

enum { A_NAME = 1, A_NUMBER, A_TEXT, FIRST_WORD = 16, FIRST_SIGN = 1 << 12 };

static const char *const words[] = {"auto",
                                    "bool",
                                    "break",
                                    "case",
                                    "char",
                                    "const",
                                    "constexpr",
                                    "continue",
                                    "do",
                                    "double",
                                    "else",
                                    "extern",
                                    "float",
                                    "for",
                                    "goto",
                                    "if",
                                    "inline",
                                    "int",
                                    "long",
                                    "return",
                                    "short",
                                    "signed",
                                    "sizeof",
                                    "static",
                                    "struct",
                                    "switch",
                                    "template",
                                    "typedef",
                                    "typename",
                                    "unsigned",
                                    "using",
                                    "void",
                                    "volatile",
                                    "while",
                                    "__global__",
                                    "__device__",
                                    "__host__",
                                    "__shared__",
                                    "__constant__",
                                    "__restrict__",
                                    "__launch_bounds__",
                                    "__syncthreads",
                                    "__syncwarp",
                                    "__shfl_down_sync",
                                    "__shfl_xor_sync",
                                    "__shfl_sync",
                                    "__shfl_up_sync",
                                    "__ballot_sync",
                                    "__ldg",
                                    "__fmaf_rn",
                                    "fmaf",
                                    "atomicAdd",
                                    "atomicMax",
                                    "atomicMin",
                                    "atomicCAS",
                                    "atomicExch",
                                    "threadIdx",
                                    "blockIdx",
                                    "blockDim",
                                    "gridDim",
                                    "warpSize",
                                    "dim3",
                                    "float2",
                                    "float4",
                                    "int2",
                                    "int4",
                                    "double2",
                                    "uint4",
                                    "size_t",
                                    "min",
                                    "max",
                                    "cudaMemsetAsync",
                                    "cudaMallocAsync",
                                    "cudaFreeAsync"};

static uint32_t word(const char *s, size_t n) {
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !memcmp(words[i], s, n)) return FIRST_WORD + i;
    return A_NAME;
}

struct scanner {
    const char *at, *end;
    uint32_t line;
    bool fresh; /* nothing but blanks on this line so far */
};

static void step(struct scanner *s) {
    if (*s->at == '\n') s->line++, s->fresh = true;
    s->at++;
}

static void skip_to(struct scanner *s, const char *end) {
    while (s->at < end) step(s);
}

/* To the end of a line, on over escaped ends. */
static void skip_line(struct scanner *s) {
    while (s->at < s->end && *s->at != '\n') {
        if (*s->at == '\\' && s->at + 1 < s->end) step(s);
        step(s);
    }
}

static bool skip_nothing(struct scanner *s) {
    const char *close;
    size_t left = (size_t)(s->end - s->at);
    if (isspace((unsigned char)*s->at)) return step(s), true;
    if (*s->at == '#' && s->fresh) return skip_line(s), true;
    if (left > 1 && s->at[0] == '/' && s->at[1] == '/') return skip_line(s), true;
    if (left < 2 || s->at[0] != '/' || s->at[1] != '*') return false;
    close = memmem(s->at + 2, left - 2, "*/", 2);
    return skip_to(s, close ? close + 2 : s->end), true;
}

static uint32_t quoted(struct scanner *s) {
    char quote = *s->at;
    for (step(s); s->at < s->end && *s->at != quote && *s->at != '\n'; step(s))
        if (*s->at == '\\' && s->at + 1 < s->end) step(s);
    if (s->at < s->end) step(s);
    return A_TEXT;
}

static uint32_t sign(struct scanner *s) {
    static const char *const pairs[] = {"<<<", ">>>", "<<=", ">>=", "++", "--", "+=", "-=",
                                        "*=",  "/=",  "%=",  "&=",  "|=", "^=", "<<", ">>",
                                        "<=",  ">=",  "==",  "!=",  "&&", "||", "->", "::"};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        size_t n = strlen(pairs[i]);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, pairs[i], n))
            return s->at += n, FIRST_SIGN + 256 + i;
    }
    return FIRST_SIGN + (unsigned char)*s->at++;
}

static uint32_t next(struct scanner *s) {
    const char *from = s->at;
    unsigned char c = (unsigned char)*from;
    if (c == '"' || c == '\'') return quoted(s);
    if (isdigit(c) || (c == '.' && s->at + 1 < s->end && isdigit((unsigned char)from[1]))) {
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '.' || *s->at == '\''))
            s->at++;
        return A_NUMBER;
    }
    if (!isalpha(c) && c != '_' && c < 0x80) return sign(s);
    while (s->at < s->end &&
           (isalnum((unsigned char)*s->at) || *s->at == '_' || (unsigned char)*s->at >= 0x80))
        s->at++;
    return word(from, (size_t)(s->at - from));
}

void similar_tokens(const char *text, size_t n, struct similar_token **tokens, unsigned *count,
                    unsigned *room) {
    struct scanner s = {text, text + n, 1, true};
    while (s.at < s.end) {
        if (skip_nothing(&s)) continue;
        s.fresh = false;
        uint32_t line = s.line, code = next(&s);
        GROW(*tokens, *count + 1, *room, 512);
        (*tokens)[(*count)++] = (struct similar_token){code, line};
    }
}
