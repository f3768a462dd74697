/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void lab_cleanup_fts(FTS **fts)
{
	if (*fts)
		fts_close(*fts);
}

int tree_walk(const char *dir, tree_visit *visit, void *ctx, struct lab_error *err)
{
	char *const paths[] = {(char *)dir, NULL};
	LAB_CLEANUP(fts) FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t skip = strlen(dir);
	FTSENT *entry;

	if (!fts)
		return lab_error_errno(err, errno, "%s", dir);
	while (errno = 0, (entry = fts_read(fts))) {
		const char *name = entry->fts_path + skip;

		switch (entry->fts_info) {
		case FTS_DP:
			continue;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			return lab_error_errno(err, entry->fts_errno, "%s", entry->fts_path);
		default:
			break;
		}
		while (*name == '/')
			name++;
		if (visit(ctx, entry->fts_path, name, entry->fts_statp, err) < 0)
			return -1;
	}
	return errno ? lab_error_errno(err, errno, "%s", dir) : 0;
}

static int sync_path(const char *path, int flags, struct lab_error *err)
{
	LAB_CLEANUP(fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);

	if (fd < 0)
		return lab_error_errno(err, errno, "%s", path);
	if (fsync(fd) < 0)
		return lab_error_errno(err, errno, "sync %s", path);
	return 0;
}

static int sync_one(void *ctx, const char *path, const char *name, const struct stat *st,
		    struct lab_error *err)
{
	(void)ctx;
	(void)name;
	if (S_ISDIR(st->st_mode))
		return sync_path(path, O_DIRECTORY, err);
	return S_ISREG(st->st_mode) ? sync_path(path, 0, err) : 0;
}

int tree_sync(const char *dir, struct lab_error *err)
{
	return tree_walk(dir, sync_one, NULL, err);
}

int tree_sync_dir(const char *dir, struct lab_error *err)
{
	return sync_path(dir, O_DIRECTORY, err);
}

static int add_bytes(void *ctx, const char *path, const char *name, const struct stat *st,
		     struct lab_error *err)
{
	uint64_t *bytes = ctx;

	(void)path;
	(void)name;
	(void)err;
	if (S_ISREG(st->st_mode))
		*bytes += (uint64_t)st->st_blocks * 512;
	return 0;
}

int tree_bytes(const char *dir, uint64_t *ret_bytes, struct lab_error *err)
{
	uint64_t bytes = 0;

	if (tree_walk(dir, add_bytes, &bytes, err) < 0)
		return -1;
	*ret_bytes = bytes;
	return 0;
}
