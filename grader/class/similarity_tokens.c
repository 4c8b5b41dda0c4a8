/* similarity_tokens.c — turns CUDA C into tokens for comparison (similarity.h). It skips comments,
 * blanks and preprocessor lines. Each word of the language and of CUDA is a token of its own; all
 * other names are one token, and so are all numbers and all strings. So a copy has the same tokens
 * even with other names, layout and comments. */
#include "common/grow.h"
#include "grader/class/similarity.h"

#include <ctype.h>
#include <string.h>

enum { TOK_NAME = 1, TOK_NUMBER, TOK_STRING, FIRST_KEYWORD = 16, FIRST_PUNCTUATOR = 1 << 12 };

static const char *const keywords[] = {"auto",
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

static uint32_t keyword_or_name(const char *s, size_t n) {
    for (unsigned i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i]) == n && !memcmp(keywords[i], s, n)) return FIRST_KEYWORD + i;
    return TOK_NAME;
}

struct scanner {
    const char *at, *end;
    uint32_t line;
    bool at_line_start; /* nothing but blanks on this line so far */
};

static void advance(struct scanner *s) {
    if (*s->at == '\n') s->line++, s->at_line_start = true;
    s->at++;
}

static void skip_to(struct scanner *s, const char *end) {
    while (s->at < end) advance(s);
}

/* Skips to the end of a line, past ends that a backslash escapes. */
static void skip_line(struct scanner *s) {
    while (s->at < s->end && *s->at != '\n') {
        if (*s->at == '\\' && s->at + 1 < s->end) advance(s);
        advance(s);
    }
}

static bool skip_trivia(struct scanner *s) {
    const char *close;
    size_t remaining = (size_t)(s->end - s->at);
    if (isspace((unsigned char)*s->at)) return advance(s), true;
    if (*s->at == '#' && s->at_line_start) return skip_line(s), true;
    if (remaining > 1 && s->at[0] == '/' && s->at[1] == '/') return skip_line(s), true;
    if (remaining < 2 || s->at[0] != '/' || s->at[1] != '*') return false;
    close = memmem(s->at + 2, remaining - 2, "*/", 2);
    return skip_to(s, close ? close + 2 : s->end), true;
}

static uint32_t scan_string(struct scanner *s) {
    char quote = *s->at;
    for (advance(s); s->at < s->end && *s->at != quote && *s->at != '\n'; advance(s))
        if (*s->at == '\\' && s->at + 1 < s->end) advance(s);
    if (s->at < s->end) advance(s);
    return TOK_STRING;
}

static uint32_t scan_punctuator(struct scanner *s) {
    static const char *const punctuators[] = {"<<<", ">>>", "<<=", ">>=", "++", "--", "+=", "-=",
                                              "*=",  "/=",  "%=",  "&=",  "|=", "^=", "<<", ">>",
                                              "<=",  ">=",  "==",  "!=",  "&&", "||", "->", "::"};
    for (unsigned i = 0; i < sizeof punctuators / sizeof *punctuators; i++) {
        size_t n = strlen(punctuators[i]);
        if ((size_t)(s->end - s->at) >= n && !memcmp(s->at, punctuators[i], n))
            return s->at += n, FIRST_PUNCTUATOR + 256 + i;
    }
    return FIRST_PUNCTUATOR + (unsigned char)*s->at++;
}

static uint32_t scan_token(struct scanner *s) {
    const char *from = s->at;
    unsigned char c = (unsigned char)*from;
    if (c == '"' || c == '\'') return scan_string(s);
    if (isdigit(c) || (c == '.' && s->at + 1 < s->end && isdigit((unsigned char)from[1]))) {
        while (s->at < s->end &&
               (isalnum((unsigned char)*s->at) || *s->at == '.' || *s->at == '\''))
            s->at++;
        return TOK_NUMBER;
    }
    if (!isalpha(c) && c != '_' && c < 0x80) return scan_punctuator(s);
    while (s->at < s->end &&
           (isalnum((unsigned char)*s->at) || *s->at == '_' || (unsigned char)*s->at >= 0x80))
        s->at++;
    return keyword_or_name(from, (size_t)(s->at - from));
}

void similarity_tokenize(const char *text, size_t n, struct similarity_token **tokens,
                         unsigned *count, unsigned *capacity) {
    struct scanner s = {text, text + n, 1, true};
    while (s.at < s.end) {
        if (skip_trivia(&s)) continue;
        s.at_line_start = false;
        uint32_t line = s.line, code = scan_token(&s);
        GROW(*tokens, *count + 1, *capacity, 512);
        (*tokens)[(*count)++] = (struct similarity_token){code, line};
    }
}
