/* markup.h — checks pages: every element that opens is closed, in order; attributes are quoted;
 * nothing is loaded from elsewhere. */
#pragma once

/* NULL, or what is wrong, in a static buffer. `links`: an <a href> may lead elsewhere. */
const char *markup_fault(const char *page, int links);
