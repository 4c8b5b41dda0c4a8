/* text.h — makes untrusted text safe for terminals and reports; string helpers. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends at most `limit` bytes of `s`, whole lines if possible, then a note on how much was left
 * out. Keeps valid UTF-8, newlines and tabs; other control characters and invalid bytes become
 * \xNN. */
void text_clean(struct buf *out, const char *s, size_t n, size_t limit);
/* Appends a name for one line of a report: escapes newlines and tabs, too. */
void text_clean_name(struct buf *out, const char *s);
/* Appends a text with U+FFFD for each byte that is not valid UTF-8. */
void text_put_utf8(struct buf *out, const char *s);
/* Replaces every `from` in `b` by `to`. */
void text_replace(struct buf *b, const char *from, const char *to);
/* Replaces mangled C++ names (`_Z9transposePfPKfii`) by their source names (`transpose`). */
void text_demangle(struct buf *b);
/* Removes HTML comments from a Markdown text, each with a newline directly after it. They hold data
 * for programs: the answers of a quiz, the sources of figures. */
void text_strip_comments(struct buf *text);
/* The same, for a text that becomes a page: a comment between blank lines stays, as `<!---->`,
 * because it ends a list. Without it, indented code below would be text of the last item. */
void text_empty_comments(struct buf *text);
/* Copies to `out` the word of a text that is nearest to `word`; false if none is near. Words are
 * letters, digits, - and _; an option (-…) is near options only. */
bool text_nearest(const char *word, const char *words, char *out, size_t size);
bool text_starts_with(const char *s, const char *prefix);
bool text_ends_with(const char *s, const char *suffix);
bool text_ends_with_ignore_case(const char *s, const char *suffix); /* ASCII letters */
