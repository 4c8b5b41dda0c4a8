/* roster_fold.h — two forms of a name that make equal names compare equal; roster.c calls it. Both
 * take UTF-8, keep invalid bytes, and return a string that the caller frees. */
#pragma once

/* Returns the name in lower case, of any script. */
char *roster_fold(const char *name);
/* Returns a folded name without accents, whether they are part of a letter or follow it, as in the
 * names of files from some file systems: "muller" for "m\u00fcller". */
char *roster_strip_accents(const char *folded);
