/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/path.h"
#include "archive/reader.h"
#include "common/file.h"
#include "common/mem.h"

/*
 * Each parent is opened component by component without following links, so that a link
 * of the archive can never be written through, wherever it points.
 */
static int open_dir_at(int at, const char *name, struct lab_error *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(at, name, flags);

	if (fd < 0 && errno == ENOENT) {
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return lab_error_errno(err, errno, "make directory '%s'", name);
		fd = openat(at, name, flags);
	}
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "leads through '%s', which is a link or a file", name);
	if (fd < 0)
		return lab_error_errno(err, errno, "open directory '%s'", name);
	return fd;
}

/* The directory that holds `path`, and in ret_base (borrowed from path) its last component. */
static int open_parent(int root, const char *path, const char **ret_base, struct lab_error *err)
{
	LAB_CLEANUP(fd) int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	if (at < 0)
		return lab_error_errno(err, errno, "dup");
	while ((slash = strchr(path, '/'))) {
		LAB_CLEANUP(free) char *name = lab_strndup(path, (size_t)(slash - path));
		int next = open_dir_at(at, name, err);

		if (next < 0)
			return -1;
		close(at);
		at = next;
		path = slash + 1;
	}
	*ret_base = path;
	return lab_take_fd(&at);
}

static int came_twice(struct lab_error *err, int errnum)
{
	if (errnum == EEXIST)
		return lab_error_set(err, LAB_ERR_INVALID, "comes twice");
	return lab_error_errno(err, errnum, "create");
}

static int write_data(int fd, struct archive_data *data, struct lab_error *err)
{
	LAB_CLEANUP(free) char *chunk = lab_calloc(1, 1 << 17);

	for (;;) {
		ssize_t n = archive_data_read(data, chunk, 1 << 17, err);

		if (n <= 0)
			return (int)n;
		if (lab_write_all(fd, chunk, (size_t)n, err) < 0)
			return -1;
	}
}

static int extract_file(int dir, const char *base, mode_t mode, struct archive_data *data,
			struct lab_error *err)
{
	LAB_CLEANUP(fd)
	int fd = openat(dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return came_twice(err, errno);
	if (write_data(fd, data, err) < 0)
		return -1;
	if (fchmod(fd, (mode & 0777) | 0600) < 0)
		return lab_error_errno(err, errno, "set mode");
	return 0;
}

static int extract_dir(int dir, const char *base, mode_t mode, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open_dir_at(dir, base, err);

	if (fd < 0)
		return -1;
	if (fchmod(fd, (mode & 0777) | 0700) < 0)
		return lab_error_errno(err, errno, "set mode");
	return 0;
}

static int extract_symlink(int dir, const char *base, const struct archive_entry_info *entry,
			   struct lab_error *err)
{
	if (!archive_link_stays_inside(entry->path, entry->link))
		return lab_error_set(err, LAB_ERR_INVALID, "a link that leads out, to '%s'",
				     entry->link);
	if (symlinkat(entry->link, dir, base) < 0)
		return came_twice(err, errno);
	return 0;
}

static int extract_hardlink(int root, int dir, const char *base, const char *link,
			    struct lab_error *err)
{
	LAB_CLEANUP(free) char *target = NULL;
	LAB_CLEANUP(fd) int target_dir = -1;
	const char *target_base;
	struct stat st;

	if (archive_clean_path(link, false, &target, err) < 0)
		return lab_error_wrap(err, "hard link");
	target_dir = open_parent(root, target, &target_base, err);
	if (target_dir < 0)
		return lab_error_wrap(err, "hard link to '%s'", link);
	if (fstatat(target_dir, target_base, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return lab_error_set(err, LAB_ERR_INVALID,
				     "hard link to '%s', which is no file before it", link);
	if (linkat(target_dir, target_base, dir, base, 0) < 0)
		return came_twice(err, errno);
	return 0;
}

static int extract_entry(void *ctx, const struct archive_entry_info *entry,
			 struct archive_data *data, struct lab_error *err)
{
	LAB_CLEANUP(fd) int dir = -1;
	int root = *(int *)ctx;
	const char *base;

	if (strcmp(entry->path, ".") == 0 && entry->type == ARCHIVE_TYPE_DIR)
		return 0;
	dir = open_parent(root, entry->path, &base, err);
	if (dir < 0)
		return -1;
	switch (entry->type) {
	case ARCHIVE_TYPE_FILE:
		return extract_file(dir, base, entry->mode, data, err);
	case ARCHIVE_TYPE_DIR:
		return extract_dir(dir, base, entry->mode, err);
	case ARCHIVE_TYPE_SYMLINK:
		return extract_symlink(dir, base, entry, err);
	case ARCHIVE_TYPE_HARDLINK:
		return extract_hardlink(root, dir, base, entry->link, err);
	default:
		return lab_error_set(err, LAB_ERR_INVALID, "a device, fifo or socket");
	}
}

int archive_extract(const char *file, const char *dest_dir, const struct archive_limits *limits,
		    struct lab_error *err)
{
	LAB_CLEANUP(fd) int root = -1;

	if (lab_mkdirs(dest_dir, 0755, err) < 0)
		return -1;
	root = open(dest_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return lab_error_errno(err, errno, "%s", dest_dir);
	return archive_read(file, limits, extract_entry, &root, err);
}
