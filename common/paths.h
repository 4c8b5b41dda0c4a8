/* paths.h — where the parts are, the one place that knows. Programs run in two ways, told apart by
 * what lies beside them:
 *
 *                   in a source tree, where `make` put them     installed below PREFIX
 * (grader/install.sh) programs        build/                                      bin/,
 * libexec/warpbook/, lib/warpbook/ the book        the tree share/warpbook/ a student's     the
 * tree, or a folder that `grader begin`   the folder that `grader begin` made, above the files
 * made, above the current one                 current one state           build/; of such a folder
 * as installed       $XDG_STATE_HOME/warpbook/ID, ID being the folder's pages           build/; of
 * such a folder the folder itself  that folder the cache       build/cache/
 * $XDG_CACHE_HOME/warpbook/ the compiler    build/cuda, a link that setup made          $CUDA_HOME;
 * what the installation names; the nvcc on PATH; /usr/local/cuda
 *
 * Nothing is written below PREFIX, and what lies in state and cache is this user's own or is not
 * used. */
#pragma once
#include "common/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define PATHS_MARKER_FILE \
    ".warpbook" /* in a folder that `grader begin` made; its first line is "warpbook 1 ID" */
enum { PATHS_ID_SIZE = 17 }; /* 16 digits of base 16, and the zero */

/* Finds all of them but the compiler. Later calls do nothing. */
bool paths_init(struct err *e);
bool paths_is_installed(void);
/* Folders, absolute; "" where there is none: no student's folder above the current one. */
const char *paths_book_dir(void);
const char *paths_workspace_dir(void); /* has chapters/ */
const char *paths_build_dir(void); /* of the source tree; the folder of the programs elsewhere */
bool paths_in_workspace(void);     /* paths_workspace_dir() was made by `grader begin` */
bool paths_require_workspace(struct err *e); /* false, with what to do, where there is none */
/* Folders to write to; made when they are asked for. False: not to be had, or not this user's. */
bool paths_state_dir(char out[PATH_MAX], struct err *e);
bool paths_cache_dir(char out[PATH_MAX], struct err *e);
bool paths_pages_dir(char out[PATH_MAX], struct err *e);
/* "grader", "simgpu", "device", "hostproc", "libwbcudart.a", or "carry", the libraries that may lie
 * beside them. */
const char *paths_component(const char *name, char out[PATH_MAX]);
/* How a person types it here: "build/grader" in the tree, its whole path in a folder that it began
 * elsewhere, "grader" installed. */
enum { PATHS_COMMAND_SIZE = 256 };
const char *paths_command(const char *program);

/* The CUDA toolkit, the folder with bin/nvcc; the error says where it was looked for. */
bool paths_cuda_toolkit(char out[PATH_MAX], struct err *e);
bool paths_nvdisasm(char out[PATH_MAX]); /* nvdisasm */

/* For `grader begin`. `id` of the folder that a mark's text is in; false: it is none. */
bool paths_marker_id(const char *text, char id[PATHS_ID_SIZE]);
