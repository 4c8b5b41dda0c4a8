/* page.h — the frame of the HTML pages of a class: they stand alone and run nothing, which their
 * content security policy holds a browser to. Whatever comes from a submission or a name goes
 * through class_page_put_text. */
#pragma once
#include "common/buf.h"

#include <stdbool.h>

void class_page_begin(const char *title, struct buf *out);
void class_page_end(struct buf *out);
void class_page_put_text(const char *s, struct buf *out);
/* A file's name from an id: what is not plain becomes '_', and then a part of its digest keeps it
 * apart from others. `out` has room for 256 bytes. */
void class_page_file_name(const char *id, const char *suffix, char out[256]);
