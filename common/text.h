/* text.h — text from strangers, made fit for a terminal and a report. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends at most `limit` bytes of `s` (whole lines where possible, then a note on how much was
 * left out). Valid UTF-8, newlines and tabs stay; other control characters and stray bytes become
 * \xNN. */
void text_clean(struct buf *out, const char *s, size_t n, size_t limit);
/* A name for one line of a report: as above, newlines and tabs escaped too. */
void text_clean_name(struct buf *out, const char *s);
/* Replaces every `from` in `b` by `to`. */
void text_replace(struct buf *b, const char *from, const char *to);
/* Replaces C++ symbol names (`_Z9transposePfPKfii`) by what the source calls them (`transpose`). */
void text_demangle(struct buf *b);
/* Takes the comments out of a Markdown text, each with the line's end behind it: they hold what is
 * for programs (the answers of a quiz, where figures come from), and no reader sees them. */
void text_strip_comments(struct buf *text);
bool text_starts_with(const char *s, const char *prefix);
bool text_ends_with(const char *s, const char *suffix);
bool text_ends_with_ignore_case(const char *s, const char *suffix); /* ASCII letters */
