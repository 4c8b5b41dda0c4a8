/* where.h — where the parts are, the one place that knows. Programs run in two ways, told apart by
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

#define WHERE_MARK \
    ".warpbook" /* in a folder that `grader begin` made; its first line is "warpbook 1 ID" */
enum { WHERE_ID = 17 }; /* 16 digits of base 16, and the zero */

/* Finds all of them but the compiler. Later calls do nothing. */
bool where_open(struct err *e);
bool where_installed(void);
/* Folders, absolute; "" where there is none: no student's folder above the current one. */
const char *where_book(void);
const char *where_work(void);        /* has chapters/ */
const char *where_build(void);       /* of the source tree; the folder of the programs elsewhere */
bool where_begun(void);              /* where_work() was made by `grader begin` */
bool where_need_work(struct err *e); /* false, with what to do, where there is none */
/* Folders to write to; made when they are asked for. False: not to be had, or not this user's. */
bool where_state(char out[PATH_MAX], struct err *e);
bool where_cache(char out[PATH_MAX], struct err *e);
bool where_pages(char out[PATH_MAX], struct err *e);
/* "grader", "simgpu", "device", "hostproc", "libwbcudart.a", or "carry", the libraries that may lie
 * beside them. */
const char *where_part(const char *name, char out[PATH_MAX]);
/* How a person types it here: "build/grader" in the tree, its whole path in a folder that it began
 * elsewhere, "grader" installed. */
enum { WHERE_TYPED = 256 };
const char *where_typed(const char *program);

/* The CUDA toolkit, the folder with bin/nvcc; the error says where it was looked for. */
bool where_toolkit(char out[PATH_MAX], struct err *e);
bool where_disassembler(char out[PATH_MAX]); /* nvdisasm */

/* For `grader begin`. `id` of the folder that a mark's text is in; false: it is none. */
bool where_mark_id(const char *text, char id[WHERE_ID]);
