/* paths.h — finds the parts of an installation; no other file knows where they lie. Programs run in
 * one of two layouts, told apart by share/warpbook/installed next to bin/:
 *
 *   part            in a source tree                      installed below PREFIX
 *   programs        build/                                bin/, libexec/warpbook/, lib/warpbook/
 *   the book        the tree                              share/warpbook/
 *   workspace       the tree, or a folder made by         the folder made by `grader begin` that
 *                   `grader begin` above the current one  contains the current one
 *   state           build/; for such a folder as          $XDG_STATE_HOME/warpbook/ID, with the ID
 *                   installed                             of the folder
 *   pages           build/; for such a folder the folder  that folder
 *   cache           build/cache/                          $XDG_CACHE_HOME/warpbook/
 *   compiler        build/cuda, a link made by setup      $CUDA_HOME; the toolkit recorded at
 *                                                         installation; nvcc on PATH;
 *                                                         /usr/local/cuda
 *
 * Nothing is written below PREFIX. State and cache that do not belong to this user are not used. */
#pragma once
#include "common/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* In a workspace made by `grader begin`; its first line is "warpbook 1 ID". */
#define PATHS_MARKER_FILE ".warpbook"
enum { PATHS_ID_SIZE = 17 }; /* 16 hex digits and the zero */

/* Finds all parts except the compiler. Later calls do nothing. */
bool paths_init(struct err *e);
bool paths_is_installed(void);
/* Return absolute folders; "" if there is none. */
const char *paths_book_dir(void);
const char *paths_workspace_dir(void);       /* has chapters/ */
const char *paths_program_dir(void);         /* of the programs: build/ in a source tree, or bin/ */
bool paths_in_workspace(void);               /* true if `grader begin` made paths_workspace_dir() */
bool paths_require_workspace(struct err *e); /* false, with advice, if there is none */
/* Set a folder to write to, and create it. Return false if that fails or it is not this user's. */
bool paths_state_dir(char out[PATH_MAX], struct err *e);
bool paths_cache_dir(char out[PATH_MAX], struct err *e);
bool paths_pages_dir(char out[PATH_MAX], struct err *e);
/* Returns the path of "grader", "simgpu", "device", "hostproc", "trim_headers", "libwbcudart.a",
 * "libwbcublas.a", "libwbcusparse.a", "libwbcufft.a", "libwbcurand.a" or "carry" (bundled
 * libraries, optional). */
const char *paths_component(const char *name, char out[PATH_MAX]);
/* Returns the command to type: "build/grader" in the tree, the absolute path in a workspace outside
 * the tree, "grader" if installed. */
enum { PATHS_COMMAND_SIZE = 256 };
const char *paths_command(const char *program);

/* Sets the folder of the CUDA toolkit, with bin/nvcc; the error lists the places searched. */
bool paths_cuda_toolkit(char out[PATH_MAX], struct err *e);
const char *paths_codemirror_dir(void);  /* the editor's library; may be missing */
bool paths_nvdisasm(char out[PATH_MAX]); /* sets the path of nvdisasm; false if there is none */

/* Sets the ID in the text of a marker file; returns false if the text is invalid. */
bool paths_marker_id(const char *text, char id[PATHS_ID_SIZE]);
