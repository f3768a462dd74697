/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/mem.h"

char *lab_path_join(const char *dir, const char *name)
{
	size_t len = strlen(dir);

	while (*name == '/')
		name++;
	return lab_asprintf("%s%s%s", dir, len && dir[len - 1] == '/' ? "" : "/", name);
}

const char *lab_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool lab_file_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool lab_dir_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int lab_file_size(const char *path, uint64_t *ret_bytes, struct lab_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return lab_error_errno(err, errno, "%s", path);
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}

int lab_read_file(const char *path, size_t cap, struct lab_buf *buf, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	LAB_CLEANUP(buf) struct lab_buf got = LAB_BUF_INIT;
	char chunk[16384];

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "read %s", path);
		if (n == 0)
			break;
		if (got.len + (size_t)n > cap)
			return lab_error_set(err, LAB_ERR_INVALID, "%s is larger than %zu bytes",
					     path, cap);
		lab_buf_add(&got, chunk, (size_t)n);
	}
	lab_buf_add(buf, got.data, got.len);
	return 0;
}

int lab_write_all(int fd, const void *data, size_t len, struct lab_error *err)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lab_error_errno(err, errno, "write");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int lab_write_file(const char *path, const void *data, size_t len, mode_t mode,
		   struct lab_error *err)
{
	LAB_CLEANUP(free) char *tmp = lab_asprintf("%s.tmp.%d", path, (int)getpid());
	LAB_CLEANUP(fd) int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0)
		return lab_error_errno(err, errno, "create %s", tmp);
	if (lab_write_all(fd, data, len, err) < 0) {
		unlink(tmp);
		return lab_error_wrap(err, "%s", tmp);
	}
	if (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(tmp, path) < 0) {
		int errnum = errno;

		unlink(tmp);
		return lab_error_errno(err, errnum, "write %s", path);
	}
	return 0;
}

int lab_write_existing(const char *path, const char *value, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(value);
	ssize_t n;

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	n = write(fd, value, len);
	if (n < 0)
		return lab_error_errno(err, errno, "write '%s' to %s", value, path);
	if ((size_t)n != len)
		return lab_error_set(err, LAB_ERR_FAILED, "write '%s' to %s: only %zd bytes taken",
				     value, path, n);
	return 0;
}

int lab_mkdirs(const char *path, mode_t mode, struct lab_error *err)
{
	LAB_CLEANUP(free) char *copy = lab_strdup(path);

	for (char *p = copy + 1; p[-1]; p++) {
		char end = *p;

		if (end != '/' && end != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return lab_error_errno(err, errno, "make directory %s", copy);
		*p = end;
		if (!end)
			break;
	}
	if (!lab_dir_exists(path))
		return lab_error_set(err, LAB_ERR_FAILED, "%s is not a directory", path);
	return 0;
}

static int remove_at(int dirfd, const char *name)
{
	struct dirent *entry;
	DIR *dir;
	int fd, rc = 0;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -1;
	}
	while (rc == 0 && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = remove_at(fd, entry->d_name);
	}
	closedir(dir);
	return rc < 0 ? rc : unlinkat(dirfd, name, AT_REMOVEDIR);
}

int lab_remove_tree(const char *path, struct lab_error *err)
{
	if (remove_at(AT_FDCWD, path) < 0)
		return lab_error_errno(err, errno, "remove %s", path);
	return 0;
}

/* Copies [pos, end) with copy_file_range, or read and write where that is refused. */
static int copy_range(int in, int out, off_t pos, off_t end)
{
	char chunk[65536];

	while (pos < end) {
		off_t to = pos, from = pos;
		ssize_t n = copy_file_range(in, &from, out, &to, (size_t)(end - pos), 0);

		if (n <= 0) {
			size_t want = (size_t)(end - pos) < sizeof(chunk) ? (size_t)(end - pos)
									  : sizeof(chunk);

			n = pread(in, chunk, want, pos);
			if (n <= 0 || pwrite(out, chunk, (size_t)n, pos) != n)
				return -1;
		}
		pos += n;
	}
	return 0;
}

static int copy_data(int in, int out, off_t size)
{
	off_t data = 0;

	while (data < size) {
		off_t hole;

		data = lseek(in, data, SEEK_DATA);
		if (data < 0)
			return errno == ENXIO ? 0 : -1;
		hole = lseek(in, data, SEEK_HOLE);
		if (hole < 0 || copy_range(in, out, data, hole) < 0)
			return -1;
		data = hole;
	}
	return 0;
}

int lab_copy_sparse(const char *src, const char *dst, mode_t mode, struct lab_error *err)
{
	LAB_CLEANUP(fd) int in = open(src, O_RDONLY | O_CLOEXEC);
	LAB_CLEANUP(fd) int out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) < 0)
		return lab_error_errno(err, errno, "%s", src);
	out = open(dst, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (out < 0)
		return lab_error_errno(err, errno, "create %s", dst);
	if (fchmod(out, mode) < 0 || ftruncate(out, st.st_size) < 0 ||
	    copy_data(in, out, st.st_size) < 0) {
		int errnum = errno;

		unlink(dst);
		return lab_error_errno(err, errnum, "copy %s to %s", src, dst);
	}
	return 0;
}

int lab_free_space(const char *path, uint64_t *ret_bytes, struct lab_error *err)
{
	struct statvfs st;

	if (statvfs(path, &st) < 0)
		return lab_error_errno(err, errno, "%s", path);
	*ret_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}
