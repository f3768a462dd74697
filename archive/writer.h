/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_ARCHIVE_WRITER_H
#define LAB_ARCHIVE_WRITER_H

/*
 * Writing archives whose bytes depend on nothing but names, modes and content: entries
 * sorted by path in byte order (so a directory comes before what is in it), one fixed
 * modification time, owner 0:0, counted inodes. Parent directories that were not added
 * are added with mode 0755.
 *
 * Entries are collected first and written by archive_writer_close, so files named by
 * archive_writer_add_file and _add_tree must stay as they are until then.
 */

#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

enum archive_format {
	ARCHIVE_TAR_ZSTD,  /* GNU tar (any bytes may be in a name), zstd level 3 */
	ARCHIVE_CPIO_NEWC, /* uncompressed, as an initramfs wants it */
};

struct archive_writer;

/* Nothing is written before archive_writer_close; an unwritable directory fails here. */
int archive_writer_new(const char *path, enum archive_format format,
		       struct archive_writer **ret_writer, struct lab_error *err) LAB_MUST_CHECK;
/* Modification time of every entry, seconds since 1970; 0 unless set. */
void archive_writer_set_mtime(struct archive_writer *writer, int64_t mtime);

/*
 * Paths are relative to the top of the archive; leading slashes and "./" are dropped,
 * ".." is refused. A path added twice is an error of archive_writer_close, except that
 * a directory may be. `mode` is permission bits (07777).
 */
int archive_writer_add_data(struct archive_writer *writer, const char *path, mode_t mode,
			    const void *data, size_t len, struct lab_error *err) LAB_MUST_CHECK;
/* Content of the regular file `src` (links are followed). */
int archive_writer_add_file(struct archive_writer *writer, const char *path, mode_t mode,
			    const char *src, struct lab_error *err) LAB_MUST_CHECK;
int archive_writer_add_dir(struct archive_writer *writer, const char *path, mode_t mode,
			   struct lab_error *err) LAB_MUST_CHECK;
/* A symbolic link; the target is not looked at. */
int archive_writer_add_link(struct archive_writer *writer, const char *path, const char *target,
			    struct lab_error *err) LAB_MUST_CHECK;
/* `mode` with its type: S_IFCHR, S_IFBLK or S_IFIFO. */
int archive_writer_add_node(struct archive_writer *writer, const char *path, mode_t mode,
			    unsigned major, unsigned minor, struct lab_error *err) LAB_MUST_CHECK;
/*
 * Everything below directory `dir`, under `prefix` ("" for the top), with its modes.
 * Regular files, directories and symbolic links; anything else is an error.
 */
int archive_writer_add_tree(struct archive_writer *writer, const char *prefix, const char *dir,
			    struct lab_error *err) LAB_MUST_CHECK;

/*
 * Writes everything beside `path` and renames it into place, so that `path` is whole or
 * untouched. The writer can only be freed afterwards.
 */
int archive_writer_close(struct archive_writer *writer, struct lab_error *err) LAB_MUST_CHECK;
void archive_writer_free(struct archive_writer *writer);

LAB_DEFINE_CLEANUP(archive_writer, struct archive_writer, archive_writer_free)

#endif
