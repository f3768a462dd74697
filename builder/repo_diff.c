/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between two trees, and files out of one. */
#include <string.h>

#include "builder/repo_git.h"
#include "common/buf.h"
#include "common/file.h"
#include "common/mem.h"

struct walk {
	struct repo *repo;
	repo_delta_fn *fn;
	void *ctx;
};

/* One name in both trees; the side that does not have it is NULL. */
struct pair {
	const git_tree_entry *old;
	const git_tree_entry *new;
};

static int diff_trees(const struct walk *walk, const char *prefix, const git_tree *a,
		      const git_tree *b, struct lab_error *err);

static bool is_dir(const git_tree_entry *entry)
{
	return entry && git_tree_entry_filemode(entry) == GIT_FILEMODE_TREE;
}

static int open_dir(struct repo *repo, const git_tree_entry *entry, git_tree **ret_tree,
		    struct lab_error *err)
{
	int rc;

	if (!is_dir(entry))
		return 0;
	rc = git_tree_lookup(ret_tree, repo_handle(repo), git_tree_entry_id(entry));
	return rc < 0 ? repo_error(err, rc, "compare trees") : 0;
}

static int diff_files(const struct walk *walk, const char *path, const git_tree_entry *old,
		      const git_tree_entry *new, struct lab_error *err)
{
	struct repo_delta delta = {.path = path};

	if (old && !is_dir(old)) {
		delta.old_mode = git_tree_entry_filemode(old);
		delta.old_oid = *git_tree_entry_id(old);
	}
	if (new && !is_dir(new)) {
		delta.new_mode = git_tree_entry_filemode(new);
		delta.new_oid = *git_tree_entry_id(new);
	}
	return delta.old_mode || delta.new_mode ? walk->fn(walk->ctx, &delta, err) : 0;
}

static int diff_pair(const struct walk *walk, const char *prefix, const struct pair *pair,
		     struct lab_error *err)
{
	const git_tree_entry *any = pair->old ? pair->old : pair->new;
	LAB_CLEANUP(free) char *path = lab_asprintf("%s%s", prefix, git_tree_entry_name(any));
	LAB_CLEANUP(free) char *below = lab_asprintf("%s/", path);
	LAB_CLEANUP(git_tree) git_tree *a = NULL;
	LAB_CLEANUP(git_tree) git_tree *b = NULL;

	if (pair->old &&
	    pair->new &&git_tree_entry_filemode(pair->old) == git_tree_entry_filemode(pair->new) &&
	    git_oid_equal(git_tree_entry_id(pair->old), git_tree_entry_id(pair->new)))
		return 0;
	if (diff_files(walk, path, pair->old, pair->new, err) < 0)
		return -1;
	if (!is_dir(pair->old) && !is_dir(pair->new))
		return 0;
	if (open_dir(walk->repo, pair->old, &a, err) < 0 ||
	    open_dir(walk->repo, pair->new, &b, err) < 0)
		return -1;
	return diff_trees(walk, below, a, b, err);
}

/* By name alone: a tree's own order puts a directory "x" elsewhere than a file "x". */
static int diff_trees(const struct walk *walk, const char *prefix, const git_tree *a,
		      const git_tree *b, struct lab_error *err)
{
	size_t n_a = a ? git_tree_entrycount(a) : 0, n_b = b ? git_tree_entrycount(b) : 0;

	for (size_t i = 0; i < n_a; i++) {
		struct pair pair = {.old = git_tree_entry_byindex(a, i)};

		if (b)
			pair.new = git_tree_entry_byname(b, git_tree_entry_name(pair.old));
		if (diff_pair(walk, prefix, &pair, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < n_b; i++) {
		struct pair pair = {.new = git_tree_entry_byindex(b, i)};

		if (a && git_tree_entry_byname(a, git_tree_entry_name(pair.new)))
			continue;
		if (diff_pair(walk, prefix, &pair, err) < 0)
			return -1;
	}
	return 0;
}

int repo_diff_trees(struct repo *repo, const git_tree *a, const git_tree *b, repo_delta_fn *fn,
		    void *ctx, struct lab_error *err)
{
	const struct walk walk = {repo, fn, ctx};

	return diff_trees(&walk, "", a, b, err);
}

struct lines {
	struct repo *repo;
	const char *prefix;
	const char *path;
	repo_line_fn *fn;
	void *ctx;
};

static int on_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		   const git_diff_line *line, void *payload)
{
	const struct lines *lines = payload;
	struct repo_hunk_line out = {.path = lines->path};

	(void)delta;
	(void)hunk;
	if (line->origin != GIT_DIFF_LINE_ADDITION && line->origin != GIT_DIFF_LINE_DELETION)
		return 0;
	out.is_new = line->origin == GIT_DIFF_LINE_ADDITION;
	out.number = (unsigned)(out.is_new ? line->new_lineno : line->old_lineno);
	lines->fn(lines->ctx, &out);
	return 0;
}

static int lookup_blob(struct repo *repo, git_filemode_t mode, const git_oid *oid,
		       git_blob **ret_blob)
{
	if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE)
		return 0;
	return git_blob_lookup(ret_blob, repo_handle(repo), oid);
}

static int on_file(void *ctx, const struct repo_delta *delta, struct lab_error *err)
{
	struct lines *lines = ctx;
	LAB_CLEANUP(git_blob) git_blob *a = NULL;
	LAB_CLEANUP(git_blob) git_blob *b = NULL;
	git_diff_options options = GIT_DIFF_OPTIONS_INIT;
	int rc;

	if (!lab_starts_with(lab_path_base(delta->path), lines->prefix))
		return 0;
	lines->path = delta->path;
	options.context_lines = 0;
	options.flags = GIT_DIFF_FORCE_TEXT;
	rc = lookup_blob(lines->repo, delta->old_mode, &delta->old_oid, &a);
	if (rc == 0)
		rc = lookup_blob(lines->repo, delta->new_mode, &delta->new_oid, &b);
	if (rc == 0)
		rc = git_diff_blobs(a, NULL, b, NULL, &options, NULL, NULL, NULL, on_line, lines);
	return rc < 0 ? repo_error(err, rc, "compare %s", delta->path) : 0;
}

int repo_changed_lines(struct repo *repo, const char *tree_a, const char *tree_b,
		       const char *prefix, repo_line_fn *fn, void *ctx, struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *a = NULL;
	LAB_CLEANUP(git_tree) git_tree *b = NULL;
	struct lines lines = {.repo = repo, .prefix = prefix, .fn = fn, .ctx = ctx};

	if (repo_lookup_tree(repo, tree_a, &a, err) < 0 ||
	    repo_lookup_tree(repo, tree_b, &b, err) < 0)
		return -1;
	return repo_diff_trees(repo, a, b, on_file, &lines, err);
}

int repo_file(struct repo *repo, const char *tree, const char *path, struct lab_buf *buf,
	      struct lab_error *err)
{
	LAB_CLEANUP(git_tree) git_tree *root = NULL;
	LAB_CLEANUP(git_tree_entry) git_tree_entry *entry = NULL;
	LAB_CLEANUP(git_blob) git_blob *blob = NULL;
	int rc;

	if (repo_lookup_tree(repo, tree, &root, err) < 0)
		return -1;
	rc = git_tree_entry_bypath(&entry, root, path);
	if (rc == GIT_ENOTFOUND || (rc == 0 && git_tree_entry_type(entry) != GIT_OBJECT_BLOB))
		return 0;
	if (rc == 0)
		rc = git_blob_lookup(&blob, repo_handle(repo), git_tree_entry_id(entry));
	if (rc < 0)
		return repo_error(err, rc, "%s", path);
	lab_buf_add(buf, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
	return 1;
}
