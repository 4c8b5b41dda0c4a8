/* listed_page.h — pages of docs/results that a suite writes from the files that it runs. */
#pragma once
#include "common/buf.h"

/* Reads a file, or fails the test. */
const char *contents(const char *path, struct buf *out);
/* Fails unless the page has this text. Writes the text into the build folder, for a copy. */
void check_listed_page(const char *page, const struct buf *text);
