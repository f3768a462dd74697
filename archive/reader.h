/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LAB_ARCHIVE_READER_H
#define LAB_ARCHIVE_READER_H

/*
 * Reading archives that may come from a stranger: tar (all dialects), cpio and ar,
 * plain or packed with gzip, bzip2, xz or zstd. No other program is ever started.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

enum archive_type {
	ARCHIVE_TYPE_FILE,
	ARCHIVE_TYPE_DIR,
	ARCHIVE_TYPE_SYMLINK,
	ARCHIVE_TYPE_HARDLINK,
	ARCHIVE_TYPE_OTHER, /* devices, fifos, sockets */
};

/* One entry as it stands in the archive. All pointers are borrowed until the callback returns. */
struct archive_entry_info {
	const char
		*path; /* relative, without "./" and doubled or closing slashes; "." is the top */
	enum archive_type type;
	mode_t mode; /* permission bits only, 07777 */
	uint64_t size;
	const char
		*link; /* target of a symbolic link, or the path a hard link repeats; else NULL */
	int64_t mtime; /* seconds since 1970 */
};

/* A zero field means its default. */
struct archive_limits {
	uint64_t max_entries;	 /* default 1,000,000 */
	uint64_t max_bytes;	 /* unpacked, all entries together; default 16 GiB */
	uint64_t max_file_bytes; /* unpacked, one entry; default 8 GiB */
	/* unpacked bytes per packed byte, looked at beyond the first 64 MiB; default 200 */
	uint64_t max_ratio;
};

struct archive_data;

/*
 * Up to `len` bytes of the entry at hand: their number, 0 at its end, -1 with err.
 * Holes of sparse entries are read as zeroes.
 */
ssize_t archive_data_read(struct archive_data *data, void *buf, size_t len,
			  struct lab_error *err) LAB_MUST_CHECK;
/* Packed bytes read from the file so far: progress against the file's size. */
uint64_t archive_data_position(const struct archive_data *data);

typedef int archive_entry_fn(void *ctx, const struct archive_entry_info *entry,
			     struct archive_data *data, struct lab_error *err);

/*
 * Calls `entry` for each entry in the order of the archive; an entry that it does not
 * read is skipped. Ends with -1 when it returns -1 (its err is kept). Absolute paths,
 * paths with "..", exceeded limits (NULL: the defaults) and a torn archive are errors
 * that name the entry. Link targets are handed over unchecked.
 */
int archive_read(const char *file, const struct archive_limits *limits, archive_entry_fn *entry,
		 void *ctx, struct lab_error *err) LAB_MUST_CHECK;

/*
 * Unpacks into dest_dir, which is made when missing. Nothing is ever written outside
 * of it: besides what archive_read refuses, so are devices, links that leave dest_dir
 * (absolute, or by ".."), hard links to anything but a file of the same archive, paths
 * that lead through a symbolic link, and a path that comes twice. Owners, times and
 * set-id bits are not restored. After a failure dest_dir holds a part: throw it away.
 */
int archive_extract(const char *file, const char *dest_dir, const struct archive_limits *limits,
		    struct lab_error *err) LAB_MUST_CHECK;

#endif
