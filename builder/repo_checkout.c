/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tree's files in a directory. Not git_checkout_tree(): for a bare repository it writes
 * every file each time, and the second kernel would be compiled from nothing. Files that
 * do not differ are never touched. Names come from strangers: each parent is opened
 * without following links, and ".", ".." and ".git" are refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/repo_git.h"
#include "common/file.h"
#include "common/mem.h"

struct checkout {
	git_repository *handle;
	git_odb *odb;
	const struct build_progress *progress;
	uint64_t done;
	uint64_t total;
};

static int check_name(const char *name, struct lab_error *err)
{
	if (!*name || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    strcasecmp(name, ".git") == 0)
		return lab_error_set(err, LAB_ERR_INVALID, "a file named '%s' is refused", name);
	return 0;
}

static int report(struct checkout *c, const char *name, struct lab_error *err)
{
	const struct build_progress *p = c->progress;

	c->done++;
	if (p && p->work)
		p->work(p->ctx, "checkout", c->done, c->total, name);
	if (p && p->cancelled && p->cancelled(p->ctx))
		return lab_error_set(err, LAB_ERR_CANCELLED, "checkout stopped");
	return 0;
}

static int write_regular(int dir, const char *name, mode_t mode, const void *data, size_t len,
			 struct lab_error *err)
{
	LAB_CLEANUP(fd)
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return lab_error_errno(err, errno, "create");
	return lab_write_all(fd, data, len, err);
}

/* Writes one file, link or (for a submodule) empty directory that is not there yet. */
static int write_entry(struct checkout *c, int dir, const char *name, git_filemode_t mode,
		       const git_oid *oid, struct lab_error *err)
{
	LAB_CLEANUP(git_odb_object) git_odb_object *object = NULL;
	int rc;

	if (check_name(name, err) < 0)
		return -1;
	if (mode == GIT_FILEMODE_COMMIT)
		return mkdirat(dir, name, 0755) < 0 ? lab_error_errno(err, errno, "%s", name) : 0;
	rc = git_odb_read(&object, c->odb, oid);
	if (rc < 0)
		return repo_error(err, rc, "%s", name);
	if (mode == GIT_FILEMODE_LINK) {
		LAB_CLEANUP(free)
		char *target =
			lab_strndup(git_odb_object_data(object), git_odb_object_size(object));

		rc = symlinkat(target, dir, name);
		if (rc < 0)
			lab_error_errno(err, errno, "create");
	} else {
		rc = write_regular(dir, name, mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644,
				   git_odb_object_data(object), git_odb_object_size(object), err);
	}
	return rc < 0 ? lab_error_wrap(err, "%s", name) : report(c, name, err);
}

static int open_subdir(int dir, const char *name, struct lab_error *err)
{
	int fd;

	if (check_name(name, err) < 0)
		return -1;
	if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
		return lab_error_errno(err, errno, "make directory %s", name);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? lab_error_errno(err, errno, "open directory %s", name) : fd;
}

static int write_tree(struct checkout *c, int dir, const git_tree *tree, struct lab_error *err)
{
	size_t n = git_tree_entrycount(tree);

	for (size_t i = 0; i < n; i++) {
		const git_tree_entry *entry = git_tree_entry_byindex(tree, i);
		const char *name = git_tree_entry_name(entry);
		LAB_CLEANUP(git_tree) git_tree *sub = NULL;
		LAB_CLEANUP(fd) int sub_dir = -1;
		int rc;

		if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) {
			if (write_entry(c, dir, name, git_tree_entry_filemode(entry),
					git_tree_entry_id(entry), err) < 0)
				return -1;
			continue;
		}
		rc = git_tree_lookup(&sub, c->handle, git_tree_entry_id(entry));
		if (rc < 0)
			return repo_error(err, rc, "%s", name);
		sub_dir = open_subdir(dir, name, err);
		if (sub_dir < 0 || write_tree(c, sub_dir, sub, err) < 0)
			return -1;
	}
	return 0;
}

static int count_files(const char *root, const git_tree_entry *entry, void *total)
{
	(void)root;
	*(uint64_t *)total += git_tree_entry_type(entry) != GIT_OBJECT_TREE;
	return 0;
}

/* The directory below `root` that holds `path`; made when `make`, else -1 with ENOENT in errno. */
static int open_parent(int root, const char *path, bool make, const char **ret_name,
		       struct lab_error *err)
{
	LAB_CLEANUP(fd) int at = fcntl(root, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		LAB_CLEANUP(free) char *name = lab_strndup(path, (size_t)(slash - path));
		int next;

		next = make ? open_subdir(at, name, err)
			    : openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		path = slash + 1;
	}
	*ret_name = path;
	return lab_take_fd(&at);
}

/* Removes a file and the directories that it leaves empty. */
static int remove_path(int root, const char *path, struct lab_error *err)
{
	LAB_CLEANUP(free) char *at = lab_strdup(path);
	const char *name;
	int flags = 0;

	for (;;) {
		LAB_CLEANUP(fd) int dir = open_parent(root, at, false, &name, err);
		char *slash = strrchr(at, '/');

		if (dir < 0)
			return 0;
		if (check_name(name, err) < 0)
			return -1;
		if (unlinkat(dir, name, flags) < 0 && errno == EISDIR)
			unlinkat(dir, name, AT_REMOVEDIR); /* an emptied submodule */
		else if (flags == 0 && faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return lab_error_set(err, LAB_ERR_FAILED, "remove %s: it stays", path);
		if (!slash)
			return 0;
		*slash = '\0';
		flags = AT_REMOVEDIR;
	}
}

/* A pass over the difference: first all that goes, then all that comes. */
struct pass {
	struct checkout *checkout;
	int root;
	bool removing;
};

static int apply_delta(void *ctx, const struct repo_delta *delta, struct lab_error *err)
{
	const struct pass *pass = ctx;
	LAB_CLEANUP(fd) int dir = -1;
	const char *name;

	if (pass->removing) {
		pass->checkout->total += delta->new_mode != 0;
		return delta->old_mode ? remove_path(pass->root, delta->path, err) : 0;
	}
	if (!delta->new_mode)
		return 0;
	dir = open_parent(pass->root, delta->path, true, &name, err);
	if (dir < 0)
		return lab_error_wrap(err, "%s", delta->path);
	return write_entry(pass->checkout, dir, name, delta->new_mode, &delta->new_oid, err);
}

/* A directory may take the place of a file, or the other way round: hence two passes. */
static int write_difference(struct checkout *c, struct repo *repo, int root, const git_tree *from,
			    const git_tree *to, struct lab_error *err)
{
	struct pass pass = {c, root, true};

	if (repo_diff_trees(repo, from, to, apply_delta, &pass, err) < 0)
		return -1;
	pass.removing = false;
	return repo_diff_trees(repo, from, to, apply_delta, &pass, err);
}

static int run_checkout(struct checkout *c, struct repo *repo, const char *dir, const char *from,
			const char *to, struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *old = NULL;
	LAB_CLEANUP(git_tree) git_tree *new = NULL;
	LAB_CLEANUP(fd) int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return lab_error_errno(err, errno, "%s", dir);
	if (repo_lookup_tree(repo, to, &new, err) < 0 ||
	    (from && repo_lookup_tree(repo, from, &old, err) < 0))
		return -1;
	if (from)
		return write_difference(c, repo, root, old, new, err);
	git_tree_walk(new, GIT_TREEWALK_PRE, count_files, &c->total);
	return write_tree(c, root, new, err);
}

int repo_checkout(struct repo *repo, const char *dir, const char *from, const char *to,
		  const struct build_progress *progress, struct lab_error *err)
{
	LAB_CLEANUP(git_odb) git_odb *odb = NULL;
	struct checkout c = {.handle = repo_handle(repo), .progress = progress};
	int rc = git_repository_odb(&odb, c.handle);

	if (rc < 0)
		return repo_error(err, rc, "object database");
	c.odb = odb;
	/* zlib has a checksum of its own; hashing 1.3 GB again finds nothing more of bit rot. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
	rc = run_checkout(&c, repo, dir, from, to, err);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
	return rc < 0 ? lab_error_wrap(err, "check out into %s", dir) : 0;
}
