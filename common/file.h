/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_COMMON_FILE_H
#define LAB_COMMON_FILE_H

/* Files and directories. Every descriptor is opened close-on-exec. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buf.h"
#include "common/err.h"

/* Joins with one slash; caller frees. */
char *lab_path_join(const char *dir, const char *name);
const char *lab_path_base(const char *path); /* borrowed: what follows the last slash */

bool lab_file_exists(const char *path);
bool lab_dir_exists(const char *path);
int lab_file_size(const char *path, uint64_t *ret_bytes, struct lab_error *err) LAB_MUST_CHECK;

/* Appends the whole file to buf. More than `cap` bytes is an error. Works for /proc files. */
int lab_read_file(const char *path, size_t cap, struct lab_buf *buf,
		  struct lab_error *err) LAB_MUST_CHECK;
/* Writes to a temporary name beside it, syncs, renames: readers see the old or the new. */
int lab_write_file(const char *path, const void *data, size_t len, mode_t mode,
		   struct lab_error *err) LAB_MUST_CHECK;
/* Writes to an existing (kernel) file in one write, as sysctl and cgroup files want it. */
int lab_write_existing(const char *path, const char *value, struct lab_error *err) LAB_MUST_CHECK;
int lab_write_all(int fd, const void *data, size_t len, struct lab_error *err) LAB_MUST_CHECK;

int lab_mkdirs(const char *path, mode_t mode, struct lab_error *err) LAB_MUST_CHECK;
/* Removes a file or a whole tree, never following links. A missing path is fine. */
int lab_remove_tree(const char *path, struct lab_error *err) LAB_MUST_CHECK;
/* Copies a file, keeping its holes; dst must not exist. */
int lab_copy_sparse(const char *src, const char *dst, mode_t mode,
		    struct lab_error *err) LAB_MUST_CHECK;
/* Bytes that an unprivileged writer can still use on path's file system. */
int lab_free_space(const char *path, uint64_t *ret_bytes, struct lab_error *err) LAB_MUST_CHECK;

#endif
