/* page.h — the frame of a class's HTML pages. Pages load nothing and run no script; their content
 * security policy makes the browser enforce that. Write every text from a submission or a name with
 * class_page_put_text. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>

/* Begin and end a page of HTML; append escaped text. */
void class_page_begin(const char *title, struct buf *out);
void class_page_end(struct buf *out);
void class_page_put_text(const char *s, struct buf *out);
/* Makes a file's name of an id. Each unsafe byte becomes '_'; the name then also has a part of the
 * id's digest, so that it stays unique. */
void class_page_file_name(const char *id, const char *suffix, char out[256]);
