/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_STORE_TREE_H
#define LAB_STORE_TREE_H

/* Walking a directory tree in a fixed order; internal to store/. */

#include <stdint.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/strv.h"

/* path: absolute; name: relative to the tree, "" for its root. Returns 0 or -1 with err. */
typedef int tree_visit(void *ctx, const char *path, const char *name, const struct stat *st,
		       struct lab_error *err);

/* Visits directories before what is in them, names in byte order; links are not followed. */
int tree_walk(const char *dir, tree_visit *visit, void *ctx, struct lab_error *err) LAB_MUST_CHECK;

/* Everything in the tree is on the disk when it returns. */
int tree_sync(const char *dir, struct lab_error *err) LAB_MUST_CHECK;
/* fsync of one directory: its names are on the disk. */
int tree_sync_dir(const char *dir, struct lab_error *err) LAB_MUST_CHECK;
/* Bytes of all files as stored. */
int tree_bytes(const char *dir, uint64_t *ret_bytes, struct lab_error *err) LAB_MUST_CHECK;

/* Adds the names of what is in one tree only, or is another there. */
int tree_differences(const char *dir_a, const char *dir_b, struct lab_strv *names,
		     struct lab_error *err) LAB_MUST_CHECK;

#endif
